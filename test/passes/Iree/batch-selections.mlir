// RUN: gist-opt %s -allow-unregistered-dialect -gist-batch-selections -split-input-file | FileCheck %s
// RUN: not gist-opt %s -gist-batch-selections -split-input-file 2>&1 | FileCheck %s --check-prefix=CLOSED
// CLOSED: error: ops of IREE are not registered: allow unregistered dialects

// All cosines at once, a scan in one dispatch, and loops without an order. The
// number of kept tokens is in a tensor of its own.
// CHECK-LABEL: func @covering
// CHECK-SAME:    %[[X:.+]]: tensor<?x3x8xf32>
// CHECK:         %[[ROWS:.+]] = linalg.transpose ins(%[[X]]
// CHECK:         linalg.batch_matmul {{.*}} ins(%{{.*}}, %{{.*}} : tensor<3x?x8xf32>, tensor<3x?x8xf32>) {{.*}} -> tensor<3x?x?xf32>
// CHECK:         math.sqrt
// CHECK-NOT:     math.absf
// CHECK:         %[[KEPT:.+]]:3 = "flow.dispatch.workgroups"
// Token t is compared with the tokens that have been kept so far.
// CHECK:         scf.for
// CHECK:         scf.for
// CHECK:         scf.for
// CHECK:         tensor.extract
// CHECK:         arith.cmpf oge
// CHECK:         "flow.return"
// CHECK:         -> (tensor<3x?xi32>, tensor<3x?xi32>, tensor<3xi32>)
// CHECK:         linalg.generic
// CHECK:         gist.pack_selection %[[KEPT]]#1, %[[KEPT]]#2, %{{.*}}, %{{.*}}
// CHECK-NOT:     gist.gram_select
func.func @covering(%x: tensor<?x3x8xf32>) -> !gist.selection<3x?> {
  %s = gist.gram_select %x, 3.0e-1 similarity signed causal : tensor<?x3x8xf32>
  return %s : !gist.selection<3x?>
}

// -----

// Nothing depends on what is kept: the dispatch only makes a list.
// CHECK-LABEL: func @all
// CHECK:         tensor.expand_shape %{{.*}} {{\[\[}}0, 1], [2]] {{.*}} : tensor<12x8xf32> into tensor<1x12x8xf32>
// CHECK:         math.absf
// CHECK:         arith.cmpf oge
// CHECK:         "flow.dispatch.workgroups"
// CHECK-NOT:     arith.cmpf oge
// CHECK:         "flow.return"
// CHECK:         tensor.collapse_shape %{{.*}} [] : tensor<1xi32> into tensor<i32>
// CHECK:         gist.pack_selection {{.*}} : tensor<12xi32>, tensor<i32>, tensor<12xi32>, tensor<12xi32>
func.func @all(%x: tensor<12x8xf32>) -> !gist.selection<12> {
  %s = gist.gram_select %x, 3.0e-1 against all : tensor<12x8xf32>
  return %s : !gist.selection<12>
}

// -----

// CHECK-LABEL: func @paper
// CHECK:         gist.unpack_selection
// CHECK:         "flow.dispatch.workgroups"
// CHECK-NOT:     gist.cascade_update
// CHECK:         return
func.func @paper(%x: tensor<?x8xf32>, %s: !gist.selection<?>)
    -> (!gist.selection<?>, tensor<i32>, tensor<i32>) {
  %n, %r, %a = gist.cascade_update %x, %s, 3.0e-1 rule paper : tensor<?x8xf32>, !gist.selection<?>
  return %n, %r, %a : !gist.selection<?>, tensor<i32>, tensor<i32>
}

// -----

// Nothing is computed, so nothing is done here.
// CHECK-LABEL: func @inherit
// CHECK-NEXT:    gist.cascade_update
func.func @inherit(%x: tensor<?x8xf32>, %s: !gist.selection<?>) -> !gist.selection<?> {
  %n, %r, %a = gist.cascade_update %x, %s, 3.0e-1 rule inherit : tensor<?x8xf32>, !gist.selection<?>
  return %n : !gist.selection<?>
}

// -----

// CHECK-LABEL: func @ragged
// CHECK-NEXT:    gist.gram_select
func.func @ragged(%x: tensor<?x8xf32>, %starts: tensor<3xi32>) -> !gist.selection<?> {
  %s = gist.gram_select %x, 3.0e-1 offsets(%starts : tensor<3xi32>) : tensor<?x8xf32>
  return %s : !gist.selection<?>
}
