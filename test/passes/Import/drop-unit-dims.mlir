// RUN: gist-opt %s -gist-drop-unit-dims -canonicalize -split-input-file | FileCheck %s

#id = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#row = affine_map<(d0, d1, d2) -> (d0, d1, 0)>

// A sum of each row, and rows divided by it; the result keeps the dimension.
// CHECK-LABEL: func @rows(%arg0: tensor<?x8xf32>)
// CHECK:         linalg.generic {{.+}} ins(%arg0 : tensor<?x8xf32>) outs(%{{.+}} : tensor<?xf32>)
// CHECK:         %[[D:.+]] = linalg.generic {{.+}} ins(%arg0, %{{.+}} : tensor<?x8xf32>, tensor<?xf32>) outs(%{{.+}} : tensor<?x8xf32>)
// CHECK:         %[[R:.+]] = tensor.expand_shape %[[D]]
// CHECK:         return %[[R]] : tensor<1x?x8xf32>
func.func @rows(%arg0: tensor<?x8xf32>) -> tensor<1x?x8xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %t = tensor.dim %arg0, %c0 : tensor<?x8xf32>
  %x = tensor.expand_shape %arg0 [[0, 1], [2]] output_shape [1, %t, 8] : tensor<?x8xf32> into tensor<1x?x8xf32>
  %e = tensor.empty(%t) : tensor<1x?x1xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<1x?x1xf32>) -> tensor<1x?x1xf32>
  %s = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x : tensor<1x?x8xf32>) outs(%z : tensor<1x?x1xf32>) {
  ^bb0(%in: f32, %out: f32):
    %a = arith.addf %in, %out : f32
    linalg.yield %a : f32
  } -> tensor<1x?x1xf32>
  %o = tensor.empty(%t) : tensor<1x?x8xf32>
  %d = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x, %s : tensor<1x?x8xf32>, tensor<1x?x1xf32>) outs(%o : tensor<1x?x8xf32>) {
  ^bb0(%in: f32, %sum: f32, %out: f32):
    %q = arith.divf %in, %sum : f32
    linalg.yield %q : f32
  } -> tensor<1x?x8xf32>
  return %d : tensor<1x?x8xf32>
}

// -----

// CHECK-LABEL: func @product
// CHECK:         linalg.matmul ins(%{{.+}}, %{{.+}} : tensor<5x8xf32>, tensor<8x6xf32>)
func.func @product(%x: tensor<1x5x8xf32>, %w: tensor<1x8x6xf32>) -> tensor<1x5x6xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x5x6xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<1x5x6xf32>) -> tensor<1x5x6xf32>
  %y = linalg.batch_matmul ins(%x, %w : tensor<1x5x8xf32>, tensor<1x8x6xf32>) outs(%z : tensor<1x5x6xf32>) -> tensor<1x5x6xf32>
  return %y : tensor<1x5x6xf32>
}

// -----

// The transpose of a batch of one is a transpose without it; tensors are joined
// and cut without it.
// CHECK-LABEL: func @views
// CHECK:         linalg.transpose ins(%{{.+}} : tensor<5x3x4xf32>) outs(%{{.+}} : tensor<3x5x4xf32>) permutation = [1, 0, 2]
// CHECK:         tensor.insert_slice %{{.+}} into %{{.+}}[0, 0, 0] [3, 5, 4] [1, 1, 1] : tensor<3x5x4xf32> into tensor<3x5x8xf32>
// CHECK:         tensor.insert_slice %{{.+}} into %{{.+}}[0, 0, 4] [3, 5, 4] [1, 1, 1] : tensor<3x5x4xf32> into tensor<3x5x8xf32>
func.func @views(%x: tensor<1x5x3x4xf32>) -> tensor<1x3x5x8xf32> {
  %e = tensor.empty() : tensor<1x3x5x4xf32>
  %t = linalg.transpose ins(%x : tensor<1x5x3x4xf32>) outs(%e : tensor<1x3x5x4xf32>) permutation = [0, 2, 1, 3]
  %r = tensor.concat dim(3) %t, %t : (tensor<1x3x5x4xf32>, tensor<1x3x5x4xf32>) -> tensor<1x3x5x8xf32>
  return %r : tensor<1x3x5x8xf32>
}
