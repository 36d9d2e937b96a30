// RUN: gist-opt %s -gist-raise-views -canonicalize -split-input-file | FileCheck %s

// CHECK-LABEL: func @reshape
// CHECK:         %[[R:.+]] = tensor.expand_shape %arg0 {{\[\[}}0, 1], [2, 3]] output_shape [1, %{{.+}}, 4, 2] : tensor<?x8xf32> into tensor<1x?x4x2xf32>
// CHECK:         return %[[R]]
func.func @reshape(%x: tensor<?x8xf32>) -> tensor<1x?x4x2xf32> {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1 : i64
  %four = arith.constant 4 : i64
  %two = arith.constant 2 : i64
  %d = tensor.dim %x, %c0 : tensor<?x8xf32>
  %t = arith.index_cast %d : index to i64
  %shape = tensor.from_elements %one, %t, %four, %two : tensor<4xi64>
  %r = tensor.reshape %x(%shape) : (tensor<?x8xf32>, tensor<4xi64>) -> tensor<1x?x4x2xf32>
  return %r : tensor<1x?x4x2xf32>
}

// -----

// The caller decides the shape.
// CHECK-LABEL: func @reshape_to_any_shape
// CHECK:         tensor.reshape
func.func @reshape_to_any_shape(%x: tensor<?x4xf32>, %shape: tensor<2xi64>) -> tensor<2x?xf32> {
  %r = tensor.reshape %x(%shape) : (tensor<?x4xf32>, tensor<2xi64>) -> tensor<2x?xf32>
  return %r : tensor<2x?xf32>
}

// -----

// A broadcast to the size that the tensor has.
// CHECK-LABEL: func @copy
// CHECK-NEXT:    return %arg0
func.func @copy(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = tensor.dim %x, %c0 : tensor<?x4xf32>
  %e = tensor.empty(%t) : tensor<?x4xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      outs(%e : tensor<?x4xf32>) {
  ^bb0(%out: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %is_one = arith.cmpi eq, %t, %c1 : index
    %k = arith.select %is_one, %c0, %i : index
    %v = tensor.extract %x[%k, %j] : tensor<?x4xf32>
    linalg.yield %v : f32
  } -> tensor<?x4xf32>
  return %r : tensor<?x4xf32>
}

// -----

// The result has twice the rows: the loop is left alone.
// CHECK-LABEL: func @copy_of_another_size
// CHECK:         tensor.extract
func.func @copy_of_another_size(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %t = tensor.dim %x, %c0 : tensor<?x4xf32>
  %twice = arith.muli %t, %c2 : index
  %e = tensor.empty(%twice) : tensor<?x4xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      outs(%e : tensor<?x4xf32>) {
  ^bb0(%out: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %is_one = arith.cmpi eq, %t, %c1 : index
    %k = arith.select %is_one, %c0, %i : index
    %v = tensor.extract %x[%k, %j] : tensor<?x4xf32>
    linalg.yield %v : f32
  } -> tensor<?x4xf32>
  return %r : tensor<?x4xf32>
}

// -----

#id = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#by_token = affine_map<(d0, d1, d2) -> (d1, d2)>

// Heads come before tokens, halves are exchanged, and a table is added. All that
// happens with tokens first; the table is read by token, and one transpose is left.
// CHECK-LABEL: func @rotate
// CHECK:         tensor.extract_slice %arg0[0, 0, 4] [%{{.+}}, 3, 4]
// CHECK:         tensor.concat dim(2) %{{.+}}, %{{.+}} : (tensor<?x3x4xf32>, tensor<?x3x4xf32>) -> tensor<?x3x8xf32>
// CHECK:         linalg.generic {indexing_maps = [#[[ID:.+]], #[[TABLE:.+]], #[[ID]]]
// CHECK-SAME:      ins(%{{.+}}, %arg1 : tensor<?x3x8xf32>, tensor<?x8xf32>)
// CHECK:         linalg.transpose {{.+}} outs(%{{.+}} : tensor<3x?x8xf32>) permutation = [1, 0, 2]
// CHECK-NEXT:    return
func.func @rotate(%x: tensor<?x3x8xf32>, %table: tensor<?x8xf32>) -> tensor<3x?x8xf32> {
  %c0 = arith.constant 0 : index
  %t = tensor.dim %x, %c0 : tensor<?x3x8xf32>
  %e = tensor.empty(%t) : tensor<3x?x8xf32>
  %heads = linalg.transpose ins(%x : tensor<?x3x8xf32>) outs(%e : tensor<3x?x8xf32>) permutation = [1, 0, 2]
  %a = tensor.extract_slice %heads[0, 0, 4] [3, %t, 4] [1, 1, 1] : tensor<3x?x8xf32> to tensor<3x?x4xf32>
  %b = tensor.extract_slice %heads[0, 0, 0] [3, %t, 4] [1, 1, 1] : tensor<3x?x8xf32> to tensor<3x?x4xf32>
  %turned = tensor.concat dim(2) %a, %b : (tensor<3x?x4xf32>, tensor<3x?x4xf32>) -> tensor<3x?x8xf32>
  %r = linalg.generic {indexing_maps = [#id, #by_token, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%turned, %table : tensor<3x?x8xf32>, tensor<?x8xf32>) outs(%e : tensor<3x?x8xf32>) {
  ^bb0(%in: f32, %other: f32, %out: f32):
    %s = arith.addf %in, %other : f32
    linalg.yield %s : f32
  } -> tensor<3x?x8xf32>
  return %r : tensor<3x?x8xf32>
}
