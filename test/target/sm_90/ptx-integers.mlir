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
// CHECK:       cp.async.wait_group 2;
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
  %p = gist.scaled_matmul %x, %s, %w block 128 : tensor<?x4224xi8>, tensor<?x33xf32>, tensor<4096x4224xi8>
  return %p : tensor<?x4096xf32>
}

// Floats of 8 bits with a scale for each row are multiplied as those of 16 are: an
// instruction has all 256 columns and 32 of k, its sums stay in registers over all
// of k, and a step is waited for when the next one has begun. They are scaled
// behind the loop.
// CHECK-LABEL: .entry floats(
// CHECK:       [[LOOP:\$L__BB1_[0-9]+]]:
// CHECK:       cp.async.wait_group 1;
// CHECK:       bar.sync
// CHECK-COUNT-12: cp.async.cg.shared.global
// CHECK-NOT:   cp.async.cg
// CHECK:       wgmma.fence.sync.aligned;
// CHECK-COUNT-4: wgmma.mma_async.sync.aligned.m64n256k32.f32.e4m3.e4m3
// CHECK-NOT:   wgmma.mma_async
// CHECK:       wgmma.commit_group.sync.aligned;
// CHECK:       wgmma.wait_group.sync.aligned 1;
// CHECK-NOT:   mul.{{.*}}f32
// CHECK-NOT:   fma.{{.*}}f32
// CHECK:       bra [[LOOP]];
// CHECK:       wgmma.wait_group.sync.aligned 0;
// CHECK-COUNT-128: fma.rn.f32
// CHECK:       ret;
func.func private @floats(%x: tensor<?x4224xf8E4M3FN>, %s: tensor<?x1xf32>, %w: tensor<4096x4224xf8E4M3FN>,
    %y: tensor<?x4096xf32>) -> tensor<?x4096xf32> attributes {gist.kernel = #gist.kernel<kind = matmul, outputs = 1>,
    gist.tile = #gist.gpu_product<rows = 128, columns = 256, depth = 128, waves = [8, 1],
                                  stages = 4, instruction = wgmma_64x128x16, element = f8E4M3FN>} {
  %p = gist.scaled_matmul %x, %s, %w block 4224 : tensor<?x4224xf8E4M3FN>, tensor<?x1xf32>, tensor<4096x4224xf8E4M3FN>
  return %p : tensor<?x4096xf32>
}

// Two of f32 become two of 8 bits by one instruction, and are stored eight at once.
// CHECK-LABEL: .entry round(
// CHECK-COUNT-4: cvt.rn.satfinite.e4m3x2.f32
// CHECK:       st.global.v2.b32
func.func private @round(%x: tensor<?x2048xf32>, %q: tensor<?x2048xf8E4M3FN>, %s: tensor<?x1xf32>)
    -> (tensor<?x2048xf8E4M3FN>, tensor<?x1xf32>) attributes {gist.kernel = #gist.kernel<kind = rows, outputs = 2>} {
  %v, %r = gist.quantize_blocks %x block 2048 as f8E4M3FN : tensor<?x2048xf32>
  return %v, %r : tensor<?x2048xf8E4M3FN>, tensor<?x1xf32>
}
