// Products of few tiles on gfx942: workgroups share k. sm_90 has whole products.
// RUN: gist-opt %s -gist-gpu-products=target=gfx942 -canonicalize -cse | FileCheck %s
// RUN: gist-opt %s -gist-gpu-tile=target=sm_90 | FileCheck %s --check-prefix=SM90
// RUN: gist-opt %s -gist-gpu-tile=target=gfx942 | FileCheck %s --check-prefix=CODE

// The steps of one part are IR like any other.
// RUN: gist-opt %s -gist-gpu-tile=target=gfx942 -o %t.once
// RUN: gist-opt %s -gist-gpu-products=target=gfx942 | gist-opt -gist-gpu-tile -o %t.twice
// RUN: diff %t.once %t.twice

#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (n, k)>
#y = affine_map<(m, n, k) -> (m, n)>

// 24 steps of 64 along k are six parts of four: eight would have an odd number of
// steps, where two are one iteration, and seven do not divide 24. 8 x 9 tiles of
// 512 rows are 432 parts then, which fit on 304 compute units with two workgroups
// each. There is a place for the sums of each of these, and a word for a tile.
// CHECK-LABEL: func.func private @narrow(
// CHECK-SAME:  %[[X:[a-z0-9]+]]: tensor<?x1536xf16>, %[[W:[a-z0-9]+]]: tensor<576x1536xf16>, %{{[a-z0-9]+}}: tensor<?x576xf32>, %{{[a-z0-9]+}}: tensor<608x4096xf32>, %{{[a-z0-9]+}}: tensor<608xi32>
// CHECK:       gist.tile_product
// CHECK-SAME:    workgroup [64, 64]
// CHECK:       ^bb0(%[[ROW:.+]]: index, %{{.+}}: index, %[[FIRST:.+]]: index, %[[COUNT:.+]]: index):
// CHECK:         %[[STEP:.+]] = arith.addi %[[FIRST]], %{{.+}}
// CHECK:         %[[K0:.+]] = arith.muli %[[STEP]], %c64
// CHECK:         gist.tile_fetch %[[X]][%[[ROW]], %[[K0]]]
// CHECK:         scf.for %{{.+}} = %c0 to %[[COUNT]] step %c2
// CHECK:         gist.tile_yield

// Parts are along z. Where tiles fill the card, more than 101 of them as 608 / 6
// parts, the first part has all 24 steps and the others end.
// CODE-DAG:    #[[PARTS:.*]] = affine_map<()[{{.*}}] -> (6)>
// CODE-LABEL:  func.func private @narrow(
// CODE-SAME:   gist.grid = [#{{.*}}, #{{.*}}, #[[PARTS]]]
// CODE:        %[[SHARED:.+]] = arith.cmpi slt, %{{.+}}, %c102
// CODE:        %[[IS_FIRST:.+]] = arith.cmpi eq, %block_id_z, %c0
// CODE:        %[[WORKS:.+]] = arith.ori %[[SHARED]], %[[IS_FIRST]]
// CODE:        %[[STEPS:.+]] = arith.select %[[SHARED]], %c4, %c24
// CODE:        scf.if %[[WORKS]]
// CODE:        scf.for %{{.+}} = %c0 to %[[STEPS]] step %c2
// CODE:        scf.if %[[SHARED]]
// CODE:        vector.store %{{.+}} : memref<608x4096xf32>, vector<4xf32>
// CODE:        llvm.fence syncscope("agent") release
// CODE:        llvm.atomicrmw add
// CODE:        llvm.fence syncscope("agent") acquire
// The parts are added in their order, whichever workgroup comes last.
// CODE:        %[[COUNT:.+]] = arith.select %[[SHARED]], %c6, %c0
// CODE:        scf.for %{{.+}} = %c0 to %[[COUNT]] step %c1
// CODE:        vector.load %{{.+}} : memref<608x4096xf32>, vector<4xf32>
// CODE:        arith.addf
// CODE:        llvm.store %c0_i32{{.*}} atomic syncscope("agent")

// SM90-LABEL:  func.func private @narrow(
// SM90-NOT:    llvm.atomicrmw
// SM90-LABEL:  func.func private @short(
func.func private @narrow(%x: tensor<?x1536xf16>, %w: tensor<576x1536xf16>, %y: tensor<?x576xf32>)
    -> tensor<?x576xf32> attributes {gist.kernel = #gist.kernel<kind = matmul, outputs = 1>} {
  %zero = arith.constant 0.0 : f32
  %z = linalg.fill ins(%zero : f32) outs(%y : tensor<?x576xf32>) -> tensor<?x576xf32>
  %p = linalg.matmul indexing_maps = [#x, #w, #y]
      ins(%x, %w : tensor<?x1536xf16>, tensor<576x1536xf16>)
      outs(%z : tensor<?x576xf32>) -> tensor<?x576xf32>
  return %p : tensor<?x576xf32>
}

// 9 steps are three parts of 192 numbers, too few to hand in.
// CHECK-LABEL: func.func private @short(
// CHECK-NOT:   xi32>
// CHECK:       ^bb0(%{{[^,]+}}: index, %{{[^,]+}}: index):
// CODE-LABEL:  func.func private @short(
// CODE-NOT:    llvm.atomicrmw
func.func private @short(%x: tensor<?x576xf16>, %w: tensor<576x576xf16>, %y: tensor<?x576xf32>)
    -> tensor<?x576xf32> attributes {gist.kernel = #gist.kernel<kind = matmul, outputs = 1>} {
  %zero = arith.constant 0.0 : f32
  %z = linalg.fill ins(%zero : f32) outs(%y : tensor<?x576xf32>) -> tensor<?x576xf32>
  %p = linalg.matmul indexing_maps = [#x, #w, #y]
      ins(%x, %w : tensor<?x576xf16>, tensor<576x576xf16>)
      outs(%z : tensor<?x576xf32>) -> tensor<?x576xf32>
  return %p : tensor<?x576xf32>
}
