// RUN: gist-opt %s -split-input-file -gist-kernels | FileCheck %s

// A few tokens: one kernel each, and equal ones are kept once.

// CHECK-LABEL: func.func @few
// CHECK-NOT:     @clear
// CHECK:         %[[P:.*]]:2 = gist.dispatch @gated_projection_0(%arg0, %arg1, %arg2, %arg3 :
// CHECK-SAME:      outs({{.*}} : tensor<2x96xf16>, tensor<2xi8>)
// CHECK:         %[[Q:.*]]:2 = gist.dispatch @gated_projection_0(%arg0, %arg1, %arg4, %arg3 :
// CHECK-NOT:     gist.
// CHECK:         return %[[P]]#0, %[[Q]]#0, %[[Q]]#1
// CHECK:       func.func private @gated_projection_0(
// CHECK-SAME:    gist.kernel = #gist.kernel<kind = gated_projection, outputs = 2>
// CHECK:         gist.gated_projection
func.func @few(%x: tensor<2x64xf16>, %v: tensor<64x16xf16>, %w: tensor<96x64xf16>,
    %m: tensor<96x16xf16>, %u: tensor<96x64xf16>)
    -> (tensor<2x96xf16>, tensor<2x96xf16>, tensor<2xi8>) {
  %y, %l = gist.gated_projection %x, %v, 1.0e-1 weights(%w : tensor<96x64xf16>)
      images(%m : tensor<96x16xf16>) : tensor<2x64xf16>, tensor<64x16xf16>
  %z, %k = gist.gated_projection %x, %v, 1.0e-1 weights(%u : tensor<96x64xf16>)
      images(%m : tensor<96x16xf16>) : tensor<2x64xf16>, tensor<64x16xf16>
  return %y, %z, %k : tensor<2x96xf16>, tensor<2x96xf16>, tensor<2xi8>
}

// -----

// Many tokens: g, the residual and the levels are kernels like any others; a
// projection adds products up, each of the tokens at its levels: g and the
// residual of those that read W nowhere, x of the others. Numbers of blocks are
// expanded in the kernel that multiplies them.

// CHECK-LABEL: func.func @many
// CHECK-NOT:     @clear
// CHECK-NOT:     tensor<96x64xf32>
// CHECK:         %[[TURNED:.*]] = gist.dispatch @{{.*}}(%arg1 : tensor<64x32xf16>) outs({{.*}} : tensor<32x64xf16>)
// CHECK:         %[[G:.*]] = gist.dispatch @{{.*}}(%{{.*}}, %arg0, %[[TURNED]] : {{.*}}) outs({{.*}} : tensor<?x32xf16>)
// CHECK:         %[[REST:.*]] = gist.dispatch @{{.*}}(%{{.*}}, %[[G]], %arg1, %arg0 : {{.*}}) outs({{.*}} : tensor<?x64xf16>)
// CHECK:         %[[LEVEL:.*]] = gist.dispatch @{{.*}}(%{{.*}}, %[[REST]], {{.*}}) outs({{.*}} : tensor<?xi8>)
// CHECK:         %[[Y:.*]] = gist.dispatch @gated_product_0(%[[G]], %[[LEVEL]], %[[REST]], %arg0, %arg3, %arg4, %arg2, %arg5
// CHECK:         return %[[Y]], %[[LEVEL]]
// CHECK:       func.func private @gated_product_0(
// CHECK-SAME:    %[[A:.*]]: tensor<?x32xf16>, %[[L:.*]]: tensor<?xi8>, %[[B:.*]]: tensor<?x64xf16>, %[[X:.*]]: tensor<?x64xf16>, %[[M:.*]]: tensor<96x32xf16>, %[[LOW:.*]]: tensor<96x2x20xi8>, %[[W:.*]]: tensor<96x64xf16>, %[[BIAS:.*]]: tensor<96xf16>, %{{.*}}: tensor<?x96xf16>)
// CHECK-DAG:     %[[ONE:.*]] = arith.constant 1 : i8
// CHECK-DAG:     %[[TWO:.*]] = arith.constant 2 : i8
// CHECK-DAG:     %[[N:.*]] = gist.dequantize %[[LOW]]
// CHECK:         %[[GA:.*]] = linalg.generic {{.*}} ins(%[[L]], %[[A]] :
// CHECK:           arith.cmpi slt, %{{.*}}, %[[TWO]]
// CHECK:         %[[S:.*]] = linalg.generic {{.*}} ins(%[[GA]], %[[M]] :
// CHECK:         %[[RA:.*]] = linalg.generic {{.*}} ins(%[[L]], %[[B]] :
// CHECK:           arith.cmpi eq, %{{.*}}, %[[ONE]]
// CHECK:         %[[SA:.*]] = linalg.generic {{.*}} ins(%[[RA]], %[[N]] : {{.*}} outs(%[[S]] :
// CHECK:         %[[RB:.*]] = linalg.generic {{.*}} ins(%[[L]], %[[X]] :
// CHECK:           arith.cmpi eq, %{{.*}}, %[[TWO]]
// CHECK:         %[[SB:.*]] = linalg.generic {{.*}} ins(%[[RB]], %[[W]] : {{.*}} outs(%[[SA]] :
// CHECK:         linalg.generic {{.*}} ins(%[[SB]], %[[BIAS]] :
func.func @many(%x: tensor<?x64xf16>, %v: tensor<64x32xf16>, %w: tensor<96x64xf16>,
    %m: tensor<96x32xf16>, %q: tensor<96x2x20xi8>, %b: tensor<96xf16>)
    -> (tensor<?x96xf16>, tensor<?xi8>) {
  %low = gist.dequantize %q format q4_1 : tensor<96x2x20xi8>
  %y, %l = gist.gated_projection %x, %v, 5.0e-1 weights(%w : tensor<96x64xf16>)
      images(%m : tensor<96x32xf16>) biases(%b : tensor<96xf16>)
      low 2.0e-1 (%low : tensor<96x64xf32>) : tensor<?x64xf16>, tensor<64x32xf16>
  return %y, %l : tensor<?x96xf16>, tensor<?xi8>
}

// -----

// Nine tokens are many.

// CHECK-LABEL: func.func @nine
// CHECK-NOT:     @gated_projection
// CHECK:         @gated_product_0
func.func @nine(%x: tensor<9x64xf16>, %v: tensor<64x16xf16>, %w: tensor<96x64xf16>,
    %m: tensor<96x16xf16>) -> tensor<9x96xf16> {
  %y, %l = gist.gated_projection %x, %v, 1.0e-1 weights(%w : tensor<96x64xf16>)
      images(%m : tensor<96x16xf16>) : tensor<9x64xf16>, tensor<64x16xf16>
  return %y : tensor<9x96xf16>
}
