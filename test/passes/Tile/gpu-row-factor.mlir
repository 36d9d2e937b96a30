// An RMS norm before a product of one row: what the row is multiplied with comes
// last, so that the products do not wait for the sum of squares. A norm with a
// mean takes the sum first.

// RUN: gist-opt %s -split-input-file "-gist-gpu-tile=target=sm_90" | FileCheck %s
#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (n, k)>
#y = affine_map<(m, n, k) -> (m, n)>
#row = affine_map<(m, k) -> (m, k)>
#number = affine_map<(m, k) -> (m)>
#gain = affine_map<(m, k) -> (k)>

// CHECK-LABEL: func.func private @rms(
// CHECK-NOT:   math.rsqrt
// CHECK:       math.fma
// CHECK:       math.rsqrt
// CHECK-NOT:   math.fma
// CHECK:       memref.store
func.func private @rms(%x: tensor<1x576xf32>, %g: tensor<576xf32>, %w: tensor<960x576xf16>, %y: tensor<1x960xf32>)
    -> tensor<1x960xf32> attributes {gist.kernel = #gist.kernel<kind = matmul, outputs = 1>} {
  %zero = arith.constant 0.0 : f32
  %er = tensor.empty() : tensor<1xf32>
  %zr = linalg.fill ins(%zero : f32) outs(%er : tensor<1xf32>) -> tensor<1xf32>
  %s = linalg.generic {indexing_maps = [#row, #number], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<1x576xf32>) outs(%zr : tensor<1xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.mulf %a, %a : f32
    %1 = arith.addf %0, %o : f32
    linalg.yield %1 : f32
  } -> tensor<1xf32>
  %ex = tensor.empty() : tensor<1x576xf32>
  %h = linalg.generic {indexing_maps = [#row, #number, #gain, #row], iterator_types = ["parallel", "parallel"]}
      ins(%x, %s, %g : tensor<1x576xf32>, tensor<1xf32>, tensor<576xf32>) outs(%ex : tensor<1x576xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32, %o: f32):
    %0 = math.rsqrt %b : f32
    %1 = arith.mulf %a, %0 : f32
    %2 = arith.mulf %1, %c : f32
    linalg.yield %2 : f32
  } -> tensor<1x576xf32>
  %z = linalg.fill ins(%zero : f32) outs(%y : tensor<1x960xf32>) -> tensor<1x960xf32>
  %p = linalg.matmul indexing_maps = [#x, #w, #y] ins(%h, %w : tensor<1x576xf32>, tensor<960x576xf16>)
      outs(%z : tensor<1x960xf32>) -> tensor<1x960xf32>
  return %p : tensor<1x960xf32>
}

// -----

#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (n, k)>
#y = affine_map<(m, n, k) -> (m, n)>
#row = affine_map<(m, k) -> (m, k)>
#number = affine_map<(m, k) -> (m)>

// CHECK-LABEL: func.func private @mean(
// CHECK-NOT:   math.fma
// CHECK:       gpu.shuffle
// CHECK:       math.fma
func.func private @mean(%x: tensor<1x576xf32>, %w: tensor<960x576xf16>, %y: tensor<1x960xf32>)
    -> tensor<1x960xf32> attributes {gist.kernel = #gist.kernel<kind = matmul, outputs = 1>} {
  %zero = arith.constant 0.0 : f32
  %er = tensor.empty() : tensor<1xf32>
  %zr = linalg.fill ins(%zero : f32) outs(%er : tensor<1xf32>) -> tensor<1xf32>
  %s = linalg.generic {indexing_maps = [#row, #number], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<1x576xf32>) outs(%zr : tensor<1xf32>) {
  ^bb0(%a: f32, %o: f32):
    %1 = arith.addf %a, %o : f32
    linalg.yield %1 : f32
  } -> tensor<1xf32>
  %ex = tensor.empty() : tensor<1x576xf32>
  %h = linalg.generic {indexing_maps = [#row, #number, #row], iterator_types = ["parallel", "parallel"]}
      ins(%x, %s : tensor<1x576xf32>, tensor<1xf32>) outs(%ex : tensor<1x576xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.subf %a, %b : f32
    %1 = arith.mulf %0, %b : f32
    linalg.yield %1 : f32
  } -> tensor<1x576xf32>
  %z = linalg.fill ins(%zero : f32) outs(%y : tensor<1x960xf32>) -> tensor<1x960xf32>
  %p = linalg.matmul indexing_maps = [#x, #w, #y] ins(%h, %w : tensor<1x576xf32>, tensor<960x576xf16>)
      outs(%z : tensor<1x960xf32>) -> tensor<1x960xf32>
  return %p : tensor<1x960xf32>
}
