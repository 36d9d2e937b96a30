// RUN: gist-opt %s -split-input-file -verify-diagnostics

func.func @c1_dynamic_weight(%x: tensor<?x8xf32>, %w: tensor<?x8xf32>, %e: tensor<?x2xi32>) {
  // expected-error @+1 {{expects a weight of static size, got ? x 8}}
  %y = gist.expert_matmul %x, %w by %e : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x2xi32> -> tensor<?x12xf32>
  return
}

// -----

func.func @c1_part_of_an_expert(%x: tensor<?x8xf32>, %w: tensor<31x8xf32>, %e: tensor<?x2xi32>) {
  // expected-error @+1 {{expects as many rows as the input, and for each of 2 experts a part of the weight's 31 rows, got 'tensor<?x12xf32>'}}
  %y = gist.expert_matmul %x, %w by %e : tensor<?x8xf32>, tensor<31x8xf32>, tensor<?x2xi32> -> tensor<?x12xf32>
  return
}

// -----

func.func @c2_no_experts(%x: tensor<?x8xf32>, %w: tensor<30x8xf32>, %e: tensor<?x0xi32>) {
  // expected-error @+1 {{expects a static number of experts for each row, got 'tensor<?x0xi32>'}}
  %y = gist.expert_matmul %x, %w by %e : tensor<?x8xf32>, tensor<30x8xf32>, tensor<?x0xi32> -> tensor<?x12xf32>
  return
}

// -----

func.func @c2_other_rows(%x: tensor<4x8xf32>, %w: tensor<30x8xf32>, %e: tensor<5x2xi32>) {
  // expected-error @+1 {{expects a static number of experts for each row, got 'tensor<5x2xi32>' for 'tensor<4x8xf32>'}}
  %y = gist.expert_matmul %x, %w by %e : tensor<4x8xf32>, tensor<30x8xf32>, tensor<5x2xi32> -> tensor<4x12xf32>
  return
}

// -----

func.func @c3_other_depth(%x: tensor<?x24xf32>, %w: tensor<30x8xf32>, %e: tensor<?x2xi32>) {
  // expected-error @+1 {{expects rows of 8 numbers, or of 2 times as many, got 'tensor<?x24xf32>'}}
  %y = gist.expert_matmul %x, %w by %e : tensor<?x24xf32>, tensor<30x8xf32>, tensor<?x2xi32> -> tensor<?x12xf32>
  return
}

// -----

func.func @c3_part_of_a_row(%x: tensor<?x17xf32>, %w: tensor<30x8xf32>, %e: tensor<?x2xi32>) {
  // expected-error @+1 {{expects whole rows for each of 2 experts, got 'tensor<?x17xf32>'}}
  %y = gist.expert_matmul %x, %w by %e : tensor<?x17xf32>, tensor<30x8xf32>, tensor<?x2xi32> -> tensor<?x12xf32>
  return
}

// -----

func.func @c4_other_rows(%x: tensor<4x8xf32>, %w: tensor<30x8xf32>, %e: tensor<4x2xi32>) {
  // expected-error @+1 {{expects as many rows as the input}}
  %y = gist.expert_matmul %x, %w by %e : tensor<4x8xf32>, tensor<30x8xf32>, tensor<4x2xi32> -> tensor<3x12xf32>
  return
}

// -----

func.func @c5_scales(%q: tensor<?x64xi8>, %s: tensor<?x1xf32>, %w: tensor<30x2x20xi8>, %e: tensor<?x2xi32>) {
  // expected-error @+1 {{expects values in rows of whole blocks and a scale for each 32}}
  %y = gist.quantized_expert_matmul %q, %s, %w format q4_1 by %e
      : tensor<?x64xi8>, tensor<?x1xf32>, tensor<30x2x20xi8>, tensor<?x2xi32> -> tensor<?x12xf32>
  return
}

// -----

func.func @other_blocks(%q: tensor<?x32xi8>, %s: tensor<?x1xf32>, %w: tensor<30x1x18xi8>, %e: tensor<?x2xi32>) {
  // expected-error @+1 {{expects a weight in blocks of 20 bytes, got 'tensor<30x1x18xi8>'}}
  %y = gist.quantized_expert_matmul %q, %s, %w format q4_1 by %e
      : tensor<?x32xi8>, tensor<?x1xf32>, tensor<30x1x18xi8>, tensor<?x2xi32> -> tensor<?x12xf32>
  return
}

// -----

// An expert has six columns, and a tile eight.
func.func @c6_tiles(%q: tensor<?x32xi8>, %s: tensor<?x1xf32>, %w: tensor<3x1x160xi8>, %e: tensor<?x2xi32>) {
  // expected-error @+1 {{expects experts of whole tiles of 8 x 32 numbers, got 6 x 32}}
  %y = gist.quantized_expert_matmul %q, %s, %w format q4_1
      packed <columns = 8, depth = 8, bits = 4, group = 32, scale_bits = 16, zero = 0, is_signed = false, has_min = true> by %e
      : tensor<?x32xi8>, tensor<?x1xf32>, tensor<3x1x160xi8>, tensor<?x2xi32> -> tensor<?x12xf32>
  return
}
