// Attention of one token that makes its query, key and value itself. On sm_90
// the workgroups of a cluster share the product: weights are read before the
// kernels that write the token's row are over, and what comes out is written
// into the memory of all eight, between barriers of the cluster. gfx942 has no
// such clusters; there a number of the product is computed where it is read.
//
// RUN: gist-opt %s "-gist-gpu-tile=target=sm_90" | FileCheck %s
// RUN: gist-opt %s "-gist-gpu-tile=target=gfx942" | FileCheck %s --check-prefix=AMD

#x = affine_map<(t, n, k) -> (t, k)>
#w = affine_map<(t, n, k) -> (n, k)>
#y = affine_map<(t, n, k) -> (t, n)>

// CHECK-LABEL: func.func private @attention_0
// CHECK-SAME:    nvvm.cluster_dim = array<i32: 8, 1, 1>
// CHECK:         nvvm.cluster.arrive.relaxed
// CHECK:         vector.load %arg1
// CHECK:         nvvm.griddepcontrol wait
// CHECK-NOT:     %arg1
// CHECK:         %[[X:.+]] = vector.load %arg0
// CHECK:         gpu.shuffle xor
// CHECK:         nvvm.cluster.wait
// CHECK:         mapa.shared::cluster.u32
// CHECK:         st.shared::cluster.f32
// CHECK:         nvvm.cluster.arrive {aligned}
// CHECK-NEXT:    nvvm.cluster.wait {aligned}
// CHECK-NOT:     nvvm.cluster.wait
// CHECK:         nvvm.griddepcontrol launch_dependents
// AMD-LABEL: func.func private @attention_0
// AMD-NOT:     nvvm
// AMD:         scf.for
func.func private @attention_0(%x: tensor<1x32xf32>, %w: tensor<64x32xf16> {gist.constant}, %past: index, %n: index,
    %kc: tensor<64x2x8xf16>, %vc: tensor<64x2x8xf16>, %out: tensor<1x4x8xf16>)
    -> (tensor<64x2x8xf16>, tensor<64x2x8xf16>, tensor<1x4x8xf16>)
    attributes {gist.kernel = #gist.kernel<kind = attention, outputs = 3>} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x64xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<1x64xf32>) -> tensor<1x64xf32>
  %p = linalg.matmul indexing_maps = [#x, #w, #y] ins(%x, %w : tensor<1x32xf32>, tensor<64x32xf16>)
      outs(%z : tensor<1x64xf32>) -> tensor<1x64xf32>
  %sk = tensor.extract_slice %p[0, 0] [1, 16] [1, 1] : tensor<1x64xf32> to tensor<1x16xf32>
  %sv = tensor.extract_slice %p[0, 16] [1, 16] [1, 1] : tensor<1x64xf32> to tensor<1x16xf32>
  %sq = tensor.extract_slice %p[0, 32] [1, 32] [1, 1] : tensor<1x64xf32> to tensor<1x32xf32>
  %hk = tensor.expand_shape %sk [[0], [1, 2]] output_shape [1, 2, 8] : tensor<1x16xf32> into tensor<1x2x8xf32>
  %hv = tensor.expand_shape %sv [[0], [1, 2]] output_shape [1, 2, 8] : tensor<1x16xf32> into tensor<1x2x8xf32>
  %hq = tensor.expand_shape %sq [[0], [1, 2]] output_shape [1, 4, 8] : tensor<1x32xf32> into tensor<1x4x8xf32>
  %eq = tensor.empty() : tensor<1x4x8xf16>
  %q = linalg.copy ins(%hq : tensor<1x4x8xf32>) outs(%eq : tensor<1x4x8xf16>) -> tensor<1x4x8xf16>
  %ek = tensor.empty() : tensor<1x2x8xf16>
  %k = linalg.copy ins(%hk : tensor<1x2x8xf32>) outs(%ek : tensor<1x2x8xf16>) -> tensor<1x2x8xf16>
  %v = linalg.copy ins(%hv : tensor<1x2x8xf32>) outs(%ek : tensor<1x2x8xf16>) -> tensor<1x2x8xf16>
  %kn = tensor.insert_slice %k into %kc[%past, 0, 0] [1, 2, 8] [1, 1, 1] : tensor<1x2x8xf16> into tensor<64x2x8xf16>
  %vn = tensor.insert_slice %v into %vc[%past, 0, 0] [1, 2, 8] [1, 1, 1] : tensor<1x2x8xf16> into tensor<64x2x8xf16>
  %ka = tensor.extract_slice %kn[0, 0, 0] [%n, 2, 8] [1, 1, 1] : tensor<64x2x8xf16> to tensor<?x2x8xf16>
  %va = tensor.extract_slice %vn[0, 0, 0] [%n, 2, 8] [1, 1, 1] : tensor<64x2x8xf16> to tensor<?x2x8xf16>
  %a = gist.attention %q, %ka, %va causal : tensor<1x4x8xf16>, tensor<?x2x8xf16>, tensor<?x2x8xf16>
  return %kn, %vn, %a : tensor<64x2x8xf16>, tensor<64x2x8xf16>, tensor<1x4x8xf16>
}
