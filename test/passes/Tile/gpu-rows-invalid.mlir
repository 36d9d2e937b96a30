// What -gist-gpu-kernels refuses.
// RUN: gist-opt %s -split-input-file -verify-diagnostics -gist-set-target=target=gfx942 -gist-gpu-kernels

// expected-error@+1 {{has no tile configuration for a GPU}}
func.func private @untiled(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32>
    attributes {gist.kernel = #gist.kernel<kind = rows, outputs = 1>} {
  return %x : tensor<4xf32>
}

// -----

#tile = #gist.gpu_rows<rows = 1, waves = 1>
// expected-error@+2 {{has results with different numbers of rows}}
// expected-error@+1 {{cannot be written for gfx942}}
func.func private @results(%x: tensor<4x8xf32>, %z: tensor<5x8xf32>, %y: tensor<4x8xf32>, %w: tensor<5x8xf32>)
    -> (tensor<4x8xf32>, tensor<5x8xf32>)
    attributes {gist.kernel = #gist.kernel<kind = rows, outputs = 2>, gist.tile = #tile} {
  return %x, %z : tensor<4x8xf32>, tensor<5x8xf32>
}

// -----

#tile = #gist.gpu_rows<rows = 1, waves = 1, columns = 64>
// expected-error@+2 {{has parts of columns and 2 results; expected one result, or a tile of whole rows}}
// expected-error@+1 {{cannot be written for gfx942}}
func.func private @parts(%x: tensor<4x64xf32>, %z: tensor<4x64xf32>, %y: tensor<4x64xf32>, %w: tensor<4x64xf32>)
    -> (tensor<4x64xf32>, tensor<4x64xf32>)
    attributes {gist.kernel = #gist.kernel<kind = rows, outputs = 2>, gist.tile = #tile} {
  return %x, %z : tensor<4x64xf32>, tensor<4x64xf32>
}

// -----

// expected-error@+1 {{has rows that waves cannot share}}
#tile = #gist.gpu_rows<rows = 2, waves = 4>
func.func private @teams(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> tensor<4x8xf32>
    attributes {gist.kernel = #gist.kernel<kind = rows, outputs = 1>, gist.tile = #tile} {
  return %x : tensor<4x8xf32>
}

// -----

#tile = #gist.gpu_rows<rows = 1, waves = 1>
// expected-error@+1 {{cannot be written for gfx942}}
func.func private @loop(%n: index, %x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> tensor<4x8xf32>
    attributes {gist.kernel = #gist.kernel<kind = rows, outputs = 1>, gist.tile = #tile} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-error@+1 {{has elements that cannot be computed one by one}}
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> tensor<4x8xf32> {
    scf.yield %a : tensor<4x8xf32>
  }
  return %r : tensor<4x8xf32>
}
