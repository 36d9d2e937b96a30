#map = affine_map<(d0, d1, d2) -> (d0, d1)>
#map1 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map2 = affine_map<(d0) -> (d0)>
#map3 = affine_map<(d0, d1) -> (d0, 0)>
#map4 = affine_map<(d0, d1) -> (d1)>
#map5 = affine_map<(d0, d1) -> (d0, d1)>
#map6 = affine_map<(d0, d1, d2) -> (d0, d1, 0)>
#map7 = affine_map<(d0, d1, d2) -> (d2)>
#map8 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map9 = affine_map<(d0, d1, d2, d3) -> (d2, d3)>
#map10 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d3, d4)>
#map11 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>
#map12 = affine_map<(d0, d1) -> (0, d1)>
#map13 = affine_map<(d0, d1) -> ()>
#map14 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
#map15 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, 0)>
module {
  func.func @main(%arg0: tensor<1x12xi64>) -> tensor<1x12x7xf32> {
    %c2_i64 = arith.constant 2 : i64
    %c0_i64 = arith.constant 0 : i64
    %c7 = arith.constant 7 : index
    %cst = arith.constant 0.000000e+00 : f32
    %cst_0 = arith.constant 0xFF800000 : f32
    %true = arith.constant true
    %cst_1 = arith.constant 1.000000e+00 : f32
    %cst_2 = arith.constant dense<0.000000e+00> : tensor<1x4x12x12xf32>
    %cst_3 = arith.constant dense<0.000000e+00> : tensor<f32>
    %cst_4 = arith.constant dense<0xFF800000> : tensor<f32>
    %cst_5 = arith.constant dense<true> : tensor<12x12xi1>
    %cst_6 = arith.constant dense_resource<torch_tensor_7_16_torch.float32_1> : tensor<7x16xf32>
    %cst_7 = arith.constant dense_resource<torch_tensor_16_torch.float32_2> : tensor<16xf32>
    %cst_8 = arith.constant dense_resource<torch_tensor_16_5_torch.float32> : tensor<16x5xf32>
    %cst_9 = arith.constant dense_resource<torch_tensor_5_16_torch.float32_1> : tensor<5x16xf32>
    %cst_10 = arith.constant dense_resource<torch_tensor_5_16_torch.float32> : tensor<5x16xf32>
    %cst_11 = arith.constant dense_resource<torch_tensor_16_torch.float32_1> : tensor<16xf32>
    %cst_12 = arith.constant dense_resource<torch_tensor_16_16_torch.float32_1> : tensor<16x16xf32>
    %cst_13 = arith.constant 0xFFF0000000000000 : f64
    %cst_14 = arith.constant 0.70710678118654757 : f64
    %cst_15 = arith.constant dense_resource<torch_tensor_8_16_torch.float32_1> : tensor<8x16xf32>
    %cst_16 = arith.constant dense_resource<torch_tensor_8_16_torch.float32> : tensor<8x16xf32>
    %cst_17 = arith.constant dense_resource<torch_tensor_16_16_torch.float32> : tensor<16x16xf32>
    %cst_18 = arith.constant dense_resource<torch_tensor_16_torch.float32> : tensor<16xf32>
    %cst_19 = arith.constant 1.000000e-05 : f64
    %cst_20 = arith.constant dense_resource<torch_tensor_2_torch.float32> : tensor<2xf32>
    %cst_21 = arith.constant dense_resource<torch_tensor_7_16_torch.float32> : tensor<7x16xf32>
    %cst_22 = arith.constant 1.600000e+01 : f32
    %0 = tensor.empty() : tensor<1x12x16xf32>
    %1 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg0 : tensor<1x12xi64>) outs(%0 : tensor<1x12x16xf32>) {
    ^bb0(%in: i64, %out: f32):
      %112 = arith.index_cast %in : i64 to index
      %113 = linalg.index 2 : index
      %114 = arith.cmpi slt, %112, %c7 : index
      cf.assert %114, "index must be smaller than dim size"
      %115 = arith.cmpi sge, %in, %c0_i64 : i64
      cf.assert %115, "index must be larger or equal to 0"
      %extracted = tensor.extract %cst_21[%112, %113] : tensor<7x16xf32>
      linalg.yield %extracted : f32
    } -> tensor<1x12x16xf32>
    %2 = tensor.empty() : tensor<12xi64>
    %3 = linalg.generic {indexing_maps = [#map2], iterator_types = ["parallel"]} outs(%2 : tensor<12xi64>) {
    ^bb0(%out: i64):
      %112 = linalg.index 0 : index
      %113 = arith.index_cast %112 : index to i64
      linalg.yield %113 : i64
    } -> tensor<12xi64>
    %4 = tensor.empty() : tensor<12xf32>
    %5 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel"]} ins(%3 : tensor<12xi64>) outs(%4 : tensor<12xf32>) {
    ^bb0(%in: i64, %out: f32):
      %112 = arith.sitofp %in : i64 to f32
      linalg.yield %112 : f32
    } -> tensor<12xf32>
    %expanded = tensor.expand_shape %5 [[0, 1]] output_shape [12, 1] : tensor<12xf32> into tensor<12x1xf32>
    %6 = tensor.empty() : tensor<12x2xf32>
    %7 = linalg.generic {indexing_maps = [#map3, #map4, #map5], iterator_types = ["parallel", "parallel"]} ins(%expanded, %cst_20 : tensor<12x1xf32>, tensor<2xf32>) outs(%6 : tensor<12x2xf32>) {
    ^bb0(%in: f32, %in_62: f32, %out: f32):
      %112 = arith.mulf %in, %in_62 : f32
      linalg.yield %112 : f32
    } -> tensor<12x2xf32>
    %concat = tensor.concat dim(1) %7, %7 : (tensor<12x2xf32>, tensor<12x2xf32>) -> tensor<12x4xf32>
    %8 = tensor.empty() : tensor<12x4xf32>
    %9 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel"]} ins(%concat : tensor<12x4xf32>) outs(%8 : tensor<12x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %112 = math.cos %in : f32
      linalg.yield %112 : f32
    } -> tensor<12x4xf32>
    %10 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel"]} ins(%concat : tensor<12x4xf32>) outs(%8 : tensor<12x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %112 = math.sin %in : f32
      linalg.yield %112 : f32
    } -> tensor<12x4xf32>
    %11 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%1 : tensor<1x12x16xf32>) outs(%0 : tensor<1x12x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %112 = math.fpowi %in, %c2_i64 : f32, i64
      linalg.yield %112 : f32
    } -> tensor<1x12x16xf32>
    %12 = tensor.empty() : tensor<1x12x1xf32>
    %13 = linalg.fill ins(%cst : f32) outs(%12 : tensor<1x12x1xf32>) -> tensor<1x12x1xf32>
    %14 = linalg.generic {indexing_maps = [#map1, #map6], iterator_types = ["parallel", "parallel", "reduction"]} ins(%11 : tensor<1x12x16xf32>) outs(%13 : tensor<1x12x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %112 = arith.addf %in, %out : f32
      linalg.yield %112 : f32
    } -> tensor<1x12x1xf32>
    %15 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%14 : tensor<1x12x1xf32>) outs(%12 : tensor<1x12x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %112 = arith.divf %in, %cst_22 : f32
      linalg.yield %112 : f32
    } -> tensor<1x12x1xf32>
    %16 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%15 : tensor<1x12x1xf32>) outs(%12 : tensor<1x12x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %112 = arith.truncf %cst_19 : f64 to f32
      %113 = arith.addf %in, %112 : f32
      linalg.yield %113 : f32
    } -> tensor<1x12x1xf32>
    %17 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%16 : tensor<1x12x1xf32>) outs(%12 : tensor<1x12x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %112 = math.rsqrt %in : f32
      linalg.yield %112 : f32
    } -> tensor<1x12x1xf32>
    %18 = linalg.generic {indexing_maps = [#map1, #map6, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%1, %17 : tensor<1x12x16xf32>, tensor<1x12x1xf32>) outs(%0 : tensor<1x12x16xf32>) {
    ^bb0(%in: f32, %in_62: f32, %out: f32):
      %112 = arith.mulf %in, %in_62 : f32
      linalg.yield %112 : f32
    } -> tensor<1x12x16xf32>
    %19 = linalg.generic {indexing_maps = [#map1, #map7, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%18, %cst_18 : tensor<1x12x16xf32>, tensor<16xf32>) outs(%0 : tensor<1x12x16xf32>) {
    ^bb0(%in: f32, %in_62: f32, %out: f32):
      %112 = arith.mulf %in, %in_62 : f32
      linalg.yield %112 : f32
    } -> tensor<1x12x16xf32>
    %20 = tensor.empty() : tensor<16x16xf32>
    %transposed = linalg.transpose ins(%cst_17 : tensor<16x16xf32>) outs(%20 : tensor<16x16xf32>) permutation = [1, 0] 
    %collapsed = tensor.collapse_shape %19 [[0, 1], [2]] : tensor<1x12x16xf32> into tensor<12x16xf32>
    %21 = tensor.empty() : tensor<12x16xf32>
    %22 = linalg.fill ins(%cst : f32) outs(%21 : tensor<12x16xf32>) -> tensor<12x16xf32>
    %23 = linalg.matmul ins(%collapsed, %transposed : tensor<12x16xf32>, tensor<16x16xf32>) outs(%22 : tensor<12x16xf32>) -> tensor<12x16xf32>
    %expanded_23 = tensor.expand_shape %23 [[0, 1], [2, 3]] output_shape [1, 12, 4, 4] : tensor<12x16xf32> into tensor<1x12x4x4xf32>
    %24 = tensor.empty() : tensor<1x4x12x4xf32>
    %transposed_24 = linalg.transpose ins(%expanded_23 : tensor<1x12x4x4xf32>) outs(%24 : tensor<1x4x12x4xf32>) permutation = [0, 2, 1, 3] 
    %extracted_slice = tensor.extract_slice %transposed_24[0, 0, 0, 2] [1, 4, 12, 2] [1, 1, 1, 1] : tensor<1x4x12x4xf32> to tensor<1x4x12x2xf32>
    %25 = tensor.empty() : tensor<1x4x12x2xf32>
    %26 = linalg.generic {indexing_maps = [#map8, #map8], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice : tensor<1x4x12x2xf32>) outs(%25 : tensor<1x4x12x2xf32>) {
    ^bb0(%in: f32, %out: f32):
      %112 = arith.negf %in : f32
      linalg.yield %112 : f32
    } -> tensor<1x4x12x2xf32>
    %extracted_slice_25 = tensor.extract_slice %transposed_24[0, 0, 0, 0] [1, 4, 12, 2] [1, 1, 1, 1] : tensor<1x4x12x4xf32> to tensor<1x4x12x2xf32>
    %concat_26 = tensor.concat dim(3) %26, %extracted_slice_25 : (tensor<1x4x12x2xf32>, tensor<1x4x12x2xf32>) -> tensor<1x4x12x4xf32>
    %27 = linalg.generic {indexing_maps = [#map8, #map9, #map8], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%transposed_24, %9 : tensor<1x4x12x4xf32>, tensor<12x4xf32>) outs(%24 : tensor<1x4x12x4xf32>) {
    ^bb0(%in: f32, %in_62: f32, %out: f32):
      %112 = arith.mulf %in, %in_62 : f32
      linalg.yield %112 : f32
    } -> tensor<1x4x12x4xf32>
    %28 = linalg.generic {indexing_maps = [#map8, #map9, #map8], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%concat_26, %10 : tensor<1x4x12x4xf32>, tensor<12x4xf32>) outs(%24 : tensor<1x4x12x4xf32>) {
    ^bb0(%in: f32, %in_62: f32, %out: f32):
      %112 = arith.mulf %in, %in_62 : f32
      linalg.yield %112 : f32
    } -> tensor<1x4x12x4xf32>
    %29 = linalg.generic {indexing_maps = [#map8, #map8, #map8], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%27, %28 : tensor<1x4x12x4xf32>, tensor<1x4x12x4xf32>) outs(%24 : tensor<1x4x12x4xf32>) {
    ^bb0(%in: f32, %in_62: f32, %out: f32):
      %112 = arith.addf %in, %in_62 : f32
      linalg.yield %112 : f32
    } -> tensor<1x4x12x4xf32>
    %30 = tensor.empty() : tensor<16x8xf32>
    %transposed_27 = linalg.transpose ins(%cst_16 : tensor<8x16xf32>) outs(%30 : tensor<16x8xf32>) permutation = [1, 0] 
    %31 = tensor.empty() : tensor<12x8xf32>
    %32 = linalg.fill ins(%cst : f32) outs(%31 : tensor<12x8xf32>) -> tensor<12x8xf32>
    %33 = linalg.matmul ins(%collapsed, %transposed_27 : tensor<12x16xf32>, tensor<16x8xf32>) outs(%32 : tensor<12x8xf32>) -> tensor<12x8xf32>
    %expanded_28 = tensor.expand_shape %33 [[0, 1], [2, 3]] output_shape [1, 12, 2, 4] : tensor<12x8xf32> into tensor<1x12x2x4xf32>
    %34 = tensor.empty() : tensor<1x2x12x4xf32>
    %transposed_29 = linalg.transpose ins(%expanded_28 : tensor<1x12x2x4xf32>) outs(%34 : tensor<1x2x12x4xf32>) permutation = [0, 2, 1, 3] 
    %extracted_slice_30 = tensor.extract_slice %transposed_29[0, 0, 0, 2] [1, 2, 12, 2] [1, 1, 1, 1] : tensor<1x2x12x4xf32> to tensor<1x2x12x2xf32>
    %35 = tensor.empty() : tensor<1x2x12x2xf32>
    %36 = linalg.generic {indexing_maps = [#map8, #map8], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_30 : tensor<1x2x12x2xf32>) outs(%35 : tensor<1x2x12x2xf32>) {
    ^bb0(%in: f32, %out: f32):
      %112 = arith.negf %in : f32
      linalg.yield %112 : f32
    } -> tensor<1x2x12x2xf32>
    %extracted_slice_31 = tensor.extract_slice %transposed_29[0, 0, 0, 0] [1, 2, 12, 2] [1, 1, 1, 1] : tensor<1x2x12x4xf32> to tensor<1x2x12x2xf32>
    %concat_32 = tensor.concat dim(3) %36, %extracted_slice_31 : (tensor<1x2x12x2xf32>, tensor<1x2x12x2xf32>) -> tensor<1x2x12x4xf32>
    %37 = linalg.generic {indexing_maps = [#map8, #map9, #map8], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%transposed_29, %9 : tensor<1x2x12x4xf32>, tensor<12x4xf32>) outs(%34 : tensor<1x2x12x4xf32>) {
    ^bb0(%in: f32, %in_62: f32, %out: f32):
      %112 = arith.mulf %in, %in_62 : f32
      linalg.yield %112 : f32
    } -> tensor<1x2x12x4xf32>
    %38 = linalg.generic {indexing_maps = [#map8, #map9, #map8], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%concat_32, %10 : tensor<1x2x12x4xf32>, tensor<12x4xf32>) outs(%34 : tensor<1x2x12x4xf32>) {
    ^bb0(%in: f32, %in_62: f32, %out: f32):
      %112 = arith.mulf %in, %in_62 : f32
      linalg.yield %112 : f32
    } -> tensor<1x2x12x4xf32>
    %39 = linalg.generic {indexing_maps = [#map8, #map8, #map8], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%37, %38 : tensor<1x2x12x4xf32>, tensor<1x2x12x4xf32>) outs(%34 : tensor<1x2x12x4xf32>) {
    ^bb0(%in: f32, %in_62: f32, %out: f32):
      %112 = arith.addf %in, %in_62 : f32
      linalg.yield %112 : f32
    } -> tensor<1x2x12x4xf32>
    %transposed_33 = linalg.transpose ins(%cst_15 : tensor<8x16xf32>) outs(%30 : tensor<16x8xf32>) permutation = [1, 0] 
    %40 = linalg.matmul ins(%collapsed, %transposed_33 : tensor<12x16xf32>, tensor<16x8xf32>) outs(%32 : tensor<12x8xf32>) -> tensor<12x8xf32>
    %expanded_34 = tensor.expand_shape %40 [[0, 1], [2, 3]] output_shape [1, 12, 2, 4] : tensor<12x8xf32> into tensor<1x12x2x4xf32>
    %transposed_35 = linalg.transpose ins(%expanded_34 : tensor<1x12x2x4xf32>) outs(%34 : tensor<1x2x12x4xf32>) permutation = [0, 2, 1, 3] 
    %41 = tensor.empty() : tensor<1x2x2x12x4xf32>
    %42 = linalg.generic {indexing_maps = [#map10, #map11], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%39 : tensor<1x2x12x4xf32>) outs(%41 : tensor<1x2x2x12x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x2x2x12x4xf32>
    %collapsed_36 = tensor.collapse_shape %42 [[0], [1, 2], [3], [4]] : tensor<1x2x2x12x4xf32> into tensor<1x4x12x4xf32>
    %43 = linalg.generic {indexing_maps = [#map10, #map11], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%transposed_35 : tensor<1x2x12x4xf32>) outs(%41 : tensor<1x2x2x12x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x2x2x12x4xf32>
    %44 = linalg.generic {indexing_maps = [#map8, #map8], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%29 : tensor<1x4x12x4xf32>) outs(%24 : tensor<1x4x12x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %112 = arith.truncf %cst_14 : f64 to f32
      %113 = arith.mulf %in, %112 : f32
      linalg.yield %113 : f32
    } -> tensor<1x4x12x4xf32>
    %expanded_37 = tensor.expand_shape %3 [[0, 1]] output_shape [1, 12] : tensor<12xi64> into tensor<1x12xi64>
    %expanded_38 = tensor.expand_shape %3 [[0, 1]] output_shape [12, 1] : tensor<12xi64> into tensor<12x1xi64>
    %45 = tensor.empty() : tensor<12x12xi64>
    %46 = linalg.generic {indexing_maps = [#map12, #map3, #map5], iterator_types = ["parallel", "parallel"]} ins(%expanded_37, %expanded_38 : tensor<1x12xi64>, tensor<12x1xi64>) outs(%45 : tensor<12x12xi64>) {
    ^bb0(%in: i64, %in_62: i64, %out: i64):
      %112 = arith.subi %in, %in_62 : i64
      linalg.yield %112 : i64
    } -> tensor<12x12xi64>
    %47 = tensor.empty() : tensor<12x12xi1>
    %48 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel"]} ins(%46 : tensor<12x12xi64>) outs(%47 : tensor<12x12xi1>) {
    ^bb0(%in: i64, %out: i1):
      %112 = arith.cmpi sle, %in, %c0_i64 : i64
      linalg.yield %112 : i1
    } -> tensor<12x12xi1>
    %49 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel"]} ins(%48, %cst_5 : tensor<12x12xi1>, tensor<12x12xi1>) outs(%47 : tensor<12x12xi1>) {
    ^bb0(%in: i1, %in_62: i1, %out: i1):
      %112 = arith.andi %in, %in_62 : i1
      linalg.yield %112 : i1
    } -> tensor<12x12xi1>
    %50 = tensor.empty() : tensor<12x12xf32>
    %51 = linalg.generic {indexing_maps = [#map5, #map13, #map13, #map5], iterator_types = ["parallel", "parallel"]} ins(%49, %cst_3, %cst_4 : tensor<12x12xi1>, tensor<f32>, tensor<f32>) outs(%50 : tensor<12x12xf32>) {
    ^bb0(%in: i1, %in_62: f32, %in_63: f32, %out: f32):
      %112 = arith.select %in, %in_62, %in_63 : f32
      linalg.yield %112 : f32
    } -> tensor<12x12xf32>
    %52 = tensor.empty() : tensor<1x4x4x12xf32>
    %transposed_39 = linalg.transpose ins(%collapsed_36 : tensor<1x4x12x4xf32>) outs(%52 : tensor<1x4x4x12xf32>) permutation = [0, 1, 3, 2] 
    %53 = linalg.generic {indexing_maps = [#map8, #map8], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%transposed_39 : tensor<1x4x4x12xf32>) outs(%52 : tensor<1x4x4x12xf32>) {
    ^bb0(%in: f32, %out: f32):
      %112 = arith.truncf %cst_14 : f64 to f32
      %113 = arith.mulf %in, %112 : f32
      linalg.yield %113 : f32
    } -> tensor<1x4x4x12xf32>
    %collapsed_40 = tensor.collapse_shape %44 [[0, 1], [2], [3]] : tensor<1x4x12x4xf32> into tensor<4x12x4xf32>
    %collapsed_41 = tensor.collapse_shape %53 [[0, 1], [2], [3]] : tensor<1x4x4x12xf32> into tensor<4x4x12xf32>
    %54 = tensor.empty() : tensor<4x12x12xf32>
    %55 = linalg.fill ins(%cst : f32) outs(%54 : tensor<4x12x12xf32>) -> tensor<4x12x12xf32>
    %56 = linalg.batch_matmul ins(%collapsed_40, %collapsed_41 : tensor<4x12x4xf32>, tensor<4x4x12xf32>) outs(%55 : tensor<4x12x12xf32>) -> tensor<4x12x12xf32>
    %expanded_42 = tensor.expand_shape %56 [[0, 1], [2], [3]] output_shape [1, 4, 12, 12] : tensor<4x12x12xf32> into tensor<1x4x12x12xf32>
    %57 = tensor.empty() : tensor<1x4x12x12xf32>
    %58 = linalg.generic {indexing_maps = [#map8, #map9, #map8], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_42, %51 : tensor<1x4x12x12xf32>, tensor<12x12xf32>) outs(%57 : tensor<1x4x12x12xf32>) {
    ^bb0(%in: f32, %in_62: f32, %out: f32):
      %112 = arith.addf %in, %in_62 : f32
      linalg.yield %112 : f32
    } -> tensor<1x4x12x12xf32>
    %59 = tensor.empty() : tensor<1x4x12xi64>
    %60 = linalg.fill ins(%c0_i64 : i64) outs(%59 : tensor<1x4x12xi64>) -> tensor<1x4x12xi64>
    %61 = tensor.empty() : tensor<1x4x12xf32>
    %62 = linalg.fill ins(%cst_0 : f32) outs(%61 : tensor<1x4x12xf32>) -> tensor<1x4x12xf32>
    %63:2 = linalg.generic {indexing_maps = [#map8, #map14, #map14], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%58 : tensor<1x4x12x12xf32>) outs(%62, %60 : tensor<1x4x12xf32>, tensor<1x4x12xi64>) {
    ^bb0(%in: f32, %out: f32, %out_62: i64):
      %112 = linalg.index 3 : index
      %113 = arith.index_cast %112 : index to i64
      %114 = arith.maximumf %in, %out : f32
      %115 = arith.cmpf ogt, %in, %out : f32
      %116 = arith.select %115, %113, %out_62 : i64
      linalg.yield %114, %116 : f32, i64
    } -> (tensor<1x4x12xf32>, tensor<1x4x12xi64>)
    %expanded_43 = tensor.expand_shape %63#0 [[0], [1], [2, 3]] output_shape [1, 4, 12, 1] : tensor<1x4x12xf32> into tensor<1x4x12x1xf32>
    %64 = linalg.generic {indexing_maps = [#map8, #map15, #map8], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%58, %expanded_43 : tensor<1x4x12x12xf32>, tensor<1x4x12x1xf32>) outs(%57 : tensor<1x4x12x12xf32>) {
    ^bb0(%in: f32, %in_62: f32, %out: f32):
      %112 = arith.subf %in, %in_62 : f32
      linalg.yield %112 : f32
    } -> tensor<1x4x12x12xf32>
    %65 = linalg.generic {indexing_maps = [#map8, #map8], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%64 : tensor<1x4x12x12xf32>) outs(%57 : tensor<1x4x12x12xf32>) {
    ^bb0(%in: f32, %out: f32):
      %112 = math.exp %in : f32
      linalg.yield %112 : f32
    } -> tensor<1x4x12x12xf32>
    %66 = tensor.empty() : tensor<1x4x12x1xf32>
    %67 = linalg.fill ins(%cst : f32) outs(%66 : tensor<1x4x12x1xf32>) -> tensor<1x4x12x1xf32>
    %68 = linalg.generic {indexing_maps = [#map8, #map15], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%65 : tensor<1x4x12x12xf32>) outs(%67 : tensor<1x4x12x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %112 = arith.addf %in, %out : f32
      linalg.yield %112 : f32
    } -> tensor<1x4x12x1xf32>
    %69 = linalg.generic {indexing_maps = [#map8, #map15, #map8], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%65, %68 : tensor<1x4x12x12xf32>, tensor<1x4x12x1xf32>) outs(%57 : tensor<1x4x12x12xf32>) {
    ^bb0(%in: f32, %in_62: f32, %out: f32):
      %112 = arith.divf %in, %in_62 : f32
      linalg.yield %112 : f32
    } -> tensor<1x4x12x12xf32>
    %70 = tensor.empty() : tensor<1x4x12x12xi1>
    %71 = linalg.generic {indexing_maps = [#map8, #map8], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%58 : tensor<1x4x12x12xf32>) outs(%70 : tensor<1x4x12x12xi1>) {
    ^bb0(%in: f32, %out: i1):
      %112 = arith.extf %in : f32 to f64
      %113 = arith.cmpf oeq, %112, %cst_13 : f64
      linalg.yield %113 : i1
    } -> tensor<1x4x12x12xi1>
    %72 = tensor.empty() : tensor<1x4x12x1xi1>
    %73 = linalg.fill ins(%true : i1) outs(%72 : tensor<1x4x12x1xi1>) -> tensor<1x4x12x1xi1>
    %74 = linalg.generic {indexing_maps = [#map8, #map15], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%71 : tensor<1x4x12x12xi1>) outs(%73 : tensor<1x4x12x1xi1>) {
    ^bb0(%in: i1, %out: i1):
      %112 = arith.andi %in, %out : i1
      linalg.yield %112 : i1
    } -> tensor<1x4x12x1xi1>
    %75 = linalg.generic {indexing_maps = [#map15, #map8, #map8, #map8], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%74, %cst_2, %69 : tensor<1x4x12x1xi1>, tensor<1x4x12x12xf32>, tensor<1x4x12x12xf32>) outs(%57 : tensor<1x4x12x12xf32>) {
    ^bb0(%in: i1, %in_62: f32, %in_63: f32, %out: f32):
      %112 = arith.select %in, %in_62, %in_63 : f32
      linalg.yield %112 : f32
    } -> tensor<1x4x12x12xf32>
    %collapsed_44 = tensor.collapse_shape %75 [[0, 1], [2], [3]] : tensor<1x4x12x12xf32> into tensor<4x12x12xf32>
    %collapsed_45 = tensor.collapse_shape %43 [[0, 1, 2], [3], [4]] : tensor<1x2x2x12x4xf32> into tensor<4x12x4xf32>
    %76 = tensor.empty() : tensor<4x12x4xf32>
    %77 = linalg.fill ins(%cst : f32) outs(%76 : tensor<4x12x4xf32>) -> tensor<4x12x4xf32>
    %78 = linalg.batch_matmul ins(%collapsed_44, %collapsed_45 : tensor<4x12x12xf32>, tensor<4x12x4xf32>) outs(%77 : tensor<4x12x4xf32>) -> tensor<4x12x4xf32>
    %expanded_46 = tensor.expand_shape %78 [[0, 1], [2], [3]] output_shape [1, 4, 12, 4] : tensor<4x12x4xf32> into tensor<1x4x12x4xf32>
    %79 = tensor.empty() : tensor<1x12x4x4xf32>
    %transposed_47 = linalg.transpose ins(%expanded_46 : tensor<1x4x12x4xf32>) outs(%79 : tensor<1x12x4x4xf32>) permutation = [0, 2, 1, 3] 
    %transposed_48 = linalg.transpose ins(%cst_12 : tensor<16x16xf32>) outs(%20 : tensor<16x16xf32>) permutation = [1, 0] 
    %collapsed_49 = tensor.collapse_shape %transposed_47 [[0, 1], [2, 3]] : tensor<1x12x4x4xf32> into tensor<12x16xf32>
    %80 = linalg.matmul ins(%collapsed_49, %transposed_48 : tensor<12x16xf32>, tensor<16x16xf32>) outs(%22 : tensor<12x16xf32>) -> tensor<12x16xf32>
    %expanded_50 = tensor.expand_shape %80 [[0, 1], [2]] output_shape [1, 12, 16] : tensor<12x16xf32> into tensor<1x12x16xf32>
    %81 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%1, %expanded_50 : tensor<1x12x16xf32>, tensor<1x12x16xf32>) outs(%0 : tensor<1x12x16xf32>) {
    ^bb0(%in: f32, %in_62: f32, %out: f32):
      %112 = arith.addf %in, %in_62 : f32
      linalg.yield %112 : f32
    } -> tensor<1x12x16xf32>
    %82 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%81 : tensor<1x12x16xf32>) outs(%0 : tensor<1x12x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %112 = math.fpowi %in, %c2_i64 : f32, i64
      linalg.yield %112 : f32
    } -> tensor<1x12x16xf32>
    %83 = linalg.generic {indexing_maps = [#map1, #map6], iterator_types = ["parallel", "parallel", "reduction"]} ins(%82 : tensor<1x12x16xf32>) outs(%13 : tensor<1x12x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %112 = arith.addf %in, %out : f32
      linalg.yield %112 : f32
    } -> tensor<1x12x1xf32>
    %84 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%83 : tensor<1x12x1xf32>) outs(%12 : tensor<1x12x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %112 = arith.divf %in, %cst_22 : f32
      linalg.yield %112 : f32
    } -> tensor<1x12x1xf32>
    %85 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%84 : tensor<1x12x1xf32>) outs(%12 : tensor<1x12x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %112 = arith.truncf %cst_19 : f64 to f32
      %113 = arith.addf %in, %112 : f32
      linalg.yield %113 : f32
    } -> tensor<1x12x1xf32>
    %86 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%85 : tensor<1x12x1xf32>) outs(%12 : tensor<1x12x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %112 = math.rsqrt %in : f32
      linalg.yield %112 : f32
    } -> tensor<1x12x1xf32>
    %87 = linalg.generic {indexing_maps = [#map1, #map6, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%81, %86 : tensor<1x12x16xf32>, tensor<1x12x1xf32>) outs(%0 : tensor<1x12x16xf32>) {
    ^bb0(%in: f32, %in_62: f32, %out: f32):
      %112 = arith.mulf %in, %in_62 : f32
      linalg.yield %112 : f32
    } -> tensor<1x12x16xf32>
    %88 = linalg.generic {indexing_maps = [#map1, #map7, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%87, %cst_11 : tensor<1x12x16xf32>, tensor<16xf32>) outs(%0 : tensor<1x12x16xf32>) {
    ^bb0(%in: f32, %in_62: f32, %out: f32):
      %112 = arith.mulf %in, %in_62 : f32
      linalg.yield %112 : f32
    } -> tensor<1x12x16xf32>
    %89 = tensor.empty() : tensor<16x5xf32>
    %transposed_51 = linalg.transpose ins(%cst_10 : tensor<5x16xf32>) outs(%89 : tensor<16x5xf32>) permutation = [1, 0] 
    %collapsed_52 = tensor.collapse_shape %88 [[0, 1], [2]] : tensor<1x12x16xf32> into tensor<12x16xf32>
    %90 = tensor.empty() : tensor<12x5xf32>
    %91 = linalg.fill ins(%cst : f32) outs(%90 : tensor<12x5xf32>) -> tensor<12x5xf32>
    %92 = linalg.matmul ins(%collapsed_52, %transposed_51 : tensor<12x16xf32>, tensor<16x5xf32>) outs(%91 : tensor<12x5xf32>) -> tensor<12x5xf32>
    %expanded_53 = tensor.expand_shape %92 [[0, 1], [2]] output_shape [1, 12, 5] : tensor<12x5xf32> into tensor<1x12x5xf32>
    %93 = tensor.empty() : tensor<1x12x5xf32>
    %94 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_53 : tensor<1x12x5xf32>) outs(%93 : tensor<1x12x5xf32>) {
    ^bb0(%in: f32, %out: f32):
      %112 = arith.negf %in : f32
      %113 = math.exp %112 : f32
      %114 = arith.addf %113, %cst_1 : f32
      %115 = arith.divf %cst_1, %114 : f32
      linalg.yield %115 : f32
    } -> tensor<1x12x5xf32>
    %95 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_53, %94 : tensor<1x12x5xf32>, tensor<1x12x5xf32>) outs(%93 : tensor<1x12x5xf32>) {
    ^bb0(%in: f32, %in_62: f32, %out: f32):
      %112 = arith.mulf %in, %in_62 : f32
      linalg.yield %112 : f32
    } -> tensor<1x12x5xf32>
    %transposed_54 = linalg.transpose ins(%cst_9 : tensor<5x16xf32>) outs(%89 : tensor<16x5xf32>) permutation = [1, 0] 
    %96 = linalg.matmul ins(%collapsed_52, %transposed_54 : tensor<12x16xf32>, tensor<16x5xf32>) outs(%91 : tensor<12x5xf32>) -> tensor<12x5xf32>
    %expanded_55 = tensor.expand_shape %96 [[0, 1], [2]] output_shape [1, 12, 5] : tensor<12x5xf32> into tensor<1x12x5xf32>
    %97 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%95, %expanded_55 : tensor<1x12x5xf32>, tensor<1x12x5xf32>) outs(%93 : tensor<1x12x5xf32>) {
    ^bb0(%in: f32, %in_62: f32, %out: f32):
      %112 = arith.mulf %in, %in_62 : f32
      linalg.yield %112 : f32
    } -> tensor<1x12x5xf32>
    %98 = tensor.empty() : tensor<5x16xf32>
    %transposed_56 = linalg.transpose ins(%cst_8 : tensor<16x5xf32>) outs(%98 : tensor<5x16xf32>) permutation = [1, 0] 
    %collapsed_57 = tensor.collapse_shape %97 [[0, 1], [2]] : tensor<1x12x5xf32> into tensor<12x5xf32>
    %99 = linalg.matmul ins(%collapsed_57, %transposed_56 : tensor<12x5xf32>, tensor<5x16xf32>) outs(%22 : tensor<12x16xf32>) -> tensor<12x16xf32>
    %expanded_58 = tensor.expand_shape %99 [[0, 1], [2]] output_shape [1, 12, 16] : tensor<12x16xf32> into tensor<1x12x16xf32>
    %100 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%81, %expanded_58 : tensor<1x12x16xf32>, tensor<1x12x16xf32>) outs(%0 : tensor<1x12x16xf32>) {
    ^bb0(%in: f32, %in_62: f32, %out: f32):
      %112 = arith.addf %in, %in_62 : f32
      linalg.yield %112 : f32
    } -> tensor<1x12x16xf32>
    %101 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%100 : tensor<1x12x16xf32>) outs(%0 : tensor<1x12x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %112 = math.fpowi %in, %c2_i64 : f32, i64
      linalg.yield %112 : f32
    } -> tensor<1x12x16xf32>
    %102 = linalg.generic {indexing_maps = [#map1, #map6], iterator_types = ["parallel", "parallel", "reduction"]} ins(%101 : tensor<1x12x16xf32>) outs(%13 : tensor<1x12x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %112 = arith.addf %in, %out : f32
      linalg.yield %112 : f32
    } -> tensor<1x12x1xf32>
    %103 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%102 : tensor<1x12x1xf32>) outs(%12 : tensor<1x12x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %112 = arith.divf %in, %cst_22 : f32
      linalg.yield %112 : f32
    } -> tensor<1x12x1xf32>
    %104 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%103 : tensor<1x12x1xf32>) outs(%12 : tensor<1x12x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %112 = arith.truncf %cst_19 : f64 to f32
      %113 = arith.addf %in, %112 : f32
      linalg.yield %113 : f32
    } -> tensor<1x12x1xf32>
    %105 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%104 : tensor<1x12x1xf32>) outs(%12 : tensor<1x12x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %112 = math.rsqrt %in : f32
      linalg.yield %112 : f32
    } -> tensor<1x12x1xf32>
    %106 = linalg.generic {indexing_maps = [#map1, #map6, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%100, %105 : tensor<1x12x16xf32>, tensor<1x12x1xf32>) outs(%0 : tensor<1x12x16xf32>) {
    ^bb0(%in: f32, %in_62: f32, %out: f32):
      %112 = arith.mulf %in, %in_62 : f32
      linalg.yield %112 : f32
    } -> tensor<1x12x16xf32>
    %107 = linalg.generic {indexing_maps = [#map1, #map7, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%106, %cst_7 : tensor<1x12x16xf32>, tensor<16xf32>) outs(%0 : tensor<1x12x16xf32>) {
    ^bb0(%in: f32, %in_62: f32, %out: f32):
      %112 = arith.mulf %in, %in_62 : f32
      linalg.yield %112 : f32
    } -> tensor<1x12x16xf32>
    %108 = tensor.empty() : tensor<16x7xf32>
    %transposed_59 = linalg.transpose ins(%cst_6 : tensor<7x16xf32>) outs(%108 : tensor<16x7xf32>) permutation = [1, 0] 
    %collapsed_60 = tensor.collapse_shape %107 [[0, 1], [2]] : tensor<1x12x16xf32> into tensor<12x16xf32>
    %109 = tensor.empty() : tensor<12x7xf32>
    %110 = linalg.fill ins(%cst : f32) outs(%109 : tensor<12x7xf32>) -> tensor<12x7xf32>
    %111 = linalg.matmul ins(%collapsed_60, %transposed_59 : tensor<12x16xf32>, tensor<16x7xf32>) outs(%110 : tensor<12x7xf32>) -> tensor<12x7xf32>
    %expanded_61 = tensor.expand_shape %111 [[0, 1], [2]] output_shape [1, 12, 7] : tensor<12x7xf32> into tensor<1x12x7xf32>
    return %expanded_61 : tensor<1x12x7xf32>
  }
}

{-#
  dialect_resources: {
    builtin: {
      torch_tensor_7_16_torch.float32_1: "0x04000000CC0696BD969B733EB27542BEEA080BBEC2F67A3EA0642B3C287BFDBD8065A43C60C699BC584866BE801EA23D4C0B093E803C663B9AE552BE900899BD480DBC3D403EABBD02D54E3E50C99FBDB0A56BBDFEF7113EA08CDE3C6044133E30452EBE04E83B3E8443A2BD80F3193B3E21003EC4E69C3DC467BEBD5AC5143E7050BBBC184EEB3D1C6897BD40658D3CA855A9BD10EF143E22B7433EF850713D8E2B623EA834AB3D6E7158BE4A1114BEB0298FBC06A84DBE7C5EC53D74D2693E70A119BE68399CBD9E7657BEB86B833D0060F63B3EE6333EA473C6BD40A35DBE0E28663E00CA7C3E8A5531BE88ADC1BD948083BD3ABC24BE0CEE71BE60273A3E2863143E00A3EA3D8A6963BEC0C860BDEC1B1D3E049E023ED07977BD0051443BC01DE13D626D603E9A546E3EDAF26D3EEC09643E90AFEDBD08CF713EE0801DBC080D82BD5E02593EC0F6FFBC88740C3D902D9BBC545835BE5C5542BEBECB623EAE10723E205FC5BCE00325BE22297C3E3884673D7A32093E72CD58BEC893D03D3082A23CE0CA623E8073433E2AB3163E749D823D7852C53D2411B03D72656F3E5A4C0E3E0012C6BBC08D923DDCFDBDBD02454C3ED8E800BE20D0693E1E25423E24DC44BE",
      torch_tensor_16_torch.float32_2: "0x0400000090A8623F6360833F9447603FA211673F7B52803FE39A633FA49E953F5FBE843F5943823F5A2F813F74DA593FDE2F743FD92C753FC0818A3F1846783FC1E9803F",
      torch_tensor_16_5_torch.float32: "0x04000000765485BDCD90AD3EFB662E3E242C69BEAD7DADBB3356BABEAEAA91BEA808BFBEF34BA7BE04BEDD3ECA0D8EBD6ADB7BBE38E65FBED6AAB7BEAA6177BE6FAD373D6B2C8CBEECFE8E3D2AE5263E9FD0A23E34AF81BE014CBBBD7A4BE23E515745BD4444CCBE033D16BE3734133EDFF9A3BD1EA0213EF081B4BEC521603EF65F49BE6FC92BBEB6AFEBBCD98ADE3E29DAAF3EF6E6C43E2E2C84BDF44AA13E1FE1BABB14FB9B3EA8A71CBE6F4165BE3408A4BE4D29B2BC571047BE9F2CB53E12D56DBE21BE713E71166CBE7F337A3E3A07823C7CAA88BEE872B73CB04BD4BE14B22ABD30E287BEA910CFBE4B65CE3E5166883E265EDC3D4711873E5EC5B7BEB47270BE393059BED6988EBECA31BDBDE7E6A93E0FD890BE80C3AF3D5684473E177568BE23173C3EE7EDFCBD0DAB4A3EECE5CE3EDDA6F23DE98E93BEFA3E92BEC760B33E",
      torch_tensor_5_16_torch.float32_1: "0x04000000D215183E60244D3CC0FA333E90D3713D9C0BD8BDA432E03DA8C5733E8CA02CBE662E783E0A2A533E6CBB563EE07B5E3D04D4A1BD7489ABBD886D04BDB0AD29BE1034BE3D6CB6F33DC06F55BD82B0633E50A8AD3D04B27D3E5CD5683EA8703FBD669F51BEF03929BE2ABB763EEA661BBE0004903C1460253E5CB2A5BDF034133E1EE92BBE084D4B3D6CBCEA3DC29F55BED431BBBDC26701BEE0603DBD42D6753E1252623EBA75033EC892F0BDF07D41BD90F4BF3C9611773E141056BE381076BD0E975ABE04B5BE3DF0F005BD0435E5BD5E176ABEECBDA8BD22A35DBEEC66AB3DB41269BE423103BE64807F3EE44677BE14A452BE104744BE5E2224BEAC9B4A3EC069A4BD20D945BE0A56103EE2F65E3E9C36FE3DC087BF3CA0FA3E3DF0E1C53D045F623E2CD0123EF87C47BE248246BE3E4621BE6422DFBD6614633E40257FBE",
      torch_tensor_5_16_torch.float32: "0x040000004034E6BB5475EB3DA8A3FEBDB8B571BD8870FEBD585DC03D127F23BE2C79E8BDB87A7A3D60753B3C30AFF4BDA0B0A83CC05B35BD6A7176BEEE6C6F3EB20D51BEE0BCA73D8602103E88103BBD34B68DBD8E066C3EE084403E80A732BDE8D6B5BDF2D908BE9A0A523EE0870BBEF04BB93D08308D3DCE8A453E007CE9BA8477033EC6970DBE6CACCABDCC1AC2BD822E76BED00966BE0033FE3D547BE43D746281BD2AF769BEDE812D3EB4C1773EBA6D7F3EC4D4D4BDF86A5DBE2A61253EDCF9013E3655483EB016863DF0AA2D3ED8A8E2BDCACC4FBE00AE1F3DAA705A3ECEB91FBEDA36053EF430D7BDF63F1EBE00528DBD5AED7B3E22825C3E946E513E4EBE753E202D09BC9CE7E03D08CBAF3DB410D5BDACE7273EA06505BD30CFBCBD30BE103E047C753E8E8D453E803B513C36D327BE8E6C6D3EECE3D43D64F3523E102D97BD",
      torch_tensor_16_torch.float32_1: "0x0400000075B1913FA5F8653FA6E9843FC964663FFB60933F72EC813FB2F0773F704F563F5D407B3F9619813FA69F883F628B8F3F2F01453F1365593FC96E813F016B663F",
      torch_tensor_16_16_torch.float32_1: "0x0400000020752CBCB84B753E1AAE15BEEA2022BEE015DC3DEAD734BE16D16EBE2CD3103E206302BD48AF073EF0E554BDBAC0703E644AD3BDD2BE543E949D11BE58F5B3BDF4BD453E20F6E23DB4C23ABE60FACBBC2221173EE03E46BEE0C8403CECCC1C3E907743BED4C3C23DF88177BE046A6FBE802BB43B7A5767BE400CECBDAE7D173E902243BDC8392BBE58ED503EB82D7ABEF820513DA08527BEB08B0EBEA027A63C2A277C3E14ED87BD024E7EBE00CA5C3D90CFCBBDF2072BBEAC48CA3D6835CA3DEC5DFDBDC0D4853C087A143D504D973C382D1EBD98F213BEE2570D3EB270413EEC074F3EF49A543E607D46BC6026A43C549ECBBD40D472BD9442833D9071A33C048537BE782B37BE7446ED3D2C49433E40506D3E7E661C3EAC4B133E889BD63D14902C3ECC4A83BD18551E3D84AECE3D3031583D90A9B0BC208B06BE602436BE787013BE7079C63C00D46B3EB87EBABD6E9050BEF4F15EBE44BEC73D08B4D43DE4DF08BE48A5C6BD8442463EC2B558BE1057163EA089093C90A8F0BD5259773ECC3E28BECED4663E242E543E50F5AF3D2EC4263EB875783D385F563EE06A643D0AA97FBE1C08D8BD7876153D5AEE333E7C5294BD00DFB93D047CC33D80F1B03C32F352BE7446753E70E3F6BD5091213D442FC7BD58AD823D560B2D3E08DC573DB066DEBD40E6623D529551BE5C35573E664E093EFA72373E6C78813DBAED7EBE64F635BED48E68BEE884153EB214783EEA98263E0C65CEBD92C01BBECE3914BEDCBF703EC41B76BE2C577ABE30A9D43D90DBC13CA4E003BE26100FBE522176BE98DDAD3D1C34FABD20FC8EBD7643063E50CB4EBEACBA7B3E94FDA6BD045B233E70E627BD2463353E2A110EBED8B060BDBCB7FDBD6860283E5EA477BE088C293E00C8723946F622BED4D293BDB0D9F2BC08349ABD847CE1BD18E789BD30A0D53C784EF83D687E293D8A7B393E405828BDCE3D583EF8B0AB3D00E835BED4F32B3E606B593DF020243E62AF73BE40A484BC16C26DBEE03C6CBD50FFB8BDE6121EBE40C320BEE898453EDCE8E73DE8DFAD3D008F383DD8FAA13DB014C43C2A7E77BEF0B3E7BCC0D2223EC86803BD300C333D605A1D3E0653163ED02233BD6E64503E8870BEBD001FE4BBB6594E3E300B0FBE3C9A7D3E9873F6BDA48502BE6E18453E521C373E945934BECC07F23DA0B1933C4A6744BE9C8495BDF07BB13C7CD06CBEB09686BCB003803DA8FF3E3E944D363E3C88D5BD84F5F23D2861593D809A68BC9E1A43BE485B913D5A126B3E5E8957BE902C8EBCDC73153E0044AC39C499373EC0610EBD14A90DBE66B351BE84E719BE880E42BD8A301F3E6019D43C8022AC3C66364E3E483F863DFC96D7BD4CB1ABBD6A97113E805FCDBDD092A53DCCC5DA3DE0D82B3CF8B833BEC6A714BE68DF6BBE9075A63D008872BE366610BE04C8713E",
      torch_tensor_8_16_torch.float32_1: "0x0400000002D1533EB6B14DBEB69935BEC076463C207C12BE6E7851BE6CADA03DB4B484BDAC78B13DC872CB3DA8F6633E8419183E22A770BEF04E4EBEF42D4D3E848359BEA8781C3E8E051CBEFE6A4D3E60C7103E6CB430BEC0A653BE087CE0BD1812EABD264A11BE8466343EB07C7B3D208400BDD0138BBCA40ED53DC0C1D13CB094FDBC9E50633EE8A7303ED09A8F3CCCAC303EB8B55CBD2E4942BE5208133E48020E3E400D263DE8695ABEC4CA383E40AA913C54D106BE76DA61BE8AEF04BE9E0A6E3E0CF2FD3D6CDDE1BDE4DA533EAC485B3EB87AFE3D207FB6BCC8E76F3E68AB67BD389DD5BDB0A5F43D6C9BD5BD72DA3A3E242C08BE5C85BC3D76533CBE50922ABE60A14F3C34CC493E163444BE782B88BD4029EE3DB84637BD5AA165BE006F3CBB04D1B3BD90BF733D28ADD23DF0D299BD7A2603BE085C173E308B5CBE1CE2F93DA8C3CD3DE82CCB3D209B32BE08E4CD3DB2C918BEE0CEE43DD862EEBD4062613D80AE333BF80331BE00E46DBE608A71BDE264183E48416ABDB06784BD08F31EBE465439BE7048A6BC84E785BDC035B73D62AC783E200530BE583C9DBD58F2BD3DC4CA2CBEE0F8E2BC80D101BE44D1223EC0FAE3BCF044A83C283B183EDE5C35BEEC440ABE0070463E006ECB3DE071B7BC463D7F3EEE68603E286EDDBD901D8FBDA4E6DD3DBAA11FBE56797EBE343801BEA6666ABEB0DE213EF096813D546E57BE",
      torch_tensor_8_16_torch.float32: "0x040000008020DFBD080D33BED677023E087B763D10843A3E60CA4EBDBC4C1E3EF82473BD62F21EBE2C536C3E70E17B3E6A71363E78E78EBDD063DFBD2008353D58E0003EB8A9023D5094D73DA09A43BC6233113E48E4F23D70D1113EB05699BC9CB052BE0E8F20BEA889FFBD2480583E60874EBCC88409BD24BCC7BD60FF2BBC0A8D2C3E00C068387CB7ED3D3A99123EE05479BEA80EB33DECC97F3EA4B801BE2062263D803BB83BCC50073E68B6763D7C5440BEE8383FBE6C965A3EA0AEDCBD060061BE4ABF65BE0AB85EBEB8CD693D00C1EC3C249C14BE205467BD2814203DA081BA3D7409D13D6ECF09BE583B713E6E256F3EB2CD35BE9C496D3E74B851BE84F628BE102C4A3D9428963DACA2633E00F1A43A5CE62C3EDCABAABDBA8A3ABE101FC7BC28E7043E8005C8BD3AB158BED6F01BBE3066353DA81B743E0070623C585E4EBE7C37E5BD2AEC013EF822A1BDA8370ABD5E723E3E2C32BC3D48B81C3E90D3653E4C84A8BD5875143D061240BE8E757E3E96992BBE0E56733E2A636A3EF0C35E3DDA555DBE200304BCA802D3BDB4F49C3D64C3103EC6910E3EF86DA43D5E2944BEBE5357BE202C973D60A460BD3C4BEF3D94CF783E489C9A3D4A281ABE14D993BDA2BC1D3EA07DC23CCE902E3E006175BE805BFCBCCCB1F9BD3089423E30F4DF3D784A09BD3C866DBED073F1BCF8884F3E0068DBBBC0A429BC5EBD6CBE96AD4A3E",
      torch_tensor_16_16_torch.float32: "0x04000000E80A743DC01ACA3B48F7563DEE5C40BE68F908BEF4A2F0BD24DB10BE7094353DE0934C3DB0BBD4BD6AE2263E08700EBE78BC4E3D143392BDBA0F5EBEA0B126BE1024D13DAC9CCA3D704C1EBE98A89FBD0C526FBE6C9C093E565C5D3EBC6FA73D52661EBE9A07073E6473543EC87E51BDE8DB27BD7436B13D60BC033DD038A9BD62A96DBEC68133BE00D15D3C40B95BBC4C65533EA02E0C3CE8D483BDD6227ABEA85F6BBE6CAFD43D0E05643E809778BB2CD064BEBCC7B53D8A81503E386F29BE30CD86BD903EAC3CAEFE11BEC65F6DBE6824E03D801152BE108480BD84EE07BEAC85403E10B7453D3070ED3DF45A2DBED0BB573E207AB63C8AFC0DBE60F985BC244335BE80113DBCE2F30E3E8C2AE6BDCC63583EA8539C3D782F33BD14F09F3D88A53CBD78FE6DBD94F427BE982A153ED2AC193EA04FAF3DB867173E6CC17F3E5E0D713EB60C77BE487E693D905AAFBC54DAAD3DE09746BD6CE78E3D688B6BBEA403EA3D96F2753ED02738BD10A14BBE3ECE54BE587144BD80D577BBE069E43C587B003DB8D3403E40C639BDCC1C923D120E08BE6EC97B3EE479C43DA0030EBD9848283EB43DB53D209D2F3DE42497BDA8C2003DA06B923CAE9115BE00736A3B789C5F3DAAA117BED8E9363DB8F2A9BD82FB54BEC85019BEE02C4BBE28FC6C3D46981C3E9ABC683E40027B3ED4A9C93D5C6BFA3D08A12EBD42A1533E4CBFC3BD60218BBD3066AABD4A9C2BBEE44C45BE98BE50BDD2E64E3E580FFFBD406968BEF0F669BDBEF8673E80FB763D907481BC685C92BD24C7603EEEFD75BE920F113E34048B3DAA7A203EAA6014BEFCDFA7BD842BD7BD1C67783E803904BDA01B74BE325D003E886F453D701F0C3DBEB62ABE56D06FBEA6F7673E02CE40BE709542BD00AE3BBD9A33123E8CD157BEEC8512BE043009BE981401BEF49B1C3E36B41C3E7042E83D10F8503E12422ABE001F82BA382B4FBE004E00BAA8CC5ABE049276BE663F213E2893E2BD602DA3BC90EA96BDF20B4BBEF050CCBC7844173D008D4C3EB8CCD9BDCEE9733E5010EDBD60DD233E809B5F3EC0C2D33CDCD7AFBD5C5E3D3E205995BD7830DBBD407DB2BD02CB50BE50A5CCBCF64350BE2AA7273EE08E76BE2E303EBE58004B3DD45E1E3E40D9743EB0794FBE484C523E8A60333EC8F027BEAC75D53D8C0690BDC460933D86A162BE24FD12BE2C4C22BE60B247BD000215BC4048B0BBF23A17BE70E1FC3DDE0B023E8C9160BE9C4A6DBE800A5CBD386D8E3DA2FB42BE2098BCBCC077683C669C43BEA6B96F3ED268393E9A88433EA0C7D0BD7AF736BE7078FB3C62BC153EA877FA3DC01426BE42F8483ED4BAF2BD280533BDF08E8FBD98C3F33D42DB6EBE060323BE50D0F7BCE237303E188E76BDBC9E203E9C706A3E80ED193CAA6C2CBE004CB63A4036C73D78145ABD0CF379BE345B183E",
      torch_tensor_16_torch.float32: "0x04000000475E833F02FA6C3FB539773F02504D3F8957803FC6666A3F2ABF8E3FA256703FD421823F844B693FE357573FAE178A3F4A2A763FA9AE733F2CCB6B3F86F26E3F",
      torch_tensor_2_torch.float32: "0x040000000000803F0AD7233C",
      torch_tensor_7_16_torch.float32: "0x0400000056F451BF2390CA3ED51E663F39B7B1BF01012BBE2DFF913E931E24BF95C664BFED316D3F571709BFBA7194BFAC99EBBED162353FF8A1813F28ED6B3E8A8A8B3FC194CABF9B2DA6BE3493F63F4CF7A8BEEB344B3EEA35483F7B01853F937939BF565D56BE78825CBED469E8BF8EC3B0BE41EF03C0DD912C3F6563A9BFE50CAEBFDA10ABBDCB54C0BC748F323E0C181340A404753F277029BF6D1554BFDB0D1BBF315CB3BF1A0FA63F1A0AD23F6D4187BFC2EE85BE621180BE8249003F7D23853E207836BE09DD84BEB25F6DBC5C8DC4BEBAD53DC044C087BFC6349EBE832D6F3F9AE9CF3FF56ECD3A5605E0BE36F206C09B8F923FA1ADC3BE6CE5B5BEC312413FE76F083E30ED3A3EF2BE03BFCDEE4C3FD7209FBF4CDFDBBF731715BF3B871DBF9BC362BFE637993F3057EF3EFF6413BE88DF4FBF79EDC5BEF1BB84BF438F173F817F10C03400CF3EA37B123FB8999D3E12EB00BE383175BFCF3BE03FD4C47A3FCC02CCBEDA5231BEF2C2413F52797C3F1D4953BF8B34273E4753003F9CD4B53F326D09BFA631543F0B4E873F9A668DBF8F80023E3C2E9BBCCD85D0BE3A1D083F216CC43E0FCFF43FDF749BBFA6B4E23FC3CF013F545E21BE9DAEEB3E559C93BF"
    }
  }
#-}
