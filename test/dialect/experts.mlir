// RUN: gist-opt %s | gist-opt | FileCheck %s
// RUN: gist-opt %s -gist-decompose | FileCheck %s --check-prefix=PLAIN

// Five experts of 6 x 8, of which a token names two.

// CHECK-LABEL: func @shared_rows
// CHECK:         gist.expert_matmul %{{.+}}, %{{.+}} by %{{.+}} : tensor<?x8xf32>, tensor<30x8xf16>, tensor<?x2xi32> -> tensor<?x12xf32>
// PLAIN-LABEL: func @shared_rows
// PLAIN-NOT:     expand_shape
// PLAIN:         linalg.generic
// A number out of range is clamped to an expert.
// PLAIN:           arith.maxsi
// PLAIN:           arith.minsi
// PLAIN:           tensor.extract %{{.+}}[{{.+}}] : tensor<30x8xf16>
// PLAIN:         tensor.collapse_shape %{{.+}} : tensor<?x2x6xf32> into tensor<?x12xf32>
func.func @shared_rows(%x: tensor<?x8xf32>, %w: tensor<30x8xf16>, %e: tensor<?x2xi32>) -> tensor<?x12xf32> {
  %y = gist.expert_matmul %x, %w by %e : tensor<?x8xf32>, tensor<30x8xf16>, tensor<?x2xi32> -> tensor<?x12xf32>
  return %y : tensor<?x12xf32>
}

// CHECK-LABEL: func @own_rows
// PLAIN-LABEL: func @own_rows
// PLAIN:         tensor.expand_shape %{{.+}} : tensor<?x16xf32> into tensor<?x2x8xf32>
func.func @own_rows(%x: tensor<?x16xf32>, %w: tensor<30x8xf32>, %e: tensor<?x2xi32>) -> tensor<?x12xf32> {
  %y = gist.expert_matmul %x, %w by %e : tensor<?x16xf32>, tensor<30x8xf32>, tensor<?x2xi32> -> tensor<?x12xf32>
  return %y : tensor<?x12xf32>
}

// CHECK-LABEL: func @blocks
// CHECK:         gist.quantized_expert_matmul {{.*}} format q4_1 by
// PLAIN-LABEL: func @blocks
// PLAIN-NOT:     gist.
func.func @blocks(%q: tensor<?x32xi8>, %s: tensor<?x1xf32>, %w: tensor<30x1x20xi8>, %e: tensor<?x2xi32>) -> tensor<?x12xf32> {
  %y = gist.quantized_expert_matmul %q, %s, %w format q4_1 by %e
      : tensor<?x32xi8>, tensor<?x1xf32>, tensor<30x1x20xi8>, tensor<?x2xi32> -> tensor<?x12xf32>
  return %y : tensor<?x12xf32>
}
