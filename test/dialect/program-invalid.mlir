// RUN: gist-opt %s -split-input-file -verify-diagnostics

func.func @dispatch_c1_no_kernel(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{'gist.dispatch' op expects a kernel, got @missing}}
  %y = gist.dispatch @missing(%x : tensor<4xf32>) outs(%x : tensor<4xf32>)
  return %y : tensor<4xf32>
}

// -----

func.func private @plain(tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
func.func @dispatch_c1_not_a_kernel(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{'gist.dispatch' op expects a kernel, got @plain}}
  %y = gist.dispatch @plain(%x : tensor<4xf32>) outs(%x : tensor<4xf32>)
  return %y : tensor<4xf32>
}

// -----

func.func private @k(tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> attributes {gist.kernel = #gist.kernel<kind = rows, outputs = 1>}
func.func @dispatch_c2_count(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{'gist.dispatch' op expects 2 operands for @k, got 3}}
  %y = gist.dispatch @k(%x, %x : tensor<4xf32>, tensor<4xf32>) outs(%x : tensor<4xf32>)
  return %y : tensor<4xf32>
}

// -----

func.func private @k(tensor<4xf32>, tensor<8xf32>) -> tensor<8xf32> attributes {gist.kernel = #gist.kernel<kind = rows, outputs = 1>}
func.func @dispatch_c2_type(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{'gist.dispatch' op expects operand #1 of @k to be 'tensor<8xf32>', got 'tensor<4xf32>'}}
  %y = gist.dispatch @k(%x : tensor<4xf32>) outs(%x : tensor<4xf32>)
  return %y : tensor<4xf32>
}

// -----

func.func private @k(tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) attributes {gist.kernel = #gist.kernel<kind = rows, outputs = 2>}
func.func @dispatch_c3_outputs(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{'gist.dispatch' op expects @k to return its 1 destinations and to state their number in gist.kernel}}
  %y = gist.dispatch @k(%x : tensor<4xf32>) outs(%x : tensor<4xf32>)
  return %y : tensor<4xf32>
}

// -----

func.func @arena_c1_symbols() -> tensor<4xf32> {
  // expected-error @+1 {{'gist.arena' op expects one offset in 3 symbols, got affine_map<()[s0] -> (s0)>}}
  %x = gist.arena() at affine_map<()[s0] -> (s0)> : tensor<4xf32>
  return %x : tensor<4xf32>
}

// -----

func.func @arena_c2_sizes(%t: index) -> tensor<4xf32> {
  // expected-error @+1 {{'gist.arena' op expects 0 sizes for 'tensor<4xf32>', got 1}}
  %x = gist.arena(%t) at affine_map<()[s0, s1, s2] -> (0)> : tensor<4xf32>
  return %x : tensor<4xf32>
}
