// Attention that would run by its definition, with memory for an unbounded
// number of keys, is refused early.
// RUN: gist-opt %s -split-input-file -verify-diagnostics -gist-tile="triple=aarch64-linux-gnu cpu=neoverse-v1"
// RUN: gist-opt %s -split-input-file -verify-diagnostics -gist-tile="triple=x86_64-linux-gnu cpu=sapphirerapids"

func.func private @heads(%q: tensor<?x4x10xf32>, %k: tensor<?x2x10xf32>, %v: tensor<?x2x10xf32>, %out: tensor<?x4x10xf32>)
    -> tensor<?x4x10xf32> attributes {gist.kernel = #gist.kernel<kind = attention, outputs = 1>} {
  // expected-error @+1 {{'gist.attention' op has heads whose size is not a multiple of 4 numbers}}
  %o = gist.attention %q, %k, %v causal : tensor<?x4x10xf32>, tensor<?x2x10xf32>, tensor<?x2x10xf32>
  return %o : tensor<?x4x10xf32>
}

// -----

func.func private @ragged(%q: tensor<?x4x16xf32>, %k: tensor<?x2x16xf32>, %v: tensor<?x2x16xf32>, %starts: tensor<3xi32>,
    %out: tensor<?x4x16xf32>) -> tensor<?x4x16xf32> attributes {gist.kernel = #gist.kernel<kind = attention, outputs = 1>} {
  // expected-error @+1 {{'gist.attention' op reads a ragged batch, for which there is no CPU kernel}}
  %o = gist.attention %q, %k, %v causal offsets(%starts, %starts : tensor<3xi32>, tensor<3xi32>)
      : tensor<?x4x16xf32>, tensor<?x2x16xf32>, tensor<?x2x16xf32>
  return %o : tensor<?x4x16xf32>
}

// -----

// Code for pairs of rows has an instruction for every four numbers of a head.
// expected-error @+1 {{expects heads of at most 256 numbers for #gist.cpu_attention}}
func.func private @long_heads(%q: tensor<?x9x1024xf16>, %k: tensor<?x3x1024xf16>, %v: tensor<?x3x1024xf16>,
    %out: tensor<?x9x1024xf16>) -> tensor<?x9x1024xf16> attributes {gist.kernel = #gist.kernel<kind = attention, outputs = 1>,
    gist.tile = #gist.cpu_attention<queries = 32, keys = 64, registers = 8, lanes = 4, instruction = bfmmla>} {
  %o = gist.attention %q, %k, %v causal : tensor<?x9x1024xf16>, tensor<?x3x1024xf16>, tensor<?x3x1024xf16>
  return %o : tensor<?x9x1024xf16>
}

// -----

// A part of a single query's keys has whole steps.
// expected-error @+1 {{expects a step of keys to divide a part, 256 keys, got #gist.cpu_attention<queries = 32, keys = 96}}
func.func private @uneven(%q: tensor<1x9x64xf16>, %k: tensor<?x3x64xf16>, %v: tensor<?x3x64xf16>,
    %out: tensor<1x9x64xf16>) -> tensor<1x9x64xf16> attributes {gist.kernel = #gist.kernel<kind = attention, outputs = 1>,
    gist.tile = #gist.cpu_attention<queries = 32, keys = 96, registers = 4, lanes = 4, instruction = fma>} {
  %o = gist.attention %q, %k, %v causal : tensor<1x9x64xf16>, tensor<?x3x64xf16>, tensor<?x3x64xf16>
  return %o : tensor<1x9x64xf16>
}
