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
  func.func @main(%arg0: tensor<1x12xi64>) -> tensor<1x12x12xf32> {
    %c0_i64 = arith.constant 0 : i64
    %c7 = arith.constant 7 : index
    %c16 = arith.constant 16 : index
    %c2 = arith.constant 2 : index
    %cst = arith.constant 0.000000e+00 : f64
    %cst_0 = arith.constant 0.000000e+00 : f32
    %cst_1 = arith.constant 0xFF800000 : f32
    %cst_2 = arith.constant 1.000000e+00 : f32
    %cst_3 = arith.constant 5.000000e-01 : f32
    %cst_4 = arith.constant dense_resource<torch_tensor_12_torch.float32_10> : tensor<12xf32>
    %cst_5 = arith.constant dense_resource<torch_tensor_12_torch.float32_9> : tensor<12xf32>
    %cst_6 = arith.constant dense_resource<torch_tensor_12_torch.float32_8> : tensor<12xf32>
    %cst_7 = arith.constant dense_resource<torch_tensor_12_5_torch.float32> : tensor<12x5xf32>
    %cst_8 = arith.constant dense_resource<torch_tensor_5_torch.float32> : tensor<5xf32>
    %cst_9 = arith.constant dense_resource<torch_tensor_5_12_torch.float32> : tensor<5x12xf32>
    %cst_10 = arith.constant dense_resource<torch_tensor_12_torch.float32_7> : tensor<12xf32>
    %cst_11 = arith.constant dense_resource<torch_tensor_12_torch.float32_6> : tensor<12xf32>
    %cst_12 = arith.constant dense_resource<torch_tensor_12_torch.float32_5> : tensor<12xf32>
    %cst_13 = arith.constant dense_resource<torch_tensor_12_12_torch.float32_3> : tensor<12x12xf32>
    %cst_14 = arith.constant dense_resource<torch_tensor_12_torch.float32_4> : tensor<12xf32>
    %cst_15 = arith.constant dense_resource<torch_tensor_12_12_torch.float32_2> : tensor<12x12xf32>
    %cst_16 = arith.constant dense_resource<torch_tensor_12_torch.float32_3> : tensor<12xf32>
    %cst_17 = arith.constant dense_resource<torch_tensor_12_12_torch.float32_1> : tensor<12x12xf32>
    %cst_18 = arith.constant dense_resource<torch_tensor_12_torch.float32_2> : tensor<12xf32>
    %cst_19 = arith.constant dense_resource<torch_tensor_12_12_torch.float32> : tensor<12x12xf32>
    %cst_20 = arith.constant dense_resource<torch_tensor_12_torch.float32_1> : tensor<12xf32>
    %cst_21 = arith.constant dense_resource<torch_tensor_12_torch.float32> : tensor<12xf32>
    %cst_22 = arith.constant 9.9999999999999998E-13 : f64
    %cst_23 = arith.constant dense_resource<torch_tensor_2_12_torch.float32> : tensor<2x12xf32>
    %cst_24 = arith.constant dense_resource<torch_tensor_16_12_torch.float32> : tensor<16x12xf32>
    %cst_25 = arith.constant dense_resource<torch_tensor_7_12_torch.float32> : tensor<7x12xf32>
    %cst_26 = arith.constant 1.200000e+01 : f64
    %cst_27 = arith.constant 1.200000e+01 : f32
    %cst_28 = arith.constant 2.000000e+00 : f32
    %cst_29 = arith.constant 1.41421354 : f32
    %cst_30 = arith.constant dense<0> : tensor<1x12xi64>
    %0 = tensor.empty() : tensor<12xi64>
    %1 = linalg.generic {indexing_maps = [#map], iterator_types = ["parallel"]} outs(%0 : tensor<12xi64>) {
    ^bb0(%out: i64):
      %104 = linalg.index 0 : index
      %105 = arith.index_cast %104 : index to i64
      linalg.yield %105 : i64
    } -> tensor<12xi64>
    %expanded = tensor.expand_shape %1 [[0, 1]] output_shape [1, 12] : tensor<12xi64> into tensor<1x12xi64>
    %2 = tensor.empty() : tensor<1x12x12xf32>
    %3 = linalg.generic {indexing_maps = [#map1, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg0 : tensor<1x12xi64>) outs(%2 : tensor<1x12x12xf32>) {
    ^bb0(%in: i64, %out: f32):
      %104 = arith.index_cast %in : i64 to index
      %105 = linalg.index 2 : index
      %106 = arith.cmpi slt, %104, %c7 : index
      cf.assert %106, "index must be smaller than dim size"
      %107 = arith.cmpi sge, %in, %c0_i64 : i64
      cf.assert %107, "index must be larger or equal to 0"
      %extracted = tensor.extract %cst_25[%104, %105] : tensor<7x12xf32>
      linalg.yield %extracted : f32
    } -> tensor<1x12x12xf32>
    %4 = linalg.generic {indexing_maps = [#map1, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded : tensor<1x12xi64>) outs(%2 : tensor<1x12x12xf32>) {
    ^bb0(%in: i64, %out: f32):
      %104 = arith.index_cast %in : i64 to index
      %105 = linalg.index 2 : index
      %106 = arith.cmpi slt, %104, %c16 : index
      cf.assert %106, "index must be smaller than dim size"
      %107 = arith.cmpi sge, %in, %c0_i64 : i64
      cf.assert %107, "index must be larger or equal to 0"
      %extracted = tensor.extract %cst_24[%104, %105] : tensor<16x12xf32>
      linalg.yield %extracted : f32
    } -> tensor<1x12x12xf32>
    %5 = linalg.generic {indexing_maps = [#map2, #map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%3, %4 : tensor<1x12x12xf32>, tensor<1x12x12xf32>) outs(%2 : tensor<1x12x12xf32>) {
    ^bb0(%in: f32, %in_56: f32, %out: f32):
      %104 = arith.addf %in, %in_56 : f32
      linalg.yield %104 : f32
    } -> tensor<1x12x12xf32>
    %6 = linalg.generic {indexing_maps = [#map1, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_30 : tensor<1x12xi64>) outs(%2 : tensor<1x12x12xf32>) {
    ^bb0(%in: i64, %out: f32):
      %104 = arith.index_cast %in : i64 to index
      %105 = linalg.index 2 : index
      %106 = arith.cmpi slt, %104, %c2 : index
      cf.assert %106, "index must be smaller than dim size"
      %107 = arith.cmpi sge, %in, %c0_i64 : i64
      cf.assert %107, "index must be larger or equal to 0"
      %extracted = tensor.extract %cst_23[%104, %105] : tensor<2x12xf32>
      linalg.yield %extracted : f32
    } -> tensor<1x12x12xf32>
    %7 = linalg.generic {indexing_maps = [#map2, #map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%5, %6 : tensor<1x12x12xf32>, tensor<1x12x12xf32>) outs(%2 : tensor<1x12x12xf32>) {
    ^bb0(%in: f32, %in_56: f32, %out: f32):
      %104 = arith.addf %in, %in_56 : f32
      linalg.yield %104 : f32
    } -> tensor<1x12x12xf32>
    %8 = tensor.empty() : tensor<1x12x12xf64>
    %9 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%7 : tensor<1x12x12xf32>) outs(%8 : tensor<1x12x12xf64>) {
    ^bb0(%in: f32, %out: f64):
      %104 = arith.extf %in : f32 to f64
      linalg.yield %104 : f64
    } -> tensor<1x12x12xf64>
    %10 = tensor.empty() : tensor<1x12x1xf64>
    %11 = linalg.fill ins(%cst : f64) outs(%10 : tensor<1x12x1xf64>) -> tensor<1x12x1xf64>
    %12 = linalg.generic {indexing_maps = [#map2, #map3], iterator_types = ["parallel", "parallel", "reduction"]} ins(%9 : tensor<1x12x12xf64>) outs(%11 : tensor<1x12x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %104 = arith.addf %in, %out : f64
      linalg.yield %104 : f64
    } -> tensor<1x12x1xf64>
    %13 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%12 : tensor<1x12x1xf64>) outs(%10 : tensor<1x12x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %104 = arith.divf %in, %cst_26 : f64
      linalg.yield %104 : f64
    } -> tensor<1x12x1xf64>
    %14 = linalg.generic {indexing_maps = [#map2, #map3, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%9, %13 : tensor<1x12x12xf64>, tensor<1x12x1xf64>) outs(%8 : tensor<1x12x12xf64>) {
    ^bb0(%in: f64, %in_56: f64, %out: f64):
      %104 = arith.subf %in, %in_56 : f64
      linalg.yield %104 : f64
    } -> tensor<1x12x12xf64>
    %15 = linalg.generic {indexing_maps = [#map2, #map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%14, %14 : tensor<1x12x12xf64>, tensor<1x12x12xf64>) outs(%8 : tensor<1x12x12xf64>) {
    ^bb0(%in: f64, %in_56: f64, %out: f64):
      %104 = arith.mulf %in, %in_56 : f64
      linalg.yield %104 : f64
    } -> tensor<1x12x12xf64>
    %16 = linalg.generic {indexing_maps = [#map2, #map3], iterator_types = ["parallel", "parallel", "reduction"]} ins(%15 : tensor<1x12x12xf64>) outs(%11 : tensor<1x12x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %104 = arith.addf %in, %out : f64
      linalg.yield %104 : f64
    } -> tensor<1x12x1xf64>
    %17 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%16 : tensor<1x12x1xf64>) outs(%10 : tensor<1x12x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %104 = arith.divf %in, %cst_26 : f64
      linalg.yield %104 : f64
    } -> tensor<1x12x1xf64>
    %18 = tensor.empty() : tensor<1x12x1xf32>
    %19 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%17 : tensor<1x12x1xf64>) outs(%18 : tensor<1x12x1xf32>) {
    ^bb0(%in: f64, %out: f32):
      %104 = arith.truncf %in : f64 to f32
      linalg.yield %104 : f32
    } -> tensor<1x12x1xf32>
    %20 = linalg.fill ins(%cst_0 : f32) outs(%18 : tensor<1x12x1xf32>) -> tensor<1x12x1xf32>
    %21 = linalg.generic {indexing_maps = [#map2, #map3], iterator_types = ["parallel", "parallel", "reduction"]} ins(%7 : tensor<1x12x12xf32>) outs(%20 : tensor<1x12x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %104 = arith.addf %in, %out : f32
      linalg.yield %104 : f32
    } -> tensor<1x12x1xf32>
    %22 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%21 : tensor<1x12x1xf32>) outs(%18 : tensor<1x12x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %104 = arith.divf %in, %cst_27 : f32
      linalg.yield %104 : f32
    } -> tensor<1x12x1xf32>
    %23 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%19 : tensor<1x12x1xf32>) outs(%18 : tensor<1x12x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %104 = arith.truncf %cst_22 : f64 to f32
      %105 = arith.addf %in, %104 : f32
      linalg.yield %105 : f32
    } -> tensor<1x12x1xf32>
    %24 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%23 : tensor<1x12x1xf32>) outs(%18 : tensor<1x12x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %104 = math.rsqrt %in : f32
      linalg.yield %104 : f32
    } -> tensor<1x12x1xf32>
    %25 = linalg.generic {indexing_maps = [#map2, #map3, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%7, %22 : tensor<1x12x12xf32>, tensor<1x12x1xf32>) outs(%2 : tensor<1x12x12xf32>) {
    ^bb0(%in: f32, %in_56: f32, %out: f32):
      %104 = arith.subf %in, %in_56 : f32
      linalg.yield %104 : f32
    } -> tensor<1x12x12xf32>
    %26 = linalg.generic {indexing_maps = [#map2, #map3, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%25, %24 : tensor<1x12x12xf32>, tensor<1x12x1xf32>) outs(%2 : tensor<1x12x12xf32>) {
    ^bb0(%in: f32, %in_56: f32, %out: f32):
      %104 = arith.mulf %in, %in_56 : f32
      linalg.yield %104 : f32
    } -> tensor<1x12x12xf32>
    %27 = linalg.generic {indexing_maps = [#map2, #map4, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%26, %cst_21 : tensor<1x12x12xf32>, tensor<12xf32>) outs(%2 : tensor<1x12x12xf32>) {
    ^bb0(%in: f32, %in_56: f32, %out: f32):
      %104 = arith.mulf %in, %in_56 : f32
      linalg.yield %104 : f32
    } -> tensor<1x12x12xf32>
    %28 = linalg.generic {indexing_maps = [#map2, #map4, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%27, %cst_20 : tensor<1x12x12xf32>, tensor<12xf32>) outs(%2 : tensor<1x12x12xf32>) {
    ^bb0(%in: f32, %in_56: f32, %out: f32):
      %104 = arith.addf %in, %in_56 : f32
      linalg.yield %104 : f32
    } -> tensor<1x12x12xf32>
    %collapsed = tensor.collapse_shape %28 [[0, 1], [2]] : tensor<1x12x12xf32> into tensor<12x12xf32>
    %29 = tensor.empty() : tensor<12x12xf32>
    %transposed = linalg.transpose ins(%cst_19 : tensor<12x12xf32>) outs(%29 : tensor<12x12xf32>) permutation = [1, 0] 
    %30 = linalg.fill ins(%cst_0 : f32) outs(%29 : tensor<12x12xf32>) -> tensor<12x12xf32>
    %31 = linalg.matmul ins(%collapsed, %transposed : tensor<12x12xf32>, tensor<12x12xf32>) outs(%30 : tensor<12x12xf32>) -> tensor<12x12xf32>
    %32 = linalg.generic {indexing_maps = [#map5, #map6, #map5], iterator_types = ["parallel", "parallel"]} ins(%31, %cst_18 : tensor<12x12xf32>, tensor<12xf32>) outs(%29 : tensor<12x12xf32>) {
    ^bb0(%in: f32, %in_56: f32, %out: f32):
      %104 = arith.addf %in, %in_56 : f32
      linalg.yield %104 : f32
    } -> tensor<12x12xf32>
    %expanded_31 = tensor.expand_shape %32 [[0, 1], [2, 3]] output_shape [1, 12, 3, 4] : tensor<12x12xf32> into tensor<1x12x3x4xf32>
    %33 = tensor.empty() : tensor<1x3x12x4xf32>
    %transposed_32 = linalg.transpose ins(%expanded_31 : tensor<1x12x3x4xf32>) outs(%33 : tensor<1x3x12x4xf32>) permutation = [0, 2, 1, 3] 
    %transposed_33 = linalg.transpose ins(%cst_17 : tensor<12x12xf32>) outs(%29 : tensor<12x12xf32>) permutation = [1, 0] 
    %34 = linalg.matmul ins(%collapsed, %transposed_33 : tensor<12x12xf32>, tensor<12x12xf32>) outs(%30 : tensor<12x12xf32>) -> tensor<12x12xf32>
    %35 = linalg.generic {indexing_maps = [#map5, #map6, #map5], iterator_types = ["parallel", "parallel"]} ins(%34, %cst_16 : tensor<12x12xf32>, tensor<12xf32>) outs(%29 : tensor<12x12xf32>) {
    ^bb0(%in: f32, %in_56: f32, %out: f32):
      %104 = arith.addf %in, %in_56 : f32
      linalg.yield %104 : f32
    } -> tensor<12x12xf32>
    %expanded_34 = tensor.expand_shape %35 [[0, 1], [2, 3]] output_shape [1, 12, 3, 4] : tensor<12x12xf32> into tensor<1x12x3x4xf32>
    %transposed_35 = linalg.transpose ins(%cst_15 : tensor<12x12xf32>) outs(%29 : tensor<12x12xf32>) permutation = [1, 0] 
    %36 = linalg.matmul ins(%collapsed, %transposed_35 : tensor<12x12xf32>, tensor<12x12xf32>) outs(%30 : tensor<12x12xf32>) -> tensor<12x12xf32>
    %37 = linalg.generic {indexing_maps = [#map5, #map6, #map5], iterator_types = ["parallel", "parallel"]} ins(%36, %cst_14 : tensor<12x12xf32>, tensor<12xf32>) outs(%29 : tensor<12x12xf32>) {
    ^bb0(%in: f32, %in_56: f32, %out: f32):
      %104 = arith.addf %in, %in_56 : f32
      linalg.yield %104 : f32
    } -> tensor<12x12xf32>
    %expanded_36 = tensor.expand_shape %37 [[0, 1], [2, 3]] output_shape [1, 12, 3, 4] : tensor<12x12xf32> into tensor<1x12x3x4xf32>
    %transposed_37 = linalg.transpose ins(%expanded_36 : tensor<1x12x3x4xf32>) outs(%33 : tensor<1x3x12x4xf32>) permutation = [0, 2, 1, 3] 
    %38 = tensor.empty() : tensor<1x3x4x12xf32>
    %transposed_38 = linalg.transpose ins(%expanded_34 : tensor<1x12x3x4xf32>) outs(%38 : tensor<1x3x4x12xf32>) permutation = [0, 2, 3, 1] 
    %collapsed_39 = tensor.collapse_shape %transposed_32 [[0, 1], [2], [3]] : tensor<1x3x12x4xf32> into tensor<3x12x4xf32>
    %collapsed_40 = tensor.collapse_shape %transposed_38 [[0, 1], [2], [3]] : tensor<1x3x4x12xf32> into tensor<3x4x12xf32>
    %39 = tensor.empty() : tensor<3x12x12xf32>
    %40 = linalg.fill ins(%cst_0 : f32) outs(%39 : tensor<3x12x12xf32>) -> tensor<3x12x12xf32>
    %41 = linalg.batch_matmul ins(%collapsed_39, %collapsed_40 : tensor<3x12x4xf32>, tensor<3x4x12xf32>) outs(%40 : tensor<3x12x12xf32>) -> tensor<3x12x12xf32>
    %expanded_41 = tensor.expand_shape %41 [[0, 1], [2], [3]] output_shape [1, 3, 12, 12] : tensor<3x12x12xf32> into tensor<1x3x12x12xf32>
    %42 = tensor.empty() : tensor<1x3x12x12xf32>
    %43 = linalg.generic {indexing_maps = [#map7, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_41 : tensor<1x3x12x12xf32>) outs(%42 : tensor<1x3x12x12xf32>) {
    ^bb0(%in: f32, %out: f32):
      %104 = arith.divf %in, %cst_28 : f32
      linalg.yield %104 : f32
    } -> tensor<1x3x12x12xf32>
    %44 = tensor.empty() : tensor<1x3x12xi64>
    %45 = linalg.fill ins(%c0_i64 : i64) outs(%44 : tensor<1x3x12xi64>) -> tensor<1x3x12xi64>
    %46 = tensor.empty() : tensor<1x3x12xf32>
    %47 = linalg.fill ins(%cst_1 : f32) outs(%46 : tensor<1x3x12xf32>) -> tensor<1x3x12xf32>
    %48:2 = linalg.generic {indexing_maps = [#map7, #map8, #map8], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%43 : tensor<1x3x12x12xf32>) outs(%47, %45 : tensor<1x3x12xf32>, tensor<1x3x12xi64>) {
    ^bb0(%in: f32, %out: f32, %out_56: i64):
      %104 = linalg.index 3 : index
      %105 = arith.index_cast %104 : index to i64
      %106 = arith.maximumf %in, %out : f32
      %107 = arith.cmpf ogt, %in, %out : f32
      %108 = arith.select %107, %105, %out_56 : i64
      linalg.yield %106, %108 : f32, i64
    } -> (tensor<1x3x12xf32>, tensor<1x3x12xi64>)
    %expanded_42 = tensor.expand_shape %48#0 [[0], [1], [2, 3]] output_shape [1, 3, 12, 1] : tensor<1x3x12xf32> into tensor<1x3x12x1xf32>
    %49 = linalg.generic {indexing_maps = [#map7, #map9, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%43, %expanded_42 : tensor<1x3x12x12xf32>, tensor<1x3x12x1xf32>) outs(%42 : tensor<1x3x12x12xf32>) {
    ^bb0(%in: f32, %in_56: f32, %out: f32):
      %104 = arith.subf %in, %in_56 : f32
      linalg.yield %104 : f32
    } -> tensor<1x3x12x12xf32>
    %50 = linalg.generic {indexing_maps = [#map7, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%49 : tensor<1x3x12x12xf32>) outs(%42 : tensor<1x3x12x12xf32>) {
    ^bb0(%in: f32, %out: f32):
      %104 = math.exp %in : f32
      linalg.yield %104 : f32
    } -> tensor<1x3x12x12xf32>
    %51 = tensor.empty() : tensor<1x3x12x1xf32>
    %52 = linalg.fill ins(%cst_0 : f32) outs(%51 : tensor<1x3x12x1xf32>) -> tensor<1x3x12x1xf32>
    %53 = linalg.generic {indexing_maps = [#map7, #map9], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%50 : tensor<1x3x12x12xf32>) outs(%52 : tensor<1x3x12x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %104 = arith.addf %in, %out : f32
      linalg.yield %104 : f32
    } -> tensor<1x3x12x1xf32>
    %54 = linalg.generic {indexing_maps = [#map7, #map9, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%50, %53 : tensor<1x3x12x12xf32>, tensor<1x3x12x1xf32>) outs(%42 : tensor<1x3x12x12xf32>) {
    ^bb0(%in: f32, %in_56: f32, %out: f32):
      %104 = arith.divf %in, %in_56 : f32
      linalg.yield %104 : f32
    } -> tensor<1x3x12x12xf32>
    %collapsed_43 = tensor.collapse_shape %54 [[0, 1], [2], [3]] : tensor<1x3x12x12xf32> into tensor<3x12x12xf32>
    %collapsed_44 = tensor.collapse_shape %transposed_37 [[0, 1], [2], [3]] : tensor<1x3x12x4xf32> into tensor<3x12x4xf32>
    %55 = tensor.empty() : tensor<3x12x4xf32>
    %56 = linalg.fill ins(%cst_0 : f32) outs(%55 : tensor<3x12x4xf32>) -> tensor<3x12x4xf32>
    %57 = linalg.batch_matmul ins(%collapsed_43, %collapsed_44 : tensor<3x12x12xf32>, tensor<3x12x4xf32>) outs(%56 : tensor<3x12x4xf32>) -> tensor<3x12x4xf32>
    %expanded_45 = tensor.expand_shape %57 [[0, 1], [2], [3]] output_shape [1, 3, 12, 4] : tensor<3x12x4xf32> into tensor<1x3x12x4xf32>
    %58 = tensor.empty() : tensor<1x12x3x4xf32>
    %transposed_46 = linalg.transpose ins(%expanded_45 : tensor<1x3x12x4xf32>) outs(%58 : tensor<1x12x3x4xf32>) permutation = [0, 2, 1, 3] 
    %collapsed_47 = tensor.collapse_shape %transposed_46 [[0, 1], [2, 3]] : tensor<1x12x3x4xf32> into tensor<12x12xf32>
    %transposed_48 = linalg.transpose ins(%cst_13 : tensor<12x12xf32>) outs(%29 : tensor<12x12xf32>) permutation = [1, 0] 
    %59 = linalg.matmul ins(%collapsed_47, %transposed_48 : tensor<12x12xf32>, tensor<12x12xf32>) outs(%30 : tensor<12x12xf32>) -> tensor<12x12xf32>
    %60 = linalg.generic {indexing_maps = [#map5, #map6, #map5], iterator_types = ["parallel", "parallel"]} ins(%59, %cst_12 : tensor<12x12xf32>, tensor<12xf32>) outs(%29 : tensor<12x12xf32>) {
    ^bb0(%in: f32, %in_56: f32, %out: f32):
      %104 = arith.addf %in, %in_56 : f32
      linalg.yield %104 : f32
    } -> tensor<12x12xf32>
    %expanded_49 = tensor.expand_shape %60 [[0, 1], [2]] output_shape [1, 12, 12] : tensor<12x12xf32> into tensor<1x12x12xf32>
    %61 = linalg.generic {indexing_maps = [#map2, #map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%28, %expanded_49 : tensor<1x12x12xf32>, tensor<1x12x12xf32>) outs(%2 : tensor<1x12x12xf32>) {
    ^bb0(%in: f32, %in_56: f32, %out: f32):
      %104 = arith.addf %in, %in_56 : f32
      linalg.yield %104 : f32
    } -> tensor<1x12x12xf32>
    %62 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%61 : tensor<1x12x12xf32>) outs(%8 : tensor<1x12x12xf64>) {
    ^bb0(%in: f32, %out: f64):
      %104 = arith.extf %in : f32 to f64
      linalg.yield %104 : f64
    } -> tensor<1x12x12xf64>
    %63 = linalg.generic {indexing_maps = [#map2, #map3], iterator_types = ["parallel", "parallel", "reduction"]} ins(%62 : tensor<1x12x12xf64>) outs(%11 : tensor<1x12x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %104 = arith.addf %in, %out : f64
      linalg.yield %104 : f64
    } -> tensor<1x12x1xf64>
    %64 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%63 : tensor<1x12x1xf64>) outs(%10 : tensor<1x12x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %104 = arith.divf %in, %cst_26 : f64
      linalg.yield %104 : f64
    } -> tensor<1x12x1xf64>
    %65 = linalg.generic {indexing_maps = [#map2, #map3, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%62, %64 : tensor<1x12x12xf64>, tensor<1x12x1xf64>) outs(%8 : tensor<1x12x12xf64>) {
    ^bb0(%in: f64, %in_56: f64, %out: f64):
      %104 = arith.subf %in, %in_56 : f64
      linalg.yield %104 : f64
    } -> tensor<1x12x12xf64>
    %66 = linalg.generic {indexing_maps = [#map2, #map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%65, %65 : tensor<1x12x12xf64>, tensor<1x12x12xf64>) outs(%8 : tensor<1x12x12xf64>) {
    ^bb0(%in: f64, %in_56: f64, %out: f64):
      %104 = arith.mulf %in, %in_56 : f64
      linalg.yield %104 : f64
    } -> tensor<1x12x12xf64>
    %67 = linalg.generic {indexing_maps = [#map2, #map3], iterator_types = ["parallel", "parallel", "reduction"]} ins(%66 : tensor<1x12x12xf64>) outs(%11 : tensor<1x12x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %104 = arith.addf %in, %out : f64
      linalg.yield %104 : f64
    } -> tensor<1x12x1xf64>
    %68 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%67 : tensor<1x12x1xf64>) outs(%10 : tensor<1x12x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %104 = arith.divf %in, %cst_26 : f64
      linalg.yield %104 : f64
    } -> tensor<1x12x1xf64>
    %69 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%68 : tensor<1x12x1xf64>) outs(%18 : tensor<1x12x1xf32>) {
    ^bb0(%in: f64, %out: f32):
      %104 = arith.truncf %in : f64 to f32
      linalg.yield %104 : f32
    } -> tensor<1x12x1xf32>
    %70 = linalg.generic {indexing_maps = [#map2, #map3], iterator_types = ["parallel", "parallel", "reduction"]} ins(%61 : tensor<1x12x12xf32>) outs(%20 : tensor<1x12x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %104 = arith.addf %in, %out : f32
      linalg.yield %104 : f32
    } -> tensor<1x12x1xf32>
    %71 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%70 : tensor<1x12x1xf32>) outs(%18 : tensor<1x12x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %104 = arith.divf %in, %cst_27 : f32
      linalg.yield %104 : f32
    } -> tensor<1x12x1xf32>
    %72 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%69 : tensor<1x12x1xf32>) outs(%18 : tensor<1x12x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %104 = arith.truncf %cst_22 : f64 to f32
      %105 = arith.addf %in, %104 : f32
      linalg.yield %105 : f32
    } -> tensor<1x12x1xf32>
    %73 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%72 : tensor<1x12x1xf32>) outs(%18 : tensor<1x12x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %104 = math.rsqrt %in : f32
      linalg.yield %104 : f32
    } -> tensor<1x12x1xf32>
    %74 = linalg.generic {indexing_maps = [#map2, #map3, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%61, %71 : tensor<1x12x12xf32>, tensor<1x12x1xf32>) outs(%2 : tensor<1x12x12xf32>) {
    ^bb0(%in: f32, %in_56: f32, %out: f32):
      %104 = arith.subf %in, %in_56 : f32
      linalg.yield %104 : f32
    } -> tensor<1x12x12xf32>
    %75 = linalg.generic {indexing_maps = [#map2, #map3, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%74, %73 : tensor<1x12x12xf32>, tensor<1x12x1xf32>) outs(%2 : tensor<1x12x12xf32>) {
    ^bb0(%in: f32, %in_56: f32, %out: f32):
      %104 = arith.mulf %in, %in_56 : f32
      linalg.yield %104 : f32
    } -> tensor<1x12x12xf32>
    %76 = linalg.generic {indexing_maps = [#map2, #map4, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%75, %cst_11 : tensor<1x12x12xf32>, tensor<12xf32>) outs(%2 : tensor<1x12x12xf32>) {
    ^bb0(%in: f32, %in_56: f32, %out: f32):
      %104 = arith.mulf %in, %in_56 : f32
      linalg.yield %104 : f32
    } -> tensor<1x12x12xf32>
    %77 = linalg.generic {indexing_maps = [#map2, #map4, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%76, %cst_10 : tensor<1x12x12xf32>, tensor<12xf32>) outs(%2 : tensor<1x12x12xf32>) {
    ^bb0(%in: f32, %in_56: f32, %out: f32):
      %104 = arith.addf %in, %in_56 : f32
      linalg.yield %104 : f32
    } -> tensor<1x12x12xf32>
    %collapsed_50 = tensor.collapse_shape %77 [[0, 1], [2]] : tensor<1x12x12xf32> into tensor<12x12xf32>
    %78 = tensor.empty() : tensor<12x5xf32>
    %transposed_51 = linalg.transpose ins(%cst_9 : tensor<5x12xf32>) outs(%78 : tensor<12x5xf32>) permutation = [1, 0] 
    %79 = linalg.fill ins(%cst_0 : f32) outs(%78 : tensor<12x5xf32>) -> tensor<12x5xf32>
    %80 = linalg.matmul ins(%collapsed_50, %transposed_51 : tensor<12x12xf32>, tensor<12x5xf32>) outs(%79 : tensor<12x5xf32>) -> tensor<12x5xf32>
    %81 = linalg.generic {indexing_maps = [#map5, #map6, #map5], iterator_types = ["parallel", "parallel"]} ins(%80, %cst_8 : tensor<12x5xf32>, tensor<5xf32>) outs(%78 : tensor<12x5xf32>) {
    ^bb0(%in: f32, %in_56: f32, %out: f32):
      %104 = arith.addf %in, %in_56 : f32
      linalg.yield %104 : f32
    } -> tensor<12x5xf32>
    %expanded_52 = tensor.expand_shape %81 [[0, 1], [2]] output_shape [1, 12, 5] : tensor<12x5xf32> into tensor<1x12x5xf32>
    %82 = tensor.empty() : tensor<1x12x5xf32>
    %83 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_52 : tensor<1x12x5xf32>) outs(%82 : tensor<1x12x5xf32>) {
    ^bb0(%in: f32, %out: f32):
      %104 = arith.divf %in, %cst_29 : f32
      %105 = math.erf %104 : f32
      %106 = arith.addf %105, %cst_2 : f32
      %107 = arith.mulf %106, %cst_3 : f32
      %108 = arith.mulf %in, %107 : f32
      linalg.yield %108 : f32
    } -> tensor<1x12x5xf32>
    %collapsed_53 = tensor.collapse_shape %83 [[0, 1], [2]] : tensor<1x12x5xf32> into tensor<12x5xf32>
    %84 = tensor.empty() : tensor<5x12xf32>
    %transposed_54 = linalg.transpose ins(%cst_7 : tensor<12x5xf32>) outs(%84 : tensor<5x12xf32>) permutation = [1, 0] 
    %85 = linalg.matmul ins(%collapsed_53, %transposed_54 : tensor<12x5xf32>, tensor<5x12xf32>) outs(%30 : tensor<12x12xf32>) -> tensor<12x12xf32>
    %86 = linalg.generic {indexing_maps = [#map5, #map6, #map5], iterator_types = ["parallel", "parallel"]} ins(%85, %cst_6 : tensor<12x12xf32>, tensor<12xf32>) outs(%29 : tensor<12x12xf32>) {
    ^bb0(%in: f32, %in_56: f32, %out: f32):
      %104 = arith.addf %in, %in_56 : f32
      linalg.yield %104 : f32
    } -> tensor<12x12xf32>
    %expanded_55 = tensor.expand_shape %86 [[0, 1], [2]] output_shape [1, 12, 12] : tensor<12x12xf32> into tensor<1x12x12xf32>
    %87 = linalg.generic {indexing_maps = [#map2, #map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%77, %expanded_55 : tensor<1x12x12xf32>, tensor<1x12x12xf32>) outs(%2 : tensor<1x12x12xf32>) {
    ^bb0(%in: f32, %in_56: f32, %out: f32):
      %104 = arith.addf %in, %in_56 : f32
      linalg.yield %104 : f32
    } -> tensor<1x12x12xf32>
    %88 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%87 : tensor<1x12x12xf32>) outs(%8 : tensor<1x12x12xf64>) {
    ^bb0(%in: f32, %out: f64):
      %104 = arith.extf %in : f32 to f64
      linalg.yield %104 : f64
    } -> tensor<1x12x12xf64>
    %89 = linalg.generic {indexing_maps = [#map2, #map3], iterator_types = ["parallel", "parallel", "reduction"]} ins(%88 : tensor<1x12x12xf64>) outs(%11 : tensor<1x12x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %104 = arith.addf %in, %out : f64
      linalg.yield %104 : f64
    } -> tensor<1x12x1xf64>
    %90 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%89 : tensor<1x12x1xf64>) outs(%10 : tensor<1x12x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %104 = arith.divf %in, %cst_26 : f64
      linalg.yield %104 : f64
    } -> tensor<1x12x1xf64>
    %91 = linalg.generic {indexing_maps = [#map2, #map3, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%88, %90 : tensor<1x12x12xf64>, tensor<1x12x1xf64>) outs(%8 : tensor<1x12x12xf64>) {
    ^bb0(%in: f64, %in_56: f64, %out: f64):
      %104 = arith.subf %in, %in_56 : f64
      linalg.yield %104 : f64
    } -> tensor<1x12x12xf64>
    %92 = linalg.generic {indexing_maps = [#map2, #map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%91, %91 : tensor<1x12x12xf64>, tensor<1x12x12xf64>) outs(%8 : tensor<1x12x12xf64>) {
    ^bb0(%in: f64, %in_56: f64, %out: f64):
      %104 = arith.mulf %in, %in_56 : f64
      linalg.yield %104 : f64
    } -> tensor<1x12x12xf64>
    %93 = linalg.generic {indexing_maps = [#map2, #map3], iterator_types = ["parallel", "parallel", "reduction"]} ins(%92 : tensor<1x12x12xf64>) outs(%11 : tensor<1x12x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %104 = arith.addf %in, %out : f64
      linalg.yield %104 : f64
    } -> tensor<1x12x1xf64>
    %94 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%93 : tensor<1x12x1xf64>) outs(%10 : tensor<1x12x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %104 = arith.divf %in, %cst_26 : f64
      linalg.yield %104 : f64
    } -> tensor<1x12x1xf64>
    %95 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%94 : tensor<1x12x1xf64>) outs(%18 : tensor<1x12x1xf32>) {
    ^bb0(%in: f64, %out: f32):
      %104 = arith.truncf %in : f64 to f32
      linalg.yield %104 : f32
    } -> tensor<1x12x1xf32>
    %96 = linalg.generic {indexing_maps = [#map2, #map3], iterator_types = ["parallel", "parallel", "reduction"]} ins(%87 : tensor<1x12x12xf32>) outs(%20 : tensor<1x12x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %104 = arith.addf %in, %out : f32
      linalg.yield %104 : f32
    } -> tensor<1x12x1xf32>
    %97 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%96 : tensor<1x12x1xf32>) outs(%18 : tensor<1x12x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %104 = arith.divf %in, %cst_27 : f32
      linalg.yield %104 : f32
    } -> tensor<1x12x1xf32>
    %98 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%95 : tensor<1x12x1xf32>) outs(%18 : tensor<1x12x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %104 = arith.truncf %cst_22 : f64 to f32
      %105 = arith.addf %in, %104 : f32
      linalg.yield %105 : f32
    } -> tensor<1x12x1xf32>
    %99 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%98 : tensor<1x12x1xf32>) outs(%18 : tensor<1x12x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %104 = math.rsqrt %in : f32
      linalg.yield %104 : f32
    } -> tensor<1x12x1xf32>
    %100 = linalg.generic {indexing_maps = [#map2, #map3, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%87, %97 : tensor<1x12x12xf32>, tensor<1x12x1xf32>) outs(%2 : tensor<1x12x12xf32>) {
    ^bb0(%in: f32, %in_56: f32, %out: f32):
      %104 = arith.subf %in, %in_56 : f32
      linalg.yield %104 : f32
    } -> tensor<1x12x12xf32>
    %101 = linalg.generic {indexing_maps = [#map2, #map3, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%100, %99 : tensor<1x12x12xf32>, tensor<1x12x1xf32>) outs(%2 : tensor<1x12x12xf32>) {
    ^bb0(%in: f32, %in_56: f32, %out: f32):
      %104 = arith.mulf %in, %in_56 : f32
      linalg.yield %104 : f32
    } -> tensor<1x12x12xf32>
    %102 = linalg.generic {indexing_maps = [#map2, #map4, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%101, %cst_5 : tensor<1x12x12xf32>, tensor<12xf32>) outs(%2 : tensor<1x12x12xf32>) {
    ^bb0(%in: f32, %in_56: f32, %out: f32):
      %104 = arith.mulf %in, %in_56 : f32
      linalg.yield %104 : f32
    } -> tensor<1x12x12xf32>
    %103 = linalg.generic {indexing_maps = [#map2, #map4, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%102, %cst_4 : tensor<1x12x12xf32>, tensor<12xf32>) outs(%2 : tensor<1x12x12xf32>) {
    ^bb0(%in: f32, %in_56: f32, %out: f32):
      %104 = arith.addf %in, %in_56 : f32
      linalg.yield %104 : f32
    } -> tensor<1x12x12xf32>
    return %103 : tensor<1x12x12xf32>
  }
}

{-#
  dialect_resources: {
    builtin: {
      torch_tensor_12_torch.float32_10: "0x040000003E66273EF7BE15BDE83D0DBE085951BD4F07EBBDEC952E3E51C029BEFDDBAE3C5D6F693DB2B0D9BB883EE83D0CCF233D",
      torch_tensor_12_torch.float32_9: "0x040000008E9B833F7026883F8964893F806A703FEE88623FFE73943F5249613F5BAC893FF9C6533FC871943F4773813F245E6A3F",
      torch_tensor_12_torch.float32_8: "0x04000000C67B39BEC8F261BE79A12DBE572233BE9AA021BEEB89033F4369B8BEE796B03E2B27F5BDD0C54E3E3C32053ED71123BE",
      torch_tensor_12_5_torch.float32: "0x04000000578EAFBE5FCE92BEDB37B53E370E13BEF4F5B0BE1F19813EE76CC73E1460633E544F2B3D1BD1AA3DD6FD303EF778CA3E4E50833E796DB2BE208DB1BE8A3F90BED29347BE321BCB3E8635E4BE765485BDCD90AD3EFB662E3E242C69BEAD7DADBB3356BABEAEAA91BEA808BFBEF34BA7BE04BEDD3ECA0D8EBD6ADB7BBE38E65FBED6AAB7BEAA6177BE6FAD373D6B2C8CBEECFE8E3D2AE5263E9FD0A23E34AF81BE014CBBBD7A4BE23E515745BD4444CCBE033D16BE3734133EDFF9A3BD1EA0213EF081B4BEC521603EF65F49BE6FC92BBEB6AFEBBCD98ADE3E29DAAF3EF6E6C43E2E2C84BDF44AA13E1FE1BABB14FB9B3E",
      torch_tensor_5_torch.float32: "0x040000004231E3BD075C0FBE34A1C23E6C834DBE8DC582BE",
      torch_tensor_5_12_torch.float32: "0x04000000AB13893E17D3F53DBE95733E2390AEBDE79C2F3EAFE06C3C8AD24F3E599E8B3DBA77F9BDD070013EECBD8C3E285547BE9A498F3ED8D4733E87F3773E7D73803DF3DCBABDE312C6BD1EEA18BD85ED43BEC0A0DB3D20B50C3E8C7476BDE374833EBA85C83D9978923E2B6D863E520E5DBD270D72BEDD6743BE45738E3E5A7133BE804BA63C7EF53E3E8054BFBDD1FA293E5A8146BE6DC06A3D6086073EFBAB76BE5C27D8BDA46C15BEE4AC5ABD1CEF8D3E8FAA823EFACB173E25E50ABEDD6C5FBDA2A6DD3C2AA58E3EAE2D77BE93108EBDF3677CBEA735DC3D74A91ABD315504BE152787BEAAD8C2BDB5EC7FBE04EBC53D",
      torch_tensor_12_torch.float32_7: "0x04000000D94F8BBC301C923CBA6AACBD53568DBD6A4AD5BD07AF18BD6419263CC54201BE9F57323E9F0A563DCF77163DAE5A8A3D",
      torch_tensor_12_torch.float32_6: "0x04000000E0126F3FA833623F7C0A873F1293833FE7D5883FB961883F9001883F11AA723F9024953F680D643FC676753F4EAD703F",
      torch_tensor_12_torch.float32_5: "0x04000000BDEB9BBD3D7F8F3D223CF23D1C32E8BD79380E3E24FF4C3CF61688BD7DE95B3EEDC1163E80C4143D738E863D76C565BE",
      torch_tensor_12_12_torch.float32_3: "0x04000000E90D7B3DFB843D3E10B18CBE4D2999BC0D4589BE576488BDD39DD5BD268736BEFDA139BE6B2A643EA0E4053EECC5C83D231C553DC909BB3D246AE23CDAE38EBE12C605BD18033C3E07BD17BD12BF4E3D14B2353E5E942D3E32D94EBD76A1703E93E6DBBDAEB403BCE0456E3E322C25BEDE6A923EF3490EBEC0B616BE1196633E1D70533E094050BE81BC0B3ECB8AAA3C85C962BE05A6ACBDE7F0CC3C90B988BED8689BBC7CD1933DD78B5C3E6381523ED290F6BDC0450C3E1C027B3D304B86BC624961BEE3D7A73DFDB7873E56E178BE212BA4BCAE922C3E4BEAC639F700543E8C6824BD4E9323BE3F2472BEA4B631BED31360BDFAD0373E35E9F43C9CC3C63C1A1D6E3EEB039B3D0FF1F8BDE540C6BD521D283EF524EDBD1330BF3DEC9DFC3D986E463C94864FBE05A72BBE602E88BEE735C03D86068CBEE7BC26BEAE978B3E8DE804BC22F1073E1C0413BE1E8D8BBD98E612BEA01FDE3D12CA3CBEF23706BE459D903D5B75583CC0440DBE4FC9C23C266A51BDB1488EBE7D3B8A3EE96471BEDAAFC13DCB49263EE90058BD76A2A3BDFA44883E454D5E3ECE4A4EBD5BF8D1BDB7051EBEF188723EC21D21BE4DF6D53D8807A33D221A643E61CD06BB0BCE173E537F23BEF806EABDFD21E0BD10228EBE0CD084BE11C3123EFCE9033E846695BD7D1487BE5659483ED90A8F3EC778933E96C1F5BDDAAB7FBEBFF63E3E5815163E0F53673E0BD59A3DC288483EA9DC02BE5CF26FBED961383D9F3B7C3E7B6F38BE95D2193E3E7BF8BD2FBB36BEC12EA3BD4173913EFF9E7E3EC8D4713E48E18D3E",
      torch_tensor_12_torch.float32_4: "0x04000000A6C39F3D26A4BCBDE23DCABD905BC6BD605E433E33E070BEC8CF5F3D37AB42BDDBE9D33EE5166A3D84C7CABE16B7973E",
      torch_tensor_12_12_torch.float32_2: "0x040000005D822E3E10EA64BECA9B5E3CBE0E353EB5B461BE2BE5E03D0DE68EBECE398ABED40AD03BB19085BE444808BE3AED2E3E8F5261BDE4B645BE8E3F713ED07090BE2A7B713D0E7041BEF89824BEE9DBBF3CA294913E34F49CBDA9D292BEFCF17E3D2657EBBD587D45BECA93E93D8B7DE93D0C4812BEE8889A3C34722B3D60B5AE3C8AA536BDD0D52ABE8C35233E935D5F3E0A0F6F3ED57E753E3B3265BC428BBD3C4C1EEBBD8C328CBDEA90973D79BABC3C01E953BE9A8153BEACFD083E247F613E5403893E7898343E11152A3EB5CEF73D2442473E689A97BD96D3363DCDA7EE3D1EA3793DFBFDCBBC7F5B1BBECF5152BE8F3F2ABEAF2DE53CCA27883E8B58D7BD44D470BEA9B780BEC3A4E63DCA9BF53D940C1EBE4F60E5BD44EE643E323C7ABE08992D3E92D01E3CB8F10ABE95CE8E3EDF4542BE3F45853E2F01753ED82DCB3DAF90403EC7728F3D1089773E7CE0833D059B93BEAF73F9BDB1952C3D39C44F3E8A44ABBD1DA0D63DDAB9E13D0C51CC3C859573BE169C8D3E858A0EBEEE8F3A3DA4FFE5BD98E4963D77D0473EC940793D426700BE1D00833D840172BE5580783E2F8C1E3E2CD4533EE27F953DE02E93BEB61C52BE734486BE5DA62C3EC33A8F3EB95E403EF752EEBDE1D833BE0A282BBE2CFF8A3E3E178EBEBF8890BE448FF53DF9D8DF3C6E4718BEEC3125BE731A8EBE40C3C83D807410BECD1AA5BDBE081B3E0DC96EBEFE55913EF6D2C0BD70A03C3ED8DF41BDAE72513E7E0B24BEADB981BDE77B12BEAE6C423EE9F98EBEA8C6433E792B8C391D2C3CBE22B1AABDAF350CBD",
      torch_tensor_12_torch.float32_3: "0x0400000031632BBEE82BF13D7646C0BDF7746F3ED5087DBE5B4D903E924304BEBA76283E2639753EAF1D5B3E9A16A1BEF884F43B",
      torch_tensor_12_12_torch.float32_1: "0x04000000A5871EBD7F2289BE11670BBD0CA46F3E3859FDBB33E343BC86AE88BE50086A3EA595743EE3836DBEB1B151BE952A653C6A2529BE28E071BEC988B93D4C3C99BD21EDCC3D04ECEA3D639D833E2BA12F3EE5F08ABE70396EBEBFEB6C3EC9297BBE71AD343E892834BE3A326D3E192D273E850A4CBED96474BE2F9B01BE092407BE1AC427BEFA4E503E3532913DCB6514BDBE97A0BC6A04F63DD234F23CAB6712BD863D833E11FC4B3E0AD2A53CB7014C3E90DA7EBD8C5760BE4CC7293E4FFA233E74BD3F3DD1337CBE2661553E1233A83C8FAC1BBE816582BE3C8019BEED6E893E919D123E366702BE0EA1743E0B357D3E7AEC123E99BAD2BC6B828A3E25C185BD0DA9F6BD443F0D3EFAA6F6BD75C2573E063D1DBE6BAFD93DCD7559BE83F544BE3BC06F3C1004693E668E62BE3F3C9DBD9D80093E12A153BDBD9384BE999559BB59A2CFBD67BA8C3DA544F33DE19EB1BD777017BE5FC62E3E74A97EBE2945103E9C98ED3D549BEA3D843C4EBEFEBDED3D9B6C30BE381A043EDDA109BE1920823D7E7A4F3B5F664CBEA15889BE18748BBD32F82F3E483F87BD5EE398BDF48937BEEDFF55BECC01C0BC939E9ABD7A8DD33D57928F3E1B404BBE678FB5BDDD54DB3DE88547BEDD0A03BDBDE615BE61013C3EC09F03BDF64CC23C04C82F3E706B51BED8A81FBEC922653E7EE6EA3DE7D2D3BCCD5C933E2890813E89AFFFBD6A41A5BD541D003EAD5338BEADEB92BEBA3515BEDB5487BE46E93A3E1EA3953D1DC278BE042347BC209F8D3EEFD52CBEBF353BBEFE21FE3DEAD150BE83E189BEB83A273E",
      torch_tensor_12_torch.float32_2: "0x04000000D2AC533ECE5BF43DBABA32BE9BB1B7BD7878153D7CBB853CCF4D843E42E7D3BE748EA33D5E0DC6BD1A3CD03D80B7963C",
      torch_tensor_12_12_torch.float32: "0x040000009BA781BE120089BEDC147EBDCA75A43D9B2561BE16C5D9BC2037863C3EDF61BEC8678A3EA717563E62C8613E0014F1BD914553BEC12F113D6CE62C3E809B103E1DC63FBE540F683EDE230CBEF3B64EBD54C4A5BDBBBC0C3E63E789BED63A3CBE48130FBDB77A4B3E3F598EBDD377393E9B5A873E8DBD313C3F1947BE907FD23AB507E63D29D17BBDF04E90BE05ED2F3E89D200BE0BC04EBECFA6163E3E4E8E3DB65E573EF8C76EBDEFC9363E26618CBD358937BE3671883E606C913EC4AA523EF302A5BD66F900BE9609513D47D0143E68E0163DF9EDF83D32DD61BCD1A9273ECD3B0C3E5260283E680FB1BCA14873BEB86539BEE78813BE49FE793E9B7A6EBCFBCA1EBD4FA2E6BD0D9B46BCA23E473ED6608638EE3E093E0447293E9EF38FBEECC1CE3D01AE933E09CA15BE751F403DB8BBD43BBF3F1C3E86708E3D65155EBEF2CD5CBE38677C3E5FD2FEBD63E781BE06A584BE3A9680BE8FFC863D9FB0083D97992BBEC18E85BDCFD7383DE65BD73D0360F13D2D211FBE77468B3E35128A3EB8ED51BE7EFF883E162A72BE031A43BEC172693D5B63AD3DE66C833E3B75BE3AC5A5473E0313C5BD686657BEEEECE5BC8E76193E04F7E6BDF7367ABE9C1034BE3376513D93EF8C3ED7BB823C3A4B6EBE9E5604BE8705163E8410BABD87991FBDB1E85B3E5C4FD93DE9F6343EBAB0843E2096C2BDCA6C2B3DA7C85DBE7EE9923E842546BE7D7D8C3ED852873E189D803D78937FBE406F18BC5FA7F3BDAE3CB53D7F28273EFF9F243EEDDDBD3D058262BE6AA378BE0E8FAE3D7AB281BD09280A3E",
      torch_tensor_12_torch.float32_1: "0x0400000085B741BD75DFCD3C372F853D301534BE4BD8323DC77D9C3D407038BDD3C7023D285701BD453ADDBDA399983B39A1253D",
      torch_tensor_12_torch.float32: "0x040000007786853FE41C913FF55F6D3F3973883FB51F5D3FA834953FFAEA3C3F213B7C3F9ABC833FF4C13C3FDAFC8D3FEC676A3F",
      torch_tensor_2_12_torch.float32: "0x04000000ED96DC3E0AAB84BF89E71DBF03A9BB3F274000BF19EE1CBF9860B9BE4262C63F7C0CD33DCAED653FDE1ACCBF56411CBFAD82C8BFE2E1873E2451E1BC6E680D3C834EDE3EFE6800408A768F3F4E7D8F3DDE36D93D55D5673FDDE9B7BF19EEAFBE",
      torch_tensor_16_12_torch.float32: "0x040000008F80023E3C2E9BBCCD85D0BE3A1D083F04F13DBF743623BF0310CABF6F60253FC3CF013F545E21BE9DAEEB3E559C93BF2D7E30BF5CCE4ABD8CA99CBFE7E8233F410116BF19ABFABEC7C9233F78021C3FA485C4BEBBF988BEE1EB2D3F7F14CABE61B4DCBE64FE1C3FC4E8903EE5BC973FB323A6BF478949BF0E00DF3F9088163F5E5D65BEDCA34BBF509208C027D03FBF2E4C223F2677803F0B090CC000237EBF70CD013E1CF3C1BF65A669BFFAC3A23F5C9D143E966CAF3F8E74C0BE74F42C3E289905406ADC07BF9EE74D3F6756973D7ECD46BE8DCAC1BF0234073F732F913FF036393FF5B48ABF43BD07BF36C3073E1C21583E85B7D1BEFB9016407F1A873E6286B33F4459D5BEC06C293EA33737BF210A9F3FA5A6AABF4295973E6DD2BFBD7A6D41BFF251F5BD6A58743F83C5183E9DA3CF3F935F473E5A32CCBF1FFF153F8B7B333F8EE230BF6E99953EE10ABB3F41D8803FA5657A3F4739EDBE7274DABF7AAA09C07CCBA3BFAB387DBF5AA18FBB823A3FBE9EE9DC3D9D88CEBED3E2F03E0865A43F0A3956BFBDA6B6BFB65289BE10DABEBF212A004020705DBFCD7E94BE1DAD403FD466133F84FB8A3DC1BEC8BDADC41EBF982DFBBF37EB0D3F3ACDB9BEE5A32CBF715141C0AB87CD3E6FB887BFBB0ABABFBF1BDC3E56DF8FBF4075F0BEE1F68FBE9CA930BF1891BD3FC35F43BD434F98BFD565B83F12DF34BF75234E3F91FE6ABC3C4913BF2862CC3E3DDEFFBE8E4F98BF49979FBF50A9C63F5DA6943F5660D6BE3DE1AE3E2B8977BEC210A53F5DADAE3FFBAF0940BA8827400978823F67BB20BF948900405321413F8ABC823D173D26BFACC1753F7167B03E852314BF1ABE493F693D4FBFE6B7BE3D2AD299BEA8613EBF13E511C0A6A9AC3FA0B9763F86A74F3F19B431406977433F9A9A37BEABF3B2BF20C8983E252B923F2C4F0B3EA631273E0FEF57BFBAA43F3FE297F93D7857683F3825A8BF6B181D3FA490163F2C9E193F943A41BF0108D03F6848E63FFBA2233F33E8C8BEA72916BF24A434BF42DAD13E9A20983B55564C3F3024563EF246BDBF1D940940F991193E1D36703F",
      torch_tensor_7_12_torch.float32: "0x0400000056F451BF2390CA3ED51E663F39B7B1BF01012BBE2DFF913E931E24BF95C664BFED316D3F571709BFBA7194BFAC99EBBED162353FF8A1813F28ED6B3E8A8A8B3FC194CABF9B2DA6BE3493F63F4CF7A8BEEB344B3EEA35483F7B01853F937939BF565D56BE78825CBED469E8BF8EC3B0BE41EF03C0DD912C3F6563A9BFE50CAEBFDA10ABBDCB54C0BC748F323E0C181340A404753F277029BF6D1554BFDB0D1BBF315CB3BF1A0FA63F1A0AD23F6D4187BFC2EE85BE621180BE8249003F7D23853E207836BE09DD84BEB25F6DBC5C8DC4BEBAD53DC044C087BFC6349EBE832D6F3F9AE9CF3FF56ECD3A5605E0BE36F206C09B8F923FA1ADC3BE6CE5B5BEC312413FE76F083E30ED3A3EF2BE03BFCDEE4C3F12EB00BE383175BFCF3BE03FD4C47A3FB02DD23E543DE23F305FAABD8B3A023F1D4953BF8B34273E4753003F9CD4B53F1FBD933F50AEC4BF62C40EBF696DE0BE"
    }
  }
#-}
