// RUN: gist-opt %s -gist-weights-to-arguments -split-input-file -verify-diagnostics | FileCheck %s

// Two weights, one named twice: one argument each, after those there were, in
// the order in which they are named.
// CHECK-LABEL: func @two_weights
// CHECK-SAME:    %[[X:[^:]+]]: tensor<?x8xf32>,
// CHECK-SAME:    %[[B:[^:]+]]: tensor<8xf32> {gist.name = "b"},
// CHECK-SAME:    %[[W:[^:]+]]: tensor<4x1x20xi8> {gist.name = "w"}
func.func @two_weights(%x: tensor<?x8xf32>)
    -> (tensor<8xf32>, tensor<4x1x20xi8>, tensor<8xf32>) {
  // CHECK-NOT: gist.weight
  %b = gist.weight "b" : tensor<8xf32>
  %w = gist.weight "w" : tensor<4x1x20xi8>
  %again = gist.weight "b" : tensor<8xf32>
  // CHECK: return %[[B]], %[[W]], %[[B]]
  return %b, %w, %again : tensor<8xf32>, tensor<4x1x20xi8>, tensor<8xf32>
}

// -----

// CHECK-LABEL: func @no_weights(%{{[^,]+}}: index) -> index
func.func @no_weights(%i: index) -> index {
  return %i : index
}

// -----

func.func @one_name_two_types() -> (tensor<8xf32>, tensor<9xf32>) {
  %a = gist.weight "w" : tensor<8xf32>
  // expected-error @+1 {{'gist.weight' op is 'tensor<9xf32>' here and 'tensor<8xf32>' where this name was used before}}
  %b = gist.weight "w" : tensor<9xf32>
  return %a, %b : tensor<8xf32>, tensor<9xf32>
}
