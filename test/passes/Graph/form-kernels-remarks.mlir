// RUN: gist-opt %s -gist-form-kernels --remarks-filter-missed=gist-form-kernels -o %t 2>&1 | FileCheck %s

// Why things are kernels of their own; each function below meets one reason.

#x = affine_map<(t, n, k) -> (t, k)>
#w = affine_map<(t, n, k) -> (n, k)>
#y = affine_map<(t, n, k) -> (t, n)>
#row = affine_map<(t, n) -> (t, n)>
#turned = affine_map<(t, n) -> (n, t)>

// CHECK: linalg.matmul: its result is read more than once
func.func @read_twice(%x: tensor<8x64xf32>, %w: tensor<96x64xf32>, %z: tensor<8x96xf32>)
    -> (tensor<8x96xf32>, tensor<8x96xf32>) {
  %e = tensor.empty() : tensor<8x96xf32>
  %p = linalg.matmul indexing_maps = [#x, #w, #y] ins(%x, %w : tensor<8x64xf32>, tensor<96x64xf32>)
      outs(%z : tensor<8x96xf32>) -> tensor<8x96xf32>
  %n = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel", "parallel"]}
      ins(%p : tensor<8x96xf32>) outs(%e : tensor<8x96xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.negf %a : f32
    linalg.yield %s : f32
  } -> tensor<8x96xf32>
  return %p, %n : tensor<8x96xf32>, tensor<8x96xf32>
}

// CHECK: linalg.matmul: the reader is not elementwise
func.func @transposed(%x: tensor<8x64xf32>, %w: tensor<96x64xf32>, %z: tensor<8x96xf32>) -> tensor<96x8xf32> {
  %e = tensor.empty() : tensor<96x8xf32>
  %p = linalg.matmul indexing_maps = [#x, #w, #y] ins(%x, %w : tensor<8x64xf32>, tensor<96x64xf32>)
      outs(%z : tensor<8x96xf32>) -> tensor<8x96xf32>
  %n = linalg.generic {indexing_maps = [#turned, #row], iterator_types = ["parallel", "parallel"]}
      ins(%p : tensor<8x96xf32>) outs(%e : tensor<96x8xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<96x8xf32>
  return %n : tensor<96x8xf32>
}

// The product of two products goes with the first of them.
// CHECK: linalg.matmul: the reader is computed along with another root
func.func @gate(%x: tensor<8x64xf32>, %w: tensor<96x64xf32>, %v: tensor<96x64xf32>, %z: tensor<8x96xf32>) -> tensor<8x96xf32> {
  %e = tensor.empty() : tensor<8x96xf32>
  %p = linalg.matmul indexing_maps = [#x, #w, #y] ins(%x, %w : tensor<8x64xf32>, tensor<96x64xf32>)
      outs(%z : tensor<8x96xf32>) -> tensor<8x96xf32>
  %q = linalg.matmul indexing_maps = [#x, #w, #y] ins(%x, %v : tensor<8x64xf32>, tensor<96x64xf32>)
      outs(%z : tensor<8x96xf32>) -> tensor<8x96xf32>
  %n = linalg.generic {indexing_maps = [#row, #row, #row], iterator_types = ["parallel", "parallel"]}
      ins(%p, %q : tensor<8x96xf32>, tensor<8x96xf32>) outs(%e : tensor<8x96xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.mulf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<8x96xf32>
  return %n : tensor<8x96xf32>
}

// CHECK: linalg.generic: its reader needs more than one row of it
func.func @other_rows(%x: tensor<8x96xf32>) -> tensor<96x8xf32> {
  %e = tensor.empty() : tensor<8x96xf32>
  %f = tensor.empty() : tensor<96x8xf32>
  %n = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<8x96xf32>) outs(%e : tensor<8x96xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.negf %a : f32
    linalg.yield %s : f32
  } -> tensor<8x96xf32>
  %m = linalg.generic {indexing_maps = [#turned, #row], iterator_types = ["parallel", "parallel"]}
      ins(%n : tensor<8x96xf32>) outs(%f : tensor<96x8xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<96x8xf32>
  return %m : tensor<96x8xf32>
}
