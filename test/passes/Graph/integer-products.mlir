// What products alone read becomes integers with a scale for each row, where a
// GPU is asked to multiply integers. With fp8 both sides are floats of 8 bits with a
// scale for each row, of the type that the GPU multiplies.
// RUN: gist-opt %s -gist-set-target=target=sm_90 -gist-quantize-activations -cse -split-input-file | FileCheck %s
// RUN: gist-opt %s -gist-set-target=target=sm_90 -gist-quantize-activations=numbers=fp8 -cse -split-input-file \
// RUN:   | FileCheck %s --check-prefix=FP8 -DTYPE=f8E4M3FN
// RUN: gist-opt %s -gist-set-target=target=gfx942 -gist-quantize-activations=numbers=fp8 -cse -split-input-file \
// RUN:   | FileCheck %s --check-prefix=FP8 -DTYPE=f8E4M3FNUZ
// RUN: gist-opt %s -gist-set-target=target=sm_90 -gist-quantize-activations=numbers=int8-rows -cse -split-input-file \
// RUN:   | FileCheck %s --check-prefix=ROWS
// RUN: not gist-opt %s -gist-set-target=target=sm_90 -gist-quantize-activations=numbers=fp4 -split-input-file 2>&1 \
// RUN:   | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: expected numbers=int8, numbers=int8-rows or numbers=fp8, got numbers=fp4

#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (n, k)>
#y = affine_map<(m, n, k) -> (m, n)>

// Two products of one input share its rows, which were rounded to 16 bits.
// CHECK-LABEL: func @shared
// CHECK-SAME:    %[[X:.+]]: tensor<?x96xf16>
// CHECK-DAG:     %[[A:.+]] = gist.weight "a" {gist.by_row = i8} : tensor<64x96xi8>
// CHECK-DAG:     %[[AS:.+]] = gist.weight "a" {gist.by_row = i8} : tensor<64xf32>
// CHECK:         %[[F:.+]] = linalg.generic {{.*}} ins(%[[X]] : tensor<?x96xf16>)
// CHECK:         %[[Q:.+]], %[[S:.+]] = gist.quantize_blocks %[[F]] block 128
// CHECK-NOT:     gist.quantize_blocks
// CHECK:         %[[P:.+]] = gist.scaled_matmul %[[Q]], %[[S]], %[[A]] block 128
// CHECK:         linalg.generic {{.*}} ins(%[[P]], %[[AS]] :
// CHECK:         %[[B:.+]] = gist.weight "b" {gist.by_row = i8, gist.parts = ["k", "v"]} : tensor<40x96xi8>
// CHECK-NOT:     gist.quantize_blocks
// CHECK:         gist.scaled_matmul %[[Q]], %[[S]], %[[B]] block 128
// CHECK-NOT:     linalg.matmul
// CHECK:         return

// FP8-LABEL:   func @shared
// FP8:           gist.weight "a" {gist.by_row = [[TYPE]]} : tensor<64x96x[[TYPE]]>
// FP8:           gist.weight "a" {gist.by_row = [[TYPE]]} : tensor<64xf32>
// FP8:           %[[Q:.+]], %[[S:.+]] = gist.quantize_blocks %{{.+}} block 96 as [[TYPE]] : tensor<?x96xf32>
// FP8-NOT:       gist.quantize_blocks
// FP8-COUNT-2:   gist.scaled_matmul %[[Q]], %[[S]], %{{.+}} block 96 : tensor<?x96x[[TYPE]]>, tensor<?x1xf32>

