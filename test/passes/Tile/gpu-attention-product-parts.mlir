// Where keys are in parts, later kernels start before the loop of attention that
// makes its query if at most half of the clusters have keys, and else behind it.
//
// RUN: gist-opt %s "-gist-gpu-tile=target=sm_90" | FileCheck %s

#x = affine_map<(t, n, k) -> (t, k)>
#w = affine_map<(t, n, k) -> (n, k)>
#y = affine_map<(t, n, k) -> (t, n)>

// CHECK-LABEL: func.func private @in_parts
// CHECK:         nvvm.griddepcontrol wait
// CHECK-NOT:     scf.for {{.+}} iter_args
// CHECK:         nvvm.griddepcontrol launch_dependents
// CHECK-NEXT:    }
// CHECK:         scf.for {{.+}} iter_args
// CHECK:         scf.yield
// CHECK-NEXT:    }
// CHECK-NEXT:    nvvm.griddepcontrol launch_dependents
func.func private @in_parts(%x: tensor<1x32xf32>, %w: tensor<64x32xf16> {gist.constant}, %past: index, %n: index,
    %kc: tensor<64x2x8xf16>, %vc: tensor<64x2x8xf16>, %out: tensor<1x4x8xf16>,
    %s: tensor<448xf32>, %c: tensor<16xi32> {gist.control})
    -> (tensor<64x2x8xf16>, tensor<64x2x8xf16>, tensor<1x4x8xf16>, tensor<448xf32>, tensor<16xi32>)
    attributes {gist.kernel = #gist.kernel<kind = attention, outputs = 5, scratch = 2>} {
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
  return %kn, %vn, %a, %s, %c
      : tensor<64x2x8xf16>, tensor<64x2x8xf16>, tensor<1x4x8xf16>, tensor<448xf32>, tensor<16xi32>
}
