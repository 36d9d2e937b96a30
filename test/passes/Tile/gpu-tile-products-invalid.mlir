// Steps on tiles that were written by hand and that no thread can execute.
// RUN: gist-opt %s -split-input-file -verify-diagnostics -gist-set-target=target=gfx942 -gist-gpu-kernels

#tile = #gist.gpu_product<rows = 64, columns = 64, depth = 32, waves = [2, 2], stages = 2, instruction = mfma_32x32x8, element = f16>
#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (n, k)>
#y = affine_map<(m, n, k) -> (m, n)>

// expected-error @+1 {{cannot be written for gfx942}}
func.func private @not_cut(%x: tensor<?x32xf16>, %w: tensor<96x32xf16>, %y: tensor<?x96xf32>)
    -> tensor<?x96xf32> attributes {gist.kernel = #gist.kernel<kind = matmul, outputs = 1>, gist.tile = #tile} {
  %zero = arith.constant 0.0 : f32
  %z = linalg.fill ins(%zero : f32) outs(%y : tensor<?x96xf32>) -> tensor<?x96xf32>
  // expected-error @+1 {{expects to be cut into steps on tiles; -gist-gpu-tile-products does that}}
  %p = linalg.matmul indexing_maps = [#x, #w, #y] ins(%x, %w : tensor<?x32xf16>, tensor<96x32xf16>)
      outs(%z : tensor<?x96xf32>) -> tensor<?x96xf32>
  return %p : tensor<?x96xf32>
}

// -----

#tile = #gist.gpu_product<rows = 64, columns = 64, depth = 32, waves = [2, 2], stages = 2, instruction = mfma_32x32x8, element = f16>

// expected-error @+1 {{cannot be written for gfx942}}
func.func private @no_instruction(%x: tensor<?x32xf16>, %w: tensor<96x32xf16>, %y: tensor<?x96xf32>)
    -> tensor<?x96xf32> attributes {gist.kernel = #gist.kernel<kind = matmul, outputs = 1>, gist.tile = #tile} {
  // expected-error @+1 {{expects products by one instruction}}
  %p = gist.tile_product ins(%x, %w : tensor<?x32xf16>, tensor<96x32xf16>) outs(%y : tensor<?x96xf32>)
      workgroup [64, 64] waves [2, 2] {
  ^bb0(%row: index, %column: index):
    %s = arith.constant dense<0.0> : vector<64x64xf32>
    gist.tile_yield %s : vector<64x64xf32>
  }
  return %p : tensor<?x96xf32>
}

// -----

#tile = #gist.gpu_product<rows = 64, columns = 64, depth = 32, waves = [2, 2], stages = 2, instruction = mfma_32x32x8, element = f16>
!shared = memref<1x64x32xf16, #gpu.address_space<workgroup>>

// expected-error @+1 {{cannot be written for gfx942}}
func.func private @no_buffer(%x: tensor<?x32xf16>, %w: tensor<96x32xf16>, %y: tensor<?x96xf32>)
    -> tensor<?x96xf32> attributes {gist.kernel = #gist.kernel<kind = matmul, outputs = 1>, gist.tile = #tile} {
  // expected-error @+1 {{expects a buffer for each operand, allocated in the body, whose stages have the rows of the workgroup's tile}}
  %p = gist.tile_product ins(%x, %w : tensor<?x32xf16>, tensor<96x32xf16>) outs(%y : tensor<?x96xf32>)
      workgroup [64, 64] waves [2, 2] {
  ^bb0(%row: index, %column: index):
    %t = memref.alloca() : !shared
    %c0 = arith.constant 0 : index
    %s = arith.constant dense<0.0> : vector<64x64xf32>
    %f = gist.tile_fetch %x[%row, %c0] : tensor<?x32xf16> -> vector<64x32xf16>
    gist.tile_stage %f of %x[%row, %c0] to %t[%c0] : vector<64x32xf16>, tensor<?x32xf16>, !shared
    gpu.barrier
    %a, %b = gist.tile_load %t[%c0], %t[%c0] : !shared, !shared -> vector<64x32xf16>, vector<64x32xf16>
    %r = gist.tile_multiply %a, %b, %s with mfma_32x32x8 : vector<64x32xf16>, vector<64x32xf16>, vector<64x64xf32>
    gist.tile_yield %r : vector<64x64xf32>
  }
  return %p : tensor<?x96xf32>
}

// -----

#tile = #gist.gpu_product<rows = 64, columns = 64, depth = 32, waves = [2, 2], stages = 2, instruction = mfma_32x32x8, element = f16>
!shared = memref<1x64x32xf16, #gpu.address_space<workgroup>>

// expected-error @+1 {{cannot be written for gfx942}}
func.func private @other_gpu(%x: tensor<?x32xf16>, %w: tensor<96x32xf16>, %y: tensor<?x96xf32>)
    -> tensor<?x96xf32> attributes {gist.kernel = #gist.kernel<kind = matmul, outputs = 1>, gist.tile = #tile} {
  // expected-error @+1 {{multiplies by mma_16x8x16, which gfx942 does not have}}
  %p = gist.tile_product ins(%x, %w : tensor<?x32xf16>, tensor<96x32xf16>) outs(%y : tensor<?x96xf32>)
      workgroup [64, 64] waves [2, 2] {
  ^bb0(%row: index, %column: index):
    %tx = memref.alloca() : !shared
    %tw = memref.alloca() : !shared
    %c0 = arith.constant 0 : index
    %s = arith.constant dense<0.0> : vector<64x64xf32>
    %fx = gist.tile_fetch %x[%row, %c0] : tensor<?x32xf16> -> vector<64x32xf16>
    gist.tile_stage %fx of %x[%row, %c0] to %tx[%c0] : vector<64x32xf16>, tensor<?x32xf16>, !shared
    %fw = gist.tile_fetch %w[%column, %c0] : tensor<96x32xf16> -> vector<64x32xf16>
    gist.tile_stage %fw of %w[%column, %c0] to %tw[%c0] : vector<64x32xf16>, tensor<96x32xf16>, !shared
    gpu.barrier
    %a, %b = gist.tile_load %tx[%c0], %tw[%c0] : !shared, !shared -> vector<64x32xf16>, vector<64x32xf16>
    %r = gist.tile_multiply %a, %b, %s with mma_16x8x16 : vector<64x32xf16>, vector<64x32xf16>, vector<64x64xf32>
    gist.tile_yield %r : vector<64x64xf32>
  }
  return %p : tensor<?x96xf32>
}

// -----

#tile = #gist.gpu_product<rows = 64, columns = 64, depth = 32, waves = [2, 2], stages = 2, instruction = mfma_32x32x8, element = f16>
!shared = memref<1x64x32xf16, #gpu.address_space<workgroup>>

// expected-error @+1 {{cannot be written for gfx942}}
func.func private @copies(%x: tensor<?x32xf16>, %w: tensor<96x32xf16>, %y: tensor<?x96xf32>)
    -> tensor<?x96xf32> attributes {gist.kernel = #gist.kernel<kind = matmul, outputs = 1>, gist.tile = #tile} {
  %p = gist.tile_product ins(%x, %w : tensor<?x32xf16>, tensor<96x32xf16>) outs(%y : tensor<?x96xf32>)
      workgroup [64, 64] waves [2, 2] {
  ^bb0(%row: index, %column: index):
    %tx = memref.alloca() : !shared
    %tw = memref.alloca() : !shared
    %c0 = arith.constant 0 : index
    %s = arith.constant dense<0.0> : vector<64x64xf32>
    // expected-error @+1 {{cannot copy this operand as it is on gfx942}}
    gist.tile_copy %x[%row, %c0] to %tx[%c0] : tensor<?x32xf16>, !shared
    gist.tile_copy %w[%column, %c0] to %tw[%c0] : tensor<96x32xf16>, !shared
    gpu.barrier
    %a, %b = gist.tile_load %tx[%c0], %tw[%c0] : !shared, !shared -> vector<64x32xf16>, vector<64x32xf16>
    %r = gist.tile_multiply %a, %b, %s with mfma_32x32x8 : vector<64x32xf16>, vector<64x32xf16>, vector<64x64xf32>
    gist.tile_yield %r : vector<64x64xf32>
  }
  return %p : tensor<?x96xf32>
}

// -----

#tile = #gist.gpu_product<rows = 64, columns = 64, depth = 32, waves = [2, 2], stages = 2, instruction = mfma_32x32x8, element = f16>
!shared = memref<1x64x32xf16, #gpu.address_space<workgroup>>

// expected-error @+1 {{cannot be written for gfx942}}
func.func private @not_zero(%x: tensor<?x32xf16>, %w: tensor<96x32xf16>, %y: tensor<?x96xf32>)
    -> tensor<?x96xf32> attributes {gist.kernel = #gist.kernel<kind = matmul, outputs = 1>, gist.tile = #tile} {
  %p = gist.tile_product ins(%x, %w : tensor<?x32xf16>, tensor<96x32xf16>) outs(%y : tensor<?x96xf32>)
      workgroup [64, 64] waves [2, 2] {
  ^bb0(%row: index, %column: index):
    %tx = memref.alloca() : !shared
    %tw = memref.alloca() : !shared
    %c0 = arith.constant 0 : index
    // expected-error @+1 {{expects sums that begin with zero}}
    %s = arith.constant dense<1.0> : vector<64x64xf32>
    %fx = gist.tile_fetch %x[%row, %c0] : tensor<?x32xf16> -> vector<64x32xf16>
    gist.tile_stage %fx of %x[%row, %c0] to %tx[%c0] : vector<64x32xf16>, tensor<?x32xf16>, !shared
    %fw = gist.tile_fetch %w[%column, %c0] : tensor<96x32xf16> -> vector<64x32xf16>
    gist.tile_stage %fw of %w[%column, %c0] to %tw[%c0] : vector<64x32xf16>, tensor<96x32xf16>, !shared
    gpu.barrier
    %a, %b = gist.tile_load %tx[%c0], %tw[%c0] : !shared, !shared -> vector<64x32xf16>, vector<64x32xf16>
    %r = gist.tile_multiply %a, %b, %s with mfma_32x32x8 : vector<64x32xf16>, vector<64x32xf16>, vector<64x64xf32>
    gist.tile_yield %r : vector<64x64xf32>
  }
  return %p : tensor<?x96xf32>
}

// -----

#tile = #gist.gpu_product<rows = 64, columns = 64, depth = 32, waves = [2, 2], stages = 2, instruction = mfma_32x32x8, element = f16>
!shared = memref<1x64x32xf16, #gpu.address_space<workgroup>>

// A number of the kernel is not the thread's: nothing but the operands is read.
// expected-error @+1 {{cannot be written for gfx942}}
func.func private @outside(%x: tensor<?x32xf16>, %w: tensor<96x32xf16>, %n: index, %y: tensor<?x96xf32>)
    -> tensor<?x96xf32> attributes {gist.kernel = #gist.kernel<kind = matmul, outputs = 1>, gist.tile = #tile} {
  %p = gist.tile_product ins(%x, %w : tensor<?x32xf16>, tensor<96x32xf16>) outs(%y : tensor<?x96xf32>)
      workgroup [64, 64] waves [2, 2] {
  ^bb0(%row: index, %column: index):
    %tx = memref.alloca() : !shared
    %tw = memref.alloca() : !shared
    %c0 = arith.constant 0 : index
    %s = arith.constant dense<0.0> : vector<64x64xf32>
    // expected-error @+1 {{reads a value from outside of the product}}
    %fx = gist.tile_fetch %x[%row, %n] : tensor<?x32xf16> -> vector<64x32xf16>
    gist.tile_stage %fx of %x[%row, %c0] to %tx[%c0] : vector<64x32xf16>, tensor<?x32xf16>, !shared
    %fw = gist.tile_fetch %w[%column, %c0] : tensor<96x32xf16> -> vector<64x32xf16>
    gist.tile_stage %fw of %w[%column, %c0] to %tw[%c0] : vector<64x32xf16>, tensor<96x32xf16>, !shared
    gpu.barrier
    %a, %b = gist.tile_load %tx[%c0], %tw[%c0] : !shared, !shared -> vector<64x32xf16>, vector<64x32xf16>
    %r = gist.tile_multiply %a, %b, %s with mfma_32x32x8 : vector<64x32xf16>, vector<64x32xf16>, vector<64x64xf32>
    gist.tile_yield %r : vector<64x64xf32>
  }
  return %p : tensor<?x96xf32>
}

// -----

#tile = #gist.gpu_product<rows = 64, columns = 64, depth = 32, waves = [2, 2], stages = 2, instruction = mfma_32x32x8, element = f16>

// expected-error @+1 {{cannot be written for gfx942}}
func.func private @no_pairs(%x: tensor<?x32xf16>, %w: tensor<96x32xf16>, %y: tensor<?x96xf32>)
    -> tensor<?x96xf32> attributes {gist.kernel = #gist.kernel<kind = matmul, outputs = 1>, gist.tile = #tile} {
  // expected-error @+1 {{is paired, so that slices of both halves of its columns must be all that is read of it}}
  %p = gist.tile_product ins(%x, %w : tensor<?x32xf16>, tensor<96x32xf16>) outs(%y : tensor<?x96xf32>)
      workgroup [64, 64] waves [2, 2] paired {
  ^bb0(%row: index, %column: index):
    %s = arith.constant dense<0.0> : vector<64x64xf32>
    gist.tile_yield %s : vector<64x64xf32>
  }
  return %p : tensor<?x96xf32>
}
