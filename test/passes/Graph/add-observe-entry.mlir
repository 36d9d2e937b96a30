// RUN: gist-opt %s -gist-add-observe-entry -split-input-file -verify-diagnostics | FileCheck %s

#rows = affine_map<(m, n, k) -> (m, k)>
#weight = affine_map<(m, n, k) -> (n, k)>
#result = affine_map<(m, n, k) -> (m, n)>

// What q and k read is shown once, then what each linear layer gives, and state
// is still returned.
// CHECK-LABEL: func.func @prefill(
// CHECK-LABEL: func.func @observe(
// CHECK-SAME: %[[X:[^:]*]]: tensor<?x64xf32>, %[[A:[^:]*]]: tensor<?x32xf32>, %[[Z:[^:]*]]: tensor<?x96xf32>, %[[S:[^:]*]]: tensor<4xf32>)
// CHECK-SAME: -> (tensor<?x64xf32> {gist.name = "2.qkv:blk.2.q.weight+blk.2.k.weight", gist.observed = #gist.observed<input, layer = 2, group = "qkv", weights = ["blk.2.q.weight", "blk.2.k.weight"]>}, tensor<?x32xf32> {gist.name = "2.o:blk.2.o.weight", gist.observed = #gist.observed<input, layer = 2, group = "o", weights = ["blk.2.o.weight"]>},
// CHECK-SAME: tensor<?x96xf32> {gist.name = "2.down:blk.2.down.weight", gist.observed = #gist.observed<input, layer = 2, group = "down", weights = ["blk.2.down.weight"]>},
// CHECK-SAME: tensor<?x24xf32> {gist.name = "2.qkv=blk.2.q.weight", gist.observed = #gist.observed<product, layer = 2, group = "qkv", weights = ["blk.2.q.weight"]>}, tensor<?x24xf32> {gist.name = "2.qkv=blk.2.k.weight", gist.observed = #gist.observed<product, layer = 2, group = "qkv", weights = ["blk.2.k.weight"]>},
// CHECK-SAME: tensor<?x24xf32> {gist.name = "2.o=blk.2.o.weight", gist.observed = #gist.observed<product, layer = 2, group = "o", weights = ["blk.2.o.weight"]>}, tensor<?x24xf32> {gist.name = "2.down=blk.2.down.weight", gist.observed = #gist.observed<product, layer = 2, group = "down", weights = ["blk.2.down.weight"]>}, tensor<4xf32>)
// CHECK: %[[Q:.*]] = linalg.matmul
// CHECK: %[[K:.*]] = linalg.matmul
// CHECK: %[[O:.*]] = linalg.matmul
// CHECK: %[[D:.*]] = linalg.matmul
// CHECK: return %[[X]], %[[A]], %[[Z]], %[[Q]], %[[K]], %[[O]], %[[D]], %[[S]]
func.func @prefill(%x: tensor<?x64xf32>, %a: tensor<?x32xf32>, %z: tensor<?x96xf32>, %s: tensor<4xf32>)
    -> (tensor<?x24xf32> {gist.name = "logits"}, tensor<4xf32>) {
  %c0 = arith.constant 0 : index
  %t = tensor.dim %x, %c0 : tensor<?x64xf32>
  %e = tensor.empty(%t) : tensor<?x24xf32>
  %wq = gist.weight "blk.2.q.weight" layer 2 : tensor<24x64xf16>
  %q = linalg.matmul indexing_maps = [#rows, #weight, #result]
      ins(%x, %wq : tensor<?x64xf32>, tensor<24x64xf16>) outs(%e : tensor<?x24xf32>) -> tensor<?x24xf32>
  %wk = gist.weight "blk.2.k.weight" layer 2 : tensor<24x64xf16>
  %k = linalg.matmul indexing_maps = [#rows, #weight, #result]
      ins(%x, %wk : tensor<?x64xf32>, tensor<24x64xf16>) outs(%q : tensor<?x24xf32>) -> tensor<?x24xf32>
  %wo = gist.weight "blk.2.o.weight" layer 2 : tensor<24x32xf16>
  %o = linalg.matmul indexing_maps = [#rows, #weight, #result]
      ins(%a, %wo : tensor<?x32xf32>, tensor<24x32xf16>) outs(%k : tensor<?x24xf32>) -> tensor<?x24xf32>
  %wd = gist.weight "blk.2.down.weight" layer 2 : tensor<24x96xf16>
  %d = linalg.matmul indexing_maps = [#rows, #weight, #result]
      ins(%z, %wd : tensor<?x96xf32>, tensor<24x96xf16>) outs(%o : tensor<?x24xf32>) -> tensor<?x24xf32>
  return %d, %s : tensor<?x24xf32>, tensor<4xf32>
}

// -----

#rows = affine_map<(m, n, k) -> (m, k)>
#weight = affine_map<(m, n, k) -> (n, k)>
#result = affine_map<(m, n, k) -> (m, n)>

// expected-error @+1 {{layer 0 has linear layers of 1 kinds of rows; expected 3 or 4}}
func.func @prefill(%x: tensor<?x64xf32>, %e: tensor<?x24xf32>) -> tensor<?x24xf32> {
  %w = gist.weight "blk.0.q.weight" layer 0 : tensor<24x64xf16>
  %q = linalg.matmul indexing_maps = [#rows, #weight, #result]
      ins(%x, %w : tensor<?x64xf32>, tensor<24x64xf16>) outs(%e : tensor<?x24xf32>) -> tensor<?x24xf32>
  return %q : tensor<?x24xf32>
}

// -----

#rows = affine_map<(m, n, k) -> (m, k)>
#weight = affine_map<(m, n, k) -> (n, k)>
#result = affine_map<(m, n, k) -> (m, n)>
#each = affine_map<(i, j) -> (i, j)>
#keys = affine_map<(i, j, k) -> (i, j, k)>

// What selections and heads look at is shown too: the residual stream, which is added to what attention gives, keys and
// values before the cache rounds them, and queries, times 2 because attention scales by twice 1/sqrt(16).
// CHECK-LABEL: func.func @observe(
// CHECK-SAME: %[[X:[^:]*]]: tensor<?x32xf32>
// CHECK-SAME: tensor<?x32xf32> {gist.name = "0@residual", gist.observed = #gist.observed<residual, layer = 0>}, tensor<?x2x16xf32> {gist.name = "0@keys", gist.observed = #gist.observed<keys, layer = 0>},
// CHECK-SAME: tensor<?x2x16xf32> {gist.name = "0@values", gist.observed = #gist.observed<values, layer = 0>}, tensor<?x2x16xf32> {gist.name = "0@queries", gist.observed = #gist.observed<queries, layer = 0>}, tensor<64x2x16xf16>, tensor<64x2x16xf16>
// A module writes each value once, and a linear layer has shown these numbers: keys and values are copies.
// CHECK: %[[KEYS:.*]] = tensor.expand_shape {{.*}} : tensor<?x32xf32> into tensor<?x2x16xf32>
// CHECK: %[[K:.*]] = linalg.generic {{.*}} ins(%[[KEYS]] :
// CHECK: arith.addf %{{.*}}, %cst
// CHECK: arith.truncf
// CHECK: %[[VALUES:.*]] = tensor.expand_shape {{.*}} : tensor<?x32xf32> into tensor<?x2x16xf32>
// CHECK: %[[V:.*]] = linalg.generic {{.*}} ins(%[[VALUES]] :
// CHECK: arith.addf %{{.*}}, %cst
// CHECK: arith.truncf
// CHECK: %[[QUERIES:.*]] = tensor.expand_shape {{.*}} : tensor<?x32xf32> into tensor<?x2x16xf32>
// CHECK: %[[Q:.*]] = linalg.generic {{.*}} ins(%[[QUERIES]] :
// CHECK: %[[TWO:.*]] = arith.constant 2.000000e+00 : f32
// CHECK: arith.mulf %{{.*}}, %[[TWO]] : f32
// CHECK: gist.attention {{.*}} scale 5.000000e-01
// CHECK: return {{.*}}, %[[X]], %[[K]], %[[V]], %[[Q]], %{{[^,]*}}, %{{[^,]*}} :
func.func @prefill(%x: tensor<?x32xf32>, %past: index, %cache: tensor<64x2x16xf16>, %vcache: tensor<64x2x16xf16>)
    -> (tensor<?x32xf32> {gist.name = "logits"}, tensor<64x2x16xf16>, tensor<64x2x16xf16>) {
  %c0 = arith.constant 0 : index
  %t = tensor.dim %x, %c0 : tensor<?x32xf32>
  %total = arith.addi %past, %t : index
  %e = tensor.empty(%t) : tensor<?x32xf32>
  %n = linalg.generic {indexing_maps = [#each, #each], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<?x32xf32>) outs(%e : tensor<?x32xf32>) {
  ^bb0(%in: f32, %out: f32):
    %twice = arith.addf %in, %in : f32
    linalg.yield %twice : f32
  } -> tensor<?x32xf32>
  %wq = gist.weight "blk.0.q.weight" layer 0 : tensor<32x32xf16>
  %q = linalg.matmul indexing_maps = [#rows, #weight, #result]
      ins(%n, %wq : tensor<?x32xf32>, tensor<32x32xf16>) outs(%e : tensor<?x32xf32>) -> tensor<?x32xf32>
  %wk = gist.weight "blk.0.k.weight" layer 0 : tensor<32x32xf16>
  %k = linalg.matmul indexing_maps = [#rows, #weight, #result]
      ins(%n, %wk : tensor<?x32xf32>, tensor<32x32xf16>) outs(%e : tensor<?x32xf32>) -> tensor<?x32xf32>
  %keys = tensor.expand_shape %k [[0], [1, 2]] output_shape [%t, 2, 16] : tensor<?x32xf32> into tensor<?x2x16xf32>
  %h = tensor.empty(%t) : tensor<?x2x16xf16>
  %half = linalg.generic {indexing_maps = [#keys, #keys], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%keys : tensor<?x2x16xf32>) outs(%h : tensor<?x2x16xf16>) {
  ^bb0(%in: f32, %out: f16):
    %cut = arith.truncf %in : f32 to f16
    linalg.yield %cut : f16
  } -> tensor<?x2x16xf16>
  %new = tensor.insert_slice %half into %cache[%past, 0, 0] [%t, 2, 16] [1, 1, 1] : tensor<?x2x16xf16> into tensor<64x2x16xf16>
  %all = tensor.extract_slice %new[0, 0, 0] [%total, 2, 16] [1, 1, 1] : tensor<64x2x16xf16> to tensor<?x2x16xf16>
  %wv = gist.weight "blk.0.v.weight" layer 0 : tensor<32x32xf16>
  %v = linalg.matmul indexing_maps = [#rows, #weight, #result]
      ins(%n, %wv : tensor<?x32xf32>, tensor<32x32xf16>) outs(%e : tensor<?x32xf32>) -> tensor<?x32xf32>
  %values = tensor.expand_shape %v [[0], [1, 2]] output_shape [%t, 2, 16] : tensor<?x32xf32> into tensor<?x2x16xf32>
  %vh = linalg.generic {indexing_maps = [#keys, #keys], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%values : tensor<?x2x16xf32>) outs(%h : tensor<?x2x16xf16>) {
  ^bb0(%in: f32, %out: f16):
    %cut = arith.truncf %in : f32 to f16
    linalg.yield %cut : f16
  } -> tensor<?x2x16xf16>
  %newv = tensor.insert_slice %vh into %vcache[%past, 0, 0] [%t, 2, 16] [1, 1, 1] : tensor<?x2x16xf16> into tensor<64x2x16xf16>
  %allv = tensor.extract_slice %newv[0, 0, 0] [%total, 2, 16] [1, 1, 1] : tensor<64x2x16xf16> to tensor<?x2x16xf16>
  %qs = tensor.expand_shape %q [[0], [1, 2]] output_shape [%t, 2, 16] : tensor<?x32xf32> into tensor<?x2x16xf32>
  %qh = linalg.generic {indexing_maps = [#keys, #keys], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%qs : tensor<?x2x16xf32>) outs(%h : tensor<?x2x16xf16>) {
  ^bb0(%in: f32, %out: f16):
    %cut = arith.truncf %in : f32 to f16
    linalg.yield %cut : f16
  } -> tensor<?x2x16xf16>
  %a = gist.attention %qh, %all, %allv causal scale 0.5 : tensor<?x2x16xf16>, tensor<?x2x16xf16>, tensor<?x2x16xf16>
  %rows = tensor.collapse_shape %a [[0], [1, 2]] : tensor<?x2x16xf16> into tensor<?x32xf16>
  %wo = gist.weight "blk.0.o.weight" layer 0 : tensor<32x32xf16>
  %o = linalg.matmul indexing_maps = [#rows, #weight, #result]
      ins(%rows, %wo : tensor<?x32xf16>, tensor<32x32xf16>) outs(%e : tensor<?x32xf32>) -> tensor<?x32xf32>
  %sum = linalg.generic {indexing_maps = [#each, #each, #each], iterator_types = ["parallel", "parallel"]}
      ins(%x, %o : tensor<?x32xf32>, tensor<?x32xf32>) outs(%e : tensor<?x32xf32>) {
  ^bb0(%in: f32, %more: f32, %out: f32):
    %both = arith.addf %in, %more : f32
    linalg.yield %both : f32
  } -> tensor<?x32xf32>
  %wd = gist.weight "blk.0.down.weight" layer 0 : tensor<32x32xf16>
  %d = linalg.matmul indexing_maps = [#rows, #weight, #result]
      ins(%sum, %wd : tensor<?x32xf32>, tensor<32x32xf16>) outs(%e : tensor<?x32xf32>) -> tensor<?x32xf32>
  return %d, %new, %newv : tensor<?x32xf32>, tensor<64x2x16xf16>, tensor<64x2x16xf16>
}
