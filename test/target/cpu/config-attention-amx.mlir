// RUN: gist-opt %s -split-input-file -gist-set-target="triple=x86_64-linux-gnu cpu=sapphirerapids" -gist-select-tile-config | FileCheck %s --check-prefixes=CHECK,AMX
// RUN: gist-opt %s -split-input-file -gist-set-target="triple=x86_64-linux-gnu cpu=icelake-server" -gist-select-tile-config | FileCheck %s --check-prefixes=CHECK,NONE

// Where products are of 8 bits, attention of many queries on f16 is of bf16.
// CHECK-LABEL: func private @product
func.func private @product(%q: tensor<?x576xi8>, %s: tensor<?x18xf32>, %w: tensor<12x18x320xi8>,
    %out: tensor<?x192xf32>) -> tensor<?x192xf32> attributes {gist.kernel = #gist.kernel<kind = quantized_matmul, outputs = 1>} {
  %y = gist.quantized_matmul %q, %s, %w format q4_1
      packed <columns = 16, depth = 4, bits = 4, group = 32, scale_bits = 16, zero = 0, is_signed = false, has_min = true>
      : tensor<?x576xi8>, tensor<?x18xf32>, tensor<12x18x320xi8> -> tensor<?x192xf32>
  return %y : tensor<?x192xf32>
}

// CHECK-LABEL: func private @many
// AMX-SAME:      gist.tile = #gist.cpu_amx_attention<queries = 32, keys = 64>
// NONE-SAME:     instruction = fma>
func.func private @many(%q: tensor<?x9x64xf16>, %k: tensor<?x3x64xf16>, %v: tensor<?x3x64xf16>,
    %out: tensor<?x9x64xf16>) -> tensor<?x9x64xf16> attributes {gist.kernel = #gist.kernel<kind = attention, outputs = 1>} {
  %o = gist.attention %q, %k, %v causal : tensor<?x9x64xf16>, tensor<?x3x64xf16>, tensor<?x3x64xf16>
  return %o : tensor<?x9x64xf16>
}

// A cache of clusters takes what dense attention takes.
// CHECK-LABEL: func private @clusters
// AMX-SAME:      #gist.cpu_amx_attention<queries = 32, keys = 64>
// NONE-SAME:     instruction = fma>
func.func private @clusters(%q: tensor<?x9x64xf16>, %heads: tensor<2x3x8xf32>, %past: index, %layer: index,
    %k: tensor<500x64xf16>, %v: tensor<500x64xf16>, %w: tensor<40xf32>, %n: tensor<2x3xi32>,
    %out: tensor<?x9x64xf16>) -> tensor<?x9x64xf16> attributes {gist.kernel = #gist.kernel<kind = cluster_attention, outputs = 1>} {
  %o = gist.cluster_attention %q, %heads, %past, %layer on(%k, %v, %w, %n) block 16
      : tensor<?x9x64xf16>, tensor<2x3x8xf32>, tensor<500x64xf16>, tensor<500x64xf16>, tensor<40xf32>, tensor<2x3xi32>
  return %o : tensor<?x9x64xf16>
}

// Heads of 80 do not fill tiles of 32.
// CHECK-LABEL: func private @narrow
// CHECK-SAME:    instruction = fma>
func.func private @narrow(%q: tensor<?x9x80xf16>, %k: tensor<?x3x80xf16>, %v: tensor<?x3x80xf16>,
    %out: tensor<?x9x80xf16>) -> tensor<?x9x80xf16> attributes {gist.kernel = #gist.kernel<kind = attention, outputs = 1>} {
  %o = gist.attention %q, %k, %v causal : tensor<?x9x80xf16>, tensor<?x3x80xf16>, tensor<?x3x80xf16>
  return %o : tensor<?x9x80xf16>
}

// -----

// Nothing of 8 bits: attention stays in f32.
// CHECK-LABEL: func private @exact
// CHECK-SAME:    instruction = fma>
func.func private @exact(%q: tensor<?x9x64xf16>, %k: tensor<?x3x64xf16>, %v: tensor<?x3x64xf16>,
    %out: tensor<?x9x64xf16>) -> tensor<?x9x64xf16> attributes {gist.kernel = #gist.kernel<kind = attention, outputs = 1>} {
  %o = gist.attention %q, %k, %v causal : tensor<?x9x64xf16>, tensor<?x3x64xf16>, tensor<?x3x64xf16>
  return %o : tensor<?x9x64xf16>
}
