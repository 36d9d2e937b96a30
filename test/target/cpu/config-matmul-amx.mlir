// RUN: gist-opt %s -split-input-file -gist-set-target="triple=x86_64-linux-gnu cpu=sapphirerapids" -gist-select-tile-config | FileCheck %s
// RUN: gist-opt %s -split-input-file -gist-set-target="triple=x86_64-linux-gnu cpu=sapphirerapids features=-amx-bf16" -gist-select-tile-config | FileCheck %s --check-prefix=INT8

// Rows in f32 and weights in f16 are two numbers of bf16 each. A reduction
// of 576 is rearranged at once; 192 columns are a workgroup's.
// CHECK-LABEL: func private @f16
// CHECK-SAME:    gist.tile = #gist.cpu_bf16_product<rows = 64, columns = 192, depth = 576, parts = [2, 2]>
// INT8-LABEL:  func private @f16
// INT8-SAME:     instruction = fma>
#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (n, k)>
#y = affine_map<(m, n, k) -> (m, n)>
func.func private @f16(%x: tensor<?x576xf32>, %w: tensor<576x576xf16>, %out: tensor<?x576xf32>) -> tensor<?x576xf32>
    attributes {gist.kernel = #gist.kernel<kind = matmul, outputs = 1>} {
  %zero = arith.constant 0.0 : f32
  %z = linalg.fill ins(%zero : f32) outs(%out : tensor<?x576xf32>) -> tensor<?x576xf32>
  %y = linalg.matmul indexing_maps = [#x, #w, #y]
      ins(%x, %w : tensor<?x576xf32>, tensor<576x576xf16>) outs(%z : tensor<?x576xf32>) -> tensor<?x576xf32>
  return %y : tensor<?x576xf32>
}

// -----

// Weights in bf16 are what tiles take. 1024 is the most that is rearranged at once.
// CHECK-LABEL: func private @bf16
// CHECK-SAME:    gist.tile = #gist.cpu_bf16_product<rows = 64, columns = 128, depth = 1024, parts = [2, 1]>
#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (n, k)>
#y = affine_map<(m, n, k) -> (m, n)>
func.func private @bf16(%x: tensor<?x4096xf32>, %w: tensor<1024x4096xbf16>, %out: tensor<?x1024xf32>) -> tensor<?x1024xf32>
    attributes {gist.kernel = #gist.kernel<kind = matmul, outputs = 1>} {
  %zero = arith.constant 0.0 : f32
  %z = linalg.fill ins(%zero : f32) outs(%out : tensor<?x1024xf32>) -> tensor<?x1024xf32>
  %y = linalg.matmul indexing_maps = [#x, #w, #y]
      ins(%x, %w : tensor<?x4096xf32>, tensor<1024x4096xbf16>) outs(%z : tensor<?x1024xf32>) -> tensor<?x1024xf32>
  return %y : tensor<?x1024xf32>
}

// -----

// Rows in bf16 too.
// CHECK-LABEL: func private @all_bf16
// CHECK-SAME:    parts = [1, 1]>
#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (n, k)>
#y = affine_map<(m, n, k) -> (m, n)>
func.func private @all_bf16(%x: tensor<?x4096xbf16>, %w: tensor<1024x4096xbf16>, %out: tensor<?x1024xf32>) -> tensor<?x1024xf32>
    attributes {gist.kernel = #gist.kernel<kind = matmul, outputs = 1>} {
  %zero = arith.constant 0.0 : f32
  %z = linalg.fill ins(%zero : f32) outs(%out : tensor<?x1024xf32>) -> tensor<?x1024xf32>
  %y = linalg.matmul indexing_maps = [#x, #w, #y]
      ins(%x, %w : tensor<?x4096xbf16>, tensor<1024x4096xbf16>) outs(%z : tensor<?x1024xf32>) -> tensor<?x1024xf32>
  return %y : tensor<?x1024xf32>
}

// -----

// One row has nothing to fill a tile with.
// CHECK-LABEL: func private @one
// CHECK-SAME:    instruction = fma>
#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (n, k)>
#y = affine_map<(m, n, k) -> (m, n)>
func.func private @one(%x: tensor<1x576xf32>, %w: tensor<576x576xf16>, %out: tensor<1x576xf32>) -> tensor<1x576xf32>
    attributes {gist.kernel = #gist.kernel<kind = matmul, outputs = 1>} {
  %zero = arith.constant 0.0 : f32
  %z = linalg.fill ins(%zero : f32) outs(%out : tensor<1x576xf32>) -> tensor<1x576xf32>
  %y = linalg.matmul indexing_maps = [#x, #w, #y]
      ins(%x, %w : tensor<1x576xf32>, tensor<576x576xf16>) outs(%z : tensor<1x576xf32>) -> tensor<1x576xf32>
  return %y : tensor<1x576xf32>
}

// -----

// Columns or depths that do not fill tiles, weights in f32, sums in f16: all of
// these keep to vectors.
// CHECK-LABEL: func private @columns
// CHECK-SAME:    instruction = fma>
#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (n, k)>
#y = affine_map<(m, n, k) -> (m, n)>
func.func private @columns(%x: tensor<?x576xf32>, %w: tensor<80x576xf16>, %out: tensor<?x80xf32>) -> tensor<?x80xf32>
    attributes {gist.kernel = #gist.kernel<kind = matmul, outputs = 1>} {
  %zero = arith.constant 0.0 : f32
  %z = linalg.fill ins(%zero : f32) outs(%out : tensor<?x80xf32>) -> tensor<?x80xf32>
  %y = linalg.matmul indexing_maps = [#x, #w, #y]
      ins(%x, %w : tensor<?x576xf32>, tensor<80x576xf16>) outs(%z : tensor<?x80xf32>) -> tensor<?x80xf32>
  return %y : tensor<?x80xf32>
}

// -----

// CHECK-LABEL: func private @depth
// CHECK-SAME:    instruction = fma>
#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (n, k)>
#y = affine_map<(m, n, k) -> (m, n)>
func.func private @depth(%x: tensor<?x48xf32>, %w: tensor<96x48xf16>, %out: tensor<?x96xf32>) -> tensor<?x96xf32>
    attributes {gist.kernel = #gist.kernel<kind = matmul, outputs = 1>} {
  %zero = arith.constant 0.0 : f32
  %z = linalg.fill ins(%zero : f32) outs(%out : tensor<?x96xf32>) -> tensor<?x96xf32>
  %y = linalg.matmul indexing_maps = [#x, #w, #y]
      ins(%x, %w : tensor<?x48xf32>, tensor<96x48xf16>) outs(%z : tensor<?x96xf32>) -> tensor<?x96xf32>
  return %y : tensor<?x96xf32>
}

// -----

// 3104 is 32 * 97: adding the sums after every 32 would cost more than it gives.
// CHECK-LABEL: func private @prime
// CHECK-SAME:    instruction = fma>
#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (n, k)>
#y = affine_map<(m, n, k) -> (m, n)>
func.func private @prime(%x: tensor<?x3104xf32>, %w: tensor<96x3104xf16>, %out: tensor<?x96xf32>) -> tensor<?x96xf32>
    attributes {gist.kernel = #gist.kernel<kind = matmul, outputs = 1>} {
  %zero = arith.constant 0.0 : f32
  %z = linalg.fill ins(%zero : f32) outs(%out : tensor<?x96xf32>) -> tensor<?x96xf32>
  %y = linalg.matmul indexing_maps = [#x, #w, #y]
      ins(%x, %w : tensor<?x3104xf32>, tensor<96x3104xf16>) outs(%z : tensor<?x96xf32>) -> tensor<?x96xf32>
  return %y : tensor<?x96xf32>
}

// -----

// CHECK-LABEL: func private @f32
// CHECK-SAME:    instruction = fma>
#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (n, k)>
#y = affine_map<(m, n, k) -> (m, n)>
func.func private @f32(%x: tensor<?x96xf32>, %w: tensor<96x96xf32>, %out: tensor<?x96xf32>) -> tensor<?x96xf32>
    attributes {gist.kernel = #gist.kernel<kind = matmul, outputs = 1>} {
  %zero = arith.constant 0.0 : f32
  %z = linalg.fill ins(%zero : f32) outs(%out : tensor<?x96xf32>) -> tensor<?x96xf32>
  %y = linalg.matmul indexing_maps = [#x, #w, #y]
      ins(%x, %w : tensor<?x96xf32>, tensor<96x96xf32>) outs(%z : tensor<?x96xf32>) -> tensor<?x96xf32>
  return %y : tensor<?x96xf32>
}

// -----

// CHECK-LABEL: func private @sums
// CHECK-SAME:    instruction = fma>
#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (n, k)>
#y = affine_map<(m, n, k) -> (m, n)>
func.func private @sums(%x: tensor<?x96xf16>, %w: tensor<96x96xf16>, %out: tensor<?x96xf16>) -> tensor<?x96xf16>
    attributes {gist.kernel = #gist.kernel<kind = matmul, outputs = 1>} {
  %zero = arith.constant 0.0 : f16
  %z = linalg.fill ins(%zero : f16) outs(%out : tensor<?x96xf16>) -> tensor<?x96xf16>
  %y = linalg.matmul indexing_maps = [#x, #w, #y]
      ins(%x, %w : tensor<?x96xf16>, tensor<96x96xf16>) outs(%z : tensor<?x96xf16>) -> tensor<?x96xf16>
  return %y : tensor<?x96xf16>
}
