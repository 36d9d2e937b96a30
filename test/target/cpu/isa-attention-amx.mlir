// RUN: gist-opt %s -gist-tile="triple=x86_64-linux-gnu cpu=sapphirerapids" -gist-cpu \
// RUN:   -gist-write-cpu-code=assembly -o /dev/null > %t
// RUN: FileCheck %s < %t
// RUN: FileCheck %s --check-prefix=RELEASE < %t

// A step of 64 keys, heads of 64. Scores: four tiles of keys, two steps of 32 of
// the head. Outputs: four tiles of values, two steps of 32 keys. Between the two,
// weights are made without anything across lanes. First without a mask, and once
// more with one.
// CHECK-LABEL: attention:
// CHECK:         ldtilecfg
// CHECK-COUNT-8: tdpbf16ps
// CHECK-NOT:     tdpbf16ps
// CHECK-COUNT-4: tilestored
// CHECK-NOT:     {{vpermilps|vhaddps}}
// CHECK:         vcvtne2ps2bf16
// CHECK:         tileloadd
// CHECK-COUNT-8: tdpbf16ps
// CHECK-NOT:     tdpbf16ps
// CHECK-COUNT-4: tilestored
// CHECK-COUNT-8: tdpbf16ps
// CHECK-COUNT-8: tdpbf16ps
// CHECK-NOT:     tdpbf16ps
// CHECK:         .size attention

// The end lies before the code of many queries.
// RELEASE-LABEL: attention:
// RELEASE:         tilerelease
// RELEASE:         .size attention
func.func private @attention(%q: tensor<?x9x64xf16>, %k: tensor<?x3x64xf16>, %v: tensor<?x3x64xf16>,
    %out: tensor<?x9x64xf16>) -> tensor<?x9x64xf16> attributes {gist.kernel = #gist.kernel<kind = attention, outputs = 1>, gist.tile = #gist.cpu_amx_attention<queries = 32, keys = 64>} {
  %o = gist.attention %q, %k, %v causal : tensor<?x9x64xf16>, tensor<?x3x64xf16>, tensor<?x3x64xf16>
  return %o : tensor<?x9x64xf16>
}
