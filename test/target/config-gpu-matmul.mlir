// How products are cut on GPUs. The instruction follows from the rows, known or
// not, and on gfx942 the columns; the type from the operands. On sm_90 the tile is
// the cheapest of a model (test/unit/ProductCostTest.cpp).

// RUN: gist-opt %s -gist-set-target=target=gfx942 -gist-select-tile-config | FileCheck %s --check-prefix=AMD
// RUN: gist-opt %s -gist-set-target=target=sm_90 -gist-select-tile-config | FileCheck %s --check-prefix=NVIDIA
#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (n, k)>
#y = affine_map<(m, n, k) -> (m, n)>

// Wide, rows not known: the largest tiles.
// AMD-LABEL: @wide
// AMD-SAME:    #gist.gpu_product<rows = 128, columns = 256, depth = 32, waves = [2, 2], stages = 2, instruction = mfma_32x32x8, element = f16
// NVIDIA-LABEL: @wide
// NVIDIA-SAME: #gist.gpu_product<rows = 128, columns = 256, depth = 64, waves = [8, 1], stages = 4, instruction = wgmma_64x128x16, element = f16
func.func private @wide(%x: tensor<?x4096xf32>, %w: tensor<16384x4096xf16>, %y: tensor<?x16384xf32>)
    -> tensor<?x16384xf32> attributes {gist.kernel = #gist.kernel<kind = matmul, outputs = 1>} {
  %zero = arith.constant 0.0 : f32
  %z = linalg.fill ins(%zero : f32) outs(%y : tensor<?x16384xf32>) -> tensor<?x16384xf32>
  %p = linalg.matmul indexing_maps = [#x, #w, #y]
      ins(%x, %w : tensor<?x4096xf32>, tensor<16384x4096xf16>)
      outs(%z : tensor<?x16384xf32>) -> tensor<?x16384xf32>
  return %p : tensor<?x16384xf32>
}

// Wide, but few tiles of 128x256 for 304 compute units at 512 rows, 48 of them, and
// 18 steps are too few to share: the model of costs prefers many small tiles.
// AMD-LABEL: @shallow
// AMD-SAME:    #gist.gpu_product<rows = 64, columns = 64, depth = 64, waves = [2, 2], stages = 2, instruction = mfma_32x32x8, element = f16
// NVIDIA-LABEL: @shallow
// NVIDIA-SAME: instruction = wgmma_64x128x16
func.func private @shallow(%x: tensor<?x576xf16>, %w: tensor<3072x576xf16>, %y: tensor<?x3072xf32>)
    -> tensor<?x3072xf32> attributes {gist.kernel = #gist.kernel<kind = matmul, outputs = 1>} {
  %zero = arith.constant 0.0 : f32
  %z = linalg.fill ins(%zero : f32) outs(%y : tensor<?x3072xf32>) -> tensor<?x3072xf32>
  %p = linalg.matmul indexing_maps = [#x, #w, #y]
      ins(%x, %w : tensor<?x576xf16>, tensor<3072x576xf16>)
      outs(%z : tensor<?x3072xf32>) -> tensor<?x3072xf32>
  return %p : tensor<?x3072xf32>
}

// As few tiles, 64, but long: k is shared instead (gpu-product-parts.mlir).
// AMD-LABEL: @deep
// AMD-SAME:    #gist.gpu_product<rows = 128, columns = 256, depth = 32,
// NVIDIA-LABEL: @deep
func.func private @deep(%x: tensor<?x14336xf16>, %w: tensor<4096x14336xf16>, %y: tensor<?x4096xf32>)
    -> tensor<?x4096xf32> attributes {gist.kernel = #gist.kernel<kind = matmul, outputs = 1>} {
  %zero = arith.constant 0.0 : f32
  %z = linalg.fill ins(%zero : f32) outs(%y : tensor<?x4096xf32>) -> tensor<?x4096xf32>
  %p = linalg.matmul indexing_maps = [#x, #w, #y]
      ins(%x, %w : tensor<?x14336xf16>, tensor<4096x14336xf16>)
      outs(%z : tensor<?x4096xf32>) -> tensor<?x4096xf32>
  return %p : tensor<?x4096xf32>
}

// Narrow, and a weight of bf16.
// AMD-LABEL: @narrow
// AMD-SAME:    #gist.gpu_product<rows = 64, columns = 64, depth = 64, waves = [2, 2], stages = 2, instruction = mfma_32x32x8, element = bf16
// NVIDIA-LABEL: @narrow
// NVIDIA-SAME: #gist.gpu_product<rows = 64, columns = 64, depth = 64, waves = [4, 1], stages = 4, instruction = wgmma_64x128x16, element = bf16
func.func private @narrow(%x: tensor<?x192xf32>, %w: tensor<576x192xbf16>, %y: tensor<?x576xf32>)
    -> tensor<?x576xf32> attributes {gist.kernel = #gist.kernel<kind = matmul, outputs = 1>} {
  %zero = arith.constant 0.0 : f32
  %z = linalg.fill ins(%zero : f32) outs(%y : tensor<?x576xf32>) -> tensor<?x576xf32>
  %p = linalg.matmul indexing_maps = [#x, #w, #y]
      ins(%x, %w : tensor<?x192xf32>, tensor<576x192xbf16>)
      outs(%z : tensor<?x576xf32>) -> tensor<?x576xf32>
  return %p : tensor<?x576xf32>
}

// Few rows: a wave multiplies alone.
// AMD-LABEL: @few
// AMD-SAME:    #gist.gpu_product<rows = 32, columns = 64, {{.*}}instruction = mfma_32x32x8
// NVIDIA-LABEL: @few
// NVIDIA-SAME: #gist.gpu_product<rows = 32, columns = 64, depth = 64, waves = [1, 4], stages = 4, instruction = mma_16x8x16, element = f16
func.func private @few(%x: tensor<32x192xf32>, %w: tensor<576x192xf16>, %y: tensor<32x576xf32>)
    -> tensor<32x576xf32> attributes {gist.kernel = #gist.kernel<kind = matmul, outputs = 1>} {
  %zero = arith.constant 0.0 : f32
  %z = linalg.fill ins(%zero : f32) outs(%y : tensor<32x576xf32>) -> tensor<32x576xf32>
  %p = linalg.matmul indexing_maps = [#x, #w, #y]
      ins(%x, %w : tensor<32x192xf32>, tensor<576x192xf16>)
      outs(%z : tensor<32x576xf32>) -> tensor<32x576xf32>
  return %p : tensor<32x576xf32>
}

// One row: all lanes of a wave along k, 8 numbers each.
// AMD-LABEL: @row
// AMD-SAME:    #gist.gpu_gemv<rows = 1, {{.*}}lanes = 64,
// NVIDIA-LABEL: @row
// NVIDIA-SAME: #gist.gpu_gemv<rows = 1, {{.*}}lanes = 32,
func.func private @row(%x: tensor<1x4096xf32>, %w: tensor<16384x4096xf16>, %y: tensor<1x16384xf32>)
    -> tensor<1x16384xf32> attributes {gist.kernel = #gist.kernel<kind = matmul, outputs = 1>} {
  %zero = arith.constant 0.0 : f32
  %z = linalg.fill ins(%zero : f32) outs(%y : tensor<1x16384xf32>) -> tensor<1x16384xf32>
  %p = linalg.matmul indexing_maps = [#x, #w, #y]
      ins(%x, %w : tensor<1x4096xf32>, tensor<16384x4096xf16>)
      outs(%z : tensor<1x16384xf32>) -> tensor<1x16384xf32>
  return %p : tensor<1x16384xf32>
}

// Blocks of 32: 18 pieces of a row, so 16 lanes for a row.
// AMD-LABEL: @blocks
// AMD-SAME:    #gist.gpu_gemv<rows = 1, {{.*}}lanes = 16,
// NVIDIA-LABEL: @blocks
// NVIDIA-SAME: #gist.gpu_gemv<rows = 1, {{.*}}lanes = 16,
func.func private @blocks(%x: tensor<1x576xf32>, %w: tensor<1536x18x20xi8>, %y: tensor<1x1536xf32>)
    -> tensor<1x1536xf32> attributes {gist.kernel = #gist.kernel<kind = matmul, outputs = 1>} {
  %zero = arith.constant 0.0 : f32
  %n = gist.dequantize %w format q4_1 : tensor<1536x18x20xi8>
  %z = linalg.fill ins(%zero : f32) outs(%y : tensor<1x1536xf32>) -> tensor<1x1536xf32>
  %p = linalg.matmul indexing_maps = [#x, #w, #y]
      ins(%x, %n : tensor<1x576xf32>, tensor<1536x576xf32>)
      outs(%z : tensor<1x1536xf32>) -> tensor<1x1536xf32>
  return %p : tensor<1x1536xf32>
}

// A product that accumulates is not cut as a matmul: the kernel works on rows.
// AMD-LABEL: @accumulates
// AMD-NOT:     mfma
// AMD:         return
// NVIDIA-LABEL: @accumulates
// NVIDIA-NOT:  mma
// NVIDIA:      return
func.func private @accumulates(%x: tensor<64x192xf32>, %w: tensor<576x192xf16>, %y: tensor<64x576xf32>)
    -> tensor<64x576xf32> attributes {gist.kernel = #gist.kernel<kind = matmul, outputs = 1>} {
  %p = linalg.matmul indexing_maps = [#x, #w, #y]
      ins(%x, %w : tensor<64x192xf32>, tensor<576x192xf16>)
      outs(%y : tensor<64x576xf32>) -> tensor<64x576xf32>
  return %p : tensor<64x576xf32>
}
