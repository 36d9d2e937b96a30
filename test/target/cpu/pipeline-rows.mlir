// RUN: gist-opt %s -gist-set-target="triple=aarch64-linux-gnu cpu=neoverse-v1" -gist-select-tile-config \
// RUN:   -gist-tile-and-distribute -canonicalize -split-input-file | FileCheck %s

// Rows of a table by position, and rows into a cache: both move with the tile.
// CHECK-DAG: #[[SHIFT:.+]] = affine_map<(d0)[s0] -> (d0 + s0)>
// CHECK-LABEL: func private @into_cache
// CHECK-SAME:    %[[X:.+]]: tensor<?x8xf32> {bufferization.writable = false}, %[[T:.+]]: index, %[[TABLE:.+]]: tensor<64x8xf32> {{.+}}, %[[PAST:.+]]: index, %[[LAYER:.+]]: index, %[[CACHE:.+]]: tensor<2x64x8xf32>)
// CHECK:         scf.forall (%[[I:.+]]) = (0) to (%{{.+}}) step (4) shared_outs(%[[OUT:.+]] = %[[CACHE]])
// CHECK:           %[[AT:.+]] = affine.apply #[[SHIFT]](%[[I]])[%[[PAST]]]
// CHECK:           tensor.extract_slice %[[TABLE]][%[[AT]], 0]
// CHECK:           %[[Y:.+]] = linalg.generic
// CHECK:           tensor.parallel_insert_slice %[[Y]] into %[[OUT]][%[[LAYER]], %{{.+}}, 0] [1, %{{.+}}, 8]
func.func private @into_cache(%x: tensor<?x8xf32>, %t: index, %table: tensor<64x8xf32>, %past: index,
    %layer: index, %cache: tensor<2x64x8xf32>) -> tensor<2x64x8xf32>
    attributes {gist.kernel = #gist.kernel<kind = rows, outputs = 1>} {
  %rows = tensor.extract_slice %table[%past, 0] [%t, 8] [1, 1] : tensor<64x8xf32> to tensor<?x8xf32>
  %e = tensor.empty(%t) : tensor<?x8xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>,
      affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%x, %rows : tensor<?x8xf32>, tensor<?x8xf32>) outs(%e : tensor<?x8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %1 = arith.mulf %a, %b : f32
    linalg.yield %1 : f32
  } -> tensor<?x8xf32>
  %c = tensor.insert_slice %y into %cache[%layer, %past, 0] [1, %t, 8] [1, 1, 1]
      : tensor<?x8xf32> into tensor<2x64x8xf32>
  return %c : tensor<2x64x8xf32>
}

// -----

// A row keeps its number.
// CHECK-LABEL: func private @numbers
// CHECK:         scf.forall (%[[I:.+]]) =
// CHECK:           linalg.generic
// CHECK:             %[[N:.+]] = linalg.index 0
// CHECK:             arith.addi %[[N]], %[[I]]
func.func private @numbers(%x: tensor<?x8xf32>, %out: tensor<?x8xi64>) -> tensor<?x8xi64>
    attributes {gist.kernel = #gist.kernel<kind = rows, outputs = 1>} {
  %y = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<?x8xf32>) outs(%out : tensor<?x8xi64>) {
  ^bb0(%a: f32, %o: i64):
    %n = linalg.index 0 : index
    %1 = arith.index_cast %n : index to i64
    linalg.yield %1 : i64
  } -> tensor<?x8xi64>
  return %y : tensor<?x8xi64>
}

// -----

// A sum over the rows cannot be cut into rows: one workgroup.
// CHECK-LABEL: func private @sum_of_rows
// CHECK-SAME:    gist.grid = []
// CHECK-NOT:     scf.forall
func.func private @sum_of_rows(%x: tensor<?x8xf32>, %out: tensor<8xf32>) -> tensor<8xf32>
    attributes {gist.kernel = #gist.kernel<kind = rows, outputs = 1>} {
  %zero = arith.constant 0.0 : f32
  %f = linalg.fill ins(%zero : f32) outs(%out : tensor<8xf32>) -> tensor<8xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(n, m) -> (m, n)>, affine_map<(n, m) -> (n)>],
      iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<?x8xf32>) outs(%f : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %1 = arith.addf %a, %o : f32
    linalg.yield %1 : f32
  } -> tensor<8xf32>
  return %y : tensor<8xf32>
}

// -----

// A bias goes into a cache of f32 as it is: how many rows there are is told by the
// cache's slice, so that only rows of a tile are computed.
// CHECK-LABEL: func private @biased_into_cache
// CHECK-NOT:     linalg.generic
// CHECK:         scf.forall
// CHECK:           linalg.generic
// CHECK:           tensor.parallel_insert_slice
// CHECK-NOT:     linalg.generic
func.func private @biased_into_cache(%x: tensor<?x24xf32>, %all: index, %t: index, %bias: tensor<8xf32>, %past: index,
    %layer: index, %cache: tensor<2x64x2x4xf32>) -> tensor<2x64x2x4xf32>
    attributes {gist.kernel = #gist.kernel<kind = rows, outputs = 1>} {
  %v = tensor.extract_slice %x[0, 16] [%all, 8] [1, 1] : tensor<?x24xf32> to tensor<?x8xf32>
  %e = tensor.empty(%t) : tensor<?x8xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (n)>,
      affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]}
      ins(%v, %bias : tensor<?x8xf32>, tensor<8xf32>) outs(%e : tensor<?x8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %1 = arith.addf %a, %b : f32
    linalg.yield %1 : f32
  } -> tensor<?x8xf32>
  %heads = tensor.expand_shape %y [[0], [1, 2]] output_shape [%t, 2, 4] : tensor<?x8xf32> into tensor<?x2x4xf32>
  %c = tensor.insert_slice %heads into %cache[%layer, %past, 0, 0] [1, %t, 2, 4] [1, 1, 1, 1]
      : tensor<?x2x4xf32> into tensor<2x64x2x4xf32>
  return %c : tensor<2x64x2x4xf32>
}
