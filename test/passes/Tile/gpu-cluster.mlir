// A cache of clusters on GPUs: what waits for what, and what grids depend on.
// RUN: gist-opt %s -gist-gpu-tile=target=gfx942 | FileCheck %s
// RUN: gist-opt %s -gist-gpu-tile=target=sm_90 | FileCheck %s --check-prefix=SM90
// RUN: gist-opt %s -gist-gpu-tile=target=gfx942 -gist-gpu=target=gfx942 \
// RUN:     "-gist-write-gpu-code=assembly output=%t.s" -o /dev/null
// RUN: FileCheck %s --check-prefix=ISA --input-file=%t.s
// RUN: gist-opt %s -gist-gpu-tile=target=sm_90 -gist-gpu=target=sm_90 \
// RUN:     "-gist-write-gpu-code=output=%t.ptx" -o /dev/null
// RUN: FileCheck %s --check-prefix=PTX --input-file=%t.ptx

!rows = tensor<5264x64xf16>
!units = tensor<138x64xf16>
!weights = tensor<138xf32>
!counts = tensor<2x3xi32>
!heads = tensor<2x3x8xf32>

// s0 is the number of tokens before, which no grid depends on.
// CHECK-DAG: #[[HEADS:.*]] = affine_map<()[s0, s1, s2, s3] -> (3)>
// CHECK-DAG: #[[BLOCKS:.*]] = affine_map<()[s0, s1, s2, s3] -> ((s3 * 3) ceildiv 128)>
// CHECK-DAG: #[[ONE:.*]] = affine_map<()[s0, s1] -> (96)>

// One workgroup for each KV head.
// CHECK-LABEL: func.func private @update(
// CHECK-SAME: %[[KEY:[a-z0-9]+]]: memref<?x3x64xf16>, %[[VALUE:[a-z0-9]+]]: memref<?x3x64xf16>
// CHECK-SAME: %[[KEYS:[a-z0-9]+]]: memref<5264x64xf16>, %[[VALUES:[a-z0-9]+]]: memref<5264x64xf16>, %[[UNITS:[a-z0-9]+]]: memref<138x64xf16>, %[[WEIGHTS:[a-z0-9]+]]: memref<138xf32>, %[[COUNTS:[a-z0-9]+]]: memref<2x3xi32>
// CHECK-SAME: gist.grid = [#[[HEADS]]]
// CHECK-SAME: tokens = 128, clusters = 64, columns = 64, waves = 4, instruction = mfma_32x32x8, element = f16>
// CHECK-SAME: gist.workgroup = array<i64: 256>
// Tokens, clusters, and the products of tokens with earlier ones.
// CHECK-DAG: memref.alloca() {{.*}} : memref<1x128x64xf16, #gpu.address_space<workgroup>>
// CHECK-DAG: memref.alloca() {{.*}} : memref<1x64x64xf16, #gpu.address_space<workgroup>>
// CHECK-DAG: memref.alloca() {{.*}} : memref<8256xf32, #gpu.address_space<workgroup>>
// Only when a block begins is there something to absorb.
// CHECK: scf.if
// CHECK-COUNT-4: vector.load %[[KEYS]]
// The existing clusters: the next ones are in flight while these are
// multiplied.
// CHECK: scf.for
// CHECK: gpu.barrier
// CHECK: vector.store {{.*}}memref<1x64x64xf16
// CHECK: gpu.barrier
// CHECK-COUNT-2: vector.load %[[UNITS]]
// CHECK: amdgpu.sched_barrier
// CHECK-COUNT-16: amdgpu.mfma 32x32x8
// Among the tokens.
// CHECK: scf.for
// CHECK-COUNT-16: amdgpu.mfma 32x32x8
// Which tokens found a cluster: in rounds, between which all threads meet.
// Founders are numbered in their order.
// CHECK: scf.while
// CHECK: gpu.barrier
// CHECK: gpu.shuffle xor
// CHECK: gpu.barrier
// CHECK: scf.yield
// CHECK: math.ctpop
// CHECK: gpu.barrier
// How many members there are; means of keys, units, means of values.
// CHECK: memref.store {{.*}} %[[WEIGHTS]]
// CHECK: gpu.barrier
// CHECK: vector.store {{.*}} %[[KEYS]]
// CHECK: vector.store {{.*}} %[[UNITS]]
// CHECK: gpu.barrier
// CHECK: vector.store {{.*}} %[[VALUES]]
// CHECK: gpu.barrier
// CHECK: memref.store {{.*}} %[[COUNTS]]
// The call's tokens.
// CHECK: vector.load %[[KEY]]
// CHECK: vector.store {{.*}} %[[KEYS]]
// CHECK: vector.load %[[VALUE]]
// CHECK: vector.store {{.*}} %[[VALUES]]
// CHECK: return

