// RUN: gist-opt %s -split-input-file -gist-vectorize-tiles | FileCheck %s

// Two groups of 16 in a block: a product of tiles for each, 16 deep, of integers
// with a sign by ones without. Two blocks are taken in turns.
// CHECK-LABEL: func private @groups
// CHECK-DAG:     %[[ROWS:.*]] = memref.alloc() : memref<4x8x16x32xi8>
// CHECK-DAG:     %[[COLUMNS:.*]] = memref.alloc() : memref<8x8x64xi8>
// CHECK-DAG:     %[[DOTS:.*]] = memref.alloc() : memref<2x2x16x16xi32>
// CHECK:         %[[X0:.*]] = amx.tile_load %[[ROWS]][{{.*}}] : memref<4x8x16x32xi8> into !amx.tile<16x16xi8>
// CHECK-NEXT:    %[[U0:.*]] = amx.tile_load %[[COLUMNS]][{{.*}}] : memref<8x8x64xi8> into !amx.tile<4x64xi8>
// CHECK-NEXT:    %[[Z0:.*]] = amx.tile_zero : !amx.tile<16x16xi32>
// CHECK-NEXT:    %[[S0:.*]] = amx.tile_muli %[[X0]], %[[U0]] zext, %[[Z0]]
// CHECK-NEXT:    amx.tile_store %[[DOTS]][{{.*}}], %[[S0]]
// CHECK:         amx.tile_muli {{.*}} zext
// CHECK-NEXT:    amx.tile_store %[[DOTS]]
// CHECK-NOT:     amx.tile_muli
// CHECK-COUNT-32: vector.load %[[DOTS]][{{.*}}] : memref<2x2x16x16xi32>, vector<16xi32>
// CHECK-NOT:     vector.load %[[DOTS]]
// CHECK-COUNT-2: amx.tile_muli
// CHECK-NOT:     amx.tile_muli
// CHECK-COUNT-32: vector.load %[[DOTS]][{{.*}}] : memref<2x2x16x16xi32>, vector<16xi32>
// CHECK-NOT:     vector.load %[[DOTS]]
func.func private @groups(%q: tensor<64x256xi8>, %s: tensor<64x8xf32>, %w: tensor<2x1x3360xi8>, %out: tensor<64x32xf32>) -> tensor<64x32xf32>
    attributes {gist.kernel = #gist.kernel<kind = quantized_matmul, outputs = 1>,
                gist.tile = #gist.cpu_product<rows = 64, columns = 32, registers = [16, 16], lanes = 16, instruction = tdpbsud>} {
  %y = gist.quantized_matmul %q, %s, %w format q6_k
      packed <columns = 16, depth = 4, bits = 6, group = 16, scale_bits = 8, zero = 32, is_signed = false, has_min = false>
      : tensor<64x256xi8>, tensor<64x8xf32>, tensor<2x1x3360xi8> -> tensor<64x32xf32>
  return %y : tensor<64x32xf32>
}

// -----

// Columns that do not fill the last vector are written as far as they go.
// CHECK-LABEL: func private @padded
// CHECK:         vector.transfer_write {{.*}} : vector<16xf32>, tensor<5x20xf32>
// CHECK-NOT:     in_bounds = [true]
// CHECK:         return
func.func private @padded(%q: tensor<5x64xi8>, %s: tensor<5x2xf32>, %w: tensor<2x2x288xi8>, %out: tensor<5x20xf32>) -> tensor<5x20xf32>
    attributes {gist.kernel = #gist.kernel<kind = quantized_matmul, outputs = 1>,
                gist.tile = #gist.cpu_product<rows = 64, columns = 32, registers = [16, 16], lanes = 16, instruction = tdpbsud>} {
  %y = gist.quantized_matmul %q, %s, %w format q4_0
      packed <columns = 16, depth = 4, bits = 4, group = 32, scale_bits = 16, zero = 8, is_signed = false, has_min = false>
      : tensor<5x64xi8>, tensor<5x2xf32>, tensor<2x2x288xi8> -> tensor<5x20xf32>
  return %y : tensor<5x20xf32>
}
