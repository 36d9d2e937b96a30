// RUN: gist-opt %s -gist-keep-kernels | FileCheck %s

// What calls kernels, and what defines its weights, is left out.

// CHECK-NOT: gist.dispatch
// CHECK-LABEL: func.func private @k(
// CHECK-NOT: gist.dispatch
func.func private @k(%x: tensor<?x8xf32>, %y: tensor<?x8xf32>) -> tensor<?x8xf32>
    attributes {gist.kernel = #gist.kernel<kind = rows, outputs = 1>} {
  return %x : tensor<?x8xf32>
}

func.func @host(%x: tensor<?x8xf32>, %e: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %w = gist.weight "taus" : tensor<2xf32>
  %y = gist.dispatch @k(%x : tensor<?x8xf32>) outs(%e : tensor<?x8xf32>)
  return %y : tensor<?x8xf32>
}

// Another function that calls none is left alone.
// CHECK: func.func @other(
func.func @other(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// CHECK-NOT: gist.constant_weight
gist.constant_weight @taus dense<[0.5, 0.0]> : tensor<2xf32>
// CHECK-NOT: gist.plan
gist.plan {
  gist.plan_layer {
    gist.plan_attend copy
  }
}
