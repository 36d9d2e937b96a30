// RUN: gist-opt %s -split-input-file -verify-diagnostics

func.func @quantize_rows_c1(%x: tensor<?x40xf32>) {
  // expected-error @+1 {{expects rows of a multiple of 32 values, got 40}}
  %q, %s = gist.quantize_rows %x : tensor<?x40xf32>
  return
}

// -----

func.func @quantized_matmul_c1_scales(%q: tensor<?x96xi8>, %s: tensor<?x4xf32>, %w: tensor<8x3x20xi8>) {
  // expected-error @+1 {{expects values of T x K and scales of T x K / 32}}
  %y = gist.quantized_matmul %q, %s, %w format q4_1
      : tensor<?x96xi8>, tensor<?x4xf32>, tensor<8x3x20xi8> -> tensor<?x8xf32>
  return
}

// -----

func.func @quantized_matmul_c2_blocks(%q: tensor<?x96xi8>, %s: tensor<?x3xf32>, %w: tensor<8x2x20xi8>) {
  // expected-error @+1 {{expects a weight of 8 x 96 values in blocks of q4_1}}
  %y = gist.quantized_matmul %q, %s, %w format q4_1
      : tensor<?x96xi8>, tensor<?x3xf32>, tensor<8x2x20xi8> -> tensor<?x8xf32>
  return
}

// -----

// 10 rows are three groups of four; a block is 4 * (16 + 2 + 2) bytes.
func.func @quantized_matmul_c3_packed(%q: tensor<?x96xi8>, %s: tensor<?x3xf32>, %w: tensor<2x3x80xi8>) {
  // expected-error @+1 {{expects a packed weight of 3 x 3 x 80 bytes}}
  %y = gist.quantized_matmul %q, %s, %w format q4_1
      packed <columns = 4, depth = 8, bits = 4, group = 32, scale_bits = 16, zero = 0, is_signed = false, has_min = true>
      : tensor<?x96xi8>, tensor<?x3xf32>, tensor<2x3x80xi8> -> tensor<?x10xf32>
  return
}

// -----

func.func @quantized_matmul_c4_rows(%q: tensor<5x96xi8>, %s: tensor<5x3xf32>, %w: tensor<8x3x20xi8>) {
  // expected-error @+1 {{expects as many rows in the result as in the values}}
  %y = gist.quantized_matmul %q, %s, %w format q4_1
      : tensor<5x96xi8>, tensor<5x3xf32>, tensor<8x3x20xi8> -> tensor<6x8xf32>
  return
}

// -----

func.func @quantized_matmul_c4_columns(%q: tensor<5x96xi8>, %s: tensor<5x3xf32>, %w: tensor<?x3x20xi8>) {
  // expected-error @+1 {{expects columns to be given iff the result has a dynamic number of them}}
  %y = gist.quantized_matmul %q, %s, %w format q4_1
      : tensor<5x96xi8>, tensor<5x3xf32>, tensor<?x3x20xi8> -> tensor<5x?xf32>
  return
}

// -----

// expected-error @+1 {{expects 2 to 6 or 8 bits, got 7}}
#p = #gist.packing<columns = 4, depth = 8, bits = 7, group = 32, scale_bits = 16, zero = 0, is_signed = false, has_min = true>

// -----

func.func @quantized_matmul_c5_guard(%q: tensor<5x96xi8>, %s: tensor<5x3xf32>, %w: tensor<8x3x20xi8>, %g: tensor<4xi8>) {
  // expected-error @+1 {{expects one guard per row, got 'tensor<4xi8>' for 'tensor<5x96xi8>'}}
  %y = gist.quantized_matmul %q, %s, %w format q4_1 where %g : tensor<4xi8>
      : tensor<5x96xi8>, tensor<5x3xf32>, tensor<8x3x20xi8> -> tensor<5x8xf32>
  return
}

// -----

func.func @guarded_matmul_c1(%x: tensor<5x96xf32>, %w: tensor<8x64xf16>, %g: tensor<5xi8>) {
  // expected-error @+1 {{expects a weight with as many columns as the input, got 'tensor<8x64xf16>' and 'tensor<5x96xf32>'}}
  %y = gist.guarded_matmul %x, %w where %g : tensor<5x96xf32>, tensor<8x64xf16>, tensor<5xi8>
  return
}

// -----

func.func @guarded_matmul_c2(%x: tensor<5x96xf32>, %w: tensor<8x96xf16>, %g: tensor<4xi8>) {
  // expected-error @+1 {{expects one guard per row, got 'tensor<4xi8>' for 'tensor<5x96xf32>'}}
  %y = gist.guarded_matmul %x, %w where %g : tensor<5x96xf32>, tensor<8x96xf16>, tensor<4xi8>
  return
}
