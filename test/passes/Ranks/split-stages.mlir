// RUN: gist-opt %s -gist-split-stages="stage=0 stages=2" | FileCheck %s --check-prefix=FIRST
// RUN: gist-opt %s -gist-split-stages="stage=1 stages=2" | FileCheck %s --check-prefix=SECOND
// RUN: not gist-opt %s -gist-split-stages="stage=2 stages=2" 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not gist-opt %s -gist-split-stages="stage=0 stages=3" 2>&1 | FileCheck %s --check-prefix=FEW

// NONE: has no stage 2 of 2; stages are counted from 0
// FEW: has 2 layers, too few for 3 stages

#rows = affine_map<(d0, d1, d2) -> (d0, d2)>
#weight = affine_map<(d0, d1, d2) -> (d1, d2)>
#result = affine_map<(d0, d1, d2) -> (d0, d1)>
#all = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// Each stage has one layer, and its layer of the cache. The sum of squares of the
// first layer's rows is read by the second alone, which makes it again.
// FIRST-LABEL:  func.func @two_layers
// FIRST-SAME:     %[[X:.+]]: tensor<?x8xf32>, %[[C:.+]]: tensor<1x4x1x8xf32>
// FIRST:          gist.weight "first" layer 0
// FIRST-NOT:      gist.weight
// FIRST:          %[[Y:.+]] = linalg.matmul {{.*}} ins(%[[X]]
// FIRST:          %[[ON:.+]] = gist.hand_on %[[Y]] from 0 to 1 : tensor<?x8xf32>
// FIRST:          %[[NEW:.+]] = tensor.insert_slice %{{.+}} into %[[C]][0, 0, 0, 0] [1, 1, 1, 8]
// FIRST:          %[[COLUMN:.+]] = tensor.extract_slice %[[ON]][0, 0] [%{{.+}}, 1]
// FIRST:          %[[STAND:.+]] = linalg.generic {{.*}} ins(%[[COLUMN]]
// FIRST:          %[[LOGITS:.+]] = gist.hand_on %[[STAND]] from 1 to 0 : tensor<?x16xf32>
// FIRST:          return %[[LOGITS]], %[[NEW]]

// SECOND-LABEL: func.func @two_layers
// SECOND-SAME:    %{{.+}}: tensor<?x8xf32>, %[[C:.+]]: tensor<1x4x1x8xf32>
// SECOND-NOT:     gist.weight "first"
// SECOND:         %[[ON:.+]] = gist.hand_on %{{.+}} from 0 to 1 : tensor<?x8xf32>
// SECOND:         linalg.generic {{.*}} ins(%[[ON]]
// SECOND:         gist.weight "second" layer 1
// SECOND:         linalg.matmul {{.*}} ins(%[[ON]]
// SECOND:         %[[NEW:.+]] = tensor.insert_slice %{{.+}} into %[[C]][0, 0, 0, 0] [1, 1, 1, 8]
// SECOND:         gist.weight "head"
// SECOND:         %[[OWN:.+]] = linalg.matmul
// SECOND:         %[[LOGITS:.+]] = gist.hand_on %[[OWN]] from 1 to 0 : tensor<?x16xf32>
// SECOND:         return %[[LOGITS]], %[[NEW]]
func.func @two_layers(%x: tensor<?x8xf32>, %cache: tensor<2x4x1x8xf32>)
    -> (tensor<?x16xf32>, tensor<2x4x1x8xf32>) {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %t = tensor.dim %x, %c0 : tensor<?x8xf32>
  %e = tensor.empty(%t) : tensor<?x8xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<?x8xf32>) -> tensor<?x8xf32>
  %w0 = gist.weight "first" layer 0 : tensor<8x8xf32>
  %y0 = linalg.matmul indexing_maps = [#rows, #weight, #result]
      ins(%x, %w0 : tensor<?x8xf32>, tensor<8x8xf32>)
      outs(%z : tensor<?x8xf32>) -> tensor<?x8xf32>
  %s0 = tensor.extract_slice %y0[0, 0] [1, 8] [1, 1] : tensor<?x8xf32> to tensor<1x8xf32>
  %r0 = tensor.expand_shape %s0 [[0], [1, 2]] output_shape [1, 1, 8] : tensor<1x8xf32> into tensor<1x1x8xf32>
  %cache0 = tensor.insert_slice %r0 into %cache[0, 0, 0, 0] [1, 1, 1, 8] [1, 1, 1, 1]
      : tensor<1x1x8xf32> into tensor<2x4x1x8xf32>
  %es = tensor.empty(%t) : tensor<?xf32>
  %zs = linalg.fill ins(%zero : f32) outs(%es : tensor<?xf32>) -> tensor<?xf32>
  %squares = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
      ins(%y0 : tensor<?x8xf32>) outs(%zs : tensor<?xf32>) {
  ^bb0(%in: f32, %out: f32):
    %s = arith.mulf %in, %in : f32
    %n = arith.addf %s, %out : f32
    linalg.yield %n : f32
  } -> tensor<?xf32>
  %w1 = gist.weight "second" layer 1 : tensor<8x8xf32>
  %y1 = linalg.matmul indexing_maps = [#rows, #weight, #result]
      ins(%y0, %w1 : tensor<?x8xf32>, tensor<8x8xf32>)
      outs(%z : tensor<?x8xf32>) -> tensor<?x8xf32>
  %scaled = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]}
      ins(%y1, %squares : tensor<?x8xf32>, tensor<?xf32>) outs(%e : tensor<?x8xf32>) {
  ^bb0(%in: f32, %square: f32, %out: f32):
    %n = arith.mulf %in, %square : f32
    linalg.yield %n : f32
  } -> tensor<?x8xf32>
  %s1 = tensor.extract_slice %scaled[0, 0] [1, 8] [1, 1] : tensor<?x8xf32> to tensor<1x8xf32>
  %r1 = tensor.expand_shape %s1 [[0], [1, 2]] output_shape [1, 1, 8] : tensor<1x8xf32> into tensor<1x1x8xf32>
  %cache1 = tensor.insert_slice %r1 into %cache0[1, 0, 0, 0] [1, 1, 1, 8] [1, 1, 1, 1]
      : tensor<1x1x8xf32> into tensor<2x4x1x8xf32>
  %h = gist.weight "head" : tensor<16x8xf32>
  %eh = tensor.empty(%t) : tensor<?x16xf32>
  %zh = linalg.fill ins(%zero : f32) outs(%eh : tensor<?x16xf32>) -> tensor<?x16xf32>
  %logits = linalg.matmul indexing_maps = [#rows, #weight, #result]
      ins(%scaled, %h : tensor<?x8xf32>, tensor<16x8xf32>)
      outs(%zh : tensor<?x16xf32>) -> tensor<?x16xf32>
  return %logits, %cache1 : tensor<?x16xf32>, tensor<2x4x1x8xf32>
}
