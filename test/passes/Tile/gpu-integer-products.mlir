// Products of integers: sums of a block of k are integers, and their scaled sums
// are added up in f32.
// RUN: gist-opt %s -gist-gpu-products=target=gfx942 -canonicalize -cse | FileCheck %s --check-prefix=AMD
// RUN: gist-opt %s -gist-gpu-products=target=sm_90 -canonicalize -cse | FileCheck %s --check-prefix=NVIDIA

// The steps are IR like any other: what is read back becomes the same code.
// RUN: gist-opt %s -gist-gpu-tile=target=gfx942 -o %t.once
// RUN: gist-opt %s -gist-gpu-products=target=gfx942 | gist-opt -gist-gpu-tile -o %t.twice
// RUN: diff %t.once %t.twice
// RUN: gist-opt %s -gist-gpu-tile=target=sm_90 -o %t.once
// RUN: gist-opt %s -gist-gpu-products=target=sm_90 | gist-opt -gist-gpu-tile -o %t.twice
// RUN: diff %t.once %t.twice

// 576 along k are four blocks of 128 and one of 64.

// gfx942 takes two steps of 64 in a loop, which are a block: its sums begin from
// zero, and are scaled when both steps are multiplied. The ninth step is the last
// block.
// AMD-LABEL: func.func private @product
// AMD-SAME:    %[[X:.+]]: tensor<?x576xi8>, %[[S:.+]]: tensor<?x5xf32>, %[[W:.+]]: tensor<28672x576xi8>
// AMD-DAG:     %[[C0:.+]] = arith.constant 0 : index
// AMD-DAG:     %[[C4:.+]] = arith.constant 4 : index
// AMD-DAG:     %[[C2:.+]] = arith.constant 2 : index
// AMD-DAG:     %[[C8:.+]] = arith.constant 8 : index
// AMD-DAG:     %[[ZERO:.+]] = arith.constant dense<0> : vector<128x128xi32>
// AMD-DAG:     %[[NONE:.+]] = arith.constant dense<0.000000e+00> : vector<128x128xf32>
// AMD:         gist.tile_product ins(%[[X]], %[[W]] : tensor<?x576xi8>, tensor<28672x576xi8>) scales(%[[S]] : tensor<?x5xf32>)
// AMD-SAME:      workgroup [128, 128] waves [2, 2]
// AMD:         ^bb0(%[[ROW:.+]]: index, %[[COLUMN:.+]]: index):
// AMD-COUNT-2:   memref.alloca() {alignment = 1024 : i64} : memref<2x128x64xi8, #gpu.address_space<workgroup>>
// AMD:           %[[LOOP:.+]]:3 = scf.for %[[STEP:.+]] = %[[C0]] to %[[C8]] step %[[C2]]
// AMD-SAME:          %[[TOTALS:[^ ]+]] = %[[NONE]])
// AMD:             %[[BLOCK:.+]] = arith.divui %[[STEP]], %[[C2]]
// AMD:             %[[SCALES:.+]] = gist.tile_scales %[[S]][%[[ROW]], %[[BLOCK]]] : tensor<?x5xf32> -> vector<128xf32>
// AMD:             gpu.barrier
// AMD:             %[[A:.+]] = gist.tile_multiply %{{.+}}, %{{.+}}, %[[ZERO]] with mfma_32x32x8
// AMD-NOT:         gist.tile_scale
// AMD:             gpu.barrier
// AMD:             %[[B:.+]] = gist.tile_multiply %{{.+}}, %{{.+}}, %[[A]] with mfma_32x32x8
// AMD:             %[[NEXT:.+]] = gist.tile_scale %[[B]] by %[[SCALES]] add %[[TOTALS]]
// AMD:             scf.yield %{{.+}}, %{{.+}}, %[[NEXT]]
// AMD:           %[[LAST:.+]] = gist.tile_scales %[[S]][%[[ROW]], %[[C4]]]
// AMD:           %[[C:.+]] = gist.tile_multiply %{{.+}}, %{{.+}}, %[[ZERO]]
// AMD:           %[[ALL:.+]] = gist.tile_scale %[[C]] by %[[LAST]] add %[[LOOP]]#2
// AMD:           gist.tile_yield %[[ALL]] : vector<128x128xf32>

