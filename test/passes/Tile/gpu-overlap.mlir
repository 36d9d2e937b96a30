// Arguments that are a weight in every call are marked for sm_90, and every
// kernel waits for the kernels before it. gfx942 has neither.

// RUN: gist-opt %s "-gist-gpu-tile=target=sm_90" | FileCheck %s
// RUN: gist-opt %s "-gist-set-target=target=sm_90" -gist-keep-kernels | FileCheck %s --check-prefix=MARKS
// RUN: gist-opt %s "-gist-gpu-tile=target=gfx942" | FileCheck %s --check-prefix=AMD
// AMD-NOT: gist.waits
// AMD-NOT: griddepcontrol
#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (n, k)>
#y = affine_map<(m, n, k) -> (m, n)>

// @product is called with weights only, @mixed once with something else.
// MARKS-LABEL: func.func private @product(
// MARKS-SAME:  %{{[^:]*}}: tensor<1x512xf32>, %{{[^:]*}}: tensor<64x512xf16> {gist.constant}, %{{[^:]*}}: tensor<1x64xf32>)
// MARKS-LABEL: func.func private @mixed(
// MARKS-SAME:  %{{[^:]*}}: tensor<1x512xf32>, %{{[^:]*}}: tensor<64x512xf16>, %{{[^:]*}}: tensor<1x64xf32>)

