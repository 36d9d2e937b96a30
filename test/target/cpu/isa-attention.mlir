// RUN: gist-opt %s -gist-tile="triple=aarch64-linux-gnu cpu=neoverse-v1" -gist-cpu \
// RUN:   -gist-write-cpu-code=assembly -o /dev/null > %t
// RUN: FileCheck %s < %t
// RUN: FileCheck %s --check-prefix=ONE < %t

// Eight rows by eight keys: 4 pairs of each, and a head of 64 takes 16 steps of
// 4, so 4 * 4 * 16 = 256 bfmmla. Outputs take 4 keys a step, 4 * 4 = 16. Weights
// are rounded by one instruction, and no vector is spilled. All of that is there
// twice: for steps that every query sees, and for masked ones.
// CHECK-LABEL: attention:
// CHECK-NOT:       16-byte Folded Spill
// CHECK-COUNT-256: bfmmla
// CHECK-NOT:       bfmmla
// CHECK:           addhn
// CHECK-COUNT-16:  bfmmla
// CHECK-NOT:       16-byte Folded Spill
// CHECK-COUNT-256: bfmmla
// CHECK-NOT:       bfmmla
// CHECK:           addhn
// CHECK-COUNT-16:  bfmmla
// CHECK-NOT:       {{bfmmla|16-byte Folded Spill}}
// CHECK:           .size attention
// If there turns out to be one query, its rows are multiplied in f32.
// ONE-LABEL: attention:
// ONE:       fmla v{{[0-9]+}}.4s
// ONE:       .size attention
func.func private @attention(%q: tensor<?x9x64xf16>, %k: tensor<?x3x64xf16>, %v: tensor<?x3x64xf16>,
    %out: tensor<?x9x64xf16>) -> tensor<?x9x64xf16> attributes {gist.kernel = #gist.kernel<kind = attention, outputs = 1>,
    gist.tile = #gist.cpu_attention<queries = 32, keys = 64, registers = 8, lanes = 4, instruction = bfmmla>} {
  %o = gist.attention %q, %k, %v causal : tensor<?x9x64xf16>, tensor<?x3x64xf16>, tensor<?x3x64xf16>
  return %o : tensor<?x9x64xf16>
}
