// A gated projection of which only the levels are read: kernels whose results
// are not read are removed with their calls.
// RUN: gist-opt %s -gist-set-target=target=gfx942 "-gist-graph=gates=false matrix" -gist-kernels | FileCheck %s

// Nor does anything become a kernel that nothing reads.
// RUN: gist-opt %s -gist-graph -gist-kernels | FileCheck %s --check-prefix=CPU
// CPU-LABEL: func.func @levels
// CPU:         return
// CPU-NOT:   guarded_matmul

// CHECK-LABEL: func.func @levels
// CHECK:         return
// CHECK-NOT:   kind = gated_products
func.func @levels(%x: tensor<31x64xf32>, %v: tensor<64x23xf16>, %w: tensor<20x64xf16>, %m: tensor<20x23xf16>)
    -> tensor<31xi8> {
  %y, %level = gist.gated_projection %x, %v, 3.1e-1 weights(%w : tensor<20x64xf16>) images(%m : tensor<20x23xf16>)
      : tensor<31x64xf32>, tensor<64x23xf16>
  return %level : tensor<31xi8>
}
