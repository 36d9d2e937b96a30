// RUN: gist-opt %s -gist-merge-projections -canonicalize | FileCheck %s

#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (n, k)>
#y = affine_map<(m, n, k) -> (m, n)>
#row = affine_map<(m, n) -> (m, n)>
#column = affine_map<(m, n) -> (n)>

// In the order of their names; each slice has the columns of its weight.
// CHECK-LABEL: func @heads
// CHECK-SAME:    %[[X:.+]]: tensor<?x96xf16>, %[[T:.+]]: index
// CHECK:         %[[W:.+]] = gist.weight "k+q" {{.*}}["k", "q"]{{.*}} : tensor<144x96xf16>
// CHECK:         %[[P:.+]] = linalg.matmul {{.*}} ins(%[[X]], %[[W]] : {{.*}} -> tensor<?x144xf32>
// CHECK-DAG:     %[[Q:.+]] = tensor.extract_slice %[[P]][0, 48] [%[[T]], 96] [1, 1]
// CHECK-DAG:     %[[K:.+]] = tensor.extract_slice %[[P]][0, 0] [%[[T]], 48] [1, 1]
// CHECK-DAG:     tensor.expand_shape %[[Q]] {{.*}} into tensor<?x6x16xf32>
// CHECK-DAG:     tensor.expand_shape %[[K]] {{.*}} into tensor<?x3x16xf32>
// CHECK-NOT:     linalg.matmul
func.func @heads(%x: tensor<?x96xf16>, %t: index) -> (tensor<?x6x16xf32>, tensor<?x3x16xf32>) {
  %zero = arith.constant 0.0 : f32
  %wq = gist.weight "q" : tensor<96x96xf16>
  %wk = gist.weight "k" : tensor<48x96xf16>
  %eq = tensor.empty(%t) : tensor<?x96xf32>
  %ek = tensor.empty(%t) : tensor<?x48xf32>
  %zq = linalg.fill ins(%zero : f32) outs(%eq : tensor<?x96xf32>) -> tensor<?x96xf32>
  %zk = linalg.fill ins(%zero : f32) outs(%ek : tensor<?x48xf32>) -> tensor<?x48xf32>
  %q = linalg.matmul indexing_maps = [#x, #w, #y] ins(%x, %wq : tensor<?x96xf16>, tensor<96x96xf16>)
      outs(%zq : tensor<?x96xf32>) -> tensor<?x96xf32>
  %k = linalg.matmul indexing_maps = [#x, #w, #y] ins(%x, %wk : tensor<?x96xf16>, tensor<48x96xf16>)
      outs(%zk : tensor<?x48xf32>) -> tensor<?x48xf32>
  %hq = tensor.expand_shape %q [[0], [1, 2]] output_shape [%t, 6, 16] : tensor<?x96xf32> into tensor<?x6x16xf32>
  %hk = tensor.expand_shape %k [[0], [1, 2]] output_shape [%t, 3, 16] : tensor<?x48xf32> into tensor<?x3x16xf32>
  return %hq, %hk : tensor<?x6x16xf32>, tensor<?x3x16xf32>
}

// A bias before the heads are cut is added to the slice.
// CHECK-LABEL: func @biased
// CHECK:         %[[P:.+]] = linalg.matmul {{.*}} -> tensor<?x144xf32>
// CHECK-NOT:     linalg.matmul
// CHECK-DAG:     %[[Q:.+]] = tensor.extract_slice %[[P]][0, 48]
// CHECK-DAG:     %[[K:.+]] = tensor.extract_slice %[[P]][0, 0]
// CHECK-DAG:     linalg.generic {{.*}} ins(%[[Q]], %{{.+}} : tensor<?x96xf32>, tensor<96xf32>)
// CHECK-DAG:     linalg.generic {{.*}} ins(%[[K]], %{{.+}} : tensor<?x48xf32>, tensor<48xf32>)
func.func @biased(%x: tensor<?x96xf16>, %bq: tensor<96xf32>, %bk: tensor<48xf32>, %t: index)
    -> (tensor<?x6x16xf32>, tensor<?x3x16xf32>) {
  %zero = arith.constant 0.0 : f32
  %wq = gist.weight "q" : tensor<96x96xf16>
  %wk = gist.weight "k" : tensor<48x96xf16>
  %eq = tensor.empty(%t) : tensor<?x96xf32>
  %ek = tensor.empty(%t) : tensor<?x48xf32>
  %zq = linalg.fill ins(%zero : f32) outs(%eq : tensor<?x96xf32>) -> tensor<?x96xf32>
  %zk = linalg.fill ins(%zero : f32) outs(%ek : tensor<?x48xf32>) -> tensor<?x48xf32>
  %q = linalg.matmul indexing_maps = [#x, #w, #y] ins(%x, %wq : tensor<?x96xf16>, tensor<96x96xf16>)
      outs(%zq : tensor<?x96xf32>) -> tensor<?x96xf32>
  %k = linalg.matmul indexing_maps = [#x, #w, #y] ins(%x, %wk : tensor<?x96xf16>, tensor<48x96xf16>)
      outs(%zk : tensor<?x48xf32>) -> tensor<?x48xf32>
  %q1 = linalg.generic {indexing_maps = [#row, #column, #row], iterator_types = ["parallel", "parallel"]}
      ins(%q, %bq : tensor<?x96xf32>, tensor<96xf32>) outs(%eq : tensor<?x96xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.addf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<?x96xf32>
  %k1 = linalg.generic {indexing_maps = [#row, #column, #row], iterator_types = ["parallel", "parallel"]}
      ins(%k, %bk : tensor<?x48xf32>, tensor<48xf32>) outs(%ek : tensor<?x48xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.addf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<?x48xf32>
  %hq = tensor.expand_shape %q1 [[0], [1, 2]] output_shape [%t, 6, 16] : tensor<?x96xf32> into tensor<?x6x16xf32>
  %hk = tensor.expand_shape %k1 [[0], [1, 2]] output_shape [%t, 3, 16] : tensor<?x48xf32> into tensor<?x3x16xf32>
  return %hq, %hk : tensor<?x6x16xf32>, tensor<?x3x16xf32>
}

// Quantised weights of one format are joined before they are expanded.
// CHECK-LABEL: func @quantised
// CHECK:         %[[B:.+]] = gist.weight "k+q" {{.*}} : tensor<112x3x20xi8>
// CHECK:         %[[F:.+]] = gist.dequantize %[[B]] format q4_1 : tensor<112x3x20xi8>
// CHECK:         linalg.matmul {{.*}} ins(%{{.+}}, %[[F]] : tensor<?x96xf16>, tensor<112x96xf32>)
// CHECK-NOT:     linalg.matmul
func.func @quantised(%x: tensor<?x96xf16>, %t: index) -> (tensor<?x4x16xf32>, tensor<?x3x16xf32>) {
  %zero = arith.constant 0.0 : f32
  %bq = gist.weight "q" : tensor<64x3x20xi8>
  %bk = gist.weight "k" : tensor<48x3x20xi8>
  %wq = gist.dequantize %bq format q4_1 : tensor<64x3x20xi8>
  %wk = gist.dequantize %bk format q4_1 : tensor<48x3x20xi8>
  %eq = tensor.empty(%t) : tensor<?x64xf32>
  %ek = tensor.empty(%t) : tensor<?x48xf32>
  %zq = linalg.fill ins(%zero : f32) outs(%eq : tensor<?x64xf32>) -> tensor<?x64xf32>
  %zk = linalg.fill ins(%zero : f32) outs(%ek : tensor<?x48xf32>) -> tensor<?x48xf32>
  %q = linalg.matmul indexing_maps = [#x, #w, #y] ins(%x, %wq : tensor<?x96xf16>, tensor<64x96xf32>)
      outs(%zq : tensor<?x64xf32>) -> tensor<?x64xf32>
  %k = linalg.matmul indexing_maps = [#x, #w, #y] ins(%x, %wk : tensor<?x96xf16>, tensor<48x96xf32>)
      outs(%zk : tensor<?x48xf32>) -> tensor<?x48xf32>
  %hq = tensor.expand_shape %q [[0], [1, 2]] output_shape [%t, 4, 16] : tensor<?x64xf32> into tensor<?x4x16xf32>
  %hk = tensor.expand_shape %k [[0], [1, 2]] output_shape [%t, 3, 16] : tensor<?x48xf32> into tensor<?x3x16xf32>
  return %hq, %hk : tensor<?x4x16xf32>, tensor<?x3x16xf32>
}

// A gate and what it lets through are as wide as each other and meet: one
// product, whose halves they are.
// CHECK-LABEL: func @gate
// CHECK-SAME:    %[[X:.+]]: tensor<?x96xf16>, %[[T:.+]]: index
// CHECK:         %[[W:.+]] = gist.weight "gate+up" {{.*}}["gate", "up"]{{.*}} : tensor<128x96xf16>
// CHECK:         %[[P:.+]] = linalg.matmul {{.*}} ins(%[[X]], %[[W]] : {{.*}} -> tensor<?x128xf32>
// CHECK-DAG:     %[[U:.+]] = tensor.extract_slice %[[P]][0, 64] [%[[T]], 64] [1, 1]
// CHECK-DAG:     %[[G:.+]] = tensor.extract_slice %[[P]][0, 0] [%[[T]], 64] [1, 1]
// CHECK:         %[[E:.+]] = linalg.exp ins(%[[G]]
// CHECK:         linalg.mul ins(%[[E]], %[[U]]
func.func @gate(%x: tensor<?x96xf16>, %t: index) -> tensor<?x64xf32> {
  %zero = arith.constant 0.0 : f32
  %wu = gist.weight "up" : tensor<64x96xf16>
  %wg = gist.weight "gate" : tensor<64x96xf16>
  %e = tensor.empty(%t) : tensor<?x64xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<?x64xf32>) -> tensor<?x64xf32>
  %u = linalg.matmul indexing_maps = [#x, #w, #y] ins(%x, %wu : tensor<?x96xf16>, tensor<64x96xf16>)
      outs(%z : tensor<?x64xf32>) -> tensor<?x64xf32>
  %g = linalg.matmul indexing_maps = [#x, #w, #y] ins(%x, %wg : tensor<?x96xf16>, tensor<64x96xf16>)
      outs(%z : tensor<?x64xf32>) -> tensor<?x64xf32>
  %a = linalg.exp ins(%g : tensor<?x64xf32>) outs(%e : tensor<?x64xf32>) -> tensor<?x64xf32>
  %m = linalg.mul ins(%a, %u : tensor<?x64xf32>, tensor<?x64xf32>) outs(%e : tensor<?x64xf32>) -> tensor<?x64xf32>
  return %m : tensor<?x64xf32>
}

// What is elementwise after each of them for itself is computed along with it.
// CHECK-LABEL: func @apart
// CHECK-COUNT-2: linalg.matmul
// CHECK-NOT:     tensor.extract_slice
func.func @apart(%x: tensor<?x96xf16>, %t: index) -> (tensor<?x64xf32>, tensor<?x64xf32>) {
  %zero = arith.constant 0.0 : f32
  %wa = gist.weight "a" : tensor<64x96xf16>
  %wb = gist.weight "b" : tensor<64x96xf16>
  %e = tensor.empty(%t) : tensor<?x64xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<?x64xf32>) -> tensor<?x64xf32>
  %a = linalg.matmul indexing_maps = [#x, #w, #y] ins(%x, %wa : tensor<?x96xf16>, tensor<64x96xf16>)
      outs(%z : tensor<?x64xf32>) -> tensor<?x64xf32>
  %b = linalg.matmul indexing_maps = [#x, #w, #y] ins(%x, %wb : tensor<?x96xf16>, tensor<64x96xf16>)
      outs(%z : tensor<?x64xf32>) -> tensor<?x64xf32>
  %f = linalg.exp ins(%a : tensor<?x64xf32>) outs(%e : tensor<?x64xf32>) -> tensor<?x64xf32>
  %g = linalg.exp ins(%b : tensor<?x64xf32>) outs(%e : tensor<?x64xf32>) -> tensor<?x64xf32>
  return %f, %g : tensor<?x64xf32>, tensor<?x64xf32>
}

// Results of different types cannot be slices of one.
// CHECK-LABEL: func @types
// CHECK:         linalg.matmul {{.*}} -> tensor<?x96xf32>
// CHECK:         linalg.matmul {{.*}} -> tensor<?x48xf16>
func.func @types(%x: tensor<?x96xf16>, %t: index) -> (tensor<?x6x16xf32>, tensor<?x3x16xf16>) {
  %zero = arith.constant 0.0 : f32
  %half = arith.constant 0.0 : f16
  %wq = gist.weight "q" : tensor<96x96xf16>
  %wk = gist.weight "k" : tensor<48x96xf16>
  %eq = tensor.empty(%t) : tensor<?x96xf32>
  %ek = tensor.empty(%t) : tensor<?x48xf16>
  %zq = linalg.fill ins(%zero : f32) outs(%eq : tensor<?x96xf32>) -> tensor<?x96xf32>
  %zk = linalg.fill ins(%half : f16) outs(%ek : tensor<?x48xf16>) -> tensor<?x48xf16>
  %q = linalg.matmul indexing_maps = [#x, #w, #y] ins(%x, %wq : tensor<?x96xf16>, tensor<96x96xf16>)
      outs(%zq : tensor<?x96xf32>) -> tensor<?x96xf32>
  %k = linalg.matmul indexing_maps = [#x, #w, #y] ins(%x, %wk : tensor<?x96xf16>, tensor<48x96xf16>)
      outs(%zk : tensor<?x48xf16>) -> tensor<?x48xf16>
  %hq = tensor.expand_shape %q [[0], [1, 2]] output_shape [%t, 6, 16] : tensor<?x96xf32> into tensor<?x6x16xf32>
  %hk = tensor.expand_shape %k [[0], [1, 2]] output_shape [%t, 3, 16] : tensor<?x48xf16> into tensor<?x3x16xf16>
  return %hq, %hk : tensor<?x6x16xf32>, tensor<?x3x16xf16>
}
