// RUN: not gist-opt %s -split-input-file -gist-gpu-tile=target=gfx942 2>&1 | FileCheck %s

// CHECK: error: 'gist.cluster_update' op has heads whose size is not a multiple of 8 numbers
func.func private @update(%k: tensor<?x1x12xf16>, %v: tensor<?x1x12xf16>, %heads: tensor<1x1x8xf32>,
    %past: index, %layer: index, %s0: tensor<32x12xf16>, %s1: tensor<32x12xf16>,
    %s2: tensor<4x12xf16>, %s3: tensor<4xf32>, %s4: tensor<1x1xi32>)
    -> (tensor<32x12xf16>, tensor<32x12xf16>, tensor<4x12xf16>, tensor<4xf32>, tensor<1x1xi32>)
    attributes {gist.kernel = #gist.kernel<kind = cluster_update, outputs = 5>} {
  %n:5 = gist.cluster_update %k, %v, %heads, %past, %layer into(%s0, %s1, %s2, %s3, %s4) block 8
      : tensor<?x1x12xf16>, tensor<?x1x12xf16>, tensor<1x1x8xf32>, tensor<32x12xf16>,
        tensor<32x12xf16>, tensor<4x12xf16>, tensor<4xf32>, tensor<1x1xi32>
  return %n#0, %n#1, %n#2, %n#3, %n#4
      : tensor<32x12xf16>, tensor<32x12xf16>, tensor<4x12xf16>, tensor<4xf32>, tensor<1x1xi32>
}

// -----

// CHECK: error: 'gist.cluster_attention' op has heads whose size is not a multiple of 8 numbers
func.func private @attention(%q: tensor<?x1x12xf16>, %heads: tensor<1x1x8xf32>, %past: index,
    %layer: index, %k: tensor<32x12xf16>, %v: tensor<32x12xf16>, %w: tensor<4xf32>,
    %c: tensor<1x1xi32>, %out: tensor<?x1x12xf16>)
    -> tensor<?x1x12xf16> attributes {gist.kernel = #gist.kernel<kind = cluster_attention, outputs = 1>} {
  %r = gist.cluster_attention %q, %heads, %past, %layer on(%k, %v, %w, %c) block 8
      : tensor<?x1x12xf16>, tensor<1x1x8xf32>, tensor<32x12xf16>, tensor<32x12xf16>, tensor<4xf32>,
        tensor<1x1xi32>
  return %r : tensor<?x1x12xf16>
}

// -----

// The update stores other rows than those that attention reads.
// CHECK: error: 'gist.cluster_attention' op is in a kernel with a 'gist.cluster_update'; expects it to store the keys and values that 'own' gives, and all of the cache to be returned
func.func private @other(%q: tensor<1x1x8xf16>, %heads: tensor<1x1x8xf32>, %past: index, %layer: index,
    %k: tensor<1x1x8xf16>, %v: tensor<1x1x8xf16>, %out: tensor<1x1x8xf16>, %s0: tensor<32x8xf16>,
    %s1: tensor<32x8xf16>, %s2: tensor<4x8xf16>, %s3: tensor<4xf32>, %s4: tensor<1x1xi32>)
    -> (tensor<1x1x8xf16>, tensor<32x8xf16>, tensor<32x8xf16>, tensor<4x8xf16>, tensor<4xf32>, tensor<1x1xi32>)
    attributes {gist.kernel = #gist.kernel<kind = cluster_attention, outputs = 6>} {
  %r = gist.cluster_attention %q, %heads, %past, %layer on(%s0, %s1, %s3, %s4)
      own(%k, %v : tensor<1x1x8xf16>, tensor<1x1x8xf16>) block 8
      : tensor<1x1x8xf16>, tensor<1x1x8xf32>, tensor<32x8xf16>, tensor<32x8xf16>, tensor<4xf32>, tensor<1x1xi32>
  %n:5 = gist.cluster_update %v, %k, %heads, %past, %layer into(%s0, %s1, %s2, %s3, %s4) block 8 absorbed
      : tensor<1x1x8xf16>, tensor<1x1x8xf16>, tensor<1x1x8xf32>, tensor<32x8xf16>,
        tensor<32x8xf16>, tensor<4x8xf16>, tensor<4xf32>, tensor<1x1xi32>
  return %r, %n#0, %n#1, %n#2, %n#3, %n#4
      : tensor<1x1x8xf16>, tensor<32x8xf16>, tensor<32x8xf16>, tensor<4x8xf16>, tensor<4xf32>, tensor<1x1xi32>
}
