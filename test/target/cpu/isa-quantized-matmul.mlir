// RUN: gist-opt %s -gist-tile="triple=aarch64-linux-gnu cpu=neoverse-v1" -gist-cpu \
// RUN:   -gist-write-cpu-code="triple=aarch64-linux-gnu cpu=neoverse-v1 assembly" -o /dev/null > %t
// RUN: FileCheck %s < %t
// RUN: FileCheck %s --check-prefix=ROW < %t

// Eight rows by four columns: a block of 32 takes 4 steps of 8, each with 4 row
// pairs and 2 column pairs, so 4 * 4 * 2 = 32 smmla, and no accumulator leaves
// the registers in between.
// CHECK-LABEL: matmul:
// CHECK-COUNT-32: smmla
// CHECK-NOT: smmla
// CHECK: .size matmul

// A row alone, as in decoding, takes its bytes to both columns of a vector.
// ROW-LABEL: matmul:
// ROW: dup [[X:v[0-9]+]].2d, [[X]].d[0]
// ROW: sdot v{{[0-9]+}}.4s, v{{[0-9]+}}.16b, [[X]].16b
func.func private @matmul(%q: tensor<?x576xi8>, %s: tensor<?x18xf32>, %w: tensor<48x18x80xi8>,
    %out: tensor<?x192xf32>) -> tensor<?x192xf32> attributes {gist.kernel, gist.outputs = 1} {
  %y = gist.quantized_matmul %q, %s, %w format q4_1
      packed <columns = 4, depth = 8, bits = 4, group = 32, scale_bits = 16, zero = 0, is_signed = false, has_min = true>
      : tensor<?x576xi8>, tensor<?x18xf32>, tensor<48x18x80xi8> -> tensor<?x192xf32>
  return %y : tensor<?x192xf32>
}
