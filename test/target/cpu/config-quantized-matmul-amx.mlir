// RUN: gist-opt %s -split-input-file -gist-set-target="triple=x86_64-linux-gnu cpu=sapphirerapids" -gist-select-tile-config | FileCheck %s
// RUN: gist-opt %s -split-input-file -gist-set-target="triple=x86_64-linux-gnu cpu=icelake-server" -gist-select-tile-config | FileCheck %s --check-prefix=VNNI

// Many rows of weights that are packed as tiles want them.
// CHECK-LABEL: func private @many
// CHECK-NOT:     gist.prefetch
// CHECK-SAME:    gist.tile = #gist.cpu_product<rows = 64, columns = 192, registers = [16, 16], lanes = 16, instruction = tdpbsud>
// VNNI-LABEL:  func private @many
// VNNI-SAME:     gist.tile = #gist.cpu_product<rows = 32, columns = 64, registers = [8, 16], lanes = 16, instruction = vpdpbusd>
func.func private @many(%q: tensor<?x576xi8>, %s: tensor<?x18xf32>, %w: tensor<12x18x320xi8>,
    %out: tensor<?x192xf32>) -> tensor<?x192xf32> attributes {gist.kernel = #gist.kernel<kind = quantized_matmul, outputs = 1>} {
  %y = gist.quantized_matmul %q, %s, %w format q4_1
      packed <columns = 16, depth = 4, bits = 4, group = 32, scale_bits = 16, zero = 0, is_signed = false, has_min = true>
      : tensor<?x576xi8>, tensor<?x18xf32>, tensor<12x18x320xi8> -> tensor<?x192xf32>
  return %y : tensor<?x192xf32>
}

// -----

// One row has nothing to fill a tile with. It waits for memory, so that weights
// are fetched ahead.
// CHECK-LABEL: func private @one
// CHECK-SAME:    gist.prefetch = 6 : i64
// CHECK-SAME:    columns = 32, registers = [8, 16], lanes = 16, instruction = vpdpbusd>
func.func private @one(%q: tensor<1x576xi8>, %s: tensor<1x18xf32>, %w: tensor<12x18x320xi8>,
    %out: tensor<1x192xf32>) -> tensor<1x192xf32> attributes {gist.kernel = #gist.kernel<kind = quantized_matmul, outputs = 1>} {
  %y = gist.quantized_matmul %q, %s, %w format q4_1
      packed <columns = 16, depth = 4, bits = 4, group = 32, scale_bits = 16, zero = 0, is_signed = false, has_min = true>
      : tensor<1x576xi8>, tensor<1x18xf32>, tensor<12x18x320xi8> -> tensor<1x192xf32>
  return %y : tensor<1x192xf32>
}

// -----

// Rows of 14336 numbers: 64 of them, each with 448 scales and 448 sums, and 16
// columns are 64 * (14336 + 2 * 4 * 448) + 16 * (14336 + 2 * 4 * 448) bytes, more
// than the 768 KiB that a workgroup may take. 32 rows are 860160 bytes, 16 are
// 573440.
// CHECK-LABEL: func private @long
// CHECK-SAME:    rows = 16, columns = 192, registers = [16, 16], lanes = 16, instruction = tdpbsud>
func.func private @long(%q: tensor<?x14336xi8>, %s: tensor<?x448xf32>, %w: tensor<12x448x320xi8>,
    %out: tensor<?x192xf32>) -> tensor<?x192xf32> attributes {gist.kernel = #gist.kernel<kind = quantized_matmul, outputs = 1>} {
  %y = gist.quantized_matmul %q, %s, %w format q4_1
      packed <columns = 16, depth = 4, bits = 4, group = 32, scale_bits = 16, zero = 0, is_signed = false, has_min = true>
      : tensor<?x14336xi8>, tensor<?x448xf32>, tensor<12x448x320xi8> -> tensor<?x192xf32>
  return %y : tensor<?x192xf32>
}

// -----

// Even 16 of these are too long.
// CHECK-LABEL: func private @longer
// CHECK-SAME:    instruction = vpdpbusd>
func.func private @longer(%q: tensor<?x20480xi8>, %s: tensor<?x640xf32>, %w: tensor<12x640x320xi8>,
    %out: tensor<?x192xf32>) -> tensor<?x192xf32> attributes {gist.kernel = #gist.kernel<kind = quantized_matmul, outputs = 1>} {
  %y = gist.quantized_matmul %q, %s, %w format q4_1
      packed <columns = 16, depth = 4, bits = 4, group = 32, scale_bits = 16, zero = 0, is_signed = false, has_min = true>
      : tensor<?x20480xi8>, tensor<?x640xf32>, tensor<12x640x320xi8> -> tensor<?x192xf32>
  return %y : tensor<?x192xf32>
}

// -----

// Weights that were packed for another CPU stay with what they were packed for.
// CHECK-LABEL: func private @other_packing
// CHECK-SAME:    instruction = vpdpbusd>
func.func private @other_packing(%q: tensor<?x576xi8>, %s: tensor<?x18xf32>, %w: tensor<24x18x160xi8>,
    %out: tensor<?x192xf32>) -> tensor<?x192xf32> attributes {gist.kernel = #gist.kernel<kind = quantized_matmul, outputs = 1>} {
  %y = gist.quantized_matmul %q, %s, %w format q4_1
      packed <columns = 8, depth = 4, bits = 4, group = 32, scale_bits = 16, zero = 0, is_signed = false, has_min = true>
      : tensor<?x576xi8>, tensor<?x18xf32>, tensor<24x18x160xi8> -> tensor<?x192xf32>
  return %y : tensor<?x192xf32>
}

// -----

// A choice that is there stays.
// CHECK-LABEL: func private @chosen
// CHECK-SAME:    gist.prefetch = 2 : i64
// CHECK-SAME:    instruction = vpdpbusd>
func.func private @chosen(%q: tensor<1x576xi8>, %s: tensor<1x18xf32>, %w: tensor<12x18x320xi8>,
    %out: tensor<1x192xf32>) -> tensor<1x192xf32> attributes {gist.kernel = #gist.kernel<kind = quantized_matmul, outputs = 1>, gist.prefetch = 2 : i64} {
  %y = gist.quantized_matmul %q, %s, %w format q4_1
      packed <columns = 16, depth = 4, bits = 4, group = 32, scale_bits = 16, zero = 0, is_signed = false, has_min = true>
      : tensor<1x576xi8>, tensor<1x18xf32>, tensor<12x18x320xi8> -> tensor<1x192xf32>
  return %y : tensor<1x192xf32>
}
