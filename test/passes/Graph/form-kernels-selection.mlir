// RUN: gist-opt %s -split-input-file -gist-kernels | FileCheck %s

// Selections leave kernels as their parts. Both kernels work with the same words
// of control, which they find and leave zero, and with scratch of their own.

// CHECK-LABEL: func.func @cascade
// CHECK:         %[[T:.*]] = tensor.dim %{{.*}}, %{{.*}} : tensor<?x64xf16>
// CHECK:         %[[ZERO:.*]] = gist.dispatch @clear_0() outs(%{{.*}} : tensor<320xi32>)
// CHECK:         %[[PADDED:.*]] = arith.addi %[[T]], %c68
// CHECK:         %[[OWN:.*]] = arith.muli %[[PADDED]], %c143
// CHECK:         %[[WORDS:.*]] = arith.addi %[[OWN]], %c8388608
// CHECK:         %[[SCRATCH:.*]] = tensor.empty(%[[WORDS]]) : tensor<?xi32>
// CHECK:         %[[S:.*]]:5 = gist.dispatch @gram_select_0(%{{.*}}, %[[ZERO]]
// CHECK-SAME:      outs({{.*}}, %[[SCRATCH]] :
// CHECK-NOT:     @clear_0
// CHECK:         %[[U:.*]]:7 = gist.dispatch @cascade_update_0(%{{.*}}, %[[S]]#0, %[[S]]#1, %[[S]]#2, %[[S]]#3, %[[ZERO]]
// CHECK-NOT:     gist.
// CHECK:         return %[[U]]#0, %[[U]]#1, %[[U]]#4, %[[U]]#5
// CHECK:       func.func private @gram_select_0(%{{.*}}: tensor<?x64xf16>, %{{.*}}: tensor<320xi32> {gist.control}
// CHECK:       func.func private @cascade_update_0
// CHECK:         gist.pack_selection
// CHECK:         gist.cascade_update
func.func @cascade(%x: tensor<?x64xf16>, %y: tensor<?x64xf16>)
    -> (tensor<?xi32>, tensor<i32>, tensor<i32>, tensor<i32>) {
  %s = gist.gram_select %x, 3.0e-1 causal : tensor<?x64xf16>
  %t, %r, %a = gist.cascade_update %y, %s, 3.0e-1 causal
      : tensor<?x64xf16>, !gist.selection<?>
  %i, %c, %n, %w = gist.unpack_selection %t : !gist.selection<?>
  return %i, %c, %r, %a : tensor<?xi32>, tensor<i32>, tensor<i32>, tensor<i32>
}

// -----

// One selection per head has control and scratch for each; the sums of shared
// tiles are for all of them.

// CHECK-LABEL: func.func @heads
// CHECK:         gist.dispatch @clear_0() outs(%{{.*}} : tensor<960xi32>)
// CHECK:         tensor.empty() : tensor<8460680xi32>
// CHECK:         gist.dispatch @gram_select_0
func.func @heads(%x: tensor<100x3x64xf16>) -> tensor<3x100xi32> {
  %s = gist.gram_select %x, 3.0e-1 against all : tensor<100x3x64xf16>
  %i, %c, %n, %w = gist.unpack_selection %s : !gist.selection<3x100>
  return %n : tensor<3x100xi32>
}

// -----

// Nothing is selected: no selection kernel.

// CHECK-LABEL: func.func @inherit
// CHECK-NOT:     @clear
// CHECK-NOT:     @cascade_update
// CHECK:         return
func.func @inherit(%x: tensor<100x64xf16>) -> tensor<100xi32> {
  %s = gist.keep_all : !gist.selection<100>
  %t, %r, %a = gist.cascade_update %x, %s, 3.0e-1 rule inherit
      : tensor<100x64xf16>, !gist.selection<100>
  %i, %c, %n, %w = gist.unpack_selection %t : !gist.selection<100>
  return %i : tensor<100xi32>
}
