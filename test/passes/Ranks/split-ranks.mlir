// RUN: gist-opt %s -split-input-file -gist-split-ranks="rank=0 ranks=2" | FileCheck %s --check-prefixes=CHECK,FIRST
// RUN: gist-opt %s -split-input-file -gist-split-ranks="rank=1 ranks=2" | FileCheck %s --check-prefixes=CHECK,SECOND
// RUN: gist-opt %s -split-input-file -gist-split-ranks="rank=1 ranks=2 sums" | FileCheck %s --check-prefix=SUM
// RUN: not gist-opt %s -split-input-file -gist-split-ranks="rank=2 ranks=2" 2>&1 | FileCheck %s --check-prefix=NONE

// NONE: has no rank 2 of 2; ranks are counted from 0

#rows = affine_map<(d0, d1, d2) -> (d0, d2)>
#weight = affine_map<(d0, d1, d2) -> (d1, d2)>
#result = affine_map<(d0, d1, d2) -> (d0, d1)>
#all = affine_map<(d0, d1) -> (d0, d1)>

// Two products with something elementwise between them: columns 0 to 47 and 48
// to 95. Both ranks read all of them in the second product and give 16 of its
// columns each; or each has a part of the sum. The first input is given, so the
// first product is not an inner one.
// FIRST-DAG:  gist.weight_part @"up[0:48]" of "up" axis 0 offset 0 size 48
// FIRST-DAG:  gist.weight_part @"down[0:16]" of "down" axis 0 offset 0 size 16
// SECOND-DAG: gist.weight_part @"up[48:96]" of "up" axis 0 offset 48 size 48
// SECOND-DAG: gist.weight_part @"down[16:32]" of "down" axis 0 offset 16 size 16
// SUM-DAG:    gist.weight_part @"up[48:96]" of "up" axis 0 offset 48 size 48
// SUM-DAG:    gist.weight_part @"down[:, 48:96]" of "down" axis 1 offset 48 size 48
// CHECK-LABEL: func.func @feed_forward
// CHECK-SAME:    %[[X:.+]]: tensor<?x32xf32>
func.func @feed_forward(%x: tensor<?x32xf32>) -> tensor<?x32xf32> {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %t = tensor.dim %x, %c0 : tensor<?x32xf32>
  // FIRST:  %[[UP:.+]] = gist.weight "up[0:48]" layer 0 : tensor<48x32xf32>
  // SECOND: %[[UP:.+]] = gist.weight "up[48:96]" layer 0 : tensor<48x32xf32>
  %up = gist.weight "up" layer 0 : tensor<96x32xf32>
  %e0 = tensor.empty(%t) : tensor<?x96xf32>
  %z0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<?x96xf32>) -> tensor<?x96xf32>
  // CHECK: %[[H:.+]] = linalg.matmul {{.*}} ins(%[[X]], %[[UP]] : tensor<?x32xf32>, tensor<48x32xf32>)
  %h = linalg.matmul indexing_maps = [#rows, #weight, #result]
      ins(%x, %up : tensor<?x32xf32>, tensor<96x32xf32>)
      outs(%z0 : tensor<?x96xf32>) -> tensor<?x96xf32>
  // CHECK: %[[A:.+]] = linalg.generic {{.*}} ins(%[[H]] : tensor<?x48xf32>)
  %a = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]}
      ins(%h : tensor<?x96xf32>) outs(%e0 : tensor<?x96xf32>) {
  ^bb0(%in: f32, %out: f32):
    %n = arith.mulf %in, %in : f32
    linalg.yield %n : f32
  } -> tensor<?x96xf32>
  // CHECK: %[[DOWN:.+]] = gist.weight "down[{{.*}}]" layer 0 : tensor<16x96xf32>
  %down = gist.weight "down" layer 0 : tensor<32x96xf32>
  %e1 = tensor.empty(%t) : tensor<?x32xf32>
  %z1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<?x32xf32>) -> tensor<?x32xf32>
  // CHECK: %[[ALL:.+]] = gist.all_gather %[[A]] columns [48, 48] : tensor<?x48xf32>
  // CHECK: %[[PART:.+]] = linalg.matmul {{.*}} ins(%[[ALL]], %[[DOWN]] : tensor<?x96xf32>, tensor<16x96xf32>)
  // CHECK: %[[Y:.+]] = gist.all_gather %[[PART]] columns [16, 16] : tensor<?x16xf32>
  // SUM: %[[OWN:.+]] = linalg.matmul {{.*}} : tensor<?x48xf32>, tensor<32x48xf32>)
  // SUM: %[[SUM:.+]] = gist.all_reduce %[[OWN]] : tensor<?x32xf32>
  %y = linalg.matmul indexing_maps = [#rows, #weight, #result]
      ins(%a, %down : tensor<?x96xf32>, tensor<32x96xf32>)
      outs(%z1 : tensor<?x32xf32>) -> tensor<?x32xf32>
  // CHECK: return %[[Y]]
  // SUM: return %[[SUM]]
  return %y : tensor<?x32xf32>
}

// -----

