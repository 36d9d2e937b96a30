// RUN: gist-opt %s -split-input-file -gist-gpu-tile=target=gfx942 -verify-diagnostics

// Options that no kernel supports are refused at the op.

!part = tensor<?xi32>
// expected-error @+1 {{cannot be written for gfx942}}
func.func private @numbers(%x: tensor<?x64xf16>, %ids: !part,
    %count: tensor<i32>) -> (!part, tensor<i32>)
    attributes {gist.kernel = #gist.kernel<kind = select, outputs = 2>, gist.tile = #gist.gpu_selection<rows = 64, columns = 64, depth = 32,
                waves = [2, 2], stages = 2, instruction = mfma_32x32x8, element = bf16, group = 8, loads = 8>} {
  // expected-error @+1 {{cannot compare rows of 'f16' in 'bf16'}}
  %s = gist.gram_select %x, 3.0e-1 against all causal : tensor<?x64xf16>
  %i, %c, %n, %w = gist.unpack_selection %s : !gist.selection<?>
  return %i, %c : !part, tensor<i32>
}

// -----

!part = tensor<?xi32>
func.func private @eight_bits(%x: tensor<?x64xf16>, %ids: !part,
    %count: tensor<i32>) -> (!part, tensor<i32>)
    // expected-error @+1 {{expects f16 or bf16 for mfma_32x32x8, got 'f8E4M3FNUZ'}}
    attributes {gist.kernel = #gist.kernel<kind = select, outputs = 2>, gist.tile = #gist.gpu_selection<rows = 64, columns = 64, depth = 32,
                waves = [2, 2], stages = 2, instruction = mfma_32x32x8, element = f8E4M3FNUZ, group = 8, loads = 8>} {
  %s = gist.gram_select %x, 3.0e-1 against all causal : tensor<?x64xf16>
  %i, %c, %n, %w = gist.unpack_selection %s : !gist.selection<?>
  return %i, %c : !part, tensor<i32>
}

// -----

!part = tensor<?xi32>
// expected-error @+1 {{cannot be written for gfx942}}
func.func private @warps(%x: tensor<?x64xf16>, %ids: !part,
    %count: tensor<i32>) -> (!part, tensor<i32>)
    attributes {gist.kernel = #gist.kernel<kind = select, outputs = 2>, gist.tile = #gist.gpu_selection<rows = 128, columns = 128, depth = 64,
                waves = [4, 1], stages = 4, instruction = wgmma_64x128x16, element = f16, group = 8, loads = 8>} {
  // expected-error @+1 {{cannot compare rows of 64 x 'f16' by wgmma_64x128x16 of 'f16' on gfx942}}
  %s = gist.gram_select %x, 3.0e-1 against all causal : tensor<?x64xf16>
  %i, %c, %n, %w = gist.unpack_selection %s : !gist.selection<?>
  return %i, %c : !part, tensor<i32>
}
