// Gated projections on GPUs: the waits between workgroups, and what closed
// gates leave out.
// RUN: gist-opt %s -gist-gpu-tile=target=gfx942 | FileCheck %s
// RUN: gist-opt %s -gist-gpu-tile=target=sm_90 | FileCheck %s --check-prefix=SM90
// RUN: gist-opt %s -gist-gpu-tile=target=gfx942 -gist-gpu=target=gfx942 \
// RUN:     "-gist-write-gpu-code=assembly output=%t.s" -o /dev/null
// RUN: FileCheck %s --check-prefix=ISA --input-file=%t.s

// Two workgroups for a compute unit, 132 of them: 64 rows of W each.
// SM90-DAG: #[[FEW:.*]] = affine_map<()[s0] -> (256)>
// SM90-DAG: #[[MANY:.*]] = affine_map<()[s0, s1, s2, s3] -> ((s3 ceildiv 128 + 1) * 3)>
// SM90-LABEL: func.func private @one(
// SM90-SAME: gist.grid = [#[[FEW]]]
// SM90-SAME: #gist.gpu_gated<columns = 64, waves = 16, steps = 2>
// V is prefetched before the first ticket. After a barrier one thread orders
// the memory accesses of all, and no other thread waits for it.
// SM90: nvvm.prefetch level = L2
// SM90: llvm.atomicrmw uinc_wrap
// SM90: llvm.fence syncscope("device") release
// SM90: llvm.atomicrmw add
// SM90-NOT: gpu.barrier
// SM90: scf.while
// SM90: llvm.load {{.*}} atomic syncscope("device") acquire
// SM90-NOT: llvm.fence
// SM90: gpu.barrier

// 304 compute units; not more than 512 workgroups.
// CHECK-DAG: #[[FEW:.*]] = affine_map<()[s0] -> (512)>
// CHECK-DAG: #[[MANY:.*]] = affine_map<()[s0, s1, s2, s3] -> ((s3 ceildiv 128 + 1) * 2)>
// CHECK-LABEL: func.func private @one(
// CHECK-SAME: %[[X:[a-z0-9]+]]: memref<1x4096xf16>, %[[V:[a-z0-9]+]]: memref<4096x256xf16>, %[[W:[a-z0-9]+]]: memref<16384x4096xf16>, %[[M:[a-z0-9]+]]: memref<16384x256xf16>
// CHECK-SAME: gist.grid = [#[[FEW]]]
// CHECK-SAME: #gist.gpu_gated<columns = 32,
// CHECK-SAME: gist.workgroup = array<i64: 512>
// Items of g, by tickets.
// CHECK: scf.while
// CHECK: vector.load %[[V]]
// CHECK: llvm.atomicrmw add
// Rows of M, and those of V that the residual reads again, are in flight before
// the first wait.
// CHECK: vector.load %[[M]]
// CHECK: amdgpu.sched_barrier
// CHECK: vector.load %[[V]]
// CHECK: amdgpu.sched_barrier
// CHECK: scf.while
// CHECK: llvm.load {{.*}} atomic
// So is the next ticket while an item is worked on.
// CHECK: scf.while
// CHECK: llvm.atomicrmw add
// CHECK: gpu.barrier
// CHECK: llvm.fence syncscope("agent") release
// CHECK: llvm.atomicrmw add
// CHECK: vector.load %[[V]]
// CHECK: scf.while
// CHECK: llvm.load {{.*}} atomic
// W is read only if the level says so.
// CHECK-NOT: vector.load %[[W]]
// CHECK: memref.store {{.*}} : memref<1xi8>
// CHECK: %[[OPEN:.*]] = arith.cmpi eq
// CHECK: scf.if %[[OPEN]] {
// CHECK-NEXT: gpu.barrier
// CHECK: vector.load %[[W]]

