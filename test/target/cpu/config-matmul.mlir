// RUN: gist-opt %s -split-input-file -gist-set-target="triple=aarch64-linux-gnu cpu=neoverse-v1" -gist-select-tile-config | FileCheck %s
// RUN: gist-opt %s -split-input-file -gist-set-target="triple=x86_64-linux-gnu cpu=haswell" -gist-select-tile-config | FileCheck %s --check-prefix=X86

// Many rows share a panel of 16 columns.
// CHECK-LABEL: func private @rows
// CHECK-SAME:    gist.tile = #gist.cpu_product<rows = 128, columns = 48, registers = [4, 16], lanes = 4, instruction = fma>
// X86-LABEL:   func private @rows
// X86-SAME:      gist.tile = #gist.cpu_product<rows = 32, columns = 64, registers = [2, 4], lanes = 8, instruction = fma>
#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (n, k)>
#y = affine_map<(m, n, k) -> (m, n)>
func.func private @rows(%x: tensor<?x1536xf32>, %w: tensor<576x1536xf32>, %out: tensor<?x576xf32>) -> tensor<?x576xf32>
    attributes {gist.kernel = #gist.kernel<kind = matmul, outputs = 1>} {
  %zero = arith.constant 0.0 : f32
  %z = linalg.fill ins(%zero : f32) outs(%out : tensor<?x576xf32>) -> tensor<?x576xf32>
  %y = linalg.matmul indexing_maps = [#x, #w, #y]
      ins(%x, %w : tensor<?x1536xf32>, tensor<576x1536xf32>) outs(%z : tensor<?x576xf32>) -> tensor<?x576xf32>
  return %y : tensor<?x576xf32>
}

// -----

// One row reads a weight once: lanes are partial sums.
// CHECK-LABEL: func private @one_row
// CHECK-SAME:    registers = [4, 4], lanes = 4
#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (n, k)>
#y = affine_map<(m, n, k) -> (m, n)>
func.func private @one_row(%x: tensor<1x1536xf32>, %w: tensor<576x1536xf32>, %out: tensor<1x576xf32>) -> tensor<1x576xf32>
    attributes {gist.kernel = #gist.kernel<kind = matmul, outputs = 1>} {
  %zero = arith.constant 0.0 : f32
  %z = linalg.fill ins(%zero : f32) outs(%out : tensor<1x576xf32>) -> tensor<1x576xf32>
  %y = linalg.matmul indexing_maps = [#x, #w, #y]
      ins(%x, %w : tensor<1x1536xf32>, tensor<576x1536xf32>) outs(%z : tensor<1x576xf32>) -> tensor<1x576xf32>
  return %y : tensor<1x576xf32>
}

// -----

// Fewer columns than a panel has.
// CHECK-LABEL: func private @narrow
// CHECK-SAME:    registers = [4, 4], lanes = 4
#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (n, k)>
#y = affine_map<(m, n, k) -> (m, n)>
func.func private @narrow(%x: tensor<?x1536xf32>, %w: tensor<12x1536xf32>, %out: tensor<?x12xf32>) -> tensor<?x12xf32>
    attributes {gist.kernel = #gist.kernel<kind = matmul, outputs = 1>} {
  %zero = arith.constant 0.0 : f32
  %z = linalg.fill ins(%zero : f32) outs(%out : tensor<?x12xf32>) -> tensor<?x12xf32>
  %y = linalg.matmul indexing_maps = [#x, #w, #y]
      ins(%x, %w : tensor<?x1536xf32>, tensor<12x1536xf32>) outs(%z : tensor<?x12xf32>) -> tensor<?x12xf32>
  return %y : tensor<?x12xf32>
}

// -----

// Rows that vectors do not fill.
// CHECK-LABEL: func private @uneven
// CHECK-SAME:    registers = [4, 4], lanes = 4
#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (n, k)>
#y = affine_map<(m, n, k) -> (m, n)>
func.func private @uneven(%x: tensor<?x66xf32>, %w: tensor<576x66xf32>, %out: tensor<?x576xf32>) -> tensor<?x576xf32>
    attributes {gist.kernel = #gist.kernel<kind = matmul, outputs = 1>} {
  %zero = arith.constant 0.0 : f32
  %z = linalg.fill ins(%zero : f32) outs(%out : tensor<?x576xf32>) -> tensor<?x576xf32>
  %y = linalg.matmul indexing_maps = [#x, #w, #y]
      ins(%x, %w : tensor<?x66xf32>, tensor<576x66xf32>) outs(%z : tensor<?x576xf32>) -> tensor<?x576xf32>
  return %y : tensor<?x576xf32>
}

// -----

// 4 x 1009 numbers have no even part between 128 and 768.
// CHECK-LABEL: func private @no_part
// CHECK-SAME:    registers = [4, 4], lanes = 4
#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (n, k)>
#y = affine_map<(m, n, k) -> (m, n)>
func.func private @no_part(%x: tensor<?x4036xf32>, %w: tensor<576x4036xf32>, %out: tensor<?x576xf32>) -> tensor<?x576xf32>
    attributes {gist.kernel = #gist.kernel<kind = matmul, outputs = 1>} {
  %zero = arith.constant 0.0 : f32
  %z = linalg.fill ins(%zero : f32) outs(%out : tensor<?x576xf32>) -> tensor<?x576xf32>
  %y = linalg.matmul indexing_maps = [#x, #w, #y]
      ins(%x, %w : tensor<?x4036xf32>, tensor<576x4036xf32>) outs(%z : tensor<?x576xf32>) -> tensor<?x576xf32>
  return %y : tensor<?x576xf32>
}

// -----

// A weight in blocks is cut as one of floats, whatever its format.
// CHECK-LABEL: func private @blocks(
// CHECK-SAME:    gist.tile = #gist.cpu_product<rows = 128, columns = 48, registers = [4, 16], lanes = 4, instruction = fma>
#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (n, k)>
#y = affine_map<(m, n, k) -> (m, n)>
func.func private @blocks(%x: tensor<?x576xf32>, %blocks: tensor<576x18x34xi8>, %out: tensor<?x576xf32>) -> tensor<?x576xf32>
    attributes {gist.kernel = #gist.kernel<kind = matmul, outputs = 1>} {
  %zero = arith.constant 0.0 : f32
  %w = gist.dequantize %blocks format q8_0 : tensor<576x18x34xi8>
  %z = linalg.fill ins(%zero : f32) outs(%out : tensor<?x576xf32>) -> tensor<?x576xf32>
  %y = linalg.matmul indexing_maps = [#x, #w, #y]
      ins(%x, %w : tensor<?x576xf32>, tensor<576x576xf32>) outs(%z : tensor<?x576xf32>) -> tensor<?x576xf32>
  return %y : tensor<?x576xf32>
}

