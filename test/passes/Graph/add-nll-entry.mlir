// RUN: gist-opt %s -gist-add-nll-entry -split-input-file | FileCheck %s

// The logits end in one number per token. The copy takes the tokens that follow
// behind those that it had, and everything else as before.
// CHECK-LABEL: func.func @score
// CHECK-SAME:    -> (tensor<?x96xf32> {gist.name = "logits"}, tensor<64x8xf16>)
// CHECK-LABEL: func.func @nll
// CHECK-SAME:    %[[TOKENS:.+]]: tensor<?xi32>, %[[TARGETS:.+]]: tensor<?xi32> {gist.name = "targets"}, %[[PAST:.+]]: index, %[[CACHE:.+]]: tensor<64x8xf16>
// CHECK-SAME:    -> (tensor<?xf32> {gist.name = "nll"}, tensor<64x8xf16>)
// CHECK:         %[[LOGITS:.+]] = linalg.generic {{.+}} ins(%[[TOKENS]] : tensor<?xi32>) outs(%{{.+}} : tensor<?x96xf32>)
// The reductions that come next are along the columns: the largest,
// CHECK:         %[[M:.+]] = linalg.generic {{.+}} iterator_types = ["parallel", "reduction"]} ins(%[[LOGITS]] : tensor<?x96xf32>)
// CHECK:           arith.maximumf
// the sum,
// CHECK:         %[[SUM:.+]] = linalg.generic {{.+}} iterator_types = ["parallel", "reduction"]} ins(%[[LOGITS]], %[[M]] : tensor<?x96xf32>, tensor<?xf32>)
// CHECK:           arith.subf
// CHECK:           math.exp
// CHECK:           arith.addf
// and the one of the target.
// CHECK:         %[[X:.+]] = linalg.generic {{.+}} iterator_types = ["parallel", "reduction"]} ins(%[[LOGITS]], %[[TARGETS]] : tensor<?x96xf32>, tensor<?xi32>)
// CHECK:           arith.cmpi eq
// CHECK:         %[[LOSS:.+]] = linalg.generic {{.+}} iterator_types = ["parallel"]} ins(%[[SUM]], %[[M]], %[[X]] : tensor<?xf32>, tensor<?xf32>, tensor<?xf32>)
// CHECK:           math.log
// CHECK:         return %[[LOSS]], %[[CACHE]]
#token = affine_map<(t, v) -> (t)>
#logit = affine_map<(t, v) -> (t, v)>
func.func @score(%tokens: tensor<?xi32>, %past: index, %cache: tensor<64x8xf16>)
    -> (tensor<?x96xf32> {gist.name = "logits"}, tensor<64x8xf16>) {
  %c0 = arith.constant 0 : index
  %t = tensor.dim %tokens, %c0 : tensor<?xi32>
  %e = tensor.empty(%t) : tensor<?x96xf32>
  %logits = linalg.generic {indexing_maps = [#token, #logit], iterator_types = ["parallel", "parallel"]}
      ins(%tokens : tensor<?xi32>) outs(%e : tensor<?x96xf32>) {
  ^bb0(%a: i32, %o: f32):
    %f = arith.sitofp %a : i32 to f32
    linalg.yield %f : f32
  } -> tensor<?x96xf32>
  return %logits, %cache : tensor<?x96xf32>, tensor<64x8xf16>
}

// -----

// There is one already.
// CHECK-LABEL: func.func @score
// CHECK-LABEL: func.func @nll
// CHECK-NOT:   func.func
func.func @score(%tokens: tensor<?xi32>, %logits: tensor<?x96xf32>) -> tensor<?x96xf32> {
  return %logits : tensor<?x96xf32>
}
func.func @nll(%tokens: tensor<?xi32>) -> tensor<?xi32> {
  return %tokens : tensor<?xi32>
}

// -----

// An encoder's rows, under another name, are not logits.
// CHECK-LABEL: func.func @embed
// CHECK-NOT:   func.func
func.func @embed(%tokens: tensor<?xi32>, %rows: tensor<?x96xf32>) -> tensor<?x96xf32> {
  return %rows : tensor<?x96xf32>
}

// -----

// Nor are single numbers.
// CHECK-LABEL: func.func @score
// CHECK-NOT:   func.func
func.func @score(%tokens: tensor<?xi32>, %rows: tensor<?xf32>) -> tensor<?xf32> {
  return %rows : tensor<?xf32>
}
