// The main loops of products on sm_90: copies two or three steps ahead, then
// matrix instructions, with one barrier a step.

// RUN: gist-opt %s -gist-gpu-tile=target=sm_90 -gist-gpu=target=sm_90 "-gist-write-gpu-code=output=%t.ptx" -o /dev/null
// RUN: FileCheck %s --input-file=%t.ptx
#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (n, k)>
#y = affine_map<(m, n, k) -> (m, n)>

// CHECK: .target sm_90a

// 256 threads copy a step of (128 + 256) x 64 numbers in chunks of 8: 12 each.
// Two groups of four warps have 64 x 256 of the result: an instruction for 16
// of k, 4 for a step. They start with the one before still running.
// CHECK-LABEL: .entry wgmma(
// CHECK:       [[LOOP:\$L__BB0_[0-9]+]]:
// CHECK-NEXT:  cp.async.wait_group 1;
// CHECK-NEXT:  fence.proxy.async.shared::cta;
// CHECK-NEXT:  bar.sync
// CHECK-COUNT-12: cp.async.cg.shared.global
// CHECK-NOT:   cp.async.cg
// CHECK:       cp.async.commit_group;
// CHECK:       wgmma.fence.sync.aligned;
// CHECK-COUNT-4: wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16
// CHECK-NOT:   wgmma.mma_async
// CHECK:       wgmma.commit_group.sync.aligned;
// CHECK:       wgmma.wait_group.sync.aligned 1;
// CHECK-NOT:   bar.sync
// CHECK:       bra [[LOOP]];
// CHECK:       wgmma.wait_group.sync.aligned 0;
// The four lanes of a row exchange numbers, so that each stores 8 neighbours of
// f32: 128 numbers of a thread are 32 stores of 4.
// CHECK-COUNT-32: st.global{{.*}}v4
// CHECK-NOT:   st.global
func.func private @wgmma(%x: tensor<?x4096xf16>, %w: tensor<16384x4096xf16>, %y: tensor<?x16384xf32>)
    -> tensor<?x16384xf32> attributes {gist.kernel = #gist.kernel<kind = matmul, outputs = 1>,
    gist.tile = #gist.gpu_product<rows = 128, columns = 256, depth = 64, waves = [8, 1],
                                  stages = 4, instruction = wgmma_64x128x16, element = f16>} {
  %zero = arith.constant 0.0 : f32
  %z = linalg.fill ins(%zero : f32) outs(%y : tensor<?x16384xf32>) -> tensor<?x16384xf32>
  %p = linalg.matmul indexing_maps = [#x, #w, #y]
      ins(%x, %w : tensor<?x4096xf16>, tensor<16384x4096xf16>)
      outs(%z : tensor<?x16384xf32>) -> tensor<?x16384xf32>
  return %p : tensor<?x16384xf32>
}

// x is f32: its 64 x 64 numbers of a step go through the registers of 128
// threads, 32 each, and are stored behind the multiplication. W is copied, 4
// chunks a thread. A warp has 32 x 32, 2 + 2 fragments of 16 x 16, and two
// instructions for 16 of k: 2 x 2 x 2 x 4 = 32 a step, their operands loaded by
// (2 + 2) x 4 = 16 of ldmatrix.
// CHECK-LABEL: .entry converted(
// CHECK:       [[LOOP:\$L__BB1_[0-9]+]]:
// CHECK-NEXT:  cp.async.wait_group 2;
// CHECK-NEXT:  bar.sync
// CHECK-COUNT-4: cp.async.cg.shared.global
// CHECK:       cp.async.commit_group;
// CHECK-COUNT-8: ld.global{{.*}}v4
// CHECK-COUNT-16: ldmatrix.sync.aligned.m8n8.x4.shared.b16
// CHECK-NOT:   ldmatrix
// CHECK:       st.shared.v4.b32
// CHECK-NOT:   bar.sync
// CHECK:       bra [[LOOP]];
func.func private @converted(%x: tensor<?x512xf32>, %w: tensor<576x512xf16>, %y: tensor<?x576xf32>)
    -> tensor<?x576xf32> attributes {gist.kernel = #gist.kernel<kind = matmul, outputs = 1>,
    gist.tile = #gist.gpu_product<rows = 64, columns = 64, depth = 64, waves = [2, 2],
                                  stages = 4, instruction = mma_16x8x16, element = f16>} {
  %zero = arith.constant 0.0 : f32
  %z = linalg.fill ins(%zero : f32) outs(%y : tensor<?x576xf32>) -> tensor<?x576xf32>
  %p = linalg.matmul indexing_maps = [#x, #w, #y]
      ins(%x, %w : tensor<?x512xf32>, tensor<576x512xf16>)
      outs(%z : tensor<?x576xf32>) -> tensor<?x576xf32>
  return %p : tensor<?x576xf32>
}
