// Every kernel gets the numbers that its target's table has for it; one that has
// numbers keeps them, and host functions get no tile.
// RUN: gist-opt %s -gist-set-target="triple=aarch64-linux-gnu cpu=neoverse-v1" -gist-select-tile-config | FileCheck %s --check-prefixes=CHECK,CPU
// RUN: gist-opt %s -gist-set-target=target=gfx942 -gist-select-tile-config | FileCheck %s --check-prefixes=CHECK,GPU
// RUN: not gist-opt %s -gist-select-tile-config 2>&1 | FileCheck %s --check-prefix=NOBODY
// NOBODY: error: expects gist.target to name a CPU

// CHECK: func.func @host(
// CHECK-NOT: gist.tile
// CHECK-SAME: {
func.func @host(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  return %x : tensor<?x8xf32>
}

// CHECK-LABEL: func.func private @rows(
// CPU-SAME: gist.tile = #gist.cpu_rows<
// GPU-SAME: gist.tile = #gist.gpu_rows<
func.func private @rows(%x: tensor<?x8xf32>, %y: tensor<?x8xf32>) -> tensor<?x8xf32>
    attributes {gist.kernel = #gist.kernel<kind = rows, outputs = 1>} {
  %r = linalg.generic {indexing_maps = [affine_map<(t, n) -> (t, n)>, affine_map<(t, n) -> (t, n)>],
      iterator_types = ["parallel", "parallel"]} ins(%x : tensor<?x8xf32>) outs(%y : tensor<?x8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %n = arith.negf %a : f32
    linalg.yield %n : f32
  } -> tensor<?x8xf32>
  return %r : tensor<?x8xf32>
}

// No table has a workgroup of 7 rows.
// CHECK-LABEL: func.func private @chosen(
// CHECK-SAME: gist.tile = #gist.cpu_rows<rows = 7, lanes = 4>
func.func private @chosen(%x: tensor<?x8xf32>, %y: tensor<?x8xf32>) -> tensor<?x8xf32>
    attributes {gist.kernel = #gist.kernel<kind = rows, outputs = 1>,
                gist.tile = #gist.cpu_rows<rows = 7, lanes = 4>} {
  %r = linalg.generic {indexing_maps = [affine_map<(t, n) -> (t, n)>, affine_map<(t, n) -> (t, n)>],
      iterator_types = ["parallel", "parallel"]} ins(%x : tensor<?x8xf32>) outs(%y : tensor<?x8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %n = math.absf %a : f32
    linalg.yield %n : f32
  } -> tensor<?x8xf32>
  return %r : tensor<?x8xf32>
}
