// Attention for GPUs: what waits for what in the loop over keys.
// RUN: gist-opt %s -gist-gpu-tile=target=gfx942 | FileCheck %s
// RUN: gist-opt %s -gist-gpu-tile=target=sm_90 | FileCheck %s --check-prefix=SM90
// RUN: gist-opt %s -gist-gpu-tile=target=gfx942 -gist-gpu=target=gfx942 \
// RUN:     "-gist-write-gpu-code=assembly output=%t.s" -o /dev/null
// RUN: FileCheck %s --check-prefix=ISA --input-file=%t.s

// Two query heads share a KV head: 128 rows are 64 queries.
// CHECK: #[[BLOCKS:.*]] = affine_map<()[s0, s1, s2, s3] -> ((s3 * 2) ceildiv 128)>
// CHECK: #[[HEADS:.*]] = affine_map<()[s0, s1, s2, s3] -> (2)>
// CHECK: #[[ONE:.*]] = affine_map<()[s0, s1] -> (64)>
// CHECK-LABEL: func.func private @attention(
// CHECK-SAME: %[[Q:.*]]: memref<?x4x128xf16>, %[[K:.*]]: memref<?x2x128xf16>, %[[V:.*]]: memref<?x2x128xf16>
// CHECK-SAME: gist.grid = [#[[BLOCKS]], #[[HEADS]]]
// CHECK-SAME: rows = 128, keys = 32, waves = 4, stages = 2, instruction = mfma_32x32x8, element = f16>
// CHECK-SAME: gist.waves_per_simd = 2 : i64
// CHECK-SAME: gist.workgroup = array<i64: 256>
// Keys as they are, values transposed.
// CHECK-DAG: memref.alloca() {{.*}} : memref<1x32x128xf16, #gpu.address_space<workgroup>>
// CHECK-DAG: memref.alloca() {{.*}} : memref<1x128x32xf16, #gpu.address_space<workgroup>>
// The weights of the first step come before the loops, and the next keys and
// its own values are loaded before its products.
// CHECK: scf.if
// CHECK-COUNT-2: vector.load %[[K]]
// CHECK-COUNT-2: vector.store {{.*}}memref<1x32x128xf16
// CHECK: gpu.barrier
// CHECK-COUNT-2: vector.load %[[K]]
// CHECK-COUNT-4: vector.load %[[V]]{{.*}}vector<4xf16>
// CHECK-COUNT-16: amdgpu.mfma 32x32x8
// CHECK: math.exp2 {{.*}} : vector<16xf32>
// CHECK-NOT: amdgpu.mfma
// Steps that all rows see: scores of the next, outputs of this one, weights.
// CHECK: scf.while
// CHECK: scf.while
// CHECK: gpu.barrier
// CHECK: vector.store {{.*}}memref<1x32x128xf16
// CHECK: vector.store {{.*}}memref<1x128x32xf16
// CHECK: gpu.barrier
// CHECK-COUNT-2: vector.load %[[K]]
// CHECK-COUNT-4: vector.load %[[V]]
// CHECK: amdgpu.sched_barrier
// CHECK-COUNT-32: amdgpu.mfma 32x32x8
// CHECK-NOT: amdgpu.mfma
// CHECK-NOT: arith.select {{.*}} : f32
// CHECK: gpu.shuffle xor
// CHECK: math.exp2 {{.*}} : vector<16xf32>
// CHECK: arith.truncf {{.*}} : vector<16xf32> to vector<16xf16>
// CHECK-COUNT-8: llvm.amdgcn.fdot2
// CHECK: rocdl.sched.group.barrier
// CHECK: amdgpu.sched_barrier
// CHECK: scf.condition
// Others: what a row does not see is hidden.
// CHECK-COUNT-32: amdgpu.mfma 32x32x8
// CHECK-COUNT-16: arith.select {{.*}} : f32
// CHECK: math.exp2 {{.*}} : vector<16xf32>
// The outputs of the last step.
// CHECK: scf.condition
// CHECK: vector.store {{.*}}memref<1x128x32xf16
// CHECK: gpu.barrier
// CHECK-COUNT-16: amdgpu.mfma 32x32x8
// CHECK-NOT: amdgpu.mfma
// CHECK-NOT: gpu.barrier
// CHECK: return

