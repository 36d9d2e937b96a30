// One row: every lane has the loads of four rows of the weight in flight before
// it multiplies, and sums of f32 take f16 operands as they are.

// RUN: gist-opt %s -gist-gpu-tile=target=gfx942 -gist-gpu=target=gfx942 "-gist-write-gpu-code=assembly output=%t.s" -o /dev/null
// RUN: FileCheck %s --input-file=%t.s

// Of 4 rows of W and one of x, 2 steps of 8 numbers: 4 x 2 loads of 16 bytes
// for f16 and 2 x 2 for f32. All are issued before the first is waited for;
// then 4 x 2 x 8 products are added.
// CHECK-LABEL: {{^}}product:
// CHECK:       [[LOOP:.LBB0_[0-9]+]]:
// CHECK-COUNT-12: global_load_dwordx4
// CHECK-NOT:   global_load
// CHECK:       s_waitcnt vmcnt
// CHECK-COUNT-64: v_fma_mix_f32
// CHECK-NOT:   v_fma_mix_f32
// CHECK:       s_cbranch_{{.*}} [[LOOP]]
// CHECK-NOT:   s_barrier
// CHECK:       ScratchSize: 0
#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (n, k)>
#y = affine_map<(m, n, k) -> (m, n)>
func.func private @product(%x: tensor<1x4096xf32>, %w: tensor<16384x4096xf16>, %y: tensor<1x16384xf32>)
    -> tensor<1x16384xf32> attributes {gist.kernel = #gist.kernel<kind = matmul, outputs = 1>,
    gist.tile = #gist.gpu_gemv<rows = 1, columns = 16, lanes = 64, waves = [4, 1], steps = 2>} {
  %zero = arith.constant 0.0 : f32
  %z = linalg.fill ins(%zero : f32) outs(%y : tensor<1x16384xf32>) -> tensor<1x16384xf32>
  %p = linalg.matmul indexing_maps = [#x, #w, #y]
      ins(%x, %w : tensor<1x4096xf32>, tensor<16384x4096xf16>)
      outs(%z : tensor<1x16384xf32>) -> tensor<1x16384xf32>
  return %p : tensor<1x16384xf32>
}
