// The main loop of a product of integers: two steps of 64, which are a block of
// 128 along k, and then its sums, converted and added to totals.
//
// A workgroup of four waves has a tile of 128 x 128. Of each operand a thread
// loads 128 x 64 / 256 = 32 bytes: two chunks of 16, four in all. A wave has 64 x
// 64 of the result, 2 x 2 fragments, and reads 2 + 2 chunks for 32 of k, twice a
// step. 32x32x16 takes 16 of k: 2 x 2 x 4 = 16 instructions for a barrier. A lane
// has 4 x 16 = 64 sums.

// RUN: gist-opt %s -gist-gpu-tile=target=gfx942 -gist-gpu=target=gfx942 "-gist-write-gpu-code=assembly output=%t.s" -o /dev/null
// RUN: FileCheck %s --input-file=%t.s

// CHECK-LABEL: {{^}}product:
// CHECK:       [[LOOP:.LBB0_[0-9]+]]:
// CHECK:       s_barrier
// CHECK-COUNT-16: v_mfma_i32_32x32x16_i8
// CHECK-NOT:   v_mfma
// CHECK:       s_barrier
// CHECK-COUNT-16: v_mfma_i32_32x32x16_i8
// CHECK-NOT:   v_mfma
// CHECK-NOT:   s_barrier
// CHECK-COUNT-64: v_cvt_f32_i32
// CHECK-NOT:   v_cvt_f32_i32
// CHECK:       s_cbranch_{{[a-z0-9]+}} [[LOOP]]
// CHECK:       ScratchSize: 0
// CHECK:       LDSByteSize: 32768
// CHECK:       Occupancy: 2
func.func private @product(%x: tensor<?x4096xi8>, %s: tensor<?x32xf32>, %w: tensor<4096x4096xi8>, %y: tensor<?x4096xf32>)
    -> tensor<?x4096xf32> attributes {gist.kernel = #gist.kernel<kind = matmul, outputs = 1>} {
  %p = gist.scaled_matmul %x, %s, %w block 128 : tensor<?x4096xi8>, tensor<?x32xf32>, tensor<4096x4096xi8>
  return %p : tensor<?x4096xf32>
}

// Floats of 8 bits with a scale for each row have the tile of those of 16: two
// steps of 64, each of 4 x 2 fragments with 4 instructions, and sums of the whole
// row in 128 registers, which are scaled behind the loop.
// CHECK-LABEL: {{^}}floats:
// CHECK:       [[LOOP:.LBB1_[0-9]+]]:
// CHECK:       s_barrier
// CHECK-COUNT-32: v_mfma_f32_32x32x16_fp8_fp8
// CHECK-NOT:   v_mfma
// CHECK:       s_barrier
// CHECK-COUNT-32: v_mfma_f32_32x32x16_fp8_fp8
// CHECK-NOT:   v_mfma
// CHECK:       s_cbranch_{{[a-z0-9]+}} [[LOOP]]
// CHECK:       ScratchSize: 0
// CHECK:       LDSByteSize: 49152
func.func private @floats(%x: tensor<?x4096xf8E4M3FNUZ>, %s: tensor<?x1xf32>, %w: tensor<4096x4096xf8E4M3FNUZ>,
    %y: tensor<?x4096xf32>) -> tensor<?x4096xf32> attributes {gist.kernel = #gist.kernel<kind = matmul, outputs = 1>} {
  %p = gist.scaled_matmul %x, %s, %w block 4096
      : tensor<?x4096xf8E4M3FNUZ>, tensor<?x1xf32>, tensor<4096x4096xf8E4M3FNUZ>
  return %p : tensor<?x4096xf32>
}
