// RUN: gist-opt %s -gist-raise-weights -split-input-file -verify-diagnostics | FileCheck %s

// A name that a person gave stays. torch-mlir's only says the shape and is
// replaced. The same constant twice is one weight; one number stays a constant.
// CHECK-LABEL: func @names
// CHECK-DAG:     %[[A:.+]] = gist.weight "layer.weight" : tensor<2x2xf32>
// CHECK-DAG:     %[[B:.+]] = gist.weight "constant.0" : tensor<2xf32>
// CHECK-DAG:     %[[C:.+]] = gist.weight "constant.1" : tensor<2xf32>
// CHECK-DAG:     %[[S:.+]] = arith.constant dense<0.000000e+00> : tensor<4xf32>
// CHECK:         return %[[A]], %[[B]], %[[C]], %[[S]]
// CHECK:       gist.constant_weight @layer.weight dense_resource<layer.weight>
// CHECK:       gist.constant_weight @constant.0 dense_resource<torch_tensor_2_torch.float32>
// CHECK:       gist.constant_weight @constant.1 dense<[1.000000e+00, 2.000000e+00]>
// CHECK-NOT:   gist.constant_weight
func.func @names() -> (tensor<2x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<4xf32>) {
  %a = arith.constant dense_resource<layer.weight> : tensor<2x2xf32>
  %b = arith.constant dense_resource<torch_tensor_2_torch.float32> : tensor<2xf32>
  %c = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %s = arith.constant dense<0.0> : tensor<4xf32>
  return %a, %b, %c, %s : tensor<2x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<4xf32>
}

{-#
  dialect_resources: {
    builtin: {
      layer.weight: "0x040000000000803F000000400000404000008040",
      torch_tensor_2_torch.float32: "0x040000000000803F00000040"
    }
  }
#-}

// -----

// Stored as f32, and converted where they are read.
// CHECK-LABEL: func @other_types
// CHECK:         %[[I:.+]] = gist.weight "constant.0" : tensor<3xf32>
// CHECK:         linalg.generic {{.+}} ins(%[[I]] : tensor<3xf32>) outs(%{{.+}} : tensor<3xi64>)
// CHECK:           arith.fptosi
// CHECK:         %[[B:.+]] = gist.weight "constant.1" : tensor<2xf32>
// CHECK:           arith.cmpf une
// CHECK:       gist.constant_weight @constant.0 dense<[0.000000e+00, 5.000000e+00, -7.000000e+00]>
// CHECK:       gist.constant_weight @constant.1 dense<[1.000000e+00, 0.000000e+00]>
func.func @other_types() -> (tensor<3xi64>, tensor<2xi1>) {
  %i = arith.constant dense<[0, 5, -7]> : tensor<3xi64>
  %b = arith.constant dense<[true, false]> : tensor<2xi1>
  return %i, %b : tensor<3xi64>, tensor<2xi1>
}

// -----

func.func @too_large() -> tensor<2xi64> {
  // expected-error @+1 {{'arith.constant' op has a number that f32 does not hold; weights are stored in f32}}
  %i = arith.constant dense<[0, 16777217]> : tensor<2xi64>
  return %i : tensor<2xi64>
}

// -----

func.func @without_content() -> tensor<2xf32> {
  // expected-error @+1 {{'arith.constant' op has the content of 'tensor<2xf32>' somewhere else: the text has 0 bytes of 8}}
  %a = arith.constant dense_resource<elided> : tensor<2xf32>
  return %a : tensor<2xf32>
}
