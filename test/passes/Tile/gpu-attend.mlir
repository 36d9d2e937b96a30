// Attention on representatives for GPUs.
// RUN: gist-opt %s -gist-gpu-tile=target=gfx942 | FileCheck %s
// RUN: gist-opt %s -gist-gpu-tile=target=gfx942 -gist-gpu=target=gfx942 \
// RUN:     "-gist-write-gpu-code=assembly output=%t.s" -o /dev/null
// RUN: FileCheck %s --check-prefix=ISA --input-file=%t.s

!q = tensor<?x4x64xf16>
!part = tensor<?xi32>

// The grid has room for every token to be a representative; workgroups past the
// count leave at once. Ids are read two steps ahead of the products, rows one.
// CHECK-LABEL: func.func private @copy(
// CHECK-SAME: %{{.*}}: memref<?x4x64xf16>, %[[K:[a-z0-9]*]]: memref<?x4x64xf16>, %{{[a-z0-9]*}}: memref<?x4x64xf16>, %[[IDS:[a-z0-9]*]]: memref<?xi32>, %[[COUNT:[a-z0-9]*]]: memref<i32>, %[[NEAREST:[a-z0-9]*]]: memref<?xi32>
// CHECK: memref.load %[[COUNT]]
// CHECK: scf.if
// CHECK: scf.while
// CHECK: scf.while
// CHECK: vector.load %[[K]]
// CHECK: amdgpu.sched_barrier
// CHECK: memref.load %[[IDS]]
// CHECK: amdgpu.mfma
// CHECK: scf.condition
// Outputs are in workgroup memory when tokens look for theirs.
// CHECK: vector.store {{.*}}memref<1x128x64xf16, #gpu.address_space<workgroup>>
// CHECK: memref.load %[[NEAREST]]
// CHECK: llvm.atomicrmw add
// ISA-LABEL: .amdhsa_kernel copy
func.func private @copy(%q: !q, %k: !q, %v: !q, %ids: !part, %count: tensor<i32>, %nearest: !part,
    %weight: !part, %out: !q) -> !q attributes {gist.kernel = #gist.kernel<kind = attend, outputs = 1>} {
  %s = gist.pack_selection %ids, %count, %nearest, %weight : !part, tensor<i32>, !part, !part
  %r = gist.attend %q, %k, %v on %s mode copy causal : !q, !q, !q, !gist.selection<?>
  return %r : !q
}

// A workgroup counts the members of the clusters that its queries see.
// CHECK-LABEL: func.func private @keys(
// CHECK: memref.alloca() {{.*}} : memref<4096xi32, #gpu.address_space<workgroup>>
// CHECK: llvm.atomicrmw add
// CHECK: scf.while
// CHECK: scf.while
// CHECK: math.log2
// CHECK: amdgpu.sched_barrier
// What is added to scores is where their sums begin.
// CHECK-COUNT-8: vector.load {{.*}} : memref<1x64xf32, #gpu.address_space<workgroup>>, vector<4xf32>
// CHECK: amdgpu.mfma
// ISA-LABEL: .amdhsa_kernel keys
// ISA: .name: copy
// ISA: .private_segment_fixed_size: 0
// ISA: .vgpr_spill_count: 0
// ISA: .name: keys
// ISA: .private_segment_fixed_size: 0
// ISA: .vgpr_spill_count: 0
func.func private @keys(%q: !q, %k: !q, %v: !q, %ids: !part, %count: tensor<i32>, %nearest: !part,
    %weight: !part, %out: !q) -> !q attributes {gist.kernel = #gist.kernel<kind = attend, outputs = 1>} {
  %s = gist.pack_selection %ids, %count, %nearest, %weight : !part, tensor<i32>, !part, !part
  %r = gist.attend %q, %k, %v on %s mode keys causal window 128 block 128 merge representative
      : !q, !q, !q, !gist.selection<?>
  return %r : !q
}
