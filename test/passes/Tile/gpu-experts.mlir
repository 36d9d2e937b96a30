// RUN: gist-opt %s -gist-set-target=target=sm_90 -gist-add-scratch -gist-select-tile-config | FileCheck %s --check-prefixes=CHECK,SM90
// RUN: gist-opt %s -gist-set-target=target=gfx942 -gist-add-scratch -gist-select-tile-config | FileCheck %s --check-prefixes=CHECK,GFX942
// RUN: gist-opt %s -gist-gpu-tile=target=sm_90 | FileCheck %s --check-prefix=CODE

// Many tokens share experts: their rows are gathered into tiles. No memory is
// needed that calls would share.
// CHECK-LABEL: func.func private @many
// CHECK-SAME:    %{{.+}}: tensor<?x28672xf32>) -> tensor<?x28672xf32>
// GFX942-SAME:   #gist.gpu_product<rows = 128, {{.*}}mfma
// SM90-SAME:     #gist.gpu_product<rows = 128, {{.*}}wgmma
// CODE-LABEL:  func.func private @many
// Experts are counted, and rows are copied as they lie in memory.
// CODE:          llvm.atomicrmw add
// CODE:          nvgpu.device_async_copy
func.func private @many(%x: tensor<?x4096xf16>, %w: tensor<114688x4096xf16>, %e: tensor<?x2xi32>, %y: tensor<?x28672xf32>)
    -> tensor<?x28672xf32> attributes {gist.kernel = #gist.kernel<kind = expert_matmul, outputs = 1>} {
  %0 = gist.expert_matmul %x, %w by %e : tensor<?x4096xf16>, tensor<114688x4096xf16>, tensor<?x2xi32> -> tensor<?x28672xf32>
  return %0 : tensor<?x28672xf32>
}

// Each of 128 experts has few rows: tiles of 64 waste less.
// CHECK-LABEL: func.func private @small
// GFX942-SAME:   #gist.gpu_product<rows = 128
// SM90-SAME:     #gist.gpu_product<rows = 64
func.func private @small(%x: tensor<?x2048xbf16>, %w: tensor<98304x2048xbf16>, %e: tensor<?x8xi32>, %y: tensor<?x6144xf32>)
    -> tensor<?x6144xf32> attributes {gist.kernel = #gist.kernel<kind = expert_matmul, outputs = 1>} {
  %0 = gist.expert_matmul %x, %w by %e : tensor<?x2048xbf16>, tensor<98304x2048xbf16>, tensor<?x8xi32> -> tensor<?x6144xf32>
  return %0 : tensor<?x6144xf32>
}

// Four tokens may name eight experts: every row is computed by itself, without
// memory to work in.
// CHECK-LABEL: func.func private @four
// CHECK-SAME:    %{{.+}}: tensor<4x28672xf32>) -> tensor<4x28672xf32>
// CHECK-SAME:    #gist.gpu_rows
func.func private @four(%x: tensor<4x4096xf32>, %w: tensor<114688x4096xf16>, %e: tensor<4x2xi32>, %y: tensor<4x28672xf32>)
    -> tensor<4x28672xf32> attributes {gist.kernel = #gist.kernel<kind = expert_matmul, outputs = 1>} {
  %0 = gist.expert_matmul %x, %w by %e : tensor<4x4096xf32>, tensor<114688x4096xf16>, tensor<4x2xi32> -> tensor<4x28672xf32>
  return %0 : tensor<4x28672xf32>
}

// CHECK-LABEL: func.func private @five
// CHECK-SAME:    #gist.gpu_product
func.func private @five(%x: tensor<5x4096xf32>, %w: tensor<114688x4096xf16>, %e: tensor<5x2xi32>, %y: tensor<5x28672xf32>)
    -> tensor<5x28672xf32> attributes {gist.kernel = #gist.kernel<kind = expert_matmul, outputs = 1>} {
  %0 = gist.expert_matmul %x, %w by %e : tensor<5x4096xf32>, tensor<114688x4096xf16>, tensor<5x2xi32> -> tensor<5x28672xf32>
  return %0 : tensor<5x28672xf32>
}
