#map = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d3, d4)>
#map1 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>
#map2 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map3 = affine_map<(d0) -> (d0)>
#map4 = affine_map<(d0, d1) -> (0, d1)>
#map5 = affine_map<(d0, d1) -> (d0, 0)>
#map6 = affine_map<(d0, d1) -> (d0, d1)>
#map7 = affine_map<(d0, d1, d2, d3) -> (d2, d3)>
#map8 = affine_map<(d0, d1, d2, d3) -> ()>
#map9 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
#map10 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, 0)>
module {
  func.func @grouped(%arg0: tensor<1x4x12x8xf32>, %arg1: tensor<1x2x12x8xf32>, %arg2: tensor<1x2x12x8xf32>) -> tensor<1x4x12x8xf32> {
    %c0_i64 = arith.constant 0 : i64
    %cst = arith.constant 0.000000e+00 : f32
    %true = arith.constant true
    %cst_0 = arith.constant 0xFF800000 : f32
    %cst_1 = arith.constant dense<0xFF800000> : tensor<f32>
    %cst_2 = arith.constant dense<true> : tensor<12x12xi1>
    %cst_3 = arith.constant 2.500000e-01 : f32
    %0 = tensor.empty() : tensor<1x2x2x12x8xf32>
    %1 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%arg1 : tensor<1x2x12x8xf32>) outs(%0 : tensor<1x2x2x12x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x2x2x12x8xf32>
    %collapsed = tensor.collapse_shape %1 [[0], [1, 2], [3], [4]] : tensor<1x2x2x12x8xf32> into tensor<1x4x12x8xf32>
    %2 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%arg2 : tensor<1x2x12x8xf32>) outs(%0 : tensor<1x2x2x12x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x2x2x12x8xf32>
    %3 = tensor.empty() : tensor<1x4x8x12xf32>
    %transposed = linalg.transpose ins(%collapsed : tensor<1x4x12x8xf32>) outs(%3 : tensor<1x4x8x12xf32>) permutation = [0, 1, 3, 2] 
    %collapsed_4 = tensor.collapse_shape %arg0 [[0, 1], [2], [3]] : tensor<1x4x12x8xf32> into tensor<4x12x8xf32>
    %collapsed_5 = tensor.collapse_shape %transposed [[0, 1], [2], [3]] : tensor<1x4x8x12xf32> into tensor<4x8x12xf32>
    %4 = tensor.empty() : tensor<4x12x12xf32>
    %5 = linalg.fill ins(%cst : f32) outs(%4 : tensor<4x12x12xf32>) -> tensor<4x12x12xf32>
    %6 = linalg.batch_matmul ins(%collapsed_4, %collapsed_5 : tensor<4x12x8xf32>, tensor<4x8x12xf32>) outs(%5 : tensor<4x12x12xf32>) -> tensor<4x12x12xf32>
    %expanded = tensor.expand_shape %6 [[0, 1], [2], [3]] output_shape [1, 4, 12, 12] : tensor<4x12x12xf32> into tensor<1x4x12x12xf32>
    %7 = tensor.empty() : tensor<1x4x12x12xf32>
    %8 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded : tensor<1x4x12x12xf32>) outs(%7 : tensor<1x4x12x12xf32>) {
    ^bb0(%in: f32, %out: f32):
      %32 = arith.mulf %in, %cst_3 : f32
      linalg.yield %32 : f32
    } -> tensor<1x4x12x12xf32>
    %9 = tensor.empty() : tensor<12xi64>
    %10 = linalg.generic {indexing_maps = [#map3], iterator_types = ["parallel"]} outs(%9 : tensor<12xi64>) {
    ^bb0(%out: i64):
      %32 = linalg.index 0 : index
      %33 = arith.index_cast %32 : index to i64
      linalg.yield %33 : i64
    } -> tensor<12xi64>
    %expanded_6 = tensor.expand_shape %10 [[0, 1]] output_shape [1, 12] : tensor<12xi64> into tensor<1x12xi64>
    %expanded_7 = tensor.expand_shape %10 [[0, 1]] output_shape [12, 1] : tensor<12xi64> into tensor<12x1xi64>
    %11 = tensor.empty() : tensor<12x12xi64>
    %12 = linalg.generic {indexing_maps = [#map4, #map5, #map6], iterator_types = ["parallel", "parallel"]} ins(%expanded_6, %expanded_7 : tensor<1x12xi64>, tensor<12x1xi64>) outs(%11 : tensor<12x12xi64>) {
    ^bb0(%in: i64, %in_12: i64, %out: i64):
      %32 = arith.subi %in, %in_12 : i64
      linalg.yield %32 : i64
    } -> tensor<12x12xi64>
    %13 = tensor.empty() : tensor<12x12xi1>
    %14 = linalg.generic {indexing_maps = [#map6, #map6], iterator_types = ["parallel", "parallel"]} ins(%12 : tensor<12x12xi64>) outs(%13 : tensor<12x12xi1>) {
    ^bb0(%in: i64, %out: i1):
      %32 = arith.cmpi sle, %in, %c0_i64 : i64
      linalg.yield %32 : i1
    } -> tensor<12x12xi1>
    %15 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel"]} ins(%14, %cst_2 : tensor<12x12xi1>, tensor<12x12xi1>) outs(%13 : tensor<12x12xi1>) {
    ^bb0(%in: i1, %in_12: i1, %out: i1):
      %32 = arith.andi %in, %in_12 : i1
      linalg.yield %32 : i1
    } -> tensor<12x12xi1>
    %16 = linalg.generic {indexing_maps = [#map6, #map6], iterator_types = ["parallel", "parallel"]} ins(%15 : tensor<12x12xi1>) outs(%13 : tensor<12x12xi1>) {
    ^bb0(%in: i1, %out: i1):
      %32 = arith.xori %in, %true : i1
      linalg.yield %32 : i1
    } -> tensor<12x12xi1>
    %17 = linalg.generic {indexing_maps = [#map7, #map8, #map2, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%16, %cst_1, %8 : tensor<12x12xi1>, tensor<f32>, tensor<1x4x12x12xf32>) outs(%7 : tensor<1x4x12x12xf32>) {
    ^bb0(%in: i1, %in_12: f32, %in_13: f32, %out: f32):
      %32 = arith.select %in, %in_12, %in_13 : f32
      linalg.yield %32 : f32
    } -> tensor<1x4x12x12xf32>
    %18 = tensor.empty() : tensor<1x4x12xi64>
    %19 = linalg.fill ins(%c0_i64 : i64) outs(%18 : tensor<1x4x12xi64>) -> tensor<1x4x12xi64>
    %20 = tensor.empty() : tensor<1x4x12xf32>
    %21 = linalg.fill ins(%cst_0 : f32) outs(%20 : tensor<1x4x12xf32>) -> tensor<1x4x12xf32>
    %22:2 = linalg.generic {indexing_maps = [#map2, #map9, #map9], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%17 : tensor<1x4x12x12xf32>) outs(%21, %19 : tensor<1x4x12xf32>, tensor<1x4x12xi64>) {
    ^bb0(%in: f32, %out: f32, %out_12: i64):
      %32 = linalg.index 3 : index
      %33 = arith.index_cast %32 : index to i64
      %34 = arith.maximumf %in, %out : f32
      %35 = arith.cmpf ogt, %in, %out : f32
      %36 = arith.select %35, %33, %out_12 : i64
      linalg.yield %34, %36 : f32, i64
    } -> (tensor<1x4x12xf32>, tensor<1x4x12xi64>)
    %expanded_8 = tensor.expand_shape %22#0 [[0], [1], [2, 3]] output_shape [1, 4, 12, 1] : tensor<1x4x12xf32> into tensor<1x4x12x1xf32>
    %23 = linalg.generic {indexing_maps = [#map2, #map10, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%17, %expanded_8 : tensor<1x4x12x12xf32>, tensor<1x4x12x1xf32>) outs(%7 : tensor<1x4x12x12xf32>) {
    ^bb0(%in: f32, %in_12: f32, %out: f32):
      %32 = arith.subf %in, %in_12 : f32
      linalg.yield %32 : f32
    } -> tensor<1x4x12x12xf32>
    %24 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%23 : tensor<1x4x12x12xf32>) outs(%7 : tensor<1x4x12x12xf32>) {
    ^bb0(%in: f32, %out: f32):
      %32 = math.exp %in : f32
      linalg.yield %32 : f32
    } -> tensor<1x4x12x12xf32>
    %25 = tensor.empty() : tensor<1x4x12x1xf32>
    %26 = linalg.fill ins(%cst : f32) outs(%25 : tensor<1x4x12x1xf32>) -> tensor<1x4x12x1xf32>
    %27 = linalg.generic {indexing_maps = [#map2, #map10], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%24 : tensor<1x4x12x12xf32>) outs(%26 : tensor<1x4x12x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %32 = arith.addf %in, %out : f32
      linalg.yield %32 : f32
    } -> tensor<1x4x12x1xf32>
    %28 = linalg.generic {indexing_maps = [#map2, #map10, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%24, %27 : tensor<1x4x12x12xf32>, tensor<1x4x12x1xf32>) outs(%7 : tensor<1x4x12x12xf32>) {
    ^bb0(%in: f32, %in_12: f32, %out: f32):
      %32 = arith.divf %in, %in_12 : f32
      linalg.yield %32 : f32
    } -> tensor<1x4x12x12xf32>
    %collapsed_9 = tensor.collapse_shape %28 [[0, 1], [2], [3]] : tensor<1x4x12x12xf32> into tensor<4x12x12xf32>
    %collapsed_10 = tensor.collapse_shape %2 [[0, 1, 2], [3], [4]] : tensor<1x2x2x12x8xf32> into tensor<4x12x8xf32>
    %29 = tensor.empty() : tensor<4x12x8xf32>
    %30 = linalg.fill ins(%cst : f32) outs(%29 : tensor<4x12x8xf32>) -> tensor<4x12x8xf32>
    %31 = linalg.batch_matmul ins(%collapsed_9, %collapsed_10 : tensor<4x12x12xf32>, tensor<4x12x8xf32>) outs(%30 : tensor<4x12x8xf32>) -> tensor<4x12x8xf32>
    %expanded_11 = tensor.expand_shape %31 [[0, 1], [2], [3]] output_shape [1, 4, 12, 8] : tensor<4x12x8xf32> into tensor<1x4x12x8xf32>
    return %expanded_11 : tensor<1x4x12x8xf32>
  }
}
