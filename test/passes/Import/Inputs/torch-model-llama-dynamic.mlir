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
#map10 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>
#map11 = affine_map<(d0, d1) -> ()>
#map12 = affine_map<(d0, d1) -> (0, d1)>
#map13 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
#map14 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, 0)>
#map15 = affine_map<(d0, d1, d2, d3) -> ()>
module {
  func.func @main(%arg0: tensor<1x?xi64>) -> tensor<1x?x7xf32> {
    %c2_i64 = arith.constant 2 : i64
    %c0_i64 = arith.constant 0 : i64
    %c1_i64 = arith.constant 1 : i64
    %c1 = arith.constant 1 : index
    %c0 = arith.constant 0 : index
    %c7 = arith.constant 7 : index
    %cst = arith.constant 0.000000e+00 : f32
    %c4_i64 = arith.constant 4 : i64
    %cst_0 = arith.constant 0xFF800000 : f32
    %true = arith.constant true
    %cst_1 = arith.constant 1.000000e+00 : f32
    %cst_2 = arith.constant dense<0.000000e+00> : tensor<f32>
    %cst_3 = arith.constant dense<0xFF800000> : tensor<f32>
    %cst_4 = arith.constant dense<true> : tensor<i1>
    %cst_5 = arith.constant dense_resource<torch_tensor_7_16_torch.float32_1> : tensor<7x16xf32>
    %cst_6 = arith.constant dense_resource<torch_tensor_16_torch.float32_4> : tensor<16xf32>
    %cst_7 = arith.constant dense_resource<torch_tensor_16_5_torch.float32_1> : tensor<16x5xf32>
    %cst_8 = arith.constant dense_resource<torch_tensor_5_16_torch.float32_3> : tensor<5x16xf32>
    %cst_9 = arith.constant dense_resource<torch_tensor_5_16_torch.float32_2> : tensor<5x16xf32>
    %cst_10 = arith.constant dense_resource<torch_tensor_16_torch.float32_3> : tensor<16xf32>
    %cst_11 = arith.constant dense_resource<torch_tensor_16_16_torch.float32_3> : tensor<16x16xf32>
    %cst_12 = arith.constant dense_resource<torch_tensor_8_16_torch.float32_3> : tensor<8x16xf32>
    %cst_13 = arith.constant dense_resource<torch_tensor_8_16_torch.float32_2> : tensor<8x16xf32>
    %cst_14 = arith.constant dense_resource<torch_tensor_16_16_torch.float32_2> : tensor<16x16xf32>
    %cst_15 = arith.constant dense_resource<torch_tensor_16_torch.float32_2> : tensor<16xf32>
    %cst_16 = arith.constant dense_resource<torch_tensor_16_5_torch.float32> : tensor<16x5xf32>
    %cst_17 = arith.constant dense_resource<torch_tensor_5_16_torch.float32_1> : tensor<5x16xf32>
    %cst_18 = arith.constant dense_resource<torch_tensor_5_16_torch.float32> : tensor<5x16xf32>
    %cst_19 = arith.constant dense_resource<torch_tensor_16_torch.float32_1> : tensor<16xf32>
    %cst_20 = arith.constant dense_resource<torch_tensor_16_16_torch.float32_1> : tensor<16x16xf32>
    %cst_21 = arith.constant 0xFFF0000000000000 : f64
    %cst_22 = arith.constant 0.70710678118654757 : f64
    %cst_23 = arith.constant dense_resource<torch_tensor_8_16_torch.float32_1> : tensor<8x16xf32>
    %cst_24 = arith.constant dense_resource<torch_tensor_8_16_torch.float32> : tensor<8x16xf32>
    %cst_25 = arith.constant dense_resource<torch_tensor_16_16_torch.float32> : tensor<16x16xf32>
    %cst_26 = arith.constant dense_resource<torch_tensor_16_torch.float32> : tensor<16xf32>
    %cst_27 = arith.constant 1.000000e-05 : f64
    %cst_28 = arith.constant dense_resource<torch_tensor_2_torch.float32> : tensor<2xf32>
    %cst_29 = arith.constant dense_resource<torch_tensor_7_16_torch.float32> : tensor<7x16xf32>
    %cst_30 = arith.constant 1.600000e+01 : f32
    %c2 = arith.constant 2 : index
    %dim = tensor.dim %arg0, %c1 : tensor<1x?xi64>
    %0 = arith.index_cast %dim : index to i64
    %1 = tensor.empty(%dim) : tensor<1x?x16xf32>
    %2 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg0 : tensor<1x?xi64>) outs(%1 : tensor<1x?x16xf32>) {
    ^bb0(%in: i64, %out: f32):
      %214 = arith.index_cast %in : i64 to index
      %215 = linalg.index 2 : index
      %216 = arith.cmpi slt, %214, %c7 : index
      cf.assert %216, "index must be smaller than dim size"
      %217 = arith.cmpi sge, %in, %c0_i64 : i64
      cf.assert %217, "index must be larger or equal to 0"
      %extracted = tensor.extract %cst_29[%214, %215] : tensor<7x16xf32>
      linalg.yield %extracted : f32
    } -> tensor<1x?x16xf32>
    %3 = tensor.empty(%dim) : tensor<?xi64>
    %4 = linalg.generic {indexing_maps = [#map2], iterator_types = ["parallel"]} outs(%3 : tensor<?xi64>) {
    ^bb0(%out: i64):
      %214 = linalg.index 0 : index
      %215 = arith.index_cast %214 : index to i64
      linalg.yield %215 : i64
    } -> tensor<?xi64>
    %5 = tensor.empty(%dim) : tensor<?xf32>
    %6 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel"]} ins(%4 : tensor<?xi64>) outs(%5 : tensor<?xf32>) {
    ^bb0(%in: i64, %out: f32):
      %214 = arith.sitofp %in : i64 to f32
      linalg.yield %214 : f32
    } -> tensor<?xf32>
    %expanded = tensor.expand_shape %6 [[0, 1]] output_shape [%dim, 1] : tensor<?xf32> into tensor<?x1xf32>
    %7 = tensor.empty(%dim) : tensor<?x2xf32>
    %8 = linalg.generic {indexing_maps = [#map3, #map4, #map5], iterator_types = ["parallel", "parallel"]} ins(%expanded, %cst_28 : tensor<?x1xf32>, tensor<2xf32>) outs(%7 : tensor<?x2xf32>) {
    ^bb0(%in: f32, %in_118: f32, %out: f32):
      %214 = arith.mulf %in, %in_118 : f32
      linalg.yield %214 : f32
    } -> tensor<?x2xf32>
    %concat = tensor.concat dim(1) %8, %8 : (tensor<?x2xf32>, tensor<?x2xf32>) -> tensor<?x4xf32>
    %dim_31 = tensor.dim %8, %c0 : tensor<?x2xf32>
    %9 = tensor.empty(%dim_31) : tensor<?x4xf32>
    %10 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel"]} ins(%concat : tensor<?x4xf32>) outs(%9 : tensor<?x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %214 = math.cos %in : f32
      linalg.yield %214 : f32
    } -> tensor<?x4xf32>
    %11 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel"]} ins(%concat : tensor<?x4xf32>) outs(%9 : tensor<?x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %214 = math.sin %in : f32
      linalg.yield %214 : f32
    } -> tensor<?x4xf32>
    %12 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%2 : tensor<1x?x16xf32>) outs(%1 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %214 = math.fpowi %in, %c2_i64 : f32, i64
      linalg.yield %214 : f32
    } -> tensor<1x?x16xf32>
    %13 = tensor.empty(%dim) : tensor<1x?x1xf32>
    %14 = linalg.fill ins(%cst : f32) outs(%13 : tensor<1x?x1xf32>) -> tensor<1x?x1xf32>
    %15 = linalg.generic {indexing_maps = [#map1, #map6], iterator_types = ["parallel", "parallel", "reduction"]} ins(%12 : tensor<1x?x16xf32>) outs(%14 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %214 = arith.addf %in, %out : f32
      linalg.yield %214 : f32
    } -> tensor<1x?x1xf32>
    %16 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%15 : tensor<1x?x1xf32>) outs(%13 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %214 = arith.divf %in, %cst_30 : f32
      linalg.yield %214 : f32
    } -> tensor<1x?x1xf32>
    %17 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%16 : tensor<1x?x1xf32>) outs(%13 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %214 = arith.truncf %cst_27 : f64 to f32
      %215 = arith.addf %in, %214 : f32
      linalg.yield %215 : f32
    } -> tensor<1x?x1xf32>
    %18 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%17 : tensor<1x?x1xf32>) outs(%13 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %214 = math.rsqrt %in : f32
      linalg.yield %214 : f32
    } -> tensor<1x?x1xf32>
    %19 = linalg.generic {indexing_maps = [#map1, #map6, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%2, %18 : tensor<1x?x16xf32>, tensor<1x?x1xf32>) outs(%1 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_118: f32, %out: f32):
      %214 = arith.mulf %in, %in_118 : f32
      linalg.yield %214 : f32
    } -> tensor<1x?x16xf32>
    %20 = linalg.generic {indexing_maps = [#map1, #map7, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%19, %cst_26 : tensor<1x?x16xf32>, tensor<16xf32>) outs(%1 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_118: f32, %out: f32):
      %214 = arith.mulf %in, %in_118 : f32
      linalg.yield %214 : f32
    } -> tensor<1x?x16xf32>
    %21 = tensor.empty() : tensor<16x16xf32>
    %transposed = linalg.transpose ins(%cst_25 : tensor<16x16xf32>) outs(%21 : tensor<16x16xf32>) permutation = [1, 0] 
    %collapsed = tensor.collapse_shape %20 [[0, 1], [2]] : tensor<1x?x16xf32> into tensor<?x16xf32>
    %22 = tensor.empty(%dim) : tensor<?x16xf32>
    %23 = linalg.fill ins(%cst : f32) outs(%22 : tensor<?x16xf32>) -> tensor<?x16xf32>
    %24 = linalg.matmul ins(%collapsed, %transposed : tensor<?x16xf32>, tensor<16x16xf32>) outs(%23 : tensor<?x16xf32>) -> tensor<?x16xf32>
    %expanded_32 = tensor.expand_shape %24 [[0, 1], [2, 3]] output_shape [1, %dim, 4, 4] : tensor<?x16xf32> into tensor<1x?x4x4xf32>
    %25 = tensor.empty(%dim) : tensor<1x4x?x4xf32>
    %transposed_33 = linalg.transpose ins(%expanded_32 : tensor<1x?x4x4xf32>) outs(%25 : tensor<1x4x?x4xf32>) permutation = [0, 2, 1, 3] 
    %extracted_slice = tensor.extract_slice %transposed_33[0, 0, 0, 2] [1, 4, %dim, 2] [1, 1, 1, 1] : tensor<1x4x?x4xf32> to tensor<1x4x?x2xf32>
    %26 = tensor.empty(%dim) : tensor<1x4x?x2xf32>
    %27 = linalg.generic {indexing_maps = [#map8, #map8], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice : tensor<1x4x?x2xf32>) outs(%26 : tensor<1x4x?x2xf32>) {
    ^bb0(%in: f32, %out: f32):
      %214 = arith.negf %in : f32
      linalg.yield %214 : f32
    } -> tensor<1x4x?x2xf32>
    %extracted_slice_34 = tensor.extract_slice %transposed_33[0, 0, 0, 0] [1, 4, %dim, 2] [1, 1, 1, 1] : tensor<1x4x?x4xf32> to tensor<1x4x?x2xf32>
    %concat_35 = tensor.concat dim(3) %27, %extracted_slice_34 : (tensor<1x4x?x2xf32>, tensor<1x4x?x2xf32>) -> tensor<1x4x?x4xf32>
    %28 = arith.cmpi eq, %dim, %dim_31 : index
    cf.assert %28, "mismatched size for broadcast"
    %29 = linalg.generic {indexing_maps = [#map8, #map9, #map8], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%transposed_33, %10 : tensor<1x4x?x4xf32>, tensor<?x4xf32>) outs(%25 : tensor<1x4x?x4xf32>) {
    ^bb0(%in: f32, %in_118: f32, %out: f32):
      %214 = arith.mulf %in, %in_118 : f32
      linalg.yield %214 : f32
    } -> tensor<1x4x?x4xf32>
    %dim_36 = tensor.dim %27, %c2 : tensor<1x4x?x2xf32>
    %30 = arith.cmpi eq, %dim_36, %dim_31 : index
    cf.assert %30, "mismatched size for broadcast"
    %31 = tensor.empty(%dim_36) : tensor<1x4x?x4xf32>
    %32 = linalg.generic {indexing_maps = [#map8, #map9, #map8], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%concat_35, %11 : tensor<1x4x?x4xf32>, tensor<?x4xf32>) outs(%31 : tensor<1x4x?x4xf32>) {
    ^bb0(%in: f32, %in_118: f32, %out: f32):
      %214 = arith.mulf %in, %in_118 : f32
      linalg.yield %214 : f32
    } -> tensor<1x4x?x4xf32>
    %33 = arith.cmpi eq, %dim, %dim_36 : index
    cf.assert %33, "mismatched size for broadcast"
    %34 = linalg.generic {indexing_maps = [#map8, #map8, #map8], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%29, %32 : tensor<1x4x?x4xf32>, tensor<1x4x?x4xf32>) outs(%25 : tensor<1x4x?x4xf32>) {
    ^bb0(%in: f32, %in_118: f32, %out: f32):
      %214 = arith.addf %in, %in_118 : f32
      linalg.yield %214 : f32
    } -> tensor<1x4x?x4xf32>
    %35 = tensor.empty() : tensor<16x8xf32>
    %transposed_37 = linalg.transpose ins(%cst_24 : tensor<8x16xf32>) outs(%35 : tensor<16x8xf32>) permutation = [1, 0] 
    %36 = tensor.empty(%dim) : tensor<?x8xf32>
    %37 = linalg.fill ins(%cst : f32) outs(%36 : tensor<?x8xf32>) -> tensor<?x8xf32>
    %38 = linalg.matmul ins(%collapsed, %transposed_37 : tensor<?x16xf32>, tensor<16x8xf32>) outs(%37 : tensor<?x8xf32>) -> tensor<?x8xf32>
    %expanded_38 = tensor.expand_shape %38 [[0, 1], [2, 3]] output_shape [1, %dim, 2, 4] : tensor<?x8xf32> into tensor<1x?x2x4xf32>
    %39 = tensor.empty(%dim) : tensor<1x2x?x4xf32>
    %transposed_39 = linalg.transpose ins(%expanded_38 : tensor<1x?x2x4xf32>) outs(%39 : tensor<1x2x?x4xf32>) permutation = [0, 2, 1, 3] 
    %extracted_slice_40 = tensor.extract_slice %transposed_39[0, 0, 0, 2] [1, 2, %dim, 2] [1, 1, 1, 1] : tensor<1x2x?x4xf32> to tensor<1x2x?x2xf32>
    %40 = tensor.empty(%dim) : tensor<1x2x?x2xf32>
    %41 = linalg.generic {indexing_maps = [#map8, #map8], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_40 : tensor<1x2x?x2xf32>) outs(%40 : tensor<1x2x?x2xf32>) {
    ^bb0(%in: f32, %out: f32):
      %214 = arith.negf %in : f32
      linalg.yield %214 : f32
    } -> tensor<1x2x?x2xf32>
    %extracted_slice_41 = tensor.extract_slice %transposed_39[0, 0, 0, 0] [1, 2, %dim, 2] [1, 1, 1, 1] : tensor<1x2x?x4xf32> to tensor<1x2x?x2xf32>
    %concat_42 = tensor.concat dim(3) %41, %extracted_slice_41 : (tensor<1x2x?x2xf32>, tensor<1x2x?x2xf32>) -> tensor<1x2x?x4xf32>
    cf.assert %28, "mismatched size for broadcast"
    %42 = linalg.generic {indexing_maps = [#map8, #map9, #map8], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%transposed_39, %10 : tensor<1x2x?x4xf32>, tensor<?x4xf32>) outs(%39 : tensor<1x2x?x4xf32>) {
    ^bb0(%in: f32, %in_118: f32, %out: f32):
      %214 = arith.mulf %in, %in_118 : f32
      linalg.yield %214 : f32
    } -> tensor<1x2x?x4xf32>
    %dim_43 = tensor.dim %41, %c2 : tensor<1x2x?x2xf32>
    %43 = arith.cmpi eq, %dim_43, %dim_31 : index
    cf.assert %43, "mismatched size for broadcast"
    %44 = tensor.empty(%dim_43) : tensor<1x2x?x4xf32>
    %45 = linalg.generic {indexing_maps = [#map8, #map9, #map8], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%concat_42, %11 : tensor<1x2x?x4xf32>, tensor<?x4xf32>) outs(%44 : tensor<1x2x?x4xf32>) {
    ^bb0(%in: f32, %in_118: f32, %out: f32):
      %214 = arith.mulf %in, %in_118 : f32
      linalg.yield %214 : f32
    } -> tensor<1x2x?x4xf32>
    %46 = arith.cmpi eq, %dim, %dim_43 : index
    cf.assert %46, "mismatched size for broadcast"
    %47 = linalg.generic {indexing_maps = [#map8, #map8, #map8], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%42, %45 : tensor<1x2x?x4xf32>, tensor<1x2x?x4xf32>) outs(%39 : tensor<1x2x?x4xf32>) {
    ^bb0(%in: f32, %in_118: f32, %out: f32):
      %214 = arith.addf %in, %in_118 : f32
      linalg.yield %214 : f32
    } -> tensor<1x2x?x4xf32>
    %transposed_44 = linalg.transpose ins(%cst_23 : tensor<8x16xf32>) outs(%35 : tensor<16x8xf32>) permutation = [1, 0] 
    %48 = linalg.matmul ins(%collapsed, %transposed_44 : tensor<?x16xf32>, tensor<16x8xf32>) outs(%37 : tensor<?x8xf32>) -> tensor<?x8xf32>
    %expanded_45 = tensor.expand_shape %48 [[0, 1], [2, 3]] output_shape [1, %dim, 2, 4] : tensor<?x8xf32> into tensor<1x?x2x4xf32>
    %transposed_46 = linalg.transpose ins(%expanded_45 : tensor<1x?x2x4xf32>) outs(%39 : tensor<1x2x?x4xf32>) permutation = [0, 2, 1, 3] 
    %expanded_47 = tensor.expand_shape %47 [[0], [1], [2, 3], [4]] output_shape [1, 2, 1, %dim, 4] : tensor<1x2x?x4xf32> into tensor<1x2x1x?x4xf32>
    %49 = arith.cmpi sge, %0, %c0_i64 : i64
    cf.assert %49, "unimplemented: dynamic negative broadcast sizes"
    %50 = tensor.empty(%dim) : tensor<1x2x2x?x4xf32>
    %51 = linalg.generic {indexing_maps = [#map10], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} outs(%50 : tensor<1x2x2x?x4xf32>) {
    ^bb0(%out: f32):
      %214 = linalg.index 1 : index
      %215 = linalg.index 3 : index
      %216 = linalg.index 4 : index
      %217 = arith.cmpi eq, %dim, %c1 : index
      %218 = arith.select %217, %c0, %215 : index
      %extracted = tensor.extract %expanded_47[%c0, %214, %c0, %218, %216] : tensor<1x2x1x?x4xf32>
      linalg.yield %extracted : f32
    } -> tensor<1x2x2x?x4xf32>
    %collapsed_48 = tensor.collapse_shape %51 [[0], [1, 2], [3], [4]] : tensor<1x2x2x?x4xf32> into tensor<1x4x?x4xf32>
    %expanded_49 = tensor.expand_shape %transposed_46 [[0], [1], [2, 3], [4]] output_shape [1, 2, 1, %dim, 4] : tensor<1x2x?x4xf32> into tensor<1x2x1x?x4xf32>
    cf.assert %49, "unimplemented: dynamic negative broadcast sizes"
    %52 = linalg.generic {indexing_maps = [#map10], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} outs(%50 : tensor<1x2x2x?x4xf32>) {
    ^bb0(%out: f32):
      %214 = linalg.index 1 : index
      %215 = linalg.index 3 : index
      %216 = linalg.index 4 : index
      %217 = arith.cmpi eq, %dim, %c1 : index
      %218 = arith.select %217, %c0, %215 : index
      %extracted = tensor.extract %expanded_49[%c0, %214, %c0, %218, %216] : tensor<1x2x1x?x4xf32>
      linalg.yield %extracted : f32
    } -> tensor<1x2x2x?x4xf32>
    %collapsed_50 = tensor.collapse_shape %52 [[0], [1, 2], [3], [4]] : tensor<1x2x2x?x4xf32> into tensor<1x4x?x4xf32>
    %53 = linalg.generic {indexing_maps = [#map8, #map8], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%34 : tensor<1x4x?x4xf32>) outs(%25 : tensor<1x4x?x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %214 = arith.truncf %cst_22 : f64 to f32
      %215 = arith.mulf %in, %214 : f32
      linalg.yield %215 : f32
    } -> tensor<1x4x?x4xf32>
    %54 = arith.cmpi sge, %0, %c0_i64 : i64
    cf.assert %54, "negative values not allowed in new dimensions"
    cf.assert %54, "negative values not allowed in new dimensions"
    %55 = tensor.empty(%dim, %dim) : tensor<?x?xi1>
    %56 = linalg.generic {indexing_maps = [#map11, #map5], iterator_types = ["parallel", "parallel"]} ins(%cst_4 : tensor<i1>) outs(%55 : tensor<?x?xi1>) {
    ^bb0(%in: i1, %out: i1):
      linalg.yield %in : i1
    } -> tensor<?x?xi1>
    %expanded_51 = tensor.expand_shape %4 [[0, 1]] output_shape [1, %dim] : tensor<?xi64> into tensor<1x?xi64>
    %expanded_52 = tensor.expand_shape %4 [[0, 1]] output_shape [%dim, 1] : tensor<?xi64> into tensor<?x1xi64>
    %57 = tensor.empty(%dim, %dim) : tensor<?x?xi64>
    %58 = linalg.generic {indexing_maps = [#map12, #map3, #map5], iterator_types = ["parallel", "parallel"]} ins(%expanded_51, %expanded_52 : tensor<1x?xi64>, tensor<?x1xi64>) outs(%57 : tensor<?x?xi64>) {
    ^bb0(%in: i64, %in_118: i64, %out: i64):
      %214 = arith.subi %in, %in_118 : i64
      linalg.yield %214 : i64
    } -> tensor<?x?xi64>
    %59 = tensor.empty(%dim, %dim) : tensor<?x?xi1>
    %60 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel"]} ins(%58 : tensor<?x?xi64>) outs(%59 : tensor<?x?xi1>) {
    ^bb0(%in: i64, %out: i1):
      %214 = arith.cmpi sle, %in, %c0_i64 : i64
      linalg.yield %214 : i1
    } -> tensor<?x?xi1>
    cf.assert %true, "mismatched size for broadcast"
    cf.assert %true, "mismatched size for broadcast"
    %61 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel"]} ins(%60, %56 : tensor<?x?xi1>, tensor<?x?xi1>) outs(%59 : tensor<?x?xi1>) {
    ^bb0(%in: i1, %in_118: i1, %out: i1):
      %214 = arith.andi %in, %in_118 : i1
      linalg.yield %214 : i1
    } -> tensor<?x?xi1>
    %62 = tensor.empty(%dim, %dim) : tensor<?x?xf32>
    %63 = linalg.generic {indexing_maps = [#map5, #map11, #map11, #map5], iterator_types = ["parallel", "parallel"]} ins(%61, %cst_2, %cst_3 : tensor<?x?xi1>, tensor<f32>, tensor<f32>) outs(%62 : tensor<?x?xf32>) {
    ^bb0(%in: i1, %in_118: f32, %in_119: f32, %out: f32):
      %214 = arith.select %in, %in_118, %in_119 : f32
      linalg.yield %214 : f32
    } -> tensor<?x?xf32>
    %64 = tensor.empty(%dim) : tensor<1x4x4x?xf32>
    %transposed_53 = linalg.transpose ins(%collapsed_48 : tensor<1x4x?x4xf32>) outs(%64 : tensor<1x4x4x?xf32>) permutation = [0, 1, 3, 2] 
    %65 = linalg.generic {indexing_maps = [#map8, #map8], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%transposed_53 : tensor<1x4x4x?xf32>) outs(%64 : tensor<1x4x4x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %214 = arith.truncf %cst_22 : f64 to f32
      %215 = arith.mulf %in, %214 : f32
      linalg.yield %215 : f32
    } -> tensor<1x4x4x?xf32>
    cf.assert %49, "unimplemented: dynamic negative broadcast sizes"
    %66 = tensor.empty(%dim) : tensor<1x4x?x4xf32>
    %67 = linalg.generic {indexing_maps = [#map8], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%66 : tensor<1x4x?x4xf32>) {
    ^bb0(%out: f32):
      %214 = linalg.index 1 : index
      %215 = linalg.index 2 : index
      %216 = linalg.index 3 : index
      %217 = arith.cmpi eq, %dim, %c1 : index
      %218 = arith.select %217, %c0, %215 : index
      %extracted = tensor.extract %53[%c0, %214, %218, %216] : tensor<1x4x?x4xf32>
      linalg.yield %extracted : f32
    } -> tensor<1x4x?x4xf32>
    %collapsed_54 = tensor.collapse_shape %67 [[0, 1], [2], [3]] : tensor<1x4x?x4xf32> into tensor<4x?x4xf32>
    cf.assert %49, "unimplemented: dynamic negative broadcast sizes"
    %68 = linalg.generic {indexing_maps = [#map8], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%64 : tensor<1x4x4x?xf32>) {
    ^bb0(%out: f32):
      %214 = linalg.index 1 : index
      %215 = linalg.index 2 : index
      %216 = linalg.index 3 : index
      %217 = arith.cmpi eq, %dim, %c1 : index
      %218 = arith.select %217, %c0, %216 : index
      %extracted = tensor.extract %65[%c0, %214, %215, %218] : tensor<1x4x4x?xf32>
      linalg.yield %extracted : f32
    } -> tensor<1x4x4x?xf32>
    %collapsed_55 = tensor.collapse_shape %68 [[0, 1], [2], [3]] : tensor<1x4x4x?xf32> into tensor<4x4x?xf32>
    %69 = tensor.empty(%dim, %dim) : tensor<4x?x?xf32>
    %70 = linalg.fill ins(%cst : f32) outs(%69 : tensor<4x?x?xf32>) -> tensor<4x?x?xf32>
    %71 = linalg.batch_matmul ins(%collapsed_54, %collapsed_55 : tensor<4x?x4xf32>, tensor<4x4x?xf32>) outs(%70 : tensor<4x?x?xf32>) -> tensor<4x?x?xf32>
    %72 = arith.muli %0, %c4_i64 : i64
    %73 = arith.cmpi slt, %0, %c0_i64 : i64
    %74 = arith.select %73, %c4_i64, %72 : i64
    %75 = arith.extui %73 : i1 to i64
    %76 = arith.muli %74, %0 : i64
    %77 = arith.addi %75, %c1_i64 : i64
    %78 = arith.select %73, %c4_i64, %76 : i64
    %79 = arith.select %73, %77, %75 : i64
    %80 = arith.cmpi sle, %79, %c1_i64 : i64
    cf.assert %80, "must have at most one inferred (negative) dimension"
    %81 = arith.muli %72, %0 : i64
    %82 = arith.divsi %81, %78 : i64
    %83 = arith.select %73, %82, %0 : i64
    %from_elements = tensor.from_elements %c1_i64, %c4_i64, %83, %83 : tensor<4xi64>
    %reshape = tensor.reshape %71(%from_elements) : (tensor<4x?x?xf32>, tensor<4xi64>) -> tensor<1x4x?x?xf32>
    %84 = arith.index_cast %83 : i64 to index
    %85 = arith.cmpi eq, %84, %dim : index
    cf.assert %85, "mismatched size for broadcast"
    cf.assert %85, "mismatched size for broadcast"
    %86 = tensor.empty(%84, %84) : tensor<1x4x?x?xf32>
    %87 = linalg.generic {indexing_maps = [#map8, #map9, #map8], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%reshape, %63 : tensor<1x4x?x?xf32>, tensor<?x?xf32>) outs(%86 : tensor<1x4x?x?xf32>) {
    ^bb0(%in: f32, %in_118: f32, %out: f32):
      %214 = arith.addf %in, %in_118 : f32
      linalg.yield %214 : f32
    } -> tensor<1x4x?x?xf32>
    %88 = tensor.empty(%84) : tensor<1x4x?xi64>
    %89 = linalg.fill ins(%c0_i64 : i64) outs(%88 : tensor<1x4x?xi64>) -> tensor<1x4x?xi64>
    %90 = tensor.empty(%84) : tensor<1x4x?xf32>
    %91 = linalg.fill ins(%cst_0 : f32) outs(%90 : tensor<1x4x?xf32>) -> tensor<1x4x?xf32>
    %92:2 = linalg.generic {indexing_maps = [#map8, #map13, #map13], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%87 : tensor<1x4x?x?xf32>) outs(%91, %89 : tensor<1x4x?xf32>, tensor<1x4x?xi64>) {
    ^bb0(%in: f32, %out: f32, %out_118: i64):
      %214 = linalg.index 3 : index
      %215 = arith.index_cast %214 : index to i64
      %216 = arith.maximumf %in, %out : f32
      %217 = arith.cmpf ogt, %in, %out : f32
      %218 = arith.select %217, %215, %out_118 : i64
      linalg.yield %216, %218 : f32, i64
    } -> (tensor<1x4x?xf32>, tensor<1x4x?xi64>)
    %expanded_56 = tensor.expand_shape %92#0 [[0], [1], [2, 3]] output_shape [1, 4, %84, 1] : tensor<1x4x?xf32> into tensor<1x4x?x1xf32>
    %93 = linalg.generic {indexing_maps = [#map8, #map14, #map8], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%87, %expanded_56 : tensor<1x4x?x?xf32>, tensor<1x4x?x1xf32>) outs(%86 : tensor<1x4x?x?xf32>) {
    ^bb0(%in: f32, %in_118: f32, %out: f32):
      %214 = arith.subf %in, %in_118 : f32
      linalg.yield %214 : f32
    } -> tensor<1x4x?x?xf32>
    %94 = linalg.generic {indexing_maps = [#map8, #map8], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%93 : tensor<1x4x?x?xf32>) outs(%86 : tensor<1x4x?x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %214 = math.exp %in : f32
      linalg.yield %214 : f32
    } -> tensor<1x4x?x?xf32>
    %95 = tensor.empty(%84) : tensor<1x4x?x1xf32>
    %96 = linalg.fill ins(%cst : f32) outs(%95 : tensor<1x4x?x1xf32>) -> tensor<1x4x?x1xf32>
    %97 = linalg.generic {indexing_maps = [#map8, #map14], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%94 : tensor<1x4x?x?xf32>) outs(%96 : tensor<1x4x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %214 = arith.addf %in, %out : f32
      linalg.yield %214 : f32
    } -> tensor<1x4x?x1xf32>
    %98 = linalg.generic {indexing_maps = [#map8, #map14, #map8], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%94, %97 : tensor<1x4x?x?xf32>, tensor<1x4x?x1xf32>) outs(%86 : tensor<1x4x?x?xf32>) {
    ^bb0(%in: f32, %in_118: f32, %out: f32):
      %214 = arith.divf %in, %in_118 : f32
      linalg.yield %214 : f32
    } -> tensor<1x4x?x?xf32>
    %99 = tensor.empty(%84, %84) : tensor<1x4x?x?xi1>
    %100 = linalg.generic {indexing_maps = [#map8, #map8], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%87 : tensor<1x4x?x?xf32>) outs(%99 : tensor<1x4x?x?xi1>) {
    ^bb0(%in: f32, %out: i1):
      %214 = arith.extf %in : f32 to f64
      %215 = arith.cmpf oeq, %214, %cst_21 : f64
      linalg.yield %215 : i1
    } -> tensor<1x4x?x?xi1>
    %101 = tensor.empty(%84) : tensor<1x4x?x1xi1>
    %102 = linalg.fill ins(%true : i1) outs(%101 : tensor<1x4x?x1xi1>) -> tensor<1x4x?x1xi1>
    %103 = linalg.generic {indexing_maps = [#map8, #map14], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%100 : tensor<1x4x?x?xi1>) outs(%102 : tensor<1x4x?x1xi1>) {
    ^bb0(%in: i1, %out: i1):
      %214 = arith.andi %in, %out : i1
      linalg.yield %214 : i1
    } -> tensor<1x4x?x1xi1>
    %104 = arith.cmpi sge, %83, %c0_i64 : i64
    cf.assert %104, "negative values not allowed in new dimensions"
    %105 = arith.index_cast %83 : i64 to index
    cf.assert %104, "negative values not allowed in new dimensions"
    %106 = tensor.empty(%105, %105) : tensor<1x4x?x?xf32>
    %107 = linalg.generic {indexing_maps = [#map15, #map8], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%cst_2 : tensor<f32>) outs(%106 : tensor<1x4x?x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x4x?x?xf32>
    %108 = arith.cmpi eq, %84, %105 : index
    cf.assert %108, "mismatched size for broadcast"
    %109 = arith.cmpi eq, %105, %84 : index
    cf.assert %109, "mismatched size for broadcast"
    %110 = tensor.empty(%84, %105) : tensor<1x4x?x?xf32>
    %111 = linalg.generic {indexing_maps = [#map14, #map8, #map8, #map8], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%103, %107, %98 : tensor<1x4x?x1xi1>, tensor<1x4x?x?xf32>, tensor<1x4x?x?xf32>) outs(%110 : tensor<1x4x?x?xf32>) {
    ^bb0(%in: i1, %in_118: f32, %in_119: f32, %out: f32):
      %214 = arith.select %in, %in_118, %in_119 : f32
      linalg.yield %214 : f32
    } -> tensor<1x4x?x?xf32>
    cf.assert %49, "unimplemented: dynamic negative broadcast sizes"
    cf.assert %49, "unimplemented: dynamic negative broadcast sizes"
    %112 = tensor.empty(%dim, %dim) : tensor<1x4x?x?xf32>
    %113 = linalg.generic {indexing_maps = [#map8], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%112 : tensor<1x4x?x?xf32>) {
    ^bb0(%out: f32):
      %214 = linalg.index 1 : index
      %215 = linalg.index 2 : index
      %216 = linalg.index 3 : index
      %217 = arith.cmpi eq, %84, %c1 : index
      %218 = arith.select %217, %c0, %215 : index
      %219 = arith.cmpi eq, %105, %c1 : index
      %220 = arith.select %219, %c0, %216 : index
      %extracted = tensor.extract %111[%c0, %214, %218, %220] : tensor<1x4x?x?xf32>
      linalg.yield %extracted : f32
    } -> tensor<1x4x?x?xf32>
    cf.assert %80, "must have at most one inferred (negative) dimension"
    %from_elements_57 = tensor.from_elements %c4_i64, %83, %83 : tensor<3xi64>
    %reshape_58 = tensor.reshape %113(%from_elements_57) : (tensor<1x4x?x?xf32>, tensor<3xi64>) -> tensor<4x?x?xf32>
    cf.assert %49, "unimplemented: dynamic negative broadcast sizes"
    %114 = linalg.generic {indexing_maps = [#map8], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%66 : tensor<1x4x?x4xf32>) {
    ^bb0(%out: f32):
      %214 = linalg.index 1 : index
      %215 = linalg.index 2 : index
      %216 = linalg.index 3 : index
      %217 = arith.cmpi eq, %dim, %c1 : index
      %218 = arith.select %217, %c0, %215 : index
      %extracted = tensor.extract %collapsed_50[%c0, %214, %218, %216] : tensor<1x4x?x4xf32>
      linalg.yield %extracted : f32
    } -> tensor<1x4x?x4xf32>
    %collapsed_59 = tensor.collapse_shape %114 [[0, 1], [2], [3]] : tensor<1x4x?x4xf32> into tensor<4x?x4xf32>
    %115 = arith.cmpi eq, %83, %0 : i64
    cf.assert %115, "mismatching contracting dimension"
    %116 = tensor.empty(%84) : tensor<4x?x4xf32>
    %117 = linalg.fill ins(%cst : f32) outs(%116 : tensor<4x?x4xf32>) -> tensor<4x?x4xf32>
    %118 = linalg.batch_matmul ins(%reshape_58, %collapsed_59 : tensor<4x?x?xf32>, tensor<4x?x4xf32>) outs(%117 : tensor<4x?x4xf32>) -> tensor<4x?x4xf32>
    %expanded_60 = tensor.expand_shape %118 [[0, 1], [2], [3]] output_shape [1, 4, %84, 4] : tensor<4x?x4xf32> into tensor<1x4x?x4xf32>
    %119 = tensor.empty(%84) : tensor<1x?x4x4xf32>
    %transposed_61 = linalg.transpose ins(%expanded_60 : tensor<1x4x?x4xf32>) outs(%119 : tensor<1x?x4x4xf32>) permutation = [0, 2, 1, 3] 
    %transposed_62 = linalg.transpose ins(%cst_20 : tensor<16x16xf32>) outs(%21 : tensor<16x16xf32>) permutation = [1, 0] 
    %collapsed_63 = tensor.collapse_shape %transposed_61 [[0, 1], [2, 3]] : tensor<1x?x4x4xf32> into tensor<?x16xf32>
    %120 = tensor.empty(%84) : tensor<?x16xf32>
    %121 = linalg.fill ins(%cst : f32) outs(%120 : tensor<?x16xf32>) -> tensor<?x16xf32>
    %122 = linalg.matmul ins(%collapsed_63, %transposed_62 : tensor<?x16xf32>, tensor<16x16xf32>) outs(%121 : tensor<?x16xf32>) -> tensor<?x16xf32>
    %expanded_64 = tensor.expand_shape %122 [[0, 1], [2]] output_shape [1, %84, 16] : tensor<?x16xf32> into tensor<1x?x16xf32>
    %123 = arith.cmpi eq, %dim, %84 : index
    cf.assert %123, "mismatched size for broadcast"
    %124 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%2, %expanded_64 : tensor<1x?x16xf32>, tensor<1x?x16xf32>) outs(%1 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_118: f32, %out: f32):
      %214 = arith.addf %in, %in_118 : f32
      linalg.yield %214 : f32
    } -> tensor<1x?x16xf32>
    %125 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%124 : tensor<1x?x16xf32>) outs(%1 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %214 = math.fpowi %in, %c2_i64 : f32, i64
      linalg.yield %214 : f32
    } -> tensor<1x?x16xf32>
    %126 = linalg.generic {indexing_maps = [#map1, #map6], iterator_types = ["parallel", "parallel", "reduction"]} ins(%125 : tensor<1x?x16xf32>) outs(%14 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %214 = arith.addf %in, %out : f32
      linalg.yield %214 : f32
    } -> tensor<1x?x1xf32>
    %127 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%126 : tensor<1x?x1xf32>) outs(%13 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %214 = arith.divf %in, %cst_30 : f32
      linalg.yield %214 : f32
    } -> tensor<1x?x1xf32>
    %128 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%127 : tensor<1x?x1xf32>) outs(%13 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %214 = arith.truncf %cst_27 : f64 to f32
      %215 = arith.addf %in, %214 : f32
      linalg.yield %215 : f32
    } -> tensor<1x?x1xf32>
    %129 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%128 : tensor<1x?x1xf32>) outs(%13 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %214 = math.rsqrt %in : f32
      linalg.yield %214 : f32
    } -> tensor<1x?x1xf32>
    %130 = linalg.generic {indexing_maps = [#map1, #map6, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%124, %129 : tensor<1x?x16xf32>, tensor<1x?x1xf32>) outs(%1 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_118: f32, %out: f32):
      %214 = arith.mulf %in, %in_118 : f32
      linalg.yield %214 : f32
    } -> tensor<1x?x16xf32>
    %131 = linalg.generic {indexing_maps = [#map1, #map7, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%130, %cst_19 : tensor<1x?x16xf32>, tensor<16xf32>) outs(%1 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_118: f32, %out: f32):
      %214 = arith.mulf %in, %in_118 : f32
      linalg.yield %214 : f32
    } -> tensor<1x?x16xf32>
    %132 = tensor.empty() : tensor<16x5xf32>
    %transposed_65 = linalg.transpose ins(%cst_18 : tensor<5x16xf32>) outs(%132 : tensor<16x5xf32>) permutation = [1, 0] 
    %collapsed_66 = tensor.collapse_shape %131 [[0, 1], [2]] : tensor<1x?x16xf32> into tensor<?x16xf32>
    %133 = tensor.empty(%dim) : tensor<?x5xf32>
    %134 = linalg.fill ins(%cst : f32) outs(%133 : tensor<?x5xf32>) -> tensor<?x5xf32>
    %135 = linalg.matmul ins(%collapsed_66, %transposed_65 : tensor<?x16xf32>, tensor<16x5xf32>) outs(%134 : tensor<?x5xf32>) -> tensor<?x5xf32>
    %expanded_67 = tensor.expand_shape %135 [[0, 1], [2]] output_shape [1, %dim, 5] : tensor<?x5xf32> into tensor<1x?x5xf32>
    %136 = tensor.empty(%dim) : tensor<1x?x5xf32>
    %137 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_67 : tensor<1x?x5xf32>) outs(%136 : tensor<1x?x5xf32>) {
    ^bb0(%in: f32, %out: f32):
      %214 = arith.negf %in : f32
      %215 = math.exp %214 : f32
      %216 = arith.addf %215, %cst_1 : f32
      %217 = arith.divf %cst_1, %216 : f32
      linalg.yield %217 : f32
    } -> tensor<1x?x5xf32>
    %138 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_67, %137 : tensor<1x?x5xf32>, tensor<1x?x5xf32>) outs(%136 : tensor<1x?x5xf32>) {
    ^bb0(%in: f32, %in_118: f32, %out: f32):
      %214 = arith.mulf %in, %in_118 : f32
      linalg.yield %214 : f32
    } -> tensor<1x?x5xf32>
    %transposed_68 = linalg.transpose ins(%cst_17 : tensor<5x16xf32>) outs(%132 : tensor<16x5xf32>) permutation = [1, 0] 
    %139 = linalg.matmul ins(%collapsed_66, %transposed_68 : tensor<?x16xf32>, tensor<16x5xf32>) outs(%134 : tensor<?x5xf32>) -> tensor<?x5xf32>
    %expanded_69 = tensor.expand_shape %139 [[0, 1], [2]] output_shape [1, %dim, 5] : tensor<?x5xf32> into tensor<1x?x5xf32>
    %140 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%138, %expanded_69 : tensor<1x?x5xf32>, tensor<1x?x5xf32>) outs(%136 : tensor<1x?x5xf32>) {
    ^bb0(%in: f32, %in_118: f32, %out: f32):
      %214 = arith.mulf %in, %in_118 : f32
      linalg.yield %214 : f32
    } -> tensor<1x?x5xf32>
    %141 = tensor.empty() : tensor<5x16xf32>
    %transposed_70 = linalg.transpose ins(%cst_16 : tensor<16x5xf32>) outs(%141 : tensor<5x16xf32>) permutation = [1, 0] 
    %collapsed_71 = tensor.collapse_shape %140 [[0, 1], [2]] : tensor<1x?x5xf32> into tensor<?x5xf32>
    %142 = linalg.matmul ins(%collapsed_71, %transposed_70 : tensor<?x5xf32>, tensor<5x16xf32>) outs(%23 : tensor<?x16xf32>) -> tensor<?x16xf32>
    %expanded_72 = tensor.expand_shape %142 [[0, 1], [2]] output_shape [1, %dim, 16] : tensor<?x16xf32> into tensor<1x?x16xf32>
    %143 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%124, %expanded_72 : tensor<1x?x16xf32>, tensor<1x?x16xf32>) outs(%1 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_118: f32, %out: f32):
      %214 = arith.addf %in, %in_118 : f32
      linalg.yield %214 : f32
    } -> tensor<1x?x16xf32>
    %144 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%143 : tensor<1x?x16xf32>) outs(%1 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %214 = math.fpowi %in, %c2_i64 : f32, i64
      linalg.yield %214 : f32
    } -> tensor<1x?x16xf32>
    %145 = linalg.generic {indexing_maps = [#map1, #map6], iterator_types = ["parallel", "parallel", "reduction"]} ins(%144 : tensor<1x?x16xf32>) outs(%14 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %214 = arith.addf %in, %out : f32
      linalg.yield %214 : f32
    } -> tensor<1x?x1xf32>
    %146 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%145 : tensor<1x?x1xf32>) outs(%13 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %214 = arith.divf %in, %cst_30 : f32
      linalg.yield %214 : f32
    } -> tensor<1x?x1xf32>
    %147 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%146 : tensor<1x?x1xf32>) outs(%13 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %214 = arith.truncf %cst_27 : f64 to f32
      %215 = arith.addf %in, %214 : f32
      linalg.yield %215 : f32
    } -> tensor<1x?x1xf32>
    %148 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%147 : tensor<1x?x1xf32>) outs(%13 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %214 = math.rsqrt %in : f32
      linalg.yield %214 : f32
    } -> tensor<1x?x1xf32>
    %149 = linalg.generic {indexing_maps = [#map1, #map6, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%143, %148 : tensor<1x?x16xf32>, tensor<1x?x1xf32>) outs(%1 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_118: f32, %out: f32):
      %214 = arith.mulf %in, %in_118 : f32
      linalg.yield %214 : f32
    } -> tensor<1x?x16xf32>
    %150 = linalg.generic {indexing_maps = [#map1, #map7, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%149, %cst_15 : tensor<1x?x16xf32>, tensor<16xf32>) outs(%1 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_118: f32, %out: f32):
      %214 = arith.mulf %in, %in_118 : f32
      linalg.yield %214 : f32
    } -> tensor<1x?x16xf32>
    %transposed_73 = linalg.transpose ins(%cst_14 : tensor<16x16xf32>) outs(%21 : tensor<16x16xf32>) permutation = [1, 0] 
    %collapsed_74 = tensor.collapse_shape %150 [[0, 1], [2]] : tensor<1x?x16xf32> into tensor<?x16xf32>
    %151 = linalg.matmul ins(%collapsed_74, %transposed_73 : tensor<?x16xf32>, tensor<16x16xf32>) outs(%23 : tensor<?x16xf32>) -> tensor<?x16xf32>
    %expanded_75 = tensor.expand_shape %151 [[0, 1], [2, 3]] output_shape [1, %dim, 4, 4] : tensor<?x16xf32> into tensor<1x?x4x4xf32>
    %transposed_76 = linalg.transpose ins(%expanded_75 : tensor<1x?x4x4xf32>) outs(%25 : tensor<1x4x?x4xf32>) permutation = [0, 2, 1, 3] 
    %extracted_slice_77 = tensor.extract_slice %transposed_76[0, 0, 0, 2] [1, 4, %dim, 2] [1, 1, 1, 1] : tensor<1x4x?x4xf32> to tensor<1x4x?x2xf32>
    %152 = linalg.generic {indexing_maps = [#map8, #map8], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_77 : tensor<1x4x?x2xf32>) outs(%26 : tensor<1x4x?x2xf32>) {
    ^bb0(%in: f32, %out: f32):
      %214 = arith.negf %in : f32
      linalg.yield %214 : f32
    } -> tensor<1x4x?x2xf32>
    %extracted_slice_78 = tensor.extract_slice %transposed_76[0, 0, 0, 0] [1, 4, %dim, 2] [1, 1, 1, 1] : tensor<1x4x?x4xf32> to tensor<1x4x?x2xf32>
    %concat_79 = tensor.concat dim(3) %152, %extracted_slice_78 : (tensor<1x4x?x2xf32>, tensor<1x4x?x2xf32>) -> tensor<1x4x?x4xf32>
    cf.assert %28, "mismatched size for broadcast"
    %153 = linalg.generic {indexing_maps = [#map8, #map9, #map8], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%transposed_76, %10 : tensor<1x4x?x4xf32>, tensor<?x4xf32>) outs(%25 : tensor<1x4x?x4xf32>) {
    ^bb0(%in: f32, %in_118: f32, %out: f32):
      %214 = arith.mulf %in, %in_118 : f32
      linalg.yield %214 : f32
    } -> tensor<1x4x?x4xf32>
    %dim_80 = tensor.dim %152, %c2 : tensor<1x4x?x2xf32>
    %154 = arith.cmpi eq, %dim_80, %dim_31 : index
    cf.assert %154, "mismatched size for broadcast"
    %155 = tensor.empty(%dim_80) : tensor<1x4x?x4xf32>
    %156 = linalg.generic {indexing_maps = [#map8, #map9, #map8], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%concat_79, %11 : tensor<1x4x?x4xf32>, tensor<?x4xf32>) outs(%155 : tensor<1x4x?x4xf32>) {
    ^bb0(%in: f32, %in_118: f32, %out: f32):
      %214 = arith.mulf %in, %in_118 : f32
      linalg.yield %214 : f32
    } -> tensor<1x4x?x4xf32>
    %157 = arith.cmpi eq, %dim, %dim_80 : index
    cf.assert %157, "mismatched size for broadcast"
    %158 = linalg.generic {indexing_maps = [#map8, #map8, #map8], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%153, %156 : tensor<1x4x?x4xf32>, tensor<1x4x?x4xf32>) outs(%25 : tensor<1x4x?x4xf32>) {
    ^bb0(%in: f32, %in_118: f32, %out: f32):
      %214 = arith.addf %in, %in_118 : f32
      linalg.yield %214 : f32
    } -> tensor<1x4x?x4xf32>
    %transposed_81 = linalg.transpose ins(%cst_13 : tensor<8x16xf32>) outs(%35 : tensor<16x8xf32>) permutation = [1, 0] 
    %159 = linalg.matmul ins(%collapsed_74, %transposed_81 : tensor<?x16xf32>, tensor<16x8xf32>) outs(%37 : tensor<?x8xf32>) -> tensor<?x8xf32>
    %expanded_82 = tensor.expand_shape %159 [[0, 1], [2, 3]] output_shape [1, %dim, 2, 4] : tensor<?x8xf32> into tensor<1x?x2x4xf32>
    %transposed_83 = linalg.transpose ins(%expanded_82 : tensor<1x?x2x4xf32>) outs(%39 : tensor<1x2x?x4xf32>) permutation = [0, 2, 1, 3] 
    %extracted_slice_84 = tensor.extract_slice %transposed_83[0, 0, 0, 2] [1, 2, %dim, 2] [1, 1, 1, 1] : tensor<1x2x?x4xf32> to tensor<1x2x?x2xf32>
    %160 = linalg.generic {indexing_maps = [#map8, #map8], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_84 : tensor<1x2x?x2xf32>) outs(%40 : tensor<1x2x?x2xf32>) {
    ^bb0(%in: f32, %out: f32):
      %214 = arith.negf %in : f32
      linalg.yield %214 : f32
    } -> tensor<1x2x?x2xf32>
    %extracted_slice_85 = tensor.extract_slice %transposed_83[0, 0, 0, 0] [1, 2, %dim, 2] [1, 1, 1, 1] : tensor<1x2x?x4xf32> to tensor<1x2x?x2xf32>
    %concat_86 = tensor.concat dim(3) %160, %extracted_slice_85 : (tensor<1x2x?x2xf32>, tensor<1x2x?x2xf32>) -> tensor<1x2x?x4xf32>
    cf.assert %28, "mismatched size for broadcast"
    %161 = linalg.generic {indexing_maps = [#map8, #map9, #map8], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%transposed_83, %10 : tensor<1x2x?x4xf32>, tensor<?x4xf32>) outs(%39 : tensor<1x2x?x4xf32>) {
    ^bb0(%in: f32, %in_118: f32, %out: f32):
      %214 = arith.mulf %in, %in_118 : f32
      linalg.yield %214 : f32
    } -> tensor<1x2x?x4xf32>
    %dim_87 = tensor.dim %160, %c2 : tensor<1x2x?x2xf32>
    %162 = arith.cmpi eq, %dim_87, %dim_31 : index
    cf.assert %162, "mismatched size for broadcast"
    %163 = tensor.empty(%dim_87) : tensor<1x2x?x4xf32>
    %164 = linalg.generic {indexing_maps = [#map8, #map9, #map8], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%concat_86, %11 : tensor<1x2x?x4xf32>, tensor<?x4xf32>) outs(%163 : tensor<1x2x?x4xf32>) {
    ^bb0(%in: f32, %in_118: f32, %out: f32):
      %214 = arith.mulf %in, %in_118 : f32
      linalg.yield %214 : f32
    } -> tensor<1x2x?x4xf32>
    %165 = arith.cmpi eq, %dim, %dim_87 : index
    cf.assert %165, "mismatched size for broadcast"
    %166 = linalg.generic {indexing_maps = [#map8, #map8, #map8], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%161, %164 : tensor<1x2x?x4xf32>, tensor<1x2x?x4xf32>) outs(%39 : tensor<1x2x?x4xf32>) {
    ^bb0(%in: f32, %in_118: f32, %out: f32):
      %214 = arith.addf %in, %in_118 : f32
      linalg.yield %214 : f32
    } -> tensor<1x2x?x4xf32>
    %transposed_88 = linalg.transpose ins(%cst_12 : tensor<8x16xf32>) outs(%35 : tensor<16x8xf32>) permutation = [1, 0] 
    %167 = linalg.matmul ins(%collapsed_74, %transposed_88 : tensor<?x16xf32>, tensor<16x8xf32>) outs(%37 : tensor<?x8xf32>) -> tensor<?x8xf32>
    %expanded_89 = tensor.expand_shape %167 [[0, 1], [2, 3]] output_shape [1, %dim, 2, 4] : tensor<?x8xf32> into tensor<1x?x2x4xf32>
    %transposed_90 = linalg.transpose ins(%expanded_89 : tensor<1x?x2x4xf32>) outs(%39 : tensor<1x2x?x4xf32>) permutation = [0, 2, 1, 3] 
    %expanded_91 = tensor.expand_shape %166 [[0], [1], [2, 3], [4]] output_shape [1, 2, 1, %dim, 4] : tensor<1x2x?x4xf32> into tensor<1x2x1x?x4xf32>
    cf.assert %49, "unimplemented: dynamic negative broadcast sizes"
    %168 = linalg.generic {indexing_maps = [#map10], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} outs(%50 : tensor<1x2x2x?x4xf32>) {
    ^bb0(%out: f32):
      %214 = linalg.index 1 : index
      %215 = linalg.index 3 : index
      %216 = linalg.index 4 : index
      %217 = arith.cmpi eq, %dim, %c1 : index
      %218 = arith.select %217, %c0, %215 : index
      %extracted = tensor.extract %expanded_91[%c0, %214, %c0, %218, %216] : tensor<1x2x1x?x4xf32>
      linalg.yield %extracted : f32
    } -> tensor<1x2x2x?x4xf32>
    %collapsed_92 = tensor.collapse_shape %168 [[0], [1, 2], [3], [4]] : tensor<1x2x2x?x4xf32> into tensor<1x4x?x4xf32>
    %expanded_93 = tensor.expand_shape %transposed_90 [[0], [1], [2, 3], [4]] output_shape [1, 2, 1, %dim, 4] : tensor<1x2x?x4xf32> into tensor<1x2x1x?x4xf32>
    cf.assert %49, "unimplemented: dynamic negative broadcast sizes"
    %169 = linalg.generic {indexing_maps = [#map10], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} outs(%50 : tensor<1x2x2x?x4xf32>) {
    ^bb0(%out: f32):
      %214 = linalg.index 1 : index
      %215 = linalg.index 3 : index
      %216 = linalg.index 4 : index
      %217 = arith.cmpi eq, %dim, %c1 : index
      %218 = arith.select %217, %c0, %215 : index
      %extracted = tensor.extract %expanded_93[%c0, %214, %c0, %218, %216] : tensor<1x2x1x?x4xf32>
      linalg.yield %extracted : f32
    } -> tensor<1x2x2x?x4xf32>
    %collapsed_94 = tensor.collapse_shape %169 [[0], [1, 2], [3], [4]] : tensor<1x2x2x?x4xf32> into tensor<1x4x?x4xf32>
    %170 = linalg.generic {indexing_maps = [#map8, #map8], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%158 : tensor<1x4x?x4xf32>) outs(%25 : tensor<1x4x?x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %214 = arith.truncf %cst_22 : f64 to f32
      %215 = arith.mulf %in, %214 : f32
      linalg.yield %215 : f32
    } -> tensor<1x4x?x4xf32>
    cf.assert %54, "negative values not allowed in new dimensions"
    cf.assert %54, "negative values not allowed in new dimensions"
    cf.assert %true, "mismatched size for broadcast"
    cf.assert %true, "mismatched size for broadcast"
    %transposed_95 = linalg.transpose ins(%collapsed_92 : tensor<1x4x?x4xf32>) outs(%64 : tensor<1x4x4x?xf32>) permutation = [0, 1, 3, 2] 
    %171 = linalg.generic {indexing_maps = [#map8, #map8], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%transposed_95 : tensor<1x4x4x?xf32>) outs(%64 : tensor<1x4x4x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %214 = arith.truncf %cst_22 : f64 to f32
      %215 = arith.mulf %in, %214 : f32
      linalg.yield %215 : f32
    } -> tensor<1x4x4x?xf32>
    cf.assert %49, "unimplemented: dynamic negative broadcast sizes"
    %172 = linalg.generic {indexing_maps = [#map8], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%66 : tensor<1x4x?x4xf32>) {
    ^bb0(%out: f32):
      %214 = linalg.index 1 : index
      %215 = linalg.index 2 : index
      %216 = linalg.index 3 : index
      %217 = arith.cmpi eq, %dim, %c1 : index
      %218 = arith.select %217, %c0, %215 : index
      %extracted = tensor.extract %170[%c0, %214, %218, %216] : tensor<1x4x?x4xf32>
      linalg.yield %extracted : f32
    } -> tensor<1x4x?x4xf32>
    %collapsed_96 = tensor.collapse_shape %172 [[0, 1], [2], [3]] : tensor<1x4x?x4xf32> into tensor<4x?x4xf32>
    cf.assert %49, "unimplemented: dynamic negative broadcast sizes"
    %173 = linalg.generic {indexing_maps = [#map8], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%64 : tensor<1x4x4x?xf32>) {
    ^bb0(%out: f32):
      %214 = linalg.index 1 : index
      %215 = linalg.index 2 : index
      %216 = linalg.index 3 : index
      %217 = arith.cmpi eq, %dim, %c1 : index
      %218 = arith.select %217, %c0, %216 : index
      %extracted = tensor.extract %171[%c0, %214, %215, %218] : tensor<1x4x4x?xf32>
      linalg.yield %extracted : f32
    } -> tensor<1x4x4x?xf32>
    %collapsed_97 = tensor.collapse_shape %173 [[0, 1], [2], [3]] : tensor<1x4x4x?xf32> into tensor<4x4x?xf32>
    %174 = linalg.batch_matmul ins(%collapsed_96, %collapsed_97 : tensor<4x?x4xf32>, tensor<4x4x?xf32>) outs(%70 : tensor<4x?x?xf32>) -> tensor<4x?x?xf32>
    cf.assert %80, "must have at most one inferred (negative) dimension"
    %reshape_98 = tensor.reshape %174(%from_elements) : (tensor<4x?x?xf32>, tensor<4xi64>) -> tensor<1x4x?x?xf32>
    cf.assert %85, "mismatched size for broadcast"
    cf.assert %85, "mismatched size for broadcast"
    %175 = linalg.generic {indexing_maps = [#map8, #map9, #map8], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%reshape_98, %63 : tensor<1x4x?x?xf32>, tensor<?x?xf32>) outs(%86 : tensor<1x4x?x?xf32>) {
    ^bb0(%in: f32, %in_118: f32, %out: f32):
      %214 = arith.addf %in, %in_118 : f32
      linalg.yield %214 : f32
    } -> tensor<1x4x?x?xf32>
    %176:2 = linalg.generic {indexing_maps = [#map8, #map13, #map13], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%175 : tensor<1x4x?x?xf32>) outs(%91, %89 : tensor<1x4x?xf32>, tensor<1x4x?xi64>) {
    ^bb0(%in: f32, %out: f32, %out_118: i64):
      %214 = linalg.index 3 : index
      %215 = arith.index_cast %214 : index to i64
      %216 = arith.maximumf %in, %out : f32
      %217 = arith.cmpf ogt, %in, %out : f32
      %218 = arith.select %217, %215, %out_118 : i64
      linalg.yield %216, %218 : f32, i64
    } -> (tensor<1x4x?xf32>, tensor<1x4x?xi64>)
    %expanded_99 = tensor.expand_shape %176#0 [[0], [1], [2, 3]] output_shape [1, 4, %84, 1] : tensor<1x4x?xf32> into tensor<1x4x?x1xf32>
    %177 = linalg.generic {indexing_maps = [#map8, #map14, #map8], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%175, %expanded_99 : tensor<1x4x?x?xf32>, tensor<1x4x?x1xf32>) outs(%86 : tensor<1x4x?x?xf32>) {
    ^bb0(%in: f32, %in_118: f32, %out: f32):
      %214 = arith.subf %in, %in_118 : f32
      linalg.yield %214 : f32
    } -> tensor<1x4x?x?xf32>
    %178 = linalg.generic {indexing_maps = [#map8, #map8], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%177 : tensor<1x4x?x?xf32>) outs(%86 : tensor<1x4x?x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %214 = math.exp %in : f32
      linalg.yield %214 : f32
    } -> tensor<1x4x?x?xf32>
    %179 = linalg.generic {indexing_maps = [#map8, #map14], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%178 : tensor<1x4x?x?xf32>) outs(%96 : tensor<1x4x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %214 = arith.addf %in, %out : f32
      linalg.yield %214 : f32
    } -> tensor<1x4x?x1xf32>
    %180 = linalg.generic {indexing_maps = [#map8, #map14, #map8], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%178, %179 : tensor<1x4x?x?xf32>, tensor<1x4x?x1xf32>) outs(%86 : tensor<1x4x?x?xf32>) {
    ^bb0(%in: f32, %in_118: f32, %out: f32):
      %214 = arith.divf %in, %in_118 : f32
      linalg.yield %214 : f32
    } -> tensor<1x4x?x?xf32>
    %181 = linalg.generic {indexing_maps = [#map8, #map8], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%175 : tensor<1x4x?x?xf32>) outs(%99 : tensor<1x4x?x?xi1>) {
    ^bb0(%in: f32, %out: i1):
      %214 = arith.extf %in : f32 to f64
      %215 = arith.cmpf oeq, %214, %cst_21 : f64
      linalg.yield %215 : i1
    } -> tensor<1x4x?x?xi1>
    %182 = linalg.generic {indexing_maps = [#map8, #map14], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%181 : tensor<1x4x?x?xi1>) outs(%102 : tensor<1x4x?x1xi1>) {
    ^bb0(%in: i1, %out: i1):
      %214 = arith.andi %in, %out : i1
      linalg.yield %214 : i1
    } -> tensor<1x4x?x1xi1>
    cf.assert %104, "negative values not allowed in new dimensions"
    cf.assert %104, "negative values not allowed in new dimensions"
    cf.assert %108, "mismatched size for broadcast"
    cf.assert %109, "mismatched size for broadcast"
    %183 = linalg.generic {indexing_maps = [#map14, #map8, #map8, #map8], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%182, %107, %180 : tensor<1x4x?x1xi1>, tensor<1x4x?x?xf32>, tensor<1x4x?x?xf32>) outs(%110 : tensor<1x4x?x?xf32>) {
    ^bb0(%in: i1, %in_118: f32, %in_119: f32, %out: f32):
      %214 = arith.select %in, %in_118, %in_119 : f32
      linalg.yield %214 : f32
    } -> tensor<1x4x?x?xf32>
    cf.assert %49, "unimplemented: dynamic negative broadcast sizes"
    cf.assert %49, "unimplemented: dynamic negative broadcast sizes"
    %184 = linalg.generic {indexing_maps = [#map8], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%112 : tensor<1x4x?x?xf32>) {
    ^bb0(%out: f32):
      %214 = linalg.index 1 : index
      %215 = linalg.index 2 : index
      %216 = linalg.index 3 : index
      %217 = arith.cmpi eq, %84, %c1 : index
      %218 = arith.select %217, %c0, %215 : index
      %219 = arith.cmpi eq, %105, %c1 : index
      %220 = arith.select %219, %c0, %216 : index
      %extracted = tensor.extract %183[%c0, %214, %218, %220] : tensor<1x4x?x?xf32>
      linalg.yield %extracted : f32
    } -> tensor<1x4x?x?xf32>
    cf.assert %80, "must have at most one inferred (negative) dimension"
    %reshape_100 = tensor.reshape %184(%from_elements_57) : (tensor<1x4x?x?xf32>, tensor<3xi64>) -> tensor<4x?x?xf32>
    cf.assert %49, "unimplemented: dynamic negative broadcast sizes"
    %185 = linalg.generic {indexing_maps = [#map8], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%66 : tensor<1x4x?x4xf32>) {
    ^bb0(%out: f32):
      %214 = linalg.index 1 : index
      %215 = linalg.index 2 : index
      %216 = linalg.index 3 : index
      %217 = arith.cmpi eq, %dim, %c1 : index
      %218 = arith.select %217, %c0, %215 : index
      %extracted = tensor.extract %collapsed_94[%c0, %214, %218, %216] : tensor<1x4x?x4xf32>
      linalg.yield %extracted : f32
    } -> tensor<1x4x?x4xf32>
    %collapsed_101 = tensor.collapse_shape %185 [[0, 1], [2], [3]] : tensor<1x4x?x4xf32> into tensor<4x?x4xf32>
    cf.assert %115, "mismatching contracting dimension"
    %186 = linalg.batch_matmul ins(%reshape_100, %collapsed_101 : tensor<4x?x?xf32>, tensor<4x?x4xf32>) outs(%117 : tensor<4x?x4xf32>) -> tensor<4x?x4xf32>
    %expanded_102 = tensor.expand_shape %186 [[0, 1], [2], [3]] output_shape [1, 4, %84, 4] : tensor<4x?x4xf32> into tensor<1x4x?x4xf32>
    %transposed_103 = linalg.transpose ins(%expanded_102 : tensor<1x4x?x4xf32>) outs(%119 : tensor<1x?x4x4xf32>) permutation = [0, 2, 1, 3] 
    %transposed_104 = linalg.transpose ins(%cst_11 : tensor<16x16xf32>) outs(%21 : tensor<16x16xf32>) permutation = [1, 0] 
    %collapsed_105 = tensor.collapse_shape %transposed_103 [[0, 1], [2, 3]] : tensor<1x?x4x4xf32> into tensor<?x16xf32>
    %187 = linalg.matmul ins(%collapsed_105, %transposed_104 : tensor<?x16xf32>, tensor<16x16xf32>) outs(%121 : tensor<?x16xf32>) -> tensor<?x16xf32>
    %expanded_106 = tensor.expand_shape %187 [[0, 1], [2]] output_shape [1, %84, 16] : tensor<?x16xf32> into tensor<1x?x16xf32>
    cf.assert %123, "mismatched size for broadcast"
    %188 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%143, %expanded_106 : tensor<1x?x16xf32>, tensor<1x?x16xf32>) outs(%1 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_118: f32, %out: f32):
      %214 = arith.addf %in, %in_118 : f32
      linalg.yield %214 : f32
    } -> tensor<1x?x16xf32>
    %189 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%188 : tensor<1x?x16xf32>) outs(%1 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %214 = math.fpowi %in, %c2_i64 : f32, i64
      linalg.yield %214 : f32
    } -> tensor<1x?x16xf32>
    %190 = linalg.generic {indexing_maps = [#map1, #map6], iterator_types = ["parallel", "parallel", "reduction"]} ins(%189 : tensor<1x?x16xf32>) outs(%14 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %214 = arith.addf %in, %out : f32
      linalg.yield %214 : f32
    } -> tensor<1x?x1xf32>
    %191 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%190 : tensor<1x?x1xf32>) outs(%13 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %214 = arith.divf %in, %cst_30 : f32
      linalg.yield %214 : f32
    } -> tensor<1x?x1xf32>
    %192 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%191 : tensor<1x?x1xf32>) outs(%13 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %214 = arith.truncf %cst_27 : f64 to f32
      %215 = arith.addf %in, %214 : f32
      linalg.yield %215 : f32
    } -> tensor<1x?x1xf32>
    %193 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%192 : tensor<1x?x1xf32>) outs(%13 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %214 = math.rsqrt %in : f32
      linalg.yield %214 : f32
    } -> tensor<1x?x1xf32>
    %194 = linalg.generic {indexing_maps = [#map1, #map6, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%188, %193 : tensor<1x?x16xf32>, tensor<1x?x1xf32>) outs(%1 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_118: f32, %out: f32):
      %214 = arith.mulf %in, %in_118 : f32
      linalg.yield %214 : f32
    } -> tensor<1x?x16xf32>
    %195 = linalg.generic {indexing_maps = [#map1, #map7, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%194, %cst_10 : tensor<1x?x16xf32>, tensor<16xf32>) outs(%1 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_118: f32, %out: f32):
      %214 = arith.mulf %in, %in_118 : f32
      linalg.yield %214 : f32
    } -> tensor<1x?x16xf32>
    %transposed_107 = linalg.transpose ins(%cst_9 : tensor<5x16xf32>) outs(%132 : tensor<16x5xf32>) permutation = [1, 0] 
    %collapsed_108 = tensor.collapse_shape %195 [[0, 1], [2]] : tensor<1x?x16xf32> into tensor<?x16xf32>
    %196 = linalg.matmul ins(%collapsed_108, %transposed_107 : tensor<?x16xf32>, tensor<16x5xf32>) outs(%134 : tensor<?x5xf32>) -> tensor<?x5xf32>
    %expanded_109 = tensor.expand_shape %196 [[0, 1], [2]] output_shape [1, %dim, 5] : tensor<?x5xf32> into tensor<1x?x5xf32>
    %197 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_109 : tensor<1x?x5xf32>) outs(%136 : tensor<1x?x5xf32>) {
    ^bb0(%in: f32, %out: f32):
      %214 = arith.negf %in : f32
      %215 = math.exp %214 : f32
      %216 = arith.addf %215, %cst_1 : f32
      %217 = arith.divf %cst_1, %216 : f32
      linalg.yield %217 : f32
    } -> tensor<1x?x5xf32>
    %198 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_109, %197 : tensor<1x?x5xf32>, tensor<1x?x5xf32>) outs(%136 : tensor<1x?x5xf32>) {
    ^bb0(%in: f32, %in_118: f32, %out: f32):
      %214 = arith.mulf %in, %in_118 : f32
      linalg.yield %214 : f32
    } -> tensor<1x?x5xf32>
    %transposed_110 = linalg.transpose ins(%cst_8 : tensor<5x16xf32>) outs(%132 : tensor<16x5xf32>) permutation = [1, 0] 
    %199 = linalg.matmul ins(%collapsed_108, %transposed_110 : tensor<?x16xf32>, tensor<16x5xf32>) outs(%134 : tensor<?x5xf32>) -> tensor<?x5xf32>
    %expanded_111 = tensor.expand_shape %199 [[0, 1], [2]] output_shape [1, %dim, 5] : tensor<?x5xf32> into tensor<1x?x5xf32>
    %200 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%198, %expanded_111 : tensor<1x?x5xf32>, tensor<1x?x5xf32>) outs(%136 : tensor<1x?x5xf32>) {
    ^bb0(%in: f32, %in_118: f32, %out: f32):
      %214 = arith.mulf %in, %in_118 : f32
      linalg.yield %214 : f32
    } -> tensor<1x?x5xf32>
    %transposed_112 = linalg.transpose ins(%cst_7 : tensor<16x5xf32>) outs(%141 : tensor<5x16xf32>) permutation = [1, 0] 
    %collapsed_113 = tensor.collapse_shape %200 [[0, 1], [2]] : tensor<1x?x5xf32> into tensor<?x5xf32>
    %201 = linalg.matmul ins(%collapsed_113, %transposed_112 : tensor<?x5xf32>, tensor<5x16xf32>) outs(%23 : tensor<?x16xf32>) -> tensor<?x16xf32>
    %expanded_114 = tensor.expand_shape %201 [[0, 1], [2]] output_shape [1, %dim, 16] : tensor<?x16xf32> into tensor<1x?x16xf32>
    %202 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%188, %expanded_114 : tensor<1x?x16xf32>, tensor<1x?x16xf32>) outs(%1 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_118: f32, %out: f32):
      %214 = arith.addf %in, %in_118 : f32
      linalg.yield %214 : f32
    } -> tensor<1x?x16xf32>
    %203 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%202 : tensor<1x?x16xf32>) outs(%1 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %214 = math.fpowi %in, %c2_i64 : f32, i64
      linalg.yield %214 : f32
    } -> tensor<1x?x16xf32>
    %204 = linalg.generic {indexing_maps = [#map1, #map6], iterator_types = ["parallel", "parallel", "reduction"]} ins(%203 : tensor<1x?x16xf32>) outs(%14 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %214 = arith.addf %in, %out : f32
      linalg.yield %214 : f32
    } -> tensor<1x?x1xf32>
    %205 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%204 : tensor<1x?x1xf32>) outs(%13 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %214 = arith.divf %in, %cst_30 : f32
      linalg.yield %214 : f32
    } -> tensor<1x?x1xf32>
    %206 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%205 : tensor<1x?x1xf32>) outs(%13 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %214 = arith.truncf %cst_27 : f64 to f32
      %215 = arith.addf %in, %214 : f32
      linalg.yield %215 : f32
    } -> tensor<1x?x1xf32>
    %207 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%206 : tensor<1x?x1xf32>) outs(%13 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %214 = math.rsqrt %in : f32
      linalg.yield %214 : f32
    } -> tensor<1x?x1xf32>
    %208 = linalg.generic {indexing_maps = [#map1, #map6, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%202, %207 : tensor<1x?x16xf32>, tensor<1x?x1xf32>) outs(%1 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_118: f32, %out: f32):
      %214 = arith.mulf %in, %in_118 : f32
      linalg.yield %214 : f32
    } -> tensor<1x?x16xf32>
    %209 = linalg.generic {indexing_maps = [#map1, #map7, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%208, %cst_6 : tensor<1x?x16xf32>, tensor<16xf32>) outs(%1 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_118: f32, %out: f32):
      %214 = arith.mulf %in, %in_118 : f32
      linalg.yield %214 : f32
    } -> tensor<1x?x16xf32>
    %210 = tensor.empty() : tensor<16x7xf32>
    %transposed_115 = linalg.transpose ins(%cst_5 : tensor<7x16xf32>) outs(%210 : tensor<16x7xf32>) permutation = [1, 0] 
    %collapsed_116 = tensor.collapse_shape %209 [[0, 1], [2]] : tensor<1x?x16xf32> into tensor<?x16xf32>
    %211 = tensor.empty(%dim) : tensor<?x7xf32>
    %212 = linalg.fill ins(%cst : f32) outs(%211 : tensor<?x7xf32>) -> tensor<?x7xf32>
    %213 = linalg.matmul ins(%collapsed_116, %transposed_115 : tensor<?x16xf32>, tensor<16x7xf32>) outs(%212 : tensor<?x7xf32>) -> tensor<?x7xf32>
    %expanded_117 = tensor.expand_shape %213 [[0, 1], [2]] output_shape [1, %dim, 7] : tensor<?x7xf32> into tensor<1x?x7xf32>
    return %expanded_117 : tensor<1x?x7xf32>
  }
}

{-#
  dialect_resources: {
    builtin: {
      torch_tensor_7_16_torch.float32_1: "0x04000000F0B5A6BC8CD278BE08DE72BD0C2D55BE00F6FF3B68AF3D3EE26C523E90EF353DE44229BE980411BE626F0A3ED8DFD33D5EA00CBE8024833D34DCB5BD7E863ABE4841773EFC34EF3D4001BBBD3003123ECE4C34BE281A093ED027BA3DAC8F94BD566C02BE5027963CF2CB223E6047923CE4D93DBECCB917BE30C3DBBCD44DD23DB842173E6AD4413E006B483E500FB5BC025410BE9E6A41BEC0EFA2BBCA1E5C3E20EACC3DA466BA3D90E3543D3A5B5DBE9C7681BDD8B6FFBD50D752BEC008373E8AA7253E003682BAF8CD1DBE0077B23D5C4C39BE1CC55EBEC0306E3DE407883DCC91C53DF23B773ECC28403E006A95BD809A1E3E86035FBE3240253E6E9F67BE400EA8BD4AEA233E60CEC2BCA8AC3ABEFCA4B23DECA53B3ECC7CAE3D7EA4213E2C98BFBDF42FA83D3C2822BEC03DE7BB60B24B3C18262FBE2829123DC0ABE6BD14CDEBBDD6B578BE7879B43DD65F2E3E6E547F3E8A845B3ECAFC5CBECC0B3A3E6E17663E0A13043E1A08223E0669343E261D223EC0CEDC3CEE8B37BEA088E63CAAE358BECCAD5E3E32DF693E7010B9BD8EF37D3E202A41BD287446BE04620D3EB880503E4EF9643EE073FB3D76DD2E3E18DC0C3E40E2F93DC4735BBE98EAADBD",
      torch_tensor_16_torch.float32_4: "0x040000005E4F763F0E75843FF71E763FE616613FC9A6843FDC30883F3E6A823F3A078A3F5960663F2C748A3F4B8A6F3F7AAE743FD092783F76AA703F77BA703FAE8C5F3F",
      torch_tensor_16_5_torch.float32_1: "0x0400000069410D3D52BED03EC7148E3A1817DABE0847A5BE18D7ABBE8FCC983EC1E58C3E94F1283CC9BC89BEEA0942BEC92B83BE620ED43E0840B4BE7FC6A33DDD4D493ECD76C4BE283A413EBAD8633E7A9CEA3DE8DBD43EC66253BECDC1D3BE60F887BE187AD1BE2E9E143EC8A3DF3DA27751BE89A11DBEFCA1843E9760703A2773BF3E795E2FBEEDF6783D1567E43DED6322BEC16DAB3E8A5603BE6716093E6A91B8BEA146E33D5F549E3EB274D7BE54ACE43E566C093D0D04DD3ECC33943E792D7A3E192BB6BC8E0E1C3E43B6153ED7589BBE40925B3EEA44C83E459A0EBE9C4196BE4A06C23E8CE4D23E73076D3D78A6A8BE56C59ABC14654BBB7FA19F3ECF31D2BE982B98BE2FE031BDCC458BBDEF79003D61E5DD3EEC44AE3E16A7DE3EE7DAD9BE4A11CC3E80C9B1BE1D4407BE65E0853EB92ADDBDA8254BBE920BB63C5BE5D93E",
      torch_tensor_5_16_torch.float32_3: "0x0400000038A566BE72676A3EC0D3BBBB38BF513D98FC80BDDCED9ABDCCC72BBEC038C3BBE4752C3EA8B5873DD07EA53DDABC3ABE1001FA3D6CC094BD48AD3ABE5C31FCBD62B83FBE202566BD1E466A3E4826EABDA047AEBD3A62443E1C44B1BD0480D73D74333B3E2614093ED25E003E5CCE353E00A89FBB1E9C50BE5C0714BEC0F0A03B0026D0BCC0625E3DD4D3C73DE8101BBDC46FE53D00D271BEE00006BC900A5ABE3C93C93D302A323E780ABEBD105C42BD28F3E03DA464E4BD8898F03DD8652EBE4032EDBB80391FBC7A5D5CBE40A9DABC30EFC0BC00D301BB400E723E887F1EBDD611153EFC1895BDC02408BEF0E7DBBC541216BE0CB3DFBDFCC584BD504D8B3C2E3C0EBE381E07BEE48A3ABEF0EF18BE480F62BEDAA330BEF40594BDB8DD0CBDB452273E208128BCD2220BBEAA1A50BEFC16BFBDC0CBD13BD29F4ABE2461CABD",
      torch_tensor_5_16_torch.float32_2: "0x04000000A029B93D2010D43C3442393E06304BBE28081D3D6C9F093EEA6E79BE865F65BE5EA8713ED0AE51BD3EC769BE5C55573E00F63CBB062B003E802BCE3C1079DB3D7A84393E18ACC43DD29A51BE9EB50F3EA0E64CBE7451FE3DB8C257BEC88B76BD10BDD8BC30EF2E3DDA140E3E2AAC38BEF4A05ABEF8951D3EEAB02EBE041F49BEEC3683BD40D69BBD506244BE608C28BC285D983D7A9C613E7454973DCCD49B3D9027133DAC3611BEC0A1F9BC78D42BBDF8C7C73D68670B3E6CC15E3E4E0B04BE80079F3CA05CF63CD41F03BE20262B3EA00D423E103F193D60741FBE988C453E86D3433E04DCF9BD9C750BBE3404633E482C61BE60C87ABCC070A6BC6CC589BD4ED43BBE7468E2BD54AA18BE40BC083D8211283EC26A14BE52CC643EB868D53D10936FBDB88D2E3E20B864BDF00BB3BD3A6969BE20A1AABD40EDADBD6CA1CD3D",
      torch_tensor_16_torch.float32_3: "0x04000000E907943F9081823F875E6C3F6BD6783F41B6873F5B4D883F2D73813F3B66823F14BC8B3F442E5D3F7D11643FBB77813FAA866D3FA92A493F6A236A3F55426C3F",
      torch_tensor_16_16_torch.float32_3: "0x04000000CC2AB9BD70D8473DFEA323BEC42F0CBE78795BBD3C285DBEF8C428BD40F198BBD0D889BC0029C5BDB41E8DBDD434493E381D0F3E28086E3DD86631BE5AE921BEA0A0E93D801F04BBC01853BC4CF7A2BD622533BEE2610DBE6A30133EA2C8433E1226153ECEF920BEC0B7D1BBFC0859BE0E1B1ABEB4AB36BE00049B3D489471BE803E3A3E10094E3E30B8AFBC18A6813D70FBB13DE0AA673E80CB643CC04D6A3E44B3BE3DAC9098BDC239413E1C4A923D1022D43D28B2013D88E503BE5EC4673E28975B3D105610BDF070773D9ED502BE74E79C3D18E978BEFE1B143EC246293E042516BE144ED33D801DB03C0C7FA6BD009C723E00D9B9BAE08823BE60CD77BE00C75A3C68DD01BE54186BBE7A8F3CBEA8983C3EF8760ABEF46322BEB6020BBEE07C883C606878BDF44A4BBEF2A41CBEF43731BE78395B3D0040D93768105B3E84E6C43D70354D3D960E583EC0E8473D0828F9BD60B8543E1841EBBD0C7F2CBEFAC3453E1EED633EDA6C113EA8D872BD9E476F3E9E64053EA8E7153D1054A63C1C2EF73D7CA8F3BD1C68B2BD3AD1103ED09C053DA0DC60BC10859FBCC0A5313C68BD7D3E9CCB5C3EFA3671BECA4E47BEE0EA44BE40E119BCD8C57C3D30310EBE300FE53D60DF79BE6A57323E400EBFBBC01FA03DCA1F333E7094DC3C40D0FABD400C8FBD9A30653EA8E550BDC0E03DBCDC0357BEEE4520BE809A6FBCF8B1843DEE2D1CBE40D0523CC20E693E882C703E40A01A3CBC037E3EB0AF753E14AFF93D84024E3E8879363DE020C5BD84654E3E60C2A03DE867513D8040C8BB80F2E3BC9E7957BE48F5F7BDB4082ABE60EA29BDF4C00A3E6C9202BE90DD8F3CE49CC5BDA489C9BD4C289B3DF841C63D0455633EB8394DBD4A02413EAAB13ABEA8F6063DA016313C5EC9753E100D033EC2DA05BEF46DFC3D808D023B7CC547BE56C313BE509A39BE8650523E6C0C563ED49F41BE740EF93D5202733ED0D5D6BC32A3303E3C57453E1016063EA847DFBDEE9B573E1855843D141DF63D869065BE5C5DB93D406E1A3EAA2631BEA6E633BE8490C5BDF02CF63D58ADCABDE01708BD0C267EBEC06694BDF855BFBD767B79BEBC82D13D70C3B13CD48868BE7471EC3DFE2A233ED04220BEB0F0C2BDB014E3BD403BA4BD90AA5C3D82DE313E9CE24A3E0C1041BE7A3C6D3EC01EB83B508B6EBE8A7C0E3ED2A4433E00A71EBD78076EBE2819353E824210BEC28E3DBE406997BD00A5A5BB7047233D8050B83D74C9A43DB0E906BD0A4019BE3C81A7BDE4731B3EA03D603DEE9C1E3EC0C6F13B7069AC3CEC6876BE40E43BBD12690BBE5E5577BED0F6453EAA600A3E4C11633E107A493E14AC263EFAB40ABE7266513EC4E356BEB8017F3D7C5541BEECFF183E005C5DBD622A4C3E28956D3DCC362D3EE0CC18BD563A50BEBEE675BE52DB6ABEF69104BE26EE613E",
      torch_tensor_8_16_torch.float32_3: "0x0400000058BD44BD6E3C53BE4A492DBE7C5D10BE32C110BEE04A123C207CCDBC14590BBEA8B137BD3A7900BE40C232BC48E4DA3D104E9BBC00297BBD78C25E3DF863253ED87A5D3E58F6D8BDB8A85ABEF058653D3C46CC3DF0F0F23C162B793E924D013E3062943C20452B3E6292363EC0160DBEE8723EBE404607BCD447A5BD82CA28BEC62E3EBE4615243EB858D1BDE0BF0DBE5A13243E50C9B73CC07F443D34E29FBDC82A7B3D4409233E98AB30BEB04941BDB0C5943CF228503E6AC54D3E225E2F3EE400B9BD0058D039808698BBA24537BE089C38BE287D47BDE85F0BBD34C3AF3D6E2366BE9C60F5BD1C3C4C3E68722E3DAE7135BE2017F43D6082C7BD34A40FBEB028F0BDC4160DBE32130ABEA048303DA033F93DA00A063EC0CD7F3EB252503E7A6E07BEAAD3573ED87B71BD6E69123E7C7CF0BD10B9583E30F290BC340CB03DDE715E3E40205ABDB897CB3DC0648F3D641FB4BDC03AA73B606A543E30C3683D3A8C3B3E84B3FE3D30E8F03D1CD7DABDC06A61BDF0CC1E3E58BC6E3D8298033EAA04433E6CF3DA3DA4E0CD3D904CD6BD8499A73D007FF6BA1872293E647FC53DF4A61FBE5E0F1F3EE89400BDEC11C93DD859E5BD94B360BEB4DBCF3D3281003EFA76483EA69B1B3E583BF23DA201073EC0A0883D6895E7BDB0655F3D461E45BE0A3519BEC0446A3EF08FC63D1899C93D7088CCBC085778BEC0BC92BD201DBBBD",
      torch_tensor_8_16_torch.float32_2: "0x040000007C75F4BDD2B0283E54FEACBDBC39363EF859693DA862B6BD9CEFFFBDA0C7523DAEF94DBE500505BD2A7678BEF25C61BED0431DBEBEC9083E869F44BE94D0743E623077BE8C1B63BEBCDBE33DC087FD3BFC463E3E384B6ABD5849D83D48DE4C3E546D30BE429B33BEBC0C5F3E88175C3E604726BC6E6D133EC87239BE48044C3EC47B95BDA0D1043E4CCD87BDD6CB4CBEF8E3B2BD58AB32BDA083353C20506E3D24CD5CBED62E08BE10FBCBBD6859653D9EBF25BE8EBA573EB091E0BD280A663E50BB833DB8FFE53DC8128DBD08C5DC3D443FF1BD00416E3C8E04233EA0DED7BCA0B5CEBCD030BC3CE6291EBED00C39BE90271EBD00C5FA3C0C20523E802C12BC70F61DBD3001773DF071763D8088C7BC106ADF3D5EE67E3E48F8BEBD640EF3BD00F940BC54C8783E0CA3C13D5A825CBE96223F3EBCE8503E48535C3EFCD2BC3DE07D6DBEE83B123DC05726BC6C0F10BEF0F12EBE30A1B5BC50015D3E080A903DB08AB13C7C28C23D76CF65BE8CE8073E40C2673D40AC15BEB2625EBE04ED2ABE4C0A9B3D9C239A3DC03C253DA87A4ABD946BE03D88D823BEAA90013EA0C602BE14E103BE988B3CBEECC5923DBE3608BEBAC51C3E1465093E8090DCBB7427133EF015153E4CFAC43D4E6B45BE580B51BD281531BDA8D1093E48C4C5BDB8705D3D0CB8CB3D34BA283ED2BC743E50E761BD341949BE461754BE300F65BDBC7B1B3E",
      torch_tensor_16_16_torch.float32_2: "0x04000000CC0696BD969B733EB27542BEEA080BBEC2F67A3EA0642B3C287BFDBD8065A43C60C699BC584866BE801EA23D4C0B093E803C663B9AE552BE900899BD480DBC3D403EABBD02D54E3E50C99FBDB0A56BBDFEF7113EA08CDE3C6044133E30452EBE04E83B3E8443A2BD80F3193B3E21003EC4E69C3DC467BEBD5AC5143E7050BBBC184EEB3D1C6897BD40658D3CA855A9BD10EF143E22B7433EF850713D8E2B623EA834AB3D6E7158BE4A1114BEB0298FBC06A84DBE7C5EC53D74D2693E70A119BE68399CBD9E7657BEB86B833D0060F63B3EE6333EA473C6BD40A35DBE0E28663E00CA7C3E8A5531BE88ADC1BD948083BD3ABC24BE0CEE71BE60273A3E2863143E00A3EA3D8A6963BEC0C860BDEC1B1D3E049E023ED07977BD0051443BC01DE13D626D603E9A546E3EDAF26D3EEC09643E90AFEDBD08CF713EE0801DBC080D82BD5E02593EC0F6FFBC88740C3D902D9BBC545835BE5C5542BEBECB623EAE10723E205FC5BCE00325BE22297C3E3884673D7A32093E72CD58BEC893D03D3082A23CE0CA623E8073433E2AB3163E749D823D7852C53D2411B03D72656F3E5A4C0E3E0012C6BBC08D923DDCFDBDBD02454C3ED8E800BE20D0693E1E25423E24DC44BE2CC367BE80C9C4BBE469EE3D46284B3E7C685BBE68DF7DBD28A27B3DCC42A8BD7C0352BE80578E3DA05BDD3DA00DF7BC3EA8053E58F0283DAC0D4F3EFCEC863D009E793D58DF40BD0424F6BDACF8D63D0290743E383ABB3D5C3364BE6E7B2D3E4621753E80DDDBBB3C322ABE18B68FBD625D2F3E0C18083E60AFDEBC7065333DC031ABBBCC606CBEEAB4313E20C9F3BCE41054BE3890693D7E820A3E46CE5CBE408C47BC2C7F64BEB4F28E3DC03A103D58D8043EC0A94FBD7097713E108170BE385964BDC23B38BEAE113DBED486553EB0000C3E9C1C533EE428E13D3A480EBE88F54EBDEC535CBE427B623EB09D01BD20303ABCA8A3C53D803604BD4ABC34BE80E5463C6220323E3A48233EC2316CBE10D8653EF813D43D2A1874BE0099EABC0E6225BE805CEA3C52F364BE08986DBD480A423E607226BDF0F1463DE05406BE0ADF323EBE3D463E0095433B80F93C3CD8876B3E5AF97BBE0C2FE33D68F530BE687CDFBD9E4777BEE8F1743DE213583EA0D142BDD416D63DF07213BD206B5BBE767A5EBE00ECD1BB46B5353E884E373E9817C9BD68CD503D2276613E9AD14ABEB02C7EBE56477FBE88E5113E5CC251BE3E765BBE0CB8A93D7E45123E3875E83DFAF964BE625C6D3E0C45323EA83EAEBD46B430BE924414BE14400FBE72125DBE827A033E9A24383ED41EB53D4C6DF83D346F13BE88590C3E7250553EA0D10A3E48284E3ED4CEDEBD4C03D93DE024C3BD08C67EBDC426773E40A097BCE0A9323CC09B8F3C8066E73C98C1DEBD06F13B3EFA235A3ECE9A0EBE486C6FBEF02B4BBD",
      torch_tensor_16_torch.float32_2: "0x040000009A01743F31AD883FF6998A3F70F13A3F31AF973FDCD15D3FF26D8B3F76B7763F9BF7893FA3F0803FFAED803F9687743F96AA503FD496763F26C9873FD6B9863F",
      torch_tensor_16_5_torch.float32: "0x04000000765485BDCD90AD3EFB662E3E242C69BEAD7DADBB3356BABEAEAA91BEA808BFBEF34BA7BE04BEDD3ECA0D8EBD6ADB7BBE38E65FBED6AAB7BEAA6177BE6FAD373D6B2C8CBEECFE8E3D2AE5263E9FD0A23E34AF81BE014CBBBD7A4BE23E515745BD4444CCBE033D16BE3734133EDFF9A3BD1EA0213EF081B4BEC521603EF65F49BE6FC92BBEB6AFEBBCD98ADE3E29DAAF3EF6E6C43E2E2C84BDF44AA13E1FE1BABB14FB9B3EA8A71CBE6F4165BE3408A4BE4D29B2BC571047BE9F2CB53E12D56DBE21BE713E71166CBE7F337A3E3A07823C7CAA88BEE872B73CB04BD4BE14B22ABD30E287BEA910CFBE4B65CE3E5166883E265EDC3D4711873E5EC5B7BEB47270BE393059BED6988EBECA31BDBDE7E6A93E0FD890BE80C3AF3D5684473E177568BE23173C3EE7EDFCBD0DAB4A3EECE5CE3EDDA6F23DE98E93BEFA3E92BEC760B33E",
      torch_tensor_5_16_torch.float32_1: "0x04000000D215183E60244D3CC0FA333E90D3713D9C0BD8BDA432E03DA8C5733E8CA02CBE662E783E0A2A533E6CBB563EE07B5E3D04D4A1BD7489ABBD886D04BDB0AD29BE1034BE3D6CB6F33DC06F55BD82B0633E50A8AD3D04B27D3E5CD5683EA8703FBD669F51BEF03929BE2ABB763EEA661BBE0004903C1460253E5CB2A5BDF034133E1EE92BBE084D4B3D6CBCEA3DC29F55BED431BBBDC26701BEE0603DBD42D6753E1252623EBA75033EC892F0BDF07D41BD90F4BF3C9611773E141056BE381076BD0E975ABE04B5BE3DF0F005BD0435E5BD5E176ABEECBDA8BD22A35DBEEC66AB3DB41269BE423103BE64807F3EE44677BE14A452BE104744BE5E2224BEAC9B4A3EC069A4BD20D945BE0A56103EE2F65E3E9C36FE3DC087BF3CA0FA3E3DF0E1C53D045F623E2CD0123EF87C47BE248246BE3E4621BE6422DFBD6614633E40257FBE",
      torch_tensor_5_16_torch.float32: "0x040000004034E6BB5475EB3DA8A3FEBDB8B571BD8870FEBD585DC03D127F23BE2C79E8BDB87A7A3D60753B3C30AFF4BDA0B0A83CC05B35BD6A7176BEEE6C6F3EB20D51BEE0BCA73D8602103E88103BBD34B68DBD8E066C3EE084403E80A732BDE8D6B5BDF2D908BE9A0A523EE0870BBEF04BB93D08308D3DCE8A453E007CE9BA8477033EC6970DBE6CACCABDCC1AC2BD822E76BED00966BE0033FE3D547BE43D746281BD2AF769BEDE812D3EB4C1773EBA6D7F3EC4D4D4BDF86A5DBE2A61253EDCF9013E3655483EB016863DF0AA2D3ED8A8E2BDCACC4FBE00AE1F3DAA705A3ECEB91FBEDA36053EF430D7BDF63F1EBE00528DBD5AED7B3E22825C3E946E513E4EBE753E202D09BC9CE7E03D08CBAF3DB410D5BDACE7273EA06505BD30CFBCBD30BE103E047C753E8E8D453E803B513C36D327BE8E6C6D3EECE3D43D64F3523E102D97BD",
      torch_tensor_16_torch.float32_1: "0x0400000032CF8E3FB420693F6208893F7960843FDAB88D3FF153663F33F3803FF387863F9B4B6D3F5C62913F77F2593FEB06813FFFB77E3F55B1713F18E1933F5630683F",
      torch_tensor_16_16_torch.float32_1: "0x0400000020752CBCB84B753E1AAE15BEEA2022BEE015DC3DEAD734BE16D16EBE2CD3103E206302BD48AF073EF0E554BDBAC0703E644AD3BDD2BE543E949D11BE58F5B3BDF4BD453E20F6E23DB4C23ABE60FACBBC2221173EE03E46BEE0C8403CECCC1C3E907743BED4C3C23DF88177BE046A6FBE802BB43B7A5767BE400CECBDAE7D173E902243BDC8392BBE58ED503EB82D7ABEF820513DA08527BEB08B0EBEA027A63C2A277C3E14ED87BD024E7EBE00CA5C3D90CFCBBDF2072BBEAC48CA3D6835CA3DEC5DFDBDC0D4853C087A143D504D973C382D1EBD98F213BEE2570D3EB270413EEC074F3EF49A543E607D46BC6026A43C549ECBBD40D472BD9442833D9071A33C048537BE782B37BE7446ED3D2C49433E40506D3E7E661C3EAC4B133E889BD63D14902C3ECC4A83BD18551E3D84AECE3D3031583D90A9B0BC208B06BE602436BE787013BE7079C63C00D46B3EB87EBABD6E9050BEF4F15EBE44BEC73D08B4D43DE4DF08BE48A5C6BD8442463EC2B558BE1057163EA089093C90A8F0BD5259773ECC3E28BECED4663E242E543E50F5AF3D2EC4263EB875783D385F563EE06A643D0AA97FBE1C08D8BD7876153D5AEE333E7C5294BD00DFB93D047CC33D80F1B03C32F352BE7446753E70E3F6BD5091213D442FC7BD58AD823D560B2D3E08DC573DB066DEBD40E6623D529551BE5C35573E664E093EFA72373E6C78813DBAED7EBE64F635BED48E68BEE884153EB214783EEA98263E0C65CEBD92C01BBECE3914BEDCBF703EC41B76BE2C577ABE30A9D43D90DBC13CA4E003BE26100FBE522176BE98DDAD3D1C34FABD20FC8EBD7643063E50CB4EBEACBA7B3E94FDA6BD045B233E70E627BD2463353E2A110EBED8B060BDBCB7FDBD6860283E5EA477BE088C293E00C8723946F622BED4D293BDB0D9F2BC08349ABD847CE1BD18E789BD30A0D53C784EF83D687E293D8A7B393E405828BDCE3D583EF8B0AB3D00E835BED4F32B3E606B593DF020243E62AF73BE40A484BC16C26DBEE03C6CBD50FFB8BDE6121EBE40C320BEE898453EDCE8E73DE8DFAD3D008F383DD8FAA13DB014C43C2A7E77BEF0B3E7BCC0D2223EC86803BD300C333D605A1D3E0653163ED02233BD6E64503E8870BEBD001FE4BBB6594E3E300B0FBE3C9A7D3E9873F6BDA48502BE6E18453E521C373E945934BECC07F23DA0B1933C4A6744BE9C8495BDF07BB13C7CD06CBEB09686BCB003803DA8FF3E3E944D363E3C88D5BD84F5F23D2861593D809A68BC9E1A43BE485B913D5A126B3E5E8957BE902C8EBCDC73153E0044AC39C499373EC0610EBD14A90DBE66B351BE84E719BE880E42BD8A301F3E6019D43C8022AC3C66364E3E483F863DFC96D7BD4CB1ABBD6A97113E805FCDBDD092A53DCCC5DA3DE0D82B3CF8B833BEC6A714BE68DF6BBE9075A63D008872BE366610BE04C8713E",
      torch_tensor_8_16_torch.float32_1: "0x0400000002D1533EB6B14DBEB69935BEC076463C207C12BE6E7851BE6CADA03DB4B484BDAC78B13DC872CB3DA8F6633E8419183E22A770BEF04E4EBEF42D4D3E848359BEA8781C3E8E051CBEFE6A4D3E60C7103E6CB430BEC0A653BE087CE0BD1812EABD264A11BE8466343EB07C7B3D208400BDD0138BBCA40ED53DC0C1D13CB094FDBC9E50633EE8A7303ED09A8F3CCCAC303EB8B55CBD2E4942BE5208133E48020E3E400D263DE8695ABEC4CA383E40AA913C54D106BE76DA61BE8AEF04BE9E0A6E3E0CF2FD3D6CDDE1BDE4DA533EAC485B3EB87AFE3D207FB6BCC8E76F3E68AB67BD389DD5BDB0A5F43D6C9BD5BD72DA3A3E242C08BE5C85BC3D76533CBE50922ABE60A14F3C34CC493E163444BE782B88BD4029EE3DB84637BD5AA165BE006F3CBB04D1B3BD90BF733D28ADD23DF0D299BD7A2603BE085C173E308B5CBE1CE2F93DA8C3CD3DE82CCB3D209B32BE08E4CD3DB2C918BEE0CEE43DD862EEBD4062613D80AE333BF80331BE00E46DBE608A71BDE264183E48416ABDB06784BD08F31EBE465439BE7048A6BC84E785BDC035B73D62AC783E200530BE583C9DBD58F2BD3DC4CA2CBEE0F8E2BC80D101BE44D1223EC0FAE3BCF044A83C283B183EDE5C35BEEC440ABE0070463E006ECB3DE071B7BC463D7F3EEE68603E286EDDBD901D8FBDA4E6DD3DBAA11FBE56797EBE343801BEA6666ABEB0DE213EF096813D546E57BE",
      torch_tensor_8_16_torch.float32: "0x040000008020DFBD080D33BED677023E087B763D10843A3E60CA4EBDBC4C1E3EF82473BD62F21EBE2C536C3E70E17B3E6A71363E78E78EBDD063DFBD2008353D58E0003EB8A9023D5094D73DA09A43BC6233113E48E4F23D70D1113EB05699BC9CB052BE0E8F20BEA889FFBD2480583E60874EBCC88409BD24BCC7BD60FF2BBC0A8D2C3E00C068387CB7ED3D3A99123EE05479BEA80EB33DECC97F3EA4B801BE2062263D803BB83BCC50073E68B6763D7C5440BEE8383FBE6C965A3EA0AEDCBD060061BE4ABF65BE0AB85EBEB8CD693D00C1EC3C249C14BE205467BD2814203DA081BA3D7409D13D6ECF09BE583B713E6E256F3EB2CD35BE9C496D3E74B851BE84F628BE102C4A3D9428963DACA2633E00F1A43A5CE62C3EDCABAABDBA8A3ABE101FC7BC28E7043E8005C8BD3AB158BED6F01BBE3066353DA81B743E0070623C585E4EBE7C37E5BD2AEC013EF822A1BDA8370ABD5E723E3E2C32BC3D48B81C3E90D3653E4C84A8BD5875143D061240BE8E757E3E96992BBE0E56733E2A636A3EF0C35E3DDA555DBE200304BCA802D3BDB4F49C3D64C3103EC6910E3EF86DA43D5E2944BEBE5357BE202C973D60A460BD3C4BEF3D94CF783E489C9A3D4A281ABE14D993BDA2BC1D3EA07DC23CCE902E3E006175BE805BFCBCCCB1F9BD3089423E30F4DF3D784A09BD3C866DBED073F1BCF8884F3E0068DBBBC0A429BC5EBD6CBE96AD4A3E",
      torch_tensor_16_16_torch.float32: "0x04000000E80A743DC01ACA3B48F7563DEE5C40BE68F908BEF4A2F0BD24DB10BE7094353DE0934C3DB0BBD4BD6AE2263E08700EBE78BC4E3D143392BDBA0F5EBEA0B126BE1024D13DAC9CCA3D704C1EBE98A89FBD0C526FBE6C9C093E565C5D3EBC6FA73D52661EBE9A07073E6473543EC87E51BDE8DB27BD7436B13D60BC033DD038A9BD62A96DBEC68133BE00D15D3C40B95BBC4C65533EA02E0C3CE8D483BDD6227ABEA85F6BBE6CAFD43D0E05643E809778BB2CD064BEBCC7B53D8A81503E386F29BE30CD86BD903EAC3CAEFE11BEC65F6DBE6824E03D801152BE108480BD84EE07BEAC85403E10B7453D3070ED3DF45A2DBED0BB573E207AB63C8AFC0DBE60F985BC244335BE80113DBCE2F30E3E8C2AE6BDCC63583EA8539C3D782F33BD14F09F3D88A53CBD78FE6DBD94F427BE982A153ED2AC193EA04FAF3DB867173E6CC17F3E5E0D713EB60C77BE487E693D905AAFBC54DAAD3DE09746BD6CE78E3D688B6BBEA403EA3D96F2753ED02738BD10A14BBE3ECE54BE587144BD80D577BBE069E43C587B003DB8D3403E40C639BDCC1C923D120E08BE6EC97B3EE479C43DA0030EBD9848283EB43DB53D209D2F3DE42497BDA8C2003DA06B923CAE9115BE00736A3B789C5F3DAAA117BED8E9363DB8F2A9BD82FB54BEC85019BEE02C4BBE28FC6C3D46981C3E9ABC683E40027B3ED4A9C93D5C6BFA3D08A12EBD42A1533E4CBFC3BD60218BBD3066AABD4A9C2BBEE44C45BE98BE50BDD2E64E3E580FFFBD406968BEF0F669BDBEF8673E80FB763D907481BC685C92BD24C7603EEEFD75BE920F113E34048B3DAA7A203EAA6014BEFCDFA7BD842BD7BD1C67783E803904BDA01B74BE325D003E886F453D701F0C3DBEB62ABE56D06FBEA6F7673E02CE40BE709542BD00AE3BBD9A33123E8CD157BEEC8512BE043009BE981401BEF49B1C3E36B41C3E7042E83D10F8503E12422ABE001F82BA382B4FBE004E00BAA8CC5ABE049276BE663F213E2893E2BD602DA3BC90EA96BDF20B4BBEF050CCBC7844173D008D4C3EB8CCD9BDCEE9733E5010EDBD60DD233E809B5F3EC0C2D33CDCD7AFBD5C5E3D3E205995BD7830DBBD407DB2BD02CB50BE50A5CCBCF64350BE2AA7273EE08E76BE2E303EBE58004B3DD45E1E3E40D9743EB0794FBE484C523E8A60333EC8F027BEAC75D53D8C0690BDC460933D86A162BE24FD12BE2C4C22BE60B247BD000215BC4048B0BBF23A17BE70E1FC3DDE0B023E8C9160BE9C4A6DBE800A5CBD386D8E3DA2FB42BE2098BCBCC077683C669C43BEA6B96F3ED268393E9A88433EA0C7D0BD7AF736BE7078FB3C62BC153EA877FA3DC01426BE42F8483ED4BAF2BD280533BDF08E8FBD98C3F33D42DB6EBE060323BE50D0F7BCE237303E188E76BDBC9E203E9C706A3E80ED193CAA6C2CBE004CB63A4036C73D78145ABD0CF379BE345B183E",
      torch_tensor_16_torch.float32: "0x04000000E59A613FFC364C3FABA2833FD1E05B3FEF46813F4C5D8A3F10F25E3F3FCC8E3FB671723F15D06D3FA146653F2A958A3F26537B3F7CB87F3FC8E2883F94FF8A3F",
      torch_tensor_2_torch.float32: "0x040000000000803F0AD7233C",
      torch_tensor_7_16_torch.float32: "0x0400000056F451BF2390CA3ED51E663F39B7B1BF01012BBE2DFF913E931E24BF95C664BFED316D3F571709BFBA7194BFAC99EBBED162353FF8A1813F28ED6B3E8A8A8B3FC194CABF9B2DA6BE3493F63F4CF7A8BEEB344B3EEA35483F7B01853F937939BF565D56BE78825CBED469E8BF8EC3B0BE41EF03C0DD912C3F6563A9BFE50CAEBFDA10ABBDCB54C0BC748F323E0C181340A404753F277029BF6D1554BFDB0D1BBF315CB3BF1A0FA63F1A0AD23F6D4187BFC2EE85BE621180BE8249003F7D23853E207836BE09DD84BEB25F6DBC5C8DC4BEBAD53DC044C087BFC6349EBE832D6F3F9AE9CF3FF56ECD3A5605E0BE36F206C09B8F923FA1ADC3BE6CE5B5BEC312413FE76F083E30ED3A3EF2BE03BFCDEE4C3FD7209FBF4CDFDBBF731715BF3B871DBF9BC362BFE637993F3057EF3EFF6413BE88DF4FBF79EDC5BEF1BB84BF438F173F817F10C03400CF3EA37B123FB8999D3E12EB00BE383175BFCF3BE03FD4C47A3FCC02CCBEDA5231BEF2C2413F52797C3F1D4953BF8B34273E4753003F9CD4B53F326D09BFA631543F0B4E873F9A668DBF8F80023E3C2E9BBCCD85D0BE3A1D083F216CC43E0FCFF43FDF749BBFA6B4E23FC3CF013F545E21BE9DAEEB3E559C93BF"
    }
  }
#-}
