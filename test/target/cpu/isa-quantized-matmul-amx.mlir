// RUN: gist-opt %s -gist-tile="triple=x86_64-linux-gnu cpu=sapphirerapids" -gist-cpu \
// RUN:   -gist-write-cpu-code=assembly -o /dev/null | FileCheck %s

// Tiles are configured once. A block of 32 is one product of tiles, whose 16 rows
// of integers are read from where the tile was stored: each is converted and
// multiplied with its row's scale times those of the columns, and the row's sum
// with the columns' minima. Two blocks are taken in turns. Accumulators stay in
// registers.
// CHECK-LABEL: matmul:
// CHECK-NOT:     tileloadd
// CHECK:         ldtilecfg
// CHECK:         tileloadd
// CHECK:         tileloadd
// CHECK:         tilezero [[SUM:%tmm[0-7]]]
// CHECK-NEXT:    tdpbsud {{.*}}, [[SUM]]
// CHECK:         tilestored [[SUM]],
// CHECK-NOT:     {{Spill|Reload}}
// CHECK-COUNT-16: vcvtdq2ps {{[0-9]*}}(%rsp), %zmm
// CHECK-NOT:     {{vcvtdq2ps|Spill|Reload}}
// CHECK:         tdpbsud
// CHECK:         tilestored
// CHECK-NOT:     {{Spill|Reload}}
// CHECK-COUNT-16: vcvtdq2ps {{[0-9]*}}(%rsp), %zmm
// CHECK-NOT:     {{vcvtdq2ps|Spill|Reload}}
// CHECK:         jb
// CHECK-NOT:     {{tdpbsud|ldtilecfg}}
// CHECK:         tilerelease
// CHECK:         .size matmul
func.func private @matmul(%q: tensor<?x576xi8>, %s: tensor<?x18xf32>, %w: tensor<12x18x320xi8>,
    %out: tensor<?x192xf32>) -> tensor<?x192xf32> attributes {gist.kernel = #gist.kernel<kind = quantized_matmul, outputs = 1>} {
  %y = gist.quantized_matmul %q, %s, %w format q4_1
      packed <columns = 16, depth = 4, bits = 4, group = 32, scale_bits = 16, zero = 0, is_signed = false, has_min = true>
      : tensor<?x576xi8>, tensor<?x18xf32>, tensor<12x18x320xi8> -> tensor<?x192xf32>
  return %y : tensor<?x192xf32>
}
