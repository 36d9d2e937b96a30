// RUN: gist-opt %s -gist-tile="triple=x86_64-linux-gnu cpu=icelake-server" -gist-cpu \
// RUN:   -gist-write-cpu-code=assembly -o /dev/null | FileCheck %s

// Sixteen columns in the lanes of a vector: 8 steps of 4 for each row. Eight rows
// at once, and code for a rest of 4, 2 and 1: (8 + 4 + 2 + 1) * 8 products. Numbers
// of the rows are broadcast; sums of rows, which the minima need, are products with
// ones and are not.
// CHECK-LABEL: matmul:
// CHECK-COUNT-120: vpdpbusd {{.*}}{1to16}{{.*}}%zmm
// CHECK-NOT: vpdpbusd {{.*}}{1to16}
// CHECK: .size matmul
func.func private @matmul(%q: tensor<?x576xi8>, %s: tensor<?x18xf32>, %w: tensor<12x18x320xi8>,
    %out: tensor<?x192xf32>) -> tensor<?x192xf32> attributes {gist.kernel = #gist.kernel<kind = quantized_matmul, outputs = 1>} {
  %y = gist.quantized_matmul %q, %s, %w format q4_1
      packed <columns = 16, depth = 4, bits = 4, group = 32, scale_bits = 16, zero = 0, is_signed = false, has_min = true>
      : tensor<?x576xi8>, tensor<?x18xf32>, tensor<12x18x320xi8> -> tensor<?x192xf32>
  return %y : tensor<?x192xf32>
}
