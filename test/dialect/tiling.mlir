// Tiles of each op that has a TilingInterface, and what has none.
// RUN: gist-opt %s -transform-interpreter -canonicalize -cse -split-input-file -verify-diagnostics | FileCheck %s

// A tile of queries reads the keys up to its last query: with 100 queries that
// are the last of 132 keys, the tile at %i needs keys 0 … %i + 32 + 32 - 1.
// CHECK-DAG: #[[HEADS:.+]] = affine_map<(d0) -> (d0 * 2)>
// CHECK-DAG: #[[KEYS:.+]] = affine_map<(d0, d1) -> (d0 + d1 + 32)>
// CHECK-LABEL: func @attention
// CHECK-SAME:    %[[Q:[a-z0-9]+]]: tensor<100x6x64xf32>, %[[K:[a-z0-9]+]]: tensor<132x3x64xf32>, %[[V:[a-z0-9]+]]: tensor<132x3x48xf32>
// CHECK: scf.for %[[I:[a-z0-9]+]] = %{{.+}} to %{{.+}} step
// CHECK:   scf.for %[[H:[a-z0-9]+]] = %{{.+}} to %{{.+}} step {{.*}} iter_args(%[[OUT:.+]] =
// CHECK:     %[[N:.+]] = affine.min
// CHECK:     %[[QH:.+]] = affine.apply #[[HEADS]](%[[H]])
// CHECK:     %[[S:.+]] = affine.apply #[[KEYS]](%[[I]], %[[N]])
// CHECK:     %[[QT:.+]] = tensor.extract_slice %[[Q]][%[[I]], %[[QH]], 0] [%[[N]], 2, 64]
// CHECK:     %[[KT:.+]] = tensor.extract_slice %[[K]][0, %[[H]], 0] [%[[S]], 1, 64]
// CHECK:     %[[VT:.+]] = tensor.extract_slice %[[V]][0, %[[H]], 0] [%[[S]], 1, 48]
// CHECK:     %[[O:.+]] = gist.attention %[[QT]], %[[KT]], %[[VT]] causal :
// CHECK:     tensor.insert_slice %[[O]] into %[[OUT]][%[[I]], %[[QH]], 0] [%[[N]], 2, 48]
func.func @attention(%q: tensor<100x6x64xf32>, %k: tensor<132x3x64xf32>, %v: tensor<132x3x48xf32>) -> tensor<100x6x48xf32> {
  %o = gist.attention %q, %k, %v causal : tensor<100x6x64xf32>, tensor<132x3x64xf32>, tensor<132x3x48xf32>
  return %o : tensor<100x6x48xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["gist.attention"]} in %root : (!transform.any_op) -> !transform.any_op
    %t, %l:2 = transform.structured.tile_using_for %op tile_sizes [32, 1] : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

// Not causal: every tile reads every key. The mask is cut with the queries.
// CHECK-LABEL: func @attention_mask
// CHECK-SAME:    %[[Q:[a-z0-9]+]]: tensor<?x6x64xf32>, %[[K:[a-z0-9]+]]: tensor<?x3x64xf32>, %[[M:[a-z0-9]+]]: tensor<?x?xf32>
// CHECK:   scf.for %[[I:[a-z0-9]+]] =
// CHECK:     %[[N:.+]] = affine.min
// CHECK:     %[[S:.+]] = tensor.dim %[[K]], %c0
// CHECK:     tensor.extract_slice %[[K]][0, 0, 0] [%[[S]], 3, 64]
// CHECK:     %[[MT:.+]] = tensor.extract_slice %[[M]][%[[I]], 0] [%[[N]], %[[S]]]
// CHECK:     gist.attention {{.*}} mask(%[[MT]] : tensor<?x?xf32>) :
func.func @attention_mask(%q: tensor<?x6x64xf32>, %k: tensor<?x3x64xf32>, %m: tensor<?x?xf32>) -> tensor<?x6x64xf32> {
  %o = gist.attention %q, %k, %k mask(%m : tensor<?x?xf32>) : tensor<?x6x64xf32>, tensor<?x3x64xf32>, tensor<?x3x64xf32>
  return %o : tensor<?x6x64xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["gist.attention"]} in %root : (!transform.any_op) -> !transform.any_op
    %t, %l = transform.structured.tile_using_for %op tile_sizes [32] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

