// A cache of clusters on GPUs where tokens of several layers leave at once, and
// attention reads the rows of its call.
// RUN: gist-opt %s -gist-gpu-tile=target=gfx942 | FileCheck %s
// RUN: gist-opt %s -gist-gpu-tile=target=sm_90 | FileCheck %s --check-prefix=SM90
// RUN: gist-opt %s -gist-gpu-tile=target=sm_90 -gist-gpu=target=sm_90 \
// RUN:     "-gist-write-gpu-code=output=%t.ptx" -o /dev/null
// RUN: FileCheck %s --check-prefix=PTX --input-file=%t.ptx

!rows = tensor<5264x64xf16>
!units = tensor<138x64xf16>
!weights = tensor<138xf32>
!counts = tensor<8x3xi32>
!heads = tensor<8x3x8xf32>

// CHECK-DAG: #[[HEADS:.*]] = affine_map<()[s0] -> (3)>
// CHECK-DAG: #[[LAYERS:.*]] = affine_map<()[s0] -> (5)>
// CHECK-DAG: #[[NEXT:.*]] = affine_map<()[s0] -> (s0 ceildiv 1099511627776 - (s0 mod 2048) ceildiv 2048)>
// CHECK-DAG: #[[TOKENS:.*]] = affine_map<()[s0, s1, s2, s3] -> (s2 ceildiv 32)>
// CHECK-DAG: #[[ALL:.*]] = affine_map<()[s0, s1, s2, s3] -> (3)>
// SM90-DAG: #[[BLOCKS:.*]] = affine_map<()[s0, s1, s2, s3, s4, s5, s6] -> ((s5 * 3) ceildiv 64)>
// SM90-DAG: #[[PARTS:.*]] = affine_map<()[s0, s1, s2, s3, s4, s5, s6] -> (12)>

// One workgroup for each KV head of the five layers, from the third on, where a
// block begins that is not the first; else there is no launch.
// CHECK-LABEL: func.func private @absorb(
// CHECK-SAME: gist.grid = [#[[HEADS]], #[[LAYERS]], #[[NEXT]]]
// CHECK: %[[THIRD:.*]] = arith.constant 2 : index
// CHECK: %[[Y:.*]] = gpu.block_id y
// CHECK: arith.addi %[[Y]], %[[THIRD]]
// SM90-LABEL: func.func private @absorb(
// PTX-LABEL: .entry absorb(
func.func private @absorb(%heads: !heads, %past: index, %s0: !rows, %s1: !rows, %s2: !units, %s3: !weights, %s4: !counts)
    -> (!rows, !rows, !units, !weights, !counts) attributes {gist.kernel = #gist.kernel<kind = cluster_update, outputs = 5>} {
  %n:5 = gist.cluster_absorb %heads, %past layers 2 to 7 into(%s0, %s1, %s2, %s3, %s4) block 2048
      : !heads, !rows, !rows, !units, !weights, !counts
  return %n#0, %n#1, %n#2, %n#3, %n#4 : !rows, !rows, !units, !weights, !counts
}

// Rows are copied by as many workgroups as there are tokens for, without memory
// of their own.
// CHECK-LABEL: func.func private @append(
// CHECK-SAME: gist.grid = [#[[TOKENS]], #[[ALL]]]
// CHECK-NOT: workgroup>
// CHECK: vector.load %{{.*}} : memref<?x3x64xf16>, vector<8xf16>
// CHECK: vector.store %{{.*}} : memref<5264x64xf16>, vector<8xf16>
// CHECK: return
func.func private @append(%k: tensor<?x3x64xf16>, %v: tensor<?x3x64xf16>, %heads: !heads, %past: index, %layer: index,
    %s0: !rows, %s1: !rows, %s2: !units, %s3: !weights, %s4: !counts)
    -> (!rows, !rows, !units, !weights, !counts) attributes {gist.kernel = #gist.kernel<kind = cluster_update, outputs = 5>} {
  %n:5 = gist.cluster_update %k, %v, %heads, %past, %layer into(%s0, %s1, %s2, %s3, %s4) block 2048 absorbed
      : tensor<?x3x64xf16>, tensor<?x3x64xf16>, !heads, !rows, !rows, !units, !weights, !counts
  return %n#0, %n#1, %n#2, %n#3, %n#4 : !rows, !rows, !units, !weights, !counts
}

