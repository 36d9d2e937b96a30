// RUN: gist-opt %s -gist-tile="triple=aarch64-linux-gnu cpu=neoverse-v1" | FileCheck %s

// Scratch does not grow with the reduction: of 35 blocks in a row, one at a time
// becomes 256 floats for each of 64 columns.
// CHECK-LABEL: func private @deep
// CHECK:         memref.alloca() {alignment = 64 : i64} : memref<65536xi8>
// CHECK-NOT:     memref.alloca
// CHECK:         scf.for %{{.+}} = %{{.+}} to %c35
// CHECK:           vector.fma
// CHECK:         return
#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (n, k)>
#y = affine_map<(m, n, k) -> (m, n)>
func.func private @deep(%x: tensor<1x8960xf32>, %blocks: tensor<1536x35x210xi8>, %out: tensor<1x1536xf32>) -> tensor<1x1536xf32>
    attributes {gist.kernel = #gist.kernel<kind = matmul, outputs = 1>} {
  %zero = arith.constant 0.0 : f32
  %w = gist.dequantize %blocks format q6_k : tensor<1536x35x210xi8>
  %z = linalg.fill ins(%zero : f32) outs(%out : tensor<1x1536xf32>) -> tensor<1x1536xf32>
  %y = linalg.matmul indexing_maps = [#x, #w, #y]
      ins(%x, %w : tensor<1x8960xf32>, tensor<1536x8960xf32>) outs(%z : tensor<1x1536xf32>) -> tensor<1x1536xf32>
  return %y : tensor<1x1536xf32>
}
