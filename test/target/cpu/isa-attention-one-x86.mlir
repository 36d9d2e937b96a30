// RUN: gist-opt %s -gist-set-target="triple=x86_64-linux-gnu cpu=icelake-server" -gist-select-tile-config \
// RUN:   | FileCheck %s --check-prefix=CONFIG
// RUN: gist-opt %s -gist-tile="triple=x86_64-linux-gnu cpu=icelake-server" -gist-cpu \
// RUN:   -gist-write-cpu-code=assembly -o /dev/null | FileCheck %s

// The rows of a KV head lie between those of two others, so that the CPU fetches the
// wrong lines by itself. A row of 64 numbers is two lines: four keys at a time, of
// which each is multiplied by the queries of three heads.
// CONFIG:       func private @one
// CONFIG-SAME:    gist.prefetch = 64 : i64
// Eight lines of keys, and behind the exponentials of their scores eight of values.
// CHECK-LABEL: one:
// CHECK-COUNT-8: prefetcht0
// CHECK:         vrndscaleps
// CHECK-COUNT-8: prefetcht0
// CHECK:         .size one
func.func private @one(%q: tensor<1x9x64xf16>, %k: tensor<?x3x64xf16>, %v: tensor<?x3x64xf16>,
    %out: tensor<1x9x64xf16>) -> tensor<1x9x64xf16> attributes {gist.kernel = #gist.kernel<kind = attention, outputs = 1>} {
  %o = gist.attention %q, %k, %v causal : tensor<1x9x64xf16>, tensor<?x3x64xf16>, tensor<?x3x64xf16>
  return %o : tensor<1x9x64xf16>
}
