// RUN: gist-opt %s -gist-set-target="triple=aarch64-linux-gnu cpu=neoverse-v1" -gist-assign-packing | FileCheck %s
// RUN: gist-opt %s -gist-set-target="triple=x86_64-linux-gnu cpu=haswell" -gist-assign-packing | FileCheck %s --check-prefix=X86

// 12 rows in groups of eight, the second half empty; a block of eight rows and 32
// values is 8 * 20 bytes.
// CHECK-LABEL: func @linear
// CHECK:         %[[W:.+]] = gist.weight "w" {gist.format = #gist<block_format q4_1>, gist.packing = #gist.packing<columns = 8, depth = 8,{{.+}}>} : tensor<2x2x160xi8>
// CHECK-NOT:     gist.weight "w" : tensor<12x2x20xi8>
// CHECK:         gist.quantized_matmul %{{.+}}, %{{.+}}, %[[W]] format q4_1 packed <columns = 8, depth = 8,
// On x86-64 groups of 16 for AVX2 as for AVX-512, so that a module for both has the
// weight once: 16 * 20 bytes.
// X86-LABEL: func @linear
// X86:         gist.weight "w" {{.+}} : tensor<1x2x320xi8>
func.func @linear(%q: tensor<?x64xi8>, %s: tensor<?x2xf32>) -> tensor<?x12xf32> {
  %w = gist.weight "w" : tensor<12x2x20xi8>
  %y = gist.quantized_matmul %q, %s, %w format q4_1
      : tensor<?x64xi8>, tensor<?x2xf32>, tensor<12x2x20xi8> -> tensor<?x12xf32>
  return %y : tensor<?x12xf32>
}

// Rows are looked up in the packed weight: a tied embedding is there once.
// Token 8t + c is column c of tile t; the value at k is in step k / 8 of block k / 32.
// CHECK-LABEL: func @lookup
// CHECK-NOT:     gist.weight "e" : tensor<12x2x34xi8>
// CHECK:         %[[W:.+]] = gist.weight "e" {{{.+}}} : tensor<2x2x272xi8>
// CHECK-NOT:     gist.dequantize
// CHECK:         linalg.generic {{.+}} ins(%{{.+}} : tensor<?xi32>) outs(%{{.+}} : tensor<?x64xf32>)
// CHECK:         ^bb0(%[[ID:.+]]: i32, %{{.+}}: f32):
// CHECK:           %[[ROW:.+]] = arith.index_cast %[[ID]] : i32 to index
// CHECK:           %[[TILE:.+]] = arith.divui %[[ROW]], %c8
// CHECK:           tensor.extract %[[W]][%[[TILE]], %{{.+}}, %{{.+}}] : tensor<2x2x272xi8>
// CHECK:           arith.extf %{{.+}} : f16 to f32
// CHECK:           arith.extui %{{.+}} : i8 to i32
// CHECK:           arith.shrsi %{{.+}}, %c24_i32
// CHECK:         gist.quantized_matmul %{{.+}}, %{{.+}}, %[[W]]
func.func @lookup(%t: tensor<?xi32>, %q: tensor<?x64xi8>, %s: tensor<?x2xf32>) -> (tensor<?x64xf32>, tensor<?x12xf32>) {
  %c0 = arith.constant 0 : index
  %w = gist.weight "e" : tensor<12x2x34xi8>
  %n = tensor.dim %t, %c0 : tensor<?xi32>
  %empty = tensor.empty(%n) : tensor<?x2x34xi8>
  %blocks = linalg.generic {
      indexing_maps = [affine_map<(t, b, i) -> (t)>, affine_map<(t, b, i) -> (t, b, i)>],
      iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%t : tensor<?xi32>) outs(%empty : tensor<?x2x34xi8>) {
  ^bb0(%id: i32, %out: i8):
    %row = arith.index_cast %id : i32 to index
    %block = linalg.index 1 : index
    %byte = linalg.index 2 : index
    %value = tensor.extract %w[%row, %block, %byte] : tensor<12x2x34xi8>
    linalg.yield %value : i8
  } -> tensor<?x2x34xi8>
  %x = gist.dequantize %blocks format q8_0 : tensor<?x2x34xi8>
  %y = gist.quantized_matmul %q, %s, %w format q8_0
      : tensor<?x64xi8>, tensor<?x2xf32>, tensor<12x2x34xi8> -> tensor<?x12xf32>
  return %x, %y : tensor<?x64xf32>, tensor<?x12xf32>
}

