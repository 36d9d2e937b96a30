// What the numbers of a tile may not be, whatever the kernel and the processor.
// RUN: gist-opt %s -split-input-file -verify-diagnostics

// expected-error @+1 {{expects a positive number for rows, got 0}}
#tile = #gist.cpu_rows<rows = 0, lanes = 4>

// -----

// expected-error @+1 {{expects a power of two for lanes, got 6}}
#tile = #gist.cpu_rows<rows = 4, lanes = 6>

// -----

// expected-error @+1 {{expects a positive number for columns, got -1}}
#tile = #gist.cpu_product<rows = 32, columns = -1, registers = [8, 4], lanes = 4, instruction = smmla>

// -----

// expected-error @+1 {{expects a power of two for lanes, got 0}}
#tile = #gist.cpu_product<rows = 32, columns = 64, registers = [8, 4], lanes = 0, instruction = smmla>

// -----

// expected-error @+1 {{expects two positive numbers for registers, got [8]}}
#tile = #gist.cpu_product<rows = 32, columns = 64, registers = [8], lanes = 4, instruction = smmla>

// -----

// expected-error @+1 {{expects two positive numbers for registers, got [8, 0]}}
#tile = #gist.cpu_product<rows = 32, columns = 64, registers = [8, 0], lanes = 4, instruction = smmla>

// -----

// expected-error @+1 {{expects one of the instructions fma, smmla, sdot, vpdpbusd, tdpbsud, vpmaddubsw, widen; got mfma_32x32x8}}
#tile = #gist.cpu_product<rows = 32, columns = 64, registers = [8, 4], lanes = 4, instruction = mfma_32x32x8>

// -----

// expected-error @+1 {{expects even numbers of registers for smmla, or one row, got [3, 4]}}
#tile = #gist.cpu_product<rows = 32, columns = 64, registers = [3, 4], lanes = 4, instruction = smmla>

// -----

// expected-error @+1 {{expects at most 16 rows and 16 columns of registers and 16 lanes for tdpbsud, got [32, 16] and 16}}
#tile = #gist.cpu_product<rows = 64, columns = 64, registers = [32, 16], lanes = 16, instruction = tdpbsud>

// -----

// expected-error @+1 {{expects at most 16 rows and 16 columns of registers and 16 lanes for tdpbsud, got [8, 8] and 16}}
#tile = #gist.cpu_product<rows = 64, columns = 64, registers = [8, 8], lanes = 16, instruction = tdpbsud>

// -----

// expected-error @+1 {{expects at most 16 rows and 16 columns of registers and 16 lanes for tdpbsud, got [8, 16] and 4}}
#tile = #gist.cpu_product<rows = 64, columns = 64, registers = [8, 16], lanes = 4, instruction = tdpbsud>

// -----

// expected-error @+1 {{expects 8 or 16 lanes for vpmaddubsw, got 4}}
#tile = #gist.cpu_product<rows = 32, columns = 64, registers = [2, 4], lanes = 4, instruction = vpmaddubsw>

// -----

// expected-error @+1 {{expects a multiple of 32 for columns, got 48}}
#tile = #gist.cpu_bf16_product<rows = 128, columns = 48, depth = 512, parts = [2, 2]>

// -----

// expected-error @+1 {{expects a positive number for depth, got 0}}
#tile = #gist.cpu_bf16_product<rows = 128, columns = 64, depth = 0, parts = [2, 2]>

// -----

// expected-error @+1 {{expects parts of 1 or 2 numbers for rows and for the weight, got [2, 3]}}
#tile = #gist.cpu_bf16_product<rows = 128, columns = 64, depth = 512, parts = [2, 3]>

// -----

// expected-error @+1 {{expects parts of 1 or 2 numbers for rows and for the weight, got [1]}}
#tile = #gist.cpu_bf16_product<rows = 128, columns = 64, depth = 512, parts = [1]>

// -----

// expected-error @+1 {{expects 32 or 64 keys, got 48}}
#tile = #gist.cpu_amx_attention<queries = 32, keys = 48>

// -----

// expected-error @+1 {{expects a positive number for queries, got 0}}
#tile = #gist.cpu_attention<queries = 0, keys = 64, registers = 4, lanes = 4, instruction = fma>

// -----

// expected-error @+1 {{expects a power of two for lanes, got 3}}
#tile = #gist.cpu_attention<queries = 32, keys = 64, registers = 4, lanes = 3, instruction = fma>

// -----

// expected-error @+1 {{expects one of the instructions fma, bfmmla; got smmla}}
#tile = #gist.cpu_attention<queries = 32, keys = 64, registers = 4, lanes = 4, instruction = smmla>

