// RUN: gist-opt %s -gist-plan-memory -split-input-file -verify-diagnostics

// Sizes with a division are not polynomials: a sum of them has no simple bound.
func.func @halves(%x: tensor<?x8xf32>) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %t = tensor.dim %x, %c0 : tensor<?x8xf32>
  %h = affine.apply affine_map<(d0) -> (d0 floordiv 2)>(%t)
  %e = tensor.empty(%h) : tensor<?x8xf32>
  // expected-error @+1 {{'gist.dispatch' op writes a 'tensor<?x8xf32>' whose size is not a polynomial of the tokens in the call, the tokens before it and the capacity}}
  %a = gist.dispatch @half(%x : tensor<?x8xf32>) outs(%e : tensor<?x8xf32>)
  %r = tensor.empty() : tensor<8xf32>
  %s = gist.dispatch @sum(%a : tensor<?x8xf32>) outs(%r : tensor<8xf32>)
  return %s : tensor<8xf32>
}
func.func private @half(tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32> attributes {gist.kernel = #gist.kernel<kind = rows, outputs = 1>}
func.func private @sum(tensor<?x8xf32>, tensor<8xf32>) -> tensor<8xf32> attributes {gist.kernel = #gist.kernel<kind = rows, outputs = 1>}

// -----

// What is updated where it is cannot be read as it was.
func.func @overwritten(%x: tensor<8xf32>) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %a = gist.dispatch @one(%x : tensor<8xf32>) outs(%e : tensor<8xf32>)
  // expected-error @+1 {{'gist.dispatch' op updates what 'one' wrote, which is used again later as it was}}
  %b = gist.dispatch @one(%x : tensor<8xf32>) outs(%a : tensor<8xf32>)
  %c = gist.dispatch @two(%a, %b : tensor<8xf32>, tensor<8xf32>) outs(%e : tensor<8xf32>)
  return %c : tensor<8xf32>
}
func.func private @one(tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32> attributes {gist.kernel = #gist.kernel<kind = rows, outputs = 1>}
func.func private @two(tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32> attributes {gist.kernel = #gist.kernel<kind = rows, outputs = 1>}

// -----

func.func @weight(%x: tensor<8xf32>) -> tensor<8xf32> {
  %w = gist.weight "w" : tensor<8xf32>
  // expected-error @+1 {{'gist.dispatch' op has a destination that is not new memory, an argument, or what another kernel wrote}}
  %b = gist.dispatch @one(%x : tensor<8xf32>) outs(%w : tensor<8xf32>)
  return %b : tensor<8xf32>
}
func.func private @one(tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32> attributes {gist.kernel = #gist.kernel<kind = rows, outputs = 1>}

// -----

// The tensor has no such dimension.
func.func @no_such_dimension(%x: tensor<?x8xf16>) -> tensor<?x8xf16> {
  %c33 = arith.constant 33 : index
  %t = tensor.dim %x, %c33 : tensor<?x8xf16>
  %e = tensor.empty(%t) : tensor<?x8xf16>
  // expected-error @+1 {{writes a 'tensor<?x8xf16>' whose size is not a polynomial of the tokens in the call, the tokens before it and the capacity}}
  %a = gist.dispatch @k(%x : tensor<?x8xf16>) outs(%e : tensor<?x8xf16>)
  %b = gist.dispatch @k(%a : tensor<?x8xf16>) outs(%e : tensor<?x8xf16>)
  return %b : tensor<?x8xf16>
}
func.func private @k(tensor<?x8xf16>, tensor<?x8xf16>) -> tensor<?x8xf16> attributes {gist.kernel = #gist.kernel<kind = rows, outputs = 1>}
