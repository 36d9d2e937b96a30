// RUN: gist-opt %s -gist-narrow-rows -split-input-file | FileCheck %s

// The head reads the last row. Norms are computed again for it, the residual
// stream, which all rows of keys and values need, is sliced, and the product and
// attention have one row.
// CHECK-LABEL: func.func @prefill
// CHECK-SAME:    %[[TOKENS:.+]]: tensor<?xi32>, %[[PAST:.+]]: index, %[[X:.+]]: tensor<?x24xf32>
// CHECK:         %[[K:.+]] = linalg.matmul {{.+}} ins(%[[X]], %{{.+}} : tensor<?x24xf32>, tensor<16x24xf32>)
// CHECK:         %[[ROW:.+]] = arith.subi
// CHECK:         %[[ONE:.+]] = tensor.extract_slice %[[X]][%[[ROW]], 0] [1, 24] [1, 1]
// CHECK:         linalg.matmul {{.+}} ins(%[[ONE]], %{{.+}} : tensor<1x24xf32>, tensor<32x24xf32>)
// CHECK:         %[[A:.+]] = gist.attention {{.+}} tensor<1x4x8xf32>
// CHECK:         %[[FLAT:.+]] = tensor.collapse_shape %[[A]]
// CHECK:         linalg.matmul {{.+}} ins(%[[FLAT]], %{{.+}} : tensor<1x32xf32>, tensor<24x32xf32>)
// CHECK:         %[[SUM:.+]] = linalg.generic {{.+}} outs(%{{.+}} : tensor<1x24xf32>)
// CHECK:         return %[[SUM]]
#td = affine_map<(m, n, k) -> (m, k)>
#nd = affine_map<(m, n, k) -> (n, k)>
#tn = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(t, d) -> (t, d)>
func.func @prefill(%tokens: tensor<?xi32>, %past: index, %x: tensor<?x24xf32>)
    -> (tensor<1x24xf32>, tensor<?x2x8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %t = tensor.dim %tokens, %c0 : tensor<?xi32>
  %wq = gist.weight "q" : tensor<32x24xf32>
  %wk = gist.weight "k" : tensor<16x24xf32>
  %wo = gist.weight "o" : tensor<24x32xf32>
  %eq = tensor.empty(%t) : tensor<?x32xf32>
  %zq = linalg.fill ins(%zero : f32) outs(%eq : tensor<?x32xf32>) -> tensor<?x32xf32>
  %ek = tensor.empty(%t) : tensor<?x16xf32>
  %zk = linalg.fill ins(%zero : f32) outs(%ek : tensor<?x16xf32>) -> tensor<?x16xf32>
  %eo = tensor.empty(%t) : tensor<?x24xf32>
  %zo = linalg.fill ins(%zero : f32) outs(%eo : tensor<?x24xf32>) -> tensor<?x24xf32>
  %q2 = linalg.matmul indexing_maps = [#td, #nd, #tn]
      ins(%x, %wq : tensor<?x24xf32>, tensor<32x24xf32>) outs(%zq : tensor<?x32xf32>) -> tensor<?x32xf32>
  %k2 = linalg.matmul indexing_maps = [#td, #nd, #tn]
      ins(%x, %wk : tensor<?x24xf32>, tensor<16x24xf32>) outs(%zk : tensor<?x16xf32>) -> tensor<?x16xf32>
  %q = tensor.expand_shape %q2 [[0], [1, 2]] output_shape [%t, 4, 8] : tensor<?x32xf32> into tensor<?x4x8xf32>
  %k = tensor.expand_shape %k2 [[0], [1, 2]] output_shape [%t, 2, 8] : tensor<?x16xf32> into tensor<?x2x8xf32>
  %a = gist.attention %q, %k, %k causal : tensor<?x4x8xf32>, tensor<?x2x8xf32>, tensor<?x2x8xf32>
  %flat = tensor.collapse_shape %a [[0], [1, 2]] : tensor<?x4x8xf32> into tensor<?x32xf32>
  %o = linalg.matmul indexing_maps = [#td, #nd, #tn]
      ins(%flat, %wo : tensor<?x32xf32>, tensor<24x32xf32>) outs(%zo : tensor<?x24xf32>) -> tensor<?x24xf32>
  %sum = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %o : tensor<?x24xf32>, tensor<?x24xf32>) outs(%eo : tensor<?x24xf32>) {
  ^bb0(%a0: f32, %b0: f32, %c: f32):
    %s = arith.addf %a0, %b0 : f32
    linalg.yield %s : f32
  } -> tensor<?x24xf32>
  %last = arith.subi %t, %c1 : index
  %row = tensor.extract_slice %sum[%last, 0] [1, 24] [1, 1] : tensor<?x24xf32> to tensor<1x24xf32>
  return %row, %k : tensor<1x24xf32>, tensor<?x2x8xf32>
}

// -----

// Causal attention of a row that is not the last would see keys behind it: it
// keeps its rows, and only what follows it has one.
// CHECK-LABEL: func.func @not_the_last
// CHECK:         %[[A:.+]] = gist.attention {{.+}} tensor<?x4x8xf32>
// CHECK:         %[[ONE:.+]] = tensor.extract_slice %[[A]][%{{.+}}, 0, 0] [1, 4, 8]
// CHECK:         linalg.matmul {{.+}} tensor<1x32xf32>, tensor<24x32xf32>
#td = affine_map<(m, n, k) -> (m, k)>
#nd = affine_map<(m, n, k) -> (n, k)>
#tn = affine_map<(m, n, k) -> (m, n)>
func.func @not_the_last(%tokens: tensor<?xi32>, %past: index, %q: tensor<?x4x8xf32>)
    -> tensor<1x24xf32> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %zero = arith.constant 0.0 : f32
  %t = tensor.dim %tokens, %c0 : tensor<?xi32>
  %wo = gist.weight "o" : tensor<24x32xf32>
  %eo = tensor.empty(%t) : tensor<?x24xf32>
  %zo = linalg.fill ins(%zero : f32) outs(%eo : tensor<?x24xf32>) -> tensor<?x24xf32>
  %a = gist.attention %q, %q, %q causal : tensor<?x4x8xf32>, tensor<?x4x8xf32>, tensor<?x4x8xf32>
  %flat = tensor.collapse_shape %a [[0], [1, 2]] : tensor<?x4x8xf32> into tensor<?x32xf32>
  %o = linalg.matmul indexing_maps = [#td, #nd, #tn]
      ins(%flat, %wo : tensor<?x32xf32>, tensor<24x32xf32>) outs(%zo : tensor<?x24xf32>) -> tensor<?x24xf32>
  %last = arith.subi %t, %c2 : index
  %row = tensor.extract_slice %o[%last, 0] [1, 24] [1, 1] : tensor<?x24xf32> to tensor<1x24xf32>
  return %row : tensor<1x24xf32>
}

// -----

// Above the slice there is no product: nothing is gained.
// CHECK-LABEL: func.func @nothing_to_gain
// CHECK:         %[[SUM:.+]] = linalg.generic {{.+}} outs(%{{.+}} : tensor<?x24xf32>)
// CHECK:         %[[ROW:.+]] = tensor.extract_slice %[[SUM]]
// CHECK:         return %[[ROW]]
#id = affine_map<(t, d) -> (t, d)>
func.func @nothing_to_gain(%tokens: tensor<?xi32>, %past: index, %x: tensor<?x24xf32>) -> tensor<1x24xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = tensor.dim %tokens, %c0 : tensor<?xi32>
  %e = tensor.empty(%t) : tensor<?x24xf32>
  %sum = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<?x24xf32>) outs(%e : tensor<?x24xf32>) {
  ^bb0(%a: f32, %c: f32):
    %s = arith.addf %a, %a : f32
    linalg.yield %s : f32
  } -> tensor<?x24xf32>
  %last = arith.subi %t, %c1 : index
  %row = tensor.extract_slice %sum[%last, 0] [1, 24] [1, 1] : tensor<?x24xf32> to tensor<1x24xf32>
  return %row : tensor<1x24xf32>
}