// -----

// expected-error @+1 {{expects a multiple of 4 for keys, got 66}}
#tile = #gist.cpu_attention<queries = 32, keys = 66, registers = 4, lanes = 4, instruction = fma>

// -----

// expected-error @+1 {{expects a multiple of 8 for keys, got 60}}
#tile = #gist.cpu_attention<queries = 32, keys = 60, registers = 8, lanes = 4, instruction = bfmmla>

// -----

// expected-error @+1 {{expects a multiple of 2 for registers, got 7}}
#tile = #gist.cpu_attention<queries = 32, keys = 64, registers = 7, lanes = 4, instruction = bfmmla>

// -----

// expected-error @+1 {{expects at most 32 registers, got 4286578688}}
#tile = #gist.cpu_attention<queries = 32, keys = 64, registers = 0xFF800000, lanes = 4, instruction = bfmmla>

// -----

// expected-error @+1 {{expects a positive number for waves, got 0}}
#tile = #gist.gpu_rows<rows = 1, waves = 0>

// -----

// expected-error @+1 {{expects a positive number for columns, got -8}}
#tile = #gist.gpu_rows<rows = 1, waves = 4, columns = -8>

// -----

// expected-error @+1 {{has rows that waves cannot share: expects one row, or a wave for each, got 2 rows and 4 waves}}
#tile = #gist.gpu_rows<rows = 2, waves = 4>

// -----

// expected-error @+1 {{expects a positive number for depth, got 0}}
#tile = #gist.gpu_product<rows = 128, columns = 128, depth = 0, waves = [2, 2], stages = 2, instruction = mfma_32x32x8, element = f16>

// -----

// expected-error @+1 {{expects two positive numbers for waves, got [4]}}
#tile = #gist.gpu_product<rows = 128, columns = 128, depth = 32, waves = [4], stages = 2, instruction = mfma_32x32x8, element = f16>

// -----

// expected-error @+1 {{expects one of the instructions mfma_32x32x8, mfma_16x16x16, mma_16x8x16, wgmma_64x128x16; got fma}}
#tile = #gist.gpu_product<rows = 128, columns = 128, depth = 32, waves = [2, 2], stages = 2, instruction = fma, element = f16>

// -----

// expected-error @+1 {{expects one of the instructions mfma_32x32x8, mfma_16x16x16, mma_16x8x16, wgmma_64x128x16; got mfma_32x32x16}}
#tile = #gist.gpu_product<rows = 128, columns = 128, depth = 32, waves = [2, 2], stages = 2, instruction = mfma_32x32x16, element = f8E4M3FNUZ>

// -----

// expected-error @+1 {{expects f16 or bf16 for mfma_32x32x8, got 'f32'}}
#tile = #gist.gpu_product<rows = 128, columns = 128, depth = 32, waves = [2, 2], stages = 2, instruction = mfma_32x32x8, element = f32>

// -----

// expected-error @+1 {{expects a multiple of 64 for rows, got 96}}
#tile = #gist.gpu_product<rows = 96, columns = 128, depth = 32, waves = [2, 2], stages = 2, instruction = mfma_32x32x8, element = f16>

// -----

// expected-error @+1 {{expects a multiple of 32 for columns, got 48}}
#tile = #gist.gpu_product<rows = 32, columns = 48, depth = 32, waves = [2, 2], stages = 2, instruction = mma_16x8x16, element = f16>

// -----

// expected-error @+1 {{expects a multiple of 32 for depth, got 16}}
#tile = #gist.gpu_product<rows = 32, columns = 32, depth = 16, waves = [2, 2], stages = 2, instruction = mfma_16x16x16, element = bf16>

// -----

// expected-error @+1 {{expects a multiple of 4 for waves along rows, got 2}}
#tile = #gist.gpu_product<rows = 128, columns = 128, depth = 64, waves = [2, 1], stages = 4, instruction = wgmma_64x128x16, element = f16>

// -----

// expected-error @+1 {{expects a depth of 64 for wgmma_64x128x16, got 128}}
#tile = #gist.gpu_product<rows = 128, columns = 128, depth = 128, waves = [8, 1], stages = 4, instruction = wgmma_64x128x16, element = f16>

// -----

// expected-error @+1 {{expects a multiple of 8 for columns, got 60}}
#tile = #gist.gpu_product<rows = 128, columns = 60, depth = 64, waves = [8, 1], stages = 4, instruction = wgmma_64x128x16, element = f16>

// -----

