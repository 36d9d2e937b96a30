// RUN: gist-opt %s -gist-tile="triple=aarch64-linux-gnu cpu=neoverse-v1" -gist-cpu \
// RUN:   -gist-write-cpu-code=assembly -o /dev/null | FileCheck %s

// Four rows by sixteen columns: 64 multiply-adds by a lane in a step of four, and
// no sum leaves its register between them.
// CHECK-LABEL: matmul:
// The panel is made of squares that are turned.
// CHECK:         zip1
// CHECK:         fmla v{{[0-9]+}}.4s, v{{[0-9]+}}.4s, v{{[0-9]+}}.s[0]
// CHECK-NOT:     {{Spill|Reload}}
// CHECK-COUNT-62: fmla v{{[0-9]+}}.4s, v{{[0-9]+}}.4s, v{{[0-9]+}}.s[
// CHECK-NOT:     {{Spill|Reload}}
// CHECK:         fmla v{{[0-9]+}}.4s, v{{[0-9]+}}.4s, v{{[0-9]+}}.s[3]
// CHECK-NOT:     faddp
// CHECK:         .size matmul
#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (n, k)>
#y = affine_map<(m, n, k) -> (m, n)>
func.func private @matmul(%x: tensor<?x64xf32>, %w: tensor<96x64xf32>, %out: tensor<?x96xf32>) -> tensor<?x96xf32>
    attributes {gist.kernel = #gist.kernel<kind = matmul, outputs = 1>} {
  %zero = arith.constant 0.0 : f32
  %z = linalg.fill ins(%zero : f32) outs(%out : tensor<?x96xf32>) -> tensor<?x96xf32>
  %y = linalg.matmul indexing_maps = [#x, #w, #y]
      ins(%x, %w : tensor<?x64xf32>, tensor<96x64xf32>) outs(%z : tensor<?x96xf32>) -> tensor<?x96xf32>
  return %y : tensor<?x96xf32>
}
