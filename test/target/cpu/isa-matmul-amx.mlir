// RUN: gist-opt %s -gist-tile="triple=x86_64-linux-gnu cpu=sapphirerapids" -gist-cpu \
// RUN:   -gist-write-cpu-code=assembly -o /dev/null | FileCheck %s

// Sums and operands are in the eight registers of tiles: none is spilled between
// the first and the last of 2 steps with 12 products.
// CHECK-LABEL: matmul:
// CHECK:         ldtilecfg
// CHECK:         tilezero
// CHECK:         tileloadd
// CHECK:         tdpbf16ps
// CHECK-NOT:     {{tilestored|Spill|Reload}}
// CHECK-COUNT-23: tdpbf16ps
// CHECK-NOT:     tdpbf16ps
// CHECK-COUNT-4: tilestored
// CHECK:         tilerelease
// CHECK:         .size matmul
#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (n, k)>
#y = affine_map<(m, n, k) -> (m, n)>
func.func private @matmul(%x: tensor<?x64xf32>, %w: tensor<64x64xf16>, %out: tensor<?x64xf32>) -> tensor<?x64xf32>
    attributes {gist.kernel = #gist.kernel<kind = matmul, outputs = 1>} {
  %zero = arith.constant 0.0 : f32
  %z = linalg.fill ins(%zero : f32) outs(%out : tensor<?x64xf32>) -> tensor<?x64xf32>
  %y = linalg.matmul indexing_maps = [#x, #w, #y]
      ins(%x, %w : tensor<?x64xf32>, tensor<64x64xf16>) outs(%z : tensor<?x64xf32>) -> tensor<?x64xf32>
  return %y : tensor<?x64xf32>
}
