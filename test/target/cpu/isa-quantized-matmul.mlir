// RUN: gist-opt %s -gist-tile="triple=aarch64-linux-gnu cpu=neoverse-v1" -gist-cpu \
// RUN:   -gist-write-cpu-code=assembly -o /dev/null > %t
// RUN: FileCheck %s < %t
// RUN: FileCheck %s --check-prefix=ROW < %t
// RUN: FileCheck %s --check-prefix=ONE < %t
// RUN: FileCheck %s --check-prefix=FIVE < %t
// RUN: FileCheck %s --check-prefix=SIX < %t

// Rows are packed once, 4 pairs of them; a product with ones, 4 steps of 8, gives
// the sums that the minima are multiplied with.
// CHECK-LABEL: matmul:
// CHECK-COUNT-16: smmla
// CHECK: b.{{ne|lo|lt}}
// Then eight rows by four columns: a block of 32 takes 4 steps of 8, each with 4
// row pairs and 2 column pairs, so 4 * 4 * 2 = 32 smmla. Accumulators start from
// zero, which costs nothing, and none leaves the registers in between.
// CHECK: movi v{{[0-9]+}}.2d, #0
// CHECK-COUNT-32: smmla
// CHECK-NOT: {{smmla|str}}
// CHECK: b.{{ne|lo|lt}}
// CHECK-NOT: smmla
// CHECK: .size matmul
// If there turns out to be one row, nothing is packed.
// ONE-LABEL: matmul:
// ONE: cmp [[ROWS:x[0-9]+]], #1
// ONE: sdot
// ONE: .size matmul
func.func private @matmul(%q: tensor<?x576xi8>, %s: tensor<?x18xf32>, %w: tensor<48x18x80xi8>,
    %out: tensor<?x192xf32>) -> tensor<?x192xf32> attributes {gist.kernel = #gist.kernel<kind = quantized_matmul, outputs = 1>} {
  %y = gist.quantized_matmul %q, %s, %w format q4_1
      packed <columns = 4, depth = 8, bits = 4, group = 32, scale_bits = 16, zero = 0, is_signed = false, has_min = true>
      : tensor<?x576xi8>, tensor<?x18xf32>, tensor<48x18x80xi8> -> tensor<?x192xf32>
  return %y : tensor<?x192xf32>
}

// A row alone, as in decoding, takes its bytes to both columns of a vector.
// ROW-LABEL: row:
// ROW: dup [[X:v[0-9]+]].2d, [[X]].d[0]
// ROW: sdot v{{[0-9]+}}.4s, v{{[0-9]+}}.16b, [[X]].16b
// ROW-NOT: smmla
// ROW: .size row
func.func private @row(%q: tensor<1x576xi8>, %s: tensor<1x18xf32>, %w: tensor<24x18x160xi8>,
    %out: tensor<1x192xf32>) -> tensor<1x192xf32> attributes {gist.kernel = #gist.kernel<kind = quantized_matmul, outputs = 1>} {
  %y = gist.quantized_matmul %q, %s, %w format q4_1
      packed <columns = 8, depth = 8, bits = 4, group = 32, scale_bits = 16, zero = 0, is_signed = false, has_min = true>
      : tensor<1x576xi8>, tensor<1x18xf32>, tensor<24x18x160xi8> -> tensor<1x192xf32>
  return %y : tensor<1x192xf32>
}

// The fifth bit of 16 values, where a byte has it: a test fills the upper half with
// the sign, and bsl or bit puts the lower half below.
// FIVE-LABEL: five:
// FIVE: cmtst
// FIVE: {{bsl|bit|bif}}
// FIVE: sdot
// FIVE-NOT: smmla
// FIVE: .size five
func.func private @five(%q: tensor<1x576xi8>, %s: tensor<1x18xf32>, %w: tensor<24x18x176xi8>,
    %out: tensor<1x192xf32>) -> tensor<1x192xf32> attributes {gist.kernel = #gist.kernel<kind = quantized_matmul, outputs = 1>} {
  %y = gist.quantized_matmul %q, %s, %w format q5_0
      packed <columns = 8, depth = 8, bits = 5, group = 32, scale_bits = 16, zero = 0, is_signed = true, has_min = false>
      : tensor<1x576xi8>, tensor<1x18xf32>, tensor<24x18x176xi8> -> tensor<1x192xf32>
  return %y : tensor<1x192xf32>
}

// Two bits go to the top and come down with their sign.
// SIX-LABEL: six:
// SIX: sshr {{v[0-9]+}}.16b, {{v[0-9]+}}.16b, #2
// SIX: {{bsl|bit|bif}}
// SIX: sdot
// SIX: .size six
func.func private @six(%q: tensor<1x512xi8>, %s: tensor<1x16xf32>, %w: tensor<24x2x1680xi8>,
    %out: tensor<1x192xf32>) -> tensor<1x192xf32> attributes {gist.kernel = #gist.kernel<kind = quantized_matmul, outputs = 1>} {
  %y = gist.quantized_matmul %q, %s, %w format q6_k
      packed <columns = 8, depth = 8, bits = 6, group = 16, scale_bits = 8, zero = 0, is_signed = true, has_min = false>
      : tensor<1x512xi8>, tensor<1x16xf32>, tensor<24x2x1680xi8> -> tensor<1x192xf32>
  return %y : tensor<1x192xf32>
}
