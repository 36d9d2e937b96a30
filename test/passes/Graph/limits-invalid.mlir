// RUN: gist-opt %s -split-input-file -verify-diagnostics -gist-graph

// expected-error @+1 {{has a 'tensor<4294967296x4294967296xf32>'; a tensor has at most 1099511627776 elements}}
func.func @f(%x: tensor<4294967296x4294967296xf32>) -> tensor<4294967296x4294967296xf32> {
  return %x : tensor<4294967296x4294967296xf32>
}

// -----

// A weight's blocks may be any number until it is known.
func.func @open(%q: tensor<?x64xi8>, %s: tensor<?x2xf32>, %w: tensor<96x?x18xi8>) -> tensor<?x96xf32> {
  // expected-error @+1 {{'gist.quantized_matmul' op expects a weight of 96 x 64 values in blocks of q4_0, got 'tensor<96x?x18xi8>'}}
  %y = gist.quantized_matmul %q, %s, %w format q4_0 : tensor<?x64xi8>, tensor<?x2xf32>, tensor<96x?x18xi8> -> tensor<?x96xf32>
  return %y : tensor<?x96xf32>
}

// -----

// 2^60 + 2 blocks of 32 values are 64 of them in 64 bits.
func.func @wrap(%q: tensor<?x64xi8>, %s: tensor<?x2xf32>, %w: tensor<96x1152921504606846978x18xi8>) -> tensor<?x96xf32> {
  // expected-error @+1 {{'gist.quantized_matmul' op expects a weight of 96 x 64 values in blocks of q4_0, got 'tensor<96x1152921504606846978x18xi8>'}}
  %y = gist.quantized_matmul %q, %s, %w format q4_0 : tensor<?x64xi8>, tensor<?x2xf32>, tensor<96x1152921504606846978x18xi8> -> tensor<?x96xf32>
  return %y : tensor<?x96xf32>
}
