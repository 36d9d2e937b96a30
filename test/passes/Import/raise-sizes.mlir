// RUN: gist-opt %s -gist-raise-sizes -canonicalize -split-input-file -verify-diagnostics | FileCheck %s

// The batch of one is gone from the argument. 3 T^2 / T is 3 T, and both sizes of
// the result are one value.
// CHECK-LABEL: func @sizes(%arg0: tensor<?xi64>)
// CHECK-DAG:     %[[C3:.+]] = arith.constant 3 : index
// CHECK-DAG:     %[[T:.+]] = tensor.dim %arg0
// CHECK:         %[[T3:.+]] = arith.muli %[[T]], %[[C3]] : index
// CHECK-NOT:     cf.assert
// CHECK:         tensor.empty(%[[T3]], %[[T3]]) : tensor<?x?xf32>
func.func @sizes(%x: tensor<1x?xi64>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : i64
  %c3 = arith.constant 3 : i64
  %c1 = arith.constant 1 : index
  %d = tensor.dim %x, %c1 : tensor<1x?xi64>
  %i = arith.index_cast %d : index to i64
  %positive = arith.cmpi sge, %i, %c0 : i64
  cf.assert %positive, "sizes are not negative"
  %negative = arith.cmpi slt, %i, %c0 : i64
  %square = arith.muli %i, %i : i64
  %many = arith.muli %square, %c3 : i64
  %same = arith.divsi %many, %i : i64
  %chosen = arith.select %negative, %c3, %same : i64
  %a = arith.index_cast %chosen : i64 to index
  %three = arith.muli %i, %c3 : i64
  %b = arith.index_cast %three : i64 to index
  %e = tensor.empty(%a, %b) : tensor<?x?xf32>
  return %e : tensor<?x?xf32>
}

// -----

// All dynamic sizes of arguments are the same number.
// CHECK-LABEL: func @two_arguments
// CHECK-NOT:     cf.assert
func.func @two_arguments(%x: tensor<?x4xf32>, %y: tensor<?x4xf32>) -> index {
  %c0 = arith.constant 0 : index
  %a = tensor.dim %x, %c0 : tensor<?x4xf32>
  %b = tensor.dim %y, %c0 : tensor<?x4xf32>
  %equal = arith.cmpi eq, %a, %b : index
  cf.assert %equal, "mismatched size for broadcast"
  return %b : index
}

// -----

// An index that data decides is moved into its table of 7 rows.
// CHECK-LABEL: func @gather
// CHECK-DAG:     %[[C0:.+]] = arith.constant 0 : index
// CHECK-DAG:     %[[C6:.+]] = arith.constant 6 : index
// CHECK:         %[[AT:.+]] = arith.index_cast %{{.+}} : i64 to index
// CHECK-NOT:     cf.assert
// CHECK:         %[[LOW:.+]] = arith.maxsi %[[AT]], %[[C0]]
// CHECK:         %[[IN:.+]] = arith.minsi %[[LOW]], %[[C6]]
// CHECK:         tensor.extract %{{.+}}[%[[IN]], %{{.+}}]
func.func @gather(%ids: tensor<3xi64>, %table: tensor<7x4xf32>) -> tensor<3x4xf32> {
  %c7 = arith.constant 7 : index
  %e = tensor.empty() : tensor<3x4xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%ids : tensor<3xi64>) outs(%e : tensor<3x4xf32>) {
  ^bb0(%in: i64, %out: f32):
    %at = arith.index_cast %in : i64 to index
    %j = linalg.index 1 : index
    %inside = arith.cmpi slt, %at, %c7 : index
    cf.assert %inside, "index must be smaller than dim size"
    %v = tensor.extract %table[%at, %j] : tensor<7x4xf32>
    linalg.yield %v : f32
  } -> tensor<3x4xf32>
  return %r : tensor<3x4xf32>
}

// -----

// expected-error @+1 {{'func.func' op has an argument of type 'tensor<?x?xi64>'; one dimension may be dynamic, the number of tokens, and those before it must be 1}}
func.func @two_dynamic(%x: tensor<?x?xi64>) {
  return
}

// -----

// expected-error @+1 {{'func.func' op has an argument of type 'tensor<2x?xi64>'; one dimension may be dynamic}}
func.func @batch_of_two(%x: tensor<2x?xi64>) {
  return
}

// -----

func.func @undecided(%x: tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %d = tensor.dim %x, %c0 : tensor<?xf32>
  %few = arith.cmpi sle, %d, %c8 : index
  // expected-error @+1 {{'cf.assert' op says "at most eight", and the sizes of the arguments do not decide it}}
  cf.assert %few, "at most eight"
  return
}

// -----

func.func @never(%x: tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %d = tensor.dim %x, %c0 : tensor<?xf32>
  %none = arith.cmpi slt, %d, %c0 : index
  // expected-error @+1 {{'cf.assert' op says "fewer than none", which never holds here}}
  cf.assert %none, "fewer than none"
  return
}

// -----

// expected-error @+1 {{'func.func' op returns argument 1 as it is; leave it out of the results}}
func.func @returned(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %r = arith.addf %x, %y : tensor<4xf32>
  return %r, %y : tensor<4xf32>, tensor<4xf32>
}
