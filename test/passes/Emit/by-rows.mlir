// RUN: gist-compile %s -o %t.gist --context=64 --progress=off
// RUN: gist-run info --disassemble %t.gist | FileCheck %s

// Which commands rows of several sequences can share. Each entry has kernels of
// one kind; a line of commands ends with "by rows" or does not.

#row = affine_map<(t, n) -> (t, n)>
#first = affine_map<(t, n) -> (t)>
#column = affine_map<(t, n) -> (n)>
#x = affine_map<(t, n, k) -> (t, k)>
#w = affine_map<(t, n, k) -> (n, k)>
#y = affine_map<(t, n, k) -> (t, n)>

// A row divided by its own sum, and a product with a weight.
// CHECK-LABEL: entry @alike(
// CHECK:         @rows_{{.*}} by rows
// CHECK:         @matmul_{{.*}} by rows
// CHECK:       }
func.func @alike(%x: tensor<?x8xf32>) -> tensor<?x12xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %t = tensor.dim %x, %c0 : tensor<?x8xf32>
  %sums = tensor.empty(%t) : tensor<?xf32>
  %z = linalg.fill ins(%zero : f32) outs(%sums : tensor<?xf32>) -> tensor<?xf32>
  %sum = linalg.generic {indexing_maps = [#row, #first], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<?x8xf32>) outs(%z : tensor<?xf32>) {
  ^bb0(%v: f32, %o: f32):
    %s = arith.addf %v, %o : f32
    linalg.yield %s : f32
  } -> tensor<?xf32>
  %e = tensor.empty(%t) : tensor<?x8xf32>
  %scaled = linalg.generic {indexing_maps = [#row, #first, #row], iterator_types = ["parallel", "parallel"]}
      ins(%x, %sum : tensor<?x8xf32>, tensor<?xf32>) outs(%e : tensor<?x8xf32>) {
  ^bb0(%v: f32, %n: f32, %o: f32):
    %s = arith.divf %v, %n : f32
    linalg.yield %s : f32
  } -> tensor<?x8xf32>
  %weight = arith.constant dense<0.5> : tensor<12x8xf32>
  %f = tensor.empty(%t) : tensor<?x12xf32>
  %zf = linalg.fill ins(%zero : f32) outs(%f : tensor<?x12xf32>) -> tensor<?x12xf32>
  %p = linalg.matmul indexing_maps = [#x, #w, #y]
      ins(%scaled, %weight : tensor<?x8xf32>, tensor<12x8xf32>)
      outs(%zf : tensor<?x12xf32>) -> tensor<?x12xf32>
  return %p : tensor<?x12xf32>
}

// The sum of all rows: each depends on all.
// CHECK-LABEL: entry @columns(
// CHECK-NOT:     by rows
// CHECK:       }
func.func @columns(%x: tensor<?x8xf32>) -> tensor<8xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %s = linalg.generic {indexing_maps = [#row, #column], iterator_types = ["reduction", "parallel"]}
      ins(%x : tensor<?x8xf32>) outs(%z : tensor<8xf32>) {
  ^bb0(%v: f32, %o: f32):
    %m = arith.addf %v, %o : f32
    linalg.yield %m : f32
  } -> tensor<8xf32>
  return %s : tensor<8xf32>
}

// A row that knows its number.
// CHECK-LABEL: entry @numbered(
// CHECK-NOT:     by rows
// CHECK:       }
func.func @numbered(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %c0 = arith.constant 0 : index
  %t = tensor.dim %x, %c0 : tensor<?x8xf32>
  %e = tensor.empty(%t) : tensor<?x8xf32>
  %r = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<?x8xf32>) outs(%e : tensor<?x8xf32>) {
  ^bb0(%v: f32, %o: f32):
    %i = linalg.index 0 : index
    %n = arith.index_cast %i : index to i32
    %f = arith.sitofp %n : i32 to f32
    %m = arith.addf %v, %f : f32
    linalg.yield %m : f32
  } -> tensor<?x8xf32>
  return %r : tensor<?x8xf32>
}

// Rows of a table from the position on: they belong to one sequence.
// CHECK-LABEL: entry @positions(
// CHECK-NOT:     by rows
// CHECK:       }
func.func @positions(%x: tensor<?x8xf32>, %past: index) -> tensor<?x8xf32> {
  %c0 = arith.constant 0 : index
  %t = tensor.dim %x, %c0 : tensor<?x8xf32>
  %table = arith.constant dense<0.25> : tensor<128x8xf32>
  %at = tensor.extract_slice %table[%past, 0] [%t, 8] [1, 1] : tensor<128x8xf32> to tensor<?x8xf32>
  %e = tensor.empty(%t) : tensor<?x8xf32>
  %r = linalg.generic {indexing_maps = [#row, #row, #row], iterator_types = ["parallel", "parallel"]}
      ins(%x, %at : tensor<?x8xf32>, tensor<?x8xf32>) outs(%e : tensor<?x8xf32>) {
  ^bb0(%v: f32, %p: f32, %o: f32):
    %m = arith.addf %v, %p : f32
    linalg.yield %m : f32
  } -> tensor<?x8xf32>
  return %r : tensor<?x8xf32>
}

// What is before a state is shared, and what is behind it; what touches it is
// not.
// CHECK-LABEL: entry @remember(
// CHECK:         @rows_{{.*}} by rows
// CHECK:         @{{.*}}(%{{.*}}, P, {{[^"]*}}after [0] "
// CHECK:       }
func.func @remember(%x: tensor<?x8xf32>, %past: index, %state: tensor<2x64x8xf32>)
    -> (tensor<?x8xf32>, tensor<2x64x8xf32>) {
  %c0 = arith.constant 0 : index
  %t = tensor.dim %x, %c0 : tensor<?x8xf32>
  %e = tensor.empty(%t) : tensor<?x8xf32>
  %n = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<?x8xf32>) outs(%e : tensor<?x8xf32>) {
  ^bb0(%v: f32, %o: f32):
    %m = arith.negf %v : f32
    linalg.yield %m : f32
  } -> tensor<?x8xf32>
  %a = tensor.insert_slice %n into %state[0, %past, 0] [1, %t, 8] [1, 1, 1]
      : tensor<?x8xf32> into tensor<2x64x8xf32>
  return %n, %a : tensor<?x8xf32>, tensor<2x64x8xf32>
}
