// RUN: gist-opt %s -gist-quantize-activations -cse -split-input-file | FileCheck %s

#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (n, k)>
#y = affine_map<(m, n, k) -> (m, n)>

// Two products of one input share its quantised rows.
// CHECK-LABEL: func @shared
// CHECK-SAME:    %[[X:.+]]: tensor<?x96xf32>, %[[W:.+]]: tensor<64x3x20xi8>, %[[U:.+]]: tensor<40x3x34xi8>
// CHECK:         %[[Q:.+]], %[[S:.+]] = gist.quantize_rows %[[X]]
// CHECK-NOT:     gist.quantize_rows
// CHECK-DAG:     gist.quantized_matmul %[[Q]], %[[S]], %[[W]] format q4_1
// CHECK-DAG:     gist.quantized_matmul %[[Q]], %[[S]], %[[U]] format q8_0
// CHECK-NOT:     linalg.matmul
func.func @shared(%x: tensor<?x96xf32>, %w: tensor<64x3x20xi8>, %u: tensor<40x3x34xi8>,
                  %a: tensor<?x64xf32>, %b: tensor<?x40xf32>) -> (tensor<?x64xf32>, tensor<?x40xf32>) {
  %zero = arith.constant 0.0 : f32
  %f = gist.dequantize %w format q4_1 : tensor<64x3x20xi8>
  %g = gist.dequantize %u format q8_0 : tensor<40x3x34xi8>
  %za = linalg.fill ins(%zero : f32) outs(%a : tensor<?x64xf32>) -> tensor<?x64xf32>
  %zb = linalg.fill ins(%zero : f32) outs(%b : tensor<?x40xf32>) -> tensor<?x40xf32>
  %p = linalg.matmul indexing_maps = [#x, #w, #y] ins(%x, %f : tensor<?x96xf32>, tensor<64x96xf32>)
      outs(%za : tensor<?x64xf32>) -> tensor<?x64xf32>
  %r = linalg.matmul indexing_maps = [#x, #w, #y] ins(%x, %g : tensor<?x96xf32>, tensor<40x96xf32>)
      outs(%zb : tensor<?x40xf32>) -> tensor<?x40xf32>
  return %p, %r : tensor<?x64xf32>, tensor<?x40xf32>
}

// -----

#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (n, k)>
#y = affine_map<(m, n, k) -> (m, n)>

// CHECK-LABEL: func @plain_weight
// CHECK-NOT:     gist.quantize_rows
func.func @plain_weight(%x: tensor<?x96xf32>, %w: tensor<64x96xf32>, %a: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %zero = arith.constant 0.0 : f32
  %za = linalg.fill ins(%zero : f32) outs(%a : tensor<?x64xf32>) -> tensor<?x64xf32>
  %p = linalg.matmul indexing_maps = [#x, #w, #y] ins(%x, %w : tensor<?x96xf32>, tensor<64x96xf32>)
      outs(%za : tensor<?x64xf32>) -> tensor<?x64xf32>
  return %p : tensor<?x64xf32>
}

// -----

#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (n, k)>
#y = affine_map<(m, n, k) -> (m, n)>

// CHECK-LABEL: func @accumulates
// CHECK-NOT:     gist.quantize_rows
func.func @accumulates(%x: tensor<?x96xf32>, %w: tensor<64x3x20xi8>, %a: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %f = gist.dequantize %w format q4_1 : tensor<64x3x20xi8>
  %p = linalg.matmul indexing_maps = [#x, #w, #y] ins(%x, %f : tensor<?x96xf32>, tensor<64x96xf32>)
      outs(%a : tensor<?x64xf32>) -> tensor<?x64xf32>
  return %p : tensor<?x64xf32>
}

// -----

// Not transposed: blocks along k are not rows of the weight there.
// CHECK-LABEL: func @other_maps
// CHECK-NOT:     gist.quantize_rows
func.func @other_maps(%x: tensor<?x96xf32>, %w: tensor<96x2x20xi8>, %a: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %zero = arith.constant 0.0 : f32
  %f = gist.dequantize %w format q4_1 : tensor<96x2x20xi8>
  %za = linalg.fill ins(%zero : f32) outs(%a : tensor<?x64xf32>) -> tensor<?x64xf32>
  %p = linalg.matmul ins(%x, %f : tensor<?x96xf32>, tensor<96x64xf32>)
      outs(%za : tensor<?x64xf32>) -> tensor<?x64xf32>
  return %p : tensor<?x64xf32>
}

// -----

#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (n, k)>
#y = affine_map<(m, n, k) -> (m, n)>

// CHECK-LABEL: func @other_element
// CHECK-NOT:     gist.quantize_rows
func.func @other_element(%x: tensor<?x96xf16>, %w: tensor<64x3x20xi8>, %a: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %zero = arith.constant 0.0 : f32
  %f = gist.dequantize %w format q4_1 : tensor<64x3x20xi8>
  %za = linalg.fill ins(%zero : f32) outs(%a : tensor<?x64xf32>) -> tensor<?x64xf32>
  %p = linalg.matmul indexing_maps = [#x, #w, #y] ins(%x, %f : tensor<?x96xf16>, tensor<64x96xf32>)
      outs(%za : tensor<?x64xf32>) -> tensor<?x64xf32>
  return %p : tensor<?x64xf32>
}

// -----

#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (n, k)>
#y = affine_map<(m, n, k) -> (m, n)>

// Rows whose length is not known may end inside a block.
// CHECK-LABEL: func @unknown_length
// CHECK-NOT:     gist.quantize_rows
// CHECK:         linalg.matmul
func.func @unknown_length(%x: tensor<?x?xf32>, %w: tensor<64x3x20xi8>, %a: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %zero = arith.constant 0.0 : f32
  %f = gist.dequantize %w format q4_1 : tensor<64x3x20xi8>
  %za = linalg.fill ins(%zero : f32) outs(%a : tensor<?x64xf32>) -> tensor<?x64xf32>
  %p = linalg.matmul indexing_maps = [#x, #w, #y] ins(%x, %f : tensor<?x?xf32>, tensor<64x96xf32>)
      outs(%za : tensor<?x64xf32>) -> tensor<?x64xf32>
  return %p : tensor<?x64xf32>
}
