// RUN: gist-opt %s -gist-tile="triple=aarch64-linux-gnu cpu=neoverse-v1" -gist-cpu \
// RUN:   -gist-write-cpu-code=assembly -o /dev/null | FileCheck %s

// Four rows and eight columns of blocks of 4 bits: 96 instructions multiply 3 * 4
// * 8 * 32 bytes, and eight vectors of integers become floats.
// CHECK-LABEL: matmul:
// CHECK-COUNT-96: smmla
// CHECK-NOT:     smmla
// CHECK-COUNT-8: scvtf
// CHECK-NOT:     {{smmla|scvtf}}
// CHECK:         .size matmul
#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (n, k)>
#y = affine_map<(m, n, k) -> (m, n)>
func.func private @matmul(%x: tensor<?x576xf32>, %blocks: tensor<192x18x20xi8>, %out: tensor<?x192xf32>) -> tensor<?x192xf32>
    attributes {gist.kernel = #gist.kernel<kind = matmul, outputs = 1>} {
  %zero = arith.constant 0.0 : f32
  %w = gist.dequantize %blocks format q4_1 : tensor<192x18x20xi8>
  %z = linalg.fill ins(%zero : f32) outs(%out : tensor<?x192xf32>) -> tensor<?x192xf32>
  %y = linalg.matmul indexing_maps = [#x, #w, #y]
      ins(%x, %w : tensor<?x576xf32>, tensor<192x576xf32>) outs(%z : tensor<?x192xf32>) -> tensor<?x192xf32>
  return %y : tensor<?x192xf32>
}
