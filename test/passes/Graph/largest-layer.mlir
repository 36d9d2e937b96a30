// Weights may name any layer; LLVM's maps keep the largest numbers for
// themselves.
// RUN: gist-opt %s -gist-add-observe-entry -verify-diagnostics

#rows = affine_map<(m, n, k) -> (m, k)>
#weight = affine_map<(m, n, k) -> (n, k)>
#result = affine_map<(m, n, k) -> (m, n)>
// expected-error @+1 {{layer 9223372036854775807 has linear layers of 1 kinds of rows; expected 3 or 4}}
func.func @prefill(%x: tensor<?x64xf32>, %e: tensor<?x24xf32>) -> (tensor<?x24xf32> {gist.name = "logits"}) {
  %w = gist.weight "w" layer 9223372036854775807 : tensor<24x64xf16>
  %q = linalg.matmul indexing_maps = [#rows, #weight, #result]
      ins(%x, %w : tensor<?x64xf32>, tensor<24x64xf16>) outs(%e : tensor<?x24xf32>) -> tensor<?x24xf32>
  return %q : tensor<?x24xf32>
}
