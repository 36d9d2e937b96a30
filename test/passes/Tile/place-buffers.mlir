// Scratch goes to the stack, where the kernel begins and at its largest size;
// results stay in their destinations.
// RUN: gist-opt %s -gist-place-buffers -split-input-file -verify-diagnostics | FileCheck %s
// RUN: not gist-opt %s -gist-place-buffers=max-bytes=64 -split-input-file 2>&1 | FileCheck %s --check-prefix=LIMIT
// LIMIT: error: 'memref.alloc' op takes the kernel's scratch to 128 bytes, more than 64

// min(n, 16) rows of 2 f32 take 128 bytes at most.
// CHECK-LABEL: func.func private @scratch(
// CHECK-SAME: %[[N:.+]]: index, %[[Y:[^:]+]]: memref<4xf32>)
// CHECK-NEXT: %[[SPACE:.+]] = memref.alloca() {alignment = 64 : i64} : memref<128xi8>
// CHECK: scf.for
// CHECK-NOT: memref.alloc
// CHECK: memref.view %[[SPACE]]
// CHECK: return{{$}}
func.func private @scratch(%n: index, %y: memref<4xf32>) -> memref<4xf32>
    attributes {gist.kernel = #gist.kernel<kind = rows, outputs = 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f32
  %rows = affine.min affine_map<(d0) -> (d0, 16)>(%n)
  scf.for %i = %c0 to %c4 step %c1 {
    %a = memref.alloc(%rows) : memref<?x2xf32>
    memref.store %zero, %a[%c0, %c0] : memref<?x2xf32>
  }
  return %y : memref<4xf32>
}

// What is not in its destination is copied there, by a loop.
// CHECK-LABEL: func.func private @copied(
// CHECK-SAME: %[[X:[^:]+]]: memref<4xf32>, %[[Y:[^:]+]]: memref<4xf32>)
// CHECK-NOT: memref.copy
// CHECK: linalg.generic {{.*}} ins(%[[X]] : memref<4xf32>) outs(%[[Y]] : memref<4xf32>)
// CHECK: return{{$}}
func.func private @copied(%x: memref<4xf32>, %y: memref<4xf32>) -> memref<4xf32>
    attributes {gist.kernel = #gist.kernel<kind = rows, outputs = 1>} {
  return %x : memref<4xf32>
}

// Functions that are not kernels keep theirs.
// CHECK-LABEL: func.func @host(
// CHECK: memref.alloc
// CHECK: return %{{.+}} : memref<4xf32>
func.func @host() -> memref<4xf32> {
  %a = memref.alloc() : memref<4xf32>
  return %a : memref<4xf32>
}

// -----

func.func private @unbounded(%n: index, %y: memref<4xf32>) -> memref<4xf32>
    attributes {gist.kernel = #gist.kernel<kind = rows, outputs = 1>} {
  // expected-error @+1 {{'memref.alloc' op has a size without a bound, but a kernel keeps its scratch on the stack}}
  %a = memref.alloc(%n) : memref<?xf32>
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  memref.store %zero, %a[%c0] : memref<?xf32>
  return %y : memref<4xf32>
}
