// RUN: gist-opt %s -gist-form-kernels -cse -canonicalize -split-input-file | FileCheck %s

#row = affine_map<(t, n) -> (t, n)>
#column = affine_map<(t, n) -> (n)>
#x = affine_map<(t, n, k) -> (t, k)>
#w = affine_map<(t, n, k) -> (n, k)>
#y = affine_map<(t, n, k) -> (t, n)>

// Bias and residual are computed along with the product, whose weight stays in
// blocks; the destination is the last argument.
// CHECK-LABEL: func.func @epilogue
// CHECK-SAME:    %[[X:.+]]: tensor<?x64xf32>, %[[RES:.+]]: tensor<?x96xf32>
// CHECK-DAG:     %[[T:.+]] = tensor.dim %[[X]]
// CHECK-DAG:     %[[W:.+]] = gist.weight "w" : tensor<96x2x18xi8>
// CHECK-DAG:     %[[B:.+]] = gist.weight "b" : tensor<96xf32>
// CHECK:         %[[D:.+]] = tensor.empty(%[[T]]) : tensor<?x96xf32>
// CHECK:         %[[Y:.+]] = gist.dispatch @matmul_0(%[[W]], %[[T]], %[[X]], %[[B]], %[[RES]] :
// CHECK-SAME:      outs(%[[D]] : tensor<?x96xf32>)
// CHECK-NEXT:    return %[[Y]]
func.func @epilogue(%x: tensor<?x64xf32>, %residual: tensor<?x96xf32>) -> tensor<?x96xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %t = tensor.dim %x, %c0 : tensor<?x64xf32>
  %blocks = gist.weight "w" : tensor<96x2x18xi8>
  %w = gist.dequantize %blocks format q4_0 : tensor<96x2x18xi8>
  %b = gist.weight "b" : tensor<96xf32>
  %e = tensor.empty(%t) : tensor<?x96xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<?x96xf32>) -> tensor<?x96xf32>
  %p = linalg.matmul indexing_maps = [#x, #w, #y]
      ins(%x, %w : tensor<?x64xf32>, tensor<96x64xf32>)
      outs(%z : tensor<?x96xf32>) -> tensor<?x96xf32>
  %q = linalg.generic {indexing_maps = [#row, #column, #row], iterator_types = ["parallel", "parallel"]}
      ins(%p, %b : tensor<?x96xf32>, tensor<96xf32>) outs(%e : tensor<?x96xf32>) {
  ^bb0(%a: f32, %c: f32, %o: f32):
    %s = arith.addf %a, %c : f32
    linalg.yield %s : f32
  } -> tensor<?x96xf32>
  %r = linalg.generic {indexing_maps = [#row, #row, #row], iterator_types = ["parallel", "parallel"]}
      ins(%residual, %q : tensor<?x96xf32>, tensor<?x96xf32>) outs(%e : tensor<?x96xf32>) {
  ^bb0(%a: f32, %c: f32, %o: f32):
    %s = arith.addf %a, %c : f32
    linalg.yield %s : f32
  } -> tensor<?x96xf32>
  return %r : tensor<?x96xf32>
}
// CHECK:       func.func private @matmul_0(
// CHECK-SAME:    %[[DEST:[^ ]+]]: tensor<?x96xf32>) -> tensor<?x96xf32>
// CHECK-SAME:    attributes {gist.kernel = #gist.kernel<kind = matmul, outputs = 1>}
// CHECK:         gist.dequantize
// CHECK:         linalg.matmul
// CHECK:         linalg.generic
// CHECK:         linalg.generic {{.*}} outs(%[[DEST]] : tensor<?x96xf32>)

// -----

#x = affine_map<(t, n, k) -> (t, k)>
#w = affine_map<(t, n, k) -> (n, k)>
#y = affine_map<(t, n, k) -> (t, n)>
#row = affine_map<(t, n) -> (t, n)>

// Two layers with weights of one shape: one kernel for both products. The
// product of the first is read twice, so its activation is a kernel of its own.
// CHECK-LABEL: func.func @layers
// CHECK:         gist.dispatch @matmul_0(
// CHECK:         gist.dispatch @rows_0(
// CHECK:         gist.dispatch @matmul_0(
// CHECK:         return
// CHECK:       func.func private @matmul_0(
// CHECK-NOT:   @matmul_1
// CHECK:       func.func private @rows_0(
func.func @layers(%x: tensor<?x64xf32>) -> (tensor<?x64xf32>, tensor<?x64xf32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %t = tensor.dim %x, %c0 : tensor<?x64xf32>
  %w0 = gist.weight "layers.0.w" : tensor<64x64xf32>
  %w1 = gist.weight "layers.1.w" : tensor<64x64xf32>
  %e = tensor.empty(%t) : tensor<?x64xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<?x64xf32>) -> tensor<?x64xf32>
  %p = linalg.matmul indexing_maps = [#x, #w, #y]
      ins(%x, %w0 : tensor<?x64xf32>, tensor<64x64xf32>)
      outs(%z : tensor<?x64xf32>) -> tensor<?x64xf32>
  %a = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel", "parallel"]}
      ins(%p : tensor<?x64xf32>) outs(%e : tensor<?x64xf32>) {
  ^bb0(%v: f32, %o: f32):
    %s = arith.maximumf %v, %zero : f32
    linalg.yield %s : f32
  } -> tensor<?x64xf32>
  %q = linalg.matmul indexing_maps = [#x, #w, #y]
      ins(%a, %w1 : tensor<?x64xf32>, tensor<64x64xf32>)
      outs(%z : tensor<?x64xf32>) -> tensor<?x64xf32>
  return %q, %p : tensor<?x64xf32>, tensor<?x64xf32>
}

// -----

#row = affine_map<(t, n) -> (t, n)>
#first = affine_map<(t, n) -> (t)>
#column = affine_map<(t, n) -> (n)>

// A norm is one kernel, sum and scale: both work on one row at a time. The
// column sums that follow need all rows and are another.
// CHECK-LABEL: func.func @norm
// CHECK:         gist.dispatch @rows_0(
// CHECK:         gist.dispatch @rows_1(
// CHECK-NOT:     gist.dispatch
// CHECK:       func.func private @rows_0(
// CHECK:         linalg.generic {{.*}}["parallel", "reduction"]
// CHECK:         linalg.generic {{.*}}["parallel", "parallel"]
// CHECK:       func.func private @rows_1(
func.func @norm(%x: tensor<?x64xf32>) -> tensor<64xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %t = tensor.dim %x, %c0 : tensor<?x64xf32>
  %sums = tensor.empty(%t) : tensor<?xf32>
  %z = linalg.fill ins(%zero : f32) outs(%sums : tensor<?xf32>) -> tensor<?xf32>
  %sum = linalg.generic {indexing_maps = [#row, #first], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<?x64xf32>) outs(%z : tensor<?xf32>) {
  ^bb0(%v: f32, %o: f32):
    %s = arith.addf %v, %o : f32
    linalg.yield %s : f32
  } -> tensor<?xf32>
  %e = tensor.empty(%t) : tensor<?x64xf32>
  %scaled = linalg.generic {indexing_maps = [#row, #first, #row], iterator_types = ["parallel", "parallel"]}
      ins(%x, %sum : tensor<?x64xf32>, tensor<?xf32>) outs(%e : tensor<?x64xf32>) {
  ^bb0(%v: f32, %n: f32, %o: f32):
    %s = arith.divf %v, %n : f32
    linalg.yield %s : f32
  } -> tensor<?x64xf32>
  %columns = tensor.empty() : tensor<64xf32>
  %zc = linalg.fill ins(%zero : f32) outs(%columns : tensor<64xf32>) -> tensor<64xf32>
  %mean = linalg.generic {indexing_maps = [#row, #column], iterator_types = ["reduction", "parallel"]}
      ins(%scaled : tensor<?x64xf32>) outs(%zc : tensor<64xf32>) {
  ^bb0(%v: f32, %o: f32):
    %s = arith.addf %v, %o : f32
    linalg.yield %s : f32
  } -> tensor<64xf32>
  return %mean : tensor<64xf32>
}

// -----

// Each layer writes its rows into the cache in place and reads the cache up to
// them; the layer is an argument, so both layers share both kernels.
// CHECK-LABEL: func.func @cache
// CHECK-SAME:    %[[Q:.+]]: tensor<?x4x8xf32>, %[[K:.+]]: tensor<?x2x8xf32>, %[[PAST:.+]]: index, %[[C:.+]]: tensor<3x128x2x8xf16>
// CHECK-DAG:     %[[L0:.+]] = arith.constant 0 : index
// CHECK-DAG:     %[[L1:.+]] = arith.constant 1 : index
// CHECK:         %[[C0:.+]] = gist.dispatch @cache_0(%{{.+}}, %[[K]], %[[PAST]], %[[L0]] : {{.*}} outs(%[[C]] : tensor<3x128x2x8xf16>)
// CHECK:         gist.dispatch @attention_0({{.*}}%[[C0]]{{.*}}%[[L0]]
// CHECK:         %[[C1:.+]] = gist.dispatch @cache_0(%{{.+}}, %[[K]], %[[PAST]], %[[L1]] : {{.*}} outs(%[[C0]] : tensor<3x128x2x8xf16>)
// CHECK:         gist.dispatch @attention_0({{.*}}%[[C1]]{{.*}}%[[L1]]
// CHECK:         return %{{.+}}, %[[C1]]
// CHECK:       func.func private @cache_0(
// CHECK-SAME:    %[[DEST:[^:]+]]: tensor<3x128x2x8xf16>) -> tensor<3x128x2x8xf16>
// CHECK:         arith.truncf
// CHECK:         tensor.insert_slice %{{.+}} into %[[DEST]]
// CHECK:       func.func private @attention_0(
// CHECK:         tensor.extract_slice
// CHECK:         arith.extf
// CHECK:         gist.attention
// CHECK-NOT:   func.func private
#heads = affine_map<(t, h, d) -> (t, h, d)>
func.func @cache(%q: tensor<?x4x8xf32>, %k: tensor<?x2x8xf32>, %past: index, %cache: tensor<3x128x2x8xf16>)
    -> (tensor<?x4x8xf32>, tensor<3x128x2x8xf16>) {
  %c0 = arith.constant 0 : index
  %t = tensor.dim %k, %c0 : tensor<?x2x8xf32>
  %s = arith.addi %past, %t : index
  %e = tensor.empty(%t) : tensor<?x2x8xf16>
  %h = linalg.generic {indexing_maps = [#heads, #heads], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%k : tensor<?x2x8xf32>) outs(%e : tensor<?x2x8xf16>) {
  ^bb0(%v: f32, %o: f16):
    %n = arith.truncf %v : f32 to f16
    linalg.yield %n : f16
  } -> tensor<?x2x8xf16>
  %h1 = linalg.generic {indexing_maps = [#heads, #heads], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%k : tensor<?x2x8xf32>) outs(%e : tensor<?x2x8xf16>) {
  ^bb0(%v: f32, %o: f16):
    %n = arith.truncf %v : f32 to f16
    linalg.yield %n : f16
  } -> tensor<?x2x8xf16>
  %cache0 = tensor.insert_slice %h into %cache[0, %past, 0, 0] [1, %t, 2, 8] [1, 1, 1, 1]
      : tensor<?x2x8xf16> into tensor<3x128x2x8xf16>
  %k0 = tensor.extract_slice %cache0[0, 0, 0, 0] [1, %s, 2, 8] [1, 1, 1, 1]
      : tensor<3x128x2x8xf16> to tensor<?x2x8xf16>
  %se = tensor.empty(%s) : tensor<?x2x8xf32>
  %f0 = linalg.generic {indexing_maps = [#heads, #heads], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%k0 : tensor<?x2x8xf16>) outs(%se : tensor<?x2x8xf32>) {
  ^bb0(%v: f16, %o: f32):
    %n = arith.extf %v : f16 to f32
    linalg.yield %n : f32
  } -> tensor<?x2x8xf32>
  %o0 = gist.attention %q, %f0, %f0 causal : tensor<?x4x8xf32>, tensor<?x2x8xf32>, tensor<?x2x8xf32>
  %cache1 = tensor.insert_slice %h1 into %cache0[1, %past, 0, 0] [1, %t, 2, 8] [1, 1, 1, 1]
      : tensor<?x2x8xf16> into tensor<3x128x2x8xf16>
  %k1 = tensor.extract_slice %cache1[1, 0, 0, 0] [1, %s, 2, 8] [1, 1, 1, 1]
      : tensor<3x128x2x8xf16> to tensor<?x2x8xf16>
  %f1 = linalg.generic {indexing_maps = [#heads, #heads], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%k1 : tensor<?x2x8xf16>) outs(%se : tensor<?x2x8xf32>) {
  ^bb0(%v: f16, %o: f32):
    %n = arith.extf %v : f16 to f32
    linalg.yield %n : f32
  } -> tensor<?x2x8xf32>
  %o1 = gist.attention %o0, %f1, %f1 causal : tensor<?x4x8xf32>, tensor<?x2x8xf32>, tensor<?x2x8xf32>
  return %o1, %cache1 : tensor<?x4x8xf32>, tensor<3x128x2x8xf16>
}

// -----

// Readers look through slices. A slice that is returned has to lie somewhere:
// a kernel copies it there, be it reshaped or not.
// CHECK-LABEL: func.func @returned_slices
// CHECK-SAME:    %[[X:.+]]: tensor<?x64xi8>, %[[S:.+]]: tensor<?x2xf32>
// CHECK:         %[[Y:.+]] = gist.dispatch @quantized_matmul_0(
// CHECK:         %[[A:.+]] = gist.dispatch @rows_0(%[[Y]]{{.*}} outs(%{{.+}} : tensor<?x8xf32>)
// CHECK:         %[[B:.+]] = gist.dispatch @rows_1(%[[Y]]{{.*}} outs(%{{.+}} : tensor<?x4x3xf32>)
// CHECK:         return %[[A]], %[[B]]
func.func @returned_slices(%x: tensor<?x64xi8>, %s: tensor<?x2xf32>) -> (tensor<?x8xf32>, tensor<?x4x3xf32>) {
  %c0 = arith.constant 0 : index
  %t = tensor.dim %x, %c0 : tensor<?x64xi8>
  %w = gist.weight "a+b" : tensor<20x2x20xi8>
  %y = gist.quantized_matmul %x, %s, %w format q4_1
      : tensor<?x64xi8>, tensor<?x2xf32>, tensor<20x2x20xi8> -> tensor<?x20xf32>
  %a = tensor.extract_slice %y[0, 0] [%t, 8] [1, 1] : tensor<?x20xf32> to tensor<?x8xf32>
  %b = tensor.extract_slice %y[0, 8] [%t, 12] [1, 1] : tensor<?x20xf32> to tensor<?x12xf32>
  %heads = tensor.expand_shape %b [[0], [1, 2]] output_shape [%t, 4, 3] : tensor<?x12xf32> into tensor<?x4x3xf32>
  return %a, %heads : tensor<?x8xf32>, tensor<?x4x3xf32>
}
// CHECK:       func.func private @rows_0(
// CHECK-SAME:    %[[DEST:[^ ]+]]: tensor<?x8xf32>) -> tensor<?x8xf32>
// CHECK:         %[[SLICE:.+]] = tensor.extract_slice %{{.+}}[0, 0] [%{{.+}}, 8] [1, 1]
// CHECK:         %[[COPY:.+]] = tensor.insert_slice %[[SLICE]] into %[[DEST]]
// CHECK:         return %[[COPY]]

// -----

// Two parts of a row are put together where the row is read, ...
// CHECK-LABEL: func.func @joined_rows
// CHECK:         gist.dispatch @rows_0(
// CHECK-NOT:     gist.dispatch
func.func @joined_rows(%a: tensor<?x20000xf32>, %b: tensor<?x12768xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %t = tensor.dim %a, %c0 : tensor<?x20000xf32>
  %e = tensor.empty(%t) : tensor<?x32768xf32>
  %left = tensor.insert_slice %a into %e[0, 0] [%t, 20000] [1, 1] : tensor<?x20000xf32> into tensor<?x32768xf32>
  %both = tensor.insert_slice %b into %left[0, 20000] [%t, 12768] [1, 1] : tensor<?x12768xf32> into tensor<?x32768xf32>
  %sums = tensor.empty(%t) : tensor<?xf32>
  %z = linalg.fill ins(%zero : f32) outs(%sums : tensor<?xf32>) -> tensor<?xf32>
  %sum = linalg.generic {indexing_maps = [affine_map<(t, n) -> (t, n)>, affine_map<(t, n) -> (t)>], iterator_types = ["parallel", "reduction"]}
      ins(%both : tensor<?x32768xf32>) outs(%z : tensor<?xf32>) {
  ^bb0(%v: f32, %o: f32):
    %s = arith.addf %v, %o : f32
    linalg.yield %s : f32
  } -> tensor<?xf32>
  return %sum : tensor<?xf32>
}

// -----

// ... but for rows that the scratch of a kernel has no room for, such as logits
// of a large vocabulary: those lie in memory.
// CHECK-LABEL: func.func @joined_long_rows
// CHECK:         %[[ROWS:.+]] = gist.dispatch @rows_0({{.*}} outs(%{{.+}} : tensor<?x32769xf32>)
// CHECK:         gist.dispatch @rows_1({{.*}}%[[ROWS]]
// CHECK-NOT:     gist.dispatch
func.func @joined_long_rows(%a: tensor<?x20000xf32>, %b: tensor<?x12769xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %t = tensor.dim %a, %c0 : tensor<?x20000xf32>
  %e = tensor.empty(%t) : tensor<?x32769xf32>
  %left = tensor.insert_slice %a into %e[0, 0] [%t, 20000] [1, 1] : tensor<?x20000xf32> into tensor<?x32769xf32>
  %both = tensor.insert_slice %b into %left[0, 20000] [%t, 12769] [1, 1] : tensor<?x12769xf32> into tensor<?x32769xf32>
  %sums = tensor.empty(%t) : tensor<?xf32>
  %z = linalg.fill ins(%zero : f32) outs(%sums : tensor<?xf32>) -> tensor<?xf32>
  %sum = linalg.generic {indexing_maps = [affine_map<(t, n) -> (t, n)>, affine_map<(t, n) -> (t)>], iterator_types = ["parallel", "reduction"]}
      ins(%both : tensor<?x32769xf32>) outs(%z : tensor<?xf32>) {
  ^bb0(%v: f32, %o: f32):
    %s = arith.addf %v, %o : f32
    linalg.yield %s : f32
  } -> tensor<?xf32>
  return %sum : tensor<?xf32>
}
