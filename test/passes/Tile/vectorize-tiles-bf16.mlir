// RUN: gist-opt %s -split-input-file -gist-vectorize-tiles | FileCheck %s

// Rows are narrowed, their rest as well, and turned: two numbers side by side are
// one of 32 bits. A step of 32 is
// twelve products: four tiles of sums of the weight with the rows' rest, with the
// rows, and of the weight's rest with the rows. 64 deep are two steps in one round.
// CHECK-LABEL: func private @f16
// CHECK-DAG:     %[[ROWS:.*]] = memref.alloc() : memref<2x4x2x16x32xbf16>
// CHECK-DAG:     %[[COLUMNS:.*]] = memref.alloc() : memref<2x2x2x16x32xbf16>
// CHECK-DAG:     %[[SUMS:.*]] = memref.alloc() : memref<2x2x16x16xf32>
// CHECK:         llvm.call_intrinsic "llvm.x86.avx512bf16.cvtne2ps2bf16.512"
// CHECK:         vector.store {{.*}}, %[[ROWS]]
// CHECK:         arith.subf
// CHECK:         vector.store {{.*}}, %[[ROWS]]
// CHECK:         llvm.call_intrinsic "llvm.x86.avx512bf16.cvtne2ps2bf16.512"
// CHECK:         vector.store {{.*}}, %[[COLUMNS]]
// CHECK:         arith.subf
// CHECK:         vector.store {{.*}}, %[[COLUMNS]]
// CHECK-COUNT-4: amx.tile_zero
// CHECK-COUNT-4: amx.tile_load %[[SUMS]]
// CHECK-NEXT:    %[[W0:.*]] = amx.tile_load %[[COLUMNS]]
// CHECK-NEXT:    %[[W1:.*]] = amx.tile_load %[[COLUMNS]]
// CHECK:         %[[R0:.*]] = amx.tile_load %[[ROWS]]
// CHECK:         %[[R1:.*]] = amx.tile_load %[[ROWS]]
// CHECK-NEXT:    amx.tile_mulf %[[W0]], %[[R0]]
// CHECK-NEXT:    amx.tile_mulf %[[W0]], %[[R1]]
// CHECK-NEXT:    amx.tile_mulf %[[W1]], %[[R0]]
// CHECK-NEXT:    amx.tile_mulf %[[W1]], %[[R1]]
// CHECK:         %[[X0:.*]] = amx.tile_load %[[ROWS]]
// CHECK:         %[[X1:.*]] = amx.tile_load %[[ROWS]]
// CHECK-NEXT:    amx.tile_mulf %[[W0]], %[[X0]]
// CHECK-COUNT-3: amx.tile_mulf
// CHECK-COUNT-2: amx.tile_load %[[COLUMNS]]
// CHECK-NEXT:    amx.tile_mulf {{.*}}, %[[X0]]
// CHECK-COUNT-3: amx.tile_mulf
// CHECK-COUNT-12: amx.tile_mulf
// CHECK-NOT:     amx.tile_mulf
// CHECK-COUNT-4: amx.tile_store %[[SUMS]]
#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (n, k)>
#y = affine_map<(m, n, k) -> (m, n)>
func.func private @f16(%x: tensor<64x64xf32>, %w: tensor<64x64xf16>, %out: tensor<64x64xf32>) -> tensor<64x64xf32>
    attributes {gist.kernel = #gist.kernel<kind = matmul, outputs = 1>, gist.tile = #gist.cpu_bf16_product<rows = 64, columns = 64, depth = 64, parts = [2, 2]>} {
  %zero = arith.constant 0.0 : f32
  %z = linalg.fill ins(%zero : f32) outs(%out : tensor<64x64xf32>) -> tensor<64x64xf32>
  %y = linalg.matmul indexing_maps = [#x, #w, #y]
      ins(%x, %w : tensor<64x64xf32>, tensor<64x64xf16>) outs(%z : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %y : tensor<64x64xf32>
}

// -----

// One number each: four products for each of three steps.
// CHECK-LABEL: func private @bf16
// CHECK-DAG:     memref.alloc() : memref<1x4x3x16x32xbf16>
// CHECK-DAG:     memref.alloc() : memref<1x2x3x16x32xbf16>
// CHECK-NOT:     arith.subf
// CHECK-COUNT-12: amx.tile_mulf
// CHECK-NOT:     amx.tile_mulf
#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (n, k)>
#y = affine_map<(m, n, k) -> (m, n)>
func.func private @bf16(%x: tensor<64x96xbf16>, %w: tensor<64x96xbf16>, %out: tensor<64x64xf32>) -> tensor<64x64xf32>
    attributes {gist.kernel = #gist.kernel<kind = matmul, outputs = 1>, gist.tile = #gist.cpu_bf16_product<rows = 64, columns = 64, depth = 96, parts = [1, 1]>} {
  %zero = arith.constant 0.0 : f32
  %z = linalg.fill ins(%zero : f32) outs(%out : tensor<64x64xf32>) -> tensor<64x64xf32>
  %y = linalg.matmul indexing_maps = [#x, #w, #y]
      ins(%x, %w : tensor<64x96xbf16>, tensor<64x96xbf16>) outs(%z : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %y : tensor<64x64xf32>
}
