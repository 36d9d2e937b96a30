// RUN: gist-opt %s -allow-unregistered-dialect -gist-export-to-iree -split-input-file | FileCheck %s
// RUN: gist-opt %s -allow-unregistered-dialect -gist-export-to-iree -gist-decompose -split-input-file | FileCheck %s --check-prefix=DONE

// The cache is updated in place: results are the operands 5 to 9, after the
// inputs. T is passed behind all of them, once for keys and once for values.
// CHECK-LABEL: func @update
// CHECK-SAME:    %[[KEY:[a-z0-9]+]]: tensor<?x2x4xf32>, %[[VALUE:[a-z0-9]+]]: tensor<?x2x4xf32>, %[[HEADS:[a-z0-9]+]]: tensor<3x2x8xf32>, %[[NUMBER:[a-z0-9]+]]: i64
// CHECK:         %[[PAST:.+]] = arith.index_cast %[[NUMBER]]
// CHECK:         %[[K:.+]] = "util.global.load"() {global = @argument4}
// CHECK:         %[[LAYER:.+]] = arith.constant 1 : index
// CHECK:         %[[T:.+]] = tensor.dim %[[KEY]]
// CHECK:         %[[T2:.+]] = tensor.dim %[[VALUE]]
// CHECK:         %[[NEW:.+]]:5 = "flow.dispatch.workgroups"(%[[KEY]], %[[VALUE]], %[[HEADS]], %[[PAST]], %[[LAYER]], %[[K]], {{.*}}, %[[T]], %[[T2]], %[[T]], %[[T2]])
// CHECK-NEXT:    ^bb0(%[[KEY_IN:[a-z0-9]+]]: !iree_tensor_ext.dispatch.tensor<readonly:tensor<?x2x4xf32>>, {{.*}}: index, %{{.*}}: index, %[[K_IN:[a-z0-9]+]]: !iree_tensor_ext.dispatch.tensor<readwrite:tensor<40x4xf32>>, {{.*}}, %[[SIZE:[a-z0-9]+]]: index, %{{[a-z0-9]+}}: index):
// CHECK:           %[[TIED:.+]] = "flow.dispatch.tie_shape"(%[[KEY_IN]], %[[SIZE]]) :
// CHECK-NEXT:      %[[ROWS:.+]] = "iree_tensor_ext.dispatch.tensor.load"(%[[TIED]], %[[SIZE]], %[[SIZE]]) {operandSegmentSizes = array<i32: 1, 1, 0, 1, 0>
// CHECK:           %[[KEYS:.+]], %{{.+}}, %{{.+}}, %{{.+}}, %{{.+}} = gist.cluster_update %[[ROWS]],
// CHECK:           "iree_tensor_ext.dispatch.tensor.store"(%[[KEYS]], %[[K_IN]]) {operandSegmentSizes = array<i32: 1, 1, 0, 0, 0, 0>
// One workgroup.
// CHECK:           %[[ONE:.+]] = arith.constant 1 : index
// CHECK-NEXT:      "flow.return"(%[[ONE]], %[[ONE]], %[[ONE]])
// CHECK-NEXT:    }) {operandSegmentSizes = array<i32: 0, 12, 2, 0>, tied_operands = [5 : index, 6 : index, 7 : index, 8 : index, 9 : index]}
// CHECK:         "util.global.store"(%[[NEW]]#0) {global = @argument4}
// The loop over heads is inside, and nothing allocates.
// DONE-LABEL:  func @update
// DONE:          "flow.dispatch.workgroups"
// DONE-NOT:      tensor.empty
// DONE:          scf.for
// DONE:          "iree_tensor_ext.dispatch.tensor.store"
// DONE-NOT:    scf.for
// DONE:        return
func.func @update(%key: tensor<?x2x4xf32>, %value: tensor<?x2x4xf32>,
                  %heads: tensor<3x2x8xf32>, %past: index,
                  %k: tensor<40x4xf32>, %v: tensor<40x4xf32>,
                  %u: tensor<10x4xf32>, %w: tensor<10xf32>, %c: tensor<3x2xi32>)
    -> (tensor<40x4xf32>, tensor<40x4xf32>, tensor<10x4xf32>, tensor<10xf32>, tensor<3x2xi32>) {
  %layer = arith.constant 1 : index
  %k2, %v2, %u2, %w2, %c2 = gist.cluster_update %key, %value, %heads, %past, %layer
      into(%k, %v, %u, %w, %c) block 8
      : tensor<?x2x4xf32>, tensor<?x2x4xf32>, tensor<3x2x8xf32>, tensor<40x4xf32>,
        tensor<40x4xf32>, tensor<10x4xf32>, tensor<10xf32>, tensor<3x2xi32>
  return %k2, %v2, %u2, %w2, %c2 : tensor<40x4xf32>, tensor<40x4xf32>, tensor<10x4xf32>, tensor<10xf32>, tensor<3x2xi32>
}

// -----

// What does not visit tokens in order stays where it is.
// CHECK-LABEL: func @attention
// CHECK-NOT:     flow.dispatch
// CHECK:         gist.attention
func.func @attention(%q: tensor<4x6x8xf32>, %k: tensor<9x2x8xf32>,
                     %v: tensor<9x2x8xf32>) -> tensor<4x6x8xf32> {
  %o = gist.attention %q, %k, %v
      : tensor<4x6x8xf32>, tensor<9x2x8xf32>, tensor<9x2x8xf32>
  return %o : tensor<4x6x8xf32>
}
