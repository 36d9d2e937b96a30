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
  func.func @main(%arg0: tensor<1x?xi64>) -> tensor<1x?x6xf32> {
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
    %cst_4 = arith.constant dense_resource<torch_tensor_6_torch.float32_19> : tensor<6xf32>
    %cst_5 = arith.constant dense_resource<torch_tensor_6_torch.float32_18> : tensor<6xf32>
    %cst_6 = arith.constant dense_resource<torch_tensor_6_torch.float32_17> : tensor<6xf32>
    %cst_7 = arith.constant dense_resource<torch_tensor_6_5_torch.float32_1> : tensor<6x5xf32>
    %cst_8 = arith.constant dense_resource<torch_tensor_5_torch.float32_1> : tensor<5xf32>
    %cst_9 = arith.constant dense_resource<torch_tensor_5_6_torch.float32_1> : tensor<5x6xf32>
    %cst_10 = arith.constant dense_resource<torch_tensor_6_torch.float32_16> : tensor<6xf32>
    %cst_11 = arith.constant dense_resource<torch_tensor_6_torch.float32_15> : tensor<6xf32>
    %cst_12 = arith.constant dense_resource<torch_tensor_6_torch.float32_14> : tensor<6xf32>
    %cst_13 = arith.constant dense_resource<torch_tensor_6_6_torch.float32_7> : tensor<6x6xf32>
    %cst_14 = arith.constant dense_resource<torch_tensor_6_torch.float32_13> : tensor<6xf32>
    %cst_15 = arith.constant dense_resource<torch_tensor_6_6_torch.float32_6> : tensor<6x6xf32>
    %cst_16 = arith.constant dense_resource<torch_tensor_6_torch.float32_12> : tensor<6xf32>
    %cst_17 = arith.constant dense_resource<torch_tensor_6_6_torch.float32_5> : tensor<6x6xf32>
    %cst_18 = arith.constant dense_resource<torch_tensor_6_torch.float32_11> : tensor<6xf32>
    %cst_19 = arith.constant dense_resource<torch_tensor_6_6_torch.float32_4> : tensor<6x6xf32>
    %cst_20 = arith.constant dense_resource<torch_tensor_6_torch.float32_10> : tensor<6xf32>
    %cst_21 = arith.constant dense_resource<torch_tensor_6_torch.float32_9> : tensor<6xf32>
    %cst_22 = arith.constant dense_resource<torch_tensor_6_torch.float32_8> : tensor<6xf32>
    %cst_23 = arith.constant dense_resource<torch_tensor_6_5_torch.float32> : tensor<6x5xf32>
    %cst_24 = arith.constant dense_resource<torch_tensor_5_torch.float32> : tensor<5xf32>
    %cst_25 = arith.constant dense_resource<torch_tensor_5_6_torch.float32> : tensor<5x6xf32>
    %cst_26 = arith.constant dense_resource<torch_tensor_6_torch.float32_7> : tensor<6xf32>
    %cst_27 = arith.constant dense_resource<torch_tensor_6_torch.float32_6> : tensor<6xf32>
    %cst_28 = arith.constant dense_resource<torch_tensor_6_torch.float32_5> : tensor<6xf32>
    %cst_29 = arith.constant dense_resource<torch_tensor_6_6_torch.float32_3> : tensor<6x6xf32>
    %cst_30 = arith.constant 1.4142135623730951 : f64
    %cst_31 = arith.constant dense_resource<torch_tensor_6_torch.float32_4> : tensor<6xf32>
    %cst_32 = arith.constant dense_resource<torch_tensor_6_6_torch.float32_2> : tensor<6x6xf32>
    %cst_33 = arith.constant dense_resource<torch_tensor_6_torch.float32_3> : tensor<6xf32>
    %cst_34 = arith.constant dense_resource<torch_tensor_6_6_torch.float32_1> : tensor<6x6xf32>
    %cst_35 = arith.constant dense_resource<torch_tensor_6_torch.float32_2> : tensor<6xf32>
    %cst_36 = arith.constant dense_resource<torch_tensor_6_6_torch.float32> : tensor<6x6xf32>
    %cst_37 = arith.constant dense_resource<torch_tensor_6_torch.float32_1> : tensor<6xf32>
    %cst_38 = arith.constant dense_resource<torch_tensor_6_torch.float32> : tensor<6xf32>
    %cst_39 = arith.constant 9.9999999999999998E-13 : f64
    %cst_40 = arith.constant dense_resource<torch_tensor_2_6_torch.float32> : tensor<2x6xf32>
    %cst_41 = arith.constant dense_resource<torch_tensor_16_6_torch.float32> : tensor<16x6xf32>
    %cst_42 = arith.constant dense_resource<torch_tensor_7_6_torch.float32> : tensor<7x6xf32>
    %cst_43 = arith.constant 6.000000e+00 : f64
    %cst_44 = arith.constant 6.000000e+00 : f32
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
    %3 = tensor.empty(%dim) : tensor<1x?x6xf32>
    %4 = linalg.generic {indexing_maps = [#map1, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg0 : tensor<1x?xi64>) outs(%3 : tensor<1x?x6xf32>) {
    ^bb0(%in: i64, %out: f32):
      %194 = arith.index_cast %in : i64 to index
      %195 = linalg.index 2 : index
      %196 = arith.cmpi slt, %194, %c7 : index
      cf.assert %196, "index must be smaller than dim size"
      %197 = arith.cmpi sge, %in, %c0_i64 : i64
      cf.assert %197, "index must be larger or equal to 0"
      %extracted = tensor.extract %cst_42[%194, %195] : tensor<7x6xf32>
      linalg.yield %extracted : f32
    } -> tensor<1x?x6xf32>
    %5 = linalg.generic {indexing_maps = [#map1, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded : tensor<1x?xi64>) outs(%3 : tensor<1x?x6xf32>) {
    ^bb0(%in: i64, %out: f32):
      %194 = arith.index_cast %in : i64 to index
      %195 = linalg.index 2 : index
      %196 = arith.cmpi slt, %194, %c16 : index
      cf.assert %196, "index must be smaller than dim size"
      %197 = arith.cmpi sge, %in, %c0_i64 : i64
      cf.assert %197, "index must be larger or equal to 0"
      %extracted = tensor.extract %cst_41[%194, %195] : tensor<16x6xf32>
      linalg.yield %extracted : f32
    } -> tensor<1x?x6xf32>
    %6 = linalg.generic {indexing_maps = [#map2, #map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%4, %5 : tensor<1x?x6xf32>, tensor<1x?x6xf32>) outs(%3 : tensor<1x?x6xf32>) {
    ^bb0(%in: f32, %in_99: f32, %out: f32):
      %194 = arith.addf %in, %in_99 : f32
      linalg.yield %194 : f32
    } -> tensor<1x?x6xf32>
    %7 = arith.cmpi sge, %0, %c0_i64 : i64
    cf.assert %7, "negative values not allowed in new dimensions"
    %8 = tensor.empty(%dim) : tensor<1x?xi64>
    %9 = linalg.generic {indexing_maps = [#map3, #map4], iterator_types = ["parallel", "parallel"]} ins(%cst_46 : tensor<i64>) outs(%8 : tensor<1x?xi64>) {
    ^bb0(%in: i64, %out: i64):
      linalg.yield %in : i64
    } -> tensor<1x?xi64>
    %10 = tensor.empty(%dim) : tensor<1x?x6xf32>
    %11 = linalg.generic {indexing_maps = [#map1, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%9 : tensor<1x?xi64>) outs(%10 : tensor<1x?x6xf32>) {
    ^bb0(%in: i64, %out: f32):
      %194 = arith.index_cast %in : i64 to index
      %195 = linalg.index 2 : index
      %196 = arith.cmpi slt, %194, %c2 : index
      cf.assert %196, "index must be smaller than dim size"
      %197 = arith.cmpi sge, %in, %c0_i64 : i64
      cf.assert %197, "index must be larger or equal to 0"
      %extracted = tensor.extract %cst_40[%194, %195] : tensor<2x6xf32>
      linalg.yield %extracted : f32
    } -> tensor<1x?x6xf32>
    cf.assert %true, "mismatched size for broadcast"
    %12 = linalg.generic {indexing_maps = [#map2, #map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%6, %11 : tensor<1x?x6xf32>, tensor<1x?x6xf32>) outs(%3 : tensor<1x?x6xf32>) {
    ^bb0(%in: f32, %in_99: f32, %out: f32):
      %194 = arith.addf %in, %in_99 : f32
      linalg.yield %194 : f32
    } -> tensor<1x?x6xf32>
    %13 = tensor.empty(%dim) : tensor<1x?x6xf64>
    %14 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%12 : tensor<1x?x6xf32>) outs(%13 : tensor<1x?x6xf64>) {
    ^bb0(%in: f32, %out: f64):
      %194 = arith.extf %in : f32 to f64
      linalg.yield %194 : f64
    } -> tensor<1x?x6xf64>
    %15 = tensor.empty(%dim) : tensor<1x?x1xf64>
    %16 = linalg.fill ins(%cst : f64) outs(%15 : tensor<1x?x1xf64>) -> tensor<1x?x1xf64>
    %17 = linalg.generic {indexing_maps = [#map2, #map5], iterator_types = ["parallel", "parallel", "reduction"]} ins(%14 : tensor<1x?x6xf64>) outs(%16 : tensor<1x?x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %194 = arith.addf %in, %out : f64
      linalg.yield %194 : f64
    } -> tensor<1x?x1xf64>
    %18 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%17 : tensor<1x?x1xf64>) outs(%15 : tensor<1x?x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %194 = arith.divf %in, %cst_43 : f64
      linalg.yield %194 : f64
    } -> tensor<1x?x1xf64>
    %19 = linalg.generic {indexing_maps = [#map2, #map5, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%14, %18 : tensor<1x?x6xf64>, tensor<1x?x1xf64>) outs(%13 : tensor<1x?x6xf64>) {
    ^bb0(%in: f64, %in_99: f64, %out: f64):
      %194 = arith.subf %in, %in_99 : f64
      linalg.yield %194 : f64
    } -> tensor<1x?x6xf64>
    %20 = linalg.generic {indexing_maps = [#map2, #map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%19, %19 : tensor<1x?x6xf64>, tensor<1x?x6xf64>) outs(%13 : tensor<1x?x6xf64>) {
    ^bb0(%in: f64, %in_99: f64, %out: f64):
      %194 = arith.mulf %in, %in_99 : f64
      linalg.yield %194 : f64
    } -> tensor<1x?x6xf64>
    %21 = linalg.generic {indexing_maps = [#map2, #map5], iterator_types = ["parallel", "parallel", "reduction"]} ins(%20 : tensor<1x?x6xf64>) outs(%16 : tensor<1x?x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %194 = arith.addf %in, %out : f64
      linalg.yield %194 : f64
    } -> tensor<1x?x1xf64>
    %22 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%21 : tensor<1x?x1xf64>) outs(%15 : tensor<1x?x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %194 = arith.divf %in, %cst_43 : f64
      linalg.yield %194 : f64
    } -> tensor<1x?x1xf64>
    %23 = tensor.empty(%dim) : tensor<1x?x1xf32>
    %24 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%22 : tensor<1x?x1xf64>) outs(%23 : tensor<1x?x1xf32>) {
    ^bb0(%in: f64, %out: f32):
      %194 = arith.truncf %in : f64 to f32
      linalg.yield %194 : f32
    } -> tensor<1x?x1xf32>
    %25 = linalg.fill ins(%cst_0 : f32) outs(%23 : tensor<1x?x1xf32>) -> tensor<1x?x1xf32>
    %26 = linalg.generic {indexing_maps = [#map2, #map5], iterator_types = ["parallel", "parallel", "reduction"]} ins(%12 : tensor<1x?x6xf32>) outs(%25 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %194 = arith.addf %in, %out : f32
      linalg.yield %194 : f32
    } -> tensor<1x?x1xf32>
    %27 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%26 : tensor<1x?x1xf32>) outs(%23 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %194 = arith.divf %in, %cst_44 : f32
      linalg.yield %194 : f32
    } -> tensor<1x?x1xf32>
    %28 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%24 : tensor<1x?x1xf32>) outs(%23 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %194 = arith.truncf %cst_39 : f64 to f32
      %195 = arith.addf %in, %194 : f32
      linalg.yield %195 : f32
    } -> tensor<1x?x1xf32>
    %29 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%28 : tensor<1x?x1xf32>) outs(%23 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %194 = math.rsqrt %in : f32
      linalg.yield %194 : f32
    } -> tensor<1x?x1xf32>
    %30 = linalg.generic {indexing_maps = [#map2, #map5, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%12, %27 : tensor<1x?x6xf32>, tensor<1x?x1xf32>) outs(%3 : tensor<1x?x6xf32>) {
    ^bb0(%in: f32, %in_99: f32, %out: f32):
      %194 = arith.subf %in, %in_99 : f32
      linalg.yield %194 : f32
    } -> tensor<1x?x6xf32>
    %31 = linalg.generic {indexing_maps = [#map2, #map5, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%30, %29 : tensor<1x?x6xf32>, tensor<1x?x1xf32>) outs(%3 : tensor<1x?x6xf32>) {
    ^bb0(%in: f32, %in_99: f32, %out: f32):
      %194 = arith.mulf %in, %in_99 : f32
      linalg.yield %194 : f32
    } -> tensor<1x?x6xf32>
    %32 = linalg.generic {indexing_maps = [#map2, #map6, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%31, %cst_38 : tensor<1x?x6xf32>, tensor<6xf32>) outs(%3 : tensor<1x?x6xf32>) {
    ^bb0(%in: f32, %in_99: f32, %out: f32):
      %194 = arith.mulf %in, %in_99 : f32
      linalg.yield %194 : f32
    } -> tensor<1x?x6xf32>
    %33 = linalg.generic {indexing_maps = [#map2, #map6, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%32, %cst_37 : tensor<1x?x6xf32>, tensor<6xf32>) outs(%3 : tensor<1x?x6xf32>) {
    ^bb0(%in: f32, %in_99: f32, %out: f32):
      %194 = arith.addf %in, %in_99 : f32
      linalg.yield %194 : f32
    } -> tensor<1x?x6xf32>
    %collapsed = tensor.collapse_shape %33 [[0, 1], [2]] : tensor<1x?x6xf32> into tensor<?x6xf32>
    %34 = tensor.empty() : tensor<6x6xf32>
    %transposed = linalg.transpose ins(%cst_36 : tensor<6x6xf32>) outs(%34 : tensor<6x6xf32>) permutation = [1, 0] 
    %35 = tensor.empty(%dim) : tensor<?x6xf32>
    %36 = linalg.fill ins(%cst_0 : f32) outs(%35 : tensor<?x6xf32>) -> tensor<?x6xf32>
    %37 = linalg.matmul ins(%collapsed, %transposed : tensor<?x6xf32>, tensor<6x6xf32>) outs(%36 : tensor<?x6xf32>) -> tensor<?x6xf32>
    %38 = linalg.generic {indexing_maps = [#map4, #map7, #map4], iterator_types = ["parallel", "parallel"]} ins(%37, %cst_35 : tensor<?x6xf32>, tensor<6xf32>) outs(%35 : tensor<?x6xf32>) {
    ^bb0(%in: f32, %in_99: f32, %out: f32):
      %194 = arith.addf %in, %in_99 : f32
      linalg.yield %194 : f32
    } -> tensor<?x6xf32>
    %expanded_47 = tensor.expand_shape %38 [[0, 1], [2, 3]] output_shape [1, %dim, 3, 2] : tensor<?x6xf32> into tensor<1x?x3x2xf32>
    %39 = tensor.empty(%dim) : tensor<1x3x?x2xf32>
    %transposed_48 = linalg.transpose ins(%expanded_47 : tensor<1x?x3x2xf32>) outs(%39 : tensor<1x3x?x2xf32>) permutation = [0, 2, 1, 3] 
    %transposed_49 = linalg.transpose ins(%cst_34 : tensor<6x6xf32>) outs(%34 : tensor<6x6xf32>) permutation = [1, 0] 
    %40 = linalg.matmul ins(%collapsed, %transposed_49 : tensor<?x6xf32>, tensor<6x6xf32>) outs(%36 : tensor<?x6xf32>) -> tensor<?x6xf32>
    %41 = linalg.generic {indexing_maps = [#map4, #map7, #map4], iterator_types = ["parallel", "parallel"]} ins(%40, %cst_33 : tensor<?x6xf32>, tensor<6xf32>) outs(%35 : tensor<?x6xf32>) {
    ^bb0(%in: f32, %in_99: f32, %out: f32):
      %194 = arith.addf %in, %in_99 : f32
      linalg.yield %194 : f32
    } -> tensor<?x6xf32>
    %expanded_50 = tensor.expand_shape %41 [[0, 1], [2, 3]] output_shape [1, %dim, 3, 2] : tensor<?x6xf32> into tensor<1x?x3x2xf32>
    %transposed_51 = linalg.transpose ins(%cst_32 : tensor<6x6xf32>) outs(%34 : tensor<6x6xf32>) permutation = [1, 0] 
    %42 = linalg.matmul ins(%collapsed, %transposed_51 : tensor<?x6xf32>, tensor<6x6xf32>) outs(%36 : tensor<?x6xf32>) -> tensor<?x6xf32>
    %43 = linalg.generic {indexing_maps = [#map4, #map7, #map4], iterator_types = ["parallel", "parallel"]} ins(%42, %cst_31 : tensor<?x6xf32>, tensor<6xf32>) outs(%35 : tensor<?x6xf32>) {
    ^bb0(%in: f32, %in_99: f32, %out: f32):
      %194 = arith.addf %in, %in_99 : f32
      linalg.yield %194 : f32
    } -> tensor<?x6xf32>
    %expanded_52 = tensor.expand_shape %43 [[0, 1], [2, 3]] output_shape [1, %dim, 3, 2] : tensor<?x6xf32> into tensor<1x?x3x2xf32>
    %transposed_53 = linalg.transpose ins(%expanded_52 : tensor<1x?x3x2xf32>) outs(%39 : tensor<1x3x?x2xf32>) permutation = [0, 2, 1, 3] 
    %44 = tensor.empty(%dim) : tensor<1x3x2x?xf32>
    %transposed_54 = linalg.transpose ins(%expanded_50 : tensor<1x?x3x2xf32>) outs(%44 : tensor<1x3x2x?xf32>) permutation = [0, 2, 3, 1] 
    cf.assert %7, "unimplemented: dynamic negative broadcast sizes"
    %45 = tensor.empty(%dim) : tensor<1x3x?x2xf32>
    %46 = linalg.generic {indexing_maps = [#map8], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%45 : tensor<1x3x?x2xf32>) {
    ^bb0(%out: f32):
      %194 = linalg.index 1 : index
      %195 = linalg.index 2 : index
      %196 = linalg.index 3 : index
      %197 = arith.cmpi eq, %dim, %c1 : index
      %198 = arith.select %197, %c0, %195 : index
      %extracted = tensor.extract %transposed_48[%c0, %194, %198, %196] : tensor<1x3x?x2xf32>
      linalg.yield %extracted : f32
    } -> tensor<1x3x?x2xf32>
    %collapsed_55 = tensor.collapse_shape %46 [[0, 1], [2], [3]] : tensor<1x3x?x2xf32> into tensor<3x?x2xf32>
    cf.assert %7, "unimplemented: dynamic negative broadcast sizes"
    %47 = tensor.empty(%dim) : tensor<1x3x2x?xf32>
    %48 = linalg.generic {indexing_maps = [#map8], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%47 : tensor<1x3x2x?xf32>) {
    ^bb0(%out: f32):
      %194 = linalg.index 1 : index
      %195 = linalg.index 2 : index
      %196 = linalg.index 3 : index
      %197 = arith.cmpi eq, %dim, %c1 : index
      %198 = arith.select %197, %c0, %196 : index
      %extracted = tensor.extract %transposed_54[%c0, %194, %195, %198] : tensor<1x3x2x?xf32>
      linalg.yield %extracted : f32
    } -> tensor<1x3x2x?xf32>
    %collapsed_56 = tensor.collapse_shape %48 [[0, 1], [2], [3]] : tensor<1x3x2x?xf32> into tensor<3x2x?xf32>
    %49 = tensor.empty(%dim, %dim) : tensor<3x?x?xf32>
    %50 = linalg.fill ins(%cst_0 : f32) outs(%49 : tensor<3x?x?xf32>) -> tensor<3x?x?xf32>
    %51 = linalg.batch_matmul ins(%collapsed_55, %collapsed_56 : tensor<3x?x2xf32>, tensor<3x2x?xf32>) outs(%50 : tensor<3x?x?xf32>) -> tensor<3x?x?xf32>
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
      %194 = arith.truncf %cst_30 : f64 to f32
      %195 = arith.divf %in, %194 : f32
      linalg.yield %195 : f32
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
    %80 = linalg.generic {indexing_maps = [#map8], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%45 : tensor<1x3x?x2xf32>) {
    ^bb0(%out: f32):
      %194 = linalg.index 1 : index
      %195 = linalg.index 2 : index
      %196 = linalg.index 3 : index
      %197 = arith.cmpi eq, %dim, %c1 : index
      %198 = arith.select %197, %c0, %195 : index
      %extracted = tensor.extract %transposed_53[%c0, %194, %198, %196] : tensor<1x3x?x2xf32>
      linalg.yield %extracted : f32
    } -> tensor<1x3x?x2xf32>
    %collapsed_60 = tensor.collapse_shape %80 [[0, 1], [2], [3]] : tensor<1x3x?x2xf32> into tensor<3x?x2xf32>
    %81 = arith.cmpi eq, %63, %0 : i64
    cf.assert %81, "mismatching contracting dimension"
    %82 = tensor.empty(%64) : tensor<3x?x2xf32>
    %83 = linalg.fill ins(%cst_0 : f32) outs(%82 : tensor<3x?x2xf32>) -> tensor<3x?x2xf32>
    %84 = linalg.batch_matmul ins(%reshape_59, %collapsed_60 : tensor<3x?x?xf32>, tensor<3x?x2xf32>) outs(%83 : tensor<3x?x2xf32>) -> tensor<3x?x2xf32>
    %expanded_61 = tensor.expand_shape %84 [[0, 1], [2], [3]] output_shape [1, 3, %64, 2] : tensor<3x?x2xf32> into tensor<1x3x?x2xf32>
    %85 = tensor.empty(%64) : tensor<1x?x3x2xf32>
    %transposed_62 = linalg.transpose ins(%expanded_61 : tensor<1x3x?x2xf32>) outs(%85 : tensor<1x?x3x2xf32>) permutation = [0, 2, 1, 3] 
    %collapsed_63 = tensor.collapse_shape %transposed_62 [[0, 1], [2, 3]] : tensor<1x?x3x2xf32> into tensor<?x6xf32>
    %transposed_64 = linalg.transpose ins(%cst_29 : tensor<6x6xf32>) outs(%34 : tensor<6x6xf32>) permutation = [1, 0] 
    %86 = tensor.empty(%64) : tensor<?x6xf32>
    %87 = linalg.fill ins(%cst_0 : f32) outs(%86 : tensor<?x6xf32>) -> tensor<?x6xf32>
    %88 = linalg.matmul ins(%collapsed_63, %transposed_64 : tensor<?x6xf32>, tensor<6x6xf32>) outs(%87 : tensor<?x6xf32>) -> tensor<?x6xf32>
    %89 = linalg.generic {indexing_maps = [#map4, #map7, #map4], iterator_types = ["parallel", "parallel"]} ins(%88, %cst_28 : tensor<?x6xf32>, tensor<6xf32>) outs(%86 : tensor<?x6xf32>) {
    ^bb0(%in: f32, %in_99: f32, %out: f32):
      %194 = arith.addf %in, %in_99 : f32
      linalg.yield %194 : f32
    } -> tensor<?x6xf32>
    %expanded_65 = tensor.expand_shape %89 [[0, 1], [2]] output_shape [1, %64, 6] : tensor<?x6xf32> into tensor<1x?x6xf32>
    %90 = arith.cmpi eq, %dim, %64 : index
    cf.assert %90, "mismatched size for broadcast"
    %91 = linalg.generic {indexing_maps = [#map2, #map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%33, %expanded_65 : tensor<1x?x6xf32>, tensor<1x?x6xf32>) outs(%3 : tensor<1x?x6xf32>) {
    ^bb0(%in: f32, %in_99: f32, %out: f32):
      %194 = arith.addf %in, %in_99 : f32
      linalg.yield %194 : f32
    } -> tensor<1x?x6xf32>
    %92 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%91 : tensor<1x?x6xf32>) outs(%13 : tensor<1x?x6xf64>) {
    ^bb0(%in: f32, %out: f64):
      %194 = arith.extf %in : f32 to f64
      linalg.yield %194 : f64
    } -> tensor<1x?x6xf64>
    %93 = linalg.generic {indexing_maps = [#map2, #map5], iterator_types = ["parallel", "parallel", "reduction"]} ins(%92 : tensor<1x?x6xf64>) outs(%16 : tensor<1x?x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %194 = arith.addf %in, %out : f64
      linalg.yield %194 : f64
    } -> tensor<1x?x1xf64>
    %94 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%93 : tensor<1x?x1xf64>) outs(%15 : tensor<1x?x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %194 = arith.divf %in, %cst_43 : f64
      linalg.yield %194 : f64
    } -> tensor<1x?x1xf64>
    %95 = linalg.generic {indexing_maps = [#map2, #map5, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%92, %94 : tensor<1x?x6xf64>, tensor<1x?x1xf64>) outs(%13 : tensor<1x?x6xf64>) {
    ^bb0(%in: f64, %in_99: f64, %out: f64):
      %194 = arith.subf %in, %in_99 : f64
      linalg.yield %194 : f64
    } -> tensor<1x?x6xf64>
    %96 = linalg.generic {indexing_maps = [#map2, #map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%95, %95 : tensor<1x?x6xf64>, tensor<1x?x6xf64>) outs(%13 : tensor<1x?x6xf64>) {
    ^bb0(%in: f64, %in_99: f64, %out: f64):
      %194 = arith.mulf %in, %in_99 : f64
      linalg.yield %194 : f64
    } -> tensor<1x?x6xf64>
    %97 = linalg.generic {indexing_maps = [#map2, #map5], iterator_types = ["parallel", "parallel", "reduction"]} ins(%96 : tensor<1x?x6xf64>) outs(%16 : tensor<1x?x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %194 = arith.addf %in, %out : f64
      linalg.yield %194 : f64
    } -> tensor<1x?x1xf64>
    %98 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%97 : tensor<1x?x1xf64>) outs(%15 : tensor<1x?x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %194 = arith.divf %in, %cst_43 : f64
      linalg.yield %194 : f64
    } -> tensor<1x?x1xf64>
    %99 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%98 : tensor<1x?x1xf64>) outs(%23 : tensor<1x?x1xf32>) {
    ^bb0(%in: f64, %out: f32):
      %194 = arith.truncf %in : f64 to f32
      linalg.yield %194 : f32
    } -> tensor<1x?x1xf32>
    %100 = linalg.generic {indexing_maps = [#map2, #map5], iterator_types = ["parallel", "parallel", "reduction"]} ins(%91 : tensor<1x?x6xf32>) outs(%25 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %194 = arith.addf %in, %out : f32
      linalg.yield %194 : f32
    } -> tensor<1x?x1xf32>
    %101 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%100 : tensor<1x?x1xf32>) outs(%23 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %194 = arith.divf %in, %cst_44 : f32
      linalg.yield %194 : f32
    } -> tensor<1x?x1xf32>
    %102 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%99 : tensor<1x?x1xf32>) outs(%23 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %194 = arith.truncf %cst_39 : f64 to f32
      %195 = arith.addf %in, %194 : f32
      linalg.yield %195 : f32
    } -> tensor<1x?x1xf32>
    %103 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%102 : tensor<1x?x1xf32>) outs(%23 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %194 = math.rsqrt %in : f32
      linalg.yield %194 : f32
    } -> tensor<1x?x1xf32>
    %104 = linalg.generic {indexing_maps = [#map2, #map5, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%91, %101 : tensor<1x?x6xf32>, tensor<1x?x1xf32>) outs(%3 : tensor<1x?x6xf32>) {
    ^bb0(%in: f32, %in_99: f32, %out: f32):
      %194 = arith.subf %in, %in_99 : f32
      linalg.yield %194 : f32
    } -> tensor<1x?x6xf32>
    %105 = linalg.generic {indexing_maps = [#map2, #map5, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%104, %103 : tensor<1x?x6xf32>, tensor<1x?x1xf32>) outs(%3 : tensor<1x?x6xf32>) {
    ^bb0(%in: f32, %in_99: f32, %out: f32):
      %194 = arith.mulf %in, %in_99 : f32
      linalg.yield %194 : f32
    } -> tensor<1x?x6xf32>
    %106 = linalg.generic {indexing_maps = [#map2, #map6, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%105, %cst_27 : tensor<1x?x6xf32>, tensor<6xf32>) outs(%3 : tensor<1x?x6xf32>) {
    ^bb0(%in: f32, %in_99: f32, %out: f32):
      %194 = arith.mulf %in, %in_99 : f32
      linalg.yield %194 : f32
    } -> tensor<1x?x6xf32>
    %107 = linalg.generic {indexing_maps = [#map2, #map6, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%106, %cst_26 : tensor<1x?x6xf32>, tensor<6xf32>) outs(%3 : tensor<1x?x6xf32>) {
    ^bb0(%in: f32, %in_99: f32, %out: f32):
      %194 = arith.addf %in, %in_99 : f32
      linalg.yield %194 : f32
    } -> tensor<1x?x6xf32>
    %collapsed_66 = tensor.collapse_shape %107 [[0, 1], [2]] : tensor<1x?x6xf32> into tensor<?x6xf32>
    %108 = tensor.empty() : tensor<6x5xf32>
    %transposed_67 = linalg.transpose ins(%cst_25 : tensor<5x6xf32>) outs(%108 : tensor<6x5xf32>) permutation = [1, 0] 
    %109 = tensor.empty(%dim) : tensor<?x5xf32>
    %110 = linalg.fill ins(%cst_0 : f32) outs(%109 : tensor<?x5xf32>) -> tensor<?x5xf32>
    %111 = linalg.matmul ins(%collapsed_66, %transposed_67 : tensor<?x6xf32>, tensor<6x5xf32>) outs(%110 : tensor<?x5xf32>) -> tensor<?x5xf32>
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
    %115 = tensor.empty() : tensor<5x6xf32>
    %transposed_70 = linalg.transpose ins(%cst_23 : tensor<6x5xf32>) outs(%115 : tensor<5x6xf32>) permutation = [1, 0] 
    %116 = linalg.matmul ins(%collapsed_69, %transposed_70 : tensor<?x5xf32>, tensor<5x6xf32>) outs(%36 : tensor<?x6xf32>) -> tensor<?x6xf32>
    %117 = linalg.generic {indexing_maps = [#map4, #map7, #map4], iterator_types = ["parallel", "parallel"]} ins(%116, %cst_22 : tensor<?x6xf32>, tensor<6xf32>) outs(%35 : tensor<?x6xf32>) {
    ^bb0(%in: f32, %in_99: f32, %out: f32):
      %194 = arith.addf %in, %in_99 : f32
      linalg.yield %194 : f32
    } -> tensor<?x6xf32>
    %expanded_71 = tensor.expand_shape %117 [[0, 1], [2]] output_shape [1, %dim, 6] : tensor<?x6xf32> into tensor<1x?x6xf32>
    %118 = linalg.generic {indexing_maps = [#map2, #map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%107, %expanded_71 : tensor<1x?x6xf32>, tensor<1x?x6xf32>) outs(%3 : tensor<1x?x6xf32>) {
    ^bb0(%in: f32, %in_99: f32, %out: f32):
      %194 = arith.addf %in, %in_99 : f32
      linalg.yield %194 : f32
    } -> tensor<1x?x6xf32>
    %119 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%118 : tensor<1x?x6xf32>) outs(%13 : tensor<1x?x6xf64>) {
    ^bb0(%in: f32, %out: f64):
      %194 = arith.extf %in : f32 to f64
      linalg.yield %194 : f64
    } -> tensor<1x?x6xf64>
    %120 = linalg.generic {indexing_maps = [#map2, #map5], iterator_types = ["parallel", "parallel", "reduction"]} ins(%119 : tensor<1x?x6xf64>) outs(%16 : tensor<1x?x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %194 = arith.addf %in, %out : f64
      linalg.yield %194 : f64
    } -> tensor<1x?x1xf64>
    %121 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%120 : tensor<1x?x1xf64>) outs(%15 : tensor<1x?x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %194 = arith.divf %in, %cst_43 : f64
      linalg.yield %194 : f64
    } -> tensor<1x?x1xf64>
    %122 = linalg.generic {indexing_maps = [#map2, #map5, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%119, %121 : tensor<1x?x6xf64>, tensor<1x?x1xf64>) outs(%13 : tensor<1x?x6xf64>) {
    ^bb0(%in: f64, %in_99: f64, %out: f64):
      %194 = arith.subf %in, %in_99 : f64
      linalg.yield %194 : f64
    } -> tensor<1x?x6xf64>
    %123 = linalg.generic {indexing_maps = [#map2, #map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%122, %122 : tensor<1x?x6xf64>, tensor<1x?x6xf64>) outs(%13 : tensor<1x?x6xf64>) {
    ^bb0(%in: f64, %in_99: f64, %out: f64):
      %194 = arith.mulf %in, %in_99 : f64
      linalg.yield %194 : f64
    } -> tensor<1x?x6xf64>
    %124 = linalg.generic {indexing_maps = [#map2, #map5], iterator_types = ["parallel", "parallel", "reduction"]} ins(%123 : tensor<1x?x6xf64>) outs(%16 : tensor<1x?x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %194 = arith.addf %in, %out : f64
      linalg.yield %194 : f64
    } -> tensor<1x?x1xf64>
    %125 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%124 : tensor<1x?x1xf64>) outs(%15 : tensor<1x?x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %194 = arith.divf %in, %cst_43 : f64
      linalg.yield %194 : f64
    } -> tensor<1x?x1xf64>
    %126 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%125 : tensor<1x?x1xf64>) outs(%23 : tensor<1x?x1xf32>) {
    ^bb0(%in: f64, %out: f32):
      %194 = arith.truncf %in : f64 to f32
      linalg.yield %194 : f32
    } -> tensor<1x?x1xf32>
    %127 = linalg.generic {indexing_maps = [#map2, #map5], iterator_types = ["parallel", "parallel", "reduction"]} ins(%118 : tensor<1x?x6xf32>) outs(%25 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %194 = arith.addf %in, %out : f32
      linalg.yield %194 : f32
    } -> tensor<1x?x1xf32>
    %128 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%127 : tensor<1x?x1xf32>) outs(%23 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %194 = arith.divf %in, %cst_44 : f32
      linalg.yield %194 : f32
    } -> tensor<1x?x1xf32>
    %129 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%126 : tensor<1x?x1xf32>) outs(%23 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %194 = arith.truncf %cst_39 : f64 to f32
      %195 = arith.addf %in, %194 : f32
      linalg.yield %195 : f32
    } -> tensor<1x?x1xf32>
    %130 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%129 : tensor<1x?x1xf32>) outs(%23 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %194 = math.rsqrt %in : f32
      linalg.yield %194 : f32
    } -> tensor<1x?x1xf32>
    %131 = linalg.generic {indexing_maps = [#map2, #map5, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%118, %128 : tensor<1x?x6xf32>, tensor<1x?x1xf32>) outs(%3 : tensor<1x?x6xf32>) {
    ^bb0(%in: f32, %in_99: f32, %out: f32):
      %194 = arith.subf %in, %in_99 : f32
      linalg.yield %194 : f32
    } -> tensor<1x?x6xf32>
    %132 = linalg.generic {indexing_maps = [#map2, #map5, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%131, %130 : tensor<1x?x6xf32>, tensor<1x?x1xf32>) outs(%3 : tensor<1x?x6xf32>) {
    ^bb0(%in: f32, %in_99: f32, %out: f32):
      %194 = arith.mulf %in, %in_99 : f32
      linalg.yield %194 : f32
    } -> tensor<1x?x6xf32>
    %133 = linalg.generic {indexing_maps = [#map2, #map6, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%132, %cst_21 : tensor<1x?x6xf32>, tensor<6xf32>) outs(%3 : tensor<1x?x6xf32>) {
    ^bb0(%in: f32, %in_99: f32, %out: f32):
      %194 = arith.mulf %in, %in_99 : f32
      linalg.yield %194 : f32
    } -> tensor<1x?x6xf32>
    %134 = linalg.generic {indexing_maps = [#map2, #map6, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%133, %cst_20 : tensor<1x?x6xf32>, tensor<6xf32>) outs(%3 : tensor<1x?x6xf32>) {
    ^bb0(%in: f32, %in_99: f32, %out: f32):
      %194 = arith.addf %in, %in_99 : f32
      linalg.yield %194 : f32
    } -> tensor<1x?x6xf32>
    %collapsed_72 = tensor.collapse_shape %134 [[0, 1], [2]] : tensor<1x?x6xf32> into tensor<?x6xf32>
    %transposed_73 = linalg.transpose ins(%cst_19 : tensor<6x6xf32>) outs(%34 : tensor<6x6xf32>) permutation = [1, 0] 
    %135 = linalg.matmul ins(%collapsed_72, %transposed_73 : tensor<?x6xf32>, tensor<6x6xf32>) outs(%36 : tensor<?x6xf32>) -> tensor<?x6xf32>
    %136 = linalg.generic {indexing_maps = [#map4, #map7, #map4], iterator_types = ["parallel", "parallel"]} ins(%135, %cst_18 : tensor<?x6xf32>, tensor<6xf32>) outs(%35 : tensor<?x6xf32>) {
    ^bb0(%in: f32, %in_99: f32, %out: f32):
      %194 = arith.addf %in, %in_99 : f32
      linalg.yield %194 : f32
    } -> tensor<?x6xf32>
    %expanded_74 = tensor.expand_shape %136 [[0, 1], [2, 3]] output_shape [1, %dim, 3, 2] : tensor<?x6xf32> into tensor<1x?x3x2xf32>
    %transposed_75 = linalg.transpose ins(%expanded_74 : tensor<1x?x3x2xf32>) outs(%39 : tensor<1x3x?x2xf32>) permutation = [0, 2, 1, 3] 
    %transposed_76 = linalg.transpose ins(%cst_17 : tensor<6x6xf32>) outs(%34 : tensor<6x6xf32>) permutation = [1, 0] 
    %137 = linalg.matmul ins(%collapsed_72, %transposed_76 : tensor<?x6xf32>, tensor<6x6xf32>) outs(%36 : tensor<?x6xf32>) -> tensor<?x6xf32>
    %138 = linalg.generic {indexing_maps = [#map4, #map7, #map4], iterator_types = ["parallel", "parallel"]} ins(%137, %cst_16 : tensor<?x6xf32>, tensor<6xf32>) outs(%35 : tensor<?x6xf32>) {
    ^bb0(%in: f32, %in_99: f32, %out: f32):
      %194 = arith.addf %in, %in_99 : f32
      linalg.yield %194 : f32
    } -> tensor<?x6xf32>
    %expanded_77 = tensor.expand_shape %138 [[0, 1], [2, 3]] output_shape [1, %dim, 3, 2] : tensor<?x6xf32> into tensor<1x?x3x2xf32>
    %transposed_78 = linalg.transpose ins(%cst_15 : tensor<6x6xf32>) outs(%34 : tensor<6x6xf32>) permutation = [1, 0] 
    %139 = linalg.matmul ins(%collapsed_72, %transposed_78 : tensor<?x6xf32>, tensor<6x6xf32>) outs(%36 : tensor<?x6xf32>) -> tensor<?x6xf32>
    %140 = linalg.generic {indexing_maps = [#map4, #map7, #map4], iterator_types = ["parallel", "parallel"]} ins(%139, %cst_14 : tensor<?x6xf32>, tensor<6xf32>) outs(%35 : tensor<?x6xf32>) {
    ^bb0(%in: f32, %in_99: f32, %out: f32):
      %194 = arith.addf %in, %in_99 : f32
      linalg.yield %194 : f32
    } -> tensor<?x6xf32>
    %expanded_79 = tensor.expand_shape %140 [[0, 1], [2, 3]] output_shape [1, %dim, 3, 2] : tensor<?x6xf32> into tensor<1x?x3x2xf32>
    %transposed_80 = linalg.transpose ins(%expanded_79 : tensor<1x?x3x2xf32>) outs(%39 : tensor<1x3x?x2xf32>) permutation = [0, 2, 1, 3] 
    %transposed_81 = linalg.transpose ins(%expanded_77 : tensor<1x?x3x2xf32>) outs(%44 : tensor<1x3x2x?xf32>) permutation = [0, 2, 3, 1] 
    cf.assert %7, "unimplemented: dynamic negative broadcast sizes"
    %141 = linalg.generic {indexing_maps = [#map8], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%45 : tensor<1x3x?x2xf32>) {
    ^bb0(%out: f32):
      %194 = linalg.index 1 : index
      %195 = linalg.index 2 : index
      %196 = linalg.index 3 : index
      %197 = arith.cmpi eq, %dim, %c1 : index
      %198 = arith.select %197, %c0, %195 : index
      %extracted = tensor.extract %transposed_75[%c0, %194, %198, %196] : tensor<1x3x?x2xf32>
      linalg.yield %extracted : f32
    } -> tensor<1x3x?x2xf32>
    %collapsed_82 = tensor.collapse_shape %141 [[0, 1], [2], [3]] : tensor<1x3x?x2xf32> into tensor<3x?x2xf32>
    cf.assert %7, "unimplemented: dynamic negative broadcast sizes"
    %142 = linalg.generic {indexing_maps = [#map8], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%47 : tensor<1x3x2x?xf32>) {
    ^bb0(%out: f32):
      %194 = linalg.index 1 : index
      %195 = linalg.index 2 : index
      %196 = linalg.index 3 : index
      %197 = arith.cmpi eq, %dim, %c1 : index
      %198 = arith.select %197, %c0, %196 : index
      %extracted = tensor.extract %transposed_81[%c0, %194, %195, %198] : tensor<1x3x2x?xf32>
      linalg.yield %extracted : f32
    } -> tensor<1x3x2x?xf32>
    %collapsed_83 = tensor.collapse_shape %142 [[0, 1], [2], [3]] : tensor<1x3x2x?xf32> into tensor<3x2x?xf32>
    %143 = linalg.batch_matmul ins(%collapsed_82, %collapsed_83 : tensor<3x?x2xf32>, tensor<3x2x?xf32>) outs(%50 : tensor<3x?x?xf32>) -> tensor<3x?x?xf32>
    cf.assert %60, "must have at most one inferred (negative) dimension"
    %reshape_84 = tensor.reshape %143(%from_elements) : (tensor<3x?x?xf32>, tensor<4xi64>) -> tensor<1x3x?x?xf32>
    %144 = linalg.generic {indexing_maps = [#map8, #map8], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%reshape_84 : tensor<1x3x?x?xf32>) outs(%65 : tensor<1x3x?x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %194 = arith.truncf %cst_30 : f64 to f32
      %195 = arith.divf %in, %194 : f32
      linalg.yield %195 : f32
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
    %151 = linalg.generic {indexing_maps = [#map8], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%45 : tensor<1x3x?x2xf32>) {
    ^bb0(%out: f32):
      %194 = linalg.index 1 : index
      %195 = linalg.index 2 : index
      %196 = linalg.index 3 : index
      %197 = arith.cmpi eq, %dim, %c1 : index
      %198 = arith.select %197, %c0, %195 : index
      %extracted = tensor.extract %transposed_80[%c0, %194, %198, %196] : tensor<1x3x?x2xf32>
      linalg.yield %extracted : f32
    } -> tensor<1x3x?x2xf32>
    %collapsed_87 = tensor.collapse_shape %151 [[0, 1], [2], [3]] : tensor<1x3x?x2xf32> into tensor<3x?x2xf32>
    cf.assert %81, "mismatching contracting dimension"
    %152 = linalg.batch_matmul ins(%reshape_86, %collapsed_87 : tensor<3x?x?xf32>, tensor<3x?x2xf32>) outs(%83 : tensor<3x?x2xf32>) -> tensor<3x?x2xf32>
    %expanded_88 = tensor.expand_shape %152 [[0, 1], [2], [3]] output_shape [1, 3, %64, 2] : tensor<3x?x2xf32> into tensor<1x3x?x2xf32>
    %transposed_89 = linalg.transpose ins(%expanded_88 : tensor<1x3x?x2xf32>) outs(%85 : tensor<1x?x3x2xf32>) permutation = [0, 2, 1, 3] 
    %collapsed_90 = tensor.collapse_shape %transposed_89 [[0, 1], [2, 3]] : tensor<1x?x3x2xf32> into tensor<?x6xf32>
    %transposed_91 = linalg.transpose ins(%cst_13 : tensor<6x6xf32>) outs(%34 : tensor<6x6xf32>) permutation = [1, 0] 
    %153 = linalg.matmul ins(%collapsed_90, %transposed_91 : tensor<?x6xf32>, tensor<6x6xf32>) outs(%87 : tensor<?x6xf32>) -> tensor<?x6xf32>
    %154 = linalg.generic {indexing_maps = [#map4, #map7, #map4], iterator_types = ["parallel", "parallel"]} ins(%153, %cst_12 : tensor<?x6xf32>, tensor<6xf32>) outs(%86 : tensor<?x6xf32>) {
    ^bb0(%in: f32, %in_99: f32, %out: f32):
      %194 = arith.addf %in, %in_99 : f32
      linalg.yield %194 : f32
    } -> tensor<?x6xf32>
    %expanded_92 = tensor.expand_shape %154 [[0, 1], [2]] output_shape [1, %64, 6] : tensor<?x6xf32> into tensor<1x?x6xf32>
    cf.assert %90, "mismatched size for broadcast"
    %155 = linalg.generic {indexing_maps = [#map2, #map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%134, %expanded_92 : tensor<1x?x6xf32>, tensor<1x?x6xf32>) outs(%3 : tensor<1x?x6xf32>) {
    ^bb0(%in: f32, %in_99: f32, %out: f32):
      %194 = arith.addf %in, %in_99 : f32
      linalg.yield %194 : f32
    } -> tensor<1x?x6xf32>
    %156 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%155 : tensor<1x?x6xf32>) outs(%13 : tensor<1x?x6xf64>) {
    ^bb0(%in: f32, %out: f64):
      %194 = arith.extf %in : f32 to f64
      linalg.yield %194 : f64
    } -> tensor<1x?x6xf64>
    %157 = linalg.generic {indexing_maps = [#map2, #map5], iterator_types = ["parallel", "parallel", "reduction"]} ins(%156 : tensor<1x?x6xf64>) outs(%16 : tensor<1x?x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %194 = arith.addf %in, %out : f64
      linalg.yield %194 : f64
    } -> tensor<1x?x1xf64>
    %158 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%157 : tensor<1x?x1xf64>) outs(%15 : tensor<1x?x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %194 = arith.divf %in, %cst_43 : f64
      linalg.yield %194 : f64
    } -> tensor<1x?x1xf64>
    %159 = linalg.generic {indexing_maps = [#map2, #map5, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%156, %158 : tensor<1x?x6xf64>, tensor<1x?x1xf64>) outs(%13 : tensor<1x?x6xf64>) {
    ^bb0(%in: f64, %in_99: f64, %out: f64):
      %194 = arith.subf %in, %in_99 : f64
      linalg.yield %194 : f64
    } -> tensor<1x?x6xf64>
    %160 = linalg.generic {indexing_maps = [#map2, #map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%159, %159 : tensor<1x?x6xf64>, tensor<1x?x6xf64>) outs(%13 : tensor<1x?x6xf64>) {
    ^bb0(%in: f64, %in_99: f64, %out: f64):
      %194 = arith.mulf %in, %in_99 : f64
      linalg.yield %194 : f64
    } -> tensor<1x?x6xf64>
    %161 = linalg.generic {indexing_maps = [#map2, #map5], iterator_types = ["parallel", "parallel", "reduction"]} ins(%160 : tensor<1x?x6xf64>) outs(%16 : tensor<1x?x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %194 = arith.addf %in, %out : f64
      linalg.yield %194 : f64
    } -> tensor<1x?x1xf64>
    %162 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%161 : tensor<1x?x1xf64>) outs(%15 : tensor<1x?x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %194 = arith.divf %in, %cst_43 : f64
      linalg.yield %194 : f64
    } -> tensor<1x?x1xf64>
    %163 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%162 : tensor<1x?x1xf64>) outs(%23 : tensor<1x?x1xf32>) {
    ^bb0(%in: f64, %out: f32):
      %194 = arith.truncf %in : f64 to f32
      linalg.yield %194 : f32
    } -> tensor<1x?x1xf32>
    %164 = linalg.generic {indexing_maps = [#map2, #map5], iterator_types = ["parallel", "parallel", "reduction"]} ins(%155 : tensor<1x?x6xf32>) outs(%25 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %194 = arith.addf %in, %out : f32
      linalg.yield %194 : f32
    } -> tensor<1x?x1xf32>
    %165 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%164 : tensor<1x?x1xf32>) outs(%23 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %194 = arith.divf %in, %cst_44 : f32
      linalg.yield %194 : f32
    } -> tensor<1x?x1xf32>
    %166 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%163 : tensor<1x?x1xf32>) outs(%23 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %194 = arith.truncf %cst_39 : f64 to f32
      %195 = arith.addf %in, %194 : f32
      linalg.yield %195 : f32
    } -> tensor<1x?x1xf32>
    %167 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%166 : tensor<1x?x1xf32>) outs(%23 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %194 = math.rsqrt %in : f32
      linalg.yield %194 : f32
    } -> tensor<1x?x1xf32>
    %168 = linalg.generic {indexing_maps = [#map2, #map5, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%155, %165 : tensor<1x?x6xf32>, tensor<1x?x1xf32>) outs(%3 : tensor<1x?x6xf32>) {
    ^bb0(%in: f32, %in_99: f32, %out: f32):
      %194 = arith.subf %in, %in_99 : f32
      linalg.yield %194 : f32
    } -> tensor<1x?x6xf32>
    %169 = linalg.generic {indexing_maps = [#map2, #map5, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%168, %167 : tensor<1x?x6xf32>, tensor<1x?x1xf32>) outs(%3 : tensor<1x?x6xf32>) {
    ^bb0(%in: f32, %in_99: f32, %out: f32):
      %194 = arith.mulf %in, %in_99 : f32
      linalg.yield %194 : f32
    } -> tensor<1x?x6xf32>
    %170 = linalg.generic {indexing_maps = [#map2, #map6, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%169, %cst_11 : tensor<1x?x6xf32>, tensor<6xf32>) outs(%3 : tensor<1x?x6xf32>) {
    ^bb0(%in: f32, %in_99: f32, %out: f32):
      %194 = arith.mulf %in, %in_99 : f32
      linalg.yield %194 : f32
    } -> tensor<1x?x6xf32>
    %171 = linalg.generic {indexing_maps = [#map2, #map6, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%170, %cst_10 : tensor<1x?x6xf32>, tensor<6xf32>) outs(%3 : tensor<1x?x6xf32>) {
    ^bb0(%in: f32, %in_99: f32, %out: f32):
      %194 = arith.addf %in, %in_99 : f32
      linalg.yield %194 : f32
    } -> tensor<1x?x6xf32>
    %collapsed_93 = tensor.collapse_shape %171 [[0, 1], [2]] : tensor<1x?x6xf32> into tensor<?x6xf32>
    %transposed_94 = linalg.transpose ins(%cst_9 : tensor<5x6xf32>) outs(%108 : tensor<6x5xf32>) permutation = [1, 0] 
    %172 = linalg.matmul ins(%collapsed_93, %transposed_94 : tensor<?x6xf32>, tensor<6x5xf32>) outs(%110 : tensor<?x5xf32>) -> tensor<?x5xf32>
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
    %transposed_97 = linalg.transpose ins(%cst_7 : tensor<6x5xf32>) outs(%115 : tensor<5x6xf32>) permutation = [1, 0] 
    %175 = linalg.matmul ins(%collapsed_96, %transposed_97 : tensor<?x5xf32>, tensor<5x6xf32>) outs(%36 : tensor<?x6xf32>) -> tensor<?x6xf32>
    %176 = linalg.generic {indexing_maps = [#map4, #map7, #map4], iterator_types = ["parallel", "parallel"]} ins(%175, %cst_6 : tensor<?x6xf32>, tensor<6xf32>) outs(%35 : tensor<?x6xf32>) {
    ^bb0(%in: f32, %in_99: f32, %out: f32):
      %194 = arith.addf %in, %in_99 : f32
      linalg.yield %194 : f32
    } -> tensor<?x6xf32>
    %expanded_98 = tensor.expand_shape %176 [[0, 1], [2]] output_shape [1, %dim, 6] : tensor<?x6xf32> into tensor<1x?x6xf32>
    %177 = linalg.generic {indexing_maps = [#map2, #map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%171, %expanded_98 : tensor<1x?x6xf32>, tensor<1x?x6xf32>) outs(%3 : tensor<1x?x6xf32>) {
    ^bb0(%in: f32, %in_99: f32, %out: f32):
      %194 = arith.addf %in, %in_99 : f32
      linalg.yield %194 : f32
    } -> tensor<1x?x6xf32>
    %178 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%177 : tensor<1x?x6xf32>) outs(%13 : tensor<1x?x6xf64>) {
    ^bb0(%in: f32, %out: f64):
      %194 = arith.extf %in : f32 to f64
      linalg.yield %194 : f64
    } -> tensor<1x?x6xf64>
    %179 = linalg.generic {indexing_maps = [#map2, #map5], iterator_types = ["parallel", "parallel", "reduction"]} ins(%178 : tensor<1x?x6xf64>) outs(%16 : tensor<1x?x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %194 = arith.addf %in, %out : f64
      linalg.yield %194 : f64
    } -> tensor<1x?x1xf64>
    %180 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%179 : tensor<1x?x1xf64>) outs(%15 : tensor<1x?x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %194 = arith.divf %in, %cst_43 : f64
      linalg.yield %194 : f64
    } -> tensor<1x?x1xf64>
    %181 = linalg.generic {indexing_maps = [#map2, #map5, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%178, %180 : tensor<1x?x6xf64>, tensor<1x?x1xf64>) outs(%13 : tensor<1x?x6xf64>) {
    ^bb0(%in: f64, %in_99: f64, %out: f64):
      %194 = arith.subf %in, %in_99 : f64
      linalg.yield %194 : f64
    } -> tensor<1x?x6xf64>
    %182 = linalg.generic {indexing_maps = [#map2, #map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%181, %181 : tensor<1x?x6xf64>, tensor<1x?x6xf64>) outs(%13 : tensor<1x?x6xf64>) {
    ^bb0(%in: f64, %in_99: f64, %out: f64):
      %194 = arith.mulf %in, %in_99 : f64
      linalg.yield %194 : f64
    } -> tensor<1x?x6xf64>
    %183 = linalg.generic {indexing_maps = [#map2, #map5], iterator_types = ["parallel", "parallel", "reduction"]} ins(%182 : tensor<1x?x6xf64>) outs(%16 : tensor<1x?x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %194 = arith.addf %in, %out : f64
      linalg.yield %194 : f64
    } -> tensor<1x?x1xf64>
    %184 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%183 : tensor<1x?x1xf64>) outs(%15 : tensor<1x?x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %194 = arith.divf %in, %cst_43 : f64
      linalg.yield %194 : f64
    } -> tensor<1x?x1xf64>
    %185 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%184 : tensor<1x?x1xf64>) outs(%23 : tensor<1x?x1xf32>) {
    ^bb0(%in: f64, %out: f32):
      %194 = arith.truncf %in : f64 to f32
      linalg.yield %194 : f32
    } -> tensor<1x?x1xf32>
    %186 = linalg.generic {indexing_maps = [#map2, #map5], iterator_types = ["parallel", "parallel", "reduction"]} ins(%177 : tensor<1x?x6xf32>) outs(%25 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %194 = arith.addf %in, %out : f32
      linalg.yield %194 : f32
    } -> tensor<1x?x1xf32>
    %187 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%186 : tensor<1x?x1xf32>) outs(%23 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %194 = arith.divf %in, %cst_44 : f32
      linalg.yield %194 : f32
    } -> tensor<1x?x1xf32>
    %188 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%185 : tensor<1x?x1xf32>) outs(%23 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %194 = arith.truncf %cst_39 : f64 to f32
      %195 = arith.addf %in, %194 : f32
      linalg.yield %195 : f32
    } -> tensor<1x?x1xf32>
    %189 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%188 : tensor<1x?x1xf32>) outs(%23 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %194 = math.rsqrt %in : f32
      linalg.yield %194 : f32
    } -> tensor<1x?x1xf32>
    %190 = linalg.generic {indexing_maps = [#map2, #map5, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%177, %187 : tensor<1x?x6xf32>, tensor<1x?x1xf32>) outs(%3 : tensor<1x?x6xf32>) {
    ^bb0(%in: f32, %in_99: f32, %out: f32):
      %194 = arith.subf %in, %in_99 : f32
      linalg.yield %194 : f32
    } -> tensor<1x?x6xf32>
    %191 = linalg.generic {indexing_maps = [#map2, #map5, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%190, %189 : tensor<1x?x6xf32>, tensor<1x?x1xf32>) outs(%3 : tensor<1x?x6xf32>) {
    ^bb0(%in: f32, %in_99: f32, %out: f32):
      %194 = arith.mulf %in, %in_99 : f32
      linalg.yield %194 : f32
    } -> tensor<1x?x6xf32>
    %192 = linalg.generic {indexing_maps = [#map2, #map6, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%191, %cst_5 : tensor<1x?x6xf32>, tensor<6xf32>) outs(%3 : tensor<1x?x6xf32>) {
    ^bb0(%in: f32, %in_99: f32, %out: f32):
      %194 = arith.mulf %in, %in_99 : f32
      linalg.yield %194 : f32
    } -> tensor<1x?x6xf32>
    %193 = linalg.generic {indexing_maps = [#map2, #map6, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%192, %cst_4 : tensor<1x?x6xf32>, tensor<6xf32>) outs(%3 : tensor<1x?x6xf32>) {
    ^bb0(%in: f32, %in_99: f32, %out: f32):
      %194 = arith.addf %in, %in_99 : f32
      linalg.yield %194 : f32
    } -> tensor<1x?x6xf32>
    return %193 : tensor<1x?x6xf32>
  }
}

{-#
  dialect_resources: {
    builtin: {
      torch_tensor_6_torch.float32_19: "0x0400000083CBF43DA5C710BEEFE3593E43BB243E777DDC3C03E5E4BD",
      torch_tensor_6_torch.float32_18: "0x040000003322753FAF53943F4C7B783F9C6A893FACBD773F03EB6B3F",
      torch_tensor_6_torch.float32_17: "0x04000000DE3315BFC2C2B9BE3AA7763CC6079ABE248E43BE1969B33E",
      torch_tensor_6_5_torch.float32_1: "0x0400000094A7D1BEE3C7903E22D1E73DF4AFC0BE2D409ABC3366DB3EC0E085BE200391BEB4D9443E53C0A1BEAC9AD5BE0B89813E653E69BD5CB8723E046CBEBDFC55D73EEAFB3CBE0749BE3E143E82BEACF520BEA7DDB03E1F004B3E310BA7BE897136BD9D2C873EF650B1BE8E6EAC3C223F8C3EBFD4AEBEFC332E3E",
      torch_tensor_5_torch.float32_1: "0x04000000905B623DEB9DA33EBB4E99BEDBAFD0BEB85E5DBE",
      torch_tensor_5_6_torch.float32_1: "0x04000000568890BEA53CC2BE8F37C5BDC6DB783EB744BFBD6E37D8BD17C881BE175297BEFCC407BD37AADABD1F97153E7D0ACB3E41B88FBEE76100BE3F171B3E89158DBE6F5239BD15FE53BE9DF0843EFD243ABD2C64093DA297783E031594BEEFCA61BE0706A23E8319263E36C815BDEE66D03EDB3AB73E0ECC34BE",
      torch_tensor_6_torch.float32_16: "0x04000000EE3D363CA2751BBCF2B6DD3D2021083CA29D2E3D0F72BEBB",
      torch_tensor_6_torch.float32_15: "0x04000000D8AD7C3F758A8A3F1081893F97BD903F15D4723FF811943F",
      torch_tensor_6_torch.float32_14: "0x04000000009A3F3BDEB623BEB83C133E687D5ABE9E4D4ABE0B9EBABD",
      torch_tensor_6_6_torch.float32_7: "0x040000002D5CC23E7C584F3EFF6A38BE9BFAAC3E670BB33E13C84F3E020215BDC7E1C33E4C28BDBD4C6A2EBEEDC0473ED4682EBEAA90983E605E5EBE3DED193E7FC499BE65458BBE8D87A93C61C4A43E1033A0BE475DDEBD3075423EFAA495BD0A7EBBBEFBDA99BBCDD112BE0805C73D3D042C3E8A31FBBDE52A56BE462B773EBC12B4BE61074C3E7F01283E5DE4253EC7D491BE",
      torch_tensor_6_torch.float32_13: "0x040000009537A7BE3802653EBA32C13C9454043D37C6D6BE56189DBD",
      torch_tensor_6_6_torch.float32_6: "0x040000002A08ABBE4D31033E32B5D8BD9FE7103E6A1D263EA521BA3EB360783E047EC4BE3873A8BE4387A73E6799B1BE40847F3E4AC87EBE1AB9A73E3D6C6C3E634790BE08D0ACBE744A37BE301E3FBECB416DBEDE4B933E9D56CD3DAEDD51BDC91CE3BCE2F52D3E08442B3D410C4FBD139AB93E2B3D903E6C81EA3C2941903E7635B4BD3DA29EBE631A703E4BE6673EA994873D",
      torch_tensor_6_torch.float32_12: "0x04000000707CAC3E28CFA33EEA6CD9BEE0CBCCBE50C467BCC06AA1BE",
      torch_tensor_6_6_torch.float32_5: "0x04000000DCC3CF3E5C1C8CBEE2AEC63E6160BF3E1EE3B53D36B8B4BE369357BC0D4A2CBE6827003EBC656C3E9ED0683E9541063E4F2AA0BE59D0AFBE0BDDF63D656BB7BDF561433E3927CB3E557AFC3DEBBC7BBE4A6FF1BDA6CA803E0FCD1E3D42888E3EDE59C8BE8A0C4EBDEEDF4BBE80D69E3E89DB363EF23160BD16F0C1BE232545BD9F73A93EFB2433BC6D838ABC144CC1BE",
      torch_tensor_6_torch.float32_11: "0x040000003D11433E2B84933E267CA03EFF0726BEA2B83B3EE023FABE",
      torch_tensor_6_6_torch.float32_4: "0x0400000067D9B5BE5CE6BE3D0B4F413DD3AD72BE08E1BCBD29B4823D2448183E8EAD2A3E120B61BE07F7C43E1743C33E237194BE96BEC13E713CABBE2AF589BEA612A53D3435F53D12DDB93E92AC063B112C8D3E415A0BBE934F98BEF79422BD9507593E1E5123BEB4EDB0BE74A67EBE9F1C943D3A50C73EADE2B83CCC7FA8BE9A273BBE9F29543E479103BE45B561BDC77F9B3E",
      torch_tensor_6_torch.float32_10: "0x040000004350933B1E12823D935A5EBE3F744B3EB66AA1BDEDAA2DBD",
      torch_tensor_6_torch.float32_9: "0x04000000CACD583FD126673FE67E923FB5BA863FD0C1803F1CB7983F",
      torch_tensor_6_torch.float32_8: "0x04000000D6E1BEBE68FDF5BE4919DF3E244A52BEA5656EBED6BCC8BE",
      torch_tensor_6_5_torch.float32: "0x0400000055CE47BE72EBA13D7F8A663EADBC693DEDD1403E1BF4AEBC18DF813EBC3F593E776C823E762609BD5F72BCBEB09B8FBE548F64BEDCA4C13E98B9B8BC3A0076BDFAA532BEDCD699BC91559A3E8D2DD038CD9E543E291F833E4802DFBE5727203ED0C8E43E6C0D68BE58D1943D51C8243C570F723E98AADC3D",
      torch_tensor_5_torch.float32: "0x040000006015F8BD1738C33E34A6EF3E6E9F403E96D6FFBD",
      torch_tensor_5_6_torch.float32: "0x040000008584743E7B814C3EC89A87BE5417A43E243046BE5A2B92BD086EEABD5308473E8706C3BE3D1985BECD564ABDB3E18F3EB64FC9BD4F25833E5C6BBF3EEA5C7B3CB4C88CBE44D8143BE6A7223EC10FB2BD3515CCBEF7CB783EB22E36BEC83192BEB50D553E2540C93D224A983E01D8A8BD4F40813ECE86C6BD",
      torch_tensor_6_torch.float32_7: "0x0400000009C82FBD75E0FBBD8FA5F03D807705BE9ED5243EE82D953C",
      torch_tensor_6_torch.float32_6: "0x04000000628A813F1567863FBEA8893FC29B653F74086C3FA867803F",
      torch_tensor_6_torch.float32_5: "0x04000000A8A6B43EF567AC3E96E8803EE5E3D3BDEAC7BABE4009E7BB",
      torch_tensor_6_6_torch.float32_3: "0x040000006FE2F3BDA4F732BE62BC11BE917AAABEB21727BD4D0CAABE5AE3883E5950C9BEBC499BBEFABFA53D154F813E07EBC73E2567A9BE24B5AB3EF775923E761F89BE024A2E3E5A31EBBDD2AAF03D1C0BB9BE220870BEF18384BE3F0DA3BD295473BC10EF0FBC3EF576BEE6794E3E655D543E055CB7BE67BFC1BEAAA9B3BDEC94E83DF2339FBE8FFC19BD24CFBD3C36B79FBE",
      torch_tensor_6_torch.float32_4: "0x040000004B1C75BEE289F13DB8F0B23E2CC1AFBD6052E3BD28D8883E",
      torch_tensor_6_6_torch.float32_2: "0x0400000001EC57BD3350C7BE1C9E513E9F34A13DD0D1643D24638BBEA2CEC3BE8C66BD3EA56C9DBE81E09EBD653D99BD05BF6E3E1137B0BE73456FBEBF0660BE99C952BEE3BD7F3E80E57F3E9DA33D3E5B9FAA3EE1038BBEA37CD4BA1427A9BE4C8551BA25A6B2BEE952C9BE7DA8833E61FF38BED23B05BDFB71F6BD73C9A5BECED226BDCC04773DD803A73E2CD531BE8627C73E",
      torch_tensor_6_torch.float32_3: "0x04000000A3C8B53DB650323E97AE90BEAA9A87BE505555BD3F62603E",
      torch_tensor_6_6_torch.float32_1: "0x04000000CB43523D811AEF3CCA3E74BE4F6DBF3BEA93B63DFB9C77BE2559953D17C30ABE42E6ADBEFE5C7ABE56E4A5BE587FC13DE1B77F3E5C07BE3EA5F2CC3E50A8243E71774C3E82958EBD8CCBAC3EB4D31FBEEF32E3BD5E210BBE911E8CBE5718A1BE6E70AABD3BEFA83E6D4150BE4EC3BDBE0308BFBD7167BD3E0AA9C93D5066D3BCA701EFBDC787B73E00DAC8BE22E26C3E",
      torch_tensor_6_torch.float32_2: "0x04000000EC0A323E265CFD3D0F3A7F3E858A203E1ED04E3E40C7C83C",
      torch_tensor_6_6_torch.float32: "0x04000000D470693E0FEE3BBE7BAEB03ED447FF3DE64D92BDB396023E81079ABD4152C2BD8F2289BE7396733E4BF37A3E10240F3E5C3E773ED4D2D03E7DD1C43E18B7C9BE7FA5BE3DFE2C0FBD44F30D3E9626A2BD7B5CE93D4352C0BE63123F3EBDD0C83EC35C96BD3443A6BE4DC1ADBE1465A0BD095BCABBB97F3A3D57CF513D4F719D3E26AF97BDC899EE3D452D5EBE4695CD3E",
      torch_tensor_6_torch.float32_1: "0x0400000082C9E1BDDED9933DD6C0053ED7148B3C8AB84EBDC8FF3C3D",
      torch_tensor_6_torch.float32: "0x040000006DC5803FD2008A3F1FFE883F09C5573FC7C1823F01D07D3F",
      torch_tensor_2_6_torch.float32: "0x04000000E18978BFDA06CFBED766F6BD99DD1A40F029A6BE3865D1BF6F08033ED86154BBBE07173FE4BD42BF1AC4F33D4E2118BF",
      torch_tensor_16_6_torch.float32: "0x04000000A426BA3EB09BA1BE523608BF1F29993E20D1B5BFB76027BEE76F083E30ED3A3E8C57CE3F8497C83FC35770BFFD549EBF2A2380BD1926E63E9BC362BFE637993F303E23BFDB4A12C07B3EBCBE9AD661BF73C70B3F7113183E817F10C03400CF3E263A3F3F619CB03F01D4A43FF9515E3FE1EBB0BF279676BFCC02CCBEDA5231BE305FAABD8B3A023F75148F3F0675903F33FF103E0FBB0BBF326D09BFA631543F62C40EBF696DE0BEB21E943FAF27B63D9A20883EF24143BE216CC43E0FCFF43F0310CABF6F60253F73E39A3DDE301CBEC287483EF0CCC8BF2FF68FBF3BFEA0BE8CA99CBFE7E8233FF9162F3F737ECE3FE4E36E3F25277ABF78E350BFA506943FE1EB2D3F7F14CABE02E1A93F1793E23D38C0AC3EDCE9A3BE31A3113F3881083E0E00DF3F9088163F86108D3E2F036FBFAE671CBEABAB07BF720DBA3F4F4DC5BF0B090CC000237EBFAD74633F634BBEBF1BCC63BF1A89663F28E1853E070219BE8E74C0BE74F42C3E88A20ABF935024BEC3C46E3F46F2843DF6858A3D4A850CBF",
      torch_tensor_7_6_torch.float32: "0x0400000056F451BF2390CA3ED51E663F39B7B1BF01012BBE2DFF913E931E24BF95C664BFED316D3F571709BFBA7194BFAC99EBBED162353FF8A1813F28ED6B3E8A8A8B3FC194CABF9B2DA6BE3493F63F4CF7A8BEEB344B3EEA35483F7B01853F937939BF565D56BE78825CBEF59F1C3F8813EF3F1ABE2040CD9CA0BF4B03513FFE5E88BF207836BE09DD84BE8C9ECA3E1812AFBFCB4DCEBDF4B3723E74F7213F3DC1BBBD9AE9CF3FF56ECD3A"
    }
  }
#-}
