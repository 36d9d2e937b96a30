// Which targets have kernels for gated projections, and which lower them to
// products.
// RUN: gist-compile %s --target=gfx942 --emit=kernels --progress=off | FileCheck %s --check-prefix=GPU
// RUN: gist-compile %s --target=sm_90 --emit=kernels --progress=off | FileCheck %s --check-prefix=GPU
// RUN: gist-compile %s --emit=kernels --progress=off | FileCheck %s --check-prefix=CPU

// GPU-LABEL: func.func @one
// GPU:         gist.dispatch @gated_projection_0
// GPU-LABEL: func.func @many
// GPU:         gist.dispatch @gated_product_0

// CPU-NOT: gated
// CPU: gist.guarded_matmul
func.func @one(%x: tensor<1x64xf32>, %v: tensor<64x16xf32>, %w: tensor<96x64xf32>,
    %m: tensor<96x16xf32>) -> tensor<1x96xf32> {
  %y, %l = gist.gated_projection %x, %v, 1.0e-1 weights(%w : tensor<96x64xf32>)
      images(%m : tensor<96x16xf32>) : tensor<1x64xf32>, tensor<64x16xf32>
  return %y : tensor<1x96xf32>
}

func.func @many(%x: tensor<?x64xf32>, %v: tensor<64x16xf32>, %w: tensor<96x64xf32>,
    %m: tensor<96x16xf32>) -> tensor<?x96xf32> {
  %y, %l = gist.gated_projection %x, %v, 1.0e-1 weights(%w : tensor<96x64xf32>)
      images(%m : tensor<96x16xf32>) : tensor<?x64xf32>, tensor<64x16xf32>
  return %y : tensor<?x96xf32>
}
