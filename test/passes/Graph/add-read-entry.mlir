// RUN: gist-opt %s -gist-add-read-entry -split-input-file | FileCheck %s

// The copy returns state alone, and what only made logits is gone.
// CHECK-LABEL: func.func @prefill
// CHECK-SAME:    -> (tensor<1x96xf32> {gist.name = "logits"}, tensor<64x8xf16>)
// CHECK-LABEL: func.func @read
// CHECK-SAME:    %[[TOKENS:.+]]: tensor<?xi32>, %[[PAST:.+]]: index, %[[CACHE:.+]]: tensor<64x8xf16>
// CHECK-SAME:    -> tensor<64x8xf16>
// CHECK-NOT:     tensor.empty
// CHECK:         return %[[CACHE]]
func.func @prefill(%tokens: tensor<?xi32>, %past: index, %cache: tensor<64x8xf16>)
    -> (tensor<1x96xf32> {gist.name = "logits"}, tensor<64x8xf16>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x96xf32>
  %logits = linalg.fill ins(%zero : f32) outs(%e : tensor<1x96xf32>) -> tensor<1x96xf32>
  return %logits, %cache : tensor<1x96xf32>, tensor<64x8xf16>
}

// -----

// Without state there is nothing to leave.
// CHECK-LABEL: func.func @prefill
// CHECK-NOT:   func.func @read
func.func @prefill(%tokens: tensor<?xi32>) -> (tensor<1x96xf32> {gist.name = "logits"}) {
  %e = tensor.empty() : tensor<1x96xf32>
  return %e : tensor<1x96xf32>
}

// -----

// An entry that a person wrote stays.
// CHECK-LABEL: func.func @prefill
// CHECK-LABEL: func.func @read
// CHECK-SAME:    (%{{.+}}: tensor<?xi32>)
// CHECK-NOT:   func.func
func.func @prefill(%tokens: tensor<?xi32>, %past: index, %cache: tensor<64x8xf16>)
    -> (tensor<1x96xf32> {gist.name = "logits"}, tensor<64x8xf16>) {
  %e = tensor.empty() : tensor<1x96xf32>
  return %e, %cache : tensor<1x96xf32>, tensor<64x8xf16>
}
func.func @read(%tokens: tensor<?xi32>) {
  return
}