// expected-error @+1 {{expects at least 2 stages for mfma_32x32x8, got 1}}
#tile = #gist.gpu_product<rows = 128, columns = 128, depth = 32, waves = [2, 2], stages = 1, instruction = mfma_32x32x8, element = f16>

// -----

// expected-error @+1 {{expects at least 3 stages for wgmma_64x128x16, got 2}}
#tile = #gist.gpu_product<rows = 128, columns = 128, depth = 64, waves = [8, 1], stages = 2, instruction = wgmma_64x128x16, element = f16>

// -----

// expected-error @+1 {{expects a positive number for steps, got 0}}
#tile = #gist.gpu_gemv<rows = 1, columns = 16, lanes = 64, waves = [4, 1], steps = 0>

// -----

// expected-error @+1 {{expects two positive numbers for waves, got [4, 0]}}
#tile = #gist.gpu_gemv<rows = 1, columns = 16, lanes = 64, waves = [4, 0], steps = 2>

// -----

// expected-error @+1 {{expects a power of two for lanes, got 48}}
#tile = #gist.gpu_gemv<rows = 1, columns = 16, lanes = 48, waves = [4, 1], steps = 2>

// -----

// expected-error @+1 {{expects a positive number for columns, got 0}}
#tile = #gist.gpu_gated<columns = 0, waves = 8, steps = 2>

// -----

// expected-error @+1 {{expects a positive number for keys, got 0}}
#tile = #gist.gpu_attention<rows = 128, keys = 0, waves = 4, stages = 2, instruction = mfma_32x32x8, element = f16>

// -----

// expected-error @+1 {{expects one of the instructions mfma_32x32x8, mfma_16x16x16, mma_16x8x16, wgmma_64x128x16; got bfmmla}}
#tile = #gist.gpu_attention<rows = 128, keys = 64, waves = 4, stages = 2, instruction = bfmmla, element = bf16>

// -----

// expected-error @+1 {{expects f16 or bf16 for mma_16x8x16, got 'f32'}}
#tile = #gist.gpu_attention<rows = 128, keys = 64, waves = 4, stages = 2, instruction = mma_16x8x16, element = f32>

// -----

// expected-error @+1 {{expects a multiple of 256 for rows, got 128}}
#tile = #gist.gpu_attention<rows = 128, keys = 64, waves = 8, stages = 2, instruction = mfma_32x32x8, element = f16>

// -----

// expected-error @+1 {{expects a multiple of 32 for keys, got 48}}
#tile = #gist.gpu_attention<rows = 128, keys = 48, waves = 4, stages = 2, instruction = mfma_32x32x8, element = f16>

// -----

// expected-error @+1 {{expects a multiple of 32 for keys, got 16}}
#tile = #gist.gpu_attention<rows = 64, keys = 16, waves = 4, stages = 2, instruction = mfma_16x16x16, element = f16>

// -----

// expected-error @+1 {{expects 4 waves for each 64 rows, got 4 waves and 128 rows}}
#tile = #gist.gpu_attention<rows = 128, keys = 64, waves = 4, stages = 2, instruction = wgmma_64x128x16, element = f16>

// -----

// expected-error @+1 {{expects a multiple of 64 up to 256 for keys, got 320}}
#tile = #gist.gpu_attention<rows = 64, keys = 320, waves = 4, stages = 2, instruction = wgmma_64x128x16, element = f16>

// -----

// expected-error @+1 {{expects two stages for mfma_32x32x8, got 3}}
#tile = #gist.gpu_attention<rows = 128, keys = 64, waves = 4, stages = 3, instruction = mfma_32x32x8, element = f16>

// -----

// expected-error @+1 {{expects two stages for mma_16x8x16, got 1}}
#tile = #gist.gpu_attention<rows = 128, keys = 64, waves = 4, stages = 1, instruction = mma_16x8x16, element = f16>

// -----

// expected-error @+1 {{expects a power of two for waves, got 6}}
#tile = #gist.gpu_decode<waves = 6>

// -----

// expected-error @+1 {{expects a positive number for stages, got 0}}
#tile = #gist.gpu_selection<rows = 64, columns = 64, depth = 32, waves = [2, 2], stages = 0, instruction = mfma_32x32x8, element = f16, group = 8, loads = 8>

// -----

// expected-error @+1 {{expects a positive number for group, got 0}}
#tile = #gist.gpu_selection<rows = 64, columns = 64, depth = 32, waves = [2, 2], stages = 2, instruction = mfma_32x32x8, element = f16, group = 0, loads = 8>

// -----

