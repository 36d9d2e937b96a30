// RUN: gist-opt %s -split-input-file -gist-kernels | FileCheck %s

// Selections leave kernels as their parts. What memory a kernel works in is known
// when the target is (Tile/add-scratch.mlir).

// CHECK-LABEL: func.func @cascade
// CHECK-NOT:     @clear
// CHECK:         %[[S:.*]]:4 = gist.dispatch @gram_select_0(%{{.*}} : tensor<?x64xf16>) outs(
// CHECK:         %[[U:.*]]:6 = gist.dispatch @cascade_update_0(%{{.*}}, %[[S]]#0, %[[S]]#1, %[[S]]#2, %[[S]]#3 :
// CHECK-NOT:     gist.
// CHECK:         return %[[U]]#0, %[[U]]#1, %[[U]]#4, %[[U]]#5
// CHECK:       func.func private @gram_select_0(%{{.*}}: tensor<?x64xf16>,
// CHECK-SAME:    gist.kernel = #gist.kernel<kind = select, outputs = 4>
// CHECK:       func.func private @cascade_update_0
// CHECK-SAME:    gist.kernel = #gist.kernel<kind = select, outputs = 6>
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
