// Tasks of a cache of clusters on a CPU.
// RUN: gist-opt %s -gist-tile='triple=aarch64-linux-gnu cpu=generic' | FileCheck %s
// RUN: gist-opt %s -gist-tile='triple=x86_64-linux-gnu cpu=x86-64-v4' | FileCheck %s --check-prefix=WIDE

!rows = tensor<5264x48xf16>
!units = tensor<138x48xf16>
!weights = tensor<138xf32>
!counts = tensor<7x3xi32>
!heads = tensor<7x3x8xf32>
!k = tensor<?x3x48xf16>

// Heads of all layers at once: those of one layer are fewer than cores.
// CHECK-LABEL: func.func private @absorb(
// CHECK: scf.forall (%{{.*}}, %[[LAYER:.*]]) in (3, 5)
// CHECK: arith.remui %{{.*}}, %{{.*}} : index
// Four tokens and four clusters are compared at a time, in vectors of the CPU.
// CHECK-COUNT-16: vector.fma {{.*}} : vector<4xf32>
// WIDE-LABEL: func.func private @absorb(
// WIDE-COUNT-16: vector.fma {{.*}} : vector<16xf32>
func.func private @absorb(%heads: !heads, %past: index, %s0: !rows, %s1: !rows, %s2: !units, %s3: !weights, %s4: !counts)
    -> (!rows, !rows, !units, !weights, !counts) attributes {gist.kernel = #gist.kernel<kind = cluster_update, outputs = 5>} {
  %n:5 = gist.cluster_absorb %heads, %past layers 2 to 7 into(%s0, %s1, %s2, %s3, %s4) block 256
      : !heads, !rows, !rows, !units, !weights, !counts
  return %n#0, %n#1, %n#2, %n#3, %n#4 : !rows, !rows, !units, !weights, !counts
}

// What is left of an update then: blocks of rows that go into rings.
// CHECK-LABEL: func.func private @append(
// CHECK: scf.forall {{.*}} to (3, %{{.*}}) step (1, 32)
// CHECK-NOT: vector.fma
func.func private @append(%k: !k, %v: !k, %heads: !heads, %past: index, %layer: index, %s0: !rows, %s1: !rows, %s2: !units, %s3: !weights, %s4: !counts)
    -> (!rows, !rows, !units, !weights, !counts) attributes {gist.kernel = #gist.kernel<kind = cluster_update, outputs = 5>} {
  %n:5 = gist.cluster_update %k, %v, %heads, %past, %layer into(%s0, %s1, %s2, %s3, %s4) block 256 absorbed
      : !k, !k, !heads, !rows, !rows, !units, !weights, !counts
  return %n#0, %n#1, %n#2, %n#3, %n#4 : !rows, !rows, !units, !weights, !counts
}

// An update that does both has its heads alone: the ring is read before it is
// written.
// CHECK-LABEL: func.func private @update(
// CHECK: scf.forall (%{{.*}}) in (3)
// CHECK: vector.fma
func.func private @update(%k: !k, %v: !k, %heads: !heads, %past: index, %layer: index, %s0: !rows, %s1: !rows, %s2: !units, %s3: !weights, %s4: !counts)
    -> (!rows, !rows, !units, !weights, !counts) attributes {gist.kernel = #gist.kernel<kind = cluster_update, outputs = 5>} {
  %n:5 = gist.cluster_update %k, %v, %heads, %past, %layer into(%s0, %s1, %s2, %s3, %s4) block 256
      : !k, !k, !heads, !rows, !rows, !units, !weights, !counts
  return %n#0, %n#1, %n#2, %n#3, %n#4 : !rows, !rows, !units, !weights, !counts
}
