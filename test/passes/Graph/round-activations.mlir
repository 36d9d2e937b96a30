// RUN: gist-opt %s -gist-round-activations -cse -split-input-file | FileCheck %s

#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (n, k)>
#y = affine_map<(m, n, k) -> (m, n)>
#same = affine_map<(m, n) -> (m, n)>

// Two products share the rounded rows.
// CHECK-LABEL: func @shared
// CHECK-SAME:    %[[X:.+]]: tensor<?x96xf32>, %[[W:.+]]: tensor<64x96xf16>, %[[U:.+]]: tensor<40x96xf16>
// CHECK:         %[[H:.+]] = linalg.generic {{.*}} ins(%[[X]] : tensor<?x96xf32>) outs({{.*}} : tensor<?x96xf16>)
// CHECK:           arith.truncf %{{.+}} : f32 to f16
// CHECK-NOT:     linalg.generic
// CHECK-DAG:     linalg.matmul {{.*}} ins(%[[H]], %[[W]] : tensor<?x96xf16>, tensor<64x96xf16>)
// CHECK-DAG:     linalg.matmul {{.*}} ins(%[[H]], %[[U]] : tensor<?x96xf16>, tensor<40x96xf16>)
func.func @shared(%x: tensor<?x96xf32>, %w: tensor<64x96xf16>, %u: tensor<40x96xf16>,
                  %a: tensor<?x64xf32>, %b: tensor<?x40xf32>) -> (tensor<?x64xf32>, tensor<?x40xf32>) {
  %p = linalg.matmul indexing_maps = [#x, #w, #y] ins(%x, %w : tensor<?x96xf32>, tensor<64x96xf16>)
      outs(%a : tensor<?x64xf32>) -> tensor<?x64xf32>
  %r = linalg.matmul indexing_maps = [#x, #w, #y] ins(%x, %u : tensor<?x96xf32>, tensor<40x96xf16>)
      outs(%b : tensor<?x40xf32>) -> tensor<?x40xf32>
  return %p, %r : tensor<?x64xf32>, tensor<?x40xf32>
}

// A weight of bf16 is multiplied in bf16.
// CHECK-LABEL: func @bf16
// CHECK:         arith.truncf %{{.+}} : f32 to bf16
// CHECK:         linalg.matmul {{.*}} : tensor<?x96xbf16>, tensor<64x96xbf16>)
func.func @bf16(%x: tensor<?x96xf32>, %w: tensor<64x96xbf16>, %a: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %p = linalg.matmul indexing_maps = [#x, #w, #y] ins(%x, %w : tensor<?x96xf32>, tensor<64x96xbf16>)
      outs(%a : tensor<?x64xf32>) -> tensor<?x64xf32>
  return %p : tensor<?x64xf32>
}

// The residual stream is read by an addition too.
// CHECK-LABEL: func @residual
// CHECK-NOT:     arith.truncf
// CHECK:         linalg.matmul {{.*}} : tensor<?x96xf32>, tensor<96x96xf16>)
func.func @residual(%x: tensor<?x96xf32>, %w: tensor<96x96xf16>, %a: tensor<?x96xf32>) -> tensor<?x96xf32> {
  %p = linalg.matmul indexing_maps = [#x, #w, #y] ins(%x, %w : tensor<?x96xf32>, tensor<96x96xf16>)
      outs(%a : tensor<?x96xf32>) -> tensor<?x96xf32>
  %s = linalg.add ins(%x, %p : tensor<?x96xf32>, tensor<?x96xf32>) outs(%a : tensor<?x96xf32>) -> tensor<?x96xf32>
  return %s : tensor<?x96xf32>
}

// Few rows are multiplied as they are.
// CHECK-LABEL: func @few
// CHECK-NOT:     arith.truncf
// CHECK:         linalg.matmul {{.*}} : tensor<8x96xf32>, tensor<64x96xf16>)
func.func @few(%x: tensor<8x96xf32>, %w: tensor<64x96xf16>, %a: tensor<8x64xf32>) -> tensor<8x64xf32> {
  %p = linalg.matmul indexing_maps = [#x, #w, #y] ins(%x, %w : tensor<8x96xf32>, tensor<64x96xf16>)
      outs(%a : tensor<8x64xf32>) -> tensor<8x64xf32>
  return %p : tensor<8x64xf32>
}

// What was 16 bits wide before is read so, by products of few rows too and
// whatever else reads it.
// CHECK-LABEL: func @extended
// CHECK-SAME:    %[[H:.+]]: tensor<1x96xf16>
// CHECK:         %[[X:.+]] = linalg.generic
// CHECK:         linalg.matmul {{.*}} ins(%[[H]], %{{.+}} : tensor<1x96xf16>, tensor<96x96xf16>)
// CHECK:         linalg.add ins(%[[X]]
func.func @extended(%h: tensor<1x96xf16>, %w: tensor<96x96xf16>, %a: tensor<1x96xf32>) -> tensor<1x96xf32> {
  %x = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]}
      ins(%h : tensor<1x96xf16>) outs(%a : tensor<1x96xf32>) {
  ^bb0(%in: f16, %out: f32):
    %0 = arith.extf %in : f16 to f32
    linalg.yield %0 : f32
  } -> tensor<1x96xf32>
  %p = linalg.matmul indexing_maps = [#x, #w, #y] ins(%x, %w : tensor<1x96xf32>, tensor<96x96xf16>)
      outs(%a : tensor<1x96xf32>) -> tensor<1x96xf32>
  %s = linalg.add ins(%x, %p : tensor<1x96xf32>, tensor<1x96xf32>) outs(%a : tensor<1x96xf32>) -> tensor<1x96xf32>
  return %s : tensor<1x96xf32>
}

// Beside block-quantised weights rows are rounded as well, on both GPUs.
// RUN: gist-opt %s -gist-set-target=target=gfx942 -gist-round-activations | FileCheck %s --check-prefix=AMD
// RUN: gist-opt %s -gist-set-target=target=sm_90 -gist-round-activations | FileCheck %s --check-prefix=NVIDIA
// AMD-LABEL: func.func @quantised(
// AMD: arith.truncf
// AMD: linalg.matmul {{.*}} tensor<?x64xf16>, tensor<48x64xf32>
// NVIDIA-LABEL: func.func @quantised(
// NVIDIA: arith.truncf
// NVIDIA: linalg.matmul {{.*}} tensor<?x64xf16>, tensor<48x64xf32>
#qx = affine_map<(m, n, k) -> (m, k)>
#qw = affine_map<(m, n, k) -> (n, k)>
#qy = affine_map<(m, n, k) -> (m, n)>
func.func @quantised(%x: tensor<?x64xf32>, %w: tensor<48x2x20xi8>, %y: tensor<?x48xf32>) -> tensor<?x48xf32> {
  %d = gist.dequantize %w format q4_1 : tensor<48x2x20xi8>
  %p = linalg.matmul indexing_maps = [#qx, #qw, #qy] ins(%x, %d : tensor<?x64xf32>, tensor<48x64xf32>) outs(%y : tensor<?x48xf32>) -> tensor<?x48xf32>
  return %p : tensor<?x48xf32>
}

// -----

// Experts read rounded rows beside a router; the weight decides the type. A few
// rows are multiplied as they are.
// CHECK-LABEL: func @experts
// CHECK-SAME:    %[[X:.+]]: tensor<?x96xf32>, %[[W:.+]]: tensor<320x96xf16>
// CHECK:         %[[H:.+]] = linalg.generic {{.*}} ins(%[[X]] : tensor<?x96xf32>) outs({{.*}} : tensor<?x96xf16>)
// CHECK:         gist.expert_matmul %[[H]], %[[W]] by {{.*}} : tensor<?x96xf16>
// CHECK:         gist.expert_matmul %{{.+}}, %[[W]] by {{.*}} : tensor<2x96xf32>
func.func @experts(%x: tensor<?x96xf32>, %w: tensor<320x96xf16>, %e: tensor<?x2xi32>,
                   %few: tensor<2x96xf32>, %f: tensor<2x2xi32>) -> (tensor<?x128xf32>, tensor<2x128xf32>) {
  %y = gist.expert_matmul %x, %w by %e : tensor<?x96xf32>, tensor<320x96xf16>, tensor<?x2xi32> -> tensor<?x128xf32>
  %z = gist.expert_matmul %few, %w by %f : tensor<2x96xf32>, tensor<320x96xf16>, tensor<2x2xi32> -> tensor<2x128xf32>
  return %y, %z : tensor<?x128xf32>, tensor<2x128xf32>
}
