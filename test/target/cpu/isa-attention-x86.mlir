// RUN: gist-opt %s -gist-tile="triple=x86_64-linux-gnu cpu=icelake-server" -gist-cpu \
// RUN:   -gist-write-cpu-code=assembly -o /dev/null | FileCheck %s

// Scores of four rows by four vectors of 16 keys, four numbers of the head at a
// time: 64 multiply-adds, of vectors of 16 and nothing added across lanes. Before
// it comes the code for a single query, which does not transpose keys.
// CHECK-LABEL: attention:
// CHECK-COUNT-64: vpermt2ps
// The loop over rows, and in it the one over the head.
// CHECK:       {{\.L[A-Z0-9_]+}}:
// CHECK:       [[LOOP:\.L[A-Z0-9_]+]]:
// CHECK-COUNT-64: vfmadd{{.*}}%zmm
// CHECK-NOT:     {{vfmadd|Spill|Reload}}
// CHECK:         j{{[a-z]+}} [[LOOP]]
// CHECK:         .size attention
func.func private @attention(%q: tensor<?x9x64xf16>, %k: tensor<?x3x64xf16>, %v: tensor<?x3x64xf16>,
    %out: tensor<?x9x64xf16>) -> tensor<?x9x64xf16> attributes {gist.kernel = #gist.kernel<kind = attention, outputs = 1>} {
  %o = gist.attention %q, %k, %v causal : tensor<?x9x64xf16>, tensor<?x3x64xf16>, tensor<?x3x64xf16>
  return %o : tensor<?x9x64xf16>
}