// -----

// Calls of a few tokens read every weight once, however many rows there are.
// CHECK-LABEL: func.func @short
// CHECK:         linalg.matmul {{.+}} tensor<?x24xf32>, tensor<8x24xf32>
#td = affine_map<(m, n, k) -> (m, k)>
#nd = affine_map<(m, n, k) -> (n, k)>
#tn = affine_map<(m, n, k) -> (m, n)>
func.func @short(%tokens: tensor<?xi32>, %past: index, %x: tensor<?x24xf32>) -> tensor<1x8xf32>
    attributes {gist.max_tokens = 16 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %t = tensor.dim %tokens, %c0 : tensor<?xi32>
  %w = gist.weight "w" : tensor<8x24xf32>
  %e = tensor.empty(%t) : tensor<?x8xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<?x8xf32>) -> tensor<?x8xf32>
  %o = linalg.matmul indexing_maps = [#td, #nd, #tn]
      ins(%x, %w : tensor<?x24xf32>, tensor<8x24xf32>) outs(%z : tensor<?x8xf32>) -> tensor<?x8xf32>
  %last = arith.subi %t, %c1 : index
  %row = tensor.extract_slice %o[%last, 0] [1, 8] [1, 1] : tensor<?x8xf32> to tensor<1x8xf32>
  return %row : tensor<1x8xf32>
}
