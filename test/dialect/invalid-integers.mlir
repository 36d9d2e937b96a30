// RUN: gist-opt %s -split-input-file -verify-diagnostics

func.func @quantize_blocks_c1(%x: tensor<?x40xf32>) {
  // expected-error @+1 {{expects rows of a multiple of 32 values, got 40}}
  %q, %s = gist.quantize_blocks %x block 128 : tensor<?x40xf32>
  return
}

// -----

func.func @quantize_blocks_c2(%x: tensor<?x96xf32>) {
  // expected-error @+1 {{expects blocks of a multiple of 32 values, got 48}}
  %q, %s = gist.quantize_blocks %x block 48 : tensor<?x96xf32>
  return
}

// -----

// 96 numbers are one block of 64 and one that is half full.
func.func @scaled_matmul_c2(%q: tensor<?x96xi8>, %s: tensor<?x1xf32>, %w: tensor<8x96xi8>) {
  // expected-error @+1 {{expects 2 scales for each row of 'tensor<?x96xi8>', got 'tensor<?x1xf32>'}}
  %y = gist.scaled_matmul %q, %s, %w block 64 : tensor<?x96xi8>, tensor<?x1xf32>, tensor<8x96xi8>
  return
}

// -----

func.func @scaled_matmul_c2_rows(%q: tensor<5x96xi8>, %s: tensor<6x2xf32>, %w: tensor<8x96xi8>) {
  // expected-error @+1 {{expects 2 scales for each row}}
  %y = gist.scaled_matmul %q, %s, %w block 64 : tensor<5x96xi8>, tensor<6x2xf32>, tensor<8x96xi8>
  return
}

// -----

func.func @scaled_matmul_c3(%q: tensor<?x96xi8>, %s: tensor<?x2xf32>, %w: tensor<8x64xi8>) {
  // expected-error @+1 {{expects a weight with as many columns as the values}}
  %y = gist.scaled_matmul %q, %s, %w block 64 : tensor<?x96xi8>, tensor<?x2xf32>, tensor<8x64xi8>
  return
}

// -----

// expected-error @+1 {{'gist.by_row'}}
"gist.weight"() {name = "w", gist.by_row = f16} : () -> tensor<8x64xi8>

// -----

func.func @quantize_blocks_c3(%x: tensor<?x96xf32>) {
  // expected-error @+1 {{expects i8, f8E4M3FN or f8E4M3FNUZ numbers, got 'f8E5M2'}}
  %q, %s = gist.quantize_blocks %x block 96 as f8E5M2 : tensor<?x96xf32>
  return
}

// -----

func.func @scaled_matmul_c3_type(%q: tensor<?x96xi8>, %s: tensor<?x1xf32>, %w: tensor<8x96xf8E4M3FN>) {
  // expected-error @+1 {{expects a weight with as many columns as the values and of their type}}
  %y = gist.scaled_matmul %q, %s, %w block 96 : tensor<?x96xi8>, tensor<?x1xf32>, tensor<8x96xf8E4M3FN>
  return
}
