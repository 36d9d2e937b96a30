// Attention of one token that multiplies its heads. On sm_90 the workgroups of
// a cluster share the rows of W, which are read before keys are. Where one has
// had all keys it hands its heads to all; else each hands its part of them to
// all. Behind a barrier of the cluster every workgroup multiplies. Where several
// clusters share keys, each workgroup leaves all heads for those with the same
// rows of W, and the last one multiplies.
//
// RUN: gist-opt %s "-gist-gpu-tile=target=sm_90" | FileCheck %s
// RUN: not gist-opt %s "-gist-gpu-tile=target=gfx942" 2>&1 | FileCheck %s --check-prefix=AMD

#a = affine_map<(t, g, n, k) -> (t, g, k)>
#w = affine_map<(t, g, n, k) -> (n, g, k)>
#y = affine_map<(t, g, n, k) -> (t, g, n)>

// CHECK-LABEL: func.func private @attention_0
// CHECK-SAME:    nvvm.cluster_dim = array<i32: 8, 1, 1>
// CHECK:         nvvm.cluster.arrive.relaxed
// CHECK:         nvvm.prefetch level = L2
// CHECK:         %[[W:.+]] = vector.load %arg3[{{.+}}] {alignment = 16 : i64} : memref<72x192xf16>, vector<8xf16>
// CHECK-NOT:     %arg3
// CHECK:         scf.for {{.+}} iter_args
// CHECK:         nvvm.griddepcontrol launch_dependents
// CHECK:         nvvm.cluster.wait {aligned}
// CHECK:         scf.if
// CHECK-COUNT-8: st.shared::cluster.v2.f32
// CHECK-NOT:     st.shared
// CHECK:         scf.if
// CHECK-COUNT-16: st.shared::cluster.v2.f32
// CHECK-NOT:     st.shared
// CHECK:         nvvm.cluster.arrive {aligned}
// CHECK-NEXT:    nvvm.cluster.wait {aligned}
// CHECK-NOT:     nvvm.cluster
// CHECK:         gpu.barrier
// CHECK:         scf.if
// CHECK:           arith.extf %[[W]]
// CHECK:           memref.store %{{.+}}, %arg4
// CHECK:         scf.if
// CHECK:           llvm.atomicrmw uinc_wrap
// CHECK:           scf.if
// CHECK:             vector.load %arg5
// CHECK:             gpu.barrier
// CHECK:             arith.extf %[[W]]
// CHECK:             memref.store %{{.+}}, %arg4
// CHECK-NOT:     nvvm.cluster
// CHECK:         return
// AMD: error: 'gist.attention' op is followed by a product of 3 groups of heads, which workgroups of gfx942 do not share
func.func private @attention_0(%q: tensor<1x6x32xf16>, %k: tensor<?x3x32xf16>, %v: tensor<?x3x32xf16>,
    %w: tensor<72x192xf16> {gist.constant}, %out: tensor<1x3x72xf32>, %s: tensor<15360xf32>, %c: tensor<24xi32> {gist.control})
    -> (tensor<1x3x72xf32>, tensor<15360xf32>, tensor<24xi32>)
    attributes {gist.kernel = #gist.kernel<kind = attention, outputs = 3, scratch = 2>} {
  %zero = arith.constant 0.0 : f32
  %a = gist.attention %q, %k, %v causal : tensor<1x6x32xf16>, tensor<?x3x32xf16>, tensor<?x3x32xf16>
  %r = tensor.collapse_shape %a [[0], [1, 2]] : tensor<1x6x32xf16> into tensor<1x192xf16>
  %h = tensor.expand_shape %r [[0], [1, 2]] output_shape [1, 3, 64] : tensor<1x192xf16> into tensor<1x3x64xf16>
  %g = tensor.expand_shape %w [[0], [1, 2]] output_shape [72, 3, 64] : tensor<72x192xf16> into tensor<72x3x64xf16>
  %z = linalg.fill ins(%zero : f32) outs(%out : tensor<1x3x72xf32>) -> tensor<1x3x72xf32>
  %y = linalg.generic {indexing_maps = [#a, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%h, %g : tensor<1x3x64xf16>, tensor<72x3x64xf16>) outs(%z : tensor<1x3x72xf32>) {
  ^bb0(%x: f16, %m: f16, %sum: f32):
    %xf = arith.extf %x : f16 to f32
    %mf = arith.extf %m : f16 to f32
    %p = arith.mulf %xf, %mf : f32
    %n = arith.addf %sum, %p : f32
    linalg.yield %n : f32
  } -> tensor<1x3x72xf32>
  return %y, %s, %c : tensor<1x3x72xf32>, tensor<15360xf32>, tensor<24xi32>
}
