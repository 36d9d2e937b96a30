// RUN: gist-opt %s -pass-pipeline='builtin.module(func.func(gist-lower-to-cpu{flat}))' | FileCheck %s

// Every slot is an argument: the buffers and the number in order, the size of
// the buffer that has a dynamic one, then the workgroup.
// CHECK-LABEL: func @k(
// CHECK-SAME:    %[[A:.+]]: !llvm.ptr, %[[N:.+]]: i64, %[[B:.+]]: !llvm.ptr, %[[SIZE:.+]]: i64, %[[X:.+]]: i64, %[[Y:.+]]: i64, %[[Z:.+]]: i64)
// CHECK-NOT:     llvm.load
// CHECK:         %[[FIRST:.+]] = arith.index_cast %[[X]] : i64 to index
// CHECK:         %[[ROW:.+]] = arith.muli %[[FIRST]]
// CHECK:         memref.store %{{.*}}, %{{.*}}[%[[ROW]]]
func.func private @k(%a: memref<8xf32>, %n: index, %b: memref<?xf32>)
    attributes {gist.kernel = #gist.kernel<kind = rows, outputs = 1>} {
  scf.forall (%i) = (0) to (%n) step (2) {
    %x = memref.load %a[%i] : memref<8xf32>
    memref.store %x, %b[%i] : memref<?xf32>
  }
  return
}