// sm_90 multiplies a block in a step, from zero: of a tile of 256 columns first
// one half, which is scaled before the other half is multiplied. What is copied
// three steps ahead is on its way meanwhile.
// NVIDIA-LABEL: func.func private @product
// NVIDIA-SAME:    %[[X:.+]]: tensor<?x576xi8>, %[[S:.+]]: tensor<?x5xf32>, %[[W:.+]]: tensor<28672x576xi8>
// NVIDIA-DAG:     %[[C0:.+]] = arith.constant 0 : index
// NVIDIA-DAG:     %[[C1:.+]] = arith.constant 1 : index
// NVIDIA-DAG:     %[[C5:.+]] = arith.constant 5 : index
// NVIDIA-DAG:     %[[ZERO:.+]] = arith.constant dense<0> : vector<128x128xi32>
// NVIDIA-DAG:     %[[NONE:.+]] = arith.constant dense<0.000000e+00> : vector<128x256xf32>
// NVIDIA:         ^bb0(%[[ROW:.+]]: index, %[[COLUMN:.+]]: index):
// NVIDIA:           %[[TX:.+]] = memref.alloca() {alignment = 1024 : i64} : memref<4x128x128xi8, #gpu.address_space<workgroup>>
// NVIDIA:           %[[TW:.+]] = memref.alloca() {alignment = 1024 : i64} : memref<4x256x128xi8, #gpu.address_space<workgroup>>
// NVIDIA:           %[[LOOP:.+]] = scf.for %[[STEP:.+]] = %[[C0]] to %[[C5]] step %[[C1]]
// NVIDIA-SAME:          iter_args(%[[TOTALS:.+]] = %[[NONE]])
// NVIDIA:             nvvm.cp.async.wait.group 2
// NVIDIA:             gpu.barrier
// NVIDIA:             gist.tile_copy %[[X]]
// NVIDIA:             gist.tile_copy %[[W]]
// NVIDIA:             %[[SCALES:.+]] = gist.tile_scales %[[S]][%[[ROW]], %[[STEP]]] : tensor<?x5xf32> -> vector<128xf32>
// NVIDIA:             %[[A:.+]] = gist.tile_start %[[TX]][%[[STAGE:.+]]], %[[TW]][%[[STAGE]]], %[[ZERO]] with wgmma_64x128x16 :
// NVIDIA:             %[[DA:.+]] = gist.tile_finish %[[A]]
// NVIDIA:             %[[TA:.+]] = gist.tile_scale %[[DA]] by %[[SCALES]] add %[[TOTALS]] :
// NVIDIA:             %[[B:.+]] = gist.tile_start %[[TX]][%[[STAGE]]], %[[TW]][%[[STAGE]]], %[[ZERO]] with wgmma_64x128x16 part 1
// NVIDIA:             %[[DB:.+]] = gist.tile_finish %[[B]]
// NVIDIA:             %[[TB:.+]] = gist.tile_scale %[[DB]] by %[[SCALES]] add %[[TA]] part 1
// NVIDIA:             scf.yield %[[TB]]
// NVIDIA:           gist.tile_yield %[[LOOP]]
func.func private @product(%x: tensor<?x576xi8>, %s: tensor<?x5xf32>, %w: tensor<28672x576xi8>, %y: tensor<?x28672xf32>)
    -> tensor<?x28672xf32> attributes {gist.kernel = #gist.kernel<kind = matmul, outputs = 1>} {
  %p = gist.scaled_matmul %x, %s, %w block 128 : tensor<?x576xi8>, tensor<?x5xf32>, tensor<28672x576xi8>
  return %p : tensor<?x28672xf32>
}

