#map = affine_map<(d0) -> (d0)>
#map1 = affine_map<(d0, d1, d2) -> (d0, d1)>
#map2 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map3 = affine_map<(d0, d1) -> ()>
#map4 = affine_map<(d0, d1) -> (d0, d1)>
#map5 = affine_map<(d0, d1, d2) -> (d0, d1, 0)>
#map6 = affine_map<(d0, d1, d2) -> (d2)>
#map7 = affine_map<(d0, d1) -> (d1)>
#map8 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map9 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
#map10 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, 0)>
module {
  func.func @main(%arg0: tensor<1x?xi64>) -> tensor<1x?x12xf32> {
    %true = arith.constant true
    %c0_i64 = arith.constant 0 : i64
    %c1_i64 = arith.constant 1 : i64
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c7 = arith.constant 7 : index
    %c16 = arith.constant 16 : index
    %c2 = arith.constant 2 : index
    %cst = arith.constant 0.000000e+00 : f64
    %cst_0 = arith.constant 0.000000e+00 : f32
    %c3_i64 = arith.constant 3 : i64
    %cst_1 = arith.constant 0xFF800000 : f32
    %cst_2 = arith.constant 1.000000e+00 : f32
    %cst_3 = arith.constant 5.000000e-01 : f32
    %cst_4 = arith.constant dense_resource<torch_tensor_12_torch.float32_19> : tensor<12xf32>
    %cst_5 = arith.constant dense_resource<torch_tensor_12_torch.float32_18> : tensor<12xf32>
    %cst_6 = arith.constant dense_resource<torch_tensor_12_torch.float32_17> : tensor<12xf32>
    %cst_7 = arith.constant dense_resource<torch_tensor_12_5_torch.float32_1> : tensor<12x5xf32>
    %cst_8 = arith.constant dense_resource<torch_tensor_5_torch.float32_1> : tensor<5xf32>
    %cst_9 = arith.constant dense_resource<torch_tensor_5_12_torch.float32_1> : tensor<5x12xf32>
    %cst_10 = arith.constant dense_resource<torch_tensor_12_torch.float32_16> : tensor<12xf32>
    %cst_11 = arith.constant dense_resource<torch_tensor_12_torch.float32_15> : tensor<12xf32>
    %cst_12 = arith.constant dense_resource<torch_tensor_12_torch.float32_14> : tensor<12xf32>
    %cst_13 = arith.constant dense_resource<torch_tensor_12_12_torch.float32_7> : tensor<12x12xf32>
    %cst_14 = arith.constant dense_resource<torch_tensor_12_torch.float32_13> : tensor<12xf32>
    %cst_15 = arith.constant dense_resource<torch_tensor_12_12_torch.float32_6> : tensor<12x12xf32>
    %cst_16 = arith.constant dense_resource<torch_tensor_12_torch.float32_12> : tensor<12xf32>
    %cst_17 = arith.constant dense_resource<torch_tensor_12_12_torch.float32_5> : tensor<12x12xf32>
    %cst_18 = arith.constant dense_resource<torch_tensor_12_torch.float32_11> : tensor<12xf32>
    %cst_19 = arith.constant dense_resource<torch_tensor_12_12_torch.float32_4> : tensor<12x12xf32>
    %cst_20 = arith.constant dense_resource<torch_tensor_12_torch.float32_10> : tensor<12xf32>
    %cst_21 = arith.constant dense_resource<torch_tensor_12_torch.float32_9> : tensor<12xf32>
    %cst_22 = arith.constant dense_resource<torch_tensor_12_torch.float32_8> : tensor<12xf32>
    %cst_23 = arith.constant dense_resource<torch_tensor_12_5_torch.float32> : tensor<12x5xf32>
    %cst_24 = arith.constant dense_resource<torch_tensor_5_torch.float32> : tensor<5xf32>
    %cst_25 = arith.constant dense_resource<torch_tensor_5_12_torch.float32> : tensor<5x12xf32>
    %cst_26 = arith.constant dense_resource<torch_tensor_12_torch.float32_7> : tensor<12xf32>
    %cst_27 = arith.constant dense_resource<torch_tensor_12_torch.float32_6> : tensor<12xf32>
    %cst_28 = arith.constant dense_resource<torch_tensor_12_torch.float32_5> : tensor<12xf32>
    %cst_29 = arith.constant dense_resource<torch_tensor_12_12_torch.float32_3> : tensor<12x12xf32>
    %cst_30 = arith.constant dense_resource<torch_tensor_12_torch.float32_4> : tensor<12xf32>
    %cst_31 = arith.constant dense_resource<torch_tensor_12_12_torch.float32_2> : tensor<12x12xf32>
    %cst_32 = arith.constant dense_resource<torch_tensor_12_torch.float32_3> : tensor<12xf32>
    %cst_33 = arith.constant dense_resource<torch_tensor_12_12_torch.float32_1> : tensor<12x12xf32>
    %cst_34 = arith.constant dense_resource<torch_tensor_12_torch.float32_2> : tensor<12xf32>
    %cst_35 = arith.constant dense_resource<torch_tensor_12_12_torch.float32> : tensor<12x12xf32>
    %cst_36 = arith.constant dense_resource<torch_tensor_12_torch.float32_1> : tensor<12xf32>
    %cst_37 = arith.constant dense_resource<torch_tensor_12_torch.float32> : tensor<12xf32>
    %cst_38 = arith.constant 9.9999999999999998E-13 : f64
    %cst_39 = arith.constant dense_resource<torch_tensor_2_12_torch.float32> : tensor<2x12xf32>
    %cst_40 = arith.constant dense_resource<torch_tensor_16_12_torch.float32> : tensor<16x12xf32>
    %cst_41 = arith.constant dense_resource<torch_tensor_7_12_torch.float32> : tensor<7x12xf32>
    %cst_42 = arith.constant 1.200000e+01 : f64
    %cst_43 = arith.constant 1.200000e+01 : f32
    %cst_44 = arith.constant 2.000000e+00 : f32
    %cst_45 = arith.constant 1.41421354 : f32
    %cst_46 = arith.constant dense<0> : tensor<i64>
    %dim = tensor.dim %arg0, %c1 : tensor<1x?xi64>
    %0 = arith.index_cast %dim : index to i64
    %1 = tensor.empty(%dim) : tensor<?xi64>
    %2 = linalg.generic {indexing_maps = [#map], iterator_types = ["parallel"]} outs(%1 : tensor<?xi64>) {
    ^bb0(%out: i64):
      %194 = linalg.index 0 : index
      %195 = arith.index_cast %194 : index to i64
      linalg.yield %195 : i64
    } -> tensor<?xi64>
    %expanded = tensor.expand_shape %2 [[0, 1]] output_shape [1, %dim] : tensor<?xi64> into tensor<1x?xi64>
    %3 = tensor.empty(%dim) : tensor<1x?x12xf32>
    %4 = linalg.generic {indexing_maps = [#map1, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg0 : tensor<1x?xi64>) outs(%3 : tensor<1x?x12xf32>) {
    ^bb0(%in: i64, %out: f32):
      %194 = arith.index_cast %in : i64 to index
      %195 = linalg.index 2 : index
      %196 = arith.cmpi slt, %194, %c7 : index
      cf.assert %196, "index must be smaller than dim size"
      %197 = arith.cmpi sge, %in, %c0_i64 : i64
      cf.assert %197, "index must be larger or equal to 0"
      %extracted = tensor.extract %cst_41[%194, %195] : tensor<7x12xf32>
      linalg.yield %extracted : f32
    } -> tensor<1x?x12xf32>
    %5 = linalg.generic {indexing_maps = [#map1, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded : tensor<1x?xi64>) outs(%3 : tensor<1x?x12xf32>) {
    ^bb0(%in: i64, %out: f32):
      %194 = arith.index_cast %in : i64 to index
      %195 = linalg.index 2 : index
      %196 = arith.cmpi slt, %194, %c16 : index
      cf.assert %196, "index must be smaller than dim size"
      %197 = arith.cmpi sge, %in, %c0_i64 : i64
      cf.assert %197, "index must be larger or equal to 0"
      %extracted = tensor.extract %cst_40[%194, %195] : tensor<16x12xf32>
      linalg.yield %extracted : f32
    } -> tensor<1x?x12xf32>
    %6 = linalg.generic {indexing_maps = [#map2, #map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%4, %5 : tensor<1x?x12xf32>, tensor<1x?x12xf32>) outs(%3 : tensor<1x?x12xf32>) {
    ^bb0(%in: f32, %in_99: f32, %out: f32):
      %194 = arith.addf %in, %in_99 : f32
      linalg.yield %194 : f32
    } -> tensor<1x?x12xf32>
    %7 = arith.cmpi sge, %0, %c0_i64 : i64
    cf.assert %7, "negative values not allowed in new dimensions"
    %8 = tensor.empty(%dim) : tensor<1x?xi64>
    %9 = linalg.generic {indexing_maps = [#map3, #map4], iterator_types = ["parallel", "parallel"]} ins(%cst_46 : tensor<i64>) outs(%8 : tensor<1x?xi64>) {
    ^bb0(%in: i64, %out: i64):
      linalg.yield %in : i64
    } -> tensor<1x?xi64>
    %10 = tensor.empty(%dim) : tensor<1x?x12xf32>
    %11 = linalg.generic {indexing_maps = [#map1, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%9 : tensor<1x?xi64>) outs(%10 : tensor<1x?x12xf32>) {
    ^bb0(%in: i64, %out: f32):
      %194 = arith.index_cast %in : i64 to index
      %195 = linalg.index 2 : index
      %196 = arith.cmpi slt, %194, %c2 : index
      cf.assert %196, "index must be smaller than dim size"
      %197 = arith.cmpi sge, %in, %c0_i64 : i64
      cf.assert %197, "index must be larger or equal to 0"
      %extracted = tensor.extract %cst_39[%194, %195] : tensor<2x12xf32>
      linalg.yield %extracted : f32
    } -> tensor<1x?x12xf32>
    cf.assert %true, "mismatched size for broadcast"
    %12 = linalg.generic {indexing_maps = [#map2, #map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%6, %11 : tensor<1x?x12xf32>, tensor<1x?x12xf32>) outs(%3 : tensor<1x?x12xf32>) {
    ^bb0(%in: f32, %in_99: f32, %out: f32):
      %194 = arith.addf %in, %in_99 : f32
      linalg.yield %194 : f32
    } -> tensor<1x?x12xf32>
    %13 = tensor.empty(%dim) : tensor<1x?x12xf64>
    %14 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%12 : tensor<1x?x12xf32>) outs(%13 : tensor<1x?x12xf64>) {
    ^bb0(%in: f32, %out: f64):
      %194 = arith.extf %in : f32 to f64
      linalg.yield %194 : f64
    } -> tensor<1x?x12xf64>
    %15 = tensor.empty(%dim) : tensor<1x?x1xf64>
    %16 = linalg.fill ins(%cst : f64) outs(%15 : tensor<1x?x1xf64>) -> tensor<1x?x1xf64>
    %17 = linalg.generic {indexing_maps = [#map2, #map5], iterator_types = ["parallel", "parallel", "reduction"]} ins(%14 : tensor<1x?x12xf64>) outs(%16 : tensor<1x?x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %194 = arith.addf %in, %out : f64
      linalg.yield %194 : f64
    } -> tensor<1x?x1xf64>
    %18 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%17 : tensor<1x?x1xf64>) outs(%15 : tensor<1x?x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %194 = arith.divf %in, %cst_42 : f64
      linalg.yield %194 : f64
    } -> tensor<1x?x1xf64>
    %19 = linalg.generic {indexing_maps = [#map2, #map5, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%14, %18 : tensor<1x?x12xf64>, tensor<1x?x1xf64>) outs(%13 : tensor<1x?x12xf64>) {
    ^bb0(%in: f64, %in_99: f64, %out: f64):
      %194 = arith.subf %in, %in_99 : f64
      linalg.yield %194 : f64
    } -> tensor<1x?x12xf64>
    %20 = linalg.generic {indexing_maps = [#map2, #map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%19, %19 : tensor<1x?x12xf64>, tensor<1x?x12xf64>) outs(%13 : tensor<1x?x12xf64>) {
    ^bb0(%in: f64, %in_99: f64, %out: f64):
      %194 = arith.mulf %in, %in_99 : f64
      linalg.yield %194 : f64
    } -> tensor<1x?x12xf64>
    %21 = linalg.generic {indexing_maps = [#map2, #map5], iterator_types = ["parallel", "parallel", "reduction"]} ins(%20 : tensor<1x?x12xf64>) outs(%16 : tensor<1x?x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %194 = arith.addf %in, %out : f64
      linalg.yield %194 : f64
    } -> tensor<1x?x1xf64>
    %22 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%21 : tensor<1x?x1xf64>) outs(%15 : tensor<1x?x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %194 = arith.divf %in, %cst_42 : f64
      linalg.yield %194 : f64
    } -> tensor<1x?x1xf64>
    %23 = tensor.empty(%dim) : tensor<1x?x1xf32>
    %24 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%22 : tensor<1x?x1xf64>) outs(%23 : tensor<1x?x1xf32>) {
    ^bb0(%in: f64, %out: f32):
      %194 = arith.truncf %in : f64 to f32
      linalg.yield %194 : f32
    } -> tensor<1x?x1xf32>
    %25 = linalg.fill ins(%cst_0 : f32) outs(%23 : tensor<1x?x1xf32>) -> tensor<1x?x1xf32>
    %26 = linalg.generic {indexing_maps = [#map2, #map5], iterator_types = ["parallel", "parallel", "reduction"]} ins(%12 : tensor<1x?x12xf32>) outs(%25 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %194 = arith.addf %in, %out : f32
      linalg.yield %194 : f32
    } -> tensor<1x?x1xf32>
    %27 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%26 : tensor<1x?x1xf32>) outs(%23 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %194 = arith.divf %in, %cst_43 : f32
      linalg.yield %194 : f32
    } -> tensor<1x?x1xf32>
    %28 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%24 : tensor<1x?x1xf32>) outs(%23 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %194 = arith.truncf %cst_38 : f64 to f32
      %195 = arith.addf %in, %194 : f32
      linalg.yield %195 : f32
    } -> tensor<1x?x1xf32>
    %29 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%28 : tensor<1x?x1xf32>) outs(%23 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %194 = math.rsqrt %in : f32
      linalg.yield %194 : f32
    } -> tensor<1x?x1xf32>
    %30 = linalg.generic {indexing_maps = [#map2, #map5, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%12, %27 : tensor<1x?x12xf32>, tensor<1x?x1xf32>) outs(%3 : tensor<1x?x12xf32>) {
    ^bb0(%in: f32, %in_99: f32, %out: f32):
      %194 = arith.subf %in, %in_99 : f32
      linalg.yield %194 : f32
    } -> tensor<1x?x12xf32>
    %31 = linalg.generic {indexing_maps = [#map2, #map5, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%30, %29 : tensor<1x?x12xf32>, tensor<1x?x1xf32>) outs(%3 : tensor<1x?x12xf32>) {
    ^bb0(%in: f32, %in_99: f32, %out: f32):
      %194 = arith.mulf %in, %in_99 : f32
      linalg.yield %194 : f32
    } -> tensor<1x?x12xf32>
    %32 = linalg.generic {indexing_maps = [#map2, #map6, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%31, %cst_37 : tensor<1x?x12xf32>, tensor<12xf32>) outs(%3 : tensor<1x?x12xf32>) {
    ^bb0(%in: f32, %in_99: f32, %out: f32):
      %194 = arith.mulf %in, %in_99 : f32
      linalg.yield %194 : f32
    } -> tensor<1x?x12xf32>
    %33 = linalg.generic {indexing_maps = [#map2, #map6, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%32, %cst_36 : tensor<1x?x12xf32>, tensor<12xf32>) outs(%3 : tensor<1x?x12xf32>) {
    ^bb0(%in: f32, %in_99: f32, %out: f32):
      %194 = arith.addf %in, %in_99 : f32
      linalg.yield %194 : f32
    } -> tensor<1x?x12xf32>
    %collapsed = tensor.collapse_shape %33 [[0, 1], [2]] : tensor<1x?x12xf32> into tensor<?x12xf32>
    %34 = tensor.empty() : tensor<12x12xf32>
    %transposed = linalg.transpose ins(%cst_35 : tensor<12x12xf32>) outs(%34 : tensor<12x12xf32>) permutation = [1, 0] 
    %35 = tensor.empty(%dim) : tensor<?x12xf32>
    %36 = linalg.fill ins(%cst_0 : f32) outs(%35 : tensor<?x12xf32>) -> tensor<?x12xf32>
    %37 = linalg.matmul ins(%collapsed, %transposed : tensor<?x12xf32>, tensor<12x12xf32>) outs(%36 : tensor<?x12xf32>) -> tensor<?x12xf32>
    %38 = linalg.generic {indexing_maps = [#map4, #map7, #map4], iterator_types = ["parallel", "parallel"]} ins(%37, %cst_34 : tensor<?x12xf32>, tensor<12xf32>) outs(%35 : tensor<?x12xf32>) {
    ^bb0(%in: f32, %in_99: f32, %out: f32):
      %194 = arith.addf %in, %in_99 : f32
      linalg.yield %194 : f32
    } -> tensor<?x12xf32>
    %expanded_47 = tensor.expand_shape %38 [[0, 1], [2, 3]] output_shape [1, %dim, 3, 4] : tensor<?x12xf32> into tensor<1x?x3x4xf32>
    %39 = tensor.empty(%dim) : tensor<1x3x?x4xf32>
    %transposed_48 = linalg.transpose ins(%expanded_47 : tensor<1x?x3x4xf32>) outs(%39 : tensor<1x3x?x4xf32>) permutation = [0, 2, 1, 3] 
    %transposed_49 = linalg.transpose ins(%cst_33 : tensor<12x12xf32>) outs(%34 : tensor<12x12xf32>) permutation = [1, 0] 
    %40 = linalg.matmul ins(%collapsed, %transposed_49 : tensor<?x12xf32>, tensor<12x12xf32>) outs(%36 : tensor<?x12xf32>) -> tensor<?x12xf32>
    %41 = linalg.generic {indexing_maps = [#map4, #map7, #map4], iterator_types = ["parallel", "parallel"]} ins(%40, %cst_32 : tensor<?x12xf32>, tensor<12xf32>) outs(%35 : tensor<?x12xf32>) {
    ^bb0(%in: f32, %in_99: f32, %out: f32):
      %194 = arith.addf %in, %in_99 : f32
      linalg.yield %194 : f32
    } -> tensor<?x12xf32>
    %expanded_50 = tensor.expand_shape %41 [[0, 1], [2, 3]] output_shape [1, %dim, 3, 4] : tensor<?x12xf32> into tensor<1x?x3x4xf32>
    %transposed_51 = linalg.transpose ins(%cst_31 : tensor<12x12xf32>) outs(%34 : tensor<12x12xf32>) permutation = [1, 0] 
    %42 = linalg.matmul ins(%collapsed, %transposed_51 : tensor<?x12xf32>, tensor<12x12xf32>) outs(%36 : tensor<?x12xf32>) -> tensor<?x12xf32>
    %43 = linalg.generic {indexing_maps = [#map4, #map7, #map4], iterator_types = ["parallel", "parallel"]} ins(%42, %cst_30 : tensor<?x12xf32>, tensor<12xf32>) outs(%35 : tensor<?x12xf32>) {
    ^bb0(%in: f32, %in_99: f32, %out: f32):
      %194 = arith.addf %in, %in_99 : f32
      linalg.yield %194 : f32
    } -> tensor<?x12xf32>
    %expanded_52 = tensor.expand_shape %43 [[0, 1], [2, 3]] output_shape [1, %dim, 3, 4] : tensor<?x12xf32> into tensor<1x?x3x4xf32>
    %transposed_53 = linalg.transpose ins(%expanded_52 : tensor<1x?x3x4xf32>) outs(%39 : tensor<1x3x?x4xf32>) permutation = [0, 2, 1, 3] 
    %44 = tensor.empty(%dim) : tensor<1x3x4x?xf32>
    %transposed_54 = linalg.transpose ins(%expanded_50 : tensor<1x?x3x4xf32>) outs(%44 : tensor<1x3x4x?xf32>) permutation = [0, 2, 3, 1] 
    cf.assert %7, "unimplemented: dynamic negative broadcast sizes"
    %45 = tensor.empty(%dim) : tensor<1x3x?x4xf32>
    %46 = linalg.generic {indexing_maps = [#map8], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%45 : tensor<1x3x?x4xf32>) {
    ^bb0(%out: f32):
      %194 = linalg.index 1 : index
      %195 = linalg.index 2 : index
      %196 = linalg.index 3 : index
      %197 = arith.cmpi eq, %dim, %c1 : index
      %198 = arith.select %197, %c0, %195 : index
      %extracted = tensor.extract %transposed_48[%c0, %194, %198, %196] : tensor<1x3x?x4xf32>
      linalg.yield %extracted : f32
    } -> tensor<1x3x?x4xf32>
    %collapsed_55 = tensor.collapse_shape %46 [[0, 1], [2], [3]] : tensor<1x3x?x4xf32> into tensor<3x?x4xf32>
    cf.assert %7, "unimplemented: dynamic negative broadcast sizes"
    %47 = tensor.empty(%dim) : tensor<1x3x4x?xf32>
    %48 = linalg.generic {indexing_maps = [#map8], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%47 : tensor<1x3x4x?xf32>) {
    ^bb0(%out: f32):
      %194 = linalg.index 1 : index
      %195 = linalg.index 2 : index
      %196 = linalg.index 3 : index
      %197 = arith.cmpi eq, %dim, %c1 : index
      %198 = arith.select %197, %c0, %196 : index
      %extracted = tensor.extract %transposed_54[%c0, %194, %195, %198] : tensor<1x3x4x?xf32>
      linalg.yield %extracted : f32
    } -> tensor<1x3x4x?xf32>
    %collapsed_56 = tensor.collapse_shape %48 [[0, 1], [2], [3]] : tensor<1x3x4x?xf32> into tensor<3x4x?xf32>
    %49 = tensor.empty(%dim, %dim) : tensor<3x?x?xf32>
    %50 = linalg.fill ins(%cst_0 : f32) outs(%49 : tensor<3x?x?xf32>) -> tensor<3x?x?xf32>
    %51 = linalg.batch_matmul ins(%collapsed_55, %collapsed_56 : tensor<3x?x4xf32>, tensor<3x4x?xf32>) outs(%50 : tensor<3x?x?xf32>) -> tensor<3x?x?xf32>
    %52 = arith.muli %0, %c3_i64 : i64
    %53 = arith.cmpi slt, %0, %c0_i64 : i64
    %54 = arith.select %53, %c3_i64, %52 : i64
    %55 = arith.extui %53 : i1 to i64
    %56 = arith.muli %54, %0 : i64
    %57 = arith.addi %55, %c1_i64 : i64
    %58 = arith.select %53, %c3_i64, %56 : i64
    %59 = arith.select %53, %57, %55 : i64
    %60 = arith.cmpi sle, %59, %c1_i64 : i64
    cf.assert %60, "must have at most one inferred (negative) dimension"
    %61 = arith.muli %52, %0 : i64
    %62 = arith.divsi %61, %58 : i64
    %63 = arith.select %53, %62, %0 : i64
    %from_elements = tensor.from_elements %c1_i64, %c3_i64, %63, %63 : tensor<4xi64>
    %reshape = tensor.reshape %51(%from_elements) : (tensor<3x?x?xf32>, tensor<4xi64>) -> tensor<1x3x?x?xf32>
    %64 = arith.index_cast %63 : i64 to index
    %65 = tensor.empty(%64, %64) : tensor<1x3x?x?xf32>
    %66 = linalg.generic {indexing_maps = [#map8, #map8], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%reshape : tensor<1x3x?x?xf32>) outs(%65 : tensor<1x3x?x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %194 = arith.divf %in, %cst_44 : f32
      linalg.yield %194 : f32
    } -> tensor<1x3x?x?xf32>
    %67 = tensor.empty(%64) : tensor<1x3x?xi64>
    %68 = linalg.fill ins(%c0_i64 : i64) outs(%67 : tensor<1x3x?xi64>) -> tensor<1x3x?xi64>
    %69 = tensor.empty(%64) : tensor<1x3x?xf32>
    %70 = linalg.fill ins(%cst_1 : f32) outs(%69 : tensor<1x3x?xf32>) -> tensor<1x3x?xf32>
    %71:2 = linalg.generic {indexing_maps = [#map8, #map9, #map9], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%66 : tensor<1x3x?x?xf32>) outs(%70, %68 : tensor<1x3x?xf32>, tensor<1x3x?xi64>) {
    ^bb0(%in: f32, %out: f32, %out_99: i64):
      %194 = linalg.index 3 : index
      %195 = arith.index_cast %194 : index to i64
      %196 = arith.maximumf %in, %out : f32
      %197 = arith.cmpf ogt, %in, %out : f32
      %198 = arith.select %197, %195, %out_99 : i64
      linalg.yield %196, %198 : f32, i64
    } -> (tensor<1x3x?xf32>, tensor<1x3x?xi64>)
    %expanded_57 = tensor.expand_shape %71#0 [[0], [1], [2, 3]] output_shape [1, 3, %64, 1] : tensor<1x3x?xf32> into tensor<1x3x?x1xf32>
    %72 = linalg.generic {indexing_maps = [#map8, #map10, #map8], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%66, %expanded_57 : tensor<1x3x?x?xf32>, tensor<1x3x?x1xf32>) outs(%65 : tensor<1x3x?x?xf32>) {
    ^bb0(%in: f32, %in_99: f32, %out: f32):
      %194 = arith.subf %in, %in_99 : f32
      linalg.yield %194 : f32
    } -> tensor<1x3x?x?xf32>
    %73 = linalg.generic {indexing_maps = [#map8, #map8], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%72 : tensor<1x3x?x?xf32>) outs(%65 : tensor<1x3x?x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %194 = math.exp %in : f32
      linalg.yield %194 : f32
    } -> tensor<1x3x?x?xf32>
    %74 = tensor.empty(%64) : tensor<1x3x?x1xf32>
    %75 = linalg.fill ins(%cst_0 : f32) outs(%74 : tensor<1x3x?x1xf32>) -> tensor<1x3x?x1xf32>
    %76 = linalg.generic {indexing_maps = [#map8, #map10], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%73 : tensor<1x3x?x?xf32>) outs(%75 : tensor<1x3x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %194 = arith.addf %in, %out : f32
      linalg.yield %194 : f32
    } -> tensor<1x3x?x1xf32>
    %77 = linalg.generic {indexing_maps = [#map8, #map10, #map8], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%73, %76 : tensor<1x3x?x?xf32>, tensor<1x3x?x1xf32>) outs(%65 : tensor<1x3x?x?xf32>) {
    ^bb0(%in: f32, %in_99: f32, %out: f32):
      %194 = arith.divf %in, %in_99 : f32
      linalg.yield %194 : f32
    } -> tensor<1x3x?x?xf32>
    cf.assert %7, "unimplemented: dynamic negative broadcast sizes"
    cf.assert %7, "unimplemented: dynamic negative broadcast sizes"
    %78 = tensor.empty(%dim, %dim) : tensor<1x3x?x?xf32>
    %79 = linalg.generic {indexing_maps = [#map8], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%78 : tensor<1x3x?x?xf32>) {
    ^bb0(%out: f32):
      %194 = linalg.index 1 : index
      %195 = linalg.index 2 : index
      %196 = linalg.index 3 : index
      %197 = arith.cmpi eq, %64, %c1 : index
      %198 = arith.select %197, %c0, %195 : index
      %199 = arith.select %197, %c0, %196 : index
      %extracted = tensor.extract %77[%c0, %194, %198, %199] : tensor<1x3x?x?xf32>
      linalg.yield %extracted : f32
    } -> tensor<1x3x?x?xf32>
    cf.assert %60, "must have at most one inferred (negative) dimension"
    %from_elements_58 = tensor.from_elements %c3_i64, %63, %63 : tensor<3xi64>
    %reshape_59 = tensor.reshape %79(%from_elements_58) : (tensor<1x3x?x?xf32>, tensor<3xi64>) -> tensor<3x?x?xf32>
    cf.assert %7, "unimplemented: dynamic negative broadcast sizes"
    %80 = linalg.generic {indexing_maps = [#map8], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%45 : tensor<1x3x?x4xf32>) {
    ^bb0(%out: f32):
      %194 = linalg.index 1 : index
      %195 = linalg.index 2 : index
      %196 = linalg.index 3 : index
      %197 = arith.cmpi eq, %dim, %c1 : index
      %198 = arith.select %197, %c0, %195 : index
      %extracted = tensor.extract %transposed_53[%c0, %194, %198, %196] : tensor<1x3x?x4xf32>
      linalg.yield %extracted : f32
    } -> tensor<1x3x?x4xf32>
    %collapsed_60 = tensor.collapse_shape %80 [[0, 1], [2], [3]] : tensor<1x3x?x4xf32> into tensor<3x?x4xf32>
    %81 = arith.cmpi eq, %63, %0 : i64
    cf.assert %81, "mismatching contracting dimension"
    %82 = tensor.empty(%64) : tensor<3x?x4xf32>
    %83 = linalg.fill ins(%cst_0 : f32) outs(%82 : tensor<3x?x4xf32>) -> tensor<3x?x4xf32>
    %84 = linalg.batch_matmul ins(%reshape_59, %collapsed_60 : tensor<3x?x?xf32>, tensor<3x?x4xf32>) outs(%83 : tensor<3x?x4xf32>) -> tensor<3x?x4xf32>
    %expanded_61 = tensor.expand_shape %84 [[0, 1], [2], [3]] output_shape [1, 3, %64, 4] : tensor<3x?x4xf32> into tensor<1x3x?x4xf32>
    %85 = tensor.empty(%64) : tensor<1x?x3x4xf32>
    %transposed_62 = linalg.transpose ins(%expanded_61 : tensor<1x3x?x4xf32>) outs(%85 : tensor<1x?x3x4xf32>) permutation = [0, 2, 1, 3] 
    %collapsed_63 = tensor.collapse_shape %transposed_62 [[0, 1], [2, 3]] : tensor<1x?x3x4xf32> into tensor<?x12xf32>
    %transposed_64 = linalg.transpose ins(%cst_29 : tensor<12x12xf32>) outs(%34 : tensor<12x12xf32>) permutation = [1, 0] 
    %86 = tensor.empty(%64) : tensor<?x12xf32>
    %87 = linalg.fill ins(%cst_0 : f32) outs(%86 : tensor<?x12xf32>) -> tensor<?x12xf32>
    %88 = linalg.matmul ins(%collapsed_63, %transposed_64 : tensor<?x12xf32>, tensor<12x12xf32>) outs(%87 : tensor<?x12xf32>) -> tensor<?x12xf32>
    %89 = linalg.generic {indexing_maps = [#map4, #map7, #map4], iterator_types = ["parallel", "parallel"]} ins(%88, %cst_28 : tensor<?x12xf32>, tensor<12xf32>) outs(%86 : tensor<?x12xf32>) {
    ^bb0(%in: f32, %in_99: f32, %out: f32):
      %194 = arith.addf %in, %in_99 : f32
      linalg.yield %194 : f32
    } -> tensor<?x12xf32>
    %expanded_65 = tensor.expand_shape %89 [[0, 1], [2]] output_shape [1, %64, 12] : tensor<?x12xf32> into tensor<1x?x12xf32>
    %90 = arith.cmpi eq, %dim, %64 : index
    cf.assert %90, "mismatched size for broadcast"
    %91 = linalg.generic {indexing_maps = [#map2, #map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%33, %expanded_65 : tensor<1x?x12xf32>, tensor<1x?x12xf32>) outs(%3 : tensor<1x?x12xf32>) {
    ^bb0(%in: f32, %in_99: f32, %out: f32):
      %194 = arith.addf %in, %in_99 : f32
      linalg.yield %194 : f32
    } -> tensor<1x?x12xf32>
    %92 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%91 : tensor<1x?x12xf32>) outs(%13 : tensor<1x?x12xf64>) {
    ^bb0(%in: f32, %out: f64):
      %194 = arith.extf %in : f32 to f64
      linalg.yield %194 : f64
    } -> tensor<1x?x12xf64>
    %93 = linalg.generic {indexing_maps = [#map2, #map5], iterator_types = ["parallel", "parallel", "reduction"]} ins(%92 : tensor<1x?x12xf64>) outs(%16 : tensor<1x?x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %194 = arith.addf %in, %out : f64
      linalg.yield %194 : f64
    } -> tensor<1x?x1xf64>
    %94 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%93 : tensor<1x?x1xf64>) outs(%15 : tensor<1x?x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %194 = arith.divf %in, %cst_42 : f64
      linalg.yield %194 : f64
    } -> tensor<1x?x1xf64>
    %95 = linalg.generic {indexing_maps = [#map2, #map5, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%92, %94 : tensor<1x?x12xf64>, tensor<1x?x1xf64>) outs(%13 : tensor<1x?x12xf64>) {
    ^bb0(%in: f64, %in_99: f64, %out: f64):
      %194 = arith.subf %in, %in_99 : f64
      linalg.yield %194 : f64
    } -> tensor<1x?x12xf64>
    %96 = linalg.generic {indexing_maps = [#map2, #map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%95, %95 : tensor<1x?x12xf64>, tensor<1x?x12xf64>) outs(%13 : tensor<1x?x12xf64>) {
    ^bb0(%in: f64, %in_99: f64, %out: f64):
      %194 = arith.mulf %in, %in_99 : f64
      linalg.yield %194 : f64
    } -> tensor<1x?x12xf64>
    %97 = linalg.generic {indexing_maps = [#map2, #map5], iterator_types = ["parallel", "parallel", "reduction"]} ins(%96 : tensor<1x?x12xf64>) outs(%16 : tensor<1x?x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %194 = arith.addf %in, %out : f64
      linalg.yield %194 : f64
    } -> tensor<1x?x1xf64>
    %98 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%97 : tensor<1x?x1xf64>) outs(%15 : tensor<1x?x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %194 = arith.divf %in, %cst_42 : f64
      linalg.yield %194 : f64
    } -> tensor<1x?x1xf64>
    %99 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%98 : tensor<1x?x1xf64>) outs(%23 : tensor<1x?x1xf32>) {
    ^bb0(%in: f64, %out: f32):
      %194 = arith.truncf %in : f64 to f32
      linalg.yield %194 : f32
    } -> tensor<1x?x1xf32>
    %100 = linalg.generic {indexing_maps = [#map2, #map5], iterator_types = ["parallel", "parallel", "reduction"]} ins(%91 : tensor<1x?x12xf32>) outs(%25 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %194 = arith.addf %in, %out : f32
      linalg.yield %194 : f32
    } -> tensor<1x?x1xf32>
    %101 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%100 : tensor<1x?x1xf32>) outs(%23 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %194 = arith.divf %in, %cst_43 : f32
      linalg.yield %194 : f32
    } -> tensor<1x?x1xf32>
    %102 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%99 : tensor<1x?x1xf32>) outs(%23 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %194 = arith.truncf %cst_38 : f64 to f32
      %195 = arith.addf %in, %194 : f32
      linalg.yield %195 : f32
    } -> tensor<1x?x1xf32>
    %103 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%102 : tensor<1x?x1xf32>) outs(%23 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %194 = math.rsqrt %in : f32
      linalg.yield %194 : f32
    } -> tensor<1x?x1xf32>
    %104 = linalg.generic {indexing_maps = [#map2, #map5, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%91, %101 : tensor<1x?x12xf32>, tensor<1x?x1xf32>) outs(%3 : tensor<1x?x12xf32>) {
    ^bb0(%in: f32, %in_99: f32, %out: f32):
      %194 = arith.subf %in, %in_99 : f32
      linalg.yield %194 : f32
    } -> tensor<1x?x12xf32>
    %105 = linalg.generic {indexing_maps = [#map2, #map5, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%104, %103 : tensor<1x?x12xf32>, tensor<1x?x1xf32>) outs(%3 : tensor<1x?x12xf32>) {
    ^bb0(%in: f32, %in_99: f32, %out: f32):
      %194 = arith.mulf %in, %in_99 : f32
      linalg.yield %194 : f32
    } -> tensor<1x?x12xf32>
    %106 = linalg.generic {indexing_maps = [#map2, #map6, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%105, %cst_27 : tensor<1x?x12xf32>, tensor<12xf32>) outs(%3 : tensor<1x?x12xf32>) {
    ^bb0(%in: f32, %in_99: f32, %out: f32):
      %194 = arith.mulf %in, %in_99 : f32
      linalg.yield %194 : f32
    } -> tensor<1x?x12xf32>
    %107 = linalg.generic {indexing_maps = [#map2, #map6, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%106, %cst_26 : tensor<1x?x12xf32>, tensor<12xf32>) outs(%3 : tensor<1x?x12xf32>) {
    ^bb0(%in: f32, %in_99: f32, %out: f32):
      %194 = arith.addf %in, %in_99 : f32
      linalg.yield %194 : f32
    } -> tensor<1x?x12xf32>
    %collapsed_66 = tensor.collapse_shape %107 [[0, 1], [2]] : tensor<1x?x12xf32> into tensor<?x12xf32>
    %108 = tensor.empty() : tensor<12x5xf32>
    %transposed_67 = linalg.transpose ins(%cst_25 : tensor<5x12xf32>) outs(%108 : tensor<12x5xf32>) permutation = [1, 0] 
    %109 = tensor.empty(%dim) : tensor<?x5xf32>
    %110 = linalg.fill ins(%cst_0 : f32) outs(%109 : tensor<?x5xf32>) -> tensor<?x5xf32>
    %111 = linalg.matmul ins(%collapsed_66, %transposed_67 : tensor<?x12xf32>, tensor<12x5xf32>) outs(%110 : tensor<?x5xf32>) -> tensor<?x5xf32>
    %112 = linalg.generic {indexing_maps = [#map4, #map7, #map4], iterator_types = ["parallel", "parallel"]} ins(%111, %cst_24 : tensor<?x5xf32>, tensor<5xf32>) outs(%109 : tensor<?x5xf32>) {
    ^bb0(%in: f32, %in_99: f32, %out: f32):
      %194 = arith.addf %in, %in_99 : f32
      linalg.yield %194 : f32
    } -> tensor<?x5xf32>
    %expanded_68 = tensor.expand_shape %112 [[0, 1], [2]] output_shape [1, %dim, 5] : tensor<?x5xf32> into tensor<1x?x5xf32>
    %113 = tensor.empty(%dim) : tensor<1x?x5xf32>
    %114 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_68 : tensor<1x?x5xf32>) outs(%113 : tensor<1x?x5xf32>) {
    ^bb0(%in: f32, %out: f32):
      %194 = arith.divf %in, %cst_45 : f32
      %195 = math.erf %194 : f32
      %196 = arith.addf %195, %cst_2 : f32
      %197 = arith.mulf %196, %cst_3 : f32
      %198 = arith.mulf %in, %197 : f32
      linalg.yield %198 : f32
    } -> tensor<1x?x5xf32>
    %collapsed_69 = tensor.collapse_shape %114 [[0, 1], [2]] : tensor<1x?x5xf32> into tensor<?x5xf32>
    %115 = tensor.empty() : tensor<5x12xf32>
    %transposed_70 = linalg.transpose ins(%cst_23 : tensor<12x5xf32>) outs(%115 : tensor<5x12xf32>) permutation = [1, 0] 
    %116 = linalg.matmul ins(%collapsed_69, %transposed_70 : tensor<?x5xf32>, tensor<5x12xf32>) outs(%36 : tensor<?x12xf32>) -> tensor<?x12xf32>
    %117 = linalg.generic {indexing_maps = [#map4, #map7, #map4], iterator_types = ["parallel", "parallel"]} ins(%116, %cst_22 : tensor<?x12xf32>, tensor<12xf32>) outs(%35 : tensor<?x12xf32>) {
    ^bb0(%in: f32, %in_99: f32, %out: f32):
      %194 = arith.addf %in, %in_99 : f32
      linalg.yield %194 : f32
    } -> tensor<?x12xf32>
    %expanded_71 = tensor.expand_shape %117 [[0, 1], [2]] output_shape [1, %dim, 12] : tensor<?x12xf32> into tensor<1x?x12xf32>
    %118 = linalg.generic {indexing_maps = [#map2, #map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%107, %expanded_71 : tensor<1x?x12xf32>, tensor<1x?x12xf32>) outs(%3 : tensor<1x?x12xf32>) {
    ^bb0(%in: f32, %in_99: f32, %out: f32):
      %194 = arith.addf %in, %in_99 : f32
      linalg.yield %194 : f32
    } -> tensor<1x?x12xf32>
    %119 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%118 : tensor<1x?x12xf32>) outs(%13 : tensor<1x?x12xf64>) {
    ^bb0(%in: f32, %out: f64):
      %194 = arith.extf %in : f32 to f64
      linalg.yield %194 : f64
    } -> tensor<1x?x12xf64>
    %120 = linalg.generic {indexing_maps = [#map2, #map5], iterator_types = ["parallel", "parallel", "reduction"]} ins(%119 : tensor<1x?x12xf64>) outs(%16 : tensor<1x?x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %194 = arith.addf %in, %out : f64
      linalg.yield %194 : f64
    } -> tensor<1x?x1xf64>
    %121 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%120 : tensor<1x?x1xf64>) outs(%15 : tensor<1x?x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %194 = arith.divf %in, %cst_42 : f64
      linalg.yield %194 : f64
    } -> tensor<1x?x1xf64>
    %122 = linalg.generic {indexing_maps = [#map2, #map5, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%119, %121 : tensor<1x?x12xf64>, tensor<1x?x1xf64>) outs(%13 : tensor<1x?x12xf64>) {
    ^bb0(%in: f64, %in_99: f64, %out: f64):
      %194 = arith.subf %in, %in_99 : f64
      linalg.yield %194 : f64
    } -> tensor<1x?x12xf64>
    %123 = linalg.generic {indexing_maps = [#map2, #map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%122, %122 : tensor<1x?x12xf64>, tensor<1x?x12xf64>) outs(%13 : tensor<1x?x12xf64>) {
    ^bb0(%in: f64, %in_99: f64, %out: f64):
      %194 = arith.mulf %in, %in_99 : f64
      linalg.yield %194 : f64
    } -> tensor<1x?x12xf64>
    %124 = linalg.generic {indexing_maps = [#map2, #map5], iterator_types = ["parallel", "parallel", "reduction"]} ins(%123 : tensor<1x?x12xf64>) outs(%16 : tensor<1x?x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %194 = arith.addf %in, %out : f64
      linalg.yield %194 : f64
    } -> tensor<1x?x1xf64>
    %125 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%124 : tensor<1x?x1xf64>) outs(%15 : tensor<1x?x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %194 = arith.divf %in, %cst_42 : f64
      linalg.yield %194 : f64
    } -> tensor<1x?x1xf64>
    %126 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%125 : tensor<1x?x1xf64>) outs(%23 : tensor<1x?x1xf32>) {
    ^bb0(%in: f64, %out: f32):
      %194 = arith.truncf %in : f64 to f32
      linalg.yield %194 : f32
    } -> tensor<1x?x1xf32>
    %127 = linalg.generic {indexing_maps = [#map2, #map5], iterator_types = ["parallel", "parallel", "reduction"]} ins(%118 : tensor<1x?x12xf32>) outs(%25 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %194 = arith.addf %in, %out : f32
      linalg.yield %194 : f32
    } -> tensor<1x?x1xf32>
    %128 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%127 : tensor<1x?x1xf32>) outs(%23 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %194 = arith.divf %in, %cst_43 : f32
      linalg.yield %194 : f32
    } -> tensor<1x?x1xf32>
    %129 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%126 : tensor<1x?x1xf32>) outs(%23 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %194 = arith.truncf %cst_38 : f64 to f32
      %195 = arith.addf %in, %194 : f32
      linalg.yield %195 : f32
    } -> tensor<1x?x1xf32>
    %130 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%129 : tensor<1x?x1xf32>) outs(%23 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %194 = math.rsqrt %in : f32
      linalg.yield %194 : f32
    } -> tensor<1x?x1xf32>
    %131 = linalg.generic {indexing_maps = [#map2, #map5, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%118, %128 : tensor<1x?x12xf32>, tensor<1x?x1xf32>) outs(%3 : tensor<1x?x12xf32>) {
    ^bb0(%in: f32, %in_99: f32, %out: f32):
      %194 = arith.subf %in, %in_99 : f32
      linalg.yield %194 : f32
    } -> tensor<1x?x12xf32>
    %132 = linalg.generic {indexing_maps = [#map2, #map5, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%131, %130 : tensor<1x?x12xf32>, tensor<1x?x1xf32>) outs(%3 : tensor<1x?x12xf32>) {
    ^bb0(%in: f32, %in_99: f32, %out: f32):
      %194 = arith.mulf %in, %in_99 : f32
      linalg.yield %194 : f32
    } -> tensor<1x?x12xf32>
    %133 = linalg.generic {indexing_maps = [#map2, #map6, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%132, %cst_21 : tensor<1x?x12xf32>, tensor<12xf32>) outs(%3 : tensor<1x?x12xf32>) {
    ^bb0(%in: f32, %in_99: f32, %out: f32):
      %194 = arith.mulf %in, %in_99 : f32
      linalg.yield %194 : f32
    } -> tensor<1x?x12xf32>
    %134 = linalg.generic {indexing_maps = [#map2, #map6, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%133, %cst_20 : tensor<1x?x12xf32>, tensor<12xf32>) outs(%3 : tensor<1x?x12xf32>) {
    ^bb0(%in: f32, %in_99: f32, %out: f32):
      %194 = arith.addf %in, %in_99 : f32
      linalg.yield %194 : f32
    } -> tensor<1x?x12xf32>
    %collapsed_72 = tensor.collapse_shape %134 [[0, 1], [2]] : tensor<1x?x12xf32> into tensor<?x12xf32>
    %transposed_73 = linalg.transpose ins(%cst_19 : tensor<12x12xf32>) outs(%34 : tensor<12x12xf32>) permutation = [1, 0] 
    %135 = linalg.matmul ins(%collapsed_72, %transposed_73 : tensor<?x12xf32>, tensor<12x12xf32>) outs(%36 : tensor<?x12xf32>) -> tensor<?x12xf32>
    %136 = linalg.generic {indexing_maps = [#map4, #map7, #map4], iterator_types = ["parallel", "parallel"]} ins(%135, %cst_18 : tensor<?x12xf32>, tensor<12xf32>) outs(%35 : tensor<?x12xf32>) {
    ^bb0(%in: f32, %in_99: f32, %out: f32):
      %194 = arith.addf %in, %in_99 : f32
      linalg.yield %194 : f32
    } -> tensor<?x12xf32>
    %expanded_74 = tensor.expand_shape %136 [[0, 1], [2, 3]] output_shape [1, %dim, 3, 4] : tensor<?x12xf32> into tensor<1x?x3x4xf32>
    %transposed_75 = linalg.transpose ins(%expanded_74 : tensor<1x?x3x4xf32>) outs(%39 : tensor<1x3x?x4xf32>) permutation = [0, 2, 1, 3] 
    %transposed_76 = linalg.transpose ins(%cst_17 : tensor<12x12xf32>) outs(%34 : tensor<12x12xf32>) permutation = [1, 0] 
    %137 = linalg.matmul ins(%collapsed_72, %transposed_76 : tensor<?x12xf32>, tensor<12x12xf32>) outs(%36 : tensor<?x12xf32>) -> tensor<?x12xf32>
    %138 = linalg.generic {indexing_maps = [#map4, #map7, #map4], iterator_types = ["parallel", "parallel"]} ins(%137, %cst_16 : tensor<?x12xf32>, tensor<12xf32>) outs(%35 : tensor<?x12xf32>) {
    ^bb0(%in: f32, %in_99: f32, %out: f32):
      %194 = arith.addf %in, %in_99 : f32
      linalg.yield %194 : f32
    } -> tensor<?x12xf32>
    %expanded_77 = tensor.expand_shape %138 [[0, 1], [2, 3]] output_shape [1, %dim, 3, 4] : tensor<?x12xf32> into tensor<1x?x3x4xf32>
    %transposed_78 = linalg.transpose ins(%cst_15 : tensor<12x12xf32>) outs(%34 : tensor<12x12xf32>) permutation = [1, 0] 
    %139 = linalg.matmul ins(%collapsed_72, %transposed_78 : tensor<?x12xf32>, tensor<12x12xf32>) outs(%36 : tensor<?x12xf32>) -> tensor<?x12xf32>
    %140 = linalg.generic {indexing_maps = [#map4, #map7, #map4], iterator_types = ["parallel", "parallel"]} ins(%139, %cst_14 : tensor<?x12xf32>, tensor<12xf32>) outs(%35 : tensor<?x12xf32>) {
    ^bb0(%in: f32, %in_99: f32, %out: f32):
      %194 = arith.addf %in, %in_99 : f32
      linalg.yield %194 : f32
    } -> tensor<?x12xf32>
    %expanded_79 = tensor.expand_shape %140 [[0, 1], [2, 3]] output_shape [1, %dim, 3, 4] : tensor<?x12xf32> into tensor<1x?x3x4xf32>
    %transposed_80 = linalg.transpose ins(%expanded_79 : tensor<1x?x3x4xf32>) outs(%39 : tensor<1x3x?x4xf32>) permutation = [0, 2, 1, 3] 
    %transposed_81 = linalg.transpose ins(%expanded_77 : tensor<1x?x3x4xf32>) outs(%44 : tensor<1x3x4x?xf32>) permutation = [0, 2, 3, 1] 
    cf.assert %7, "unimplemented: dynamic negative broadcast sizes"
    %141 = linalg.generic {indexing_maps = [#map8], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%45 : tensor<1x3x?x4xf32>) {
    ^bb0(%out: f32):
      %194 = linalg.index 1 : index
      %195 = linalg.index 2 : index
      %196 = linalg.index 3 : index
      %197 = arith.cmpi eq, %dim, %c1 : index
      %198 = arith.select %197, %c0, %195 : index
      %extracted = tensor.extract %transposed_75[%c0, %194, %198, %196] : tensor<1x3x?x4xf32>
      linalg.yield %extracted : f32
    } -> tensor<1x3x?x4xf32>
    %collapsed_82 = tensor.collapse_shape %141 [[0, 1], [2], [3]] : tensor<1x3x?x4xf32> into tensor<3x?x4xf32>
    cf.assert %7, "unimplemented: dynamic negative broadcast sizes"
    %142 = linalg.generic {indexing_maps = [#map8], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%47 : tensor<1x3x4x?xf32>) {
    ^bb0(%out: f32):
      %194 = linalg.index 1 : index
      %195 = linalg.index 2 : index
      %196 = linalg.index 3 : index
      %197 = arith.cmpi eq, %dim, %c1 : index
      %198 = arith.select %197, %c0, %196 : index
      %extracted = tensor.extract %transposed_81[%c0, %194, %195, %198] : tensor<1x3x4x?xf32>
      linalg.yield %extracted : f32
    } -> tensor<1x3x4x?xf32>
    %collapsed_83 = tensor.collapse_shape %142 [[0, 1], [2], [3]] : tensor<1x3x4x?xf32> into tensor<3x4x?xf32>
    %143 = linalg.batch_matmul ins(%collapsed_82, %collapsed_83 : tensor<3x?x4xf32>, tensor<3x4x?xf32>) outs(%50 : tensor<3x?x?xf32>) -> tensor<3x?x?xf32>
    cf.assert %60, "must have at most one inferred (negative) dimension"
    %reshape_84 = tensor.reshape %143(%from_elements) : (tensor<3x?x?xf32>, tensor<4xi64>) -> tensor<1x3x?x?xf32>
    %144 = linalg.generic {indexing_maps = [#map8, #map8], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%reshape_84 : tensor<1x3x?x?xf32>) outs(%65 : tensor<1x3x?x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %194 = arith.divf %in, %cst_44 : f32
      linalg.yield %194 : f32
    } -> tensor<1x3x?x?xf32>
    %145:2 = linalg.generic {indexing_maps = [#map8, #map9, #map9], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%144 : tensor<1x3x?x?xf32>) outs(%70, %68 : tensor<1x3x?xf32>, tensor<1x3x?xi64>) {
    ^bb0(%in: f32, %out: f32, %out_99: i64):
      %194 = linalg.index 3 : index
      %195 = arith.index_cast %194 : index to i64
      %196 = arith.maximumf %in, %out : f32
      %197 = arith.cmpf ogt, %in, %out : f32
      %198 = arith.select %197, %195, %out_99 : i64
      linalg.yield %196, %198 : f32, i64
    } -> (tensor<1x3x?xf32>, tensor<1x3x?xi64>)
    %expanded_85 = tensor.expand_shape %145#0 [[0], [1], [2, 3]] output_shape [1, 3, %64, 1] : tensor<1x3x?xf32> into tensor<1x3x?x1xf32>
    %146 = linalg.generic {indexing_maps = [#map8, #map10, #map8], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%144, %expanded_85 : tensor<1x3x?x?xf32>, tensor<1x3x?x1xf32>) outs(%65 : tensor<1x3x?x?xf32>) {
    ^bb0(%in: f32, %in_99: f32, %out: f32):
      %194 = arith.subf %in, %in_99 : f32
      linalg.yield %194 : f32
    } -> tensor<1x3x?x?xf32>
    %147 = linalg.generic {indexing_maps = [#map8, #map8], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%146 : tensor<1x3x?x?xf32>) outs(%65 : tensor<1x3x?x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %194 = math.exp %in : f32
      linalg.yield %194 : f32
    } -> tensor<1x3x?x?xf32>
    %148 = linalg.generic {indexing_maps = [#map8, #map10], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%147 : tensor<1x3x?x?xf32>) outs(%75 : tensor<1x3x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %194 = arith.addf %in, %out : f32
      linalg.yield %194 : f32
    } -> tensor<1x3x?x1xf32>
    %149 = linalg.generic {indexing_maps = [#map8, #map10, #map8], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%147, %148 : tensor<1x3x?x?xf32>, tensor<1x3x?x1xf32>) outs(%65 : tensor<1x3x?x?xf32>) {
    ^bb0(%in: f32, %in_99: f32, %out: f32):
      %194 = arith.divf %in, %in_99 : f32
      linalg.yield %194 : f32
    } -> tensor<1x3x?x?xf32>
    cf.assert %7, "unimplemented: dynamic negative broadcast sizes"
    cf.assert %7, "unimplemented: dynamic negative broadcast sizes"
    %150 = linalg.generic {indexing_maps = [#map8], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%78 : tensor<1x3x?x?xf32>) {
    ^bb0(%out: f32):
      %194 = linalg.index 1 : index
      %195 = linalg.index 2 : index
      %196 = linalg.index 3 : index
      %197 = arith.cmpi eq, %64, %c1 : index
      %198 = arith.select %197, %c0, %195 : index
      %199 = arith.select %197, %c0, %196 : index
      %extracted = tensor.extract %149[%c0, %194, %198, %199] : tensor<1x3x?x?xf32>
      linalg.yield %extracted : f32
    } -> tensor<1x3x?x?xf32>
    cf.assert %60, "must have at most one inferred (negative) dimension"
    %reshape_86 = tensor.reshape %150(%from_elements_58) : (tensor<1x3x?x?xf32>, tensor<3xi64>) -> tensor<3x?x?xf32>
    cf.assert %7, "unimplemented: dynamic negative broadcast sizes"
    %151 = linalg.generic {indexing_maps = [#map8], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%45 : tensor<1x3x?x4xf32>) {
    ^bb0(%out: f32):
      %194 = linalg.index 1 : index
      %195 = linalg.index 2 : index
      %196 = linalg.index 3 : index
      %197 = arith.cmpi eq, %dim, %c1 : index
      %198 = arith.select %197, %c0, %195 : index
      %extracted = tensor.extract %transposed_80[%c0, %194, %198, %196] : tensor<1x3x?x4xf32>
      linalg.yield %extracted : f32
    } -> tensor<1x3x?x4xf32>
    %collapsed_87 = tensor.collapse_shape %151 [[0, 1], [2], [3]] : tensor<1x3x?x4xf32> into tensor<3x?x4xf32>
    cf.assert %81, "mismatching contracting dimension"
    %152 = linalg.batch_matmul ins(%reshape_86, %collapsed_87 : tensor<3x?x?xf32>, tensor<3x?x4xf32>) outs(%83 : tensor<3x?x4xf32>) -> tensor<3x?x4xf32>
    %expanded_88 = tensor.expand_shape %152 [[0, 1], [2], [3]] output_shape [1, 3, %64, 4] : tensor<3x?x4xf32> into tensor<1x3x?x4xf32>
    %transposed_89 = linalg.transpose ins(%expanded_88 : tensor<1x3x?x4xf32>) outs(%85 : tensor<1x?x3x4xf32>) permutation = [0, 2, 1, 3] 
    %collapsed_90 = tensor.collapse_shape %transposed_89 [[0, 1], [2, 3]] : tensor<1x?x3x4xf32> into tensor<?x12xf32>
    %transposed_91 = linalg.transpose ins(%cst_13 : tensor<12x12xf32>) outs(%34 : tensor<12x12xf32>) permutation = [1, 0] 
    %153 = linalg.matmul ins(%collapsed_90, %transposed_91 : tensor<?x12xf32>, tensor<12x12xf32>) outs(%87 : tensor<?x12xf32>) -> tensor<?x12xf32>
    %154 = linalg.generic {indexing_maps = [#map4, #map7, #map4], iterator_types = ["parallel", "parallel"]} ins(%153, %cst_12 : tensor<?x12xf32>, tensor<12xf32>) outs(%86 : tensor<?x12xf32>) {
    ^bb0(%in: f32, %in_99: f32, %out: f32):
      %194 = arith.addf %in, %in_99 : f32
      linalg.yield %194 : f32
    } -> tensor<?x12xf32>
    %expanded_92 = tensor.expand_shape %154 [[0, 1], [2]] output_shape [1, %64, 12] : tensor<?x12xf32> into tensor<1x?x12xf32>
    cf.assert %90, "mismatched size for broadcast"
    %155 = linalg.generic {indexing_maps = [#map2, #map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%134, %expanded_92 : tensor<1x?x12xf32>, tensor<1x?x12xf32>) outs(%3 : tensor<1x?x12xf32>) {
    ^bb0(%in: f32, %in_99: f32, %out: f32):
      %194 = arith.addf %in, %in_99 : f32
      linalg.yield %194 : f32
    } -> tensor<1x?x12xf32>
    %156 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%155 : tensor<1x?x12xf32>) outs(%13 : tensor<1x?x12xf64>) {
    ^bb0(%in: f32, %out: f64):
      %194 = arith.extf %in : f32 to f64
      linalg.yield %194 : f64
    } -> tensor<1x?x12xf64>
    %157 = linalg.generic {indexing_maps = [#map2, #map5], iterator_types = ["parallel", "parallel", "reduction"]} ins(%156 : tensor<1x?x12xf64>) outs(%16 : tensor<1x?x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %194 = arith.addf %in, %out : f64
      linalg.yield %194 : f64
    } -> tensor<1x?x1xf64>
    %158 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%157 : tensor<1x?x1xf64>) outs(%15 : tensor<1x?x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %194 = arith.divf %in, %cst_42 : f64
      linalg.yield %194 : f64
    } -> tensor<1x?x1xf64>
    %159 = linalg.generic {indexing_maps = [#map2, #map5, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%156, %158 : tensor<1x?x12xf64>, tensor<1x?x1xf64>) outs(%13 : tensor<1x?x12xf64>) {
    ^bb0(%in: f64, %in_99: f64, %out: f64):
      %194 = arith.subf %in, %in_99 : f64
      linalg.yield %194 : f64
    } -> tensor<1x?x12xf64>
    %160 = linalg.generic {indexing_maps = [#map2, #map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%159, %159 : tensor<1x?x12xf64>, tensor<1x?x12xf64>) outs(%13 : tensor<1x?x12xf64>) {
    ^bb0(%in: f64, %in_99: f64, %out: f64):
      %194 = arith.mulf %in, %in_99 : f64
      linalg.yield %194 : f64
    } -> tensor<1x?x12xf64>
    %161 = linalg.generic {indexing_maps = [#map2, #map5], iterator_types = ["parallel", "parallel", "reduction"]} ins(%160 : tensor<1x?x12xf64>) outs(%16 : tensor<1x?x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %194 = arith.addf %in, %out : f64
      linalg.yield %194 : f64
    } -> tensor<1x?x1xf64>
    %162 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%161 : tensor<1x?x1xf64>) outs(%15 : tensor<1x?x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %194 = arith.divf %in, %cst_42 : f64
      linalg.yield %194 : f64
    } -> tensor<1x?x1xf64>
    %163 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%162 : tensor<1x?x1xf64>) outs(%23 : tensor<1x?x1xf32>) {
    ^bb0(%in: f64, %out: f32):
      %194 = arith.truncf %in : f64 to f32
      linalg.yield %194 : f32
    } -> tensor<1x?x1xf32>
    %164 = linalg.generic {indexing_maps = [#map2, #map5], iterator_types = ["parallel", "parallel", "reduction"]} ins(%155 : tensor<1x?x12xf32>) outs(%25 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %194 = arith.addf %in, %out : f32
      linalg.yield %194 : f32
    } -> tensor<1x?x1xf32>
    %165 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%164 : tensor<1x?x1xf32>) outs(%23 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %194 = arith.divf %in, %cst_43 : f32
      linalg.yield %194 : f32
    } -> tensor<1x?x1xf32>
    %166 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%163 : tensor<1x?x1xf32>) outs(%23 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %194 = arith.truncf %cst_38 : f64 to f32
      %195 = arith.addf %in, %194 : f32
      linalg.yield %195 : f32
    } -> tensor<1x?x1xf32>
    %167 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%166 : tensor<1x?x1xf32>) outs(%23 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %194 = math.rsqrt %in : f32
      linalg.yield %194 : f32
    } -> tensor<1x?x1xf32>
    %168 = linalg.generic {indexing_maps = [#map2, #map5, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%155, %165 : tensor<1x?x12xf32>, tensor<1x?x1xf32>) outs(%3 : tensor<1x?x12xf32>) {
    ^bb0(%in: f32, %in_99: f32, %out: f32):
      %194 = arith.subf %in, %in_99 : f32
      linalg.yield %194 : f32
    } -> tensor<1x?x12xf32>
    %169 = linalg.generic {indexing_maps = [#map2, #map5, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%168, %167 : tensor<1x?x12xf32>, tensor<1x?x1xf32>) outs(%3 : tensor<1x?x12xf32>) {
    ^bb0(%in: f32, %in_99: f32, %out: f32):
      %194 = arith.mulf %in, %in_99 : f32
      linalg.yield %194 : f32
    } -> tensor<1x?x12xf32>
    %170 = linalg.generic {indexing_maps = [#map2, #map6, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%169, %cst_11 : tensor<1x?x12xf32>, tensor<12xf32>) outs(%3 : tensor<1x?x12xf32>) {
    ^bb0(%in: f32, %in_99: f32, %out: f32):
      %194 = arith.mulf %in, %in_99 : f32
      linalg.yield %194 : f32
    } -> tensor<1x?x12xf32>
    %171 = linalg.generic {indexing_maps = [#map2, #map6, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%170, %cst_10 : tensor<1x?x12xf32>, tensor<12xf32>) outs(%3 : tensor<1x?x12xf32>) {
    ^bb0(%in: f32, %in_99: f32, %out: f32):
      %194 = arith.addf %in, %in_99 : f32
      linalg.yield %194 : f32
    } -> tensor<1x?x12xf32>
    %collapsed_93 = tensor.collapse_shape %171 [[0, 1], [2]] : tensor<1x?x12xf32> into tensor<?x12xf32>
    %transposed_94 = linalg.transpose ins(%cst_9 : tensor<5x12xf32>) outs(%108 : tensor<12x5xf32>) permutation = [1, 0] 
    %172 = linalg.matmul ins(%collapsed_93, %transposed_94 : tensor<?x12xf32>, tensor<12x5xf32>) outs(%110 : tensor<?x5xf32>) -> tensor<?x5xf32>
    %173 = linalg.generic {indexing_maps = [#map4, #map7, #map4], iterator_types = ["parallel", "parallel"]} ins(%172, %cst_8 : tensor<?x5xf32>, tensor<5xf32>) outs(%109 : tensor<?x5xf32>) {
    ^bb0(%in: f32, %in_99: f32, %out: f32):
      %194 = arith.addf %in, %in_99 : f32
      linalg.yield %194 : f32
    } -> tensor<?x5xf32>
    %expanded_95 = tensor.expand_shape %173 [[0, 1], [2]] output_shape [1, %dim, 5] : tensor<?x5xf32> into tensor<1x?x5xf32>
    %174 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_95 : tensor<1x?x5xf32>) outs(%113 : tensor<1x?x5xf32>) {
    ^bb0(%in: f32, %out: f32):
      %194 = arith.divf %in, %cst_45 : f32
      %195 = math.erf %194 : f32
      %196 = arith.addf %195, %cst_2 : f32
      %197 = arith.mulf %196, %cst_3 : f32
      %198 = arith.mulf %in, %197 : f32
      linalg.yield %198 : f32
    } -> tensor<1x?x5xf32>
    %collapsed_96 = tensor.collapse_shape %174 [[0, 1], [2]] : tensor<1x?x5xf32> into tensor<?x5xf32>
    %transposed_97 = linalg.transpose ins(%cst_7 : tensor<12x5xf32>) outs(%115 : tensor<5x12xf32>) permutation = [1, 0] 
    %175 = linalg.matmul ins(%collapsed_96, %transposed_97 : tensor<?x5xf32>, tensor<5x12xf32>) outs(%36 : tensor<?x12xf32>) -> tensor<?x12xf32>
    %176 = linalg.generic {indexing_maps = [#map4, #map7, #map4], iterator_types = ["parallel", "parallel"]} ins(%175, %cst_6 : tensor<?x12xf32>, tensor<12xf32>) outs(%35 : tensor<?x12xf32>) {
    ^bb0(%in: f32, %in_99: f32, %out: f32):
      %194 = arith.addf %in, %in_99 : f32
      linalg.yield %194 : f32
    } -> tensor<?x12xf32>
    %expanded_98 = tensor.expand_shape %176 [[0, 1], [2]] output_shape [1, %dim, 12] : tensor<?x12xf32> into tensor<1x?x12xf32>
    %177 = linalg.generic {indexing_maps = [#map2, #map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%171, %expanded_98 : tensor<1x?x12xf32>, tensor<1x?x12xf32>) outs(%3 : tensor<1x?x12xf32>) {
    ^bb0(%in: f32, %in_99: f32, %out: f32):
      %194 = arith.addf %in, %in_99 : f32
      linalg.yield %194 : f32
    } -> tensor<1x?x12xf32>
    %178 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%177 : tensor<1x?x12xf32>) outs(%13 : tensor<1x?x12xf64>) {
    ^bb0(%in: f32, %out: f64):
      %194 = arith.extf %in : f32 to f64
      linalg.yield %194 : f64
    } -> tensor<1x?x12xf64>
    %179 = linalg.generic {indexing_maps = [#map2, #map5], iterator_types = ["parallel", "parallel", "reduction"]} ins(%178 : tensor<1x?x12xf64>) outs(%16 : tensor<1x?x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %194 = arith.addf %in, %out : f64
      linalg.yield %194 : f64
    } -> tensor<1x?x1xf64>
    %180 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%179 : tensor<1x?x1xf64>) outs(%15 : tensor<1x?x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %194 = arith.divf %in, %cst_42 : f64
      linalg.yield %194 : f64
    } -> tensor<1x?x1xf64>
    %181 = linalg.generic {indexing_maps = [#map2, #map5, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%178, %180 : tensor<1x?x12xf64>, tensor<1x?x1xf64>) outs(%13 : tensor<1x?x12xf64>) {
    ^bb0(%in: f64, %in_99: f64, %out: f64):
      %194 = arith.subf %in, %in_99 : f64
      linalg.yield %194 : f64
    } -> tensor<1x?x12xf64>
    %182 = linalg.generic {indexing_maps = [#map2, #map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%181, %181 : tensor<1x?x12xf64>, tensor<1x?x12xf64>) outs(%13 : tensor<1x?x12xf64>) {
    ^bb0(%in: f64, %in_99: f64, %out: f64):
      %194 = arith.mulf %in, %in_99 : f64
      linalg.yield %194 : f64
    } -> tensor<1x?x12xf64>
    %183 = linalg.generic {indexing_maps = [#map2, #map5], iterator_types = ["parallel", "parallel", "reduction"]} ins(%182 : tensor<1x?x12xf64>) outs(%16 : tensor<1x?x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %194 = arith.addf %in, %out : f64
      linalg.yield %194 : f64
    } -> tensor<1x?x1xf64>
    %184 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%183 : tensor<1x?x1xf64>) outs(%15 : tensor<1x?x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %194 = arith.divf %in, %cst_42 : f64
      linalg.yield %194 : f64
    } -> tensor<1x?x1xf64>
    %185 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%184 : tensor<1x?x1xf64>) outs(%23 : tensor<1x?x1xf32>) {
    ^bb0(%in: f64, %out: f32):
      %194 = arith.truncf %in : f64 to f32
      linalg.yield %194 : f32
    } -> tensor<1x?x1xf32>
    %186 = linalg.generic {indexing_maps = [#map2, #map5], iterator_types = ["parallel", "parallel", "reduction"]} ins(%177 : tensor<1x?x12xf32>) outs(%25 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %194 = arith.addf %in, %out : f32
      linalg.yield %194 : f32
    } -> tensor<1x?x1xf32>
    %187 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%186 : tensor<1x?x1xf32>) outs(%23 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %194 = arith.divf %in, %cst_43 : f32
      linalg.yield %194 : f32
    } -> tensor<1x?x1xf32>
    %188 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%185 : tensor<1x?x1xf32>) outs(%23 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %194 = arith.truncf %cst_38 : f64 to f32
      %195 = arith.addf %in, %194 : f32
      linalg.yield %195 : f32
    } -> tensor<1x?x1xf32>
    %189 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%188 : tensor<1x?x1xf32>) outs(%23 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %194 = math.rsqrt %in : f32
      linalg.yield %194 : f32
    } -> tensor<1x?x1xf32>
    %190 = linalg.generic {indexing_maps = [#map2, #map5, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%177, %187 : tensor<1x?x12xf32>, tensor<1x?x1xf32>) outs(%3 : tensor<1x?x12xf32>) {
    ^bb0(%in: f32, %in_99: f32, %out: f32):
      %194 = arith.subf %in, %in_99 : f32
      linalg.yield %194 : f32
    } -> tensor<1x?x12xf32>
    %191 = linalg.generic {indexing_maps = [#map2, #map5, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%190, %189 : tensor<1x?x12xf32>, tensor<1x?x1xf32>) outs(%3 : tensor<1x?x12xf32>) {
    ^bb0(%in: f32, %in_99: f32, %out: f32):
      %194 = arith.mulf %in, %in_99 : f32
      linalg.yield %194 : f32
    } -> tensor<1x?x12xf32>
    %192 = linalg.generic {indexing_maps = [#map2, #map6, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%191, %cst_5 : tensor<1x?x12xf32>, tensor<12xf32>) outs(%3 : tensor<1x?x12xf32>) {
    ^bb0(%in: f32, %in_99: f32, %out: f32):
      %194 = arith.mulf %in, %in_99 : f32
      linalg.yield %194 : f32
    } -> tensor<1x?x12xf32>
    %193 = linalg.generic {indexing_maps = [#map2, #map6, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%192, %cst_4 : tensor<1x?x12xf32>, tensor<12xf32>) outs(%3 : tensor<1x?x12xf32>) {
    ^bb0(%in: f32, %in_99: f32, %out: f32):
      %194 = arith.addf %in, %in_99 : f32
      linalg.yield %194 : f32
    } -> tensor<1x?x12xf32>
    return %193 : tensor<1x?x12xf32>
  }
}

{-#
  dialect_resources: {
    builtin: {
      torch_tensor_12_torch.float32_19: "0x040000009D5FB73D8A6BF5BDFD9F51BD0131043E02F5F5BDA801A7BDB98A0B3E1A9687BD1303413C395B913CE31085BDD1C1053D",
      torch_tensor_12_torch.float32_18: "0x0400000041FA963F0D6D743FDFD9633FE87D873FEDA27A3F3590863FFEBE6C3F56F6873F3D7E833F5AB0803F38E0813F5490743F",
      torch_tensor_12_torch.float32_17: "0x04000000F8EAB3BE5FB46F3EAA05673EFACBFFBDBF18F3BE5C65993EB55288BEAD5D55BE6C1F54BE1442E53DB21A89BDF4079C3E",
      torch_tensor_12_5_torch.float32_1: "0x040000005DAD003D14C030BEC14234BEEAC60A3EBB53313EFE54CB3E2A8FB7BDE8A1AC3EF4FBA6BE186E713D85649E3C95D6DB3E636E6A3E3D726FBEA2C7613E328A693B55AEB2BECC2984BE1802A6BE6D1CBC3E6973BF3ED02EADBE4BC35E3E9A5AD93E8A2740BD47FD9D3EC781B03E54DC6F3E26B547BEBDD8C03E30B9EC3D74215C3E2A54CDBE93CB253E82208A3EDE729EBE88E8A0BE03B530BEA42F5C3EA94735BE767373BD4351E3BEF6BB04BECE222BBECB24DFBE5D643B3E17FF1E3D34FCCFBE307B533E1CF1913E7F578FBE1C5C2EBE751B4BBEA0E412BEB25EC53D4D179F3E4E77B53E36AEACBEC730D43E9AAE243C",
      torch_tensor_5_torch.float32_1: "0x0400000092411DBDB932AEBEDE4487BEA3F35F3E739745BE",
      torch_tensor_5_12_torch.float32_1: "0x04000000CEA0753EF9D207BE792E47BE275C643EE197833E2DEC273E17358CBDF2258A3E6D071A3E64182D3D380FC03CA2B50E3E14AD0CBE9C01CEBD7938273E51481A3DF3D281BC9432B8BC2E214D3C2D7F923ED7F37E3EF1438BBE0A2466BE776163BE68AF31BC3FF0913D783024BE5A3F043E954390BE55EE4D3EB19CDCBB32E5B83DB4D54E3E22B4FE3CA6CE10BE6C2DA5BDA452843EAD3671BD8C405BBC2C4778BE481139BECD558ABC2439993D285734BE2B6D733C4F8E863E1CAA8A3EF48B323CC7A7923ED7D88D3EB227103E31E16D3E24B4523DD19FE3BD82536E3EFAA0B93D14CD713D253BE7BBFC9A03BD26CF78BE",
      torch_tensor_12_torch.float32_16: "0x0400000033FA193BE69C013B502F013C5839E1BD34E93DBD4E7244BE464018BED07E9A3C8CDE1F3D8783513E478D693D45F3CD3D",
      torch_tensor_12_torch.float32_15: "0x0400000071D58D3F34C9733F500A703FC38B723F5012483F1D11683FBD97923F830F713FCE066A3F12DC913F8CE6593FF6F1763F",
      torch_tensor_12_torch.float32_14: "0x040000004069A03CC4B596BE9A8A26BE776481BE4AA5153DE57F82BE815AD13EA06C90BC50CD983C493BFB3DDBAD023D0C7343BD",
      torch_tensor_12_12_torch.float32_7: "0x0400000030AB0DBE7DD46B3E166F493D788351BEF5EC0C3E9B5FE6BDE2DC25BEE4A70ABE5BEA22BE6D6F1FBE0C8E4B3D6CE00F3E1EC71A3E37B0933EFB8C703E04621CBE2037793EB46B8BBDD40F293E45D80ABE03407A3E895EA7BC4748CB3DB66D803EC4DE7BBDAB16EB3D9D93A53DD9FCCFBD9819C13BBD46753EAE62863DBE8F583E440D133E74160B3EEAB1FCBD022582BDF85D373E89D5893D23F4173E0930613E9BD2FC3D13BAED3D8573F7BD0587C13D89500EBBB5A8433EF40CE43DB65938BEADAA373E2B7914BDF72CE83D746A04BE41BB81BE9503F03D6962143E0C7A673E3EAE333E44DA0B3E56E41B3EACC39D3D72B405BE7BFA803DD09C63BE8EE830BE4841873EAA47E53D0CC9E83DA02CECBC10618FBE0970A9BD740FD8BD09D0D5BDFCC2663DB4F43CBE9FDF21BE646D7DBDCC5E7FBECDE042BD479AB0BB032C9FBC33A9E3BD86F3A2BD4555683E0441253E816D893D8BD84CBE96F53ABE86E2063E039018BBE2C073BC4B2DBCBD2ADC4EBE184123BE98F5293E5212623EDB382C3EFCE039BE4629F2BB4C9C7ABE27F231BE12EE52BE23FFB23DD0798BBE630E573EC0E86D3E44E7CABC9EB4953D2084CD3DD7C0853E4518843C7B46873EA233DC3DC22AB0BD231E5F3EA9EBA83D3DF3F43D8CC2153D144D18BE8FCF853EAC8F7D3D42AA26BD37DC8E3D191317BE612DB53D64B58FBE9E052B3EAB76433E3E5F2DBE76FEF33D405CCB3CDB40C0BD12128C3E3099D6BA65D53CBE96118FBE509F7C3C7DF415BE70BB87BE19BB59BEB3C5593EA2E21FBE28833BBEFE8320BE3F9A9D3C",
      torch_tensor_12_torch.float32_13: "0x040000006867DA3D148E3E3E4132403E30F2153C254557BDAF8CDE3D00CC51BEB17CAEBEBB8806BE56B9E6BD2CD1FA3CE065ACBE",
      torch_tensor_12_12_torch.float32_6: "0x040000000C3C2A3E282356BE06946B3ECF9BACBDB25D193E82CF9CBD737A6CBEA190CEBD3E4F4EBD3198513C0F97893D9CF57EBE22401DBE6189EBBD336A843DCF633FBE221A793EB0A701BE3FD0843E541C983D39CA043EC2E5A2BD3FECFE3DBA480BBE538E893C9A3C3C3EC843F9BC02B0EEBCCA4DD93CB5A136BE69AD55BE029F36BD28C8103DB4A1723E79C928BC496636BDB29B8E3DFE488E3DAE66E6BC02FD003EA02A933E5383DCBD1D540CBE5CD35EBC79A28F3EB797DF3D409F7EBE2CB45C3E3B3A713EE6687E3E0D09DA3DAB1D89BE43DB283D7A1340BCB05826BE58024ABE54BAD1BCDA317F3E7752A63DEF01CD3CCB31E03D5CAE84BEF9EE1C3E56CE853DCBD32CBEF46480BE405E45BE6806B33D08FCB13DB3CC3E3D81CD69BDAF91013E5F313DBEE09B153EC90117BEEF4718BE9EB659BEA17AA93D44491DBE6F06353E5FA61E3E96AFFEBB3FEB293E3A262C3E4573E33DC3F563BE326271BD387A4CBDBF231F3E815CE4BD7EB27F3DFF3BEB3D5ED4423E9F4C8D3EEC6C82BD5F3568BEC8E674BE5A3F84BD6589333EE32C63BD15EA73BE011848BED4B226BEF62527BE8BEC283C0346EDBCB9E720BE8D1C54BD355914BEB2694EBC1FC1FC3DA854B3BCE40191BD3F9C803DFCF93E3E2FBE7F3EC686FABD597C7CBEEE69843D2EE0EB3D1C430C3D7EDB8F3E664E153EAC56AB3CFDC3453ED6D0523E57EA22BE51E95BBE91331CBC7DD9BEBD32E742BEA49A5BBE83773D3E8ABBF1BDA1AD23BE4B753D3EDE37D43CC4E5623D209EB8BDEB02913D0B423C3E53004CBE88305FBD90C9AB3C",
      torch_tensor_12_torch.float32_12: "0x0400000096183CBE7996D33D843BF23A32DA033E1802DBBD178B6F3E9086B43EE2D2A3BD6FF588BEE0E1CB3EE0524BBC0C4046BD",
      torch_tensor_12_12_torch.float32_5: "0x04000000BCB55EBD011C0EBE413AF83DC0328D3E0C31D83D6FC083BEE751483E9E868D3EE5E0FDBB928644BE8AF1A5BD6A7E4A3ED2251D3E399100BD20264F3D9EADC5BB147988BEB1324D3EEDBF0CBD69DF74BE0ED9863DF0EF1F3EEBF67EBE036B66BC34EC83BEEC0FA53DB88A263D7465193EE6C96FBDA27B8B3EEADA8ABE4AD683BD04BC54BE72515ABE328F763E43A9213E57C5733EFCFE013E134B24BECDF96EBDA3697EBE57C2823EE9AA15BDCAFD56BCD536E43D92AA18BD04B250BE77AA653CC9AE4D3EBE8A3C3EEC5D88BE53B3843EF7E2F43D8FED8CBEED7107BDC6F73EBEFF4E073D432F84BEC52C89BDEB0E603E393240BDD3B8653DDA1C1BBEF08A4E3EC1E8643EB3D6613B86355A3CD2FB873E2E7A91BE242A033E8F554CBE990701BE5CC48EBE456B8D3D4781793E1AF560BD7935F73D69422ABDD45C7DBEAC7280BE9B65F2BB85D1513E17AA533E8333E8BDAD1A713D942B823EE6316ABE6CBF92BE9C6293BE8677283E863572BEAA697DBE7BF9C33D54E6283EAA35063E1B3384BE550A893E1FD94D3E5433C9BD590A4CBE79342BBE456925BEA3457FBE7FD1173E47A1543ECD23D13DEA6D0F3E193E2ABED90F223E6650763E504B203ECD0C6E3E62A300BEBB95FA3D3B55E1BDF51793BD65B18E3E2515AFBC8C4D4E3C1FD3A53C5D99053DBE9B00BE2204593E12E37B3E6DAA24BE1D3B8ABE369A6ABD70230DBE89C9423E72C1C7BD796A523EBBB9863DBA99D2BDC3C313BE3563733DFDD66DBE619919BD09738FBE091D82BE079835BE01F31D3E740A63BE07588D3EF2B68EBE",
      torch_tensor_12_torch.float32_11: "0x04000000C076903DAEA8F53D6AC4A0BD049184BE8A6B2F3E3BA85F3E1EF6F33DF878C9BC291B43BD74F62F3E906A783DBF4133BE",
      torch_tensor_12_12_torch.float32_4: "0x04000000DAD46C3C480989BEFA5DDCBCC66C2FBEF1A885BE533A853E5B17303E2D3F8E3D125F2E3E4F3F6DBE64351BBECA310CBE8A1738BEC13F74BDAE575B3E26FE3ABEF1E8623DA2C9003EF40C16BEDAD2F23DE243A3BD5ED2023E5B8D853E8EA19C3D337F3EBE82CD3CBE7893673E593CADBDA2A58C3EF38A60BE288B20BEE2E4903E5DE8453CED5812BE26D4BD3C6090B1BC27F484BEF532BB3DB33E1E3E50ED843BD28573BE32B5B0BDC324D93D0DBCC5BD3FD46E3E6381B8BD0D0D88BDD78C283E297D003DA40C2A3EDF3A49BEBBF9583EB35DBBBD7BC4313B9DF3133E962CB53D74DCDBBD2DC92B3EB44AD8BC7BDA073E52D4AEBDFC44A33CDF87C3BD57F92B3E1DFE613EF3528B3D5394823EF9B0C53D4CED79BE42F92ABE6A4FA5BCB3786DBEF5E6E33D4BFF863EB96531BE6864B4BDAFCB78BE6BC0973DA33E0E3CDBBA4F3EFD26E5BDD7EC7FBE82E1843EA5F2913E90C44CBED2A3DFBD81D897BD4B383EBEA3AD8BBEB0F3563ECA572B3EB377073EE94B83BE7AC781BDF769353EE5D2163E57E18EBDC9AF623B8DF8013EBA92813EA499893E3561893E82A8833E5B3A09BEBB9B8B3E89DE35BC7B2B96BDA8947A3EE3C713BD062F223D212FB3BC326651BE9C6560BECFF0823EA2C18B3EB3E7E3BC068B3EBEC595913E85AA853DF16B1E3E8C577ABE23D8F03D11A6BB3C4EF0823E05B0613E61032E3E3FD2963D15D9E33DFB4DCB3D2B378A3ED64F243E3FB6E4BBC439A93D2962DBBDC3DE6B3E17DA14BEF3FD863EE82D603E735063BEDECE85BEED3AE3BBEFA5093EFB956A3EC7597DBE",
      torch_tensor_12_torch.float32_10: "0x04000000045FCBBD2EEB3FBE1065AABC1D12B43C6EC8B5BDB3C922BEBFAD033EFC23CB3DBEF3A8BDF10D343CF917C4BCE724423D",
      torch_tensor_12_torch.float32_9: "0x04000000B1BD803FBB75A93F8CB37E3FBD018D3F88EBA53FBAF0803F93C58A3F78FF583F4898673F0AB56B3F8EC29A3F575A803F",
      torch_tensor_12_torch.float32_8: "0x0400000066C67EBE9C67C8BE884EACBE1369043EA979ACBED34B643E86E78FBEF50A823EBEDEA2BEB72DB13EAAC2B5BD9244C9BD",
      torch_tensor_12_5_torch.float32: "0x04000000578EAFBE5FCE92BEDB37B53E370E13BEF4F5B0BE1F19813EE76CC73E1460633E544F2B3D1BD1AA3DD6FD303EF778CA3E4E50833E796DB2BE208DB1BE8A3F90BED29347BE321BCB3E8635E4BE765485BDCD90AD3EFB662E3E242C69BEAD7DADBB3356BABEAEAA91BEA808BFBEF34BA7BE04BEDD3ECA0D8EBD6ADB7BBE38E65FBED6AAB7BEAA6177BE6FAD373D6B2C8CBEECFE8E3D2AE5263E9FD0A23E34AF81BE014CBBBD7A4BE23E515745BD4444CCBE033D16BE3734133EDFF9A3BD1EA0213EF081B4BEC521603EF65F49BE6FC92BBEB6AFEBBCD98ADE3E29DAAF3EF6E6C43E2E2C84BDF44AA13E1FE1BABB14FB9B3E",
      torch_tensor_5_torch.float32: "0x040000003808A1BEA2228BBE9E57FD3D14CDB0BEF01418BE",
      torch_tensor_5_12_torch.float32: "0x04000000AB13893E17D3F53DBE95733E2390AEBDE79C2F3EAFE06C3C8AD24F3E599E8B3DBA77F9BDD070013EECBD8C3E285547BE9A498F3ED8D4733E87F3773E7D73803DF3DCBABDE312C6BD1EEA18BD85ED43BEC0A0DB3D20B50C3E8C7476BDE374833EBA85C83D9978923E2B6D863E520E5DBD270D72BEDD6743BE45738E3E5A7133BE804BA63C7EF53E3E8054BFBDD1FA293E5A8146BE6DC06A3D6086073EFBAB76BE5C27D8BDA46C15BEE4AC5ABD1CEF8D3E8FAA823EFACB173E25E50ABEDD6C5FBDA2A6DD3C2AA58E3EAE2D77BE93108EBDF3677CBEA735DC3D74A91ABD315504BE152787BEAAD8C2BDB5EC7FBE04EBC53D",
      torch_tensor_12_torch.float32_7: "0x0400000045831DBDB82C59BDF862163EBAD0E5BC598201BEA3BB223E973521BC3B66EABC4079B13DEE870D3EB9E7A6BCB2DBE53D",
      torch_tensor_12_torch.float32_6: "0x04000000C5B1753FB15C8C3FEE56873F11CD893F4797623F59FF863F70F4643F4C89853F30016D3FA03F863F9261803FD5877A3F",
      torch_tensor_12_torch.float32_5: "0x0400000012C892BD761F893EA0E5073D2860F23D862F4A3E95E506BD13DD3ABEB4312E3D4676D93D34B6933D7045763E9A6039BE",
      torch_tensor_12_12_torch.float32_3: "0x04000000E90D7B3DFB843D3E10B18CBE4D2999BC0D4589BE576488BDD39DD5BD268736BEFDA139BE6B2A643EA0E4053EECC5C83D231C553DC909BB3D246AE23CDAE38EBE12C605BD18033C3E07BD17BD12BF4E3D14B2353E5E942D3E32D94EBD76A1703E93E6DBBDAEB403BCE0456E3E322C25BEDE6A923EF3490EBEC0B616BE1196633E1D70533E094050BE81BC0B3ECB8AAA3C85C962BE05A6ACBDE7F0CC3C90B988BED8689BBC7CD1933DD78B5C3E6381523ED290F6BDC0450C3E1C027B3D304B86BC624961BEE3D7A73DFDB7873E56E178BE212BA4BCAE922C3E4BEAC639F700543E8C6824BD4E9323BE3F2472BEA4B631BED31360BDFAD0373E35E9F43C9CC3C63C1A1D6E3EEB039B3D0FF1F8BDE540C6BD521D283EF524EDBD1330BF3DEC9DFC3D986E463C94864FBE05A72BBE602E88BEE735C03D86068CBEE7BC26BEAE978B3E8DE804BC22F1073E1C0413BE1E8D8BBD98E612BEA01FDE3D12CA3CBEF23706BE459D903D5B75583CC0440DBE4FC9C23C266A51BDB1488EBE7D3B8A3EE96471BEDAAFC13DCB49263EE90058BD76A2A3BDFA44883E454D5E3ECE4A4EBD5BF8D1BDB7051EBEF188723EC21D21BE4DF6D53D8807A33D221A643E61CD06BB0BCE173E537F23BEF806EABDFD21E0BD10228EBE0CD084BE11C3123EFCE9033E846695BD7D1487BE5659483ED90A8F3EC778933E96C1F5BDDAAB7FBEBFF63E3E5815163E0F53673E0BD59A3DC288483EA9DC02BE5CF26FBED961383D9F3B7C3E7B6F38BE95D2193E3E7BF8BD2FBB36BEC12EA3BD4173913EFF9E7E3EC8D4713E48E18D3E",
      torch_tensor_12_torch.float32_4: "0x04000000A339D4BDEFAB23BE7E973BBE8B867FBD3442DC3D9104003D448C903E9C4A2B3CDABA383E74119B3C5033673D9004C43C",
      torch_tensor_12_12_torch.float32_2: "0x040000005D822E3E10EA64BECA9B5E3CBE0E353EB5B461BE2BE5E03D0DE68EBECE398ABED40AD03BB19085BE444808BE3AED2E3E8F5261BDE4B645BE8E3F713ED07090BE2A7B713D0E7041BEF89824BEE9DBBF3CA294913E34F49CBDA9D292BEFCF17E3D2657EBBD587D45BECA93E93D8B7DE93D0C4812BEE8889A3C34722B3D60B5AE3C8AA536BDD0D52ABE8C35233E935D5F3E0A0F6F3ED57E753E3B3265BC428BBD3C4C1EEBBD8C328CBDEA90973D79BABC3C01E953BE9A8153BEACFD083E247F613E5403893E7898343E11152A3EB5CEF73D2442473E689A97BD96D3363DCDA7EE3D1EA3793DFBFDCBBC7F5B1BBECF5152BE8F3F2ABEAF2DE53CCA27883E8B58D7BD44D470BEA9B780BEC3A4E63DCA9BF53D940C1EBE4F60E5BD44EE643E323C7ABE08992D3E92D01E3CB8F10ABE95CE8E3EDF4542BE3F45853E2F01753ED82DCB3DAF90403EC7728F3D1089773E7CE0833D059B93BEAF73F9BDB1952C3D39C44F3E8A44ABBD1DA0D63DDAB9E13D0C51CC3C859573BE169C8D3E858A0EBEEE8F3A3DA4FFE5BD98E4963D77D0473EC940793D426700BE1D00833D840172BE5580783E2F8C1E3E2CD4533EE27F953DE02E93BEB61C52BE734486BE5DA62C3EC33A8F3EB95E403EF752EEBDE1D833BE0A282BBE2CFF8A3E3E178EBEBF8890BE448FF53DF9D8DF3C6E4718BEEC3125BE731A8EBE40C3C83D807410BECD1AA5BDBE081B3E0DC96EBEFE55913EF6D2C0BD70A03C3ED8DF41BDAE72513E7E0B24BEADB981BDE77B12BEAE6C423EE9F98EBEA8C6433E792B8C391D2C3CBE22B1AABDAF350CBD",
      torch_tensor_12_torch.float32_3: "0x0400000060388D3CA0538B3E5A6A40BE00DF853E18A651BECE35803E75360FBEF196DFBDA36D403EA01C013E8E0925BE245D07BE",
      torch_tensor_12_12_torch.float32_1: "0x04000000A5871EBD7F2289BE11670BBD0CA46F3E3859FDBB33E343BC86AE88BE50086A3EA595743EE3836DBEB1B151BE952A653C6A2529BE28E071BEC988B93D4C3C99BD21EDCC3D04ECEA3D639D833E2BA12F3EE5F08ABE70396EBEBFEB6C3EC9297BBE71AD343E892834BE3A326D3E192D273E850A4CBED96474BE2F9B01BE092407BE1AC427BEFA4E503E3532913DCB6514BDBE97A0BC6A04F63DD234F23CAB6712BD863D833E11FC4B3E0AD2A53CB7014C3E90DA7EBD8C5760BE4CC7293E4FFA233E74BD3F3DD1337CBE2661553E1233A83C8FAC1BBE816582BE3C8019BEED6E893E919D123E366702BE0EA1743E0B357D3E7AEC123E99BAD2BC6B828A3E25C185BD0DA9F6BD443F0D3EFAA6F6BD75C2573E063D1DBE6BAFD93DCD7559BE83F544BE3BC06F3C1004693E668E62BE3F3C9DBD9D80093E12A153BDBD9384BE999559BB59A2CFBD67BA8C3DA544F33DE19EB1BD777017BE5FC62E3E74A97EBE2945103E9C98ED3D549BEA3D843C4EBEFEBDED3D9B6C30BE381A043EDDA109BE1920823D7E7A4F3B5F664CBEA15889BE18748BBD32F82F3E483F87BD5EE398BDF48937BEEDFF55BECC01C0BC939E9ABD7A8DD33D57928F3E1B404BBE678FB5BDDD54DB3DE88547BEDD0A03BDBDE615BE61013C3EC09F03BDF64CC23C04C82F3E706B51BED8A81FBEC922653E7EE6EA3DE7D2D3BCCD5C933E2890813E89AFFFBD6A41A5BD541D003EAD5338BEADEB92BEBA3515BEDB5487BE46E93A3E1EA3953D1DC278BE042347BC209F8D3EEFD52CBEBF353BBEFE21FE3DEAD150BE83E189BEB83A273E",
      torch_tensor_12_torch.float32_2: "0x0400000066C1D73DE511573E86C24EBE112E85BEB2E8B23DF0258ABD5CF6623EEA2016BE2D1890BDF483033E7B8D8E3E4712CB3D",
      torch_tensor_12_12_torch.float32: "0x040000009BA781BE120089BEDC147EBDCA75A43D9B2561BE16C5D9BC2037863C3EDF61BEC8678A3EA717563E62C8613E0014F1BD914553BEC12F113D6CE62C3E809B103E1DC63FBE540F683EDE230CBEF3B64EBD54C4A5BDBBBC0C3E63E789BED63A3CBE48130FBDB77A4B3E3F598EBDD377393E9B5A873E8DBD313C3F1947BE907FD23AB507E63D29D17BBDF04E90BE05ED2F3E89D200BE0BC04EBECFA6163E3E4E8E3DB65E573EF8C76EBDEFC9363E26618CBD358937BE3671883E606C913EC4AA523EF302A5BD66F900BE9609513D47D0143E68E0163DF9EDF83D32DD61BCD1A9273ECD3B0C3E5260283E680FB1BCA14873BEB86539BEE78813BE49FE793E9B7A6EBCFBCA1EBD4FA2E6BD0D9B46BCA23E473ED6608638EE3E093E0447293E9EF38FBEECC1CE3D01AE933E09CA15BE751F403DB8BBD43BBF3F1C3E86708E3D65155EBEF2CD5CBE38677C3E5FD2FEBD63E781BE06A584BE3A9680BE8FFC863D9FB0083D97992BBEC18E85BDCFD7383DE65BD73D0360F13D2D211FBE77468B3E35128A3EB8ED51BE7EFF883E162A72BE031A43BEC172693D5B63AD3DE66C833E3B75BE3AC5A5473E0313C5BD686657BEEEECE5BC8E76193E04F7E6BDF7367ABE9C1034BE3376513D93EF8C3ED7BB823C3A4B6EBE9E5604BE8705163E8410BABD87991FBDB1E85B3E5C4FD93DE9F6343EBAB0843E2096C2BDCA6C2B3DA7C85DBE7EE9923E842546BE7D7D8C3ED852873E189D803D78937FBE406F18BC5FA7F3BDAE3CB53D7F28273EFF9F243EEDDDBD3D058262BE6AA378BE0E8FAE3D7AB281BD09280A3E",
      torch_tensor_12_torch.float32_1: "0x0400000027041B3EFA88303E07EF44BDBF41093DC1BAC83D384541BD47BDDE3D5386ADBDEE8E0D3E07DDD43DD7AC11BE4511503E",
      torch_tensor_12_torch.float32: "0x04000000FCDE773F44FA903F59A8653FF24D863FB28F753FE49B883F3105853F72B9853F93768E3FAF68933F7869533F2274483F",
      torch_tensor_2_12_torch.float32: "0x04000000ED96DC3E0AAB84BF89E71DBF03A9BB3F274000BF19EE1CBF9860B9BE4262C63F7C0CD33DCAED653FDE1ACCBF56411CBFAD82C8BFE2E1873E2451E1BC6E680D3C834EDE3EFE6800408A768F3F4E7D8F3DDE36D93D55D5673FDDE9B7BF19EEAFBE",
      torch_tensor_16_12_torch.float32: "0x040000008F80023E3C2E9BBCCD85D0BE3A1D083F04F13DBF743623BF0310CABF6F60253FC3CF013F545E21BE9DAEEB3E559C93BF2D7E30BF5CCE4ABD8CA99CBFE7E8233F410116BF19ABFABEC7C9233F78021C3FA485C4BEBBF988BEE1EB2D3F7F14CABE61B4DCBE64FE1C3FC4E8903EE5BC973FB323A6BF478949BF0E00DF3F9088163F5E5D65BEDCA34BBF509208C027D03FBF2E4C223F2677803F0B090CC000237EBF70CD013E1CF3C1BF65A669BFFAC3A23F5C9D143E966CAF3F8E74C0BE74F42C3E289905406ADC07BF9EE74D3F6756973D7ECD46BE8DCAC1BF0234073F732F913FF036393FF5B48ABF43BD07BF36C3073E1C21583E85B7D1BEFB9016407F1A873E6286B33F4459D5BEC06C293EA33737BF210A9F3FA5A6AABF4295973E6DD2BFBD7A6D41BFF251F5BD6A58743F83C5183E9DA3CF3F935F473E5A32CCBF1FFF153F8B7B333F8EE230BF6E99953EE10ABB3F41D8803FA5657A3F4739EDBE7274DABF7AAA09C07CCBA3BFAB387DBF5AA18FBB823A3FBE9EE9DC3D9D88CEBED3E2F03E0865A43F0A3956BFBDA6B6BFB65289BE10DABEBF212A004020705DBFCD7E94BE1DAD403FD466133F84FB8A3DC1BEC8BDADC41EBF982DFBBF37EB0D3F3ACDB9BEE5A32CBF715141C0AB87CD3E6FB887BFBB0ABABFBF1BDC3E56DF8FBF4075F0BEE1F68FBE9CA930BF1891BD3FC35F43BD434F98BFD565B83F12DF34BF75234E3F91FE6ABC3C4913BF2862CC3E3DDEFFBE8E4F98BF49979FBF50A9C63F5DA6943F5660D6BE3DE1AE3E2B8977BEC210A53F5DADAE3FFBAF0940BA8827400978823F67BB20BF948900405321413F8ABC823D173D26BFACC1753F7167B03E852314BF1ABE493F693D4FBFE6B7BE3D2AD299BEA8613EBF13E511C0A6A9AC3FA0B9763F86A74F3F19B431406977433F9A9A37BEABF3B2BF20C8983E252B923F2C4F0B3EA631273E0FEF57BFBAA43F3FE297F93D7857683F3825A8BF6B181D3FA490163F2C9E193F943A41BF0108D03F6848E63FFBA2233F33E8C8BEA72916BF24A434BF42DAD13E9A20983B55564C3F3024563EF246BDBF1D940940F991193E1D36703F",
      torch_tensor_7_12_torch.float32: "0x0400000056F451BF2390CA3ED51E663F39B7B1BF01012BBE2DFF913E931E24BF95C664BFED316D3F571709BFBA7194BFAC99EBBED162353FF8A1813F28ED6B3E8A8A8B3FC194CABF9B2DA6BE3493F63F4CF7A8BEEB344B3EEA35483F7B01853F937939BF565D56BE78825CBED469E8BF8EC3B0BE41EF03C0DD912C3F6563A9BFE50CAEBFDA10ABBDCB54C0BC748F323E0C181340A404753F277029BF6D1554BFDB0D1BBF315CB3BF1A0FA63F1A0AD23F6D4187BFC2EE85BE621180BE8249003F7D23853E207836BE09DD84BEB25F6DBC5C8DC4BEBAD53DC044C087BFC6349EBE832D6F3F9AE9CF3FF56ECD3A5605E0BE36F206C09B8F923FA1ADC3BE6CE5B5BEC312413FE76F083E30ED3A3EF2BE03BFCDEE4C3F12EB00BE383175BFCF3BE03FD4C47A3FB02DD23E543DE23F305FAABD8B3A023F1D4953BF8B34273E4753003F9CD4B53F1FBD933F50AEC4BF62C40EBF696DE0BE"
    }
  }
#-}
