// The main loop of a product of integers on sm_90: a block of 128 along k an
// iteration, with one barrier.

// RUN: gist-opt %s -gist-gpu-tile=target=sm_90 -gist-gpu=target=sm_90 "-gist-write-gpu-code=output=%t.ptx" -o /dev/null
// RUN: FileCheck %s --input-file=%t.ptx

// 256 threads copy a step of (128 + 256) x 128 bytes in chunks of 16: 12 each. Two
// groups of four warps have 64 x 256 of the result, in two halves: an instruction
// for 32 of k, 4 for each half. The first of four begins from zero. The 64 sums of
// a thread are converted and added to totals before the other half begins.
// CHECK-LABEL: .entry product(
// CHECK:       [[LOOP:\$L__BB0_[0-9]+]]:
// CHECK:       cp.async.wait_group 1;
// CHECK-NEXT:  fence.proxy.async.shared::cta;
// CHECK-NEXT:  bar.sync
// CHECK-COUNT-12: cp.async.cg.shared.global
// CHECK-NOT:   cp.async.cg
// CHECK:       cp.async.commit_group;
// CHECK:       wgmma.fence.sync.aligned;
// CHECK:       setp.ne.b32 p, 0, 0;
// CHECK-NEXT:  wgmma.mma_async.sync.aligned.m64n128k32.s32.s8.s8
// CHECK-COUNT-3: setp.ne.b32 p, 1, 0;
// CHECK-NEXT:  wgmma.mma_async.sync.aligned.m64n128k32.s32.s8.s8
// CHECK-NOT:   wgmma.mma_async
// CHECK:       wgmma.commit_group.sync.aligned;
// CHECK:       wgmma.wait_group.sync.aligned 0;
// CHECK-COUNT-64: cvt.rn.f32.s32
// CHECK-NOT:   cvt.rn.f32.s32
// CHECK:       setp.ne.b32 p, 0, 0;
// CHECK-COUNT-4: wgmma.mma_async.sync.aligned.m64n128k32.s32.s8.s8
// CHECK-NOT:   wgmma.mma_async
// CHECK:       wgmma.wait_group.sync.aligned 0;
// CHECK-COUNT-64: cvt.rn.f32.s32
// CHECK-NOT:   cvt.rn.f32.s32
// CHECK-NOT:   bar.sync
// CHECK:       bra [[LOOP]];
// CHECK-NOT:   wgmma.mma_async
// CHECK:       ret;
func.func private @product(%x: tensor<?x4224xi8>, %s: tensor<?x33xf32>, %w: tensor<4096x4224xi8>, %y: tensor<?x4096xf32>)
    -> tensor<?x4096xf32> attributes {gist.kernel = #gist.kernel<kind = matmul, outputs = 1>,
    gist.tile = #gist.gpu_product<rows = 128, columns = 256, depth = 128, waves = [8, 1],
                                  stages = 4, instruction = wgmma_64x128x16, element = i8>} {
  %p = gist.integer_matmul %x, %s, %w block 128 : tensor<?x4224xi8>, tensor<?x33xf32>, tensor<4096x4224xi8>
  return %p : tensor<?x4096xf32>
}
