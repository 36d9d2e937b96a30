// RUN: gist-opt %s -gist-inline-kernels | FileCheck %s

// A kernel with a grid has code; one without is written out where it is called.
// CHECK-LABEL: func @model
// CHECK-SAME:    %[[X:.+]]: tensor<5xf32>, %[[Y:.+]]: tensor<5xf32>
// CHECK:         %[[E:.+]] = tensor.empty
// CHECK:         %[[SUM:.+]] = linalg.add ins(%[[X]], %[[Y]] {{.*}} outs(%[[E]]
// CHECK:         %[[CALL:.+]] = gist.dispatch @embedded(%[[SUM]]
// CHECK:         %[[LAST:.+]] = linalg.add ins(%[[CALL]], %[[X]]
// CHECK:         return %[[LAST]]
func.func @model(%x: tensor<5xf32>, %y: tensor<5xf32>) -> tensor<5xf32> {
  %e = tensor.empty() : tensor<5xf32>
  %0 = gist.dispatch @inlined(%x, %y : tensor<5xf32>, tensor<5xf32>) outs(%e : tensor<5xf32>)
  %1 = gist.dispatch @embedded(%0 : tensor<5xf32>) outs(%e : tensor<5xf32>)
  %2 = gist.dispatch @inlined(%1, %x : tensor<5xf32>, tensor<5xf32>) outs(%e : tensor<5xf32>)
  return %2 : tensor<5xf32>
}

// CHECK-NOT: @inlined
// CHECK:     func private @embedded
// CHECK-NOT: @inlined
func.func private @inlined(%x: tensor<5xf32>, %y: tensor<5xf32>, %d: tensor<5xf32>) -> tensor<5xf32>
    attributes {gist.kernel = #gist.kernel<kind = rows, outputs = 1>} {
  %0 = linalg.add ins(%x, %y : tensor<5xf32>, tensor<5xf32>) outs(%d : tensor<5xf32>) -> tensor<5xf32>
  return %0 : tensor<5xf32>
}
func.func private @embedded(%x: tensor<5xf32>, %d: tensor<5xf32>) -> tensor<5xf32>
    attributes {gist.kernel = #gist.kernel<kind = rows, outputs = 1>,
                gist.grid = [affine_map<() -> (1)>]} {
  %0 = linalg.exp ins(%x : tensor<5xf32>) outs(%d : tensor<5xf32>) -> tensor<5xf32>
  return %0 : tensor<5xf32>
}
