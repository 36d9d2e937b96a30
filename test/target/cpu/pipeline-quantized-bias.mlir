// RUN: gist-opt %s -gist-set-target="triple=aarch64-linux-gnu cpu=neoverse-v1" -gist-select-tile-config \
// RUN:   -gist-tile-and-distribute -canonicalize | FileCheck %s --check-prefix=TILE
// RUN: gist-opt %s -gist-tile="triple=aarch64-linux-gnu cpu=neoverse-v1" | FileCheck %s --check-prefix=BUFFER

// A bias has no rows, so how many there are is known from the product alone: its
// operands say it, and nothing of the whole product stays.
// TILE-DAG: #[[ROWS:.+]] = affine_map<()[s0, s1, s2] -> (s{{[01]}} ceildiv 32)>
// TILE-LABEL: func private @biased
// TILE-SAME:    gist.grid = [#[[ROWS]]]
// TILE-NOT:     gist.quantized_matmul
// TILE:         scf.forall
// TILE:           gist.quantized_matmul
// TILE:           linalg.generic
// TILE:           tensor.parallel_insert_slice
// TILE-NOT:     gist.quantized_matmul

// BUFFER-LABEL: func private @biased
// BUFFER-NOT:     memref.alloc(
func.func private @biased(%q: tensor<?x576xi8>, %s: tensor<?x18xf32>, %w: tensor<24x18x160xi8>,
    %bias: tensor<192xf32>, %out: tensor<?x192xf32>) -> tensor<?x192xf32>
    attributes {gist.kernel = #gist.kernel<kind = quantized_matmul, outputs = 1>} {
  %y = gist.quantized_matmul %q, %s, %w format q4_1
      packed <columns = 8, depth = 8, bits = 4, group = 32, scale_bits = 16, zero = 0, is_signed = false, has_min = true>
      : tensor<?x576xi8>, tensor<?x18xf32>, tensor<24x18x160xi8> -> tensor<?x192xf32>
  %b = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>,
      affine_map<(m, n) -> (n)>, affine_map<(m, n) -> (m, n)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%y, %bias : tensor<?x192xf32>, tensor<192xf32>) outs(%out : tensor<?x192xf32>) {
  ^bb0(%a: f32, %c: f32, %o: f32):
    %1 = arith.addf %a, %c : f32
    linalg.yield %1 : f32
  } -> tensor<?x192xf32>
  return %b : tensor<?x192xf32>
}