#rows = affine_map<(d0, d1, d2) -> (d0, d2)>
#weight = affine_map<(d0, d1, d2) -> (d1, d2)>
#result = affine_map<(d0, d1, d2) -> (d0, d1)>

// Logits: 101 rows are 50 and 51, and gathered.
// CHECK-LABEL: func.func @logits
func.func @logits(%x: tensor<?x32xf32>) -> tensor<?x101xf32> {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %t = tensor.dim %x, %c0 : tensor<?x32xf32>
  // FIRST:  gist.weight "head[0:50]" : tensor<50x32xf32>
  // SECOND: gist.weight "head[50:101]" : tensor<51x32xf32>
  %w = gist.weight "head" : tensor<101x32xf32>
  %e = tensor.empty(%t) : tensor<?x101xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<?x101xf32>) -> tensor<?x101xf32>
  %y = linalg.matmul indexing_maps = [#rows, #weight, #result]
      ins(%x, %w : tensor<?x32xf32>, tensor<101x32xf32>)
      outs(%z : tensor<?x101xf32>) -> tensor<?x101xf32>
  // FIRST:  gist.all_gather %{{.+}} columns [50, 51] : tensor<?x50xf32>
  // SECOND: gist.all_gather %{{.+}} columns [50, 51] : tensor<?x51xf32>
  return %y : tensor<?x101xf32>
}

// -----

#rows = affine_map<(d0, d1, d2) -> (d0, d2)>
#weight = affine_map<(d0, d1, d2) -> (d1, d2)>
#result = affine_map<(d0, d1, d2) -> (d0, d1)>

// The second product reads its input by blocks of 32, of which there is one:
// nothing can be a part of a sum. Its rows can be shared out.
// CHECK-LABEL: func.func @one_block
// CHECK:         gist.weight "down[{{0:8|8:16}}]" layer 0 : tensor<8x1x34xi8>
// SUM-LABEL:   func.func @one_block
// SUM-NOT:       gist.all_reduce
// SUM:           gist.weight "down" layer 0 : tensor<16x1x34xi8>
func.func @one_block(%x: tensor<?x16xf32>) -> tensor<?x16xf32> {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %t = tensor.dim %x, %c0 : tensor<?x16xf32>
  %up = gist.weight "up" layer 0 : tensor<32x16xf32>
  %e0 = tensor.empty(%t) : tensor<?x32xf32>
  %z0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<?x32xf32>) -> tensor<?x32xf32>
  %h = linalg.matmul indexing_maps = [#rows, #weight, #result]
      ins(%x, %up : tensor<?x16xf32>, tensor<32x16xf32>)
      outs(%z0 : tensor<?x32xf32>) -> tensor<?x32xf32>
  %blocks = gist.weight "down" layer 0 : tensor<16x1x34xi8>
  %down = gist.dequantize %blocks format q8_0 : tensor<16x1x34xi8>
  %e1 = tensor.empty(%t) : tensor<?x16xf32>
  %z1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<?x16xf32>) -> tensor<?x16xf32>
  %y = linalg.matmul indexing_maps = [#rows, #weight, #result]
      ins(%h, %down : tensor<?x32xf32>, tensor<16x32xf32>)
      outs(%z1 : tensor<?x16xf32>) -> tensor<?x16xf32>
  return %y : tensor<?x16xf32>
}

// -----

#rows = affine_map<(d0, d1, d2) -> (d0, d2)>
#weight = affine_map<(d0, d1, d2) -> (d1, d2)>
#result = affine_map<(d0, d1, d2) -> (d0, d1)>

// A result without columns has none to share: only what is between the products
// is split.
// FIRST-LABEL: func.func @no_columns
// FIRST:         gist.all_gather
// FIRST:         %[[Y:.+]] = linalg.matmul
// FIRST-NEXT:    return %[[Y]]
func.func @no_columns(%x: tensor<?x0xf32>) -> tensor<?x0xf32> {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %t = tensor.dim %x, %c0 : tensor<?x0xf32>
  %up = gist.weight "up" layer 0 : tensor<32x0xf32>
  %e0 = tensor.empty(%t) : tensor<?x32xf32>
  %z0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<?x32xf32>) -> tensor<?x32xf32>
  %h = linalg.matmul indexing_maps = [#rows, #weight, #result]
      ins(%x, %up : tensor<?x0xf32>, tensor<32x0xf32>)
      outs(%z0 : tensor<?x32xf32>) -> tensor<?x32xf32>
  %blocks = gist.weight "down" layer 0 : tensor<0x1x34xi8>
  %down = gist.dequantize %blocks format q8_0 : tensor<0x1x34xi8>
  %e1 = tensor.empty(%t) : tensor<?x0xf32>
  %z1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<?x0xf32>) -> tensor<?x0xf32>
  %y = linalg.matmul indexing_maps = [#rows, #weight, #result]
      ins(%h, %down : tensor<?x32xf32>, tensor<0x32xf32>)
      outs(%z1 : tensor<?x0xf32>) -> tensor<?x0xf32>
  return %y : tensor<?x0xf32>
}
