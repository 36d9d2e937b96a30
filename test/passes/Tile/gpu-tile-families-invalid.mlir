// A kernel for a GPU that is not cut as its tile says, because the tile is of
// another family or does not fit the kernel or the GPU.
// RUN: gist-opt %s -split-input-file -verify-diagnostics -gist-set-target=target=gfx942 -gist-gpu-kernels

// expected-error @+2 {{expects a tile of the family #gist.gpu_rows for what it computes, got #gist.gpu_decode<waves = 8>}}
// expected-error @+1 {{cannot be written for gfx942}}
func.func private @rows(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> tensor<4x8xf32>
    attributes {gist.kernel = #gist.kernel<kind = rows, outputs = 1>, gist.tile = #gist.gpu_decode<waves = 8>} {
  return %x : tensor<4x8xf32>
}

// -----

// expected-error @+2 {{expects a tile of the family #gist.gpu_rows for what it computes, got #gist.cpu_rows<rows = 4, lanes = 4>}}
// expected-error @+1 {{cannot be written for gfx942}}
func.func private @cpu(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> tensor<4x8xf32>
    attributes {gist.kernel = #gist.kernel<kind = rows, outputs = 1>, gist.tile = #gist.cpu_rows<rows = 4, lanes = 4>} {
  return %x : tensor<4x8xf32>
}

// -----

// More threads than a workgroup has.
// expected-error @+1 {{has a tile of 32 waves; gfx942 runs workgroups of up to 16}}
func.func private @threads(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> tensor<4x8xf32>
    attributes {gist.kernel = #gist.kernel<kind = rows, outputs = 1>, gist.tile = #gist.gpu_rows<rows = 1, waves = 32>} {
  return %x : tensor<4x8xf32>
}

// -----

#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (n, k)>
#y = affine_map<(m, n, k) -> (m, n)>
// expected-error @+2 {{expects a tile of the family #gist.gpu_product or #gist.gpu_gemv for what it computes, got #gist.gpu_rows<rows = 1, waves = 4>}}
// expected-error @+1 {{cannot be written for gfx942}}
func.func private @matmul(%x: tensor<?x64xf16>, %w: tensor<96x64xf16>, %y: tensor<?x96xf32>)
    -> tensor<?x96xf32> attributes {gist.kernel = #gist.kernel<kind = matmul, outputs = 1>, gist.tile = #gist.gpu_rows<rows = 1, waves = 4>} {
  %zero = arith.constant 0.0 : f32
  %z = linalg.fill ins(%zero : f32) outs(%y : tensor<?x96xf32>) -> tensor<?x96xf32>
  %p = linalg.matmul indexing_maps = [#x, #w, #y]
      ins(%x, %w : tensor<?x64xf16>, tensor<96x64xf16>) outs(%z : tensor<?x96xf32>) -> tensor<?x96xf32>
  return %p : tensor<?x96xf32>
}

// -----

#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (n, k)>
#y = affine_map<(m, n, k) -> (m, n)>
// expected-error @+1 {{cannot be written for gfx942}}
func.func private @lanes(%x: tensor<1x64xf16>, %w: tensor<96x64xf16>, %y: tensor<1x96xf32>)
    -> tensor<1x96xf32> attributes {gist.kernel = #gist.kernel<kind = matmul, outputs = 1>, gist.tile = #gist.gpu_gemv<rows = 1, columns = 16, lanes = 128, waves = [4, 1], steps = 2>} {
  %zero = arith.constant 0.0 : f32
  %z = linalg.fill ins(%zero : f32) outs(%y : tensor<1x96xf32>) -> tensor<1x96xf32>
  // expected-error @+1 {{expects at most 64 lanes on gfx942, got #gist.gpu_gemv}}
  %p = linalg.matmul indexing_maps = [#x, #w, #y]
      ins(%x, %w : tensor<1x64xf16>, tensor<96x64xf16>) outs(%z : tensor<1x96xf32>) -> tensor<1x96xf32>
  return %p : tensor<1x96xf32>
}

// -----

#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (n, k)>
#y = affine_map<(m, n, k) -> (m, n)>
// expected-error @+1 {{cannot be written for gfx942}}
func.func private @groups(%x: tensor<1x64xf16>, %w: tensor<96x64xf16>, %y: tensor<1x96xf32>)
    -> tensor<1x96xf32> attributes {gist.kernel = #gist.kernel<kind = matmul, outputs = 1>, gist.tile = #gist.gpu_gemv<rows = 1, columns = 12, lanes = 32, waves = [4, 1], steps = 2>} {
  %zero = arith.constant 0.0 : f32
  %z = linalg.fill ins(%zero : f32) outs(%y : tensor<1x96xf32>) -> tensor<1x96xf32>
  // expected-error @+1 {{expects a multiple of 8 columns on gfx942, got #gist.gpu_gemv}}
  %p = linalg.matmul indexing_maps = [#x, #w, #y]
      ins(%x, %w : tensor<1x64xf16>, tensor<96x64xf16>) outs(%z : tensor<1x96xf32>) -> tensor<1x96xf32>
  return %p : tensor<1x96xf32>
}

// -----

#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (n, k)>
#y = affine_map<(m, n, k) -> (m, n)>
// expected-error @+1 {{cannot be written for gfx942}}
func.func private @rows_of_gemv(%x: tensor<2x64xf16>, %w: tensor<96x64xf16>, %y: tensor<2x96xf32>)
    -> tensor<2x96xf32> attributes {gist.kernel = #gist.kernel<kind = matmul, outputs = 1>, gist.tile = #gist.gpu_gemv<rows = 1, columns = 16, lanes = 64, waves = [4, 1], steps = 2>} {
  %zero = arith.constant 0.0 : f32
  %z = linalg.fill ins(%zero : f32) outs(%y : tensor<2x96xf32>) -> tensor<2x96xf32>
  // expected-error @+1 {{expects at most as many rows as the tile}}
  %p = linalg.matmul indexing_maps = [#x, #w, #y]
      ins(%x, %w : tensor<2x64xf16>, tensor<96x64xf16>) outs(%z : tensor<2x96xf32>) -> tensor<2x96xf32>
  return %p : tensor<2x96xf32>
}

// -----

#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (n, k)>
#y = affine_map<(m, n, k) -> (m, n)>
// expected-error @+1 {{cannot be written for gfx942}}
func.func private @much_code_of_gemv(%x: tensor<2x64xf16>, %w: tensor<96x64xf16>, %y: tensor<2x96xf32>)
    -> tensor<2x96xf32> attributes {gist.kernel = #gist.kernel<kind = matmul, outputs = 1>, gist.tile = #gist.gpu_gemv<rows = 65536, columns = 16, lanes = 64, waves = [4, 1], steps = 2>} {
  %zero = arith.constant 0.0 : f32
  %z = linalg.fill ins(%zero : f32) outs(%y : tensor<2x96xf32>) -> tensor<2x96xf32>
  // expected-error @+1 {{expects at most 1024 products for a lane, got #gist.gpu_gemv<rows = 65536,}}
  %p = linalg.matmul indexing_maps = [#x, #w, #y]
      ins(%x, %w : tensor<2x64xf16>, tensor<96x64xf16>) outs(%z : tensor<2x96xf32>) -> tensor<2x96xf32>
  return %p : tensor<2x96xf32>
}

// -----

#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (n, k)>
#y = affine_map<(m, n, k) -> (m, n)>
// expected-error @+1 {{cannot be written for gfx942}}
func.func private @wide_gemv(%x: tensor<2x64xf16>, %w: tensor<96x64xf16>, %y: tensor<2x96xf32>)
    -> tensor<2x96xf32> attributes {gist.kernel = #gist.kernel<kind = matmul, outputs = 1>, gist.tile = #gist.gpu_gemv<rows = 2, columns = 16, lanes = 64, waves = [4, 1], steps = 9223372036854775807>} {
  %zero = arith.constant 0.0 : f32
  %z = linalg.fill ins(%zero : f32) outs(%y : tensor<2x96xf32>) -> tensor<2x96xf32>
  // expected-error @+1 {{expects sizes of at most 65536, got #gist.gpu_gemv<rows = 2,}}
  %p = linalg.matmul indexing_maps = [#x, #w, #y]
      ins(%x, %w : tensor<2x64xf16>, tensor<96x64xf16>) outs(%z : tensor<2x96xf32>) -> tensor<2x96xf32>
  return %p : tensor<2x96xf32>
}

// -----

// expected-error @+2 {{expects a tile of the family #gist.gpu_attention for what it computes, got #gist.gpu_decode<waves = 8>}}
// expected-error @+1 {{cannot be written for gfx942}}
func.func private @attention(%q: tensor<?x2x64xf16>, %k: tensor<?x2x64xf16>, %v: tensor<?x2x64xf16>,
    %out: tensor<?x2x64xf16>) -> tensor<?x2x64xf16>
    attributes {gist.kernel = #gist.kernel<kind = attention, outputs = 1>, gist.tile = #gist.gpu_decode<waves = 8>} {
  %o = gist.attention %q, %k, %v : tensor<?x2x64xf16>, tensor<?x2x64xf16>, tensor<?x2x64xf16>
  return %o : tensor<?x2x64xf16>
}

// -----

// expected-error @+2 {{expects a tile of the family #gist.gpu_decode for what it computes, got #gist.gpu_attention}}
// expected-error @+1 {{cannot be written for gfx942}}
func.func private @decode(%q: tensor<1x2x64xf16>, %k: tensor<?x2x64xf16>, %v: tensor<?x2x64xf16>,
    %out: tensor<1x2x64xf16>) -> tensor<1x2x64xf16>
    attributes {gist.kernel = #gist.kernel<kind = attention, outputs = 1>, gist.tile = #gist.gpu_attention<rows = 128, keys = 64, waves = 4, stages = 2, instruction = mfma_32x32x8, element = f16>} {
  %o = gist.attention %q, %k, %v : tensor<1x2x64xf16>, tensor<?x2x64xf16>, tensor<?x2x64xf16>
  return %o : tensor<1x2x64xf16>
}

// -----

// expected-error @+2 {{multiplies by mma_16x8x16, which gfx942 does not have}}
// expected-error @+1 {{cannot be written for gfx942}}
func.func private @instruction(%q: tensor<?x2x64xf16>, %k: tensor<?x2x64xf16>, %v: tensor<?x2x64xf16>,
    %out: tensor<?x2x64xf16>) -> tensor<?x2x64xf16>
    attributes {gist.kernel = #gist.kernel<kind = attention, outputs = 1>, gist.tile = #gist.gpu_attention<rows = 64, keys = 64, waves = 4, stages = 2, instruction = mma_16x8x16, element = f16>} {
  %o = gist.attention %q, %k, %v : tensor<?x2x64xf16>, tensor<?x2x64xf16>, tensor<?x2x64xf16>
  return %o : tensor<?x2x64xf16>
}

// -----

// expected-error @+2 {{expects a tile of the family #gist.gpu_rows for what it computes, got #gist.gpu_decode<waves = 8>}}
// expected-error @+1 {{cannot be written for gfx942}}
func.func private @sample_family(%logits: tensor<?x1000xf32>, %settings: tensor<?x5xi64>, %next: tensor<?xi32>, %weights: tensor<?x2x4096xi32>)
    -> (tensor<?xi32>, tensor<?x2x4096xi32>)
    attributes {gist.kernel = #gist.kernel<kind = sample, outputs = 2>, gist.tile = #gist.gpu_decode<waves = 8>} {
  %drawn = gist.sample %logits by %settings : tensor<?x1000xf32>, tensor<?x5xi64>
  return %drawn, %weights : tensor<?xi32>, tensor<?x2x4096xi32>
}

// -----

// Sampling has memory for one number of threads.
// expected-error @+2 {{samples, which is cut as #gist.gpu_rows<rows = 1, waves = 16> on gfx942 and not otherwise, got #gist.gpu_rows<rows = 1, waves = 1>}}
// expected-error @+1 {{cannot be written for gfx942}}
func.func private @sample(%logits: tensor<?x1000xf32>, %settings: tensor<?x5xi64>, %next: tensor<?xi32>, %weights: tensor<?x2x4096xi32>)
    -> (tensor<?xi32>, tensor<?x2x4096xi32>)
    attributes {gist.kernel = #gist.kernel<kind = sample, outputs = 2>, gist.tile = #gist.gpu_rows<rows = 1, waves = 1>} {
  %drawn = gist.sample %logits by %settings : tensor<?x1000xf32>, tensor<?x5xi64>
  return %drawn, %weights : tensor<?xi32>, tensor<?x2x4096xi32>
}

// -----

// expected-error @+2 {{expects a tile of the family #gist.gpu_clusters for what it computes, got #gist.gpu_rows<rows = 1, waves = 4>}}
// expected-error @+1 {{cannot be written for gfx942}}
func.func private @update_family(%k: tensor<?x1x64xf16>, %v: tensor<?x1x64xf16>, %heads: tensor<1x1x8xf32>,
    %past: index, %layer: index, %s0: tensor<32x64xf16>, %s1: tensor<32x64xf16>,
    %s2: tensor<4x64xf16>, %s3: tensor<4xf32>, %s4: tensor<1x1xi32>)
    -> (tensor<32x64xf16>, tensor<32x64xf16>, tensor<4x64xf16>, tensor<4xf32>, tensor<1x1xi32>)
    attributes {gist.kernel = #gist.kernel<kind = cluster_update, outputs = 5>, gist.tile = #gist.gpu_rows<rows = 1, waves = 4>} {
  %n:5 = gist.cluster_update %k, %v, %heads, %past, %layer into(%s0, %s1, %s2, %s3, %s4) block 8
      : tensor<?x1x64xf16>, tensor<?x1x64xf16>, tensor<1x1x8xf32>, tensor<32x64xf16>,
        tensor<32x64xf16>, tensor<4x64xf16>, tensor<4xf32>, tensor<1x1xi32>
  return %n#0, %n#1, %n#2, %n#3, %n#4
      : tensor<32x64xf16>, tensor<32x64xf16>, tensor<4x64xf16>, tensor<4xf32>, tensor<1x1xi32>
}

// -----

// expected-error @+2 {{expects a tile of 'f16' with at least 64 columns, got #gist.gpu_clusters}}
// expected-error @+1 {{cannot be written for gfx942}}
func.func private @update_columns(%k: tensor<?x1x64xf16>, %v: tensor<?x1x64xf16>, %heads: tensor<1x1x8xf32>,
    %past: index, %layer: index, %s0: tensor<32x64xf16>, %s1: tensor<32x64xf16>,
    %s2: tensor<4x64xf16>, %s3: tensor<4xf32>, %s4: tensor<1x1xi32>)
    -> (tensor<32x64xf16>, tensor<32x64xf16>, tensor<4x64xf16>, tensor<4xf32>, tensor<1x1xi32>)
    attributes {gist.kernel = #gist.kernel<kind = cluster_update, outputs = 5>, gist.tile = #gist.gpu_clusters<tokens = 32, clusters = 32, columns = 32, waves = 1, instruction = mfma_32x32x8, element = f16>} {
  %n:5 = gist.cluster_update %k, %v, %heads, %past, %layer into(%s0, %s1, %s2, %s3, %s4) block 8
      : tensor<?x1x64xf16>, tensor<?x1x64xf16>, tensor<1x1x8xf32>, tensor<32x64xf16>,
        tensor<32x64xf16>, tensor<4x64xf16>, tensor<4xf32>, tensor<1x1xi32>
  return %n#0, %n#1, %n#2, %n#3, %n#4
      : tensor<32x64xf16>, tensor<32x64xf16>, tensor<4x64xf16>, tensor<4xf32>, tensor<1x1xi32>
}

// -----

// expected-error @+2 {{expects a tile of 'f16' with at least 64 columns, got #gist.gpu_clusters}}
// expected-error @+1 {{cannot be written for gfx942}}
func.func private @update_element(%k: tensor<?x1x64xf16>, %v: tensor<?x1x64xf16>, %heads: tensor<1x1x8xf32>,
    %past: index, %layer: index, %s0: tensor<32x64xf16>, %s1: tensor<32x64xf16>,
    %s2: tensor<4x64xf16>, %s3: tensor<4xf32>, %s4: tensor<1x1xi32>)
    -> (tensor<32x64xf16>, tensor<32x64xf16>, tensor<4x64xf16>, tensor<4xf32>, tensor<1x1xi32>)
    attributes {gist.kernel = #gist.kernel<kind = cluster_update, outputs = 5>, gist.tile = #gist.gpu_clusters<tokens = 32, clusters = 32, columns = 64, waves = 1, instruction = mfma_32x32x8, element = f32>} {
  %n:5 = gist.cluster_update %k, %v, %heads, %past, %layer into(%s0, %s1, %s2, %s3, %s4) block 8
      : tensor<?x1x64xf16>, tensor<?x1x64xf16>, tensor<1x1x8xf32>, tensor<32x64xf16>,
        tensor<32x64xf16>, tensor<4x64xf16>, tensor<4xf32>, tensor<1x1xi32>
  return %n#0, %n#1, %n#2, %n#3, %n#4
      : tensor<32x64xf16>, tensor<32x64xf16>, tensor<4x64xf16>, tensor<4xf32>, tensor<1x1xi32>
}

// -----

// expected-error @+2 {{multiplies by mma_16x8x16, which gfx942 does not have}}
// expected-error @+1 {{cannot be written for gfx942}}
func.func private @update_instruction(%k: tensor<?x1x64xf16>, %v: tensor<?x1x64xf16>, %heads: tensor<1x1x8xf32>,
    %past: index, %layer: index, %s0: tensor<32x64xf16>, %s1: tensor<32x64xf16>,
    %s2: tensor<4x64xf16>, %s3: tensor<4xf32>, %s4: tensor<1x1xi32>)
    -> (tensor<32x64xf16>, tensor<32x64xf16>, tensor<4x64xf16>, tensor<4xf32>, tensor<1x1xi32>)
    attributes {gist.kernel = #gist.kernel<kind = cluster_update, outputs = 5>, gist.tile = #gist.gpu_clusters<tokens = 32, clusters = 32, columns = 64, waves = 2, instruction = mma_16x8x16, element = f16>} {
  %n:5 = gist.cluster_update %k, %v, %heads, %past, %layer into(%s0, %s1, %s2, %s3, %s4) block 8
      : tensor<?x1x64xf16>, tensor<?x1x64xf16>, tensor<1x1x8xf32>, tensor<32x64xf16>,
        tensor<32x64xf16>, tensor<4x64xf16>, tensor<4xf32>, tensor<1x1xi32>
  return %n#0, %n#1, %n#2, %n#3, %n#4
      : tensor<32x64xf16>, tensor<32x64xf16>, tensor<4x64xf16>, tensor<4xf32>, tensor<1x1xi32>
}