// SM90-LABEL: func.func private @update(
// SM90-SAME: tokens = 128, clusters = 128, columns = 64, waves = 8, instruction = mma_16x8x16, element = f16>
// SM90: scf.while

// ISA-LABEL: update:
// ISA-NOT: scratch_
// ISA-LABEL: .amdhsa_kernel update

// PTX-LABEL: .entry update(
// PTX-DAG: ldmatrix.sync.aligned.m8n8.x4.shared.b16
// PTX-DAG: mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
// PTX-DAG: shfl.sync.bfly
func.func private @update(%k: tensor<?x3x64xf16>, %v: tensor<?x3x64xf16>, %heads: !heads, %past: index,
    %layer: index, %s0: !rows, %s1: !rows, %s2: !units, %s3: !weights, %s4: !counts)
    -> (!rows, !rows, !units, !weights, !counts) attributes {gist.kernel = #gist.kernel<kind = cluster_update, outputs = 5>} {
  %n:5 = gist.cluster_update %k, %v, %heads, %past, %layer into(%s0, %s1, %s2, %s3, %s4) block 128
      : tensor<?x3x64xf16>, tensor<?x3x64xf16>, !heads, !rows, !rows, !units, !weights, !counts
  return %n#0, %n#1, %n#2, %n#3, %n#4 : !rows, !rows, !units, !weights, !counts
}

// CHECK-LABEL: func.func private @attention(
// CHECK-SAME: gist.grid = [#[[BLOCKS]], #[[HEADS]]]
// CHECK-SAME: rows = 128, keys = 64
// Keys, and what their number adds to scores, a step ahead of the products. A
// step without clusters reads no weight.
// CHECK: scf.while
// CHECK: scf.while
// CHECK: scf.if
// CHECK: memref.load {{.*}} : memref<138xf32>
// CHECK: math.log2
// CHECK: amdgpu.sched_barrier
// CHECK: amdgpu.mfma 32x32x8

// Rows go from the pools to workgroup memory as they are.
// SM90-LABEL: func.func private @attention(
// SM90: nvgpu.device_async_copy {{.*}} : memref<5264x64xf16> to
// SM90: wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16
func.func private @attention(%q: tensor<?x9x64xf16>, %heads: !heads, %past: index, %layer: index,
    %k: !rows, %v: !rows, %w: !weights, %c: !counts, %out: tensor<?x9x64xf16>)
    -> tensor<?x9x64xf16> attributes {gist.kernel = #gist.kernel<kind = cluster_attention, outputs = 1>} {
  %r = gist.cluster_attention %q, %heads, %past, %layer on(%k, %v, %w, %c) block 128
      : tensor<?x9x64xf16>, !heads, !rows, !rows, !weights, !counts
  return %r : tensor<?x9x64xf16>
}

// CHECK-LABEL: func.func private @one(
// CHECK-SAME: memref<5264x64xf16>, %[[VALUES:[a-z0-9]+]]: memref<5264x64xf16>
// CHECK-SAME: gist.grid = [#[[ONE]]]
// CHECK-NOT: amdgpu.mfma
// CHECK: scf.for
// A step asks for all it reads, what clusters stand for too, before it computes:
// a branch around a load would wait for it.
// CHECK-NOT: scf.if
// CHECK-NOT: math.log2
// CHECK: memref.load {{.*}} : memref<138xf32>
// CHECK-NOT: scf.if
// CHECK-NOT: math.log2
// CHECK: vector.load %[[VALUES]]
// CHECK-NOT: memref<138xf32>
// CHECK: math.log2
// CHECK-NOT: gpu.barrier
// CHECK: scf.yield
// CHECK: gpu.barrier

