// How selections are cut on GPUs: what visits rows of tiles together, and how many
// loads are in flight, are numbers of the target too.

// RUN: gist-opt %s -gist-set-target=target=gfx942 -gist-select-tile-config | FileCheck %s --check-prefix=AMD
// RUN: gist-opt %s -gist-set-target=target=sm_90 -gist-select-tile-config | FileCheck %s --check-prefix=NVIDIA
!part = tensor<?xi32>

// AMD-LABEL: @halves
// AMD-SAME:    #gist.gpu_selection<rows = 128, columns = 256, depth = 32, waves = [2, 2], stages = 2, instruction = mfma_32x32x8, element = f16, group = 8, loads = 8>
// NVIDIA-LABEL: @halves
// NVIDIA-SAME: #gist.gpu_selection<rows = 128, columns = 128, depth = 64, waves = [8, 1], stages = 4, instruction = wgmma_64x128x16, element = f16, group = 4, loads = 4>
func.func private @halves(%x: tensor<?x64xf16>, %ids: !part, %count: tensor<i32>) -> (!part, tensor<i32>)
    attributes {gist.kernel = #gist.kernel<kind = select, outputs = 2>} {
  %s = gist.gram_select %x, 3.0e-1 against all causal : tensor<?x64xf16>
  %i, %c, %n, %w = gist.unpack_selection %s : !gist.selection<?>
  return %i, %c : !part, tensor<i32>
}

// Rows of f32 are two halves each, which take twice the room.
// AMD-LABEL: @split
// AMD-SAME:    #gist.gpu_selection<rows = 128, columns = 128, depth = 16, waves = [2, 2], stages = 2, instruction = mfma_32x32x8, element = f16, group = 8, loads = 8>
// NVIDIA-LABEL: @split
// NVIDIA-SAME: #gist.gpu_selection<rows = 128, columns = 64, depth = 32, waves = [4, 2], stages = 2, instruction = mma_16x8x16, element = f16, group = 4, loads = 4>
func.func private @split(%x: tensor<?x64xf32>, %ids: !part, %count: tensor<i32>) -> (!part, tensor<i32>)
    attributes {gist.kernel = #gist.kernel<kind = select, outputs = 2>} {
  %s = gist.gram_select %x, 3.0e-1 against all causal : tensor<?x64xf32>
  %i, %c, %n, %w = gist.unpack_selection %s : !gist.selection<?>
  return %i, %c : !part, tensor<i32>
}