// ISA-LABEL: one:
// ISA: ScratchSize: 0
func.func private @one(%x: tensor<1x4096xf16>, %v: tensor<4096x256xf16>,
    %w: tensor<16384x4096xf16>, %m: tensor<16384x256xf16>,
    %y: tensor<1x16384xf16>, %l: tensor<1xi8>) -> (tensor<1x16384xf16>, tensor<1xi8>)
    attributes {gist.kernel = #gist.kernel<kind = gated_projection, outputs = 2>} {
  %r, %level = gist.gated_projection %x, %v, 1.0e-1 weights(%w : tensor<16384x4096xf16>)
      images(%m : tensor<16384x256xf16>) : tensor<1x4096xf16>, tensor<4096x256xf16>
  return %r, %level : tensor<1x16384xf16>, tensor<1xi8>
}

#rows = affine_map<(t, m, d) -> (t, d)>
#matrix = affine_map<(t, m, d) -> (m, d)>
#sum = affine_map<(t, m, d) -> (t, m)>
#token = affine_map<(t, d) -> (t)>
#all = affine_map<(t, d) -> (t, d)>

// Every level has tiles of its own, so that there is one more of them than rows
// need. Open gates are counted; a workgroup past the last tile ends. The others
// look for their rows and have one product: of W, in a loop, or of M, which is one
// iteration deep.
// CHECK-LABEL: func.func private @many(
// CHECK-SAME: %[[G:[a-z0-9]+]]: memref<?x64xf16>, %[[X:[a-z0-9]+]]: memref<?x256xf16>, %[[L:[a-z0-9]+]]: memref<?xi8>, %[[M:[a-z0-9]+]]: memref<256x64xf16>, %[[W:[a-z0-9]+]]: memref<256x256xf16>
// CHECK-SAME: gist.grid = [#[[MANY]], #{{.*}}]
// CHECK-SAME: instruction = mfma_32x32x8
// CHECK: memref.load %[[L]]
// CHECK: %[[NUMBER:.*]] = arith.cmpi slt, %block_id_x,
// CHECK: scf.if %[[NUMBER]] {
// CHECK: memref.load %[[L]]
// CHECK: %[[OPEN:.*]] = arith.cmpi eq, %[[LEVEL:.*]], %c1 : index
// CHECK-NEXT: scf.if %[[OPEN]] {
// CHECK-NOT: %[[M]][
// CHECK: %[[W]][
// CHECK: scf.for
// CHECK: amdgpu.mfma 32x32x8
// CHECK: %[[CLOSED:.*]] = arith.cmpi eq, %[[LEVEL]], %c0 : index
// CHECK-NEXT: scf.if %[[CLOSED]] {
// CHECK-NOT: %[[W]][
// CHECK-NOT: scf.for
// CHECK: %[[M]][
// CHECK: amdgpu.mfma 32x32x8

// The same on sm_90, with copies in flight and instructions of four warps.
// SM90-LABEL: func.func private @many(
// SM90-SAME: %[[G:[a-z0-9]+]]: memref<?x64xf16>, %[[X:[a-z0-9]+]]: memref<?x256xf16>, %[[L:[a-z0-9]+]]: memref<?xi8>, %[[M:[a-z0-9]+]]: memref<256x64xf16>, %[[W:[a-z0-9]+]]: memref<256x256xf16>
// SM90-SAME: gist.grid = [#[[MANY]], #{{[a-z0-9]+}}]
// SM90-SAME: columns = 96, depth = 64, waves = [8, 1], stages = 4, instruction = wgmma_64x128x16
// SM90: memref.load %[[L]]
// SM90: %[[NUMBER:.*]] = arith.cmpi slt, %block_id_x,
// SM90: scf.if %[[NUMBER]] {
// SM90: memref.load %[[L]]
// SM90: %[[OPEN:.*]] = arith.cmpi eq, %[[LEVEL:.*]], %c1 : index
// SM90-NEXT: scf.if %[[OPEN]] {
// SM90-NOT: %[[M]][
// SM90: nvgpu.device_async_copy %[[X]][
// SM90: nvgpu.device_async_copy %[[W]][
// SM90: nvvm.wgmma.mma_async {{.*}} n = 96
// SM90: %[[CLOSED:.*]] = arith.cmpi eq, %[[LEVEL]], %c0 : index
// SM90-NEXT: scf.if %[[CLOSED]] {
// SM90-NOT: %[[W]][
// SM90: nvgpu.device_async_copy %[[G]][
// SM90: nvgpu.device_async_copy %[[M]][
// SM90: nvvm.wgmma.mma_async {{.*}} n = 96

