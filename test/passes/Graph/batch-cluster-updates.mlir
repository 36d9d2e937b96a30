// What a call does to its clusters, taken out of the way of its layers.
// RUN: gist-opt %s -gist-set-target=target=sm_90 -gist-form-kernels | FileCheck %s
// RUN: gist-opt %s -gist-set-target=target=cpu -gist-form-kernels | FileCheck %s --check-prefix=CPU
// RUN: sed 's/module {/module attributes {gist.shared_state} {/' %s \
// RUN:   | gist-opt -gist-set-target=target=sm_90 -gist-form-kernels | FileCheck %s --check-prefix=SHARED

!rows = tensor<5264x64xf16>
!units = tensor<138x64xf16>
!weights = tensor<138xf32>
!counts = tensor<2x3xi32>
!heads = tensor<2x3x8xf32>
!q = tensor<?x9x64xf16>
!k = tensor<?x3x64xf16>

module {
// The later layer's tokens leave first, the earlier one's when its attention
// has read them. Attention reads the rows of its call, and puts them into the
// cache.
// CHECK-LABEL: func.func @model(
// CHECK-SAME: %[[Q:.*]]: tensor<?x9x64xf16>, %[[K:.*]]: tensor<?x3x64xf16>, %[[V:.*]]: tensor<?x3x64xf16>, %[[PAST:.*]]: index,
// CHECK: gist.dispatch @cluster_absorb_0(%{{.*}}, %[[PAST]]
// CHECK: gist.dispatch @cluster_attention_0(%[[Q]], {{.*}}%[[K]], %[[V]]
// CHECK: %[[NEXT:.*]] = arith.addi %[[PAST]], %{{.*}} : index
// CHECK: gist.dispatch @cluster_absorb_1(%{{.*}}, %[[NEXT]]
// CHECK: gist.dispatch @cluster_attention_0(
// CHECK-NOT: gist.dispatch
// CHECK: return
// CHECK: func.func private @cluster_absorb_0
// CHECK: gist.cluster_absorb {{.*}} layers 1 to 2
// CHECK: func.func private @cluster_attention_0
// CHECK: gist.cluster_attention {{.*}} own(
// CHECK: gist.cluster_update {{.*}} block 128 absorbed
// CHECK-NOT: @cluster_update
// CHECK: func.func private @cluster_absorb_1
// CHECK: gist.cluster_absorb {{.*}} layers 0 to 1

// CPUs let tokens of all layers leave at the start of a call: the heads of one
// layer would be fewer than cores. Attention waits for the update.
// CPU-LABEL: func.func @model(
// CPU: gist.dispatch @cluster_absorb_0(
// CPU: gist.dispatch @cluster_update_0(
// CPU: gist.dispatch @cluster_attention_0(
// CPU: gist.dispatch @cluster_update_0(
// CPU: gist.dispatch @cluster_attention_0(
// CPU-NOT: gist.dispatch
// CPU: return
// CPU: gist.cluster_absorb {{.*}} layers 0 to 2
// CPU: gist.cluster_update {{.*}} block 128 absorbed
// CPU-NOT: gist.cluster_absorb
// CPU-NOT: own(

// Another target would not know of what has left at the end of a call.
// SHARED-LABEL: func.func @model(
// SHARED-COUNT-1: gist.dispatch @cluster_absorb
// SHARED-NOT: gist.dispatch @cluster_absorb
// SHARED: gist.cluster_absorb {{.*}} layers 0 to 2
// SHARED-NOT: gist.cluster_absorb
func.func @model(%q: !q, %k: !k, %v: !k, %past: index, %s0: !rows, %s1: !rows, %s2: !units, %s3: !weights, %s4: !counts)
    -> (!q, !q, !rows, !rows, !units, !weights, !counts) {
  %heads = gist.weight "plan.heads" : !heads
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %a:5 = gist.cluster_update %k, %v, %heads, %past, %zero into(%s0, %s1, %s2, %s3, %s4) block 128
      : !k, !k, !heads, !rows, !rows, !units, !weights, !counts
  %o0 = gist.cluster_attention %q, %heads, %past, %zero on(%a#0, %a#1, %a#3, %a#4) block 128
      : !q, !heads, !rows, !rows, !weights, !counts
  %b:5 = gist.cluster_update %k, %v, %heads, %past, %one into(%a#0, %a#1, %a#2, %a#3, %a#4) block 128
      : !k, !k, !heads, !rows, !rows, !units, !weights, !counts
  %o1 = gist.cluster_attention %q, %heads, %past, %one on(%b#0, %b#1, %b#3, %b#4) block 128
      : !q, !heads, !rows, !rows, !weights, !counts
  return %o0, %o1, %b#0, %b#1, %b#2, %b#3, %b#4 : !q, !q, !rows, !rows, !units, !weights, !counts
}
}
