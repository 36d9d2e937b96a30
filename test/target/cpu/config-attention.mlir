// RUN: gist-opt %s -split-input-file -gist-set-target="triple=aarch64-linux-gnu cpu=neoverse-v1" -gist-select-tile-config | FileCheck %s --check-prefixes=CHECK,BF16
// RUN: gist-opt %s -split-input-file -gist-set-target="triple=aarch64-linux-gnu cpu=neoverse-n1" -gist-select-tile-config | FileCheck %s --check-prefixes=CHECK,NONE

// Where products are of 8 bits, attention of many queries on f16 is of bf16.
// CHECK-LABEL: func private @product
func.func private @product(%q: tensor<?x576xi8>, %s: tensor<?x18xf32>, %w: tensor<48x18x80xi8>,
    %out: tensor<?x192xf32>) -> tensor<?x192xf32> attributes {gist.kernel = #gist.kernel<kind = quantized_matmul, outputs = 1>} {
  %y = gist.quantized_matmul %q, %s, %w format q4_1
      packed <columns = 4, depth = 8, bits = 4, group = 32, scale_bits = 16, zero = 0, is_signed = false, has_min = true>
      : tensor<?x576xi8>, tensor<?x18xf32>, tensor<48x18x80xi8> -> tensor<?x192xf32>
  return %y : tensor<?x192xf32>
}

// CHECK-LABEL: func private @many
// BF16-SAME:     queries = 32, keys = 64, registers = 8, lanes = 4, instruction = bfmmla>
// NONE-SAME:     keys = 64, registers = 4, lanes = 4, instruction = fma>
func.func private @many(%q: tensor<?x9x64xf16>, %k: tensor<?x3x64xf16>, %v: tensor<?x3x64xf16>,
    %out: tensor<?x9x64xf16>) -> tensor<?x9x64xf16> attributes {gist.kernel = #gist.kernel<kind = attention, outputs = 1>} {
  %o = gist.attention %q, %k, %v causal : tensor<?x9x64xf16>, tensor<?x3x64xf16>, tensor<?x3x64xf16>
  return %o : tensor<?x9x64xf16>
}

// A cache of clusters takes what dense attention takes.
// CHECK-LABEL: func private @clusters
// BF16-SAME:     queries = 32, keys = 64, registers = 8, lanes = 4, instruction = bfmmla>
// NONE-SAME:     instruction = fma>
func.func private @clusters(%q: tensor<?x9x64xf16>, %heads: tensor<2x3x8xf32>, %past: index, %layer: index,
    %k: tensor<500x64xf16>, %v: tensor<500x64xf16>, %w: tensor<40xf32>, %n: tensor<2x3xi32>,
    %out: tensor<?x9x64xf16>) -> tensor<?x9x64xf16> attributes {gist.kernel = #gist.kernel<kind = cluster_attention, outputs = 1>} {
  %o = gist.cluster_attention %q, %heads, %past, %layer on(%k, %v, %w, %n) block 16
      : tensor<?x9x64xf16>, tensor<2x3x8xf32>, tensor<500x64xf16>, tensor<500x64xf16>, tensor<40xf32>, tensor<2x3xi32>
  return %o : tensor<?x9x64xf16>
}

// One query is read, not multiplied; f32 was asked for; 12 does not fill pairs of operands.
// CHECK-LABEL: func private @one
// CHECK-NOT:     gist.prefetch
// CHECK-SAME:    instruction = fma>
func.func private @one(%q: tensor<1x9x64xf16>, %k: tensor<?x3x64xf16>, %v: tensor<?x3x64xf16>,
    %out: tensor<1x9x64xf16>) -> tensor<1x9x64xf16> attributes {gist.kernel = #gist.kernel<kind = attention, outputs = 1>} {
  %o = gist.attention %q, %k, %v causal : tensor<1x9x64xf16>, tensor<?x3x64xf16>, tensor<?x3x64xf16>
  return %o : tensor<1x9x64xf16>
}

// CHECK-LABEL: func private @exact
// CHECK-SAME:    instruction = fma>
func.func private @exact(%q: tensor<?x9x64xf32>, %k: tensor<?x3x64xf32>, %v: tensor<?x3x64xf32>,
    %out: tensor<?x9x64xf32>) -> tensor<?x9x64xf32> attributes {gist.kernel = #gist.kernel<kind = attention, outputs = 1>} {
  %o = gist.attention %q, %k, %v causal : tensor<?x9x64xf32>, tensor<?x3x64xf32>, tensor<?x3x64xf32>
  return %o : tensor<?x9x64xf32>
}

// CHECK-LABEL: func private @narrow
// CHECK-SAME:    instruction = fma>
func.func private @narrow(%q: tensor<?x9x12xf16>, %k: tensor<?x3x12xf16>, %v: tensor<?x3x12xf16>,
    %out: tensor<?x9x12xf16>) -> tensor<?x9x12xf16> attributes {gist.kernel = #gist.kernel<kind = attention, outputs = 1>} {
  %o = gist.attention %q, %k, %v causal : tensor<?x9x12xf16>, tensor<?x3x12xf16>, tensor<?x3x12xf16>
  return %o : tensor<?x9x12xf16>
}

// -----

// No product of 8 bits: attention stays in f32.
// CHECK-LABEL: func private @alone
// CHECK-SAME:    instruction = fma>
func.func private @alone(%q: tensor<?x9x64xf16>, %k: tensor<?x3x64xf16>, %v: tensor<?x3x64xf16>,
    %out: tensor<?x9x64xf16>) -> tensor<?x9x64xf16> attributes {gist.kernel = #gist.kernel<kind = attention, outputs = 1>} {
  %o = gist.attention %q, %k, %v causal : tensor<?x9x64xf16>, tensor<?x3x64xf16>, tensor<?x3x64xf16>
  return %o : tensor<?x9x64xf16>
}
