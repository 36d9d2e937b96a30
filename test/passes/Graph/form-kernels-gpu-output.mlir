// The product of the heads of one token is part of its attention where
// workgroups have registers for the weights: a row for each KV head. What reads
// the sum of the residual stream and of these rows adds them up, in the order of
// heads: the norm before the next product, and the next sum behind it.
//
// RUN: gist-opt %s -split-input-file -gist-set-target=target=sm_90 -gist-form-kernels -cse -canonicalize | FileCheck %s
// RUN: gist-opt %s -split-input-file -gist-set-target=target=gfx942 -gist-form-kernels -cse -canonicalize | FileCheck %s --check-prefix=AMD

#x = affine_map<(t, n, k) -> (t, k)>
#w = affine_map<(t, n, k) -> (n, k)>
#y = affine_map<(t, n, k) -> (t, n)>
#row = affine_map<(t, n) -> (t, n)>
#one = affine_map<(t, n) -> (t)>

// CHECK-DAG:   #[[$FIRST:.+]] = affine_map<(d0, d1) -> (d0, 0, d1)>
// CHECK-DAG:   #[[$SECOND:.+]] = affine_map<(d0, d1) -> (d0, 1, d1)>
// CHECK-LABEL: func.func @token
// CHECK-SAME:    (%[[X:[^:]+]]: tensor<1x32xf32>
// CHECK:         %[[ROWS:.+]] = gist.dispatch @attention_0({{.*}} outs(%{{.+}} : tensor<1x2x32xf32>)
// CHECK:         %[[UP:.+]] = gist.dispatch @matmul_0(%[[X]], %[[ROWS]], %{{.+}} : tensor<1x32xf32>, tensor<1x2x32xf32>,
// CHECK:         gist.dispatch @matmul_1(%[[UP]], %{{.+}}, %[[X]], %[[ROWS]] :
// CHECK-NOT:     gist.dispatch
// CHECK:       func.func private @attention_0
// CHECK:         gist.attention
// CHECK:         linalg.generic {{.*}} ins(%{{.+}}, %{{.+}} : tensor<1x2x16xf16>, tensor<32x2x16xf16>)
// CHECK:       func.func private @matmul_0
// CHECK:         linalg.generic {indexing_maps = [#{{.+}}, #[[$FIRST]], #[[$SECOND]], #{{.+}}]
// CHECK:         linalg.matmul
// CHECK:       func.func private @matmul_1
// CHECK:         linalg.matmul
// CHECK:         linalg.generic {indexing_maps = [#{{.+}}, #[[$FIRST]], #[[$SECOND]], #{{.+}}, #{{.+}}]
// Without clusters of workgroups it stays apart.
// AMD-LABEL:   func.func @token
// AMD-COUNT-4:   gist.dispatch
// AMD-NEXT:      return
func.func @token(%x: tensor<1x32xf32>, %q: tensor<1x4x8xf16>, %k: tensor<?x2x8xf16>, %v: tensor<?x2x8xf16>)
    -> tensor<1x32xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x32xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<1x32xf32>) -> tensor<1x32xf32>
  %a = gist.attention %q, %k, %v causal : tensor<1x4x8xf16>, tensor<?x2x8xf16>, tensor<?x2x8xf16>
  %c = tensor.collapse_shape %a [[0], [1, 2]] : tensor<1x4x8xf16> into tensor<1x32xf16>
  %wo = gist.weight "o" : tensor<32x32xf16>
  %o = linalg.matmul indexing_maps = [#x, #w, #y] ins(%c, %wo : tensor<1x32xf16>, tensor<32x32xf16>)
      outs(%z : tensor<1x32xf32>) -> tensor<1x32xf32>
  %x2 = linalg.generic {indexing_maps = [#row, #row, #row], iterator_types = ["parallel", "parallel"]}
      ins(%x, %o : tensor<1x32xf32>, tensor<1x32xf32>) outs(%e : tensor<1x32xf32>) {
  ^bb0(%in: f32, %other: f32, %out: f32):
    %s = arith.addf %in, %other : f32
    linalg.yield %s : f32
  } -> tensor<1x32xf32>
  %e1 = tensor.empty() : tensor<1xf32>
  %z1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<1xf32>) -> tensor<1xf32>
  %sq = linalg.generic {indexing_maps = [#row, #one], iterator_types = ["parallel", "reduction"]}
      ins(%x2 : tensor<1x32xf32>) outs(%z1 : tensor<1xf32>) {
  ^bb0(%in: f32, %out: f32):
    %p = arith.mulf %in, %in : f32
    %s = arith.addf %p, %out : f32
    linalg.yield %s : f32
  } -> tensor<1xf32>
  %n = linalg.generic {indexing_maps = [#row, #one, #row], iterator_types = ["parallel", "parallel"]}
      ins(%x2, %sq : tensor<1x32xf32>, tensor<1xf32>) outs(%e : tensor<1x32xf32>) {
  ^bb0(%in: f32, %sum: f32, %out: f32):
    %r = math.rsqrt %sum : f32
    %s = arith.mulf %in, %r : f32
    linalg.yield %s : f32
  } -> tensor<1x32xf32>
  %wu = gist.weight "up" : tensor<32x32xf16>
  %u = linalg.matmul indexing_maps = [#x, #w, #y] ins(%n, %wu : tensor<1x32xf32>, tensor<32x32xf16>)
      outs(%z : tensor<1x32xf32>) -> tensor<1x32xf32>
  %wd = gist.weight "down" : tensor<32x32xf16>
  %d = linalg.matmul indexing_maps = [#x, #w, #y] ins(%u, %wd : tensor<1x32xf32>, tensor<32x32xf16>)
      outs(%z : tensor<1x32xf32>) -> tensor<1x32xf32>
  %x3 = linalg.generic {indexing_maps = [#row, #row, #row], iterator_types = ["parallel", "parallel"]}
      ins(%x2, %d : tensor<1x32xf32>, tensor<1x32xf32>) outs(%e : tensor<1x32xf32>) {
  ^bb0(%in: f32, %other: f32, %out: f32):
    %s = arith.addf %in, %other : f32
    linalg.yield %s : f32
  } -> tensor<1x32xf32>
  return %x3 : tensor<1x32xf32>
}

// -----

#x = affine_map<(t, n, k) -> (t, k)>
#w = affine_map<(t, n, k) -> (n, k)>
#y = affine_map<(t, n, k) -> (t, n)>
#row = affine_map<(t, n) -> (t, n)>
#one = affine_map<(t, n) -> (t)>

// A result of the model is not left as parts that readers add up.
// CHECK-LABEL: func.func @returned
// CHECK:         gist.dispatch @attention_0({{.*}} outs(%{{.+}} : tensor<1x4x8xf16>)
// CHECK:         gist.dispatch @matmul_0
func.func @returned(%x: tensor<1x32xf32>, %q: tensor<1x4x8xf16>, %k: tensor<?x2x8xf16>, %v: tensor<?x2x8xf16>)
    -> tensor<1x32xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x32xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<1x32xf32>) -> tensor<1x32xf32>
  %a = gist.attention %q, %k, %v causal : tensor<1x4x8xf16>, tensor<?x2x8xf16>, tensor<?x2x8xf16>
  %c = tensor.collapse_shape %a [[0], [1, 2]] : tensor<1x4x8xf16> into tensor<1x32xf16>
  %wo = gist.weight "o" : tensor<32x32xf16>
  %o = linalg.matmul indexing_maps = [#x, #w, #y] ins(%c, %wo : tensor<1x32xf16>, tensor<32x32xf16>)
      outs(%z : tensor<1x32xf32>) -> tensor<1x32xf32>
  %x2 = linalg.generic {indexing_maps = [#row, #row, #row], iterator_types = ["parallel", "parallel"]}
      ins(%x, %o : tensor<1x32xf32>, tensor<1x32xf32>) outs(%e : tensor<1x32xf32>) {
  ^bb0(%in: f32, %other: f32, %out: f32):
    %s = arith.addf %in, %other : f32
    linalg.yield %s : f32
  } -> tensor<1x32xf32>
  return %x2 : tensor<1x32xf32>
}
