// RUN: gist-opt %s -gist-kernels | FileCheck %s

// Sampling is a kernel of its own.
// CHECK-LABEL: func.func @sample
// CHECK:         %[[CALL:.+]] = gist.dispatch @sample_0(%{{.+}}) outs(%{{.+}} : tensor<?xi32>)
// CHECK:         return %[[CALL]]
// CHECK:       func.func private @sample_0
// CHECK:         gist.sample
func.func @sample(%logits: tensor<?x1000xf32>, %settings: tensor<?x5xi64>) -> tensor<?xi32> {
  %next = gist.sample %logits by %settings : tensor<?x1000xf32>, tensor<?x5xi64>
  return %next : tensor<?xi32>
}
