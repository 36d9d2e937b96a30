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

#row = affine_map<(t, n) -> (t, n)>
#x = affine_map<(t, n, k) -> (t, k)>
#w = affine_map<(t, n, k) -> (n, k)>
#y = affine_map<(t, n, k) -> (t, n)>

// Unless there are few tokens: then they are computed where one token's are, by
// a kernel that knows it.
// CHECK-LABEL: func.func @few
// CHECK-COUNT-1: gist.dispatch
// CHECK-NOT:     gist.dispatch
// CHECK:       func.func private @matmul_0(
// CHECK-SAME:    gist.max_tokens = 16 : i64
func.func @few(%x: tensor<?x64xf32>, %t: index) -> tensor<?x96xf32>
    attributes {gist.max_tokens = 16 : i64} {
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

// -----

#row = affine_map<(t, n) -> (t, n)>
#number = affine_map<(t, n) -> (t)>
#x = affine_map<(t, n, k) -> (t, k)>
#w = affine_map<(t, n, k) -> (n, k)>
#y = affine_map<(t, n, k) -> (t, n)>

// A mean and a variance of a short row are computed along with the product too.
// CHECK-LABEL: func.func @short_norm
// CHECK-COUNT-1: gist.dispatch
// CHECK-NOT:     gist.dispatch
// CHECK:       func.func private @matmul_0
func.func @short_norm(%x: tensor<1x1024xf32>) -> tensor<1x96xf32> {
  %zero = arith.constant 0.0 : f32
  %count = arith.constant 1024.0 : f32
  %w = gist.weight "w" : tensor<96x1024xf16>
  %er = tensor.empty() : tensor<1xf32>
  %zr = linalg.fill ins(%zero : f32) outs(%er : tensor<1xf32>) -> tensor<1xf32>
  %s = linalg.generic {indexing_maps = [#row, #number], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<1x1024xf32>) outs(%zr : tensor<1xf32>) {
  ^bb0(%a: f32, %o: f32):
    %1 = arith.addf %a, %o : f32
    linalg.yield %1 : f32
  } -> tensor<1xf32>
  %v = linalg.generic {indexing_maps = [#row, #number, #number], iterator_types = ["parallel", "reduction"]}
      ins(%x, %s : tensor<1x1024xf32>, tensor<1xf32>) outs(%zr : tensor<1xf32>) {
  ^bb0(%a: f32, %m: f32, %o: f32):
    %0 = arith.divf %m, %count : f32
    %1 = arith.subf %a, %0 : f32
    %2 = arith.mulf %1, %1 : f32
    %3 = arith.addf %2, %o : f32
    linalg.yield %3 : f32
  } -> tensor<1xf32>
  %ex = tensor.empty() : tensor<1x1024xf32>
  %h = linalg.generic {indexing_maps = [#row, #number, #number, #row], iterator_types = ["parallel", "parallel"]}
      ins(%x, %s, %v : tensor<1x1024xf32>, tensor<1xf32>, tensor<1xf32>) outs(%ex : tensor<1x1024xf32>) {
  ^bb0(%a: f32, %m: f32, %b: f32, %o: f32):
    %0 = arith.divf %m, %count : f32
    %1 = arith.subf %a, %0 : f32
    %2 = math.rsqrt %b : f32
    %3 = arith.mulf %1, %2 : f32
    linalg.yield %3 : f32
  } -> tensor<1x1024xf32>
  %e = tensor.empty() : tensor<1x96xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<1x96xf32>) -> tensor<1x96xf32>
  %p = linalg.matmul indexing_maps = [#x, #w, #y] ins(%h, %w : tensor<1x1024xf32>, tensor<96x1024xf16>)
      outs(%z : tensor<1x96xf32>) -> tensor<1x96xf32>
  return %p : tensor<1x96xf32>
}

// -----

#row = affine_map<(t, n) -> (t, n)>
#number = affine_map<(t, n) -> (t)>
#x = affine_map<(t, n, k) -> (t, k)>
#w = affine_map<(t, n, k) -> (n, k)>
#y = affine_map<(t, n, k) -> (t, n)>

// Of a long row that takes longer than a launch.
// CHECK-LABEL: func.func @long_norm
// CHECK-COUNT-2: gist.dispatch
// CHECK-NOT:     gist.dispatch
// CHECK:       func.func private @rows_0
func.func @long_norm(%x: tensor<1x4096xf32>) -> tensor<1x96xf32> {
  %zero = arith.constant 0.0 : f32
  %count = arith.constant 4096.0 : f32
  %w = gist.weight "w" : tensor<96x4096xf16>
  %er = tensor.empty() : tensor<1xf32>
  %zr = linalg.fill ins(%zero : f32) outs(%er : tensor<1xf32>) -> tensor<1xf32>
  %s = linalg.generic {indexing_maps = [#row, #number], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<1x4096xf32>) outs(%zr : tensor<1xf32>) {
  ^bb0(%a: f32, %o: f32):
    %1 = arith.addf %a, %o : f32
    linalg.yield %1 : f32
  } -> tensor<1xf32>
  %v = linalg.generic {indexing_maps = [#row, #number, #number], iterator_types = ["parallel", "reduction"]}
      ins(%x, %s : tensor<1x4096xf32>, tensor<1xf32>) outs(%zr : tensor<1xf32>) {
  ^bb0(%a: f32, %m: f32, %o: f32):
    %0 = arith.divf %m, %count : f32
    %1 = arith.subf %a, %0 : f32
    %2 = arith.mulf %1, %1 : f32
    %3 = arith.addf %2, %o : f32
    linalg.yield %3 : f32
  } -> tensor<1xf32>
  %ex = tensor.empty() : tensor<1x4096xf32>
  %h = linalg.generic {indexing_maps = [#row, #number, #number, #row], iterator_types = ["parallel", "parallel"]}
      ins(%x, %s, %v : tensor<1x4096xf32>, tensor<1xf32>, tensor<1xf32>) outs(%ex : tensor<1x4096xf32>) {
  ^bb0(%a: f32, %m: f32, %b: f32, %o: f32):
    %0 = arith.divf %m, %count : f32
    %1 = arith.subf %a, %0 : f32
    %2 = math.rsqrt %b : f32
    %3 = arith.mulf %1, %2 : f32
    linalg.yield %3 : f32
  } -> tensor<1x4096xf32>
  %e = tensor.empty() : tensor<1x96xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<1x96xf32>) -> tensor<1x96xf32>
  %p = linalg.matmul indexing_maps = [#x, #w, #y] ins(%h, %w : tensor<1x4096xf32>, tensor<96x4096xf16>)
      outs(%z : tensor<1x96xf32>) -> tensor<1x96xf32>
  return %p : tensor<1x96xf32>
}

// -----

#x = affine_map<(t, n, k) -> (t, k)>
#w = affine_map<(t, n, k) -> (n, k)>
#y = affine_map<(t, n, k) -> (t, n)>

// One token's key and value are written by the kernel that attends to them. Its
// own result comes last.
// Where its workgroups have registers for the weights, the product that makes
// both and the query is in it as well.
// CHECK-LABEL: func.func @token
// CHECK-NOT:     gist.dispatch @matmul
// CHECK:         %{{.+}}:3 = gist.dispatch @attention_0
// CHECK-NOT:     gist.dispatch
// CHECK:       func.func private @attention_0({{.*}} -> (tensor<2x64x2x8xf32>, tensor<2x64x2x8xf32>, tensor<1x4x8xf32>)
// CHECK:         linalg.matmul
// CHECK:         %[[K:.+]] = tensor.insert_slice
// CHECK:         %[[V:.+]] = tensor.insert_slice
// CHECK:         %[[KEYS:.+]] = tensor.extract_slice %[[K]]
// CHECK:         %[[VALUES:.+]] = tensor.extract_slice %[[V]]
// CHECK:         %[[A:.+]] = gist.attention %{{.+}}, %[[KEYS]], %[[VALUES]]
// CHECK:         return %[[K]], %[[V]], %[[A]]
// CPU-LABEL: func.func @token
// CPU-COUNT-4: gist.dispatch
func.func @token(%x: tensor<1x32xf32>, %past: index, %kc: tensor<2x64x2x8xf32>, %vc: tensor<2x64x2x8xf32>)
    -> (tensor<1x4x8xf32>, tensor<2x64x2x8xf32>, tensor<2x64x2x8xf32>) {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1 : index
  %w = gist.weight "w" : tensor<64x32xf16>
  %e = tensor.empty() : tensor<1x64xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<1x64xf32>) -> tensor<1x64xf32>
  %p = linalg.matmul indexing_maps = [#x, #w, #y] ins(%x, %w : tensor<1x32xf32>, tensor<64x32xf16>)
      outs(%z : tensor<1x64xf32>) -> tensor<1x64xf32>
  %sk = tensor.extract_slice %p[0, 0] [1, 16] [1, 1] : tensor<1x64xf32> to tensor<1x16xf32>
  %sv = tensor.extract_slice %p[0, 16] [1, 16] [1, 1] : tensor<1x64xf32> to tensor<1x16xf32>
  %sq = tensor.extract_slice %p[0, 32] [1, 32] [1, 1] : tensor<1x64xf32> to tensor<1x32xf32>
  %hk = tensor.expand_shape %sk [[0], [1, 2]] output_shape [1, 2, 8] : tensor<1x16xf32> into tensor<1x2x8xf32>
  %hv = tensor.expand_shape %sv [[0], [1, 2]] output_shape [1, 2, 8] : tensor<1x16xf32> into tensor<1x2x8xf32>
  %hq = tensor.expand_shape %sq [[0], [1, 2]] output_shape [1, 4, 8] : tensor<1x32xf32> into tensor<1x4x8xf32>
  %eq = tensor.empty() : tensor<1x4x8xf32>
  %q = linalg.exp ins(%hq : tensor<1x4x8xf32>) outs(%eq : tensor<1x4x8xf32>) -> tensor<1x4x8xf32>
  %ek = tensor.empty() : tensor<1x2x8xf32>
  %k = linalg.exp ins(%hk : tensor<1x2x8xf32>) outs(%ek : tensor<1x2x8xf32>) -> tensor<1x2x8xf32>
  %v = linalg.abs ins(%hv : tensor<1x2x8xf32>) outs(%ek : tensor<1x2x8xf32>) -> tensor<1x2x8xf32>
  %kn = tensor.insert_slice %k into %kc[1, %past, 0, 0] [1, 1, 2, 8] [1, 1, 1, 1] : tensor<1x2x8xf32> into tensor<2x64x2x8xf32>
  %vn = tensor.insert_slice %v into %vc[1, %past, 0, 0] [1, 1, 2, 8] [1, 1, 1, 1] : tensor<1x2x8xf32> into tensor<2x64x2x8xf32>
  %n = arith.addi %past, %one : index
  %ka = tensor.extract_slice %kn[1, 0, 0, 0] [1, %n, 2, 8] [1, 1, 1, 1] : tensor<2x64x2x8xf32> to tensor<?x2x8xf32>
  %va = tensor.extract_slice %vn[1, 0, 0, 0] [1, %n, 2, 8] [1, 1, 1, 1] : tensor<2x64x2x8xf32> to tensor<?x2x8xf32>
  %a = gist.attention %q, %ka, %va causal : tensor<1x4x8xf32>, tensor<?x2x8xf32>, tensor<?x2x8xf32>
  return %a, %kn, %vn : tensor<1x4x8xf32>, tensor<2x64x2x8xf32>, tensor<2x64x2x8xf32>
}

// -----

#x = affine_map<(t, n, k) -> (t, k)>
#w = affine_map<(t, n, k) -> (n, k)>
#y = affine_map<(t, n, k) -> (t, n)>

// With more weights than they have registers for it stays apart.
// CHECK-LABEL: func.func @many_weights
// CHECK:         gist.dispatch @matmul_0
// CHECK:         gist.dispatch @attention_0
func.func @many_weights(%x: tensor<1x8192xf32>, %past: index, %kc: tensor<2x64x2x8xf32>, %vc: tensor<2x64x2x8xf32>)
    -> (tensor<1x4x8xf32>, tensor<2x64x2x8xf32>, tensor<2x64x2x8xf32>) {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1 : index
  %w = gist.weight "w" : tensor<64x8192xf16>
  %e = tensor.empty() : tensor<1x64xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<1x64xf32>) -> tensor<1x64xf32>
  %p = linalg.matmul indexing_maps = [#x, #w, #y] ins(%x, %w : tensor<1x8192xf32>, tensor<64x8192xf16>)
      outs(%z : tensor<1x64xf32>) -> tensor<1x64xf32>
  %sk = tensor.extract_slice %p[0, 0] [1, 16] [1, 1] : tensor<1x64xf32> to tensor<1x16xf32>
  %sv = tensor.extract_slice %p[0, 16] [1, 16] [1, 1] : tensor<1x64xf32> to tensor<1x16xf32>
  %sq = tensor.extract_slice %p[0, 32] [1, 32] [1, 1] : tensor<1x64xf32> to tensor<1x32xf32>
  %hk = tensor.expand_shape %sk [[0], [1, 2]] output_shape [1, 2, 8] : tensor<1x16xf32> into tensor<1x2x8xf32>
  %hv = tensor.expand_shape %sv [[0], [1, 2]] output_shape [1, 2, 8] : tensor<1x16xf32> into tensor<1x2x8xf32>
  %hq = tensor.expand_shape %sq [[0], [1, 2]] output_shape [1, 4, 8] : tensor<1x32xf32> into tensor<1x4x8xf32>
  %eq = tensor.empty() : tensor<1x4x8xf32>
  %q = linalg.exp ins(%hq : tensor<1x4x8xf32>) outs(%eq : tensor<1x4x8xf32>) -> tensor<1x4x8xf32>
  %ek = tensor.empty() : tensor<1x2x8xf32>
  %k = linalg.exp ins(%hk : tensor<1x2x8xf32>) outs(%ek : tensor<1x2x8xf32>) -> tensor<1x2x8xf32>
  %v = linalg.abs ins(%hv : tensor<1x2x8xf32>) outs(%ek : tensor<1x2x8xf32>) -> tensor<1x2x8xf32>
  %kn = tensor.insert_slice %k into %kc[1, %past, 0, 0] [1, 1, 2, 8] [1, 1, 1, 1] : tensor<1x2x8xf32> into tensor<2x64x2x8xf32>
  %vn = tensor.insert_slice %v into %vc[1, %past, 0, 0] [1, 1, 2, 8] [1, 1, 1, 1] : tensor<1x2x8xf32> into tensor<2x64x2x8xf32>
  %n = arith.addi %past, %one : index
  %ka = tensor.extract_slice %kn[1, 0, 0, 0] [1, %n, 2, 8] [1, 1, 1, 1] : tensor<2x64x2x8xf32> to tensor<?x2x8xf32>
  %va = tensor.extract_slice %vn[1, 0, 0, 0] [1, %n, 2, 8] [1, 1, 1, 1] : tensor<2x64x2x8xf32> to tensor<?x2x8xf32>
  %a = gist.attention %q, %ka, %va causal : tensor<1x4x8xf32>, tensor<?x2x8xf32>, tensor<?x2x8xf32>
  return %a, %kn, %vn : tensor<1x4x8xf32>, tensor<2x64x2x8xf32>, tensor<2x64x2x8xf32>
}

// -----

#x = affine_map<(t, n, k) -> (t, k)>
#w = affine_map<(t, n, k) -> (n, k)>
#y = affine_map<(t, n, k) -> (t, n)>
#same = affine_map<(t, h, c) -> (t, h, c)>
#other = affine_map<(t, h, c) -> (t, 1 - h, c)>

// So it does where a head is computed from another one's columns: here keys of
// both heads are read in the other order.
// CHECK-LABEL: func.func @mixed_heads
// CHECK:         gist.dispatch @matmul_0
// CHECK:         gist.dispatch @attention_0
func.func @mixed_heads(%x: tensor<1x32xf32>, %past: index, %kc: tensor<2x64x2x8xf32>, %vc: tensor<2x64x2x8xf32>)
    -> (tensor<1x4x8xf32>, tensor<2x64x2x8xf32>, tensor<2x64x2x8xf32>) {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1 : index
  %w = gist.weight "w" : tensor<64x32xf16>
  %e = tensor.empty() : tensor<1x64xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<1x64xf32>) -> tensor<1x64xf32>
  %p = linalg.matmul indexing_maps = [#x, #w, #y] ins(%x, %w : tensor<1x32xf32>, tensor<64x32xf16>)
      outs(%z : tensor<1x64xf32>) -> tensor<1x64xf32>
  %sk = tensor.extract_slice %p[0, 0] [1, 16] [1, 1] : tensor<1x64xf32> to tensor<1x16xf32>
  %sv = tensor.extract_slice %p[0, 16] [1, 16] [1, 1] : tensor<1x64xf32> to tensor<1x16xf32>
  %sq = tensor.extract_slice %p[0, 32] [1, 32] [1, 1] : tensor<1x64xf32> to tensor<1x32xf32>
  %hk = tensor.expand_shape %sk [[0], [1, 2]] output_shape [1, 2, 8] : tensor<1x16xf32> into tensor<1x2x8xf32>
  %hv = tensor.expand_shape %sv [[0], [1, 2]] output_shape [1, 2, 8] : tensor<1x16xf32> into tensor<1x2x8xf32>
  %hq = tensor.expand_shape %sq [[0], [1, 2]] output_shape [1, 4, 8] : tensor<1x32xf32> into tensor<1x4x8xf32>
  %eq = tensor.empty() : tensor<1x4x8xf32>
  %q = linalg.exp ins(%hq : tensor<1x4x8xf32>) outs(%eq : tensor<1x4x8xf32>) -> tensor<1x4x8xf32>
  %ek = tensor.empty() : tensor<1x2x8xf32>
  %k = linalg.generic {indexing_maps = [#other, #same], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%hk : tensor<1x2x8xf32>) outs(%ek : tensor<1x2x8xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<1x2x8xf32>
  %v = linalg.abs ins(%hv : tensor<1x2x8xf32>) outs(%ek : tensor<1x2x8xf32>) -> tensor<1x2x8xf32>
  %kn = tensor.insert_slice %k into %kc[1, %past, 0, 0] [1, 1, 2, 8] [1, 1, 1, 1] : tensor<1x2x8xf32> into tensor<2x64x2x8xf32>
  %vn = tensor.insert_slice %v into %vc[1, %past, 0, 0] [1, 1, 2, 8] [1, 1, 1, 1] : tensor<1x2x8xf32> into tensor<2x64x2x8xf32>
  %n = arith.addi %past, %one : index
  %ka = tensor.extract_slice %kn[1, 0, 0, 0] [1, %n, 2, 8] [1, 1, 1, 1] : tensor<2x64x2x8xf32> to tensor<?x2x8xf32>
  %va = tensor.extract_slice %vn[1, 0, 0, 0] [1, %n, 2, 8] [1, 1, 1, 1] : tensor<2x64x2x8xf32> to tensor<?x2x8xf32>
  %a = gist.attention %q, %ka, %va causal : tensor<1x4x8xf32>, tensor<?x2x8xf32>, tensor<?x2x8xf32>
  return %a, %kn, %vn : tensor<1x4x8xf32>, tensor<2x64x2x8xf32>, tensor<2x64x2x8xf32>
}

// -----

#x = affine_map<(t, n, k) -> (t, k)>
#w = affine_map<(t, n, k) -> (n, k)>
#y = affine_map<(t, n, k) -> (t, n)>

// A window counts the token's own key among those of the cache.
// CHECK-LABEL: func.func @windowed
// CHECK:         gist.dispatch @matmul_0
// CHECK:         gist.dispatch @cache_0
// CHECK:         gist.dispatch @attention_0
func.func @windowed(%x: tensor<1x32xf32>, %past: index, %kc: tensor<2x64x2x8xf32>, %vc: tensor<2x64x2x8xf32>)
    -> (tensor<1x4x8xf32>, tensor<2x64x2x8xf32>, tensor<2x64x2x8xf32>) {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1 : index
  %w = gist.weight "w" : tensor<64x32xf16>
  %e = tensor.empty() : tensor<1x64xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<1x64xf32>) -> tensor<1x64xf32>
  %p = linalg.matmul indexing_maps = [#x, #w, #y] ins(%x, %w : tensor<1x32xf32>, tensor<64x32xf16>)
      outs(%z : tensor<1x64xf32>) -> tensor<1x64xf32>
  %sk = tensor.extract_slice %p[0, 0] [1, 16] [1, 1] : tensor<1x64xf32> to tensor<1x16xf32>
  %sv = tensor.extract_slice %p[0, 16] [1, 16] [1, 1] : tensor<1x64xf32> to tensor<1x16xf32>
  %sq = tensor.extract_slice %p[0, 32] [1, 32] [1, 1] : tensor<1x64xf32> to tensor<1x32xf32>
  %hk = tensor.expand_shape %sk [[0], [1, 2]] output_shape [1, 2, 8] : tensor<1x16xf32> into tensor<1x2x8xf32>
  %hv = tensor.expand_shape %sv [[0], [1, 2]] output_shape [1, 2, 8] : tensor<1x16xf32> into tensor<1x2x8xf32>
  %hq = tensor.expand_shape %sq [[0], [1, 2]] output_shape [1, 4, 8] : tensor<1x32xf32> into tensor<1x4x8xf32>
  %eq = tensor.empty() : tensor<1x4x8xf32>
  %q = linalg.exp ins(%hq : tensor<1x4x8xf32>) outs(%eq : tensor<1x4x8xf32>) -> tensor<1x4x8xf32>
  %ek = tensor.empty() : tensor<1x2x8xf32>
  %k = linalg.exp ins(%hk : tensor<1x2x8xf32>) outs(%ek : tensor<1x2x8xf32>) -> tensor<1x2x8xf32>
  %v = linalg.abs ins(%hv : tensor<1x2x8xf32>) outs(%ek : tensor<1x2x8xf32>) -> tensor<1x2x8xf32>
  %kn = tensor.insert_slice %k into %kc[1, %past, 0, 0] [1, 1, 2, 8] [1, 1, 1, 1] : tensor<1x2x8xf32> into tensor<2x64x2x8xf32>
  %vn = tensor.insert_slice %v into %vc[1, %past, 0, 0] [1, 1, 2, 8] [1, 1, 1, 1] : tensor<1x2x8xf32> into tensor<2x64x2x8xf32>
  %n = arith.addi %past, %one : index
  %ka = tensor.extract_slice %kn[1, 0, 0, 0] [1, %n, 2, 8] [1, 1, 1, 1] : tensor<2x64x2x8xf32> to tensor<?x2x8xf32>
  %va = tensor.extract_slice %vn[1, 0, 0, 0] [1, %n, 2, 8] [1, 1, 1, 1] : tensor<2x64x2x8xf32> to tensor<?x2x8xf32>
  %a = gist.attention %q, %ka, %va causal window 16 : tensor<1x4x8xf32>, tensor<?x2x8xf32>, tensor<?x2x8xf32>
  return %a, %kn, %vn : tensor<1x4x8xf32>, tensor<2x64x2x8xf32>, tensor<2x64x2x8xf32>
}

// -----

#x = affine_map<(t, n, k) -> (t, k)>
#w = affine_map<(t, n, k) -> (n, k)>
#y = affine_map<(t, n, k) -> (t, n)>

// Queries that others read too stay a result of their own.
// CHECK-LABEL: func.func @query_read
// CHECK:         gist.dispatch @matmul_0
// CHECK:         gist.dispatch @cache_0
// CHECK:         gist.dispatch @attention_0
func.func @query_read(%x: tensor<1x32xf32>, %past: index, %kc: tensor<2x64x2x8xf32>, %vc: tensor<2x64x2x8xf32>)
    -> (tensor<1x4x8xf32>, tensor<2x64x2x8xf32>, tensor<2x64x2x8xf32>, tensor<1x4x8xf32>) {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1 : index
  %w = gist.weight "w" : tensor<64x32xf16>
  %e = tensor.empty() : tensor<1x64xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<1x64xf32>) -> tensor<1x64xf32>
  %p = linalg.matmul indexing_maps = [#x, #w, #y] ins(%x, %w : tensor<1x32xf32>, tensor<64x32xf16>)
      outs(%z : tensor<1x64xf32>) -> tensor<1x64xf32>
  %sk = tensor.extract_slice %p[0, 0] [1, 16] [1, 1] : tensor<1x64xf32> to tensor<1x16xf32>
  %sv = tensor.extract_slice %p[0, 16] [1, 16] [1, 1] : tensor<1x64xf32> to tensor<1x16xf32>
  %sq = tensor.extract_slice %p[0, 32] [1, 32] [1, 1] : tensor<1x64xf32> to tensor<1x32xf32>
  %hk = tensor.expand_shape %sk [[0], [1, 2]] output_shape [1, 2, 8] : tensor<1x16xf32> into tensor<1x2x8xf32>
  %hv = tensor.expand_shape %sv [[0], [1, 2]] output_shape [1, 2, 8] : tensor<1x16xf32> into tensor<1x2x8xf32>
  %hq = tensor.expand_shape %sq [[0], [1, 2]] output_shape [1, 4, 8] : tensor<1x32xf32> into tensor<1x4x8xf32>
  %eq = tensor.empty() : tensor<1x4x8xf32>
  %q = linalg.exp ins(%hq : tensor<1x4x8xf32>) outs(%eq : tensor<1x4x8xf32>) -> tensor<1x4x8xf32>
  %ek = tensor.empty() : tensor<1x2x8xf32>
  %k = linalg.exp ins(%hk : tensor<1x2x8xf32>) outs(%ek : tensor<1x2x8xf32>) -> tensor<1x2x8xf32>
  %v = linalg.abs ins(%hv : tensor<1x2x8xf32>) outs(%ek : tensor<1x2x8xf32>) -> tensor<1x2x8xf32>
  %kn = tensor.insert_slice %k into %kc[1, %past, 0, 0] [1, 1, 2, 8] [1, 1, 1, 1] : tensor<1x2x8xf32> into tensor<2x64x2x8xf32>
  %vn = tensor.insert_slice %v into %vc[1, %past, 0, 0] [1, 1, 2, 8] [1, 1, 1, 1] : tensor<1x2x8xf32> into tensor<2x64x2x8xf32>
  %n = arith.addi %past, %one : index
  %ka = tensor.extract_slice %kn[1, 0, 0, 0] [1, %n, 2, 8] [1, 1, 1, 1] : tensor<2x64x2x8xf32> to tensor<?x2x8xf32>
  %va = tensor.extract_slice %vn[1, 0, 0, 0] [1, %n, 2, 8] [1, 1, 1, 1] : tensor<2x64x2x8xf32> to tensor<?x2x8xf32>
  %a = gist.attention %q, %ka, %va causal : tensor<1x4x8xf32>, tensor<?x2x8xf32>, tensor<?x2x8xf32>
  return %a, %kn, %vn, %q : tensor<1x4x8xf32>, tensor<2x64x2x8xf32>, tensor<2x64x2x8xf32>, tensor<1x4x8xf32>
}
