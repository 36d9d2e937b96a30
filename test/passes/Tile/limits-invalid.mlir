// Sizes that no machine could hold are refused before anything is computed of
// them (passes/Kernel/Limits.h).
// RUN: gist-opt %s -split-input-file -verify-diagnostics -gist-tile
// RUN: gist-opt %s -split-input-file -verify-diagnostics -gist-gpu-tile=target=gfx942
// RUN: gist-opt %s -split-input-file -verify-diagnostics -gist-gpu-tile=target=sm_90

func.func private @head(%q: tensor<?x4x4294967296xf16>, %k: tensor<?x2x4294967296xf16>, %v: tensor<?x2x4294967296xf16>,
    %out: tensor<?x4x4294967296xf16>) -> tensor<?x4x4294967296xf16>
    attributes {gist.kernel = #gist.kernel<kind = attention, outputs = 1>} {
  // expected-error @+1 {{'gist.attention' op has heads of 4294967296 numbers; kernels take at most 1024}}
  %o = gist.attention %q, %k, %v causal : tensor<?x4x4294967296xf16>, tensor<?x2x4294967296xf16>, tensor<?x2x4294967296xf16>
  return %o : tensor<?x4x4294967296xf16>
}

// -----

// The sizes do not fit 64 bits, and one of them is not known.
// expected-error @+1 {{has a 'tensor<?x4611686018427387904x4xf32>'; a tensor has at most 1099511627776 elements}}
func.func private @product(%x: tensor<?x4611686018427387904x4xf32>, %out: tensor<?x4611686018427387904x4xf32>)
    -> tensor<?x4611686018427387904x4xf32> attributes {gist.kernel = #gist.kernel<kind = rows, outputs = 1>} {
  return %x : tensor<?x4611686018427387904x4xf32>
}

// -----

func.func private @inside(%x: tensor<8xf32>, %out: tensor<8xf32>) -> tensor<8xf32>
    attributes {gist.kernel = #gist.kernel<kind = rows, outputs = 1>} {
  // expected-error @+1 {{has a 'tensor<2199023255552xf32>'; a tensor has at most 1099511627776 elements}}
  %e = tensor.empty() : tensor<2199023255552xf32>
  %s = tensor.extract_slice %e[0] [8] [1] : tensor<2199023255552xf32> to tensor<8xf32>
  return %s : tensor<8xf32>
}

// -----

// A product without columns, and one without rows of its weight to read.
// expected-error @+1 {{has a 'tensor<0x64xf32>'; a tensor that kernels compute or read has elements}}
func.func private @no_columns(%x: tensor<?x64xf32>, %w: tensor<0x64xf32>, %out: tensor<?x0xf32>) -> tensor<?x0xf32>
    attributes {gist.kernel = #gist.kernel<kind = matmul, outputs = 1>} {
  %zero = arith.constant 0.0 : f32
  %start = linalg.fill ins(%zero : f32) outs(%out : tensor<?x0xf32>) -> tensor<?x0xf32>
  %y = linalg.matmul indexing_maps = [affine_map<(t, n, k) -> (t, k)>, affine_map<(t, n, k) -> (n, k)>, affine_map<(t, n, k) -> (t, n)>]
      ins(%x, %w : tensor<?x64xf32>, tensor<0x64xf32>) outs(%start : tensor<?x0xf32>) -> tensor<?x0xf32>
  return %y : tensor<?x0xf32>
}

// -----

// expected-error @+1 {{has a 'tensor<0x4096xf16>'; a tensor that kernels compute or read has elements}}
func.func private @no_outputs(%x: tensor<1x4096xf16>, %v: tensor<4096x256xf16>, %w: tensor<0x4096xf16>,
    %m: tensor<0x256xf16>, %y: tensor<1x0xf16>, %l: tensor<1xi8>) -> (tensor<1x0xf16>, tensor<1xi8>)
    attributes {gist.kernel = #gist.kernel<kind = gated_projection, outputs = 2>} {
  %r, %level = gist.gated_projection %x, %v, 1.0e-1 weights(%w : tensor<0x4096xf16>)
      images(%m : tensor<0x256xf16>) : tensor<1x4096xf16>, tensor<4096x256xf16>
  return %r, %level : tensor<1x0xf16>, tensor<1xi8>
}
