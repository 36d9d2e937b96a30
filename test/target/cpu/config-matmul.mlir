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

// One row with a weight in blocks becomes whole numbers; on x86 blocks become
// floats.
// CHECK-LABEL: func private @blocks_one_row
// CHECK-SAME:    gist.tile = #gist.cpu_product<rows = 32, columns = 64, registers = [4, 4], lanes = 4, instruction = sdot>
// X86-LABEL:   func private @blocks_one_row
// X86-SAME:      instruction = fma>
#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (n, k)>
#y = affine_map<(m, n, k) -> (m, n)>
func.func private @blocks_one_row(%x: tensor<1x576xf32>, %blocks: tensor<192x18x20xi8>, %out: tensor<1x192xf32>) -> tensor<1x192xf32>
    attributes {gist.kernel = #gist.kernel<kind = matmul, outputs = 1>} {
  %zero = arith.constant 0.0 : f32
  %w = gist.dequantize %blocks format q4_1 : tensor<192x18x20xi8>
  %z = linalg.fill ins(%zero : f32) outs(%out : tensor<1x192xf32>) -> tensor<1x192xf32>
  %y = linalg.matmul indexing_maps = [#x, #w, #y]
      ins(%x, %w : tensor<1x576xf32>, tensor<192x576xf32>) outs(%z : tensor<1x192xf32>) -> tensor<1x192xf32>
  return %y : tensor<1x192xf32>
}

// -----

// So do many, two by two; x86 makes panels.
// CHECK-LABEL: func private @blocks(
// CHECK-SAME:    gist.tile = #gist.cpu_product<rows = 64, columns = 288, registers = [4, 8], lanes = 4, instruction = smmla>
// X86-LABEL:   func private @blocks(
// X86-SAME:      instruction = fma>
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

// -----

// Where something follows, workgroups have so few rows that their results fit
// on the stack of any thread: 32 * 576 floats, and 36 KiB for whole numbers.
// CHECK-LABEL: func private @followed_blocks(
// CHECK-SAME:    rows = 32, columns = 576, registers = [4, 8], lanes = 4, instruction = smmla>
#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (n, k)>
#y = affine_map<(m, n, k) -> (m, n)>
#i = affine_map<(m, n) -> (m, n)>
func.func private @followed_blocks(%x: tensor<?x576xf32>, %blocks: tensor<576x18x34xi8>, %r: tensor<?x576xf32>, %out: tensor<?x576xf32>) -> tensor<?x576xf32>
    attributes {gist.kernel = #gist.kernel<kind = matmul, outputs = 1>} {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %d = tensor.dim %x, %c0 : tensor<?x576xf32>
  %e = tensor.empty(%d) : tensor<?x576xf32>
  %w = gist.dequantize %blocks format q8_0 : tensor<576x18x34xi8>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<?x576xf32>) -> tensor<?x576xf32>
  %y = linalg.matmul indexing_maps = [#x, #w, #y]
      ins(%x, %w : tensor<?x576xf32>, tensor<576x576xf32>) outs(%z : tensor<?x576xf32>) -> tensor<?x576xf32>
  %s = linalg.generic {indexing_maps = [#i, #i, #i], iterator_types = ["parallel", "parallel"]}
      ins(%y, %r : tensor<?x576xf32>, tensor<?x576xf32>) outs(%out : tensor<?x576xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %t = arith.addf %a, %b : f32
    linalg.yield %t : f32
  } -> tensor<?x576xf32>
  return %s : tensor<?x576xf32>
}

// -----

// Columns that do not fill pairs of pairs meet panels, which are made of blocks,
// too.
// CHECK-LABEL: func private @uneven_blocks(
// CHECK-SAME:    registers = [4, 16], lanes = 4, instruction = fma>
#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (n, k)>
#y = affine_map<(m, n, k) -> (m, n)>
func.func private @uneven_blocks(%x: tensor<?x576xf32>, %blocks: tensor<100x18x20xi8>, %out: tensor<?x100xf32>) -> tensor<?x100xf32>
    attributes {gist.kernel = #gist.kernel<kind = matmul, outputs = 1>} {
  %zero = arith.constant 0.0 : f32
  %w = gist.dequantize %blocks format q4_1 : tensor<100x18x20xi8>
  %z = linalg.fill ins(%zero : f32) outs(%out : tensor<?x100xf32>) -> tensor<?x100xf32>
  %y = linalg.matmul indexing_maps = [#x, #w, #y]
      ins(%x, %w : tensor<?x576xf32>, tensor<100x576xf32>) outs(%z : tensor<?x100xf32>) -> tensor<?x100xf32>
  return %y : tensor<?x100xf32>
}

// -----

// Not with two planes of bits.
// CHECK-LABEL: func private @two_planes
// CHECK-SAME:    instruction = fma>
#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (n, k)>
#y = affine_map<(m, n, k) -> (m, n)>
func.func private @two_planes(%x: tensor<1x576xf32>, %blocks: tensor<192x18x22xi8>, %out: tensor<1x192xf32>) -> tensor<1x192xf32>
    attributes {gist.kernel = #gist.kernel<kind = matmul, outputs = 1>} {
  %zero = arith.constant 0.0 : f32
  %w = gist.dequantize %blocks format q5_0 : tensor<192x18x22xi8>
  %z = linalg.fill ins(%zero : f32) outs(%out : tensor<1x192xf32>) -> tensor<1x192xf32>
  %y = linalg.matmul indexing_maps = [#x, #w, #y]
      ins(%x, %w : tensor<1x576xf32>, tensor<192x576xf32>) outs(%z : tensor<1x192xf32>) -> tensor<1x192xf32>
  return %y : tensor<1x192xf32>
}
