// RUN: gist-opt %s -gist-gpu-tile=target=gfx942 | FileCheck %s

// Rows of three numbers fill no vector: a lane reads them one by one.
// CHECK-LABEL: @odd
// CHECK:         memref.load %{{.+}} : memref<{{.*}}xf16
// CHECK:         math.fma %{{.+}}, %{{.+}}, %{{.+}} : f32
func.func private @odd(%x: tensor<1x9xf32>, %w: tensor<24x3xf16>, %e: tensor<1x3xi32>, %y: tensor<1x24xf32>)
    -> tensor<1x24xf32> attributes {gist.kernel = #gist.kernel<kind = expert_matmul, outputs = 1>} {
  %0 = gist.expert_matmul %x, %w by %e : tensor<1x9xf32>, tensor<24x3xf16>, tensor<1x3xi32> -> tensor<1x24xf32>
  return %0 : tensor<1x24xf32>
}

// Gathered rows are read one number at a time too.
// CHECK-LABEL: @gathered
// CHECK:         memref.load %{{.+}} : memref<{{.*}}xf16
// CHECK:         amdgpu.mfma
func.func private @gathered(%x: tensor<5x9xf32>, %w: tensor<24x3xf16>, %e: tensor<5x3xi32>, %y: tensor<5x24xf32>)
    -> tensor<5x24xf32> attributes {gist.kernel = #gist.kernel<kind = expert_matmul, outputs = 1>} {
  %0 = gist.expert_matmul %x, %w by %e : tensor<5x9xf32>, tensor<24x3xf16>, tensor<5x3xi32> -> tensor<5x24xf32>
  return %0 : tensor<5x24xf32>
}
