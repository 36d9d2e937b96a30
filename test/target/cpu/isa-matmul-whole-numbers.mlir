// RUN: gist-opt %s -gist-tile="triple=aarch64-linux-gnu cpu=neoverse-v1" -gist-cpu \
// RUN:   -gist-write-cpu-code=assembly -o /dev/null | FileCheck %s

// Blocks of 4 bits: nibbles are bytes, and nothing turns them into floats. For two
// rows of the weight at once, six instructions each multiply a block with the
// three parts of 32 whole numbers.
// CHECK-LABEL: matmul:
// CHECK:         ushr v{{[0-9]+}}.16b
// CHECK-NOT:     {{tbl|ushll|ucvtf|Spill}}
// CHECK-COUNT-12: sdot
// CHECK-NOT:     {{sdot|tbl|ushll|ucvtf}}
// CHECK:         .size matmul
#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (n, k)>
#y = affine_map<(m, n, k) -> (m, n)>
func.func private @matmul(%x: tensor<1x576xf32>, %blocks: tensor<192x18x20xi8>, %out: tensor<1x192xf32>) -> tensor<1x192xf32>
    attributes {gist.kernel = #gist.kernel<kind = matmul, outputs = 1>} {
  %zero = arith.constant 0.0 : f32
  %w = gist.dequantize %blocks format q4_1 : tensor<192x18x20xi8>
  %z = linalg.fill ins(%zero : f32) outs(%out : tensor<1x192xf32>) -> tensor<1x192xf32>
  %y = linalg.matmul indexing_maps = [#x, #w, #y]
      ins(%x, %w : tensor<1x576xf32>, tensor<192x576xf32>) outs(%z : tensor<1x192xf32>) -> tensor<1x192xf32>
  return %y : tensor<1x192xf32>
}
