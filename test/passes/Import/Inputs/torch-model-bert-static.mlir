#map = affine_map<(d0) -> (d0)>
#map1 = affine_map<(d0, d1, d2) -> (d0, d1)>
#map2 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map3 = affine_map<(d0, d1, d2) -> (d0, d1, 0)>
#map4 = affine_map<(d0, d1, d2) -> (d2)>
#map5 = affine_map<(d0, d1) -> (d0, d1)>
#map6 = affine_map<(d0, d1) -> (d1)>
#map7 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map8 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
#map9 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, 0)>
module {
  func.func @main(%arg0: tensor<1x12xi64>) -> tensor<1x12x6xf32> {
    %c0_i64 = arith.constant 0 : i64
    %c7 = arith.constant 7 : index
    %c16 = arith.constant 16 : index
    %c2 = arith.constant 2 : index
    %cst = arith.constant 0.000000e+00 : f64
    %cst_0 = arith.constant 0.000000e+00 : f32
    %cst_1 = arith.constant 0xFF800000 : f32
    %cst_2 = arith.constant 1.000000e+00 : f32
    %cst_3 = arith.constant 5.000000e-01 : f32
    %cst_4 = arith.constant dense_resource<torch_tensor_6_torch.float32_10> : tensor<6xf32>
    %cst_5 = arith.constant dense_resource<torch_tensor_6_torch.float32_9> : tensor<6xf32>
    %cst_6 = arith.constant dense_resource<torch_tensor_6_torch.float32_8> : tensor<6xf32>
    %cst_7 = arith.constant dense_resource<torch_tensor_6_5_torch.float32> : tensor<6x5xf32>
    %cst_8 = arith.constant dense_resource<torch_tensor_5_torch.float32> : tensor<5xf32>
    %cst_9 = arith.constant dense_resource<torch_tensor_5_6_torch.float32> : tensor<5x6xf32>
    %cst_10 = arith.constant dense_resource<torch_tensor_6_torch.float32_7> : tensor<6xf32>
    %cst_11 = arith.constant dense_resource<torch_tensor_6_torch.float32_6> : tensor<6xf32>
    %cst_12 = arith.constant dense_resource<torch_tensor_6_torch.float32_5> : tensor<6xf32>
    %cst_13 = arith.constant dense_resource<torch_tensor_6_6_torch.float32_3> : tensor<6x6xf32>
    %cst_14 = arith.constant 1.4142135623730951 : f64
    %cst_15 = arith.constant dense_resource<torch_tensor_6_torch.float32_4> : tensor<6xf32>
    %cst_16 = arith.constant dense_resource<torch_tensor_6_6_torch.float32_2> : tensor<6x6xf32>
    %cst_17 = arith.constant dense_resource<torch_tensor_6_torch.float32_3> : tensor<6xf32>
    %cst_18 = arith.constant dense_resource<torch_tensor_6_6_torch.float32_1> : tensor<6x6xf32>
    %cst_19 = arith.constant dense_resource<torch_tensor_6_torch.float32_2> : tensor<6xf32>
    %cst_20 = arith.constant dense_resource<torch_tensor_6_6_torch.float32> : tensor<6x6xf32>
    %cst_21 = arith.constant dense_resource<torch_tensor_6_torch.float32_1> : tensor<6xf32>
    %cst_22 = arith.constant dense_resource<torch_tensor_6_torch.float32> : tensor<6xf32>
    %cst_23 = arith.constant 9.9999999999999998E-13 : f64
    %cst_24 = arith.constant dense_resource<torch_tensor_2_6_torch.float32> : tensor<2x6xf32>
    %cst_25 = arith.constant dense_resource<torch_tensor_16_6_torch.float32> : tensor<16x6xf32>
    %cst_26 = arith.constant dense_resource<torch_tensor_7_6_torch.float32> : tensor<7x6xf32>
    %cst_27 = arith.constant 6.000000e+00 : f64
    %cst_28 = arith.constant 6.000000e+00 : f32
    %cst_29 = arith.constant 1.41421354 : f32
    %cst_30 = arith.constant dense<0> : tensor<1x12xi64>
    %0 = tensor.empty() : tensor<12xi64>
    %1 = linalg.generic {indexing_maps = [#map], iterator_types = ["parallel"]} outs(%0 : tensor<12xi64>) {
    ^bb0(%out: i64):
      %106 = linalg.index 0 : index
      %107 = arith.index_cast %106 : index to i64
      linalg.yield %107 : i64
    } -> tensor<12xi64>
    %expanded = tensor.expand_shape %1 [[0, 1]] output_shape [1, 12] : tensor<12xi64> into tensor<1x12xi64>
    %2 = tensor.empty() : tensor<1x12x6xf32>
    %3 = linalg.generic {indexing_maps = [#map1, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg0 : tensor<1x12xi64>) outs(%2 : tensor<1x12x6xf32>) {
    ^bb0(%in: i64, %out: f32):
      %106 = arith.index_cast %in : i64 to index
      %107 = linalg.index 2 : index
      %108 = arith.cmpi slt, %106, %c7 : index
      cf.assert %108, "index must be smaller than dim size"
      %109 = arith.cmpi sge, %in, %c0_i64 : i64
      cf.assert %109, "index must be larger or equal to 0"
      %extracted = tensor.extract %cst_26[%106, %107] : tensor<7x6xf32>
      linalg.yield %extracted : f32
    } -> tensor<1x12x6xf32>
    %4 = linalg.generic {indexing_maps = [#map1, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded : tensor<1x12xi64>) outs(%2 : tensor<1x12x6xf32>) {
    ^bb0(%in: i64, %out: f32):
      %106 = arith.index_cast %in : i64 to index
      %107 = linalg.index 2 : index
      %108 = arith.cmpi slt, %106, %c16 : index
      cf.assert %108, "index must be smaller than dim size"
      %109 = arith.cmpi sge, %in, %c0_i64 : i64
      cf.assert %109, "index must be larger or equal to 0"
      %extracted = tensor.extract %cst_25[%106, %107] : tensor<16x6xf32>
      linalg.yield %extracted : f32
    } -> tensor<1x12x6xf32>
    %5 = linalg.generic {indexing_maps = [#map2, #map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%3, %4 : tensor<1x12x6xf32>, tensor<1x12x6xf32>) outs(%2 : tensor<1x12x6xf32>) {
    ^bb0(%in: f32, %in_56: f32, %out: f32):
      %106 = arith.addf %in, %in_56 : f32
      linalg.yield %106 : f32
    } -> tensor<1x12x6xf32>
    %6 = linalg.generic {indexing_maps = [#map1, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_30 : tensor<1x12xi64>) outs(%2 : tensor<1x12x6xf32>) {
    ^bb0(%in: i64, %out: f32):
      %106 = arith.index_cast %in : i64 to index
      %107 = linalg.index 2 : index
      %108 = arith.cmpi slt, %106, %c2 : index
      cf.assert %108, "index must be smaller than dim size"
      %109 = arith.cmpi sge, %in, %c0_i64 : i64
      cf.assert %109, "index must be larger or equal to 0"
      %extracted = tensor.extract %cst_24[%106, %107] : tensor<2x6xf32>
      linalg.yield %extracted : f32
    } -> tensor<1x12x6xf32>
    %7 = linalg.generic {indexing_maps = [#map2, #map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%5, %6 : tensor<1x12x6xf32>, tensor<1x12x6xf32>) outs(%2 : tensor<1x12x6xf32>) {
    ^bb0(%in: f32, %in_56: f32, %out: f32):
      %106 = arith.addf %in, %in_56 : f32
      linalg.yield %106 : f32
    } -> tensor<1x12x6xf32>
    %8 = tensor.empty() : tensor<1x12x6xf64>
    %9 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%7 : tensor<1x12x6xf32>) outs(%8 : tensor<1x12x6xf64>) {
    ^bb0(%in: f32, %out: f64):
      %106 = arith.extf %in : f32 to f64
      linalg.yield %106 : f64
    } -> tensor<1x12x6xf64>
    %10 = tensor.empty() : tensor<1x12x1xf64>
    %11 = linalg.fill ins(%cst : f64) outs(%10 : tensor<1x12x1xf64>) -> tensor<1x12x1xf64>
    %12 = linalg.generic {indexing_maps = [#map2, #map3], iterator_types = ["parallel", "parallel", "reduction"]} ins(%9 : tensor<1x12x6xf64>) outs(%11 : tensor<1x12x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %106 = arith.addf %in, %out : f64
      linalg.yield %106 : f64
    } -> tensor<1x12x1xf64>
    %13 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%12 : tensor<1x12x1xf64>) outs(%10 : tensor<1x12x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %106 = arith.divf %in, %cst_27 : f64
      linalg.yield %106 : f64
    } -> tensor<1x12x1xf64>
    %14 = linalg.generic {indexing_maps = [#map2, #map3, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%9, %13 : tensor<1x12x6xf64>, tensor<1x12x1xf64>) outs(%8 : tensor<1x12x6xf64>) {
    ^bb0(%in: f64, %in_56: f64, %out: f64):
      %106 = arith.subf %in, %in_56 : f64
      linalg.yield %106 : f64
    } -> tensor<1x12x6xf64>
    %15 = linalg.generic {indexing_maps = [#map2, #map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%14, %14 : tensor<1x12x6xf64>, tensor<1x12x6xf64>) outs(%8 : tensor<1x12x6xf64>) {
    ^bb0(%in: f64, %in_56: f64, %out: f64):
      %106 = arith.mulf %in, %in_56 : f64
      linalg.yield %106 : f64
    } -> tensor<1x12x6xf64>
    %16 = linalg.generic {indexing_maps = [#map2, #map3], iterator_types = ["parallel", "parallel", "reduction"]} ins(%15 : tensor<1x12x6xf64>) outs(%11 : tensor<1x12x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %106 = arith.addf %in, %out : f64
      linalg.yield %106 : f64
    } -> tensor<1x12x1xf64>
    %17 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%16 : tensor<1x12x1xf64>) outs(%10 : tensor<1x12x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %106 = arith.divf %in, %cst_27 : f64
      linalg.yield %106 : f64
    } -> tensor<1x12x1xf64>
    %18 = tensor.empty() : tensor<1x12x1xf32>
    %19 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%17 : tensor<1x12x1xf64>) outs(%18 : tensor<1x12x1xf32>) {
    ^bb0(%in: f64, %out: f32):
      %106 = arith.truncf %in : f64 to f32
      linalg.yield %106 : f32
    } -> tensor<1x12x1xf32>
    %20 = linalg.fill ins(%cst_0 : f32) outs(%18 : tensor<1x12x1xf32>) -> tensor<1x12x1xf32>
    %21 = linalg.generic {indexing_maps = [#map2, #map3], iterator_types = ["parallel", "parallel", "reduction"]} ins(%7 : tensor<1x12x6xf32>) outs(%20 : tensor<1x12x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %106 = arith.addf %in, %out : f32
      linalg.yield %106 : f32
    } -> tensor<1x12x1xf32>
    %22 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%21 : tensor<1x12x1xf32>) outs(%18 : tensor<1x12x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %106 = arith.divf %in, %cst_28 : f32
      linalg.yield %106 : f32
    } -> tensor<1x12x1xf32>
    %23 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%19 : tensor<1x12x1xf32>) outs(%18 : tensor<1x12x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %106 = arith.truncf %cst_23 : f64 to f32
      %107 = arith.addf %in, %106 : f32
      linalg.yield %107 : f32
    } -> tensor<1x12x1xf32>
    %24 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%23 : tensor<1x12x1xf32>) outs(%18 : tensor<1x12x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %106 = math.rsqrt %in : f32
      linalg.yield %106 : f32
    } -> tensor<1x12x1xf32>
    %25 = linalg.generic {indexing_maps = [#map2, #map3, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%7, %22 : tensor<1x12x6xf32>, tensor<1x12x1xf32>) outs(%2 : tensor<1x12x6xf32>) {
    ^bb0(%in: f32, %in_56: f32, %out: f32):
      %106 = arith.subf %in, %in_56 : f32
      linalg.yield %106 : f32
    } -> tensor<1x12x6xf32>
    %26 = linalg.generic {indexing_maps = [#map2, #map3, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%25, %24 : tensor<1x12x6xf32>, tensor<1x12x1xf32>) outs(%2 : tensor<1x12x6xf32>) {
    ^bb0(%in: f32, %in_56: f32, %out: f32):
      %106 = arith.mulf %in, %in_56 : f32
      linalg.yield %106 : f32
    } -> tensor<1x12x6xf32>
    %27 = linalg.generic {indexing_maps = [#map2, #map4, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%26, %cst_22 : tensor<1x12x6xf32>, tensor<6xf32>) outs(%2 : tensor<1x12x6xf32>) {
    ^bb0(%in: f32, %in_56: f32, %out: f32):
      %106 = arith.mulf %in, %in_56 : f32
      linalg.yield %106 : f32
    } -> tensor<1x12x6xf32>
    %28 = linalg.generic {indexing_maps = [#map2, #map4, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%27, %cst_21 : tensor<1x12x6xf32>, tensor<6xf32>) outs(%2 : tensor<1x12x6xf32>) {
    ^bb0(%in: f32, %in_56: f32, %out: f32):
      %106 = arith.addf %in, %in_56 : f32
      linalg.yield %106 : f32
    } -> tensor<1x12x6xf32>
    %collapsed = tensor.collapse_shape %28 [[0, 1], [2]] : tensor<1x12x6xf32> into tensor<12x6xf32>
    %29 = tensor.empty() : tensor<6x6xf32>
    %transposed = linalg.transpose ins(%cst_20 : tensor<6x6xf32>) outs(%29 : tensor<6x6xf32>) permutation = [1, 0] 
    %30 = tensor.empty() : tensor<12x6xf32>
    %31 = linalg.fill ins(%cst_0 : f32) outs(%30 : tensor<12x6xf32>) -> tensor<12x6xf32>
    %32 = linalg.matmul ins(%collapsed, %transposed : tensor<12x6xf32>, tensor<6x6xf32>) outs(%31 : tensor<12x6xf32>) -> tensor<12x6xf32>
    %33 = linalg.generic {indexing_maps = [#map5, #map6, #map5], iterator_types = ["parallel", "parallel"]} ins(%32, %cst_19 : tensor<12x6xf32>, tensor<6xf32>) outs(%30 : tensor<12x6xf32>) {
    ^bb0(%in: f32, %in_56: f32, %out: f32):
      %106 = arith.addf %in, %in_56 : f32
      linalg.yield %106 : f32
    } -> tensor<12x6xf32>
    %expanded_31 = tensor.expand_shape %33 [[0, 1], [2, 3]] output_shape [1, 12, 3, 2] : tensor<12x6xf32> into tensor<1x12x3x2xf32>
    %34 = tensor.empty() : tensor<1x3x12x2xf32>
    %transposed_32 = linalg.transpose ins(%expanded_31 : tensor<1x12x3x2xf32>) outs(%34 : tensor<1x3x12x2xf32>) permutation = [0, 2, 1, 3] 
    %transposed_33 = linalg.transpose ins(%cst_18 : tensor<6x6xf32>) outs(%29 : tensor<6x6xf32>) permutation = [1, 0] 
    %35 = linalg.matmul ins(%collapsed, %transposed_33 : tensor<12x6xf32>, tensor<6x6xf32>) outs(%31 : tensor<12x6xf32>) -> tensor<12x6xf32>
    %36 = linalg.generic {indexing_maps = [#map5, #map6, #map5], iterator_types = ["parallel", "parallel"]} ins(%35, %cst_17 : tensor<12x6xf32>, tensor<6xf32>) outs(%30 : tensor<12x6xf32>) {
    ^bb0(%in: f32, %in_56: f32, %out: f32):
      %106 = arith.addf %in, %in_56 : f32
      linalg.yield %106 : f32
    } -> tensor<12x6xf32>
    %expanded_34 = tensor.expand_shape %36 [[0, 1], [2, 3]] output_shape [1, 12, 3, 2] : tensor<12x6xf32> into tensor<1x12x3x2xf32>
    %transposed_35 = linalg.transpose ins(%cst_16 : tensor<6x6xf32>) outs(%29 : tensor<6x6xf32>) permutation = [1, 0] 
    %37 = linalg.matmul ins(%collapsed, %transposed_35 : tensor<12x6xf32>, tensor<6x6xf32>) outs(%31 : tensor<12x6xf32>) -> tensor<12x6xf32>
    %38 = linalg.generic {indexing_maps = [#map5, #map6, #map5], iterator_types = ["parallel", "parallel"]} ins(%37, %cst_15 : tensor<12x6xf32>, tensor<6xf32>) outs(%30 : tensor<12x6xf32>) {
    ^bb0(%in: f32, %in_56: f32, %out: f32):
      %106 = arith.addf %in, %in_56 : f32
      linalg.yield %106 : f32
    } -> tensor<12x6xf32>
    %expanded_36 = tensor.expand_shape %38 [[0, 1], [2, 3]] output_shape [1, 12, 3, 2] : tensor<12x6xf32> into tensor<1x12x3x2xf32>
    %transposed_37 = linalg.transpose ins(%expanded_36 : tensor<1x12x3x2xf32>) outs(%34 : tensor<1x3x12x2xf32>) permutation = [0, 2, 1, 3] 
    %39 = tensor.empty() : tensor<1x3x2x12xf32>
    %transposed_38 = linalg.transpose ins(%expanded_34 : tensor<1x12x3x2xf32>) outs(%39 : tensor<1x3x2x12xf32>) permutation = [0, 2, 3, 1] 
    %collapsed_39 = tensor.collapse_shape %transposed_32 [[0, 1], [2], [3]] : tensor<1x3x12x2xf32> into tensor<3x12x2xf32>
    %collapsed_40 = tensor.collapse_shape %transposed_38 [[0, 1], [2], [3]] : tensor<1x3x2x12xf32> into tensor<3x2x12xf32>
    %40 = tensor.empty() : tensor<3x12x12xf32>
    %41 = linalg.fill ins(%cst_0 : f32) outs(%40 : tensor<3x12x12xf32>) -> tensor<3x12x12xf32>
    %42 = linalg.batch_matmul ins(%collapsed_39, %collapsed_40 : tensor<3x12x2xf32>, tensor<3x2x12xf32>) outs(%41 : tensor<3x12x12xf32>) -> tensor<3x12x12xf32>
    %expanded_41 = tensor.expand_shape %42 [[0, 1], [2], [3]] output_shape [1, 3, 12, 12] : tensor<3x12x12xf32> into tensor<1x3x12x12xf32>
    %43 = tensor.empty() : tensor<1x3x12x12xf32>
    %44 = linalg.generic {indexing_maps = [#map7, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_41 : tensor<1x3x12x12xf32>) outs(%43 : tensor<1x3x12x12xf32>) {
    ^bb0(%in: f32, %out: f32):
      %106 = arith.truncf %cst_14 : f64 to f32
      %107 = arith.divf %in, %106 : f32
      linalg.yield %107 : f32
    } -> tensor<1x3x12x12xf32>
    %45 = tensor.empty() : tensor<1x3x12xi64>
    %46 = linalg.fill ins(%c0_i64 : i64) outs(%45 : tensor<1x3x12xi64>) -> tensor<1x3x12xi64>
    %47 = tensor.empty() : tensor<1x3x12xf32>
    %48 = linalg.fill ins(%cst_1 : f32) outs(%47 : tensor<1x3x12xf32>) -> tensor<1x3x12xf32>
    %49:2 = linalg.generic {indexing_maps = [#map7, #map8, #map8], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%44 : tensor<1x3x12x12xf32>) outs(%48, %46 : tensor<1x3x12xf32>, tensor<1x3x12xi64>) {
    ^bb0(%in: f32, %out: f32, %out_56: i64):
      %106 = linalg.index 3 : index
      %107 = arith.index_cast %106 : index to i64
      %108 = arith.maximumf %in, %out : f32
      %109 = arith.cmpf ogt, %in, %out : f32
      %110 = arith.select %109, %107, %out_56 : i64
      linalg.yield %108, %110 : f32, i64
    } -> (tensor<1x3x12xf32>, tensor<1x3x12xi64>)
    %expanded_42 = tensor.expand_shape %49#0 [[0], [1], [2, 3]] output_shape [1, 3, 12, 1] : tensor<1x3x12xf32> into tensor<1x3x12x1xf32>
    %50 = linalg.generic {indexing_maps = [#map7, #map9, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%44, %expanded_42 : tensor<1x3x12x12xf32>, tensor<1x3x12x1xf32>) outs(%43 : tensor<1x3x12x12xf32>) {
    ^bb0(%in: f32, %in_56: f32, %out: f32):
      %106 = arith.subf %in, %in_56 : f32
      linalg.yield %106 : f32
    } -> tensor<1x3x12x12xf32>
    %51 = linalg.generic {indexing_maps = [#map7, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%50 : tensor<1x3x12x12xf32>) outs(%43 : tensor<1x3x12x12xf32>) {
    ^bb0(%in: f32, %out: f32):
      %106 = math.exp %in : f32
      linalg.yield %106 : f32
    } -> tensor<1x3x12x12xf32>
    %52 = tensor.empty() : tensor<1x3x12x1xf32>
    %53 = linalg.fill ins(%cst_0 : f32) outs(%52 : tensor<1x3x12x1xf32>) -> tensor<1x3x12x1xf32>
    %54 = linalg.generic {indexing_maps = [#map7, #map9], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%51 : tensor<1x3x12x12xf32>) outs(%53 : tensor<1x3x12x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %106 = arith.addf %in, %out : f32
      linalg.yield %106 : f32
    } -> tensor<1x3x12x1xf32>
    %55 = linalg.generic {indexing_maps = [#map7, #map9, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%51, %54 : tensor<1x3x12x12xf32>, tensor<1x3x12x1xf32>) outs(%43 : tensor<1x3x12x12xf32>) {
    ^bb0(%in: f32, %in_56: f32, %out: f32):
      %106 = arith.divf %in, %in_56 : f32
      linalg.yield %106 : f32
    } -> tensor<1x3x12x12xf32>
    %collapsed_43 = tensor.collapse_shape %55 [[0, 1], [2], [3]] : tensor<1x3x12x12xf32> into tensor<3x12x12xf32>
    %collapsed_44 = tensor.collapse_shape %transposed_37 [[0, 1], [2], [3]] : tensor<1x3x12x2xf32> into tensor<3x12x2xf32>
    %56 = tensor.empty() : tensor<3x12x2xf32>
    %57 = linalg.fill ins(%cst_0 : f32) outs(%56 : tensor<3x12x2xf32>) -> tensor<3x12x2xf32>
    %58 = linalg.batch_matmul ins(%collapsed_43, %collapsed_44 : tensor<3x12x12xf32>, tensor<3x12x2xf32>) outs(%57 : tensor<3x12x2xf32>) -> tensor<3x12x2xf32>
    %expanded_45 = tensor.expand_shape %58 [[0, 1], [2], [3]] output_shape [1, 3, 12, 2] : tensor<3x12x2xf32> into tensor<1x3x12x2xf32>
    %59 = tensor.empty() : tensor<1x12x3x2xf32>
    %transposed_46 = linalg.transpose ins(%expanded_45 : tensor<1x3x12x2xf32>) outs(%59 : tensor<1x12x3x2xf32>) permutation = [0, 2, 1, 3] 
    %collapsed_47 = tensor.collapse_shape %transposed_46 [[0, 1], [2, 3]] : tensor<1x12x3x2xf32> into tensor<12x6xf32>
    %transposed_48 = linalg.transpose ins(%cst_13 : tensor<6x6xf32>) outs(%29 : tensor<6x6xf32>) permutation = [1, 0] 
    %60 = linalg.matmul ins(%collapsed_47, %transposed_48 : tensor<12x6xf32>, tensor<6x6xf32>) outs(%31 : tensor<12x6xf32>) -> tensor<12x6xf32>
    %61 = linalg.generic {indexing_maps = [#map5, #map6, #map5], iterator_types = ["parallel", "parallel"]} ins(%60, %cst_12 : tensor<12x6xf32>, tensor<6xf32>) outs(%30 : tensor<12x6xf32>) {
    ^bb0(%in: f32, %in_56: f32, %out: f32):
      %106 = arith.addf %in, %in_56 : f32
      linalg.yield %106 : f32
    } -> tensor<12x6xf32>
    %expanded_49 = tensor.expand_shape %61 [[0, 1], [2]] output_shape [1, 12, 6] : tensor<12x6xf32> into tensor<1x12x6xf32>
    %62 = linalg.generic {indexing_maps = [#map2, #map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%28, %expanded_49 : tensor<1x12x6xf32>, tensor<1x12x6xf32>) outs(%2 : tensor<1x12x6xf32>) {
    ^bb0(%in: f32, %in_56: f32, %out: f32):
      %106 = arith.addf %in, %in_56 : f32
      linalg.yield %106 : f32
    } -> tensor<1x12x6xf32>
    %63 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%62 : tensor<1x12x6xf32>) outs(%8 : tensor<1x12x6xf64>) {
    ^bb0(%in: f32, %out: f64):
      %106 = arith.extf %in : f32 to f64
      linalg.yield %106 : f64
    } -> tensor<1x12x6xf64>
    %64 = linalg.generic {indexing_maps = [#map2, #map3], iterator_types = ["parallel", "parallel", "reduction"]} ins(%63 : tensor<1x12x6xf64>) outs(%11 : tensor<1x12x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %106 = arith.addf %in, %out : f64
      linalg.yield %106 : f64
    } -> tensor<1x12x1xf64>
    %65 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%64 : tensor<1x12x1xf64>) outs(%10 : tensor<1x12x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %106 = arith.divf %in, %cst_27 : f64
      linalg.yield %106 : f64
    } -> tensor<1x12x1xf64>
    %66 = linalg.generic {indexing_maps = [#map2, #map3, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%63, %65 : tensor<1x12x6xf64>, tensor<1x12x1xf64>) outs(%8 : tensor<1x12x6xf64>) {
    ^bb0(%in: f64, %in_56: f64, %out: f64):
      %106 = arith.subf %in, %in_56 : f64
      linalg.yield %106 : f64
    } -> tensor<1x12x6xf64>
    %67 = linalg.generic {indexing_maps = [#map2, #map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%66, %66 : tensor<1x12x6xf64>, tensor<1x12x6xf64>) outs(%8 : tensor<1x12x6xf64>) {
    ^bb0(%in: f64, %in_56: f64, %out: f64):
      %106 = arith.mulf %in, %in_56 : f64
      linalg.yield %106 : f64
    } -> tensor<1x12x6xf64>
    %68 = linalg.generic {indexing_maps = [#map2, #map3], iterator_types = ["parallel", "parallel", "reduction"]} ins(%67 : tensor<1x12x6xf64>) outs(%11 : tensor<1x12x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %106 = arith.addf %in, %out : f64
      linalg.yield %106 : f64
    } -> tensor<1x12x1xf64>
    %69 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%68 : tensor<1x12x1xf64>) outs(%10 : tensor<1x12x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %106 = arith.divf %in, %cst_27 : f64
      linalg.yield %106 : f64
    } -> tensor<1x12x1xf64>
    %70 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%69 : tensor<1x12x1xf64>) outs(%18 : tensor<1x12x1xf32>) {
    ^bb0(%in: f64, %out: f32):
      %106 = arith.truncf %in : f64 to f32
      linalg.yield %106 : f32
    } -> tensor<1x12x1xf32>
    %71 = linalg.generic {indexing_maps = [#map2, #map3], iterator_types = ["parallel", "parallel", "reduction"]} ins(%62 : tensor<1x12x6xf32>) outs(%20 : tensor<1x12x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %106 = arith.addf %in, %out : f32
      linalg.yield %106 : f32
    } -> tensor<1x12x1xf32>
    %72 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%71 : tensor<1x12x1xf32>) outs(%18 : tensor<1x12x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %106 = arith.divf %in, %cst_28 : f32
      linalg.yield %106 : f32
    } -> tensor<1x12x1xf32>
    %73 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%70 : tensor<1x12x1xf32>) outs(%18 : tensor<1x12x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %106 = arith.truncf %cst_23 : f64 to f32
      %107 = arith.addf %in, %106 : f32
      linalg.yield %107 : f32
    } -> tensor<1x12x1xf32>
    %74 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%73 : tensor<1x12x1xf32>) outs(%18 : tensor<1x12x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %106 = math.rsqrt %in : f32
      linalg.yield %106 : f32
    } -> tensor<1x12x1xf32>
    %75 = linalg.generic {indexing_maps = [#map2, #map3, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%62, %72 : tensor<1x12x6xf32>, tensor<1x12x1xf32>) outs(%2 : tensor<1x12x6xf32>) {
    ^bb0(%in: f32, %in_56: f32, %out: f32):
      %106 = arith.subf %in, %in_56 : f32
      linalg.yield %106 : f32
    } -> tensor<1x12x6xf32>
    %76 = linalg.generic {indexing_maps = [#map2, #map3, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%75, %74 : tensor<1x12x6xf32>, tensor<1x12x1xf32>) outs(%2 : tensor<1x12x6xf32>) {
    ^bb0(%in: f32, %in_56: f32, %out: f32):
      %106 = arith.mulf %in, %in_56 : f32
      linalg.yield %106 : f32
    } -> tensor<1x12x6xf32>
    %77 = linalg.generic {indexing_maps = [#map2, #map4, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%76, %cst_11 : tensor<1x12x6xf32>, tensor<6xf32>) outs(%2 : tensor<1x12x6xf32>) {
    ^bb0(%in: f32, %in_56: f32, %out: f32):
      %106 = arith.mulf %in, %in_56 : f32
      linalg.yield %106 : f32
    } -> tensor<1x12x6xf32>
    %78 = linalg.generic {indexing_maps = [#map2, #map4, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%77, %cst_10 : tensor<1x12x6xf32>, tensor<6xf32>) outs(%2 : tensor<1x12x6xf32>) {
    ^bb0(%in: f32, %in_56: f32, %out: f32):
      %106 = arith.addf %in, %in_56 : f32
      linalg.yield %106 : f32
    } -> tensor<1x12x6xf32>
    %collapsed_50 = tensor.collapse_shape %78 [[0, 1], [2]] : tensor<1x12x6xf32> into tensor<12x6xf32>
    %79 = tensor.empty() : tensor<6x5xf32>
    %transposed_51 = linalg.transpose ins(%cst_9 : tensor<5x6xf32>) outs(%79 : tensor<6x5xf32>) permutation = [1, 0] 
    %80 = tensor.empty() : tensor<12x5xf32>
    %81 = linalg.fill ins(%cst_0 : f32) outs(%80 : tensor<12x5xf32>) -> tensor<12x5xf32>
    %82 = linalg.matmul ins(%collapsed_50, %transposed_51 : tensor<12x6xf32>, tensor<6x5xf32>) outs(%81 : tensor<12x5xf32>) -> tensor<12x5xf32>
    %83 = linalg.generic {indexing_maps = [#map5, #map6, #map5], iterator_types = ["parallel", "parallel"]} ins(%82, %cst_8 : tensor<12x5xf32>, tensor<5xf32>) outs(%80 : tensor<12x5xf32>) {
    ^bb0(%in: f32, %in_56: f32, %out: f32):
      %106 = arith.addf %in, %in_56 : f32
      linalg.yield %106 : f32
    } -> tensor<12x5xf32>
    %expanded_52 = tensor.expand_shape %83 [[0, 1], [2]] output_shape [1, 12, 5] : tensor<12x5xf32> into tensor<1x12x5xf32>
    %84 = tensor.empty() : tensor<1x12x5xf32>
    %85 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_52 : tensor<1x12x5xf32>) outs(%84 : tensor<1x12x5xf32>) {
    ^bb0(%in: f32, %out: f32):
      %106 = arith.divf %in, %cst_29 : f32
      %107 = math.erf %106 : f32
      %108 = arith.addf %107, %cst_2 : f32
      %109 = arith.mulf %108, %cst_3 : f32
      %110 = arith.mulf %in, %109 : f32
      linalg.yield %110 : f32
    } -> tensor<1x12x5xf32>
    %collapsed_53 = tensor.collapse_shape %85 [[0, 1], [2]] : tensor<1x12x5xf32> into tensor<12x5xf32>
    %86 = tensor.empty() : tensor<5x6xf32>
    %transposed_54 = linalg.transpose ins(%cst_7 : tensor<6x5xf32>) outs(%86 : tensor<5x6xf32>) permutation = [1, 0] 
    %87 = linalg.matmul ins(%collapsed_53, %transposed_54 : tensor<12x5xf32>, tensor<5x6xf32>) outs(%31 : tensor<12x6xf32>) -> tensor<12x6xf32>
    %88 = linalg.generic {indexing_maps = [#map5, #map6, #map5], iterator_types = ["parallel", "parallel"]} ins(%87, %cst_6 : tensor<12x6xf32>, tensor<6xf32>) outs(%30 : tensor<12x6xf32>) {
    ^bb0(%in: f32, %in_56: f32, %out: f32):
      %106 = arith.addf %in, %in_56 : f32
      linalg.yield %106 : f32
    } -> tensor<12x6xf32>
    %expanded_55 = tensor.expand_shape %88 [[0, 1], [2]] output_shape [1, 12, 6] : tensor<12x6xf32> into tensor<1x12x6xf32>
    %89 = linalg.generic {indexing_maps = [#map2, #map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%78, %expanded_55 : tensor<1x12x6xf32>, tensor<1x12x6xf32>) outs(%2 : tensor<1x12x6xf32>) {
    ^bb0(%in: f32, %in_56: f32, %out: f32):
      %106 = arith.addf %in, %in_56 : f32
      linalg.yield %106 : f32
    } -> tensor<1x12x6xf32>
    %90 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%89 : tensor<1x12x6xf32>) outs(%8 : tensor<1x12x6xf64>) {
    ^bb0(%in: f32, %out: f64):
      %106 = arith.extf %in : f32 to f64
      linalg.yield %106 : f64
    } -> tensor<1x12x6xf64>
    %91 = linalg.generic {indexing_maps = [#map2, #map3], iterator_types = ["parallel", "parallel", "reduction"]} ins(%90 : tensor<1x12x6xf64>) outs(%11 : tensor<1x12x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %106 = arith.addf %in, %out : f64
      linalg.yield %106 : f64
    } -> tensor<1x12x1xf64>
    %92 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%91 : tensor<1x12x1xf64>) outs(%10 : tensor<1x12x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %106 = arith.divf %in, %cst_27 : f64
      linalg.yield %106 : f64
    } -> tensor<1x12x1xf64>
    %93 = linalg.generic {indexing_maps = [#map2, #map3, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%90, %92 : tensor<1x12x6xf64>, tensor<1x12x1xf64>) outs(%8 : tensor<1x12x6xf64>) {
    ^bb0(%in: f64, %in_56: f64, %out: f64):
      %106 = arith.subf %in, %in_56 : f64
      linalg.yield %106 : f64
    } -> tensor<1x12x6xf64>
    %94 = linalg.generic {indexing_maps = [#map2, #map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%93, %93 : tensor<1x12x6xf64>, tensor<1x12x6xf64>) outs(%8 : tensor<1x12x6xf64>) {
    ^bb0(%in: f64, %in_56: f64, %out: f64):
      %106 = arith.mulf %in, %in_56 : f64
      linalg.yield %106 : f64
    } -> tensor<1x12x6xf64>
    %95 = linalg.generic {indexing_maps = [#map2, #map3], iterator_types = ["parallel", "parallel", "reduction"]} ins(%94 : tensor<1x12x6xf64>) outs(%11 : tensor<1x12x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %106 = arith.addf %in, %out : f64
      linalg.yield %106 : f64
    } -> tensor<1x12x1xf64>
    %96 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%95 : tensor<1x12x1xf64>) outs(%10 : tensor<1x12x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %106 = arith.divf %in, %cst_27 : f64
      linalg.yield %106 : f64
    } -> tensor<1x12x1xf64>
    %97 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%96 : tensor<1x12x1xf64>) outs(%18 : tensor<1x12x1xf32>) {
    ^bb0(%in: f64, %out: f32):
      %106 = arith.truncf %in : f64 to f32
      linalg.yield %106 : f32
    } -> tensor<1x12x1xf32>
    %98 = linalg.generic {indexing_maps = [#map2, #map3], iterator_types = ["parallel", "parallel", "reduction"]} ins(%89 : tensor<1x12x6xf32>) outs(%20 : tensor<1x12x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %106 = arith.addf %in, %out : f32
      linalg.yield %106 : f32
    } -> tensor<1x12x1xf32>
    %99 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%98 : tensor<1x12x1xf32>) outs(%18 : tensor<1x12x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %106 = arith.divf %in, %cst_28 : f32
      linalg.yield %106 : f32
    } -> tensor<1x12x1xf32>
    %100 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%97 : tensor<1x12x1xf32>) outs(%18 : tensor<1x12x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %106 = arith.truncf %cst_23 : f64 to f32
      %107 = arith.addf %in, %106 : f32
      linalg.yield %107 : f32
    } -> tensor<1x12x1xf32>
    %101 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%100 : tensor<1x12x1xf32>) outs(%18 : tensor<1x12x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %106 = math.rsqrt %in : f32
      linalg.yield %106 : f32
    } -> tensor<1x12x1xf32>
    %102 = linalg.generic {indexing_maps = [#map2, #map3, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%89, %99 : tensor<1x12x6xf32>, tensor<1x12x1xf32>) outs(%2 : tensor<1x12x6xf32>) {
    ^bb0(%in: f32, %in_56: f32, %out: f32):
      %106 = arith.subf %in, %in_56 : f32
      linalg.yield %106 : f32
    } -> tensor<1x12x6xf32>
    %103 = linalg.generic {indexing_maps = [#map2, #map3, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%102, %101 : tensor<1x12x6xf32>, tensor<1x12x1xf32>) outs(%2 : tensor<1x12x6xf32>) {
    ^bb0(%in: f32, %in_56: f32, %out: f32):
      %106 = arith.mulf %in, %in_56 : f32
      linalg.yield %106 : f32
    } -> tensor<1x12x6xf32>
    %104 = linalg.generic {indexing_maps = [#map2, #map4, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%103, %cst_5 : tensor<1x12x6xf32>, tensor<6xf32>) outs(%2 : tensor<1x12x6xf32>) {
    ^bb0(%in: f32, %in_56: f32, %out: f32):
      %106 = arith.mulf %in, %in_56 : f32
      linalg.yield %106 : f32
    } -> tensor<1x12x6xf32>
    %105 = linalg.generic {indexing_maps = [#map2, #map4, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%104, %cst_4 : tensor<1x12x6xf32>, tensor<6xf32>) outs(%2 : tensor<1x12x6xf32>) {
    ^bb0(%in: f32, %in_56: f32, %out: f32):
      %106 = arith.addf %in, %in_56 : f32
      linalg.yield %106 : f32
    } -> tensor<1x12x6xf32>
    return %105 : tensor<1x12x6xf32>
  }
}

{-#
  dialect_resources: {
    builtin: {
      torch_tensor_6_torch.float32_10: "0x04000000F3FED63D63FFE2BC4B9F0FBD2F20433E7F30F3BD1B3EB6BD",
      torch_tensor_6_torch.float32_9: "0x04000000E2FE7B3FE71F6E3F3614753F64DC573F4CB1833FC83B813F",
      torch_tensor_6_torch.float32_8: "0x04000000AEC6CCBE4EF7BDBE648F023E38CF8CBE7AC4E3BE4603C2BE",
      torch_tensor_6_5_torch.float32: "0x0400000055CE47BE72EBA13D7F8A663EADBC693DEDD1403E1BF4AEBC18DF813EBC3F593E776C823E762609BD5F72BCBEB09B8FBE548F64BEDCA4C13E98B9B8BC3A0076BDFAA532BEDCD699BC91559A3E8D2DD038CD9E543E291F833E4802DFBE5727203ED0C8E43E6C0D68BE58D1943D51C8243C570F723E98AADC3D",
      torch_tensor_5_torch.float32: "0x04000000D5F78ABE4604E63EA14BDD3E9E8A743E4230CBBD",
      torch_tensor_5_6_torch.float32: "0x040000008584743E7B814C3EC89A87BE5417A43E243046BE5A2B92BD086EEABD5308473E8706C3BE3D1985BECD564ABDB3E18F3EB64FC9BD4F25833E5C6BBF3EEA5C7B3CB4C88CBE44D8143BE6A7223EC10FB2BD3515CCBEF7CB783EB22E36BEC83192BEB50D553E2540C93D224A983E01D8A8BD4F40813ECE86C6BD",
      torch_tensor_6_torch.float32_7: "0x04000000BF57DABDCA7478BDBD96D0BDAF41323C64C72CBE79588C3D",
      torch_tensor_6_torch.float32_6: "0x040000002CC25D3F648A6D3F5C66783F637E7A3F9A4D713FB54A863F",
      torch_tensor_6_torch.float32_5: "0x040000006A95DD3E5ACDF63E772F893E3A3300BE977608BE897BCE3D",
      torch_tensor_6_6_torch.float32_3: "0x040000006FE2F3BDA4F732BE62BC11BE917AAABEB21727BD4D0CAABE5AE3883E5950C9BEBC499BBEFABFA53D154F813E07EBC73E2567A9BE24B5AB3EF775923E761F89BE024A2E3E5A31EBBDD2AAF03D1C0BB9BE220870BEF18384BE3F0DA3BD295473BC10EF0FBC3EF576BEE6794E3E655D543E055CB7BE67BFC1BEAAA9B3BDEC94E83DF2339FBE8FFC19BD24CFBD3C36B79FBE",
      torch_tensor_6_torch.float32_4: "0x0400000002FF0EBEAE78563EC054C73E06238C3E463963BDA464F83E",
      torch_tensor_6_6_torch.float32_2: "0x0400000001EC57BD3350C7BE1C9E513E9F34A13DD0D1643D24638BBEA2CEC3BE8C66BD3EA56C9DBE81E09EBD653D99BD05BF6E3E1137B0BE73456FBEBF0660BE99C952BEE3BD7F3E80E57F3E9DA33D3E5B9FAA3EE1038BBEA37CD4BA1427A9BE4C8551BA25A6B2BEE952C9BE7DA8833E61FF38BED23B05BDFB71F6BD73C9A5BECED226BDCC04773DD803A73E2CD531BE8627C73E",
      torch_tensor_6_torch.float32_3: "0x04000000BC63A8BCCEBD8F3EA2ACF3BE0FCF87BE2E3DDABDA5B8513E",
      torch_tensor_6_6_torch.float32_1: "0x04000000CB43523D811AEF3CCA3E74BE4F6DBF3BEA93B63DFB9C77BE2559953D17C30ABE42E6ADBEFE5C7ABE56E4A5BE587FC13DE1B77F3E5C07BE3EA5F2CC3E50A8243E71774C3E82958EBD8CCBAC3EB4D31FBEEF32E3BD5E210BBE911E8CBE5718A1BE6E70AABD3BEFA83E6D4150BE4EC3BDBE0308BFBD7167BD3E0AA9C93D5066D3BCA701EFBDC787B73E00DAC8BE22E26C3E",
      torch_tensor_6_torch.float32_2: "0x0400000082B11A3D80B1ECBBA222AC3E60076DBCDA5D373E8827CCBD",
      torch_tensor_6_6_torch.float32: "0x04000000D470693E0FEE3BBE7BAEB03ED447FF3DE64D92BDB396023E81079ABD4152C2BD8F2289BE7396733E4BF37A3E10240F3E5C3E773ED4D2D03E7DD1C43E18B7C9BE7FA5BE3DFE2C0FBD44F30D3E9626A2BD7B5CE93D4352C0BE63123F3EBDD0C83EC35C96BD3443A6BE4DC1ADBE1465A0BD095BCABBB97F3A3D57CF513D4F719D3E26AF97BDC899EE3D452D5EBE4695CD3E",
      torch_tensor_6_torch.float32_1: "0x040000003BA7CBBC03A7BABDC280193CDC51923CD7C98CBD6BB9F3BD",
      torch_tensor_6_torch.float32: "0x0400000003B4633F136C7C3FC4A18B3F770D883F54F08B3FB6AA5D3F",
      torch_tensor_2_6_torch.float32: "0x04000000E18978BFDA06CFBED766F6BD99DD1A40F029A6BE3865D1BF6F08033ED86154BBBE07173FE4BD42BF1AC4F33D4E2118BF",
      torch_tensor_16_6_torch.float32: "0x04000000A426BA3EB09BA1BE523608BF1F29993E20D1B5BFB76027BEE76F083E30ED3A3E8C57CE3F8497C83FC35770BFFD549EBF2A2380BD1926E63E9BC362BFE637993F303E23BFDB4A12C07B3EBCBE9AD661BF73C70B3F7113183E817F10C03400CF3E263A3F3F619CB03F01D4A43FF9515E3FE1EBB0BF279676BFCC02CCBEDA5231BE305FAABD8B3A023F75148F3F0675903F33FF103E0FBB0BBF326D09BFA631543F62C40EBF696DE0BEB21E943FAF27B63D9A20883EF24143BE216CC43E0FCFF43F0310CABF6F60253F73E39A3DDE301CBEC287483EF0CCC8BF2FF68FBF3BFEA0BE8CA99CBFE7E8233FF9162F3F737ECE3FE4E36E3F25277ABF78E350BFA506943FE1EB2D3F7F14CABE02E1A93F1793E23D38C0AC3EDCE9A3BE31A3113F3881083E0E00DF3F9088163F86108D3E2F036FBFAE671CBEABAB07BF720DBA3F4F4DC5BF0B090CC000237EBFAD74633F634BBEBF1BCC63BF1A89663F28E1853E070219BE8E74C0BE74F42C3E88A20ABF935024BEC3C46E3F46F2843DF6858A3D4A850CBF",
      torch_tensor_7_6_torch.float32: "0x0400000056F451BF2390CA3ED51E663F39B7B1BF01012BBE2DFF913E931E24BF95C664BFED316D3F571709BFBA7194BFAC99EBBED162353FF8A1813F28ED6B3E8A8A8B3FC194CABF9B2DA6BE3493F63F4CF7A8BEEB344B3EEA35483F7B01853F937939BF565D56BE78825CBEF59F1C3F8813EF3F1ABE2040CD9CA0BF4B03513FFE5E88BF207836BE09DD84BE8C9ECA3E1812AFBFCB4DCEBDF4B3723E74F7213F3DC1BBBD9AE9CF3FF56ECD3A"
    }
  }
#-}
