// What ops on tiles must hold.
// RUN: gist-opt %s -split-input-file -verify-diagnostics

func.func @product_c1(%x: tensor<?x64xf16>, %w: tensor<96x32xf16>, %e: tensor<?x96xf32>) {
  // expected-error @+1 {{expects operands of M x K and N x K with static K and N, got 'tensor<?x64xf16>' and 'tensor<96x32xf16>'}}
  %p = gist.tile_product ins(%x, %w : tensor<?x64xf16>, tensor<96x32xf16>) outs(%e : tensor<?x96xf32>)
      workgroup [128, 64] waves [2, 2] {
  ^bb0(%row: index, %column: index):
    %s = arith.constant dense<0.0> : vector<128x64xf32>
    gist.tile_yield %s : vector<128x64xf32>
  }
  return
}

// -----

func.func @product_c2(%x: tensor<?x64xf16>, %w: tensor<96x64xf16>, %e: tensor<?x64xf32>) {
  // expected-error @+1 {{expects a destination of ? x 96, got 'tensor<?x64xf32>'}}
  %p = gist.tile_product ins(%x, %w : tensor<?x64xf16>, tensor<96x64xf16>) outs(%e : tensor<?x64xf32>)
      workgroup [128, 64] waves [2, 2] {
  ^bb0(%row: index, %column: index):
    %s = arith.constant dense<0.0> : vector<128x64xf32>
    gist.tile_yield %s : vector<128x64xf32>
  }
  return
}

// -----

func.func @product_c3(%x: tensor<?x64xf16>, %w: tensor<96x64xf16>, %e: tensor<?x96xf32>) {
  // expected-error @+1 {{expects two sizes of a workgroup's tile, and two numbers of waves that divide them; got [128, 64] and [3, 2]}}
  %p = gist.tile_product ins(%x, %w : tensor<?x64xf16>, tensor<96x64xf16>) outs(%e : tensor<?x96xf32>)
      workgroup [128, 64] waves [3, 2] {
  ^bb0(%row: index, %column: index):
    %s = arith.constant dense<0.0> : vector<128x64xf32>
    gist.tile_yield %s : vector<128x64xf32>
  }
  return
}

// -----

func.func @product_c4_arguments(%x: tensor<?x64xf16>, %w: tensor<96x64xf16>, %e: tensor<?x96xf32>) {
  // expected-error @+1 {{expects a body with two index arguments: the first row and column of the workgroup's tile; and two more where workgroups share k: the first step and the number of steps}}
  %p = gist.tile_product ins(%x, %w : tensor<?x64xf16>, tensor<96x64xf16>) outs(%e : tensor<?x96xf32>)
      workgroup [128, 64] waves [2, 2] {
  ^bb0(%row: index):
    %s = arith.constant dense<0.0> : vector<128x64xf32>
    gist.tile_yield %s : vector<128x64xf32>
  }
  return
}

// -----

func.func @product_c4_tile(%x: tensor<?x64xf16>, %w: tensor<96x64xf16>, %e: tensor<?x96xf32>) {
  // expected-error @+1 {{expects a body that yields the workgroup's tile, 'vector<128x64xf32>'}}
  %p = gist.tile_product ins(%x, %w : tensor<?x64xf16>, tensor<96x64xf16>) outs(%e : tensor<?x96xf32>)
      workgroup [128, 64] waves [2, 2] {
  ^bb0(%row: index, %column: index):
    %s = arith.constant dense<0.0> : vector<64x128xf32>
    gist.tile_yield %s : vector<64x128xf32>
  }
  return
}

// -----

func.func @product_c5(%x: tensor<?x64xf16>, %w: tensor<96x64xf16>, %e: tensor<?x96xf32>) {
  %p = gist.tile_product ins(%x, %w : tensor<?x64xf16>, tensor<96x64xf16>) outs(%e : tensor<?x96xf32>)
      workgroup [128, 64] waves [2, 2] {
  ^bb0(%row: index, %column: index):
    // expected-error @+1 {{expects to read the operand x or its scales from the product's first row on, or w from its first column on}}
    %f = gist.tile_fetch %x[%column, %row] : tensor<?x64xf16> -> vector<128x32xf16>
    %s = arith.constant dense<0.0> : vector<128x64xf32>
    gist.tile_yield %s : vector<128x64xf32>
  }
  return
}

// -----

func.func @fetch_c1(%x: tensor<?x64xf16>, %i: index) {
  // expected-error @+1 {{expects an operand of 'f32', got 'tensor<?x64xf16>'}}
  %f = gist.tile_fetch %x[%i, %i] : tensor<?x64xf16> -> vector<128x32xf32>
  return
}

// -----

func.func @fetch_c1_k(%x: tensor<4x?xf16>, %i: index) {
  // expected-error @+1 {{expects an operand with a static K, got 'tensor<4x?xf16>'}}
  %f = gist.tile_fetch %x[%i, %i] : tensor<4x?xf16> -> vector<128x32xf16>
  return
}

