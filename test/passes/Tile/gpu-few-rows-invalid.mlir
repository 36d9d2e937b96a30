// RUN: gist-opt %s -split-input-file -verify-diagnostics "-gist-gpu-tile=target=sm_90"
#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (n, k)>
#y = affine_map<(m, n, k) -> (m, n)>

// Nothing says that the rows are few.
// expected-error @+1 {{cannot be written for sm_90}}
func.func private @unknown(%x: tensor<?x576xf16>, %w: tensor<960x576xf16>, %y: tensor<?x960xf32>)
    -> tensor<?x960xf32> attributes {gist.kernel = #gist.kernel<kind = matmul, outputs = 1>,
    gist.tile = #gist.gpu_gemv<rows = 16, columns = 16, lanes = 4, waves = [1, 4], steps = 5, matrix = true>} {
  %zero = arith.constant 0.0 : f32
  %z = linalg.fill ins(%zero : f32) outs(%y : tensor<?x960xf32>) -> tensor<?x960xf32>
  // expected-error @+1 {{expects at most as many rows as the tile, got 'tensor<?x960xf32>'; a kernel can say so by gist.max_tokens}}
  %p = linalg.matmul indexing_maps = [#x, #w, #y]
      ins(%x, %w : tensor<?x576xf16>, tensor<960x576xf16>)
      outs(%z : tensor<?x960xf32>) -> tensor<?x960xf32>
  return %p : tensor<?x960xf32>
}

// -----

#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (n, k)>
#y = affine_map<(m, n, k) -> (m, n)>
// expected-error @+1 {{cannot be written for sm_90}}
func.func private @lanes(%x: tensor<?x576xf16>, %w: tensor<960x576xf16>, %y: tensor<?x960xf32>)
    -> tensor<?x960xf32> attributes {gist.kernel = #gist.kernel<kind = matmul, outputs = 1>, gist.max_tokens = 16 : i64,
    gist.tile = #gist.gpu_gemv<rows = 16, columns = 16, lanes = 8, waves = [1, 4], steps = 5, matrix = true>} {
  %zero = arith.constant 0.0 : f32
  %z = linalg.fill ins(%zero : f32) outs(%y : tensor<?x960xf32>) -> tensor<?x960xf32>
  // expected-error @+1 {{expects 4 lanes for a row of W and waves that share the reduction on sm_90, got #gist.gpu_gemv}}
  %p = linalg.matmul indexing_maps = [#x, #w, #y]
      ins(%x, %w : tensor<?x576xf16>, tensor<960x576xf16>)
      outs(%z : tensor<?x960xf32>) -> tensor<?x960xf32>
  return %p : tensor<?x960xf32>
}

// -----

#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (n, k)>
#y = affine_map<(m, n, k) -> (m, n)>
// expected-error @+1 {{cannot be written for sm_90}}
func.func private @columns(%x: tensor<?x576xf16>, %w: tensor<960x576xf16>, %y: tensor<?x960xf32>)
    -> tensor<?x960xf32> attributes {gist.kernel = #gist.kernel<kind = matmul, outputs = 1>, gist.max_tokens = 16 : i64,
    gist.tile = #gist.gpu_gemv<rows = 16, columns = 24, lanes = 4, waves = [1, 4], steps = 5, matrix = true>} {
  %zero = arith.constant 0.0 : f32
  %z = linalg.fill ins(%zero : f32) outs(%y : tensor<?x960xf32>) -> tensor<?x960xf32>
  // expected-error @+1 {{expects a multiple of 16 columns on sm_90, got #gist.gpu_gemv}}
  %p = linalg.matmul indexing_maps = [#x, #w, #y]
      ins(%x, %w : tensor<?x576xf16>, tensor<960x576xf16>)
      outs(%z : tensor<?x960xf32>) -> tensor<?x960xf32>
  return %p : tensor<?x960xf32>
}

// -----

// expected-error @+1 {{has the attribute 'gist.max_tokens', which holds a positive i64, got 0 : i64}}
func.func private @zero() attributes {gist.max_tokens = 0 : i64}
