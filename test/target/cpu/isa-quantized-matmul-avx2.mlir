// RUN: gist-opt %s -split-input-file -gist-tile="triple=x86_64-linux-gnu cpu=haswell" -gist-cpu \
// RUN:   -gist-write-cpu-code=assembly -o /dev/null | FileCheck %s

// Weights of four bits: a block is eight products, added in 16 bits and then once
// in 32. Both rows of the registers take the same weights.
// CHECK-LABEL: four:
// CHECK:         vcvtph2ps
// CHECK-COUNT-8: vpmaddubsw {{.*}}%ymm
// CHECK:         vpmaddwd {{.*}}%ymm
// CHECK-COUNT-8: vpmaddubsw {{.*}}%ymm
// CHECK:         vpmaddwd {{.*}}%ymm
// CHECK-NOT:     vpmulld
// CHECK:         .size four
func.func private @four(%q: tensor<?x96xi8>, %s: tensor<?x3xf32>, %w: tensor<24x3x160xi8>,
    %out: tensor<?x192xf32>) -> tensor<?x192xf32> attributes {gist.kernel = #gist.kernel<kind = quantized_matmul, outputs = 1>} {
  %y = gist.quantized_matmul %q, %s, %w format q4_1
      packed <columns = 8, depth = 4, bits = 4, group = 32, scale_bits = 16, zero = 0, is_signed = false, has_min = true>
      : tensor<?x96xi8>, tensor<?x3xf32>, tensor<24x3x160xi8> -> tensor<?x192xf32>
  return %y : tensor<?x192xf32>
}

// -----

// Weights packed 16 columns wide: two rows take eight columns at a time, as many as
// there are registers for, so the eight products of a row come four times.
// CHECK-LABEL: wide:
// CHECK-COUNT-8: vpmaddubsw {{.*}}%ymm
// CHECK:         vpmaddwd {{.*}}%ymm
// CHECK-COUNT-8: vpmaddubsw {{.*}}%ymm
// CHECK:         vpmaddwd {{.*}}%ymm
// CHECK-COUNT-8: vpmaddubsw {{.*}}%ymm
// CHECK:         vpmaddwd {{.*}}%ymm
// CHECK-COUNT-8: vpmaddubsw {{.*}}%ymm
// CHECK:         vpmaddwd {{.*}}%ymm
// CHECK-NOT:     vpmulld
// CHECK:         .size wide
func.func private @wide(%q: tensor<?x96xi8>, %s: tensor<?x3xf32>, %w: tensor<12x3x320xi8>,
    %out: tensor<?x192xf32>) -> tensor<?x192xf32> attributes {gist.kernel = #gist.kernel<kind = quantized_matmul, outputs = 1>} {
  %y = gist.quantized_matmul %q, %s, %w format q4_1
      packed <columns = 16, depth = 4, bits = 4, group = 32, scale_bits = 16, zero = 0, is_signed = false, has_min = true>
      : tensor<?x96xi8>, tensor<?x3xf32>, tensor<12x3x320xi8> -> tensor<?x192xf32>
  return %y : tensor<?x192xf32>
}

// -----

// Sums of five bits fit 16 for four products.
// CHECK-LABEL: five:
// CHECK-COUNT-2: vpmaddwd {{.*}}%ymm
// CHECK-NOT:     {{vpmaddwd|vpmulld|vpmovzxbw}}
// CHECK:         .size five
func.func private @five(%q: tensor<1x96xi8>, %s: tensor<1x3xf32>, %w: tensor<24x3x176xi8>,
    %out: tensor<1x192xf32>) -> tensor<1x192xf32> attributes {gist.kernel = #gist.kernel<kind = quantized_matmul, outputs = 1>} {
  %y = gist.quantized_matmul %q, %s, %w format q5_0
      packed <columns = 8, depth = 4, bits = 5, group = 32, scale_bits = 16, zero = 16, is_signed = false, has_min = false>
      : tensor<1x96xi8>, tensor<1x3xf32>, tensor<24x3x176xi8> -> tensor<1x192xf32>
  return %y : tensor<1x192xf32>
}

// -----

// Weights of eight bits do not fit 16 bits in pairs: they are widened first.
// CHECK-LABEL: eight:
// CHECK:         vpmovzxbw
// CHECK-NOT:     vpmaddubsw
// CHECK:         vpmaddwd {{.*}}%ymm
// CHECK-NOT:     {{vpmaddubsw|vpmulld}}
// CHECK:         .size eight
func.func private @eight(%q: tensor<?x96xi8>, %s: tensor<?x3xf32>, %w: tensor<24x3x272xi8>,
    %out: tensor<?x192xf32>) -> tensor<?x192xf32> attributes {gist.kernel = #gist.kernel<kind = quantized_matmul, outputs = 1>} {
  %y = gist.quantized_matmul %q, %s, %w format q8_0
      packed <columns = 8, depth = 4, bits = 8, group = 32, scale_bits = 16, zero = 128, is_signed = false, has_min = false>
      : tensor<?x96xi8>, tensor<?x3xf32>, tensor<24x3x272xi8> -> tensor<?x192xf32>
  return %y : tensor<?x192xf32>
}