// CHECK-LABEL: func.func private @product(
// CHECK-SAME:  gist.waits
// CHECK:       nvvm.griddepcontrol launch_dependents
// CHECK-NOT:   nvvm.griddepcontrol
// CHECK:       vector.load %{{.*}} : memref<64x512xf16>, vector<8xf16>
// CHECK:       nvvm.griddepcontrol wait
// CHECK:       vector.load %{{.*}} : memref<1x512xf32>, vector<8xf32>
// CHECK-NOT:   nvvm.griddepcontrol
// CHECK:       return
func.func private @product(%x: tensor<1x512xf32>, %w: tensor<64x512xf16>, %y: tensor<1x64xf32>)
    -> tensor<1x64xf32> attributes {gist.kernel = #gist.kernel<kind = matmul, outputs = 1>} {
  %zero = arith.constant 0.0 : f32
  %z = linalg.fill ins(%zero : f32) outs(%y : tensor<1x64xf32>) -> tensor<1x64xf32>
  %p = linalg.matmul indexing_maps = [#x, #w, #y]
      ins(%x, %w : tensor<1x512xf32>, tensor<64x512xf16>)
      outs(%z : tensor<1x64xf32>) -> tensor<1x64xf32>
  return %p : tensor<1x64xf32>
}

// CHECK-LABEL: func.func private @mixed(
// CHECK-SAME:  gist.waits
// CHECK-NOT:   vector.load
// CHECK:       nvvm.griddepcontrol launch_dependents
// CHECK-NOT:   vector.load
// CHECK:       nvvm.griddepcontrol wait
// CHECK:       vector.load
// CHECK-NOT:   nvvm.griddepcontrol
// CHECK:       return
func.func private @mixed(%x: tensor<1x512xf32>, %w: tensor<64x512xf16>, %y: tensor<1x64xf32>)
    -> tensor<1x64xf32> attributes {gist.kernel = #gist.kernel<kind = matmul, outputs = 1>} {
  %zero = arith.constant 0.0 : f32
  %z = linalg.fill ins(%zero : f32) outs(%y : tensor<1x64xf32>) -> tensor<1x64xf32>
  %p = linalg.matmul indexing_maps = [#x, #w, #y]
      ins(%x, %w : tensor<1x512xf32>, tensor<64x512xf16>)
      outs(%z : tensor<1x64xf32>) -> tensor<1x64xf32>
  %r = linalg.exp ins(%p : tensor<1x64xf32>) outs(%y : tensor<1x64xf32>) -> tensor<1x64xf32>
  return %r : tensor<1x64xf32>
}

// What is added to a sum is read before lanes add theirs up: all trips to memory
// are in flight at once.
// CHECK-LABEL: func.func private @added(
// CHECK-SAME:  %[[RESIDUAL:[a-z0-9]+]]: memref<1x64xf32>, %[[Y:[a-z0-9]+]]: memref<1x64xf32>)
// CHECK-NOT:   memref.load %[[RESIDUAL]]
// CHECK:       nvvm.griddepcontrol wait
// CHECK-NOT:   gpu.shuffle
// CHECK:       memref.load %[[RESIDUAL]]
// CHECK:       gpu.shuffle
// CHECK-NOT:   memref.load %[[RESIDUAL]]
// CHECK:       memref.store %{{.*}}, %[[Y]]
func.func private @added(%x: tensor<1x512xf32>, %w: tensor<64x512xf16>, %r: tensor<1x64xf32>, %y: tensor<1x64xf32>)
    -> tensor<1x64xf32> attributes {gist.kernel = #gist.kernel<kind = matmul, outputs = 1>} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x64xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<1x64xf32>) -> tensor<1x64xf32>
  %p = linalg.matmul indexing_maps = [#x, #w, #y]
      ins(%x, %w : tensor<1x512xf32>, tensor<64x512xf16>)
      outs(%z : tensor<1x64xf32>) -> tensor<1x64xf32>
  %s = linalg.add ins(%r, %p : tensor<1x64xf32>, tensor<1x64xf32>) outs(%y : tensor<1x64xf32>) -> tensor<1x64xf32>
  return %s : tensor<1x64xf32>
}

// A kernel of another kind waits before it does anything.
// CHECK-LABEL: func.func private @rows(
// CHECK-SAME:  gist.waits
// CHECK:       nvvm.griddepcontrol launch_dependents
// CHECK-NEXT:  nvvm.griddepcontrol wait
// CHECK-NOT:   nvvm.griddepcontrol
// CHECK:       return
func.func private @rows(%x: tensor<1x64xf32>, %y: tensor<1x64xf32>) -> tensor<1x64xf32>
    attributes {gist.kernel = #gist.kernel<kind = rows, outputs = 1>} {
  %r = linalg.exp ins(%x : tensor<1x64xf32>) outs(%y : tensor<1x64xf32>) -> tensor<1x64xf32>
  return %r : tensor<1x64xf32>
}

// Rows are as many as tokens: the launch waits for it.
// CHECK-LABEL: func.func private @many(
// CHECK-NOT:   gist.waits
// CHECK-NOT:   nvvm.griddepcontrol
// CHECK:       return
func.func private @many(%x: tensor<?x64xf32>, %y: tensor<?x64xf32>) -> tensor<?x64xf32>
    attributes {gist.kernel = #gist.kernel<kind = rows, outputs = 1>} {
  %r = linalg.exp ins(%x : tensor<?x64xf32>) outs(%y : tensor<?x64xf32>) -> tensor<?x64xf32>
  return %r : tensor<?x64xf32>
}

func.func @host(%x: tensor<1x512xf32> {gist.name = "x"}, %v: tensor<64x512xf16> {gist.name = "v"})
    -> (tensor<1x64xf32> {gist.name = "a"}, tensor<1x64xf32> {gist.name = "b"}, tensor<1x64xf32> {gist.name = "c"}) {
  %w = gist.weight "w" : tensor<64x512xf16>
  %e = tensor.empty() : tensor<1x64xf32>
  %a = gist.dispatch @product(%x, %w : tensor<1x512xf32>, tensor<64x512xf16>) outs(%e : tensor<1x64xf32>)
  %b = gist.dispatch @mixed(%x, %w : tensor<1x512xf32>, tensor<64x512xf16>) outs(%e : tensor<1x64xf32>)
  %c = gist.dispatch @mixed(%x, %v : tensor<1x512xf32>, tensor<64x512xf16>) outs(%e : tensor<1x64xf32>)
  %s = gist.dispatch @added(%x, %w, %a : tensor<1x512xf32>, tensor<64x512xf16>, tensor<1x64xf32>) outs(%e : tensor<1x64xf32>)
  %d = gist.dispatch @rows(%c : tensor<1x64xf32>) outs(%e : tensor<1x64xf32>)
  return %s, %b, %d : tensor<1x64xf32>, tensor<1x64xf32>, tensor<1x64xf32>
}