// ROWS-LABEL:  func @shared
// ROWS:          gist.quantize_blocks %{{.+}} block 96 : tensor<?x96xf32>
// ROWS-COUNT-2:  gist.scaled_matmul %{{.+}}, %{{.+}}, %{{.+}} block 96 : tensor<?x96xi8>, tensor<?x1xf32>
func.func @shared(%x: tensor<?x96xf16>, %a: tensor<?x64xf32>, %b: tensor<?x40xf32>) -> (tensor<?x64xf32>, tensor<?x40xf32>) {
  %zero = arith.constant 0.0 : f32
  %w = gist.weight "a" : tensor<64x96xf16>
  %u = gist.weight "b" {gist.parts = ["k", "v"]} : tensor<40x3x34xi8>
  %g = gist.dequantize %u format q8_0 : tensor<40x3x34xi8>
  %za = linalg.fill ins(%zero : f32) outs(%a : tensor<?x64xf32>) -> tensor<?x64xf32>
  %zb = linalg.fill ins(%zero : f32) outs(%b : tensor<?x40xf32>) -> tensor<?x40xf32>
  %p = linalg.matmul indexing_maps = [#x, #w, #y] ins(%x, %w : tensor<?x96xf16>, tensor<64x96xf16>)
      outs(%za : tensor<?x64xf32>) -> tensor<?x64xf32>
  %r = linalg.matmul indexing_maps = [#x, #w, #y] ins(%x, %g : tensor<?x96xf16>, tensor<40x96xf32>)
      outs(%zb : tensor<?x40xf32>) -> tensor<?x40xf32>
  return %p, %r : tensor<?x64xf32>, tensor<?x40xf32>
}

// -----

#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (n, k)>
#y = affine_map<(m, n, k) -> (m, n)>
#i = affine_map<(m, n) -> (m, n)>

// The halves of a gated product are scaled apart, each with the scales of its
// columns, so that they stay all that is read of it.
// CHECK-LABEL: func @gate
// CHECK:         %[[P:.+]] = gist.scaled_matmul
// CHECK-DAG:     %[[A:.+]] = tensor.extract_slice %[[P]][0, 0] [%{{.+}}, 32] [1, 1]
// CHECK-DAG:     %[[B:.+]] = tensor.extract_slice %[[P]][0, 32] [%{{.+}}, 32] [1, 1]
// CHECK-DAG:     %[[AS:.+]] = tensor.extract_slice %{{.+}}[0] [32] [1] : tensor<64xf32>
// CHECK-DAG:     %[[BS:.+]] = tensor.extract_slice %{{.+}}[32] [32] [1] : tensor<64xf32>
// CHECK-DAG:     linalg.generic {{.*}} ins(%[[A]], %[[AS]] :
// CHECK-DAG:     linalg.generic {{.*}} ins(%[[B]], %[[BS]] :
func.func @gate(%x: tensor<?x96xf16>, %a: tensor<?x64xf32>, %m: index) -> tensor<?x32xf32> {
  %zero = arith.constant 0.0 : f32
  %w = gist.weight "a" : tensor<64x96xf16>
  %za = linalg.fill ins(%zero : f32) outs(%a : tensor<?x64xf32>) -> tensor<?x64xf32>
  %p = linalg.matmul indexing_maps = [#x, #w, #y] ins(%x, %w : tensor<?x96xf16>, tensor<64x96xf16>)
      outs(%za : tensor<?x64xf32>) -> tensor<?x64xf32>
  %g = tensor.extract_slice %p[0, 0] [%m, 32] [1, 1] : tensor<?x64xf32> to tensor<?x32xf32>
  %u = tensor.extract_slice %p[0, 32] [%m, 32] [1, 1] : tensor<?x64xf32> to tensor<?x32xf32>
  %e = tensor.empty(%m) : tensor<?x32xf32>
  %y = linalg.generic {indexing_maps = [#i, #i, #i], iterator_types = ["parallel", "parallel"]}
      ins(%g, %u : tensor<?x32xf32>, tensor<?x32xf32>) outs(%e : tensor<?x32xf32>) {
  ^bb0(%s: f32, %t: f32, %o: f32):
    %r = arith.mulf %s, %t : f32
    linalg.yield %r : f32
  } -> tensor<?x32xf32>
  return %y : tensor<?x32xf32>
}

// -----

#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (n, k)>
#y = affine_map<(m, n, k) -> (m, n)>

// A row is multiplied as it is: the weight is what takes time to read.
// CHECK-LABEL: func @one_row
// CHECK-NOT:     gist.quantize_blocks
// CHECK:         %[[V:.+]] = gist.weight "a" {gist.by_row = i8}
// CHECK:         %[[S:.+]] = gist.weight "a" {gist.by_row = i8}
// CHECK:         %[[W:.+]] = linalg.generic {{.*}} ins(%[[V]], %[[S]] :
// CHECK:         linalg.matmul {{.*}} ins(%{{.+}}, %[[W]] : tensor<1x96xf32>, tensor<64x96xf32>)
func.func @one_row(%x: tensor<1x96xf32>, %a: tensor<1x64xf32>) -> tensor<1x64xf32> {
  %zero = arith.constant 0.0 : f32
  %w = gist.weight "a" : tensor<64x96xf16>
  %za = linalg.fill ins(%zero : f32) outs(%a : tensor<1x64xf32>) -> tensor<1x64xf32>
  %p = linalg.matmul indexing_maps = [#x, #w, #y] ins(%x, %w : tensor<1x96xf32>, tensor<64x96xf16>)
      outs(%za : tensor<1x64xf32>) -> tensor<1x64xf32>
  return %p : tensor<1x64xf32>
}

// -----

#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (n, k)>
#y = affine_map<(m, n, k) -> (m, n)>

// Left alone: a weight that is read otherwise, one whose rows are not whole
// pieces of 32, and one that is no weight of the model.
// CHECK-LABEL: func @others
// CHECK-NOT:     gist.by_row
// CHECK-COUNT-3: linalg.matmul
func.func @others(%x: tensor<?x96xf16>, %z: tensor<?x40xf16>, %v: tensor<64x96xf16>, %a: tensor<?x64xf32>)
    -> (tensor<?x64xf32>, tensor<?x64xf32>, tensor<?x64xf32>, tensor<1x96xf16>) {
  %zero = arith.constant 0.0 : f32
  %w = gist.weight "a" : tensor<64x96xf16>
  %u = gist.weight "b" : tensor<64x40xf16>
  %s = tensor.extract_slice %w[3, 0] [1, 96] [1, 1] : tensor<64x96xf16> to tensor<1x96xf16>
  %za = linalg.fill ins(%zero : f32) outs(%a : tensor<?x64xf32>) -> tensor<?x64xf32>
  %p = linalg.matmul indexing_maps = [#x, #w, #y] ins(%x, %w : tensor<?x96xf16>, tensor<64x96xf16>)
      outs(%za : tensor<?x64xf32>) -> tensor<?x64xf32>
  %q = linalg.matmul indexing_maps = [#x, #w, #y] ins(%z, %u : tensor<?x40xf16>, tensor<64x40xf16>)
      outs(%za : tensor<?x64xf32>) -> tensor<?x64xf32>
  %r = linalg.matmul indexing_maps = [#x, #w, #y] ins(%x, %v : tensor<?x96xf16>, tensor<64x96xf16>)
      outs(%za : tensor<?x64xf32>) -> tensor<?x64xf32>
  return %p, %q, %r, %s : tensor<?x64xf32>, tensor<?x64xf32>, tensor<?x64xf32>, tensor<1x96xf16>
}
