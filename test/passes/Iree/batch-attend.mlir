// RUN: gist-opt %s -allow-unregistered-dialect -gist-batch-attention -split-input-file | FileCheck %s

// Representatives see each other; then every token has the output of its own.
// CHECK-LABEL: func @copy
// CHECK:         linalg.batch_matmul
// CHECK:         arith.cmpi eq
// CHECK:         arith.cmpi sle
// CHECK:         linalg.batch_matmul
// CHECK:         tensor.extract
// CHECK-NOT:     gist.attend
// CHECK-NOT:     flow.dispatch
// CHECK:         return
func.func @copy(%q: tensor<?x6x4xf32>, %k: tensor<?x2x4xf32>, %v: tensor<?x2x4xf32>,
                %s: !gist.selection<2x?>) -> tensor<?x6x4xf32> {
  %o = gist.attend %q, %k, %v on %s mode copy causal
      : tensor<?x6x4xf32>, tensor<?x2x4xf32>, tensor<?x2x4xf32>, !gist.selection<2x?>
  return %o : tensor<?x6x4xf32>
}

// -----

// Members have the rows of their representatives, so that they need not be
// counted: rows are gathered before the products.
// CHECK-LABEL: func @copy_log_count
// CHECK:         tensor.extract
// CHECK:         tensor.extract
// CHECK:         linalg.batch_matmul
// CHECK-NOT:     math.log
// CHECK:         return
func.func @copy_log_count(%q: tensor<?x6x4xf32>, %k: tensor<?x2x4xf32>,
                          %v: tensor<?x2x4xf32>, %s: !gist.selection<?>)
    -> tensor<?x6x4xf32> {
  %o = gist.attend %q, %k, %v on %s mode copy log_count
      : tensor<?x6x4xf32>, tensor<?x2x4xf32>, tensor<?x2x4xf32>, !gist.selection<?>
  return %o : tensor<?x6x4xf32>
}

// -----

// A block of 8 queries sees clusters of what is 16 before it: numbers of members
// are for each block.
// CHECK-LABEL: func @representatives
// CHECK:         %[[BLOCKS:.+]] = arith.ceildivui %{{.*}}, %c8
// CHECK:         tensor.empty(%[[BLOCKS]], %{{.*}}) : tensor<2x?x?xi32>
// CHECK:         linalg.batch_matmul
// CHECK:         math.log
// CHECK-NOT:     flow.dispatch
// CHECK:         return
func.func @representatives(%q: tensor<?x6x4xf32>, %k: tensor<?x2x4xf32>,
                           %v: tensor<?x2x4xf32>, %s: !gist.selection<2x?>)
    -> tensor<?x6x4xf32> {
  %o = gist.attend %q, %k, %v on %s mode keys causal window 16 block 8 merge representative
      : tensor<?x6x4xf32>, tensor<?x2x4xf32>, tensor<?x2x4xf32>, !gist.selection<2x?>
  return %o : tensor<?x6x4xf32>
}

// -----

// Products with members become their mean, in place.
// CHECK-LABEL: func @means
// CHECK:         %[[PRODUCTS:.+]] = tensor.expand_shape %{{.*}} : tensor<2x?x?xf32> into tensor<2x3x?x?xf32>
// CHECK:         "flow.dispatch.workgroups"(%{{[^,]*}}, %[[PRODUCTS]],
// CHECK:         arith.divf
// CHECK:         "flow.return"
// CHECK-NOT:     math.log
// CHECK:         linalg.batch_matmul
func.func @means(%q: tensor<?x6x4xf32>, %k: tensor<?x2x4xf32>, %v: tensor<?x2x4xf32>,
                 %s: !gist.selection<2x?>) -> tensor<?x6x4xf32> {
  %o = gist.attend %q, %k, %v on %s mode keys causal window 16 block 8
      : tensor<?x6x4xf32>, tensor<?x2x4xf32>, tensor<?x2x4xf32>, !gist.selection<2x?>
  return %o : tensor<?x6x4xf32>
}

// -----

// CHECK-LABEL: func @ragged
// CHECK-NEXT:    gist.attend
func.func @ragged(%q: tensor<?x6x4xf32>, %k: tensor<?x2x4xf32>, %v: tensor<?x2x4xf32>,
                  %s: !gist.selection<2x?>, %starts: tensor<3xi32>) -> tensor<?x6x4xf32> {
  %o = gist.attend %q, %k, %v on %s mode copy offsets(%starts : tensor<3xi32>)
      : tensor<?x6x4xf32>, tensor<?x2x4xf32>, tensor<?x2x4xf32>, !gist.selection<2x?>
  return %o : tensor<?x6x4xf32>
}
