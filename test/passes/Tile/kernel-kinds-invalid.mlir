// A kernel whose body is not what its kind says is refused, on every target and
// whether or not a tile has been chosen.
// RUN: gist-opt %s -split-input-file -verify-diagnostics -gist-tile
// RUN: gist-opt %s -split-input-file -verify-diagnostics -gist-gpu-tile=target=gfx942
// RUN: gist-opt %s -split-input-file -verify-diagnostics -gist-gpu-tile=target=sm_90
// RUN: gist-opt %s -split-input-file -verify-diagnostics -gist-tile-and-distribute
// RUN: gist-opt %s -split-input-file -verify-diagnostics -gist-set-target=target=gfx942 -gist-gpu-kernels
// RUN: gist-opt %s -split-input-file -verify-diagnostics -gist-set-target=target=gfx942 -gist-gpu-tile-products

// expected-error @+1 {{'func.func' op is a kernel and needs a body of one block, got 0 blocks}}
func.func private @k(tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32> attributes {gist.kernel = #gist.kernel<kind = rows, outputs = 1>}

// -----

// expected-error @+1 {{'func.func' op is a kernel of kind attention and needs one op of that kind, got 0}}
func.func private @nothing(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<8xf32>
    attributes {gist.kernel = #gist.kernel<kind = attention, outputs = 1>} {
  return %y : tensor<8xf32>
}

// -----

// expected-error @+1 {{'func.func' op is a kernel of kind gated_products and needs at least one op of that kind, got 0}}
func.func private @no_products(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<8xf32>
    attributes {gist.kernel = #gist.kernel<kind = gated_products, outputs = 1>} {
  return %y : tensor<8xf32>
}

// -----

// expected-error @+1 {{'func.func' op is a kernel of kind rows, but contains 'gist.attention', which makes it one of kind attention}}
func.func private @other(%q: tensor<?x4x64xf16>, %k: tensor<?x2x64xf16>, %v: tensor<?x2x64xf16>,
    %out: tensor<?x4x64xf16>) -> tensor<?x4x64xf16>
    attributes {gist.kernel = #gist.kernel<kind = rows, outputs = 1>} {
  %o = gist.attention %q, %k, %v causal : tensor<?x4x64xf16>, tensor<?x2x64xf16>, tensor<?x2x64xf16>
  return %o : tensor<?x4x64xf16>
}

// -----

// expected-error @+1 {{'func.func' op is a kernel of kind attention and needs one op of that kind, got 2}}
func.func private @two(%q: tensor<?x4x64xf16>, %k: tensor<?x4x64xf16>, %v: tensor<?x4x64xf16>,
    %out: tensor<?x4x64xf16>) -> tensor<?x4x64xf16>
    attributes {gist.kernel = #gist.kernel<kind = attention, outputs = 1>} {
  %o = gist.attention %q, %k, %v causal : tensor<?x4x64xf16>, tensor<?x4x64xf16>, tensor<?x4x64xf16>
  %p = gist.attention %o, %k, %v causal : tensor<?x4x64xf16>, tensor<?x4x64xf16>, tensor<?x4x64xf16>
  return %p : tensor<?x4x64xf16>
}
