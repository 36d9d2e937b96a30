// RUN: gist-opt %s -gist-batch-attention -split-input-file | FileCheck %s

// 6 query heads in 2 groups of 3: a batch for each KV head, 3 T rows in it.
// CHECK-LABEL: func @grouped
// CHECK-SAME:    %[[Q:.+]]: tensor<?x6x8xf32>, %[[K:.+]]: tensor<?x2x8xf32>, %[[V:.+]]: tensor<?x2x8xf32>
// CHECK:         %[[KEYS:.+]] = linalg.transpose ins(%[[K]] {{.*}} permutation = [1, 0, 2]
// CHECK:         %[[VALUES:.+]] = linalg.transpose ins(%[[V]] {{.*}} permutation = [1, 0, 2]
// CHECK:         %[[SPLIT:.+]] = tensor.expand_shape %[[Q]] {{.*}} into tensor<?x2x3x8xf32>
// CHECK:         linalg.transpose ins(%[[SPLIT]] {{.*}} permutation = [1, 2, 0, 3]
// CHECK:         %[[ROWS:.+]] = tensor.collapse_shape {{.*}} into tensor<2x?x8xf32>
// CHECK:         linalg.batch_matmul indexing_maps {{.*}} ins(%[[ROWS]], %[[KEYS]]
// CHECK:         tensor.expand_shape {{.*}} into tensor<2x3x?x?xf32>
// Scaled, and what comes after the query is hidden.
// CHECK:         arith.mulf {{.*}}
// CHECK:         linalg.index 2
// CHECK:         linalg.index 3
// CHECK:         arith.cmpi sle
// CHECK:         arith.maximumf
// CHECK:         math.exp
// CHECK:         arith.divf
// CHECK:         linalg.batch_matmul ins(%{{.*}}, %[[VALUES]]
// CHECK:         linalg.transpose {{.*}} permutation = [2, 0, 1, 3]
// CHECK:         %[[OUT:.+]] = tensor.collapse_shape {{.*}} into tensor<?x6x8xf32>
// CHECK:         return %[[OUT]]
func.func @grouped(%q: tensor<?x6x8xf32>, %k: tensor<?x2x8xf32>,
                   %v: tensor<?x2x8xf32>) -> tensor<?x6x8xf32> {
  %o = gist.attention %q, %k, %v causal
      : tensor<?x6x8xf32>, tensor<?x2x8xf32>, tensor<?x2x8xf32>
  return %o : tensor<?x6x8xf32>
}

// -----

// Products are of f32; the result is rounded once.
// CHECK-LABEL: func @half
// CHECK:         arith.extf
// CHECK:         arith.extf
// CHECK:         arith.extf
// CHECK:         linalg.batch_matmul
// CHECK-NOT:     arith.truncf
// CHECK:         linalg.batch_matmul
// CHECK:         arith.truncf
// CHECK-NOT:     arith.truncf
// CHECK:         return
func.func @half(%q: tensor<4x6x8xf16>, %k: tensor<9x2x8xf16>,
                %v: tensor<9x2x8xf16>) -> tensor<4x6x8xf16> {
  %o = gist.attention %q, %k, %v
      : tensor<4x6x8xf16>, tensor<9x2x8xf16>, tensor<9x2x8xf16>
  return %o : tensor<4x6x8xf16>
}

// -----

// A window, with sinks before it, and a mask that is added.
// CHECK-LABEL: func @window
// CHECK-SAME:    %[[MASK:[a-z0-9]+]]: tensor<4x9xf32>
// CHECK:         linalg.generic {{.*}} ins({{.*}}, %[[MASK]] :
// CHECK:         arith.cmpi sle
// CHECK:         arith.cmpi sgt
// CHECK:         arith.cmpi slt
// CHECK:         arith.ori
func.func @window(%q: tensor<4x6x8xf32>, %k: tensor<9x2x8xf32>,
                  %v: tensor<9x2x8xf32>, %m: tensor<4x9xf32>)
    -> tensor<4x6x8xf32> {
  %o = gist.attention %q, %k, %v mask(%m : tensor<4x9xf32>) causal window 3 sinks 1
      : tensor<4x6x8xf32>, tensor<9x2x8xf32>, tensor<9x2x8xf32>
  return %o : tensor<4x6x8xf32>
}

// -----

// A ragged batch is left to -gist-decompose.
// CHECK-LABEL: func @ragged
// CHECK:         gist.attention
func.func @ragged(%q: tensor<?x6x8xf32>, %k: tensor<?x2x8xf32>,
                  %v: tensor<?x2x8xf32>, %o: tensor<3xi32>) -> tensor<?x6x8xf32> {
  %r = gist.attention %q, %k, %v causal offsets(%o, %o : tensor<3xi32>, tensor<3xi32>)
      : tensor<?x6x8xf32>, tensor<?x2x8xf32>, tensor<?x2x8xf32>
  return %r : tensor<?x6x8xf32>
}

// -----

// So are heads whose number is not known.
// CHECK-LABEL: func @heads
// CHECK:         gist.attention
func.func @heads(%q: tensor<?x?x8xf32>, %k: tensor<?x?x8xf32>,
                 %v: tensor<?x?x8xf32>) -> tensor<?x?x8xf32> {
  %r = gist.attention %q, %k, %v
      : tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>
  return %r : tensor<?x?x8xf32>
}
