// RUN: gist-opt %s -gist-tile="triple=aarch64-linux-gnu cpu=neoverse-v1" -gist-cpu \
// RUN:   -gist-write-cpu-code="triple=aarch64-linux-gnu cpu=neoverse-v1 assembly" -o /dev/null | FileCheck %s

// Eight rows by four columns: a block of 32 takes 4 steps of 8, each with 4 row
// pairs and 2 column pairs, so 4 * 4 * 2 = 32 smmla, and no accumulator leaves
// the registers in between.
// CHECK-LABEL: matmul:
// CHECK-COUNT-32: smmla
// CHECK-NOT: smmla
// One row alone: 4 steps of 2 vectors.
// CHECK-COUNT-8: sdot
// CHECK-NOT: {{sdot|smmla}}
// CHECK: .size matmul
func.func private @matmul(%q: tensor<?x576xi8>, %s: tensor<?x18xf32>, %w: tensor<48x18x80xi8>,
    %out: tensor<?x192xf32>) -> tensor<?x192xf32> attributes {gist.kernel, gist.outputs = 1} {
  %y = gist.quantized_matmul %q, %s, %w format q4_1
      packed <columns = 4, depth = 8, bits = 4, group = 32, scale_bits = 16, zero = 0, is_signed = false, has_min = true>
      : tensor<?x576xi8>, tensor<?x18xf32>, tensor<48x18x80xi8> -> tensor<?x192xf32>
  return %y : tensor<?x192xf32>
}
