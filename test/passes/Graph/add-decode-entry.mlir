// RUN: gist-opt %s -gist-add-decode-entry -canonicalize -split-input-file | FileCheck %s

// One token is known everywhere in the copy: in the rows it becomes and in the
// queries of attention; only the number of keys still depends on the call.
// CHECK-LABEL: func.func @prefill
// CHECK-SAME:    %{{.+}}: tensor<?xi32>
// CHECK:         gist.attention %{{.+}} : tensor<?x4x8xf32>, tensor<?x2x8xf32>, tensor<?x2x8xf32>
// CHECK-LABEL: func.func @decode
// CHECK-SAME:    %[[TOKEN:.+]]: tensor<1xi32>, %[[PAST:.+]]: index, %[[K:.+]]: tensor<64x2x8xf32>
// CHECK:         %[[S:.+]] = arith.addi %[[PAST]], %{{.+}} : index
// CHECK:         %[[Q:.+]] = linalg.generic {{.+}} ins(%[[TOKEN]] : tensor<1xi32>) outs(%{{.+}} : tensor<1x4x8xf32>)
// CHECK:         %[[KEYS:.+]] = tensor.extract_slice %[[K]][0, 0, 0] [%[[S]], 2, 8]
// CHECK:         %[[O:.+]] = gist.attention %[[Q]], %[[KEYS]], %[[KEYS]] causal : tensor<1x4x8xf32>, tensor<?x2x8xf32>, tensor<?x2x8xf32>
// CHECK-NOT:     tensor.cast
// CHECK:         return
#token = affine_map<(t, h, d) -> (t)>
#heads = affine_map<(t, h, d) -> (t, h, d)>
func.func @prefill(%tokens: tensor<?xi32>, %past: index, %keys: tensor<64x2x8xf32>) -> tensor<1x32xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = tensor.dim %tokens, %c0 : tensor<?xi32>
  %s = arith.addi %past, %t : index
  %e = tensor.empty(%t) : tensor<?x4x8xf32>
  %q = linalg.generic {indexing_maps = [#token, #heads], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%tokens : tensor<?xi32>) outs(%e : tensor<?x4x8xf32>) {
  ^bb0(%a: i32, %o: f32):
    %f = arith.sitofp %a : i32 to f32
    linalg.yield %f : f32
  } -> tensor<?x4x8xf32>
  %k = tensor.extract_slice %keys[0, 0, 0] [%s, 2, 8] [1, 1, 1] : tensor<64x2x8xf32> to tensor<?x2x8xf32>
  %o = gist.attention %q, %k, %k causal : tensor<?x4x8xf32>, tensor<?x2x8xf32>, tensor<?x2x8xf32>
  %rows = tensor.collapse_shape %o [[0], [1, 2]] : tensor<?x4x8xf32> into tensor<?x32xf32>
  %last = arith.subi %t, %c1 : index
  %r = tensor.extract_slice %rows[%last, 0] [1, 32] [1, 1] : tensor<?x32xf32> to tensor<1x32xf32>
  return %r : tensor<1x32xf32>
}

// -----

// An encoder has no such entry.
// CHECK-LABEL: func.func @forward
// CHECK-NOT:   func.func
func.func @forward(%tokens: tensor<?xi32>) -> tensor<?xi32> {
  return %tokens : tensor<?xi32>
}

// -----

// A module that says what one token is keeps it.
// CHECK-COUNT-2: func.func
// CHECK-NOT:   func.func
func.func @prefill(%tokens: tensor<?xi32>) -> tensor<?xi32> {
  return %tokens : tensor<?xi32>
}
func.func @decode(%tokens: tensor<1xi32>) -> tensor<1xi32> {
  return %tokens : tensor<1xi32>
}

// -----

// A GPU has a copy for a few tokens too; how many there are stays unknown.
// CHECK-LABEL: module attributes {gist.target
// CHECK:       func.func @prefill(%{{.+}}: tensor<?xi32>)
// CHECK-NOT:   gist.max_tokens
// CHECK:       func.func @short(%{{.+}}: tensor<?xi32>)
// CHECK-SAME:    gist.max_tokens = 16 : i64
// CHECK:       func.func @decode(%{{.+}}: tensor<1xi32>)
// CHECK-NOT:   gist.max_tokens
module attributes {gist.target = #gist.gpu_target<"sm_90", gram = exact>} {
  func.func @prefill(%tokens: tensor<?xi32>) -> tensor<?xi32> {
    return %tokens : tensor<?xi32>
  }
}
