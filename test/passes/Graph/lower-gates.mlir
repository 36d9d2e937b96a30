// RUN: gist-opt %s -gist-lower-gates | FileCheck %s
// RUN: gist-opt %s -gist-lower-gates=guards=false | FileCheck %s --check-prefix=ALL

// The image serves closed rows, the low weight level 1 and the weight level 2,
// each product where its rows are; the weight meets x, the low one the residual.

// CHECK-LABEL: func.func @graded(
// CHECK-SAME: %[[X:[^:]*]]: tensor<?x96xf32>, %[[V:[^:]*]]: tensor<96x32xf32>, %[[W:[^:]*]]: tensor<24x96xf16>, %[[M:[^:]*]]: tensor<24x32xf32>,
// CHECK-SAME: %[[LOW:[^:]*]]: tensor<24x96xf32>, %[[BIAS:[^:]*]]: tensor<24xf32>)
// CHECK: %[[VT:.*]] = linalg.generic {{.*}} ins(%[[V]] : tensor<96x32xf32>)
// CHECK: %[[G:.*]] = linalg.matmul {{.*}} ins(%[[X]], %[[VT]] :
// CHECK: %[[INSIDE:.*]] = linalg.matmul {{.*}} ins(%[[G]], %[[V]] :
// CHECK: %[[RES:.*]] = linalg.generic {{.*}} ins(%[[INSIDE]], %[[X]] :
// CHECK: arith.subf
// CHECK: %[[A:.*]] = gist.guarded_matmul %[[G]], %[[M]] where %[[CLOSED:[0-9a-z_]+]]
// CHECK: %[[B:.*]] = gist.guarded_matmul %[[RES]], %[[LOW]] where %[[ONE:[0-9a-z_]+]]
// CHECK: %[[AB:.*]] = linalg.generic {{.*}} ins(%[[B]], %[[A]] :
// CHECK: %[[C:.*]] = gist.guarded_matmul %[[X]], %[[W]] where %[[OPEN:[0-9a-z_]+]]
// CHECK: %[[ABC:.*]] = linalg.generic {{.*}} ins(%[[C]], %[[AB]] :
// CHECK: linalg.generic {{.*}} ins(%[[ABC]], %[[BIAS]] :

// ALL-LABEL: func.func @graded(
// ALL-NOT: gist.guarded_matmul
// ALL-COUNT-5: linalg.matmul
// ALL-NOT: linalg.matmul
func.func @graded(%x: tensor<?x96xf32>, %v: tensor<96x32xf32>, %w: tensor<24x96xf16>,
    %m: tensor<24x32xf32>, %low: tensor<24x96xf32>, %bias: tensor<24xf32>) -> (tensor<?x24xf32>, tensor<?xi8>) {
  %y, %level = gist.gated_projection %x, %v, 5.0e-1 weights(%w : tensor<24x96xf16>) images(%m : tensor<24x32xf32>)
      biases(%bias : tensor<24xf32>) low 1.25e-1(%low : tensor<24x96xf32>) : tensor<?x96xf32>, tensor<96x32xf32>
  return %y, %level : tensor<?x24xf32>, tensor<?xi8>
}

// Rows of f16 are computed by the definition.
// CHECK-LABEL: func.func @half(
// CHECK: gist.gated_projection
func.func @half(%x: tensor<?x96xf16>, %v: tensor<96x32xf16>, %w: tensor<24x96xf16>, %m: tensor<24x32xf16>)
    -> tensor<?x24xf16> {
  %y, %level = gist.gated_projection %x, %v, 5.0e-1 weights(%w : tensor<24x96xf16>) images(%m : tensor<24x32xf16>)
      : tensor<?x96xf16>, tensor<96x32xf16>
  return %y : tensor<?x24xf16>
}
