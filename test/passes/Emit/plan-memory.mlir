// RUN: gist-opt %s -gist-plan-memory -split-input-file | FileCheck %s

// Three calls in a row: %a is read by the second call alone, so that the third
// may write where it was. 64 columns of f32 are 256 bytes a row, 96 are 384; the
// first slot has to hold the larger of %a (256) and %c (384), the second %b
// (256).
//
// CHECK-DAG: #[[FIRST:.+]] = affine_map<()[s0, s1, s2] -> (0)>
// CHECK-DAG: #[[SECOND:.+]] = affine_map<()[s0, s1, s2] -> (s0 * 384)>
// CHECK-DAG: #[[TOTAL:.+]] = affine_map<()[s0, s1, s2] -> (s0 * 640)>
// CHECK-LABEL: func.func @chain
// CHECK-SAME:    attributes {gist.arena_size = #[[TOTAL]]}
// CHECK:         %[[A:.+]] = gist.arena(%{{.+}}) at #[[FIRST]] : tensor<?x64xf32>
// CHECK:         gist.dispatch @k64(%{{.+}} outs(%[[A]] : tensor<?x64xf32>)
// CHECK:         %[[B:.+]] = gist.arena(%{{.+}}) at #[[SECOND]] : tensor<?x64xf32>
// CHECK:         gist.dispatch @k64(%{{.+}} outs(%[[B]] : tensor<?x64xf32>)
// CHECK:         %[[C:.+]] = gist.arena(%{{.+}}) at #[[FIRST]] : tensor<?x96xf32>
// CHECK:         gist.dispatch @k96(%{{.+}} outs(%[[C]] : tensor<?x96xf32>)
// The result is the caller's: no place in the arena.
// CHECK:         %[[E:.+]] = tensor.empty() : tensor<96xf32>
// CHECK:         %[[R:.+]] = gist.dispatch @sum(%{{.+}} outs(%[[E]] : tensor<96xf32>)
// CHECK:         return %[[R]]
func.func @chain(%x: tensor<?x64xf32>) -> tensor<96xf32> {
  %c0 = arith.constant 0 : index
  %t = tensor.dim %x, %c0 : tensor<?x64xf32>
  %e64 = tensor.empty(%t) : tensor<?x64xf32>
  %e96 = tensor.empty(%t) : tensor<?x96xf32>
  %e = tensor.empty() : tensor<96xf32>
  %a = gist.dispatch @k64(%x : tensor<?x64xf32>) outs(%e64 : tensor<?x64xf32>)
  %b = gist.dispatch @k64(%a : tensor<?x64xf32>) outs(%e64 : tensor<?x64xf32>)
  %c = gist.dispatch @k96(%b : tensor<?x64xf32>) outs(%e96 : tensor<?x96xf32>)
  %r = gist.dispatch @sum(%c : tensor<?x96xf32>) outs(%e : tensor<96xf32>)
  return %r : tensor<96xf32>
}
func.func private @k64(tensor<?x64xf32>, tensor<?x64xf32>) -> tensor<?x64xf32> attributes {gist.kernel = #gist.kernel<kind = rows, outputs = 1>}
func.func private @k96(tensor<?x64xf32>, tensor<?x96xf32>) -> tensor<?x96xf32> attributes {gist.kernel = #gist.kernel<kind = rows, outputs = 1>}
func.func private @sum(tensor<?x96xf32>, tensor<96xf32>) -> tensor<96xf32> attributes {gist.kernel = #gist.kernel<kind = rows, outputs = 1>}

// -----

// A value that is read once more later, through a reshape, keeps its place: the
// call between needs another. Rows of 8 f16 are 16 bytes and take 64.
//
// CHECK-DAG: #[[FIRST:.+]] = affine_map<()[s0, s1, s2] -> (0)>
// CHECK-DAG: #[[SECOND:.+]] = affine_map<()[s0, s1, s2] -> (s0 * 64)>
// CHECK-DAG: #[[TOTAL:.+]] = affine_map<()[s0, s1, s2] -> (s0 * 128)>
// CHECK-LABEL: func.func @read_later
// CHECK-SAME:    attributes {gist.arena_size = #[[TOTAL]]}
// CHECK:         gist.arena(%{{.+}}) at #[[FIRST]]
// CHECK:         gist.arena(%{{.+}}) at #[[SECOND]]
func.func @read_later(%x: tensor<?x8xf16>) -> tensor<?x8xf16> {
  %c0 = arith.constant 0 : index
  %t = tensor.dim %x, %c0 : tensor<?x8xf16>
  %e = tensor.empty(%t) : tensor<?x8xf16>
  %a = gist.dispatch @k(%x : tensor<?x8xf16>) outs(%e : tensor<?x8xf16>)
  %heads = tensor.expand_shape %a [[0], [1, 2]] output_shape [%t, 2, 4] : tensor<?x8xf16> into tensor<?x2x4xf16>
  %b = gist.dispatch @k(%a : tensor<?x8xf16>) outs(%e : tensor<?x8xf16>)
  %c = gist.dispatch @both(%b, %heads : tensor<?x8xf16>, tensor<?x2x4xf16>) outs(%e : tensor<?x8xf16>)
  return %c : tensor<?x8xf16>
}
func.func private @k(tensor<?x8xf16>, tensor<?x8xf16>) -> tensor<?x8xf16> attributes {gist.kernel = #gist.kernel<kind = rows, outputs = 1>}
func.func private @both(tensor<?x8xf16>, tensor<?x2x4xf16>, tensor<?x8xf16>) -> tensor<?x8xf16> attributes {gist.kernel = #gist.kernel<kind = rows, outputs = 1>}

// -----

// The cache is updated where it is; scores of tokens x (past + tokens) grow with
// both: 4 bytes each, rounded up to 64.
//
// CHECK-DAG: #[[TOTAL:.+]] = affine_map<()[s0, s1, s2] -> ((s0 * s1) * 64 + (s0 * s0) * 64)>
// CHECK-LABEL: func.func @cache
// CHECK-SAME:    %[[CACHE:[^ ]+]]: tensor<2x128x8xf16>
// CHECK-SAME:    attributes {gist.arena_size = #[[TOTAL]]}
// CHECK:         gist.dispatch @update(%{{.+}} outs(%[[CACHE]] : tensor<2x128x8xf16>)
// CHECK:         %[[S:.+]] = gist.arena(%{{.+}}, %{{.+}}) at
// CHECK:         gist.dispatch @scores(%{{.+}} outs(%[[S]] : tensor<?x?xf32>)
func.func @cache(%x: tensor<?x8xf32>, %past: index, %cache: tensor<2x128x8xf16>)
    -> (tensor<?x8xf32>, tensor<2x128x8xf16>) {
  %c0 = arith.constant 0 : index
  %t = tensor.dim %x, %c0 : tensor<?x8xf32>
  %s = arith.addi %past, %t : index
  %new = gist.dispatch @update(%x, %past : tensor<?x8xf32>, index) outs(%cache : tensor<2x128x8xf16>)
  %e = tensor.empty(%t, %s) : tensor<?x?xf32>
  %scores = gist.dispatch @scores(%x, %new : tensor<?x8xf32>, tensor<2x128x8xf16>) outs(%e : tensor<?x?xf32>)
  %r = tensor.empty(%t) : tensor<?x8xf32>
  %out = gist.dispatch @sum(%scores : tensor<?x?xf32>) outs(%r : tensor<?x8xf32>)
  return %out, %new : tensor<?x8xf32>, tensor<2x128x8xf16>
}
func.func private @update(tensor<?x8xf32>, index, tensor<2x128x8xf16>) -> tensor<2x128x8xf16> attributes {gist.kernel = #gist.kernel<kind = rows, outputs = 1>}
func.func private @scores(tensor<?x8xf32>, tensor<2x128x8xf16>, tensor<?x?xf32>) -> tensor<?x?xf32> attributes {gist.kernel = #gist.kernel<kind = rows, outputs = 1>}
func.func private @sum(tensor<?x?xf32>, tensor<?x8xf32>) -> tensor<?x8xf32> attributes {gist.kernel = #gist.kernel<kind = rows, outputs = 1>}

// -----

// What a call has written is updated where it is by the next one and the one after
// it, so it has one place, and nothing else may have that place until then. Words
// of 32 i32 are 128 bytes.
//
// CHECK-DAG: #[[WORDS:.+]] = affine_map<()[s0, s1, s2] -> (0)>
// CHECK-DAG: #[[OTHER:.+]] = affine_map<()[s0, s1, s2] -> (128)>
// CHECK-DAG: #[[TOTAL:.+]] = affine_map<()[s0, s1, s2] -> (256)>
// CHECK-LABEL: func.func @updates
// CHECK-SAME:    attributes {gist.arena_size = #[[TOTAL]]}
// CHECK:         %[[W:.+]] = gist.arena() at #[[WORDS]]
// CHECK:         %[[A:.+]] = gist.dispatch @clear() outs(%[[W]] : tensor<32xi32>)
// CHECK:         %[[O:.+]] = gist.arena() at #[[OTHER]]
// CHECK:         %[[B:.+]]:2 = gist.dispatch @count(%{{.+}} outs(%[[O]], %[[A]] :
// CHECK:         %{{.+}}:2 = gist.dispatch @count(%[[B]]#0 : tensor<32xi32>) outs(%{{.+}}, %[[B]]#1 :
func.func @updates(%x: tensor<32xi32>) -> tensor<32xi32> {
  %e = tensor.empty() : tensor<32xi32>
  %a = gist.dispatch @clear() outs(%e : tensor<32xi32>)
  %b:2 = gist.dispatch @count(%x : tensor<32xi32>) outs(%e, %a : tensor<32xi32>, tensor<32xi32>)
  %c:2 = gist.dispatch @count(%b#0 : tensor<32xi32>) outs(%e, %b#1 : tensor<32xi32>, tensor<32xi32>)
  return %c#0 : tensor<32xi32>
}
func.func private @clear(tensor<32xi32>) -> tensor<32xi32> attributes {gist.kernel = #gist.kernel<kind = rows, outputs = 1>}
func.func private @count(tensor<32xi32>, tensor<32xi32>, tensor<32xi32>) -> (tensor<32xi32>, tensor<32xi32>) attributes {gist.kernel = #gist.kernel<kind = rows, outputs = 2>}

// -----

// Two calls update what one call without inputs gives: it is called for each, and
// writes to places of their own.
//
// CHECK-DAG: #[[FIRST:.+]] = affine_map<()[s0, s1, s2] -> (0)>
// CHECK-DAG: #[[SECOND:.+]] = affine_map<()[s0, s1, s2] -> (128)>
// CHECK-LABEL: func.func @repeated
// CHECK:         %[[V:.+]] = gist.arena() at #[[FIRST]]
// CHECK:         %[[A:.+]] = gist.dispatch @clear() outs(%[[V]] :
// CHECK:         %[[W:.+]] = gist.arena() at #[[SECOND]]
// CHECK:         %[[B:.+]] = gist.dispatch @clear() outs(%[[W]] :
// CHECK:         gist.dispatch @count(%{{.+}} outs(%{{.+}}, %[[A]] :
// CHECK:         gist.dispatch @count(%{{.+}} outs(%{{.+}}, %[[B]] :
func.func @repeated(%x: tensor<32xi32>) -> tensor<32xi32> {
  %e = tensor.empty() : tensor<32xi32>
  %a = gist.dispatch @clear() outs(%e : tensor<32xi32>)
  %b:2 = gist.dispatch @count(%x : tensor<32xi32>) outs(%e, %a : tensor<32xi32>, tensor<32xi32>)
  %c:2 = gist.dispatch @count(%b#0 : tensor<32xi32>) outs(%e, %a : tensor<32xi32>, tensor<32xi32>)
  return %c#0 : tensor<32xi32>
}
func.func private @clear(tensor<32xi32>) -> tensor<32xi32> attributes {gist.kernel = #gist.kernel<kind = rows, outputs = 1>}
func.func private @count(tensor<32xi32>, tensor<32xi32>, tensor<32xi32>) -> (tensor<32xi32>, tensor<32xi32>) attributes {gist.kernel = #gist.kernel<kind = rows, outputs = 2>}
