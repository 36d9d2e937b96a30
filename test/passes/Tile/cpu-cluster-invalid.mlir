// RUN: gist-opt %s -gist-tile -split-input-file -verify-diagnostics

func.func private @absorb(%heads: tensor<7x3x8xf32>, %past: index, %s0: tensor<64x6xf16>, %s1: tensor<64x8xf16>, %s2: tensor<9x6xf16>, %s3: tensor<9xf32>, %s4: tensor<7x3xi32>)
    -> (tensor<64x6xf16>, tensor<64x8xf16>, tensor<9x6xf16>, tensor<9xf32>, tensor<7x3xi32>) attributes {gist.kernel = #gist.kernel<kind = cluster_update, outputs = 5>} {
  // expected-error@+1 {{has heads whose size is not a multiple of 4 numbers}}
  %n:5 = gist.cluster_absorb %heads, %past layers 2 to 7 into(%s0, %s1, %s2, %s3, %s4) block 256
      : tensor<7x3x8xf32>, tensor<64x6xf16>, tensor<64x8xf16>, tensor<9x6xf16>, tensor<9xf32>, tensor<7x3xi32>
  return %n#0, %n#1, %n#2, %n#3, %n#4 : tensor<64x6xf16>, tensor<64x8xf16>, tensor<9x6xf16>, tensor<9xf32>, tensor<7x3xi32>
}

// -----

// Kernels work on buffers: what they give is what they were given.
func.func private @update(%k: tensor<?x3x8xf16>, %heads: tensor<7x3x8xf32>, %past: index, %layer: index, %s0: tensor<64x8xf16>, %s1: tensor<64x8xf16>, %s2: tensor<9x8xf16>, %s3: tensor<9xf32>, %s4: tensor<7x3xi32>)
    -> (tensor<64x8xf16>, tensor<64x8xf16>, tensor<9x8xf16>, tensor<9xf32>, tensor<7x3xi32>) attributes {gist.kernel = #gist.kernel<kind = cluster_update, outputs = 5>} {
  // expected-error@+1 {{is not the only op whose results its kernel returns}}
  %n:5 = gist.cluster_update %k, %k, %heads, %past, %layer into(%s0, %s1, %s2, %s3, %s4) block 256
      : tensor<?x3x8xf16>, tensor<?x3x8xf16>, tensor<7x3x8xf32>, tensor<64x8xf16>, tensor<64x8xf16>, tensor<9x8xf16>, tensor<9xf32>, tensor<7x3xi32>
  return %n#1, %n#0, %n#2, %n#3, %n#4 : tensor<64x8xf16>, tensor<64x8xf16>, tensor<9x8xf16>, tensor<9xf32>, tensor<7x3xi32>
}