// Packed weights have the bytes of stored ones: five bits are 8 * 22, and 8 * 24
// with a minimum.
// CHECK-LABEL: func @five
// CHECK:         gist.weight "a" {{{.*}}bits = 5,{{.*}}is_signed = true,{{.*}}} : tensor<1x2x176xi8>
// CHECK:         gist.weight "b" {{{.*}}bits = 5,{{.*}}is_signed = false,{{.*}}} : tensor<1x2x192xi8>
// X86-LABEL: func @five
// X86:         gist.weight "a" {{{.*}}bits = 5,{{.*}}zero = 16, is_signed = false,{{.*}}} : tensor<1x2x352xi8>
// X86:         gist.weight "b" {{{.*}}bits = 5,{{.*}}} : tensor<1x2x384xi8>
func.func @five(%q: tensor<?x64xi8>, %s: tensor<?x2xf32>) -> (tensor<?x8xf32>, tensor<?x8xf32>) {
  %a = gist.weight "a" : tensor<8x2x22xi8>
  %b = gist.weight "b" : tensor<8x2x24xi8>
  %x = gist.quantized_matmul %q, %s, %a format q5_0
      : tensor<?x64xi8>, tensor<?x2xf32>, tensor<8x2x22xi8> -> tensor<?x8xf32>
  %y = gist.quantized_matmul %q, %s, %b format q5_1
      : tensor<?x64xi8>, tensor<?x2xf32>, tensor<8x2x24xi8> -> tensor<?x8xf32>
  return %x, %y : tensor<?x8xf32>, tensor<?x8xf32>
}

// Six bits with the scales of 16 values and of 256 are 8 * 210. Those of q4_k have
// six bits in the file and eight here.
// CHECK-LABEL: func @long
// CHECK:         gist.weight "a" {{{.*}}bits = 6, group = 16, scale_bits = 8,{{.*}}} : tensor<1x2x1680xi8>
// CHECK:         gist.weight "b" {{{.*}}bits = 4, group = 32, scale_bits = 8,{{.*}}} : tensor<1x2x1184xi8>
func.func @long(%q: tensor<?x512xi8>, %s: tensor<?x16xf32>) -> (tensor<?x8xf32>, tensor<?x8xf32>) {
  %a = gist.weight "a" : tensor<8x2x210xi8>
  %b = gist.weight "b" : tensor<8x2x144xi8>
  %x = gist.quantized_matmul %q, %s, %a format q6_k
      : tensor<?x512xi8>, tensor<?x16xf32>, tensor<8x2x210xi8> -> tensor<?x8xf32>
  %y = gist.quantized_matmul %q, %s, %b format q4_k
      : tensor<?x512xi8>, tensor<?x16xf32>, tensor<8x2x144xi8> -> tensor<?x8xf32>
  return %x, %y : tensor<?x8xf32>, tensor<?x8xf32>
}

// Another reader wants it as it is stored, so it stays.
// CHECK-LABEL: func @tied
// CHECK-DAG:     %[[STORED:.+]] = gist.weight "e" : tensor<12x2x34xi8>
// CHECK-DAG:     %[[PACKED:.+]] = gist.weight "e" {{{.+}}} : tensor<2x2x272xi8>
// CHECK:         gist.quantized_matmul %{{.+}}, %{{.+}}, %[[PACKED]]
// CHECK:         gist.dequantize %[[STORED]]
func.func @tied(%q: tensor<?x64xi8>, %s: tensor<?x2xf32>) -> (tensor<?x12xf32>, tensor<12x64xf32>) {
  %w = gist.weight "e" : tensor<12x2x34xi8>
  %y = gist.quantized_matmul %q, %s, %w format q8_0
      : tensor<?x64xi8>, tensor<?x2xf32>, tensor<12x2x34xi8> -> tensor<?x12xf32>
  %f = gist.dequantize %w format q8_0 : tensor<12x2x34xi8>
  return %y, %f : tensor<?x12xf32>, tensor<12x64xf32>
}

// A weight that is an argument has no bytes to pack yet.
// CHECK-LABEL: func @argument
// CHECK-NOT:     packed
func.func @argument(%q: tensor<?x64xi8>, %s: tensor<?x2xf32>, %w: tensor<12x2x20xi8>) -> tensor<?x12xf32> {
  %y = gist.quantized_matmul %q, %s, %w format q4_1
      : tensor<?x64xi8>, tensor<?x2xf32>, tensor<12x2x20xi8> -> tensor<?x12xf32>
  return %y : tensor<?x12xf32>
}
