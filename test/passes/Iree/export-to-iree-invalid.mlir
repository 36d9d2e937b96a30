// RUN: gist-opt %s -split-input-file -allow-unregistered-dialect \
// RUN:   -gist-export-to-iree -verify-diagnostics

// expected-error @+1 {{'func.func' op updates argument #0 of type 'tensor<2x?xf32>'; state needs a size that is known}}
func.func @size(%k: tensor<2x?xf32>) -> tensor<2x?xf32> {
  return %k : tensor<2x?xf32>
}

// -----

func.func @code(%x: tensor<5xf32>) -> tensor<5xf32> {
  %e = tensor.empty() : tensor<5xf32>
  // expected-error @+1 {{'gist.dispatch' op calls a kernel without a file of code; name one with the option 'object'}}
  %0 = gist.dispatch @k(%x : tensor<5xf32>) outs(%e : tensor<5xf32>)
  return %0 : tensor<5xf32>
}
func.func private @k(%x: tensor<5xf32>, %d: tensor<5xf32>) -> tensor<5xf32>
    attributes {gist.kernel = #gist.kernel<kind = rows, outputs = 1>,
                gist.grid = [affine_map<() -> (1)>]} {
  %0 = linalg.exp ins(%x : tensor<5xf32>) outs(%d : tensor<5xf32>) -> tensor<5xf32>
  return %0 : tensor<5xf32>
}
