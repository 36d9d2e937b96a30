// Products of one row on sm_90 begin while the kernel before them still runs:
// weights are read first, and everything else after the wait.

// RUN: gist-opt %s -gist-gpu-tile=target=sm_90 -gist-gpu=target=sm_90 "-gist-write-gpu-code=output=%t.ptx" -o /dev/null
// RUN: FileCheck %s --input-file=%t.ptx
#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (n, k)>
#y = affine_map<(m, n, k) -> (m, n)>

// A lane has 3 pieces of a row of W, 32 lanes of 8 numbers for 576. All are in
// flight before x is available, so there is no loop.
// CHECK-LABEL: .entry weight(
// CHECK:       griddepcontrol.launch_dependents;
// CHECK-NOT:   ld.global
// CHECK-COUNT-3: ld.global.v4.b32
// CHECK-NOT:   ld.global
// CHECK-NOT:   griddepcontrol.launch_dependents;
// CHECK:       griddepcontrol.wait;
// CHECK-COUNT-6: ld.global.v4.b32
// CHECK-NOT:   griddepcontrol
// CHECK-NOT:   bra
// CHECK:       @%p{{[0-9]+}} bra [[END:\$L__BB0_[0-9]+]];
// CHECK:       st.global
// CHECK:       [[END]]:
// CHECK-NEXT:  ret;
func.func private @weight(%x: tensor<1x576xf32>, %w: tensor<960x576xf16> {gist.constant}, %y: tensor<1x960xf32>)
    -> tensor<1x960xf32> attributes {gist.kernel = #gist.kernel<kind = matmul, outputs = 1>} {
  %zero = arith.constant 0.0 : f32
  %z = linalg.fill ins(%zero : f32) outs(%y : tensor<1x960xf32>) -> tensor<1x960xf32>
  %p = linalg.matmul indexing_maps = [#x, #w, #y]
      ins(%x, %w : tensor<1x576xf32>, tensor<960x576xf16>)
      outs(%z : tensor<1x960xf32>) -> tensor<1x960xf32>
  return %p : tensor<1x960xf32>
}

// With more of k there is a loop of two pieces of x and of two rows of W, and later kernels start when it is over: on
// the first compute units that are done, many of their workgroups would meet.
// CHECK-LABEL: .entry long(
// CHECK-NOT:   ld.global
// CHECK:       griddepcontrol.wait;
// CHECK:       [[LOOP:\$L__BB1_[0-9]+]]:
// CHECK-COUNT-6: ld.global.v4.b32
// CHECK-NOT:   ld.global
// CHECK:       bra [[LOOP]];
// CHECK:       griddepcontrol.launch_dependents;
// CHECK-NOT:   griddepcontrol
// CHECK:       st.global
func.func private @long(%x: tensor<1x4096xf16>, %w: tensor<16384x4096xf16> {gist.constant}, %y: tensor<1x16384xf32>)
    -> tensor<1x16384xf32> attributes {gist.kernel = #gist.kernel<kind = matmul, outputs = 1>} {
  %zero = arith.constant 0.0 : f32
  %z = linalg.fill ins(%zero : f32) outs(%y : tensor<1x16384xf32>) -> tensor<1x16384xf32>
  %p = linalg.matmul indexing_maps = [#x, #w, #y]
      ins(%x, %w : tensor<1x4096xf16>, tensor<16384x4096xf16>)
      outs(%z : tensor<1x16384xf32>) -> tensor<1x16384xf32>
  return %p : tensor<1x16384xf32>
}

// What another kernel may have written is read after the wait.
// CHECK-LABEL: .entry computed(
// CHECK:       griddepcontrol.launch_dependents;
// CHECK-NOT:   ld.global
// CHECK:       griddepcontrol.wait;
// CHECK:       ld.global
// CHECK-NOT:   griddepcontrol
// CHECK:       st.global
func.func private @computed(%x: tensor<1x576xf32>, %w: tensor<960x576xf16>, %y: tensor<1x960xf32>)
    -> tensor<1x960xf32> attributes {gist.kernel = #gist.kernel<kind = matmul, outputs = 1>} {
  %zero = arith.constant 0.0 : f32
  %z = linalg.fill ins(%zero : f32) outs(%y : tensor<1x960xf32>) -> tensor<1x960xf32>
  %p = linalg.matmul indexing_maps = [#x, #w, #y]
      ins(%x, %w : tensor<1x576xf32>, tensor<960x576xf16>)
      outs(%z : tensor<1x960xf32>) -> tensor<1x960xf32>
  return %p : tensor<1x960xf32>
}
