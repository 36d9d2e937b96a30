// RUN: gist-opt %s -gist-add-observe-entry -split-input-file -verify-diagnostics | FileCheck %s

#rows = affine_map<(m, n, k) -> (m, k)>
#weight = affine_map<(m, n, k) -> (n, k)>
#result = affine_map<(m, n, k) -> (m, n)>

// What q and k read is shown once, then what each linear layer gives, and state
// is still returned.
// CHECK-LABEL: func.func @prefill(
// CHECK-LABEL: func.func @observe(
// CHECK-SAME: %[[X:[^:]*]]: tensor<?x64xf32>, %[[A:[^:]*]]: tensor<?x32xf32>, %[[Z:[^:]*]]: tensor<?x96xf32>, %[[S:[^:]*]]: tensor<4xf32>)
// CHECK-SAME: -> (tensor<?x64xf32> {gist.name = "2.qkv:blk.2.q.weight+blk.2.k.weight"}, tensor<?x32xf32> {gist.name = "2.o:blk.2.o.weight"},
// CHECK-SAME: tensor<?x96xf32> {gist.name = "2.down:blk.2.down.weight"},
// CHECK-SAME: tensor<?x24xf32> {gist.name = "2.qkv=blk.2.q.weight"}, tensor<?x24xf32> {gist.name = "2.qkv=blk.2.k.weight"},
// CHECK-SAME: tensor<?x24xf32> {gist.name = "2.o=blk.2.o.weight"}, tensor<?x24xf32> {gist.name = "2.down=blk.2.down.weight"}, tensor<4xf32>)
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
  %wq = gist.weight "blk.2.q.weight" : tensor<24x64xf16>
  %q = linalg.matmul indexing_maps = [#rows, #weight, #result]
      ins(%x, %wq : tensor<?x64xf32>, tensor<24x64xf16>) outs(%e : tensor<?x24xf32>) -> tensor<?x24xf32>
  %wk = gist.weight "blk.2.k.weight" : tensor<24x64xf16>
  %k = linalg.matmul indexing_maps = [#rows, #weight, #result]
      ins(%x, %wk : tensor<?x64xf32>, tensor<24x64xf16>) outs(%q : tensor<?x24xf32>) -> tensor<?x24xf32>
  %wo = gist.weight "blk.2.o.weight" : tensor<24x32xf16>
  %o = linalg.matmul indexing_maps = [#rows, #weight, #result]
      ins(%a, %wo : tensor<?x32xf32>, tensor<24x32xf16>) outs(%k : tensor<?x24xf32>) -> tensor<?x24xf32>
  %wd = gist.weight "blk.2.down.weight" : tensor<24x96xf16>
  %d = linalg.matmul indexing_maps = [#rows, #weight, #result]
      ins(%z, %wd : tensor<?x96xf32>, tensor<24x96xf16>) outs(%o : tensor<?x24xf32>) -> tensor<?x24xf32>
  return %d, %s : tensor<?x24xf32>, tensor<4xf32>
}

// -----

#rows = affine_map<(m, n, k) -> (m, k)>
#weight = affine_map<(m, n, k) -> (n, k)>
#result = affine_map<(m, n, k) -> (m, n)>

// expected-error @+1 {{layer 0 has linear layers of 1 kinds of rows, expected 3 or 4}}
func.func @prefill(%x: tensor<?x64xf32>, %e: tensor<?x24xf32>) -> tensor<?x24xf32> {
  %w = gist.weight "blk.0.q.weight" : tensor<24x64xf16>
  %q = linalg.matmul indexing_maps = [#rows, #weight, #result]
      ins(%x, %w : tensor<?x64xf32>, tensor<24x64xf16>) outs(%e : tensor<?x24xf32>) -> tensor<?x24xf32>
  return %q : tensor<?x24xf32>
}