// -----

func.func @stage_c2_memory(%x: tensor<?x64xf16>, %f: vector<128x32xf16>, %t: memref<2x128x32xf16>, %i: index) {
  // expected-error @+1 {{expects a buffer of static sizes in workgroup memory, got 'memref<2x128x32xf16>'}}
  gist.tile_stage %f of %x[%i, %i] to %t[%i] : vector<128x32xf16>, tensor<?x64xf16>, memref<2x128x32xf16>
  return
}

// -----

!shared = memref<2x128x32xf16, #gpu.address_space<workgroup>>
func.func @stage_c2_shape(%x: tensor<?x64xf16>, %f: vector<64x32xf16>, %t: !shared, %i: index) {
  // expected-error @+1 {{expects a tile of the shape of a stage, 'vector<128x32xf16>', got 'vector<64x32xf16>'}}
  gist.tile_stage %f of %x[%i, %i] to %t[%i] : vector<64x32xf16>, tensor<?x64xf16>, !shared
  return
}

// -----

!shared = memref<2x128x32xf16, #gpu.address_space<workgroup>>
func.func @copy_c1(%x: tensor<?x64xf32>, %t: !shared, %i: index) {
  // expected-error @+1 {{expects an operand of 'f16', got 'tensor<?x64xf32>'}}
  gist.tile_copy %x[%i, %i] to %t[%i] : tensor<?x64xf32>, !shared
  return
}

// -----

!shared = memref<2x128x32xf16, #gpu.address_space<workgroup>>
func.func @load_c1(%t: !shared, %i: index) {
  // expected-error @+1 {{expects to load a stage, 'vector<128x32xf16>', got 'vector<32x128xf16>'}}
  %a, %b = gist.tile_load %t[%i], %t[%i] : !shared, !shared -> vector<128x32xf16>, vector<32x128xf16>
  return
}

// -----

func.func @multiply_c1_depth(%a: vector<128x32xf16>, %b: vector<64x16xf16>, %s: vector<128x64xf32>) {
  // expected-error @+1 {{expects tiles of one depth and type, got 'vector<128x32xf16>' and 'vector<64x16xf16>'}}
  %r = gist.tile_multiply %a, %b, %s with mfma_32x32x8 : vector<128x32xf16>, vector<64x16xf16>, vector<128x64xf32>
  return
}

// -----

func.func @multiply_c1_sums(%a: vector<128x32xf16>, %b: vector<64x32xf16>, %s: vector<64x128xf32>) {
  // expected-error @+1 {{expects sums of 'vector<128x64xf32>', got 'vector<64x128xf32>'}}
  %r = gist.tile_multiply %a, %b, %s with mfma_32x32x8 : vector<128x32xf16>, vector<64x32xf16>, vector<64x128xf32>
  return
}

// -----

func.func @multiply_c2(%a: vector<128x32xf16>, %b: vector<64x32xf16>, %s: vector<128x64xf32>) {
  // expected-error @+1 {{expects a matrix instruction of one wave, got wgmma_64x128x16}}
  %r = gist.tile_multiply %a, %b, %s with wgmma_64x128x16 : vector<128x32xf16>, vector<64x32xf16>, vector<128x64xf32>
  return
}

// -----

!shared = memref<2x128x32xf16, #gpu.address_space<workgroup>>
func.func @start_c1(%t: !shared, %i: index, %s: vector<128x128xf32>) {
  // expected-error @+1 {{expects rows of 64 numbers, got}}
  %r = gist.tile_start %t[%i], %t[%i], %s with wgmma_64x128x16 : !shared, !shared, vector<128x128xf32>
  return
}

// -----

!shared = memref<3x128x64xf16, #gpu.address_space<workgroup>>
func.func @start_c2(%t: !shared, %i: index, %s: vector<128x64xf32>) {
  // expected-error @+1 {{expects sums of 'vector<128x128xf32>', got 'vector<128x64xf32>'}}
  %r = gist.tile_start %t[%i], %t[%i], %s with wgmma_64x128x16 : !shared, !shared, vector<128x64xf32>
  return
}

// -----

!shared = memref<3x128x64xf16, #gpu.address_space<workgroup>>
func.func @start_c3(%t: !shared, %i: index, %s: vector<128x128xf32>) {
  // expected-error @+1 {{expects a matrix instruction of four warps, got mma_16x8x16}}
  %r = gist.tile_start %t[%i], %t[%i], %s with mma_16x8x16 : !shared, !shared, vector<128x128xf32>
  return
}

// -----

func.func @interleave_c1(%a: vector<128x32xf16>, %b: vector<64x32xf16>, %s: vector<128x64xf32>) {
  // expected-error @+1 {{expects sums of gist.tile_multiply and tiles of gist.tile_fetch}}
  gist.tile_interleave %s of %a, %b : vector<128x64xf32>, vector<128x32xf16>, vector<64x32xf16>
  return
}

