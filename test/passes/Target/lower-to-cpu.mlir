// A kernel on buffers becomes the function that the runtime calls: slots for the
// arguments and then for the dynamic sizes, and the number of one workgroup.
// RUN: gist-opt %s -gist-lower-to-cpu -split-input-file -verify-diagnostics | FileCheck %s

// Slots: x, n, y, then the rows of x and of y.
// CHECK-LABEL: func.func @scale(
// CHECK-SAME: %[[SLOTS:.+]]: !llvm.ptr, %[[I:.+]]: i64, %{{.+}}: i64, %{{.+}}: i64) attributes {gist.kernel
// CHECK-DAG: %[[A0:.+]] = llvm.getelementptr %[[SLOTS]][0]
// CHECK-DAG: llvm.load %[[A0]] invariant {{.*}} -> !llvm.ptr
// CHECK-DAG: %[[A1:.+]] = llvm.getelementptr %[[SLOTS]][1]
// CHECK-DAG: llvm.load %[[A1]] invariant {{.*}} -> i64
// CHECK-DAG: %[[A2:.+]] = llvm.getelementptr %[[SLOTS]][2]
// CHECK-DAG: llvm.load %[[A2]] invariant {{.*}} -> !llvm.ptr
// CHECK-DAG: %[[A4:.+]] = llvm.getelementptr %[[SLOTS]][4]
// CHECK-DAG: llvm.load %[[A4]] invariant {{.*}} -> i64
// CHECK-NOT: llvm.getelementptr %[[SLOTS]][5]
// The workgroup of 16 rows is this call's.
// CHECK: %[[ID:.+]] = arith.index_cast %[[I]] : i64 to index
// CHECK: %[[STEP:.+]] = arith.constant 16 : index
// CHECK: arith.muli %[[ID]], %[[STEP]] : index
// CHECK-NOT: scf.forall
// CHECK: return
func.func private @scale(%x: memref<?x8xf32>, %n: index, %y: memref<?x8xf32>) attributes {gist.kernel = #gist.kernel<kind = rows, outputs = 0>} {
  %c0 = arith.constant 0 : index
  scf.forall (%i) = (0) to (64) step (16) {
    %v = memref.load %x[%i, %n] : memref<?x8xf32>
    memref.store %v, %y[%i, %c0] : memref<?x8xf32>
  }
  return
}

// CHECK-LABEL: func.func @host(
// CHECK-SAME: memref<4xf32>
func.func @host(%x: memref<4xf32>) {
  return
}

// -----

// expected-error @+1 {{has a result that is not in its destination}}
func.func private @result(%x: memref<4xf32>) -> memref<4xf32> attributes {gist.kernel = #gist.kernel<kind = rows, outputs = 1>} {
  return %x : memref<4xf32>
}

// -----

// expected-error @+1 {{has an argument that no slot can hold: 'f32'}}
func.func private @argument(%x: f32) attributes {gist.kernel = #gist.kernel<kind = rows, outputs = 0>} {
  return
}

// -----

// expected-error @+1 {{has more than one grid, or a grid of more than three dimensions}}
func.func private @grids(%x: memref<4xf32>) attributes {gist.kernel = #gist.kernel<kind = rows, outputs = 0>} {
  scf.forall (%i) in (4) {
  }
  scf.forall (%i) in (4) {
  }
  return
}
