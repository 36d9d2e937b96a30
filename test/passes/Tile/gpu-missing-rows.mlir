// Rows of a tile past the end of the product are filled with zeros by copies
// that read nothing: otherwise all workgroups would read the last row.
// RUN: gist-opt %s -gist-gpu-tile=target=sm_90 | FileCheck %s

// CHECK-LABEL: func.func private @some(
// CHECK-SAME: %[[X:[a-z0-9]+]]: memref<?x256xf16>, %[[W:[a-z0-9]+]]: memref<512x256xf16>
// CHECK: %[[ROWS:.*]] = memref.dim %{{.*}}, %c0
// CHECK: %[[IS:.*]] = arith.cmpi slt, %{{.*}}, %[[ROWS]] : index
// CHECK: %[[SIZE:.*]] = arith.select %[[IS]], %{{.*}}, %c0 : index
// CHECK: nvgpu.device_async_copy %[[X]][{{.*}}], 8, %[[SIZE]]
func.func private @some(%x: tensor<?x256xf16>, %w: tensor<512x256xf16>, %out: tensor<?x512xf32>)
    -> tensor<?x512xf32> attributes {gist.kernel = #gist.kernel<kind = matmul, outputs = 1>} {
  %zero = arith.constant 0.0 : f32
  %start = linalg.fill ins(%zero : f32) outs(%out : tensor<?x512xf32>) -> tensor<?x512xf32>
  %y = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>,
      affine_map<(m, n, k) -> (m, n)>] ins(%x, %w : tensor<?x256xf16>, tensor<512x256xf16>)
      outs(%start : tensor<?x512xf32>) -> tensor<?x512xf32>
  return %y : tensor<?x512xf32>
}