// Three heads have 15 clusters together, of 8 workgroups each. How many a head
// has follows from the keys that it sees at most: 12 are shared out by keys, and
// rounding up takes at most one more for each head. A cluster finds its head by
// counting. How many clusters of keys there are is read for that head alone.
// SM90-LABEL: func.func private @one(
// SM90-SAME: %[[TABLE:[a-z0-9]+]]: memref<2x3x8xf32>
// SM90-SAME: %[[COUNTS:[a-z0-9]+]]: memref<2x3xi32>, %{{[^:]*}}: memref<1x9x64xf16>, %[[PARTS:[a-z0-9]+]]: memref<5760xf32>, %{{[^:]*}}: memref<24xi32>
// SM90: nvvm.griddepcontrol wait
// SM90: memref.load %[[TABLE]]
// SM90: %[[SHARE:.+]] = arith.divf %cst{{.*}}, %{{.*}} : f32
// SM90-COUNT-3: arith.fptoui
// SM90: memref.load %[[COUNTS]]
// SM90-NOT: memref.load %[[COUNTS]]{{\[}}
// SM90: scf.if
// SM90: nvvm.griddepcontrol launch_dependents
// SM90: vector.store %{{.*}}, %[[PARTS]]
// SM90: llvm.atomicrmw uinc_wrap
// SM90: vector.load %[[PARTS]]
func.func private @one(%q: tensor<1x9x64xf16>, %heads: !heads, %past: index, %layer: index,
    %k: !rows, %v: !rows, %w: !weights, %c: !counts, %out: tensor<1x9x64xf16>)
    -> tensor<1x9x64xf16> attributes {gist.kernel = #gist.kernel<kind = cluster_attention, outputs = 1>} {
  %r = gist.cluster_attention %q, %heads, %past, %layer on(%k, %v, %w, %c) block 128
      : tensor<1x9x64xf16>, !heads, !rows, !rows, !weights, !counts
  return %r : tensor<1x9x64xf16>
}

// A token's row goes into the ring in the launch that attends to it, by one
// workgroup of its head. The table is a weight: all that follows from it is known
// before the kernels before are over.
// CHECK-LABEL: func.func private @append(
// CHECK-SAME: %[[KEYS:[a-z0-9]+]]: memref<5264x64xf16>, %[[VALUES:[a-z0-9]+]]: memref<5264x64xf16>, %{{[^:]*}}: memref<138x64xf16>
// CHECK: scf.if
// CHECK: vector.store %{{.*}}, %[[KEYS]]
// CHECK: scf.if
// CHECK: vector.store %{{.*}}, %[[VALUES]]
// CHECK: gpu.barrier
// CHECK: vector.load %[[KEYS]]
// SM90-LABEL: func.func private @append(
// SM90-SAME: %[[TABLE:[a-z0-9]+]]: memref<2x3x8xf32>
// SM90: memref.load %[[TABLE]]
// SM90: arith.divf
// SM90: nvvm.griddepcontrol wait
// SM90-NOT: memref.load %[[TABLE]]{{\[}}
// SM90: return
func.func private @append(%q: tensor<1x9x64xf16>, %heads: !heads {gist.constant}, %past: index, %layer: index,
    %k: tensor<1x3x64xf16>, %v: tensor<1x3x64xf16>, %out: tensor<1x9x64xf16>,
    %s0: !rows, %s1: !rows, %s2: !units, %s3: !weights, %s4: !counts)
    -> (tensor<1x9x64xf16>, !rows, !rows, !units, !weights, !counts)
    attributes {gist.kernel = #gist.kernel<kind = cluster_attention, outputs = 6>} {
  %r = gist.cluster_attention %q, %heads, %past, %layer on(%s0, %s1, %s3, %s4)
      own(%k, %v : tensor<1x3x64xf16>, tensor<1x3x64xf16>) block 128
      : tensor<1x9x64xf16>, !heads, !rows, !rows, !weights, !counts
  %n:5 = gist.cluster_update %k, %v, %heads, %past, %layer into(%s0, %s1, %s2, %s3, %s4) block 128 absorbed
      : tensor<1x3x64xf16>, tensor<1x3x64xf16>, !heads, !rows, !rows, !units, !weights, !counts
  return %r, %n#0, %n#1, %n#2, %n#3, %n#4 : tensor<1x9x64xf16>, !rows, !rows, !units, !weights, !counts
}

// Metadata follow the kernels.
// ISA: .name: update
// ISA: .private_segment_fixed_size: 0
// ISA: .sgpr_spill_count: 0
// ISA: .vgpr_spill_count: 0
// ISA: .name: attention
// ISA: .sgpr_spill_count: 0
// ISA: .vgpr_spill_count: 0
// ISA: .name: one
// ISA: .sgpr_spill_count: 0
// ISA: .vgpr_spill_count: 0
