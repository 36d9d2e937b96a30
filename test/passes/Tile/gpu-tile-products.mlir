// A product of tensors becomes the steps of one workgroup on tiles.
// RUN: gist-opt %s -gist-gpu-products=target=gfx942 -canonicalize -cse | FileCheck %s --check-prefix=AMD
// RUN: gist-opt %s -gist-gpu-products=target=sm_90 -canonicalize -cse | FileCheck %s --check-prefix=NVIDIA

// The stage is the choice and then the pass.
// RUN: gist-opt %s -gist-set-target=target=gfx942 -gist-select-tile-config -gist-gpu-tile-products -canonicalize -cse | FileCheck %s --check-prefix=AMD

// The steps are IR like any other: what is read back becomes the same code.
// RUN: gist-opt %s -gist-gpu-tile=target=gfx942 -o %t.once
// RUN: gist-opt %s -gist-gpu-products=target=gfx942 | gist-opt -gist-gpu-tile -o %t.twice
// RUN: diff %t.once %t.twice
// RUN: gist-opt %s -gist-gpu-tile=target=sm_90 -o %t.once
// RUN: gist-opt %s -gist-gpu-products=target=sm_90 | gist-opt -gist-gpu-tile -o %t.twice
// RUN: diff %t.once %t.twice

#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (n, k)>
#y = affine_map<(m, n, k) -> (m, n)>

// 320 along k are five steps of 64: four of them in the loop, which gfx942 goes
// through two at a time, and the last one behind it. Everything goes through
// registers. Step 0 is staged and step 1 loaded before the loop; a step loads the
// one after the next, and stages what the step before it has loaded.

// AMD-LABEL: func.func private @narrow
// AMD-SAME:    %[[X:.+]]: tensor<?x320xf32>, %[[W:.+]]: tensor<576x320xf16>,
// AMD-DAG:     %[[C0:.+]] = arith.constant 0 : index
// AMD-DAG:     %[[C4:.+]] = arith.constant 4 : index
// AMD-DAG:     %[[C2:.+]] = arith.constant 2 : index
// AMD-DAG:     %[[C64:.+]] = arith.constant 64 : index
// AMD-DAG:     %[[ZERO:.+]] = arith.constant dense<0.000000e+00> : vector<64x64xf32>
// AMD:         gist.tile_product ins(%[[X]], %[[W]] : tensor<?x320xf32>, tensor<576x320xf16>)
// AMD-SAME:      workgroup [64, 64] waves [2, 2]
// AMD:         ^bb0(%[[ROW:.+]]: index, %[[COLUMN:.+]]: index):
// AMD-DAG:       %[[TX:.+]] = memref.alloca() {alignment = 1024 : i64} : memref<2x64x64xf16, #gpu.address_space<workgroup>>
// AMD-DAG:       %[[TW:.+]] = memref.alloca() {alignment = 1024 : i64} : memref<2x64x64xf16, #gpu.address_space<workgroup>>
// AMD:           %[[X0:.+]] = gist.tile_fetch %[[X]][%[[ROW]], %[[C0]]] : tensor<?x320xf32> -> vector<64x64xf32>
// AMD:           %[[W0:.+]] = gist.tile_fetch %[[W]][%[[COLUMN]], %[[C0]]] : tensor<576x320xf16> -> vector<64x64xf16>
// AMD:           gist.tile_stage %[[X0]] of %[[X]][%[[ROW]], %[[C0]]] to %[[TX]][%[[C0]]]
// AMD:           gist.tile_stage %[[W0]] of %[[W]][%[[COLUMN]], %[[C0]]] to %[[TW]][%[[C0]]]
// AMD:           %[[X1:.+]] = gist.tile_fetch %[[X]][%[[ROW]], %[[C64]]]
// AMD:           %[[W1:.+]] = gist.tile_fetch %[[W]][%[[COLUMN]], %[[C64]]]
// AMD:           %[[LOOP:.+]]:3 = scf.for %[[STEP:.+]] = %[[C0]] to %[[C4]] step %[[C2]]
// AMD-SAME:          iter_args(%[[FX:.+]] = %[[X1]], %[[FW:.+]] = %[[W1]], %[[SUMS:.+]] = %[[ZERO]])
// AMD:             gpu.barrier
// AMD:             %[[A:.+]], %[[B:.+]] = gist.tile_load %[[TX]][%[[STAGE:.+]]], %[[TW]][%[[STAGE]]]
// AMD:             %[[NX:.+]] = gist.tile_fetch %[[X]][%[[ROW]], %[[K2:.+]]]
// AMD:             %[[NW:.+]] = gist.tile_fetch %[[W]][%[[COLUMN]], %[[K2]]]
// AMD:             %[[S:.+]] = gist.tile_multiply %[[A]], %[[B]], %[[SUMS]] with mfma_32x32x8
// AMD:             gist.tile_stage %[[FX]] of %[[X]]
// AMD:             gist.tile_stage %[[FW]] of %[[W]]
// AMD:             gist.tile_interleave %[[S]] of %[[A]], %[[B]] with %[[NX]], %[[NW]]
// AMD:             gpu.barrier
// AMD:             gist.tile_load
// AMD:             %[[S2:.+]] = gist.tile_multiply %{{.+}}, %{{.+}}, %[[S]]
// AMD:             gist.tile_stage %[[NX]] of
// AMD:             scf.yield %{{.+}}, %{{.+}}, %[[S2]]
// AMD:           gpu.barrier
// AMD:           %[[LAST:.+]] = gist.tile_multiply %{{.+}}, %{{.+}}, %[[LOOP]]#2
// AMD:           gist.tile_yield %[[LAST]] : vector<64x64xf32>