// Four warps multiply 64 rows. 64 keys and values of 256 bytes are 2048 pieces
// for 128 threads; keys are copied a step before their values.
// SM90-LABEL: func.func private @attention(
// SM90-SAME: rows = 64, keys = 64, waves = 4, stages = 2, instruction = wgmma_64x128x16
// SM90-SAME: gist.workgroup = array<i64: 128>
// SM90-DAG: memref.alloca() {{.*}} : memref<2x64x64xf16, #gpu.address_space<workgroup>>
// SM90-DAG: memref.alloca() {{.*}} : memref<4x64x64xf16, #gpu.address_space<workgroup>>
// SM90-DAG: memref.alloca() {{.*}} : memref<4x64x64xf16, #gpu.address_space<workgroup>>
// SM90-COUNT-8: nvgpu.device_async_copy
// SM90: nvvm.cp.async.commit.group
// SM90-COUNT-16: nvgpu.device_async_copy
// SM90: nvvm.cp.async.commit.group
// The first step's weights; then the weights of a step are computed between the
// products of this step and those of the last.
// SM90: nvvm.cp.async.wait.group 1
// SM90: math.exp2
// SM90: scf.for
// SM90: nvvm.cp.async.wait.group 0
// SM90: gpu.barrier
// SM90-COUNT-8: wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16
// SM90: nvvm.wgmma.commit.group.sync.aligned
// SM90-COUNT-4: wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16
// SM90: nvvm.wgmma.commit.group.sync.aligned
// SM90-COUNT-16: nvgpu.device_async_copy
// SM90: wgmma.wait_group.sync.aligned 1;
// SM90: math.exp2
// The outputs are waited for by an instruction of four warps, in a block of its
// own: of the two ways no warp takes the first. They are scaled only in warps
// that have seen a score far above those before.
// SM90: %[[NEVER:.*]] = arith.cmpf olt, %{{.*}}, %{{.*}} : f32
// SM90-NEXT: scf.if %[[NEVER]]
// SM90: wgmma.wait_group.sync.aligned 0; // never
// SM90: } else {
// SM90: wgmma.wait_group.sync.aligned 0;"
// SM90-NOT: wgmma.wait_group
// SM90: %[[FAR:.*]] = nvvm.vote.sync any
// SM90-NEXT: scf.if %[[FAR]]
// SM90-COUNT-64: arith.mulf
// SM90-NOT: arith.mulf
// SM90: } else {
// SM90-NOT: arith.mulf
// SM90-NOT: wgmma.wait_group
// SM90-NOT: gpu.barrier
// SM90: scf.yield

// One barrier for 16 products: loads go out first and are waited for when the
// step is over. Powers are computed between products.
// ISA-LABEL: attention:
// ISA: Inner Loop Header
// ISA: s_barrier
// ISA: s_barrier
// ISA-NOT: v_mfma
// ISA-COUNT-6: global_load_dwordx{{[24]}}
// ISA-NOT: vmcnt
// ISA-COUNT-20: v_mfma_f32_32x32x8_f16
// ISA-NOT: vmcnt
// ISA: v_exp_f32
// ISA-NOT: vmcnt
// ISA-COUNT-4: v_mfma_f32_32x32x8_f16
// ISA-NOT: scratch_
// ISA-LABEL: .amdhsa_kernel attention
// ISA: .group_segment_fixed_size: 16384
// ISA: .name: attention
// ISA: .private_segment_fixed_size: 0
// ISA: .sgpr_spill_count: 0
// ISA: .vgpr_spill_count: 0

func.func private @attention(%q: tensor<?x4x128xf16>, %k: tensor<?x2x128xf16>, %v: tensor<?x2x128xf16>,
    %out: tensor<?x4x128xf16>) -> tensor<?x4x128xf16> attributes {gist.kernel = #gist.kernel<kind = attention, outputs = 1>} {
  %r = gist.attention %q, %k, %v causal : tensor<?x4x128xf16>, tensor<?x2x128xf16>, tensor<?x2x128xf16>
  return %r : tensor<?x4x128xf16>
}

// One query: for the heads that share a KV head as many workgroups as share keys
// at most, 32, whatever the number of keys; no product by matrix instructions.
// CHECK-LABEL: func.func private @one(
// CHECK-SAME: gist.grid = [#[[ONE]]]
// CHECK-SAME: gist.workgroup = array<i64: 512>
// CHECK-NOT: amdgpu.mfma
// CHECK: scf.for
// CHECK-NOT: gpu.barrier
// CHECK: scf.yield
// CHECK: gpu.barrier
func.func private @one(%q: tensor<1x6x64xf16>, %k: tensor<?x2x64xf16>, %v: tensor<?x2x64xf16>,
    %out: tensor<1x6x64xf16>) -> tensor<1x6x64xf16> attributes {gist.kernel = #gist.kernel<kind = attention, outputs = 1>} {
  %r = gist.attention %q, %k, %v causal : tensor<1x6x64xf16>, tensor<?x2x64xf16>, tensor<?x2x64xf16>
  return %r : tensor<1x6x64xf16>
}

// What instructions of one warp multiply goes through registers: keys are f32
// here.
// SM90-LABEL: func.func private @converted(
// SM90-SAME: rows = 128, keys = 64, waves = 4, stages = 2, instruction = mma_16x8x16
// SM90: scf.for
// SM90: nvgpu.ldmatrix {{.*}}transpose = false
// SM90: nvgpu.mma.sync
// SM90: math.exp2
// SM90: nvgpu.ldmatrix {{.*}}transpose = true
// SM90: nvgpu.mma.sync
// SM90: scf.yield
func.func private @converted(%q: tensor<?x4x64xf32>, %k: tensor<?x2x64xf32>, %v: tensor<?x2x64xf32>,
    %out: tensor<?x4x64xf32>) -> tensor<?x4x64xf32> attributes {gist.kernel = #gist.kernel<kind = attention, outputs = 1>} {
  %r = gist.attention %q, %k, %v causal : tensor<?x4x64xf32>, tensor<?x2x64xf32>, tensor<?x2x64xf32>
  return %r : tensor<?x4x64xf32>
}