// A ragged batch is tiled over KV heads alone.
// CHECK-LABEL: func @attention_ragged
// CHECK: scf.for %[[H:[a-z0-9]+]] =
// CHECK:   tensor.extract_slice %{{.+}}[0, %{{.+}}, 0] [%{{.+}}, 4, 64]
// CHECK:   gist.attention {{.*}} offsets(
func.func @attention_ragged(%q: tensor<?x8x64xf32>, %k: tensor<?x4x64xf32>, %o: tensor<3xi32>) -> tensor<?x8x64xf32> {
  %r = gist.attention %q, %k, %k causal offsets(%o, %o : tensor<3xi32>, tensor<3xi32>) : tensor<?x8x64xf32>, tensor<?x4x64xf32>, tensor<?x4x64xf32>
  return %r : tensor<?x8x64xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["gist.attention"]} in %root : (!transform.any_op) -> !transform.any_op
    %t, %l = transform.structured.tile_using_for %op tile_sizes [2] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

// Six blocks of 32 values each: two of them are 64 columns of the result.
// CHECK-LABEL: func @dequantize
// CHECK-SAME:    %[[B:.+]]: tensor<192x6x20xi8>
// CHECK: scf.for %[[I:[a-z0-9]+]] =
// CHECK:   scf.for %[[J:[a-z0-9]+]] = {{.*}} iter_args(%[[OUT:.+]] =
// CHECK:     %[[BT:.+]] = tensor.extract_slice %[[B]][%[[I]], %[[J]], 0] [16, 2, 20]
// CHECK:     %[[F:.+]] = gist.dequantize %[[BT]] format q4_1 : tensor<16x2x20xi8>
// CHECK:     %[[C:.+]] = affine.apply #{{.+}}(%[[J]])
// CHECK:     tensor.insert_slice %[[F]] into %[[OUT]][%[[I]], %[[C]]] [16, 64]
func.func @dequantize(%b: tensor<192x6x20xi8>) -> tensor<192x192xf32> {
  %f = gist.dequantize %b format q4_1 : tensor<192x6x20xi8>
  return %f : tensor<192x192xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["gist.dequantize"]} in %root : (!transform.any_op) -> !transform.any_op
    %t, %l:2 = transform.structured.tile_using_for %op tile_sizes [16, 2] : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

// A matmul that reads dequantised weights takes the tile it needs.
// CHECK-LABEL: func @fuse_dequantize
// CHECK: scf.for
// CHECK:   %[[B:.+]] = tensor.extract_slice %{{.+}}[%{{.+}}, 0, 0] [16, 6, 20]
// CHECK:   %[[F:.+]] = gist.dequantize %[[B]] format q4_1 : tensor<16x6x20xi8>
// CHECK:   linalg.matmul {{.*}} ins(%{{.+}}, %[[F]] :
func.func @fuse_dequantize(%x: tensor<7x192xf32>, %b: tensor<64x6x20xi8>, %o: tensor<7x64xf32>) -> tensor<7x64xf32> {
  %f = gist.dequantize %b format q4_1 : tensor<64x6x20xi8>
  %y = linalg.matmul
      indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%x, %f : tensor<7x192xf32>, tensor<64x192xf32>) outs(%o : tensor<7x64xf32>) -> tensor<7x64xf32>
  return %y : tensor<7x64xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["linalg.matmul"]} in %root : (!transform.any_op) -> !transform.any_op
    %t, %l = transform.structured.fuse %op tile_sizes [0, 16] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}
