// RUN: gist-opt %s -gist-store-booleans -split-input-file -verify-diagnostics | FileCheck %s

#id = affine_map<(d0) -> (d0)>

// CHECK-LABEL: func @mask(%arg0: tensor<?xi64>, %arg1: tensor<?xi8>) -> tensor<?xi8>
func.func @mask(%x: tensor<?xi64>, %other: tensor<?xi1>) -> tensor<?xi1> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0 : i64
  %true = arith.constant true
  %t = tensor.dim %x, %c0 : tensor<?xi64>
  // CHECK: %[[E:.+]] = tensor.empty(%{{.+}}) : tensor<?xi8>
  %e = tensor.empty(%t) : tensor<?xi1>
  // CHECK: linalg.generic {{.+}} outs(%[[E]] : tensor<?xi8>)
  // CHECK:   %[[B:.+]] = arith.cmpi sgt
  // CHECK:   %[[Y:.+]] = arith.extui %[[B]] : i1 to i8
  // CHECK:   linalg.yield %[[Y]] : i8
  %m = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<?xi64>) outs(%e : tensor<?xi1>) {
  ^bb0(%in: i64, %out: i1):
    %b = arith.cmpi sgt, %in, %zero : i64
    linalg.yield %b : i1
  } -> tensor<?xi1>
  // CHECK: ^bb0(%[[L:.+]]: i8, %[[R:.+]]: i8, %{{.+}}: i8):
  // CHECK-DAG: %[[LB:.+]] = arith.cmpi ne, %[[L]], %{{.+}} : i8
  // CHECK-DAG: %[[RB:.+]] = arith.cmpi ne, %[[R]], %{{.+}} : i8
  // CHECK:   arith.andi %[[LB]], %[[RB]] : i1
  %r = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]} ins(%m, %other : tensor<?xi1>, tensor<?xi1>) outs(%e : tensor<?xi1>) {
  ^bb0(%a: i1, %b: i1, %out: i1):
    %c = arith.andi %a, %b : i1
    linalg.yield %c : i1
  } -> tensor<?xi1>
  return %r : tensor<?xi1>
}

// -----

func.func @several() -> tensor<2xi1> {
  // expected-error @+1 {{'arith.constant' op is a constant of several booleans; -gist-raise-weights stores those}}
  %b = arith.constant dense<[true, false]> : tensor<2xi1>
  return %b : tensor<2xi1>
}
