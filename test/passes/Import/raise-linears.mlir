// RUN: gist-opt %s -gist-raise-linears -split-input-file | FileCheck %s

// CHECK-DAG: #[[MK:.+]] = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK-DAG: #[[NK:.+]] = affine_map<(d0, d1, d2) -> (d1, d2)>
// CHECK-DAG: #[[MN:.+]] = affine_map<(d0, d1, d2) -> (d0, d1)>

// CHECK-LABEL: func @transposed
// CHECK:         %[[W:.+]] = gist.weight "w" : tensor<6x4xf32>
// CHECK-NOT:     linalg.transpose
// CHECK:         linalg.matmul indexing_maps = [#[[MK]], #[[NK]], #[[MN]]] ins(%arg0, %[[W]] : tensor<?x4xf32>, tensor<6x4xf32>)
func.func @transposed(%x: tensor<?x4xf32>, %o: tensor<?x6xf32>) -> tensor<?x6xf32> {
  %w = gist.weight "w" : tensor<6x4xf32>
  %e = tensor.empty() : tensor<4x6xf32>
  %t = linalg.transpose ins(%w : tensor<6x4xf32>) outs(%e : tensor<4x6xf32>) permutation = [1, 0]
  %y = linalg.matmul ins(%x, %t : tensor<?x4xf32>, tensor<4x6xf32>) outs(%o : tensor<?x6xf32>) -> tensor<?x6xf32>
  return %y : tensor<?x6xf32>
}

// -----

// Inputs x outputs: [[1, 2, 3], [4, 5, 6]] is stored as [[1, 4], [2, 5], [3, 6]].
// CHECK-LABEL: func @stored_turned
// CHECK:         %[[W:.+]] = gist.weight "w" : tensor<3x2xf32>
// CHECK:         linalg.matmul indexing_maps = {{.+}} ins(%arg0, %[[W]] : tensor<?x2xf32>, tensor<3x2xf32>)
// CHECK:       gist.constant_weight @w dense<{{\[\[}}1.000000e+00, 4.000000e+00], [2.000000e+00, 5.000000e+00], [3.000000e+00, 6.000000e+00]]>
func.func @stored_turned(%x: tensor<?x2xf32>, %o: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %w = gist.weight "w" : tensor<2x3xf32>
  %y = linalg.matmul ins(%x, %w : tensor<?x2xf32>, tensor<2x3xf32>) outs(%o : tensor<?x3xf32>) -> tensor<?x3xf32>
  return %y : tensor<?x3xf32>
}
gist.constant_weight @w dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>

// -----

// Another op reads it as it is.
// CHECK-LABEL: func @read_twice
// CHECK:         gist.weight "w" : tensor<2x3xf32>
// CHECK:         linalg.matmul ins(
func.func @read_twice(%x: tensor<?x2xf32>, %o: tensor<?x3xf32>) -> (tensor<?x3xf32>, tensor<2x3xf32>) {
  %w = gist.weight "w" : tensor<2x3xf32>
  %y = linalg.matmul ins(%x, %w : tensor<?x2xf32>, tensor<2x3xf32>) outs(%o : tensor<?x3xf32>) -> tensor<?x3xf32>
  return %y, %w : tensor<?x3xf32>, tensor<2x3xf32>
}
gist.constant_weight @w dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>

// -----

// CHECK-LABEL: func @two_computed_tensors
// CHECK:         linalg.transpose
// CHECK:         linalg.matmul ins(
func.func @two_computed_tensors(%x: tensor<?x4xf32>, %w: tensor<6x4xf32>, %o: tensor<?x6xf32>) -> tensor<?x6xf32> {
  %e = tensor.empty() : tensor<4x6xf32>
  %t = linalg.transpose ins(%w : tensor<6x4xf32>) outs(%e : tensor<4x6xf32>) permutation = [1, 0]
  %y = linalg.matmul ins(%x, %t : tensor<?x4xf32>, tensor<4x6xf32>) outs(%o : tensor<?x6xf32>) -> tensor<?x6xf32>
  return %y : tensor<?x6xf32>
}
