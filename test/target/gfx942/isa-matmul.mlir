// The main loop of a product. What a step needs is loaded two steps ahead: it
// arrives during a whole step, is stored at the beginning of the next, and read
// after the barrier that follows. One barrier is between steps.
//
// A workgroup of four waves has a tile of 128 x 128 and steps of 32. Of each
// operand a thread loads 128 x 32 / 256 = 16 numbers: two chunks of 16 bytes,
// four in all. A wave has 64 x 64 of the result, 2 x 2 fragments, and reads
// 2 + 2 chunks for 16 of k, twice a step. 32x32x8 takes 8 of k: 2 x 2 x 4 = 16
// instructions for a barrier.

// RUN: gist-opt %s -gist-gpu-tile=target=gfx942 -gist-gpu=target=gfx942 "-gist-write-gpu-code=target=gfx942 assembly output=%t.s" -o /dev/null
// RUN: FileCheck %s --input-file=%t.s

// CHECK-LABEL: {{^}}product:
// CHECK:       [[LOOP:.LBB0_[0-9]+]]:
// CHECK:       s_barrier
// CHECK-NOT:   global_load
// CHECK:       s_waitcnt vmcnt(0)
// CHECK-NEXT:  ds_write_b128
// CHECK-COUNT-4: global_load_dwordx4
// CHECK-NOT:   vmcnt
// CHECK-COUNT-16: v_mfma_f32_32x32x8_f16
// CHECK-NOT:   v_mfma
// CHECK-NOT:   s_waitcnt
// CHECK:       s_cbranch_scc1 [[LOOP]]
// CHECK:       ScratchSize: 0
// CHECK:       LDSByteSize: 32768
// CHECK:       Occupancy: 2

#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (n, k)>
#y = affine_map<(m, n, k) -> (m, n)>
func.func private @product(%x: tensor<?x4096xf16>, %w: tensor<16384x4096xf16>, %y: tensor<?x16384xf32>)
    -> tensor<?x16384xf32> attributes {gist.kernel, gist.outputs = 1 : i64,
    gist.tile = #gist.gpu_tile<workgroup = [128, 128], depth = 32, waves = [2, 2],
                               stages = 2, instruction = mfma_32x32x8, element = f16>} {
  %zero = arith.constant 0.0 : f32
  %z = linalg.fill ins(%zero : f32) outs(%y : tensor<?x16384xf32>) -> tensor<?x16384xf32>
  %p = linalg.matmul indexing_maps = [#x, #w, #y]
      ins(%x, %w : tensor<?x4096xf16>, tensor<16384x4096xf16>)
      outs(%z : tensor<?x16384xf32>) -> tensor<?x16384xf32>
  return %p : tensor<?x16384xf32>
}
