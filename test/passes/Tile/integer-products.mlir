// A product of integers is not cut into tiles as products of floats are: it is
// computed by its definition.
// RUN: gist-opt %s -gist-tile -gist-cpu | FileCheck %s
// RUN: gist-opt %s -gist-gpu-tile=target=gfx942 -gist-gpu=target=gfx942 -o /dev/null
// RUN: gist-opt %s -gist-gpu-tile=target=sm_90 -gist-gpu=target=sm_90 -o /dev/null

// CHECK-LABEL: llvm.func @product(
// CHECK: llvm.mul {{.*}}i32
func.func private @product(%x: tensor<?x64xi32>, %w: tensor<96x64xi32>, %out: tensor<?x96xi32>) -> tensor<?x96xi32>
    attributes {gist.kernel = #gist.kernel<kind = matmul, outputs = 1>} {
  %zero = arith.constant 0 : i32
  %start = linalg.fill ins(%zero : i32) outs(%out : tensor<?x96xi32>) -> tensor<?x96xi32>
  %y = linalg.matmul indexing_maps = [affine_map<(t, n, k) -> (t, k)>, affine_map<(t, n, k) -> (n, k)>, affine_map<(t, n, k) -> (t, n)>]
      ins(%x, %w : tensor<?x64xi32>, tensor<96x64xi32>) outs(%start : tensor<?x96xi32>) -> tensor<?x96xi32>
  return %y : tensor<?x96xi32>
}
