// The main loop of a product, of two steps, each with one barrier. A step reads
// its fragments, loads what the step after the next needs, and at its end stores
// what the step before has loaded: that has more than a step to arrive, and a
// wait for it does not include the new loads.
//
// A workgroup of four waves has a tile of 128 x 128 and steps of 32. Of each
// operand a thread loads 128 x 32 / 256 = 16 numbers: two chunks of 16 bytes,
// four in all. A wave has 64 x 64 of the result, 2 x 2 fragments, and reads
// 2 + 2 chunks for 16 of k, twice a step. 32x32x8 takes 8 of k: 2 x 2 x 4 = 16
// instructions for a barrier.

// RUN: gist-opt %s -gist-gpu-tile=target=gfx942 -gist-gpu=target=gfx942 "-gist-write-gpu-code=assembly output=%t.s" -o /dev/null
// RUN: FileCheck %s --input-file=%t.s
// RUN: FileCheck %s --input-file=%t.s --check-prefix=MATRIX

// CHECK-LABEL: {{^}}product:
// CHECK:       [[LOOP:.LBB0_[0-9]+]]:
// CHECK:       s_barrier
// CHECK-NOT:   vmcnt
// CHECK-NOT:   global_load
// CHECK-COUNT-8: ds_read_b128
// CHECK-NOT:   vmcnt
// CHECK-COUNT-4: global_load_dwordx4
// CHECK-NOT:   ds_write
// CHECK:       s_waitcnt vmcnt({{[4-7]}})
// CHECK-COUNT-4: ds_write_b128
// CHECK-NOT:   vmcnt(0)
// CHECK:       s_barrier
// CHECK-NOT:   vmcnt
// CHECK-NOT:   global_load
// CHECK-COUNT-8: ds_read_b128
// CHECK-NOT:   vmcnt
// CHECK-COUNT-4: global_load_dwordx4
// CHECK-NOT:   ds_write
// CHECK:       s_waitcnt vmcnt({{[4-7]}})
// CHECK-COUNT-4: ds_write_b128
// CHECK-NOT:   vmcnt(0)
// CHECK:       s_cbranch_{{[a-z0-9]+}} [[LOOP]]
// CHECK:       ScratchSize: 0
// CHECK:       LDSByteSize: 32768
// CHECK:       Occupancy: 2

// MATRIX-LABEL: {{^}}product:
// MATRIX:       [[LOOP:.LBB0_[0-9]+]]:
// MATRIX:       s_barrier
// MATRIX-COUNT-16: v_mfma_f32_32x32x8_f16
// MATRIX-NOT:   v_mfma
// MATRIX:       s_barrier
// MATRIX-COUNT-16: v_mfma_f32_32x32x8_f16
// MATRIX-NOT:   v_mfma
// MATRIX:       s_cbranch_{{[a-z0-9]+}} [[LOOP]]

#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (n, k)>
#y = affine_map<(m, n, k) -> (m, n)>
func.func private @product(%x: tensor<?x4096xf16>, %w: tensor<16384x4096xf16>, %y: tensor<?x16384xf32>)
    -> tensor<?x16384xf32> attributes {gist.kernel = #gist.kernel<kind = matmul, outputs = 1>,
    gist.tile = #gist.gpu_product<rows = 128, columns = 128, depth = 32, waves = [2, 2],
                                  stages = 2, instruction = mfma_32x32x8, element = f16>} {
  %zero = arith.constant 0.0 : f32
  %z = linalg.fill ins(%zero : f32) outs(%y : tensor<?x16384xf32>) -> tensor<?x16384xf32>
  %p = linalg.matmul indexing_maps = [#x, #w, #y]
      ins(%x, %w : tensor<?x4096xf16>, tensor<16384x4096xf16>)
      outs(%z : tensor<?x16384xf32>) -> tensor<?x16384xf32>
  return %p : tensor<?x16384xf32>
}
