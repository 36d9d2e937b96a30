// Products whose rows are not known, but known to be few: one tile of rows, by
// matrix instructions, W straight from memory. sm_90 reads it before it waits
// for the kernels that write x.

// RUN: gist-opt %s -split-input-file "-gist-gpu-products=target=sm_90" | FileCheck %s --check-prefix=TILES
// RUN: gist-opt %s -split-input-file "-gist-gpu-tile=target=sm_90" | FileCheck %s
// RUN: gist-opt %s -split-input-file "-gist-gpu-tile=target=gfx942" | FileCheck %s --check-prefix=AMD
#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (n, k)>
#y = affine_map<(m, n, k) -> (m, n)>

// 18 steps of 32 along k are shared by four waves, all in flight at once.
// TILES-LABEL: func.func private @short(
// TILES-SAME:  gist.tile = #gist.gpu_gemv<rows = 16, columns = 16, lanes = 4, waves = [1, 4], steps = 5, matrix = true>

// CHECK:       #[[GRID:.+]] = affine_map<()[{{.*}}] -> (60)>
// CHECK-LABEL: func.func private @short(
// CHECK-SAME:  gist.grid = [#[[GRID]]]
// CHECK-SAME:  gist.waits
// CHECK-SAME:  gist.workgroup = array<i64: 128>
// CHECK-COUNT-10: vector.load %{{.*}} : memref<960x576xf16>, vector<8xf16>
// CHECK:       nvvm.griddepcontrol wait
// CHECK-COUNT-10: vector.load %{{.*}} : memref<?x576xf16>, vector<8xf16>
// Five steps of two fragments, each of two instructions of eight columns.
// CHECK-COUNT-20: nvgpu.mma.sync
// CHECK-NOT:   nvgpu.mma.sync
// The sums of the waves meet in workgroup memory.
// CHECK:       gpu.barrier
// CHECK-NOT:   gpu.barrier
// CHECK:       return

// AMD:       #[[GRID:.+]] = affine_map<()[{{.*}}] -> (60)>
// AMD-LABEL: func.func private @short(
// AMD-SAME:  gist.grid = [#[[GRID]]]
// AMD-COUNT-10: amdgpu.mfma 16x16x16
// AMD-NOT:   amdgpu.mfma
// AMD:       return
func.func private @short(%x: tensor<?x576xf16>, %w: tensor<960x576xf16>, %y: tensor<?x960xf32>)
    -> tensor<?x960xf32> attributes {gist.kernel = #gist.kernel<kind = matmul, outputs = 1>, gist.max_tokens = 16 : i64} {
  %zero = arith.constant 0.0 : f32
  %z = linalg.fill ins(%zero : f32) outs(%y : tensor<?x960xf32>) -> tensor<?x960xf32>
  %p = linalg.matmul indexing_maps = [#x, #w, #y]
      ins(%x, %w : tensor<?x576xf16>, tensor<960x576xf16>)
      outs(%z : tensor<?x960xf32>) -> tensor<?x960xf32>
  return %p : tensor<?x960xf32>
}
func.func @call(%x: tensor<?x576xf16>, %y: tensor<?x960xf32>) -> tensor<?x960xf32> {
  %w = gist.weight "w" : tensor<960x576xf16>
  %p = gist.dispatch @short(%x, %w : tensor<?x576xf16>, tensor<960x576xf16>) outs(%y : tensor<?x960xf32>)
  return %p : tensor<?x960xf32>
}

// -----

// More rows than one instruction has: tiles as for any number.
#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (n, k)>
#y = affine_map<(m, n, k) -> (m, n)>
// TILES-LABEL: func.func private @more(
// TILES-SAME:  gist.tile = #gist.gpu_product
func.func private @more(%x: tensor<?x576xf16>, %w: tensor<960x576xf16>, %y: tensor<?x960xf32>)
    -> tensor<?x960xf32> attributes {gist.kernel = #gist.kernel<kind = matmul, outputs = 1>, gist.max_tokens = 17 : i64} {
  %zero = arith.constant 0.0 : f32
  %z = linalg.fill ins(%zero : f32) outs(%y : tensor<?x960xf32>) -> tensor<?x960xf32>
  %p = linalg.matmul indexing_maps = [#x, #w, #y]
      ins(%x, %w : tensor<?x576xf16>, tensor<960x576xf16>)
      outs(%z : tensor<?x960xf32>) -> tensor<?x960xf32>
  return %p : tensor<?x960xf32>
}