// expected-error @+1 {{expects a positive number for loads, got 0}}
#tile = #gist.gpu_selection<rows = 64, columns = 64, depth = 32, waves = [2, 2], stages = 2, instruction = mfma_32x32x8, element = f16, group = 8, loads = 0>

// -----

// expected-error @+1 {{expects two positive numbers for waves, got [2, 2, 1]}}
#tile = #gist.gpu_selection<rows = 64, columns = 64, depth = 32, waves = [2, 2, 1], stages = 2, instruction = mfma_32x32x8, element = f16, group = 8, loads = 8>

// -----

// expected-error @+1 {{expects one of the instructions mfma_32x32x8, mfma_16x16x16, mfma_32x32x16, mma_16x8x16, wgmma_64x128x16; got sdot}}
#tile = #gist.gpu_selection<rows = 64, columns = 64, depth = 32, waves = [2, 2], stages = 2, instruction = sdot, element = f16, group = 8, loads = 8>

// -----

// expected-error @+1 {{expects f16 or bf16 for mfma_32x32x8, got 'f8E4M3FNUZ'}}
#tile = #gist.gpu_selection<rows = 64, columns = 64, depth = 32, waves = [2, 2], stages = 2, instruction = mfma_32x32x8, element = f8E4M3FNUZ, group = 8, loads = 8>

// -----

// expected-error @+1 {{expects f8E4M3FNUZ for mfma_32x32x16, got 'f16'}}
#tile = #gist.gpu_selection<rows = 64, columns = 64, depth = 32, waves = [2, 2], stages = 2, instruction = mfma_32x32x16, element = f16, group = 8, loads = 8>

// -----

// expected-error @+1 {{expects a multiple of 32 for depth, got 16}}
#tile = #gist.gpu_selection<rows = 64, columns = 64, depth = 16, waves = [2, 2], stages = 2, instruction = mfma_32x32x16, element = f8E4M3FNUZ, group = 8, loads = 8>

// -----

// expected-error @+1 {{expects at least 2 stages for mma_16x8x16, got 1}}
#tile = #gist.gpu_selection<rows = 64, columns = 64, depth = 32, waves = [2, 2], stages = 1, instruction = mma_16x8x16, element = f16, group = 8, loads = 8>

// -----

// expected-error @+1 {{expects a multiple of 32 for columns, got 16}}
#tile = #gist.gpu_selection<rows = 64, columns = 16, depth = 32, waves = [4, 1], stages = 2, instruction = mma_16x8x16, element = f16, group = 8, loads = 8>

// -----

// expected-error @+1 {{expects rows to be a multiple of columns, or columns one of rows, got 96 and 64}}
#tile = #gist.gpu_selection<rows = 96, columns = 64, depth = 32, waves = [1, 2], stages = 2, instruction = mfma_32x32x8, element = f16, group = 8, loads = 8>

// -----

// expected-error @+1 {{expects a positive number for clusters, got 0}}
#tile = #gist.gpu_clusters<tokens = 128, clusters = 0, columns = 64, waves = 4, instruction = mfma_32x32x8, element = f16>

// -----

// expected-error @+1 {{expects one of the instructions mfma_32x32x8, mfma_16x16x16, mma_16x8x16; got wgmma_64x128x16}}
#tile = #gist.gpu_clusters<tokens = 128, clusters = 64, columns = 64, waves = 4, instruction = wgmma_64x128x16, element = f16>

// -----

// expected-error @+1 {{expects f16, bf16 or f32, got 'f64'}}
#tile = #gist.gpu_clusters<tokens = 128, clusters = 64, columns = 64, waves = 4, instruction = mfma_32x32x8, element = f64>

// -----

// expected-error @+1 {{expects a wave for each 32 tokens, got 2 waves and 128 tokens}}
#tile = #gist.gpu_clusters<tokens = 128, clusters = 64, columns = 64, waves = 2, instruction = mfma_32x32x8, element = f16>

// -----

// expected-error @+1 {{expects a multiple of 16 for clusters, got 24}}
#tile = #gist.gpu_clusters<tokens = 64, clusters = 24, columns = 64, waves = 4, instruction = mma_16x8x16, element = f16>

// -----

// expected-error @+1 {{expects a multiple of 16 for columns, got 24}}
#tile = #gist.gpu_clusters<tokens = 64, clusters = 32, columns = 24, waves = 4, instruction = mma_16x8x16, element = f16>

// -----

// expected-error @+1 {{expects a multiple of 4 for columns, got 6}}
#tile = #gist.gpu_clusters<tokens = 64, clusters = 32, columns = 6, waves = 4, instruction = mma_16x8x16, element = f32>
