// A kernel for a CPU whose tile is of a family that it is not cut by.
// RUN: gist-opt %s -split-input-file -verify-diagnostics -gist-tile-and-distribute

// expected-error @+1 {{expects a tile of the family #gist.cpu_rows for what it computes, got #gist.cpu_attention}}
func.func private @rows(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> tensor<4x8xf32>
    attributes {gist.kernel = #gist.kernel<kind = rows, outputs = 1>, gist.tile = #gist.cpu_attention<queries = 32, keys = 64, registers = 4, lanes = 4, instruction = fma>} {
  return %x : tensor<4x8xf32>
}

// -----

// expected-error @+1 {{expects a tile of the family #gist.cpu_rows for what it computes, got #gist.gpu_rows<rows = 1, waves = 4>}}
func.func private @gpu(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> tensor<4x8xf32>
    attributes {gist.kernel = #gist.kernel<kind = rows, outputs = 1>, gist.tile = #gist.gpu_rows<rows = 1, waves = 4>} {
  return %x : tensor<4x8xf32>
}

// -----

#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (n, k)>
#y = affine_map<(m, n, k) -> (m, n)>
// expected-error @+1 {{expects a tile of the family #gist.cpu_product for what it computes, got #gist.cpu_rows<rows = 4, lanes = 4>}}
func.func private @matmul(%x: tensor<?x64xf16>, %w: tensor<96x64xf16>, %y: tensor<?x96xf32>)
    -> tensor<?x96xf32> attributes {gist.kernel = #gist.kernel<kind = matmul, outputs = 1>, gist.tile = #gist.cpu_rows<rows = 4, lanes = 4>} {
  %zero = arith.constant 0.0 : f32
  %z = linalg.fill ins(%zero : f32) outs(%y : tensor<?x96xf32>) -> tensor<?x96xf32>
  %p = linalg.matmul indexing_maps = [#x, #w, #y]
      ins(%x, %w : tensor<?x64xf16>, tensor<96x64xf16>) outs(%z : tensor<?x96xf32>) -> tensor<?x96xf32>
  return %p : tensor<?x96xf32>
}

// -----

// expected-error @+1 {{expects a tile of the family #gist.cpu_attention for what it computes, got #gist.cpu_rows<rows = 4, lanes = 4>}}
func.func private @attention(%q: tensor<?x2x64xf16>, %k: tensor<?x2x64xf16>, %v: tensor<?x2x64xf16>,
    %out: tensor<?x2x64xf16>) -> tensor<?x2x64xf16>
    attributes {gist.kernel = #gist.kernel<kind = attention, outputs = 1>, gist.tile = #gist.cpu_rows<rows = 4, lanes = 4>} {
  %o = gist.attention %q, %k, %v : tensor<?x2x64xf16>, tensor<?x2x64xf16>, tensor<?x2x64xf16>
  return %o : tensor<?x2x64xf16>
}

// -----

// expected-error @+1 {{has no tile configuration}}
func.func private @none(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> tensor<4x8xf32>
    attributes {gist.kernel = #gist.kernel<kind = rows, outputs = 1>} {
  return %x : tensor<4x8xf32>
}

// -----

// expected-error @+1 {{expects weights packed 16 columns wide and 4 deep without signs for tdpbsud, got #gist.packing<columns = 8, depth = 8}}
func.func private @packing(%q: tensor<?x96xi8>, %s: tensor<?x3xf32>, %w: tensor<2x3x160xi8>, %out: tensor<?x16xf32>) -> tensor<?x16xf32>
    attributes {gist.kernel = #gist.kernel<kind = quantized_matmul, outputs = 1>,
                gist.tile = #gist.cpu_product<rows = 64, columns = 64, registers = [16, 16], lanes = 16, instruction = tdpbsud>} {
  %y = gist.quantized_matmul %q, %s, %w format q4_1
      packed <columns = 8, depth = 8, bits = 4, group = 32, scale_bits = 16, zero = 0, is_signed = false, has_min = true>
      : tensor<?x96xi8>, tensor<?x3xf32>, tensor<2x3x160xi8> -> tensor<?x16xf32>
  return %y : tensor<?x16xf32>
}

// -----

// expected-error @+1 {{expects weights packed 16 columns wide and 4 deep without signs for vpmaddubsw, got #gist.packing<columns = 8, depth = 4}}
func.func private @pairs(%q: tensor<?x96xi8>, %s: tensor<?x3xf32>, %w: tensor<2x3x160xi8>, %out: tensor<?x16xf32>) -> tensor<?x16xf32>
    attributes {gist.kernel = #gist.kernel<kind = quantized_matmul, outputs = 1>,
                gist.tile = #gist.cpu_product<rows = 32, columns = 64, registers = [2, 16], lanes = 16, instruction = vpmaddubsw>} {
  %y = gist.quantized_matmul %q, %s, %w format q4_1
      packed <columns = 8, depth = 4, bits = 4, group = 32, scale_bits = 16, zero = 0, is_signed = false, has_min = true>
      : tensor<?x96xi8>, tensor<?x3xf32>, tensor<2x3x160xi8> -> tensor<?x16xf32>
  return %y : tensor<?x16xf32>
}

// -----

#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (n, k)>
#y = affine_map<(m, n, k) -> (m, n)>
// expected-error @+1 {{expects a product of several rows with an f16 or bf16 weight of multiples of 32, summed in f32, for #gist.cpu_bf16_product<rows = 128, columns = 64, depth = 96, parts = [2, 2]>}}
func.func private @bf16_columns(%x: tensor<?x96xf32>, %w: tensor<80x96xf16>, %out: tensor<?x80xf32>) -> tensor<?x80xf32>
    attributes {gist.kernel = #gist.kernel<kind = matmul, outputs = 1>, gist.tile = #gist.cpu_bf16_product<rows = 128, columns = 64, depth = 96, parts = [2, 2]>} {
  %zero = arith.constant 0.0 : f32
  %z = linalg.fill ins(%zero : f32) outs(%out : tensor<?x80xf32>) -> tensor<?x80xf32>
  %y = linalg.matmul indexing_maps = [#x, #w, #y]
      ins(%x, %w : tensor<?x96xf32>, tensor<80x96xf16>) outs(%z : tensor<?x80xf32>) -> tensor<?x80xf32>
  return %y : tensor<?x80xf32>
}

// -----

#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (n, k)>
#y = affine_map<(m, n, k) -> (m, n)>
// expected-error @+1 {{expects a depth that divides 96, got 64}}
func.func private @bf16_depth(%x: tensor<?x96xf32>, %w: tensor<64x96xf16>, %out: tensor<?x64xf32>) -> tensor<?x64xf32>
    attributes {gist.kernel = #gist.kernel<kind = matmul, outputs = 1>, gist.tile = #gist.cpu_bf16_product<rows = 128, columns = 64, depth = 64, parts = [2, 2]>} {
  %zero = arith.constant 0.0 : f32
  %z = linalg.fill ins(%zero : f32) outs(%out : tensor<?x64xf32>) -> tensor<?x64xf32>
  %y = linalg.matmul indexing_maps = [#x, #w, #y]
      ins(%x, %w : tensor<?x96xf32>, tensor<64x96xf16>) outs(%z : tensor<?x64xf32>) -> tensor<?x64xf32>
  return %y : tensor<?x64xf32>
}

// -----

#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (n, k)>
#y = affine_map<(m, n, k) -> (m, n)>
// expected-error @+1 {{expects rows and a depth that take at most 786432 bytes of scratch, got 1114112}}
func.func private @bf16_scratch(%x: tensor<?x512xf32>, %w: tensor<64x512xf16>, %out: tensor<?x64xf32>) -> tensor<?x64xf32>
    attributes {gist.kernel = #gist.kernel<kind = matmul, outputs = 1>, gist.tile = #gist.cpu_bf16_product<rows = 512, columns = 64, depth = 512, parts = [2, 2]>} {
  %zero = arith.constant 0.0 : f32
  %z = linalg.fill ins(%zero : f32) outs(%out : tensor<?x64xf32>) -> tensor<?x64xf32>
  %y = linalg.matmul indexing_maps = [#x, #w, #y]
      ins(%x, %w : tensor<?x512xf32>, tensor<64x512xf16>) outs(%z : tensor<?x64xf32>) -> tensor<?x64xf32>
  return %y : tensor<?x64xf32>
}

// -----

#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (n, k)>
#y = affine_map<(m, n, k) -> (m, n)>
// expected-error @+1 {{expects fma for a product of floats, got #gist.cpu_product<rows = 64, columns = 64, registers = [4, 8], lanes = 4, instruction = smmla>}}
func.func private @float_instruction(%x: tensor<?x96xf32>, %w: tensor<64x96xf32>, %out: tensor<?x64xf32>) -> tensor<?x64xf32>
    attributes {gist.kernel = #gist.kernel<kind = matmul, outputs = 1>, gist.tile = #gist.cpu_product<rows = 64, columns = 64, registers = [4, 8], lanes = 4, instruction = smmla>} {
  %zero = arith.constant 0.0 : f32
  %z = linalg.fill ins(%zero : f32) outs(%out : tensor<?x64xf32>) -> tensor<?x64xf32>
  %y = linalg.matmul indexing_maps = [#x, #w, #y]
      ins(%x, %w : tensor<?x96xf32>, tensor<64x96xf32>) outs(%z : tensor<?x64xf32>) -> tensor<?x64xf32>
  return %y : tensor<?x64xf32>
}

// -----

// expected-error @+1 {{expects attention of many queries on f16 or bf16, heads of multiples of 32 and no mask for #gist.cpu_amx_attention<queries = 32, keys = 64>}}
func.func private @amx_heads(%q: tensor<?x9x80xf16>, %k: tensor<?x3x80xf16>, %v: tensor<?x3x80xf16>,
    %out: tensor<?x9x80xf16>) -> tensor<?x9x80xf16> attributes {gist.kernel = #gist.kernel<kind = attention, outputs = 1>, gist.tile = #gist.cpu_amx_attention<queries = 32, keys = 64>} {
  %o = gist.attention %q, %k, %v causal : tensor<?x9x80xf16>, tensor<?x3x80xf16>, tensor<?x3x80xf16>
  return %o : tensor<?x9x80xf16>
}
