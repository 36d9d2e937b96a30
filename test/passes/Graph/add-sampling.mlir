// RUN: gist-opt %s -gist-add-sampling -split-input-file | FileCheck %s
// RUN: gist-opt %s -gist-graph=sampling -split-input-file | FileCheck %s --check-prefix=GRAPH
// RUN: gist-opt %s -gist-graph -split-input-file | FileCheck %s --check-prefix=HOST

// The settings come behind the tokens, the token behind all results.
// CHECK-LABEL: func.func @prefill
// CHECK-SAME:    %[[TOKENS:.+]]: tensor<?xi32>, %[[SETTINGS:.+]]: tensor<1x5xi64> {gist.name = "sampling"}, %[[PAST:.+]]: index, %[[CACHE:.+]]: tensor<64x8xf16>, %[[LOGITS:.+]]: tensor<1x96xf32>)
// CHECK-SAME:    -> (tensor<1x96xf32> {gist.name = "logits"}, tensor<64x8xf16>, tensor<1xi32> {gist.name = "next"})
// CHECK:         %[[NEXT:.+]] = gist.sample %[[LOGITS]] by %[[SETTINGS]] : tensor<1x96xf32>, tensor<1x5xi64>
// CHECK:         return %[[LOGITS]], %[[CACHE]], %[[NEXT]]

// One token at a time it is the same.
// GRAPH:       func.func @prefill
// GRAPH:         gist.sample
// GRAPH:       func.func @decode
// GRAPH-SAME:    (%{{.+}}: tensor<1xi32>, %{{.+}}: tensor<1x5xi64> {gist.name = "sampling"},
// GRAPH:         gist.sample

// On CPUs the host draws.
// HOST:        func.func @decode
// HOST-NOT:    gist.sample
func.func @prefill(%tokens: tensor<?xi32>, %past: index, %cache: tensor<64x8xf16>, %logits: tensor<1x96xf32>)
    -> (tensor<1x96xf32> {gist.name = "logits"}, tensor<64x8xf16>) {
  return %logits, %cache : tensor<1x96xf32>, tensor<64x8xf16>
}

// -----

// Rows that are not named logits, and a function of another name.
// CHECK-LABEL: func.func @prefill
// CHECK-NOT:   gist.sample
func.func @prefill(%tokens: tensor<?xi32>, %rows: tensor<1x96xf32>) -> (tensor<1x96xf32> {gist.name = "rows"}) {
  return %rows : tensor<1x96xf32>
}
func.func @score(%tokens: tensor<?xi32>, %logits: tensor<1x96xf32>) -> (tensor<1x96xf32> {gist.name = "logits"}) {
  return %logits : tensor<1x96xf32>
}

// -----

// As many rows as there are tokens.
// CHECK-LABEL: func.func @prefill
// CHECK-NOT:   gist.sample
func.func @prefill(%tokens: tensor<?xi32>, %logits: tensor<?x96xf32>) -> (tensor<?x96xf32> {gist.name = "logits"}) {
  return %logits : tensor<?x96xf32>
}