// -----

func.func @product_c6_odd(%x: tensor<?x64xf16>, %w: tensor<95x64xf16>, %e: tensor<?x95xf32>) -> tensor<?x95xf32> {
  // expected-error @+1 {{is paired and expects an even number of columns, got 95}}
  %p = gist.tile_product ins(%x, %w : tensor<?x64xf16>, tensor<95x64xf16>) outs(%e : tensor<?x95xf32>)
      workgroup [64, 64] waves [2, 2] paired {
  ^bb0(%row: index, %column: index):
    %s = arith.constant dense<0.0> : vector<64x64xf32>
    gist.tile_yield %s : vector<64x64xf32>
  }
  return %p : tensor<?x95xf32>
}

// -----

func.func @product_c7(%x: tensor<?x128xi8>, %w: tensor<96x128xi8>, %e: tensor<?x96xf32>) {
  // expected-error @+1 {{expects scales where both operands are of 8 bits, and only there}}
  %p = gist.tile_product ins(%x, %w : tensor<?x128xi8>, tensor<96x128xi8>) outs(%e : tensor<?x96xf32>)
      workgroup [128, 64] waves [2, 2] {
  ^bb0(%row: index, %column: index):
    %s = arith.constant dense<0.0> : vector<128x64xf32>
    gist.tile_yield %s : vector<128x64xf32>
  }
  return
}

// -----

func.func @product_c5_scales(%x: tensor<?x128xi8>, %w: tensor<96x128xi8>, %s: tensor<?x1xf32>, %e: tensor<?x96xf32>) {
  %c0 = arith.constant 0 : index
  %p = gist.tile_product ins(%x, %w : tensor<?x128xi8>, tensor<96x128xi8>) scales(%s : tensor<?x1xf32>)
      outs(%e : tensor<?x96xf32>) workgroup [128, 64] waves [2, 2] {
  ^bb0(%row: index, %column: index):
    // expected-error @+1 {{expects to read the operand x or its scales from the product's first row on}}
    %r = gist.tile_scales %s[%column, %c0] : tensor<?x1xf32> -> vector<128xf32>
    %t = arith.constant dense<0.0> : vector<128x64xf32>
    gist.tile_yield %t : vector<128x64xf32>
  }
  return
}

// -----

// Sums of integers are integers.
func.func @multiply_c1_integers(%x: vector<64x64xi8>, %w: vector<32x64xi8>, %s: vector<64x32xf32>) {
  // expected-error @+1 {{expects sums of 'vector<64x32xi32>', got 'vector<64x32xf32>'}}
  %p = gist.tile_multiply %x, %w, %s with mfma_32x32x8 : vector<64x64xi8>, vector<32x64xi8>, vector<64x32xf32>
  return
}

// -----

func.func @scale_c1(%s: vector<64x32xi32>, %r: vector<32xf32>, %t: vector<64x32xf32>) {
  // expected-error @+1 {{expects sums of a part of the totals, and a scale for each row; got part 0 of 'vector<64x32xi32>', 'vector<32xf32>' and 'vector<64x32xf32>'}}
  %p = gist.tile_scale %s by %r add %t : vector<64x32xi32>, vector<32xf32>, vector<64x32xf32>
  return
}

// -----

func.func @scale_c1_part(%s: vector<64x32xi32>, %r: vector<64xf32>, %t: vector<64x96xf32>) {
  %p = gist.tile_scale %s by %r add %t part 2 : vector<64x32xi32>, vector<64xf32>, vector<64x96xf32>
  // expected-error @+1 {{expects sums of a part of the totals, and a scale for each row; got part 3 of 'vector<64x32xi32>'}}
  %q = gist.tile_scale %s by %r add %t part 3 : vector<64x32xi32>, vector<64xf32>, vector<64x96xf32>
  return
}

// -----

!buffer = memref<4x128x128xi8, #gpu.address_space<workgroup>>
func.func @start_c2_part(%x: !buffer, %i: index, %s: vector<128x48xi32>) {
  // expected-error @+1 {{expects sums of a part of the 128 columns, got part 0 of 48}}
  %p = gist.tile_start %x[%i], %x[%i], %s with wgmma_64x128x16 : !buffer, !buffer, vector<128x48xi32>
  return
}

// -----

// Sums of floats are of all columns.
!buffer = memref<4x128x64xf16, #gpu.address_space<workgroup>>
func.func @start_c2_floats(%x: !buffer, %i: index, %s: vector<128x64xf32>) {
  // expected-error @+1 {{expects sums of 'vector<128x128xf32>', got 'vector<128x64xf32>'}}
  %p = gist.tile_start %x[%i], %x[%i], %s with wgmma_64x128x16 : !buffer, !buffer, vector<128x64xf32>
  return
}
