// Launches count on GPUs: more is computed in one of them than on CPUs.
// RUN: gist-opt %s -gist-set-target=target=sm_90 -gist-form-kernels -cse -canonicalize -split-input-file | FileCheck %s
// RUN: gist-opt %s -gist-set-target="triple=aarch64-linux-gnu cpu=neoverse-v1" -gist-form-kernels -split-input-file | FileCheck %s --check-prefix=CPU

#row = affine_map<(t, n) -> (t, n)>
#number = affine_map<(t, n) -> (t)>
#x = affine_map<(t, n, k) -> (t, k)>
#w = affine_map<(t, n, k) -> (n, k)>
#y = affine_map<(t, n, k) -> (t, n)>

// The norm of one row is computed by every workgroup of the product after it.
// CHECK-LABEL: func.func @norm
// CHECK-COUNT-1: gist.dispatch
// CHECK-NOT:     gist.dispatch
// CHECK:       func.func private @matmul_0({{.*}} -> tensor<1x96xf32>
// CHECK-SAME:    kind = matmul, outputs = 1
// CHECK:         linalg.generic {{.*}}"reduction"
// CHECK:         linalg.generic {{.*}} outs(%{{.+}} : tensor<1x64xf32>)
// CHECK:         linalg.matmul
// CPU-LABEL: func.func @norm
// CPU-COUNT-2: gist.dispatch
func.func @norm(%x: tensor<1x64xf32>) -> tensor<1x96xf32> {
  %zero = arith.constant 0.0 : f32
  %w = gist.weight "w" : tensor<96x64xf16>
  %er = tensor.empty() : tensor<1xf32>
  %zr = linalg.fill ins(%zero : f32) outs(%er : tensor<1xf32>) -> tensor<1xf32>
  %s = linalg.generic {indexing_maps = [#row, #number], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<1x64xf32>) outs(%zr : tensor<1xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.mulf %a, %a : f32
    %1 = arith.addf %0, %o : f32
    linalg.yield %1 : f32
  } -> tensor<1xf32>
  %ex = tensor.empty() : tensor<1x64xf32>
  %h = linalg.generic {indexing_maps = [#row, #number, #row], iterator_types = ["parallel", "parallel"]}
      ins(%x, %s : tensor<1x64xf32>, tensor<1xf32>) outs(%ex : tensor<1x64xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = math.rsqrt %b : f32
    %1 = arith.mulf %a, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<1x64xf32>
  %e = tensor.empty() : tensor<1x96xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<1x96xf32>) -> tensor<1x96xf32>
  %p = linalg.matmul indexing_maps = [#x, #w, #y] ins(%h, %w : tensor<1x64xf32>, tensor<96x64xf16>)
      outs(%z : tensor<1x96xf32>) -> tensor<1x96xf32>
  return %p : tensor<1x96xf32>
}

// -----

#row = affine_map<(t, n) -> (t, n)>
#x = affine_map<(t, n, k) -> (t, k)>
#w = affine_map<(t, n, k) -> (n, k)>
#y = affine_map<(t, n, k) -> (t, n)>

// Rows of a norm that other tokens have too are computed once.
// CHECK-LABEL: func.func @many
// CHECK-COUNT-2: gist.dispatch
func.func @many(%x: tensor<?x64xf32>, %t: index) -> tensor<?x96xf32> {
  %zero = arith.constant 0.0 : f32
  %w = gist.weight "w" : tensor<96x64xf16>
  %ex = tensor.empty(%t) : tensor<?x64xf32>
  %h = linalg.exp ins(%x : tensor<?x64xf32>) outs(%ex : tensor<?x64xf32>) -> tensor<?x64xf32>
  %e = tensor.empty(%t) : tensor<?x96xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<?x96xf32>) -> tensor<?x96xf32>
  %p = linalg.matmul indexing_maps = [#x, #w, #y] ins(%h, %w : tensor<?x64xf32>, tensor<96x64xf16>)
      outs(%z : tensor<?x96xf32>) -> tensor<?x96xf32>
  return %p : tensor<?x96xf32>
}

// -----

#x = affine_map<(t, n, k) -> (t, k)>
#w = affine_map<(t, n, k) -> (n, k)>
#y = affine_map<(t, n, k) -> (t, n)>

// The halves of a product that meet are computed along with it.
// CHECK-LABEL: func.func @gate
// CHECK-COUNT-1: gist.dispatch
// CHECK-NOT:     gist.dispatch
// CHECK:       func.func private @matmul_0(
// CHECK:         linalg.matmul
// CHECK:         linalg.exp
// CHECK:         linalg.mul
// CPU-LABEL: func.func @gate
// CPU-COUNT-2: gist.dispatch
func.func @gate(%x: tensor<?x64xf16>, %t: index) -> tensor<?x48xf32> {
  %zero = arith.constant 0.0 : f32
  %w = gist.weight "w" : tensor<96x64xf16>
  %e = tensor.empty(%t) : tensor<?x96xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<?x96xf32>) -> tensor<?x96xf32>
  %p = linalg.matmul indexing_maps = [#x, #w, #y] ins(%x, %w : tensor<?x64xf16>, tensor<96x64xf16>)
      outs(%z : tensor<?x96xf32>) -> tensor<?x96xf32>
  %g = tensor.extract_slice %p[0, 0] [%t, 48] [1, 1] : tensor<?x96xf32> to tensor<?x48xf32>
  %u = tensor.extract_slice %p[0, 48] [%t, 48] [1, 1] : tensor<?x96xf32> to tensor<?x48xf32>
  %eh = tensor.empty(%t) : tensor<?x48xf32>
  %a = linalg.exp ins(%g : tensor<?x48xf32>) outs(%eh : tensor<?x48xf32>) -> tensor<?x48xf32>
  %m = linalg.mul ins(%a, %u : tensor<?x48xf32>, tensor<?x48xf32>) outs(%eh : tensor<?x48xf32>) -> tensor<?x48xf32>
  return %m : tensor<?x48xf32>
}

// -----

#x = affine_map<(t, n, k) -> (t, k)>
#w = affine_map<(t, n, k) -> (n, k)>
#y = affine_map<(t, n, k) -> (t, n)>

// What is computed of the rows of one product is one launch with several
// results, at the last of them: two caches are written, and one tensor.
// CHECK-LABEL: func.func @rows
// CHECK-SAME:    %{{.+}}: tensor<?x64xf16>, %{{.+}}: index, %{{.+}}: index, %[[K:.+]]: tensor<2x512x32xf32>, %[[V:.+]]: tensor<2x512x32xf32>
// CHECK:         %[[P:.+]] = gist.dispatch @matmul_0
// CHECK:         %[[R:.+]]:3 = gist.dispatch @cache_0(%[[P]],
// CHECK-SAME:      outs(%[[K]], %[[V]], %{{.+}} :
// CHECK:         return %[[R]]#2, %[[R]]#0, %[[R]]#1
// CHECK:       func.func private @cache_0(
// CHECK-SAME:    kind = rows, outputs = 3
// CPU-LABEL: func.func @rows
// CPU-COUNT-4: gist.dispatch
func.func @rows(%x: tensor<?x64xf16>, %t: index, %at: index, %k: tensor<2x512x32xf32>, %v: tensor<2x512x32xf32>)
    -> (tensor<?x32xf32>, tensor<2x512x32xf32>, tensor<2x512x32xf32>) {
  %zero = arith.constant 0.0 : f32
  %w = gist.weight "w" : tensor<96x64xf16>
  %e = tensor.empty(%t) : tensor<?x96xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<?x96xf32>) -> tensor<?x96xf32>
  %p = linalg.matmul indexing_maps = [#x, #w, #y] ins(%x, %w : tensor<?x64xf16>, tensor<96x64xf16>)
      outs(%z : tensor<?x96xf32>) -> tensor<?x96xf32>
  %a = tensor.extract_slice %p[0, 0] [%t, 32] [1, 1] : tensor<?x96xf32> to tensor<?x32xf32>
  %b = tensor.extract_slice %p[0, 32] [%t, 32] [1, 1] : tensor<?x96xf32> to tensor<?x32xf32>
  %c = tensor.extract_slice %p[0, 64] [%t, 32] [1, 1] : tensor<?x96xf32> to tensor<?x32xf32>
  %k1 = tensor.insert_slice %a into %k[1, %at, 0] [1, %t, 32] [1, 1, 1] : tensor<?x32xf32> into tensor<2x512x32xf32>
  %v1 = tensor.insert_slice %b into %v[1, %at, 0] [1, %t, 32] [1, 1, 1] : tensor<?x32xf32> into tensor<2x512x32xf32>
  %eq = tensor.empty(%t) : tensor<?x32xf32>
  %q = linalg.exp ins(%c : tensor<?x32xf32>) outs(%eq : tensor<?x32xf32>) -> tensor<?x32xf32>
  return %q, %k1, %v1 : tensor<?x32xf32>, tensor<2x512x32xf32>, tensor<2x512x32xf32>
}