// First the cache, where clusters add to scores, then the call's own rows, which
// are copied from where they are. 288 blocks of queries are too few for the GPU,
// so that each has up to four parts, one after the other of the same head. A
// workgroup that is not the only one keeps what it has found; the last one reads
// what all have, and leaves zero behind.
// SM90-LABEL: func.func private @attention(
// SM90-SAME: %[[MEMORY:[a-z0-9]+]]: memref<4x?xf32>, %{{.*}}: memref<288xi32>)
// SM90-SAME: gist.grid = [#[[BLOCKS]], #[[PARTS]]]
// SM90-SAME: keys = 64
// SM90-SAME: instruction = wgmma_64x128x16
// SM90: nvgpu.device_async_copy {{.*}} : memref<5264x64xf16> to
// SM90: math.log2
// What clusters of a later step stand for is asked for before the products, and
// needed after them.
// SM90: memref.load {{.*}} : memref<138xf32>
// SM90: gpu.barrier
// SM90: wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16
// SM90-NOT: memref<138xf32>
// SM90: math.log2
// SM90: nvgpu.device_async_copy {{.*}} : memref<?x3x64xf16> to
// SM90-NOT: math.log2
// SM90: wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16
// SM90: memref.store {{.*}}, %[[MEMORY]][
// SM90: gpu.barrier
// SM90: llvm.fence syncscope("device") release
// SM90: llvm.atomicrmw add
// SM90-NEXT: llvm.fence syncscope("device") acquire
// SM90: gpu.barrier
// SM90: scf.for
// SM90: memref.load %[[MEMORY]][
// SM90: llvm.store {{.*}} atomic syncscope("device")
// SM90: return

// Of 1024 blocks there are enough.
// SM90-LABEL: func.func private @many(
// SM90-SAME: %{{[a-z0-9]+}}: memref<?x32x128xf16>) attributes
// SM90-NOT: llvm.atomicrmw
// PTX-LABEL: .entry attention(
func.func private @attention(%q: tensor<?x9x64xf16>, %heads: !heads, %past: index, %layer: index,
    %s0: !rows, %s1: !rows, %w: !weights, %c: !counts, %k: tensor<?x3x64xf16>, %v: tensor<?x3x64xf16>,
    %out: tensor<?x9x64xf16>)
    -> tensor<?x9x64xf16> attributes {gist.kernel = #gist.kernel<kind = cluster_attention, outputs = 1>} {
  %r = gist.cluster_attention %q, %heads, %past, %layer on(%s0, %s1, %w, %c)
      own(%k, %v : tensor<?x3x64xf16>, tensor<?x3x64xf16>) block 2048
      : tensor<?x9x64xf16>, !heads, !rows, !rows, !weights, !counts
  return %r : tensor<?x9x64xf16>
}

func.func private @many(%q: tensor<?x32x128xf16>, %heads: tensor<8x8x8xf32>, %past: index, %layer: index,
    %s0: tensor<5264x128xf16>, %s1: tensor<5264x128xf16>, %w: !weights, %c: tensor<8x8xi32>,
    %k: tensor<?x8x128xf16>, %v: tensor<?x8x128xf16>, %out: tensor<?x32x128xf16>)
    -> tensor<?x32x128xf16> attributes {gist.kernel = #gist.kernel<kind = cluster_attention, outputs = 1>} {
  %r = gist.cluster_attention %q, %heads, %past, %layer on(%s0, %s1, %w, %c)
      own(%k, %v : tensor<?x8x128xf16>, tensor<?x8x128xf16>) block 2048
      : tensor<?x32x128xf16>, tensor<8x8x8xf32>, tensor<5264x128xf16>, tensor<5264x128xf16>, !weights, tensor<8x8xi32>
  return %r : tensor<?x32x128xf16>
}
