// RUN: gist-opt %s -gist-quantize-activations -cse -gist-set-target="triple=aarch64-linux-gnu cpu=generic features=+i8mm,+dotprod" -gist-assign-packing -cse | FileCheck %s
// RUN: gist-opt %s -gist-form-kernels | FileCheck %s --check-prefix=KERNELS

// Two products of one input share its rows in 8 bits, and each has a weight in
// tiles. An expert with half a tile of columns keeps its blocks.

// CHECK-LABEL: func @experts
// CHECK:         %[[V:.+]], %[[S:.+]] = gist.quantize_rows
// CHECK-NOT:     gist.quantize_rows
// CHECK:         gist.quantized_expert_matmul %[[V]], %[[S]], {{.*}} packed
// CHECK:         gist.quantized_expert_matmul %[[V]], %[[S]], %{{.+}} format q4_1 by

// A kernel has no epilogue.
// KERNELS-LABEL: func @experts
// KERNELS:         gist.dispatch @expert_matmul
// KERNELS:         gist.dispatch @expert_matmul
// KERNELS:         gist.dispatch @rows
// KERNELS:       func.func private @expert_matmul{{.*}}kind = expert_matmul
func.func @experts(%x: tensor<?x32xf32>, %e: tensor<?x2xi32>) -> (tensor<?x32xf32>, tensor<?x24xf32>) {
  %b0 = gist.weight "a" layer 0 : tensor<80x1x20xi8>
  %w0 = gist.dequantize %b0 format q4_1 : tensor<80x1x20xi8>
  %b1 = gist.weight "b" layer 0 : tensor<60x1x20xi8>
  %w1 = gist.dequantize %b1 format q4_1 : tensor<60x1x20xi8>
  %y0 = gist.expert_matmul %x, %w0 by %e : tensor<?x32xf32>, tensor<80x32xf32>, tensor<?x2xi32> -> tensor<?x32xf32>
  %y1 = gist.expert_matmul %x, %w1 by %e : tensor<?x32xf32>, tensor<60x32xf32>, tensor<?x2xi32> -> tensor<?x24xf32>
  %zero = arith.constant 0 : index
  %rows = tensor.dim %x, %zero : tensor<?x32xf32>
  %init = tensor.empty(%rows) : tensor<?x32xf32>
  %z0 = linalg.exp ins(%y0 : tensor<?x32xf32>) outs(%init : tensor<?x32xf32>) -> tensor<?x32xf32>
  return %z0, %y1 : tensor<?x32xf32>, tensor<?x24xf32>
}
