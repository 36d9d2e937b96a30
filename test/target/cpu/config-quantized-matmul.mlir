// RUN: gist-opt %s -split-input-file -gist-set-target="triple=aarch64-linux-gnu cpu=neoverse-v1" -gist-select-tile-config | FileCheck %s --check-prefix=I8MM
// RUN: gist-opt %s -split-input-file -gist-set-target="triple=aarch64-linux-gnu cpu=neoverse-n1" -gist-select-tile-config | FileCheck %s --check-prefix=DOT
// RUN: gist-opt %s -split-input-file -gist-set-target="triple=aarch64-linux-gnu cpu=cortex-a72" -gist-select-tile-config | FileCheck %s --check-prefix=NEON
// RUN: gist-opt %s -split-input-file -gist-set-target="triple=x86_64-linux-gnu cpu=icelake-server" -gist-select-tile-config | FileCheck %s --check-prefix=VNNI
// RUN: gist-opt %s -split-input-file -gist-set-target="triple=x86_64-linux-gnu cpu=haswell" -gist-select-tile-config | FileCheck %s --check-prefix=AVX2

// The instruction follows from the CPU's features, not from its family.
// I8MM-LABEL: func private @divided
// I8MM-SAME:    gist.tile = #gist.cpu_product<rows = 32, columns = 192, registers = [8, 4], lanes = 4, instruction = smmla>
// DOT-LABEL:  func private @divided
// DOT-SAME:     instruction = sdot>
// NEON-LABEL: func private @divided
// NEON-SAME:    instruction = widen>
// VNNI-LABEL: func private @divided
// VNNI-SAME:    lanes = 16, instruction = vpdpbusd>
// AVX2-LABEL: func private @divided
// AVX2-SAME:    lanes = 8, instruction = widen>
func.func private @divided(%q: tensor<?x576xi8>, %s: tensor<?x18xf32>, %w: tensor<48x18x80xi8>,
    %out: tensor<?x192xf32>) -> tensor<?x192xf32> attributes {gist.kernel = #gist.kernel<kind = quantized_matmul, outputs = 1>} {
  %y = gist.quantized_matmul %q, %s, %w format q4_1
      packed <columns = 4, depth = 8, bits = 4, group = 32, scale_bits = 16, zero = 0, is_signed = false, has_min = true>
      : tensor<?x576xi8>, tensor<?x18xf32>, tensor<48x18x80xi8> -> tensor<?x192xf32>
  return %y : tensor<?x192xf32>
}

// -----

// 144 columns: 48 is the largest tile up to 64 that divides them; up to 192 it is
// all of them.
// DOT-LABEL:  func private @other_divisor
// DOT-SAME:     rows = 32, columns = 48,
// I8MM-LABEL: func private @other_divisor
// I8MM-SAME:    rows = 32, columns = 144,
func.func private @other_divisor(%q: tensor<?x576xi8>, %s: tensor<?x18xf32>, %w: tensor<36x18x80xi8>,
    %out: tensor<?x144xf32>) -> tensor<?x144xf32> attributes {gist.kernel = #gist.kernel<kind = quantized_matmul, outputs = 1>} {
  %y = gist.quantized_matmul %q, %s, %w format q4_1
      packed <columns = 4, depth = 8, bits = 4, group = 32, scale_bits = 16, zero = 0, is_signed = false, has_min = true>
      : tensor<?x576xi8>, tensor<?x18xf32>, tensor<36x18x80xi8> -> tensor<?x144xf32>
  return %y : tensor<?x144xf32>
}

// -----

// 257 is prime: the last workgroup is smaller than the others.
// I8MM-LABEL: func private @prime
// I8MM-SAME:    rows = 32, columns = 192,
func.func private @prime(%q: tensor<?x576xi8>, %s: tensor<?x18xf32>, %w: tensor<65x18x80xi8>,
    %out: tensor<?x257xf32>) -> tensor<?x257xf32> attributes {gist.kernel = #gist.kernel<kind = quantized_matmul, outputs = 1>} {
  %y = gist.quantized_matmul %q, %s, %w format q4_1
      packed <columns = 4, depth = 8, bits = 4, group = 32, scale_bits = 16, zero = 0, is_signed = false, has_min = true>
      : tensor<?x576xi8>, tensor<?x18xf32>, tensor<65x18x80xi8> -> tensor<?x257xf32>
  return %y : tensor<?x257xf32>
}

// -----

// One row: smaller pieces of the weight, so that all threads finish together.
// I8MM-LABEL: func private @one_row
// I8MM-SAME:    rows = 32, columns = 32,
func.func private @one_row(%q: tensor<1x576xi8>, %s: tensor<1x18xf32>, %w: tensor<48x18x80xi8>,
    %out: tensor<1x192xf32>) -> tensor<1x192xf32> attributes {gist.kernel = #gist.kernel<kind = quantized_matmul, outputs = 1>} {
  %y = gist.quantized_matmul %q, %s, %w format q4_1
      packed <columns = 4, depth = 8, bits = 4, group = 32, scale_bits = 16, zero = 0, is_signed = false, has_min = true>
      : tensor<1x576xi8>, tensor<1x18xf32>, tensor<48x18x80xi8> -> tensor<1x192xf32>
  return %y : tensor<1x192xf32>
}

// -----

// A choice that is already made stays, and functions that are not kernels get
// none.
// I8MM-LABEL: func private @chosen
// I8MM-SAME:    rows = 7
func.func private @chosen(%x: tensor<?x96xf32>, %q: tensor<?x96xi8>, %s: tensor<?x3xf32>)
    -> (tensor<?x96xi8>, tensor<?x3xf32>) attributes {gist.kernel = #gist.kernel<kind = rows, outputs = 2>,
    gist.tile = #gist.cpu_rows<rows = 7, lanes = 4>} {
  %v, %t = gist.quantize_rows %x : tensor<?x96xf32>
  return %v, %t : tensor<?x96xi8>, tensor<?x3xf32>
}

// I8MM-LABEL: func @host
// I8MM-NOT:     gist.tile
func.func @host(%x: tensor<?x96xf32>) -> tensor<?x96xf32> {
  return %x : tensor<?x96xf32>
}
