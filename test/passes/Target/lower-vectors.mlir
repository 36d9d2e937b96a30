// Transfers become loads and stores, and functions become polynomials: kernels
// call no library.
// RUN: gist-opt %s -gist-lower-vectors | FileCheck %s

// CHECK-LABEL: func.func @inside(
// CHECK-NOT: vector.transfer
// CHECK: %[[V:.+]] = vector.load %{{.+}}[%{{.+}}] : memref<8xf32>, vector<4xf32>
// CHECK-NOT: math.exp
// CHECK: math.fma
// CHECK: vector.store %{{.+}}, %{{.+}}[%{{.+}}] : memref<8xf32>, vector<4xf32>
func.func @inside(%x: memref<8xf32>, %y: memref<8xf32>) {
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f32
  %v = vector.transfer_read %x[%c4], %zero {in_bounds = [true]} : memref<8xf32>, vector<4xf32>
  %e = math.exp %v : vector<4xf32>
  vector.transfer_write %e, %y[%c4] {in_bounds = [true]} : vector<4xf32>, memref<8xf32>
  return
}

// A part of a vector at the edge is read under a mask.
// CHECK-LABEL: func.func @edge(
// CHECK-NOT: vector.transfer
// CHECK: vector.maskedload
// CHECK: vector.maskedstore
func.func @edge(%x: memref<6xf32>, %y: memref<6xf32>, %n: index) {
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f32
  %m = vector.create_mask %n : vector<4xi1>
  %v = vector.transfer_read %x[%c4], %zero, %m {in_bounds = [true]} : memref<6xf32>, vector<4xf32>
  vector.transfer_write %v, %y[%c4], %m {in_bounds = [true]} : vector<4xf32>, memref<6xf32>
  return
}

// What CPUs have stays.
// CHECK-LABEL: func.func @plain(
// CHECK: math.sqrt
// CHECK: vector.fma
func.func @plain(%v: vector<4xf32>) -> vector<4xf32> {
  %s = math.sqrt %v : vector<4xf32>
  %f = vector.fma %s, %v, %v : vector<4xf32>
  return %f : vector<4xf32>
}
