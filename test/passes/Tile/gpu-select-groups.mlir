// The tiles of a selection's products are numbered in groups of four or eight rows
// of tiles. A thread has one group, and 256 threads have 2^17 or 2^18 tokens in
// tiles of 128 rows: where there are more, they go on, with the number of tiles so
// far.
// RUN: gist-opt %s -gist-gpu-tile=target=gfx942 | FileCheck %s
// RUN: gist-opt %s -gist-gpu-tile=target=sm_90 | FileCheck %s

// CHECK: scf.for {{.*}} step %c256 iter_args(%[[BEFORE:.+]] = %c0) -> (index) {
// CHECK:   gpu.shuffle idx
// CHECK:   arith.addi %[[BEFORE]], %[[OWN:.+]] overflow<nsw> : index
// CHECK:   memref.store
// CHECK:   %[[NEXT:.+]] = arith.addi %[[BEFORE]], %{{.+}} overflow<nsw> : index
// CHECK:   scf.yield %[[NEXT]] : index

!part = tensor<?xi32>
func.func private @select(%x: tensor<?x64xf16>, %ids: !part,
    %count: tensor<i32>, %nearest: !part, %weight: !part)
    -> (!part, tensor<i32>, !part, !part) attributes {gist.kernel = #gist.kernel<kind = select, outputs = 4>} {
  %s = gist.gram_select %x, 3.0e-1 against kept causal : tensor<?x64xf16>
  %i, %c, %n, %w = gist.unpack_selection %s : !gist.selection<?>
  return %i, %c, %n, %w : !part, tensor<i32>, !part, !part
}
