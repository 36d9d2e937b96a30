// RUN: gist-opt %s -gist-merge-products | FileCheck %s
// RUN: gist-opt %s -gist-merge-products -gist-set-target="triple=aarch64-linux-gnu cpu=neoverse-v1" -gist-assign-packing | FileCheck %s --check-prefix=PACKED

// Weights are joined in the order of their names, in every function alike; the
// results are the columns that each weight gives.
// CHECK-LABEL: func @qkv
// CHECK-SAME:    %[[X:.+]]: tensor<?x64xi8>, %[[S:.+]]: tensor<?x2xf32>
// CHECK:         %[[W:.+]] = gist.weight "k+q+v" {gist.parts = ["k", "q", "v"]} : tensor<20x2x20xi8>
// CHECK:         %[[Y:.+]] = gist.quantized_matmul %[[X]], %[[S]], %[[W]] format q4_1
// CHECK-SAME:      -> tensor<?x20xf32>
// CHECK:         %[[K:.+]] = tensor.extract_slice %[[Y]][0, 0] [%{{.+}}, 4] [1, 1] : tensor<?x20xf32> to tensor<?x4xf32>
// CHECK:         %[[Q:.+]] = tensor.extract_slice %[[Y]][0, 4] [%{{.+}}, 12] [1, 1] : tensor<?x20xf32> to tensor<?x12xf32>
// CHECK:         %[[V:.+]] = tensor.extract_slice %[[Y]][0, 16] [%{{.+}}, 4] [1, 1] : tensor<?x20xf32> to tensor<?x4xf32>
// CHECK-NOT:     gist.quantized_matmul
// CHECK:         return %[[Q]], %[[K]], %[[V]]
// A packed weight still says what it is made of.
// PACKED-LABEL: func @qkv
// PACKED:         gist.weight "k+q+v" {gist.format = {{.+}}, gist.packing = {{.+}}, gist.parts = ["k", "q", "v"]} : tensor<3x2x160xi8>
func.func @qkv(%x: tensor<?x64xi8>, %s: tensor<?x2xf32>)
    -> (tensor<?x12xf32>, tensor<?x4xf32>, tensor<?x4xf32>) {
  %wq = gist.weight "q" : tensor<12x2x20xi8>
  %q = gist.quantized_matmul %x, %s, %wq format q4_1
      : tensor<?x64xi8>, tensor<?x2xf32>, tensor<12x2x20xi8> -> tensor<?x12xf32>
  %wk = gist.weight "k" : tensor<4x2x20xi8>
  %k = gist.quantized_matmul %x, %s, %wk format q4_1
      : tensor<?x64xi8>, tensor<?x2xf32>, tensor<4x2x20xi8> -> tensor<?x4xf32>
  %wv = gist.weight "v" : tensor<4x2x20xi8>
  %v = gist.quantized_matmul %x, %s, %wv format q4_1
      : tensor<?x64xi8>, tensor<?x2xf32>, tensor<4x2x20xi8> -> tensor<?x4xf32>
  return %q, %k, %v : tensor<?x12xf32>, tensor<?x4xf32>, tensor<?x4xf32>
}

// Another format, other rows, and a weight that something else reads.
// CHECK-LABEL: func @apart
// CHECK-NOT:     gist.parts
// CHECK-COUNT-4: gist.quantized_matmul
func.func @apart(%x: tensor<?x64xi8>, %s: tensor<?x2xf32>, %z: tensor<?x64xi8>)
    -> (tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<4x64xf32>) {
  %wa = gist.weight "a" : tensor<4x2x20xi8>
  %wb = gist.weight "b" : tensor<4x2x18xi8>
  %wc = gist.weight "c" : tensor<4x2x20xi8>
  %wd = gist.weight "d" : tensor<4x2x20xi8>
  %a = gist.quantized_matmul %x, %s, %wa format q4_1
      : tensor<?x64xi8>, tensor<?x2xf32>, tensor<4x2x20xi8> -> tensor<?x4xf32>
  %b = gist.quantized_matmul %x, %s, %wb format q4_0
      : tensor<?x64xi8>, tensor<?x2xf32>, tensor<4x2x18xi8> -> tensor<?x4xf32>
  %c = gist.quantized_matmul %z, %s, %wc format q4_1
      : tensor<?x64xi8>, tensor<?x2xf32>, tensor<4x2x20xi8> -> tensor<?x4xf32>
  %d = gist.quantized_matmul %x, %s, %wd format q4_1
      : tensor<?x64xi8>, tensor<?x2xf32>, tensor<4x2x20xi8> -> tensor<?x4xf32>
  %f = gist.dequantize %wd format q4_1 : tensor<4x2x20xi8>
  return %a, %b, %c, %d, %f : tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<4x64xf32>
}
