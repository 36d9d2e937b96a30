// A kernel becomes a loop over workgroups of the size that `gist.tile` says, and
// a grid with as many of them.
// RUN: gist-opt %s -gist-tile-and-distribute -split-input-file -verify-diagnostics | FileCheck %s

// The numbers of the kernel are the sizes of x and y, and y is cut: a tile has 7
// of its rows.
// CHECK: #[[GRID:.+]] = affine_map<()[s0, s1] -> (s1 ceildiv 7)>
// CHECK-LABEL: func.func private @rows(
// CHECK-SAME: %[[X:.+]]: tensor<?x8xf32> {bufferization.writable = false}, %[[Y:[^:]+]]: tensor<?x8xf32>)
// CHECK-SAME: gist.grid = [#[[GRID]]]
// CHECK: scf.forall (%[[I:.+]]) = (0) to (%{{.+}}) step (7) shared_outs(%[[OUT:.+]] = %[[Y]])
// CHECK: tensor.extract_slice %[[X]][%[[I]], 0] [%{{.+}}, 8]
// CHECK: linalg.generic
// CHECK: tensor.parallel_insert_slice %{{.+}} into %[[OUT]][%[[I]], 0] [%{{.+}}, 8]
#map = affine_map<(t, n) -> (t, n)>
func.func private @rows(%x: tensor<?x8xf32>, %y: tensor<?x8xf32>) -> tensor<?x8xf32>
    attributes {gist.kernel = #gist.kernel<kind = rows, outputs = 1>,
                gist.tile = #gist.cpu_rows<rows = 7, lanes = 4>} {
  %r = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<?x8xf32>) outs(%y : tensor<?x8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %n = arith.negf %a : f32
    linalg.yield %n : f32
  } -> tensor<?x8xf32>
  return %r : tensor<?x8xf32>
}

// Only kernels are cut.
// CHECK-LABEL: func.func @host(
// CHECK-NOT: scf.forall
func.func @host(%x: tensor<?x8xf32>, %y: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %r = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<?x8xf32>) outs(%y : tensor<?x8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %n = arith.negf %a : f32
    linalg.yield %n : f32
  } -> tensor<?x8xf32>
  return %r : tensor<?x8xf32>
}

// -----

// expected-error @+1 {{has no tile configuration}}
func.func private @without(%x: tensor<?x8xf32>, %y: tensor<?x8xf32>) -> tensor<?x8xf32>
    attributes {gist.kernel = #gist.kernel<kind = rows, outputs = 1>} {
  return %y : tensor<?x8xf32>
}