// Few columns are cut smaller on gfx942.
// AMD-LABEL: func.func private @narrow
// AMD:         gist.tile_product {{.*}} workgroup [64, 64] waves [2, 2]
func.func private @narrow(%x: tensor<?x256xi8>, %s: tensor<?x2xf32>, %w: tensor<576x256xi8>, %y: tensor<?x576xf32>)
    -> tensor<?x576xf32> attributes {gist.kernel = #gist.kernel<kind = matmul, outputs = 1>} {
  %p = gist.scaled_matmul %x, %s, %w block 128 : tensor<?x256xi8>, tensor<?x2xf32>, tensor<576x256xi8>
  return %p : tensor<?x576xf32>
}

// Blocks of two steps: both are added up before they are scaled, and the stages of
// the next block are filled meanwhile.
// NVIDIA-LABEL: func.func private @long_blocks
// NVIDIA:           %[[LOOP:.+]] = scf.for %{{.+}} = %{{.+}} to %{{.+}} step %[[C2:.+]] iter_args(%[[TOTALS:.+]] = %{{.+}})
// NVIDIA:             nvvm.cp.async.wait.group 0
// NVIDIA-COUNT-4:     gist.tile_copy
// NVIDIA-NOT:         gist.tile_copy
// NVIDIA:             %[[S:.+]] = gist.tile_scales
// NVIDIA:             %[[A:.+]] = gist.tile_start %{{.+}}, %{{.+}}, %[[ZERO:.+]] with wgmma_64x128x16 :
// NVIDIA-NEXT:        %{{.+}} = arith.addi
// NVIDIA:             %[[B:.+]] = gist.tile_start %{{.+}}, %{{.+}}, %[[A]] with wgmma_64x128x16 :
// NVIDIA:             %[[D:.+]] = gist.tile_finish %[[B]]
// NVIDIA:             gist.tile_scale %[[D]] by %[[S]] add %[[TOTALS]] :
func.func private @long_blocks(%x: tensor<?x1024xi8>, %s: tensor<?x4xf32>, %w: tensor<28672x1024xi8>, %y: tensor<?x28672xf32>)
    -> tensor<?x28672xf32> attributes {gist.kernel = #gist.kernel<kind = matmul, outputs = 1>} {
  %p = gist.scaled_matmul %x, %s, %w block 256 : tensor<?x1024xi8>, tensor<?x4xf32>, tensor<28672x1024xi8>
  return %p : tensor<?x28672xf32>
}

// One scale for a row: sums are carried over all of k, and scaled behind the loop.
// AMD-LABEL:   func.func private @rows
// AMD:           %[[LOOP:.+]]:{{[0-9]+}} = scf.for
// AMD-NOT:         gist.tile_scale
// AMD:             scf.yield
// AMD:           gist.tile_scale %{{.+}} by %{{.+}} add %{{.+}} : vector<128x256xi32>, vector<128xf32>, vector<128x256xf32>
// NVIDIA-LABEL: func.func private @rows
// NVIDIA:         %[[S:.+]] = gist.tile_scales
// NVIDIA:         %[[SUMS:.+]] = scf.for {{.*}} -> (vector<[[TILE:.+]]xi32>)
// NVIDIA:           %[[NEXT:.+]] = gist.tile_start
// NVIDIA-NOT:       gist.tile_scale
// NVIDIA:           nvvm.wgmma.wait.group.sync.aligned 1
// NVIDIA:           scf.yield %[[NEXT]]
// NVIDIA:         %[[DONE:.+]] = gist.tile_finish %[[SUMS]]
// NVIDIA:         gist.tile_scale %[[DONE]] by %[[S]] add %{{.+}} : vector<[[TILE]]xi32>
func.func private @rows(%x: tensor<?x1024xi8>, %s: tensor<?x1xf32>, %w: tensor<28672x1024xi8>, %y: tensor<?x28672xf32>)
    -> tensor<?x28672xf32> attributes {gist.kernel = #gist.kernel<kind = matmul, outputs = 1>} {
  %p = gist.scaled_matmul %x, %s, %w block 1024 : tensor<?x1024xi8>, tensor<?x1xf32>, tensor<28672x1024xi8>
  return %p : tensor<?x28672xf32>
}
