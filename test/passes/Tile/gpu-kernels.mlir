// A kernel on tensors becomes the code of one thread on buffers. Other functions
// stay, and so do the attributes that a kernel has.
// RUN: gist-opt %s -gist-set-target=target=gfx942 -gist-select-tile-config -gist-gpu-kernels -split-input-file -verify-diagnostics | FileCheck %s
// RUN: not gist-opt %s -gist-set-target=target=gfx1 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: error: unknown GPU: gfx1; known are gfx942, sm_90
// RUN: not gist-opt %s -gist-set-target=target=gfx942 -gist-gpu-kernels 2>&1 | FileCheck %s --check-prefix=TILE
// TILE: error: has no tile configuration for a GPU

// CHECK-LABEL: func.func private @negate(
// CHECK-SAME: %[[X:[^:]+]]: memref<?x64xf32>, %[[Y:[^:]+]]: memref<?x64xf32>)
// CHECK-SAME: gist.grid = [
// CHECK-SAME: gist.kernel
// CHECK-SAME: gist.workgroup = array<i64: {{[0-9]+}}>
// CHECK-NOT: tensor<
// CHECK: gpu.thread_id x
// CHECK: vector.load %[[X]]
// CHECK: arith.negf
// CHECK: vector.store %{{.+}}, %[[Y]]
// CHECK: return{{$}}
#map = affine_map<(t, n) -> (t, n)>
func.func private @negate(%x: tensor<?x64xf32>, %y: tensor<?x64xf32>) -> tensor<?x64xf32>
    attributes {gist.kernel = #gist.kernel<kind = rows, outputs = 1>} {
  %r = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<?x64xf32>) outs(%y : tensor<?x64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %n = arith.negf %a : f32
    linalg.yield %n : f32
  } -> tensor<?x64xf32>
  return %r : tensor<?x64xf32>
}

// CHECK-LABEL: func.func @host(
// CHECK-SAME: tensor<?x64xf32>
func.func @host(%x: tensor<?x64xf32>) -> tensor<?x64xf32> {
  return %x : tensor<?x64xf32>
}