// ISA-LABEL: many:
// ISA: ScratchSize: 0
func.func private @many(%g: tensor<?x64xf16>, %x: tensor<?x256xf16>, %l: tensor<?xi8>,
    %m: tensor<256x64xf16>, %w: tensor<256x256xf16>, %out: tensor<?x256xf16>)
    -> tensor<?x256xf16> attributes {gist.kernel = #gist.kernel<kind = gated_products, outputs = 1>} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %t = tensor.dim %out, %c0 : tensor<?x256xf16>
  %e = tensor.empty(%t) : tensor<?x256xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x256xf32>) -> tensor<?x256xf32>
  %e1 = tensor.empty(%t) : tensor<?x64xf16>
  %closed = linalg.generic {indexing_maps = [#token, #all, #all], iterator_types = ["parallel", "parallel"]}
      ins(%l, %g : tensor<?xi8>, tensor<?x64xf16>) outs(%e1 : tensor<?x64xf16>) {
  ^bb0(%k: i8, %a: f16, %o: f16):
    %one = arith.constant 1 : i8
    %none = arith.constant 0.0 : f16
    %is = arith.cmpi slt, %k, %one : i8
    %n = arith.select %is, %a, %none : f16
    linalg.yield %n : f16
  } -> tensor<?x64xf16>
  %s = linalg.generic {indexing_maps = [#rows, #matrix, #sum],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%closed, %m : tensor<?x64xf16>, tensor<256x64xf16>) outs(%f : tensor<?x256xf32>) {
  ^bb0(%a: f16, %b: f16, %o: f32):
    %c = arith.extf %a : f16 to f32
    %d = arith.extf %b : f16 to f32
    %p = arith.mulf %c, %d : f32
    %n = arith.addf %o, %p : f32
    linalg.yield %n : f32
  } -> tensor<?x256xf32>
  %e2 = tensor.empty(%t) : tensor<?x256xf16>
  %open = linalg.generic {indexing_maps = [#token, #all, #all], iterator_types = ["parallel", "parallel"]}
      ins(%l, %x : tensor<?xi8>, tensor<?x256xf16>) outs(%e2 : tensor<?x256xf16>) {
  ^bb0(%k: i8, %a: f16, %o: f16):
    %one = arith.constant 1 : i8
    %none = arith.constant 0.0 : f16
    %is = arith.cmpi eq, %k, %one : i8
    %n = arith.select %is, %a, %none : f16
    linalg.yield %n : f16
  } -> tensor<?x256xf16>
  %u = linalg.generic {indexing_maps = [#rows, #matrix, #sum],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%open, %w : tensor<?x256xf16>, tensor<256x256xf16>) outs(%s : tensor<?x256xf32>) {
  ^bb0(%a: f16, %b: f16, %o: f32):
    %c = arith.extf %a : f16 to f32
    %d = arith.extf %b : f16 to f32
    %p = arith.mulf %c, %d : f32
    %n = arith.addf %o, %p : f32
    linalg.yield %n : f32
  } -> tensor<?x256xf32>
  %y = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]}
      ins(%u : tensor<?x256xf32>) outs(%out : tensor<?x256xf16>) {
  ^bb0(%a: f32, %o: f16):
    %n = arith.truncf %a : f32 to f16
    linalg.yield %n : f16
  } -> tensor<?x256xf16>
  return %y : tensor<?x256xf16>
}
