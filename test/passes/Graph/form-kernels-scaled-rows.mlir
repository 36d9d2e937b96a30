// RUN: gist-opt %s -gist-kernels | FileCheck %s

// Integers and their scales go into two caches by one kernel, which finds the
// largest number of a row once. Attention takes the multiplication by scales.

// CHECK-LABEL: func.func @graph
// CHECK:         %[[C:.*]]:2 = gist.dispatch @cache_0(
// CHECK-NOT:     gist.dispatch @rows
// CHECK:         %[[O:.*]] = gist.dispatch @attention_0(
// CHECK:         return %[[O]], %[[C]]#0, %[[C]]#1
// CHECK:       func.func private @cache_0(
// CHECK-SAME:    gist.kernel = #gist.kernel<kind = rows, outputs = 2>
// CHECK:         arith.maximumf
// CHECK-NOT:     arith.maximumf
// CHECK:         return
// CHECK:       func.func private @attention_0(
// CHECK:         arith.sitofp
// CHECK-NEXT:    arith.mulf
// CHECK:         gist.attention
func.func @graph(%q: tensor<?x4x8xf32>, %x: tensor<?x2x8xf32>, %past: index,
    %cache: tensor<3x20x2x8xi8>, %scales: tensor<3x20x2xf32>)
    -> (tensor<?x4x8xf32>, tensor<3x20x2x8xi8>, tensor<3x20x2xf32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %levels = arith.constant 127.0 : f32
  %t = tensor.dim %x, %c0 : tensor<?x2x8xf32>
  %all = arith.addi %past, %t : index
  %e = tensor.empty(%t) : tensor<?x2xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x2xf32>) -> tensor<?x2xf32>
  %largest = linalg.generic {indexing_maps = [affine_map<(t, h, d) -> (t, h, d)>, affine_map<(t, h, d) -> (t, h)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x : tensor<?x2x8xf32>) outs(%f : tensor<?x2xf32>) {
  ^bb0(%a: f32, %o: f32):
    %1 = math.absf %a : f32
    %2 = arith.maximumf %1, %o : f32
    linalg.yield %2 : f32
  } -> tensor<?x2xf32>
  %ei = tensor.empty(%t) : tensor<?x2x8xi8>
  %n = linalg.generic {indexing_maps = [affine_map<(t, h, d) -> (t, h, d)>, affine_map<(t, h, d) -> (t, h)>, affine_map<(t, h, d) -> (t, h, d)>],
      iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x, %largest : tensor<?x2x8xf32>, tensor<?x2xf32>) outs(%ei : tensor<?x2x8xi8>) {
  ^bb0(%a: f32, %l: f32, %o: i8):
    %1 = arith.divf %levels, %l : f32
    %2 = arith.mulf %a, %1 : f32
    %3 = arith.fptosi %2 : f32 to i8
    linalg.yield %3 : i8
  } -> tensor<?x2x8xi8>
  %s = linalg.generic {indexing_maps = [affine_map<(t, h) -> (t, h)>, affine_map<(t, h) -> (t, h)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%largest : tensor<?x2xf32>) outs(%e : tensor<?x2xf32>) {
  ^bb0(%l: f32, %o: f32):
    %1 = arith.divf %l, %levels : f32
    linalg.yield %1 : f32
  } -> tensor<?x2xf32>
  %c = tensor.insert_slice %n into %cache[1, %past, 0, 0] [1, %t, 2, 8] [1, 1, 1, 1]
      : tensor<?x2x8xi8> into tensor<3x20x2x8xi8>
  %z = tensor.insert_slice %s into %scales[1, %past, 0] [1, %t, 2] [1, 1, 1]
      : tensor<?x2xf32> into tensor<3x20x2xf32>
  %k = tensor.extract_slice %c[1, 0, 0, 0] [1, %all, 2, 8] [1, 1, 1, 1]
      : tensor<3x20x2x8xi8> to tensor<?x2x8xi8>
  %ks = tensor.extract_slice %z[1, 0, 0] [1, %all, 2] [1, 1, 1]
      : tensor<3x20x2xf32> to tensor<?x2xf32>
  %ew = tensor.empty(%all) : tensor<?x2x8xf32>
  %w = linalg.generic {indexing_maps = [affine_map<(t, h, d) -> (t, h, d)>, affine_map<(t, h, d) -> (t, h)>, affine_map<(t, h, d) -> (t, h, d)>],
      iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%k, %ks : tensor<?x2x8xi8>, tensor<?x2xf32>) outs(%ew : tensor<?x2x8xf32>) {
  ^bb0(%i: i8, %l: f32, %o: f32):
    %1 = arith.sitofp %i : i8 to f32
    %2 = arith.mulf %1, %l : f32
    linalg.yield %2 : f32
  } -> tensor<?x2x8xf32>
  %y = gist.attention %q, %w, %w causal : tensor<?x4x8xf32>, tensor<?x2x8xf32>, tensor<?x2x8xf32>
  return %y, %c, %z : tensor<?x4x8xf32>, tensor<3x20x2x8xi8>, tensor<3x20x2xf32>
}
