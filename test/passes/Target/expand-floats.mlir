// RUN: gist-opt %s -gist-expand-floats -split-input-file | FileCheck %s

// x86-64 has neither F16C nor FMA nor SSE4.1.
// test/numeric/test_expand_floats.py has the numbers.
module attributes {gist.target = #gist.cpu_target<
    triple = "x86_64-linux-gnu", cpu = "x86-64", features = "">} {
  // CHECK-LABEL: func @convert
  // CHECK-NOT:     arith.extf
  // CHECK-NOT:     arith.truncf
  // CHECK:         arith.bitcast %{{.+}} : vector<4xf16> to vector<4xi16>
  // CHECK:         arith.bitcast %{{.+}} : vector<4xi16> to vector<4xf16>
  func.func @convert(%x: vector<4xf16>, %y: vector<4xf32>) -> (vector<4xf32>, vector<4xf16>) {
    %f = arith.extf %x : vector<4xf16> to vector<4xf32>
    %h = arith.truncf %y : vector<4xf32> to vector<4xf16>
    return %f, %h : vector<4xf32>, vector<4xf16>
  }

  // The sum is one of f32.
  // CHECK-LABEL: func @arithmetic
  // CHECK-NOT:     arith.addf {{.*}} : f16
  // CHECK:         arith.addf {{.*}} : f32
  func.func @arithmetic(%x: f16, %y: f16) -> f16 {
    %s = arith.addf %x, %y : f16
    return %s : f16
  }

  // CHECK-LABEL: func @fma
  // CHECK-SAME:    %[[A:.+]]: f32, %[[B:.+]]: f32, %[[C:.+]]: f32
  // CHECK:         %[[P:.+]] = arith.mulf %[[A]], %[[B]]
  // CHECK:         %[[S:.+]] = arith.addf %[[P]], %[[C]]
  // CHECK:         return %[[S]]
  func.func @fma(%a: f32, %b: f32, %c: f32) -> f32 {
    %r = math.fma %a, %b, %c : f32
    return %r : f32
  }

  // CHECK-LABEL: func @round
  // CHECK-NOT:     math.roundeven
  // CHECK-NOT:     math.floor
  // CHECK-NOT:     math.ceil
  // CHECK:         return
  func.func @round(%a: f32, %b: vector<8xf32>, %c: f32) -> (f32, vector<8xf32>, f32) {
    %r = math.roundeven %a : f32
    %f = math.floor %b : vector<8xf32>
    %g = math.ceil %c : f32
    return %r, %f, %g : f32, vector<8xf32>, f32
  }

  // Conversions of f64 and roundings of f64 are left alone: kernels have none.
  // CHECK-LABEL: func @double
  // CHECK:         arith.extf %{{.+}} : f16 to f64
  // CHECK:         arith.truncf %{{.+}} : f64 to f16
  // CHECK:         math.roundeven %{{.+}} : f64
  // CHECK:         math.floor %{{.+}} : f64
  func.func @double(%x: f16, %y: f64) -> (f64, f16, f64, f64) {
    %f = arith.extf %x : f16 to f64
    %h = arith.truncf %y : f64 to f16
    %r = math.roundeven %y : f64
    %g = math.floor %y : f64
    return %f, %h, %r, %g : f64, f16, f64, f64
  }
}

// -----

// x86-64-v2 rounds, but neither converts nor fuses.
module attributes {gist.target = #gist.cpu_target<
    triple = "x86_64-linux-gnu", cpu = "x86-64-v2", features = "">} {
  // CHECK-LABEL: func @second
  // CHECK-NOT:     arith.extf
  // CHECK-NOT:     math.fma
  // CHECK:         math.roundeven
  func.func @second(%x: f16, %b: f32) -> f32 {
    %a = arith.extf %x : f16 to f32
    %p = math.fma %a, %b, %b : f32
    %r = math.roundeven %p : f32
    return %r : f32
  }
}

// -----

// x86-64-v3 has all of it.
module attributes {gist.target = #gist.cpu_target<
    triple = "x86_64-linux-gnu", cpu = "x86-64-v3", features = "">} {
  // CHECK-LABEL: func @third
  // CHECK:         arith.extf
  // CHECK:         math.fma
  // CHECK:         math.roundeven
  func.func @third(%x: f16, %b: f32) -> f32 {
    %a = arith.extf %x : f16 to f32
    %p = math.fma %a, %b, %b : f32
    %r = math.roundeven %p : f32
    return %r : f32
  }
}

// -----

// So has every aarch64.
module attributes {gist.target = #gist.cpu_target<
    triple = "aarch64-linux-gnu", cpu = "generic", features = "">} {
  // CHECK-LABEL: func @arm
  // CHECK:         arith.extf
  // CHECK:         math.fma
  func.func @arm(%x: f16, %b: f32) -> f32 {
    %a = arith.extf %x : f16 to f32
    %p = math.fma %a, %b, %b : f32
    return %p : f32
  }
}

// -----

// No target is named.
// CHECK-LABEL: func @none
// CHECK:         math.fma
func.func @none(%b: f32) -> f32 {
  %p = math.fma %b, %b, %b : f32
  return %p : f32
}
