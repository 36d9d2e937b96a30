// RUN: not gist-opt %s -split-input-file -gist-set-target=target=gfx942 -gist-select-tile-config -gist-gpu-kernels 2>&1 | FileCheck %s

// CHECK: error: 'gist.gated_projection' op has no scratch memory
func.func private @alone(%x: tensor<1x64xf16>, %v: tensor<64x16xf16>, %w: tensor<96x64xf16>,
    %m: tensor<96x16xf16>, %y: tensor<1x96xf16>, %l: tensor<1xi8>)
    -> (tensor<1x96xf16>, tensor<1xi8>) attributes {gist.kernel = #gist.kernel<kind = gated_projection, outputs = 2>} {
  %r, %level = gist.gated_projection %x, %v, 1.0e-1 weights(%w : tensor<96x64xf16>)
      images(%m : tensor<96x16xf16>) : tensor<1x64xf16>, tensor<64x16xf16>
  return %r, %level : tensor<1x96xf16>, tensor<1xi8>
}

// -----

// CHECK: error: 'gist.gated_projection' op expects static sizes where there are few tokens, got 'tensor<64x?xf16>'
func.func private @dynamic(%x: tensor<1x64xf16>, %v: tensor<64x?xf16>, %w: tensor<96x64xf16>,
    %m: tensor<96x?xf16>, %number: index, %y: tensor<1x96xf16>, %l: tensor<1xi8>, %s: tensor<2112xf32>,
    %control: tensor<64xi32> {gist.control})
    -> (tensor<1x96xf16>, tensor<1xi8>, tensor<2112xf32>, tensor<64xi32>)
    attributes {gist.kernel = #gist.kernel<kind = gated_projection, outputs = 4, scratch = 2>} {
  %r, %level = gist.gated_projection %x, %v, 1.0e-1 weights(%w : tensor<96x64xf16>)
      images(%m : tensor<96x?xf16>) : tensor<1x64xf16>, tensor<64x?xf16>
  return %r, %level, %s, %control : tensor<1x96xf16>, tensor<1xi8>, tensor<2112xf32>, tensor<64xi32>
}

// -----

// A tile written by hand: more workgroups than there is memory for.
// CHECK: error: 'gist.gated_projection' op is cut into more than 512 workgroups
func.func private @cut(%x: tensor<1x64xf16>, %v: tensor<64x16xf16>, %w: tensor<8208x64xf16>,
    %m: tensor<8208x16xf16>, %number: index, %y: tensor<1x8208xf16>, %l: tensor<1xi8>, %s: tensor<2112xf32>,
    %control: tensor<64xi32> {gist.control})
    -> (tensor<1x8208xf16>, tensor<1xi8>, tensor<2112xf32>, tensor<64xi32>)
    attributes {gist.kernel = #gist.kernel<kind = gated_projection, outputs = 4, scratch = 2>,
      gist.tile = #gist.gpu_gated<columns = 16, waves = 8, steps = 2>} {
  %r, %level = gist.gated_projection %x, %v, 1.0e-1 weights(%w : tensor<8208x64xf16>)
      images(%m : tensor<8208x16xf16>) : tensor<1x64xf16>, tensor<64x16xf16>
  return %r, %level, %s, %control : tensor<1x8208xf16>, tensor<1xi8>, tensor<2112xf32>, tensor<64xi32>
}
