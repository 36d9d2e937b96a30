// RUN: gist-opt %s -gist-tile="triple=x86_64-linux-gnu cpu=icelake-server" -gist-cpu \
// RUN:   -gist-write-cpu-code=assembly -o /dev/null | FileCheck %s

// A block of 320 bytes is five lines, fetched six blocks = 1920 bytes ahead of the
// first byte of the block, and then multiplied in eight steps of four.
// CHECK-LABEL: matmul:
// CHECK:         prefetcht0 [[FIRST:-?[0-9]+]]([[AT:%r[a-z0-9]+]])
// CHECK-COUNT-4: prefetcht0 {{.*}}([[AT]])
// CHECK-NOT:     prefetcht0
// CHECK-COUNT-8: vpdpbusd {{.*}}{1to16}{{.*}}%zmm
// CHECK-NOT:     vpdpbusd {{.*}}{1to16}
// CHECK:         .size matmul
func.func private @matmul(%q: tensor<1x576xi8>, %s: tensor<1x18xf32>, %w: tensor<12x18x320xi8>,
    %out: tensor<1x192xf32>) -> tensor<1x192xf32> attributes {gist.kernel = #gist.kernel<kind = quantized_matmul, outputs = 1>} {
  %y = gist.quantized_matmul %q, %s, %w format q4_1
      packed <columns = 16, depth = 4, bits = 4, group = 32, scale_bits = 16, zero = 0, is_signed = false, has_min = true>
      : tensor<1x576xi8>, tensor<1x18xf32>, tensor<12x18x320xi8> -> tensor<1x192xf32>
  return %y : tensor<1x192xf32>
}