func.func private @narrow(%x: tensor<?x320xf32>, %w: tensor<576x320xf16>, %y: tensor<?x576xf32>)
    -> tensor<?x576xf32> attributes {gist.kernel = #gist.kernel<kind = matmul, outputs = 1>} {
  %zero = arith.constant 0.0 : f32
  %z = linalg.fill ins(%zero : f32) outs(%y : tensor<?x576xf32>) -> tensor<?x576xf32>
  %p = linalg.matmul indexing_maps = [#x, #w, #y]
      ins(%x, %w : tensor<?x320xf32>, tensor<576x320xf16>)
      outs(%z : tensor<?x576xf32>) -> tensor<?x576xf32>
  return %p : tensor<?x576xf32>
}

// A few rows on sm_90, by instructions of a warp.
// sm_90 copies W, whose numbers are those that are multiplied, without registers:
// the first three of four stages before the loop, of which two may still be on
// their way when the first is multiplied. x goes through registers, a step ahead.

// NVIDIA-LABEL: func.func private @few
// NVIDIA-SAME:    %[[X:.+]]: tensor<32x320xf32>, %[[W:.+]]: tensor<576x320xf16>,
// NVIDIA:       ^bb0(%[[ROW:.+]]: index, %[[COLUMN:.+]]: index):
// NVIDIA:         %[[TX:.+]] = memref.alloca() {alignment = 1024 : i64} : memref<4x32x64xf16, #gpu.address_space<workgroup>>
// NVIDIA:         %[[TW:.+]] = memref.alloca() {alignment = 1024 : i64} : memref<4x64x64xf16, #gpu.address_space<workgroup>>
// NVIDIA-COUNT-3: gist.tile_copy %[[W]][%[[COLUMN]], %{{.+}}] to %[[TW]]
// NVIDIA-NOT:     gist.tile_copy
// NVIDIA:         gist.tile_fetch %[[X]]
// NVIDIA:         gist.tile_stage {{.+}} to %[[TX]]
// NVIDIA:         scf.for {{.+}} -> (vector<32x64xf32>)
// NVIDIA:           nvvm.cp.async.wait.group 2
// NVIDIA-NEXT:      gpu.barrier
// NVIDIA:           gist.tile_copy %[[W]]
// NVIDIA:           nvvm.cp.async.commit.group
// NVIDIA:           %[[F:.+]] = gist.tile_fetch %[[X]]
// NVIDIA:           gist.tile_load
// NVIDIA:           gist.tile_multiply {{.+}} with mma_16x8x16
// NVIDIA:           gist.tile_stage %[[F]] of %[[X]]
// NVIDIA:           scf.yield
func.func private @few(%x: tensor<32x320xf32>, %w: tensor<576x320xf16>, %y: tensor<32x576xf32>)
    -> tensor<32x576xf32> attributes {gist.kernel = #gist.kernel<kind = matmul, outputs = 1>} {
  %zero = arith.constant 0.0 : f32
  %z = linalg.fill ins(%zero : f32) outs(%y : tensor<32x576xf32>) -> tensor<32x576xf32>
  %p = linalg.matmul indexing_maps = [#x, #w, #y]
      ins(%x, %w : tensor<32x320xf32>, tensor<576x320xf16>)
      outs(%z : tensor<32x576xf32>) -> tensor<32x576xf32>
  return %p : tensor<32x576xf32>
}

// Instructions of four warps read workgroup memory themselves and go on while the
// next step is prepared. Four stages: two are filled before the loop, and a step
// fills the one after the next. What follows the product stays on tensors.

// NVIDIA-LABEL: func.func private @wide
// NVIDIA:         gist.tile_product
// NVIDIA-SAME:      workgroup [128, 256] waves [8, 1]
// NVIDIA-COUNT-4:   gist.tile_copy
// NVIDIA:           scf.for
// NVIDIA:             nvvm.cp.async.wait.group 1
// NVIDIA-NEXT:        nvvm.fence.proxy
// NVIDIA-NEXT:        gpu.barrier
// NVIDIA-COUNT-2:     gist.tile_copy
// NVIDIA-NOT:         gist.tile_fetch
// NVIDIA:             %[[S:.+]] = gist.tile_start {{.+}} with wgmma_64x128x16
// NVIDIA-NEXT:        nvvm.wgmma.wait.group.sync.aligned 1
// NVIDIA-NEXT:        scf.yield %[[S]] : vector<128x256xf32>
// NVIDIA:           %[[DONE:.+]] = gist.tile_finish
// NVIDIA-NEXT:      gist.tile_yield %[[DONE]]
// NVIDIA:         linalg.exp
func.func private @wide(%x: tensor<?x4096xf16>, %w: tensor<16384x4096xf16>, %y: tensor<?x16384xf32>)
    -> tensor<?x16384xf32> attributes {gist.kernel = #gist.kernel<kind = matmul, outputs = 1>} {
  %zero = arith.constant 0.0 : f32
  %z = linalg.fill ins(%zero : f32) outs(%y : tensor<?x16384xf32>) -> tensor<?x16384xf32>
  %p = linalg.matmul indexing_maps = [#x, #w, #y]
      ins(%x, %w : tensor<?x4096xf16>, tensor<16384x4096xf16>)
      outs(%z : tensor<?x16384xf32>) -> tensor<?x16384xf32>
  %e = linalg.exp ins(%p : tensor<?x16384xf32>) outs(%y : tensor<?x16384xf32>) -> tensor<?x16384xf32>
  return %e : tensor<?x16384xf32>
}

// No matrix instruction multiplies one row: the product is left as it is.
// AMD-LABEL: func.func private @one_row
// AMD-NOT:     gist.tile_product
// AMD:         linalg.matmul
func.func private @one_row(%x: tensor<1x192xf32>, %w: tensor<576x192xf16>, %y: tensor<1x576xf32>)
    -> tensor<1x576xf32> attributes {gist.kernel = #gist.kernel<kind = matmul, outputs = 1>} {
  %zero = arith.constant 0.0 : f32
  %z = linalg.fill ins(%zero : f32) outs(%y : tensor<1x576xf32>) -> tensor<1x576xf32>
  %p = linalg.matmul indexing_maps = [#x, #w, #y]
      ins(%x, %w : tensor<1x192xf32>, tensor<576x192xf16>)
      outs(%z : tensor<1x576xf32>) -> tensor<1x576xf32>
  return %p : tensor<1x576xf32>
}

// What reads both halves of the columns at once makes them pairs of neighbours.
// AMD-LABEL: func.func private @gate
// AMD:         gist.tile_product {{.+}} paired {
// NVIDIA-LABEL: func.func private @gate
// NVIDIA:         gist.tile_product {{.+}} paired {
// NVIDIA:         linalg.mul
func.func private @gate(%x: tensor<?x64xf16>, %w: tensor<3072x64xf16>, %t: index, %y: tensor<?x1536xf32>)
    -> tensor<?x1536xf32> attributes {gist.kernel = #gist.kernel<kind = matmul, outputs = 1>} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty(%t) : tensor<?x3072xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<?x3072xf32>) -> tensor<?x3072xf32>
  %p = linalg.matmul indexing_maps = [#x, #w, #y]
      ins(%x, %w : tensor<?x64xf16>, tensor<3072x64xf16>)
      outs(%z : tensor<?x3072xf32>) -> tensor<?x3072xf32>
  %g = tensor.extract_slice %p[0, 0] [%t, 1536] [1, 1] : tensor<?x3072xf32> to tensor<?x1536xf32>
  %u = tensor.extract_slice %p[0, 1536] [%t, 1536] [1, 1] : tensor<?x3072xf32> to tensor<?x1536xf32>
  %m = linalg.mul ins(%g, %u : tensor<?x1536xf32>, tensor<?x1536xf32>) outs(%y : tensor<?x1536xf32>) -> tensor<?x1536xf32>
  return %m : tensor<?x1536xf32>
}
