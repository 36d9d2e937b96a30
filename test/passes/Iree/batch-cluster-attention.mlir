// RUN: gist-opt %s -gist-batch-attention -split-input-file | FileCheck %s

// One head keeps everything, the other a window of 16 tokens and 4 sinks. Blocks
// are of 8 tokens.
gist.head_table @plan.heads context 64 block 8 {
  gist.plan_layer {
    gist.plan_head dense
    gist.plan_head window 16 sinks 4
  }
}

// CHECK-LABEL: func @clusters
// CHECK-SAME:    %[[Q:[a-z0-9]+]]: tensor<?x6x4xf32>, %[[PAST:[a-z0-9]+]]: index
// The end of what queries see, and the start of the block.
// CHECK:         %[[T:.+]] = tensor.dim %[[Q]]
// CHECK:         %[[END:.+]] = arith.addi %[[PAST]], %[[T]]
// CHECK:         %[[REST:.+]] = arith.remui %[[PAST]], %c8
// CHECK:         %[[STARTED:.+]] = arith.subi %[[PAST]], %[[REST]]
// Of the second head, 4 sinks at most, and no more than tokens that left.
// CHECK:         %[[AWAY:.+]] = arith.subi %[[STARTED]], %c16
// CHECK:         %[[LEFT:.+]] = arith.maxsi %[[AWAY]], %c0
// CHECK:         %[[CLUSTERS:.+]] = arith.minsi %[[LEFT]], %c4
// CHECK:         %[[EXACT:.+]] = arith.subi %[[END]], %[[LEFT]]
// CHECK:         %[[SEEN:.+]] = arith.addi %[[CLUSTERS]], %[[EXACT]]
// CHECK:         %[[MOST:.+]] = arith.maxsi %{{.*}}, %[[SEEN]]
// Keys are gathered into as many places.
// CHECK:         tensor.empty(%[[MOST]]) : tensor<2x?x4xf32>
// CHECK:         tensor.extract
// CHECK:         linalg.batch_matmul
// A cluster of n tokens counts as n.
// CHECK:         math.log
// CHECK:         arith.cmpi sle
// CHECK:         linalg.batch_matmul
// CHECK-NOT:     gist.cluster_attention
func.func @clusters(%q: tensor<?x6x4xf32>, %past: index, %k: tensor<40x4xf32>,
                    %v: tensor<40x4xf32>, %w: tensor<10xf32>, %c: tensor<1x2xi32>)
    -> tensor<?x6x4xf32> {
  %layer = arith.constant 0 : index
  %heads = gist.weight "plan.heads" : tensor<1x2x8xf32>
  %o = gist.cluster_attention %q, %heads, %past, %layer on(%k, %v, %w, %c) block 8
      : tensor<?x6x4xf32>, tensor<1x2x8xf32>, tensor<40x4xf32>, tensor<40x4xf32>, tensor<10xf32>, tensor<1x2xi32>
  return %o : tensor<?x6x4xf32>
}

// -----

// Without the plan there is room for all tokens.
// CHECK-LABEL: func @no_plan
// CHECK-SAME:    %[[Q:[a-z0-9]+]]: tensor<?x6x4xf32>, %{{[a-z0-9]+}}: tensor<1x2x8xf32>, %[[PAST:[a-z0-9]+]]: index
// CHECK:         %[[T:.+]] = tensor.dim %[[Q]]
// CHECK:         %[[END:.+]] = arith.addi %[[PAST]], %[[T]]
// CHECK:         tensor.empty(%[[END]]) : tensor<2x?x4xf32>
func.func @no_plan(%q: tensor<?x6x4xf32>, %heads: tensor<1x2x8xf32>, %past: index,
                   %k: tensor<40x4xf32>, %v: tensor<40x4xf32>, %w: tensor<10xf32>,
                   %c: tensor<1x2xi32>) -> tensor<?x6x4xf32> {
  %layer = arith.constant 0 : index
  %o = gist.cluster_attention %q, %heads, %past, %layer on(%k, %v, %w, %c) block 8
      : tensor<?x6x4xf32>, tensor<1x2x8xf32>, tensor<40x4xf32>, tensor<40x4xf32>, tensor<10xf32>, tensor<1x2xi32>
  return %o : tensor<?x6x4xf32>
}

// -----

// Rows that are not in the cache yet are left to -gist-decompose.
// CHECK-LABEL: func @own
// CHECK:         gist.cluster_attention
func.func @own(%q: tensor<?x6x4xf32>, %heads: tensor<1x2x8xf32>, %past: index,
               %k: tensor<40x4xf32>, %v: tensor<40x4xf32>, %w: tensor<10xf32>,
               %c: tensor<1x2xi32>, %k1: tensor<?x2x4xf32>, %v1: tensor<?x2x4xf32>)
    -> tensor<?x6x4xf32> {
  %layer = arith.constant 0 : index
  %o = gist.cluster_attention %q, %heads, %past, %layer on(%k, %v, %w, %c)
      own(%k1, %v1 : tensor<?x2x4xf32>, tensor<?x2x4xf32>) block 8
      : tensor<?x6x4xf32>, tensor<1x2x8xf32>, tensor<40x4xf32>, tensor<40x4xf32>, tensor<10xf32>, tensor<1x2xi32>
  return %o : tensor<?x6x4xf32>
}
