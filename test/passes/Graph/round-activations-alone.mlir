// A function that no module holds has no target: rows are rounded.
// RUN: gist-opt %s -no-implicit-module "-pass-pipeline=func.func(gist-round-activations)" | FileCheck %s
// CHECK-LABEL: func.func @quantised(
// CHECK: arith.truncf
// CHECK: linalg.matmul {{.*}} tensor<?x64xf16>, tensor<48x64xf32>
func.func @quantised(%x: tensor<?x64xf32>, %w: tensor<48x2x20xi8>, %y: tensor<?x48xf32>) -> tensor<?x48xf32> {
  %d = gist.dequantize %w format q4_1 : tensor<48x2x20xi8>
  %p = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>] ins(%x, %d : tensor<?x64xf32>, tensor<48x64xf32>) outs(%y : tensor<?x48xf32>) -> tensor<?x48xf32>
  return %p : tensor<?x48xf32>
}
