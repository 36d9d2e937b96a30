// RUN: gist-opt %s -gist-kernels | FileCheck %s

// Gates and means of clusters count in words of control that one kernel clears at
// the start, and leave them so: words of the same number are not the same words.

// CHECK-LABEL: func.func @both
// CHECK-DAG:     %[[A:.*]] = gist.dispatch @clear_0() outs({{.*}} : tensor<64xi32>) {{.*}}"gates"
// CHECK-DAG:     %[[B:.*]] = gist.dispatch @clear_0() outs({{.*}} : tensor<64xi32>) {{.*}}"means"
// CHECK-DAG:     gist.dispatch @gated_projection_0({{.*}}%[[A]], %
// CHECK-DAG:     gist.dispatch @attend_0({{.*}}%[[B]], %
!q = tensor<2x1x64xf16>
!part = tensor<2xi32>
func.func @both(%x: tensor<2x64xf16>, %v: tensor<64x16xf16>, %w: tensor<96x64xf16>, %m: tensor<96x16xf16>,
    %q: !q, %ids: !part, %count: tensor<i32>, %nearest: !part, %weight: !part)
    -> (tensor<2x96xf16>, !q) {
  %y, %l = gist.gated_projection %x, %v, 1.0e-1 weights(%w : tensor<96x64xf16>)
      images(%m : tensor<96x16xf16>) : tensor<2x64xf16>, tensor<64x16xf16>
  %s = gist.pack_selection %ids, %count, %nearest, %weight : !part, tensor<i32>, !part, !part
  %r = gist.attend %q, %q, %q on %s mode keys causal window 64 block 64 merge mean
      : !q, !q, !q, !gist.selection<2>
  return %y, %r : tensor<2x96xf16>, !q
}
