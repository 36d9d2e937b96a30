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
