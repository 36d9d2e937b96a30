#map = affine_map<(d0, d1, d2) -> (d0, d1)>
#map1 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map2 = affine_map<(d0) -> (d0)>
#map3 = affine_map<(d0, d1) -> (d0)>
#map4 = affine_map<(d0, d1) -> (d0, d1)>
#map5 = affine_map<(d0, d1, d2) -> (d1, d2)>
#map6 = affine_map<(d0, d1, d2) -> (d0, d1, 0)>
#map7 = affine_map<(d0, d1, d2) -> (d2)>
#map8 = affine_map<(d0, d1) -> (d1)>
#map9 = affine_map<(d0, d1) -> (0, d1)>
#map10 = affine_map<(d0, d1) -> (d0, 0)>
#map11 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map12 = affine_map<(d0, d1, d2, d3) -> (d2, d3)>
#map13 = affine_map<(d0, d1, d2, d3) -> ()>
#map14 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
#map15 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, 0)>
module {
  func.func @main(%arg0: tensor<1x12xi64>) -> tensor<1x12x7xf32> {
    %c0_i64 = arith.constant 0 : i64
    %c7 = arith.constant 7 : index
    %c16 = arith.constant 16 : index
    %cst = arith.constant 0.000000e+00 : f64
    %cst_0 = arith.constant 0.000000e+00 : f32
    %c3_i64 = arith.constant 3 : i64
    %true = arith.constant true
    %cst_1 = arith.constant 0xFF800000 : f32
    %cst_2 = arith.constant 4.471500e-02 : f32
    %cst_3 = arith.constant 7.977240e-01 : f32
    %cst_4 = arith.constant 1.000000e+00 : f32
    %cst_5 = arith.constant 5.000000e-01 : f32
    %cst_6 = arith.constant dense<0xFF800000> : tensor<f32>
    %cst_7 = arith.constant dense<true> : tensor<12x12xi1>
    %cst_8 = arith.constant dense_resource<torch_tensor_6_torch.float32_7> : tensor<6xf32>
    %cst_9 = arith.constant dense_resource<torch_tensor_6_torch.float32_6> : tensor<6xf32>
    %cst_10 = arith.constant dense_resource<torch_tensor_6_torch.float32_5> : tensor<6xf32>
    %cst_11 = arith.constant dense_resource<torch_tensor_6_24_torch.float32> : tensor<6x24xf32>
    %cst_12 = arith.constant dense_resource<torch_tensor_24_torch.float32> : tensor<24xf32>
    %cst_13 = arith.constant dense_resource<torch_tensor_24_6_torch.float32> : tensor<24x6xf32>
    %cst_14 = arith.constant dense_resource<torch_tensor_6_torch.float32_4> : tensor<6xf32>
    %cst_15 = arith.constant dense_resource<torch_tensor_6_torch.float32_3> : tensor<6xf32>
    %cst_16 = arith.constant dense_resource<torch_tensor_6_torch.float32_2> : tensor<6xf32>
    %cst_17 = arith.constant dense_resource<torch_tensor_6_6_torch.float32> : tensor<6x6xf32>
    %cst_18 = arith.constant 1.4142135623730951 : f64
    %cst_19 = arith.constant dense_resource<torch_tensor_18_torch.float32> : tensor<18xf32>
    %cst_20 = arith.constant dense_resource<torch_tensor_18_6_torch.float32> : tensor<18x6xf32>
    %cst_21 = arith.constant dense_resource<torch_tensor_6_torch.float32_1> : tensor<6xf32>
    %cst_22 = arith.constant dense_resource<torch_tensor_6_torch.float32> : tensor<6xf32>
    %cst_23 = arith.constant 1.000000e-05 : f64
    %cst_24 = arith.constant dense_resource<torch_tensor_16_6_torch.float32> : tensor<16x6xf32>
    %cst_25 = arith.constant dense_resource<torch_tensor_7_6_torch.float32> : tensor<7x6xf32>
    %cst_26 = arith.constant 6.000000e+00 : f64
    %cst_27 = arith.constant 6.000000e+00 : f32
    %0 = tensor.empty() : tensor<1x12x6xf32>
    %1 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg0 : tensor<1x12xi64>) outs(%0 : tensor<1x12x6xf32>) {
    ^bb0(%in: i64, %out: f32):
      %114 = arith.index_cast %in : i64 to index
      %115 = linalg.index 2 : index
      %116 = arith.cmpi slt, %114, %c7 : index
      cf.assert %116, "index must be smaller than dim size"
      %117 = arith.cmpi sge, %in, %c0_i64 : i64
      cf.assert %117, "index must be larger or equal to 0"
      %extracted = tensor.extract %cst_25[%114, %115] : tensor<7x6xf32>
      linalg.yield %extracted : f32
    } -> tensor<1x12x6xf32>
    %2 = tensor.empty() : tensor<12xi64>
    %3 = linalg.generic {indexing_maps = [#map2], iterator_types = ["parallel"]} outs(%2 : tensor<12xi64>) {
    ^bb0(%out: i64):
      %114 = linalg.index 0 : index
      %115 = arith.index_cast %114 : index to i64
      linalg.yield %115 : i64
    } -> tensor<12xi64>
    %4 = tensor.empty() : tensor<12x6xf32>
    %5 = linalg.generic {indexing_maps = [#map3, #map4], iterator_types = ["parallel", "parallel"]} ins(%3 : tensor<12xi64>) outs(%4 : tensor<12x6xf32>) {
    ^bb0(%in: i64, %out: f32):
      %114 = arith.index_cast %in : i64 to index
      %115 = linalg.index 1 : index
      %116 = arith.cmpi slt, %114, %c16 : index
      cf.assert %116, "index must be smaller than dim size"
      %117 = arith.cmpi sge, %in, %c0_i64 : i64
      cf.assert %117, "index must be larger or equal to 0"
      %extracted = tensor.extract %cst_24[%114, %115] : tensor<16x6xf32>
      linalg.yield %extracted : f32
    } -> tensor<12x6xf32>
    %6 = linalg.generic {indexing_maps = [#map1, #map5, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%1, %5 : tensor<1x12x6xf32>, tensor<12x6xf32>) outs(%0 : tensor<1x12x6xf32>) {
    ^bb0(%in: f32, %in_58: f32, %out: f32):
      %114 = arith.addf %in, %in_58 : f32
      linalg.yield %114 : f32
    } -> tensor<1x12x6xf32>
    %7 = tensor.empty() : tensor<1x12x6xf64>
    %8 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%6 : tensor<1x12x6xf32>) outs(%7 : tensor<1x12x6xf64>) {
    ^bb0(%in: f32, %out: f64):
      %114 = arith.extf %in : f32 to f64
      linalg.yield %114 : f64
    } -> tensor<1x12x6xf64>
    %9 = tensor.empty() : tensor<1x12x1xf64>
    %10 = linalg.fill ins(%cst : f64) outs(%9 : tensor<1x12x1xf64>) -> tensor<1x12x1xf64>
    %11 = linalg.generic {indexing_maps = [#map1, #map6], iterator_types = ["parallel", "parallel", "reduction"]} ins(%8 : tensor<1x12x6xf64>) outs(%10 : tensor<1x12x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %114 = arith.addf %in, %out : f64
      linalg.yield %114 : f64
    } -> tensor<1x12x1xf64>
    %12 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%11 : tensor<1x12x1xf64>) outs(%9 : tensor<1x12x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %114 = arith.divf %in, %cst_26 : f64
      linalg.yield %114 : f64
    } -> tensor<1x12x1xf64>
    %13 = linalg.generic {indexing_maps = [#map1, #map6, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%8, %12 : tensor<1x12x6xf64>, tensor<1x12x1xf64>) outs(%7 : tensor<1x12x6xf64>) {
    ^bb0(%in: f64, %in_58: f64, %out: f64):
      %114 = arith.subf %in, %in_58 : f64
      linalg.yield %114 : f64
    } -> tensor<1x12x6xf64>
    %14 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%13, %13 : tensor<1x12x6xf64>, tensor<1x12x6xf64>) outs(%7 : tensor<1x12x6xf64>) {
    ^bb0(%in: f64, %in_58: f64, %out: f64):
      %114 = arith.mulf %in, %in_58 : f64
      linalg.yield %114 : f64
    } -> tensor<1x12x6xf64>
    %15 = linalg.generic {indexing_maps = [#map1, #map6], iterator_types = ["parallel", "parallel", "reduction"]} ins(%14 : tensor<1x12x6xf64>) outs(%10 : tensor<1x12x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %114 = arith.addf %in, %out : f64
      linalg.yield %114 : f64
    } -> tensor<1x12x1xf64>
    %16 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%15 : tensor<1x12x1xf64>) outs(%9 : tensor<1x12x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %114 = arith.divf %in, %cst_26 : f64
      linalg.yield %114 : f64
    } -> tensor<1x12x1xf64>
    %17 = tensor.empty() : tensor<1x12x1xf32>
    %18 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%16 : tensor<1x12x1xf64>) outs(%17 : tensor<1x12x1xf32>) {
    ^bb0(%in: f64, %out: f32):
      %114 = arith.truncf %in : f64 to f32
      linalg.yield %114 : f32
    } -> tensor<1x12x1xf32>
    %19 = linalg.fill ins(%cst_0 : f32) outs(%17 : tensor<1x12x1xf32>) -> tensor<1x12x1xf32>
    %20 = linalg.generic {indexing_maps = [#map1, #map6], iterator_types = ["parallel", "parallel", "reduction"]} ins(%6 : tensor<1x12x6xf32>) outs(%19 : tensor<1x12x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %114 = arith.addf %in, %out : f32
      linalg.yield %114 : f32
    } -> tensor<1x12x1xf32>
    %21 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%20 : tensor<1x12x1xf32>) outs(%17 : tensor<1x12x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %114 = arith.divf %in, %cst_27 : f32
      linalg.yield %114 : f32
    } -> tensor<1x12x1xf32>
    %22 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%18 : tensor<1x12x1xf32>) outs(%17 : tensor<1x12x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %114 = arith.truncf %cst_23 : f64 to f32
      %115 = arith.addf %in, %114 : f32
      linalg.yield %115 : f32
    } -> tensor<1x12x1xf32>
    %23 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%22 : tensor<1x12x1xf32>) outs(%17 : tensor<1x12x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %114 = math.rsqrt %in : f32
      linalg.yield %114 : f32
    } -> tensor<1x12x1xf32>
    %24 = linalg.generic {indexing_maps = [#map1, #map6, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%6, %21 : tensor<1x12x6xf32>, tensor<1x12x1xf32>) outs(%0 : tensor<1x12x6xf32>) {
    ^bb0(%in: f32, %in_58: f32, %out: f32):
      %114 = arith.subf %in, %in_58 : f32
      linalg.yield %114 : f32
    } -> tensor<1x12x6xf32>
    %25 = linalg.generic {indexing_maps = [#map1, #map6, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%24, %23 : tensor<1x12x6xf32>, tensor<1x12x1xf32>) outs(%0 : tensor<1x12x6xf32>) {
    ^bb0(%in: f32, %in_58: f32, %out: f32):
      %114 = arith.mulf %in, %in_58 : f32
      linalg.yield %114 : f32
    } -> tensor<1x12x6xf32>
    %26 = linalg.generic {indexing_maps = [#map1, #map7, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%25, %cst_22 : tensor<1x12x6xf32>, tensor<6xf32>) outs(%0 : tensor<1x12x6xf32>) {
    ^bb0(%in: f32, %in_58: f32, %out: f32):
      %114 = arith.mulf %in, %in_58 : f32
      linalg.yield %114 : f32
    } -> tensor<1x12x6xf32>
    %27 = linalg.generic {indexing_maps = [#map1, #map7, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%26, %cst_21 : tensor<1x12x6xf32>, tensor<6xf32>) outs(%0 : tensor<1x12x6xf32>) {
    ^bb0(%in: f32, %in_58: f32, %out: f32):
      %114 = arith.addf %in, %in_58 : f32
      linalg.yield %114 : f32
    } -> tensor<1x12x6xf32>
    %collapsed = tensor.collapse_shape %27 [[0, 1], [2]] : tensor<1x12x6xf32> into tensor<12x6xf32>
    %28 = tensor.empty() : tensor<6x18xf32>
    %transposed = linalg.transpose ins(%cst_20 : tensor<18x6xf32>) outs(%28 : tensor<6x18xf32>) permutation = [1, 0] 
    %29 = tensor.empty() : tensor<12x18xf32>
    %30 = linalg.fill ins(%cst_0 : f32) outs(%29 : tensor<12x18xf32>) -> tensor<12x18xf32>
    %31 = linalg.matmul ins(%collapsed, %transposed : tensor<12x6xf32>, tensor<6x18xf32>) outs(%30 : tensor<12x18xf32>) -> tensor<12x18xf32>
    %32 = linalg.generic {indexing_maps = [#map4, #map8, #map4], iterator_types = ["parallel", "parallel"]} ins(%31, %cst_19 : tensor<12x18xf32>, tensor<18xf32>) outs(%29 : tensor<12x18xf32>) {
    ^bb0(%in: f32, %in_58: f32, %out: f32):
      %114 = arith.addf %in, %in_58 : f32
      linalg.yield %114 : f32
    } -> tensor<12x18xf32>
    %expanded = tensor.expand_shape %32 [[0, 1], [2]] output_shape [1, 12, 18] : tensor<12x18xf32> into tensor<1x12x18xf32>
    %extracted_slice = tensor.extract_slice %expanded[0, 0, 0] [1, 12, 6] [1, 1, 1] : tensor<1x12x18xf32> to tensor<1x12x6xf32>
    %extracted_slice_28 = tensor.extract_slice %expanded[0, 0, 6] [1, 12, 6] [1, 1, 1] : tensor<1x12x18xf32> to tensor<1x12x6xf32>
    %extracted_slice_29 = tensor.extract_slice %expanded[0, 0, 12] [1, 12, 6] [1, 1, 1] : tensor<1x12x18xf32> to tensor<1x12x6xf32>
    %expanded_30 = tensor.expand_shape %extracted_slice [[0], [1], [2, 3]] output_shape [1, 12, 3, 2] : tensor<1x12x6xf32> into tensor<1x12x3x2xf32>
    %33 = tensor.empty() : tensor<1x3x12x2xf32>
    %transposed_31 = linalg.transpose ins(%expanded_30 : tensor<1x12x3x2xf32>) outs(%33 : tensor<1x3x12x2xf32>) permutation = [0, 2, 1, 3] 
    %expanded_32 = tensor.expand_shape %extracted_slice_28 [[0], [1], [2, 3]] output_shape [1, 12, 3, 2] : tensor<1x12x6xf32> into tensor<1x12x3x2xf32>
    %expanded_33 = tensor.expand_shape %extracted_slice_29 [[0], [1], [2, 3]] output_shape [1, 12, 3, 2] : tensor<1x12x6xf32> into tensor<1x12x3x2xf32>
    %transposed_34 = linalg.transpose ins(%expanded_33 : tensor<1x12x3x2xf32>) outs(%33 : tensor<1x3x12x2xf32>) permutation = [0, 2, 1, 3] 
    %expanded_35 = tensor.expand_shape %3 [[0, 1]] output_shape [1, 12] : tensor<12xi64> into tensor<1x12xi64>
    %expanded_36 = tensor.expand_shape %3 [[0, 1]] output_shape [12, 1] : tensor<12xi64> into tensor<12x1xi64>
    %34 = tensor.empty() : tensor<12x12xi64>
    %35 = linalg.generic {indexing_maps = [#map9, #map10, #map4], iterator_types = ["parallel", "parallel"]} ins(%expanded_35, %expanded_36 : tensor<1x12xi64>, tensor<12x1xi64>) outs(%34 : tensor<12x12xi64>) {
    ^bb0(%in: i64, %in_58: i64, %out: i64):
      %114 = arith.subi %in, %in_58 : i64
      linalg.yield %114 : i64
    } -> tensor<12x12xi64>
    %36 = tensor.empty() : tensor<12x12xi1>
    %37 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel"]} ins(%35 : tensor<12x12xi64>) outs(%36 : tensor<12x12xi1>) {
    ^bb0(%in: i64, %out: i1):
      %114 = arith.cmpi sle, %in, %c0_i64 : i64
      linalg.yield %114 : i1
    } -> tensor<12x12xi1>
    %38 = linalg.generic {indexing_maps = [#map4, #map4, #map4], iterator_types = ["parallel", "parallel"]} ins(%37, %cst_7 : tensor<12x12xi1>, tensor<12x12xi1>) outs(%36 : tensor<12x12xi1>) {
    ^bb0(%in: i1, %in_58: i1, %out: i1):
      %114 = arith.andi %in, %in_58 : i1
      linalg.yield %114 : i1
    } -> tensor<12x12xi1>
    %39 = tensor.empty() : tensor<1x3x2x12xf32>
    %transposed_37 = linalg.transpose ins(%expanded_32 : tensor<1x12x3x2xf32>) outs(%39 : tensor<1x3x2x12xf32>) permutation = [0, 2, 3, 1] 
    %collapsed_38 = tensor.collapse_shape %transposed_31 [[0, 1], [2], [3]] : tensor<1x3x12x2xf32> into tensor<3x12x2xf32>
    %collapsed_39 = tensor.collapse_shape %transposed_37 [[0, 1], [2], [3]] : tensor<1x3x2x12xf32> into tensor<3x2x12xf32>
    %40 = tensor.empty() : tensor<3x12x12xf32>
    %41 = linalg.fill ins(%cst_0 : f32) outs(%40 : tensor<3x12x12xf32>) -> tensor<3x12x12xf32>
    %42 = linalg.batch_matmul ins(%collapsed_38, %collapsed_39 : tensor<3x12x2xf32>, tensor<3x2x12xf32>) outs(%41 : tensor<3x12x12xf32>) -> tensor<3x12x12xf32>
    %expanded_40 = tensor.expand_shape %42 [[0, 1], [2], [3]] output_shape [1, 3, 12, 12] : tensor<3x12x12xf32> into tensor<1x3x12x12xf32>
    %43 = tensor.empty() : tensor<1x3x12x12xf32>
    %44 = linalg.generic {indexing_maps = [#map11, #map11], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_40 : tensor<1x3x12x12xf32>) outs(%43 : tensor<1x3x12x12xf32>) {
    ^bb0(%in: f32, %out: f32):
      %114 = arith.truncf %cst_18 : f64 to f32
      %115 = arith.divf %in, %114 : f32
      linalg.yield %115 : f32
    } -> tensor<1x3x12x12xf32>
    %45 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel"]} ins(%38 : tensor<12x12xi1>) outs(%36 : tensor<12x12xi1>) {
    ^bb0(%in: i1, %out: i1):
      %114 = arith.xori %in, %true : i1
      linalg.yield %114 : i1
    } -> tensor<12x12xi1>
    %46 = linalg.generic {indexing_maps = [#map12, #map13, #map11, #map11], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%45, %cst_6, %44 : tensor<12x12xi1>, tensor<f32>, tensor<1x3x12x12xf32>) outs(%43 : tensor<1x3x12x12xf32>) {
    ^bb0(%in: i1, %in_58: f32, %in_59: f32, %out: f32):
      %114 = arith.select %in, %in_58, %in_59 : f32
      linalg.yield %114 : f32
    } -> tensor<1x3x12x12xf32>
    %47 = tensor.empty() : tensor<1x3x12xi64>
    %48 = linalg.fill ins(%c0_i64 : i64) outs(%47 : tensor<1x3x12xi64>) -> tensor<1x3x12xi64>
    %49 = tensor.empty() : tensor<1x3x12xf32>
    %50 = linalg.fill ins(%cst_1 : f32) outs(%49 : tensor<1x3x12xf32>) -> tensor<1x3x12xf32>
    %51:2 = linalg.generic {indexing_maps = [#map11, #map14, #map14], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%46 : tensor<1x3x12x12xf32>) outs(%50, %48 : tensor<1x3x12xf32>, tensor<1x3x12xi64>) {
    ^bb0(%in: f32, %out: f32, %out_58: i64):
      %114 = linalg.index 3 : index
      %115 = arith.index_cast %114 : index to i64
      %116 = arith.maximumf %in, %out : f32
      %117 = arith.cmpf ogt, %in, %out : f32
      %118 = arith.select %117, %115, %out_58 : i64
      linalg.yield %116, %118 : f32, i64
    } -> (tensor<1x3x12xf32>, tensor<1x3x12xi64>)
    %expanded_41 = tensor.expand_shape %51#0 [[0], [1], [2, 3]] output_shape [1, 3, 12, 1] : tensor<1x3x12xf32> into tensor<1x3x12x1xf32>
    %52 = linalg.generic {indexing_maps = [#map11, #map15, #map11], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%46, %expanded_41 : tensor<1x3x12x12xf32>, tensor<1x3x12x1xf32>) outs(%43 : tensor<1x3x12x12xf32>) {
    ^bb0(%in: f32, %in_58: f32, %out: f32):
      %114 = arith.subf %in, %in_58 : f32
      linalg.yield %114 : f32
    } -> tensor<1x3x12x12xf32>
    %53 = linalg.generic {indexing_maps = [#map11, #map11], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%52 : tensor<1x3x12x12xf32>) outs(%43 : tensor<1x3x12x12xf32>) {
    ^bb0(%in: f32, %out: f32):
      %114 = math.exp %in : f32
      linalg.yield %114 : f32
    } -> tensor<1x3x12x12xf32>
    %54 = tensor.empty() : tensor<1x3x12x1xf32>
    %55 = linalg.fill ins(%cst_0 : f32) outs(%54 : tensor<1x3x12x1xf32>) -> tensor<1x3x12x1xf32>
    %56 = linalg.generic {indexing_maps = [#map11, #map15], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%53 : tensor<1x3x12x12xf32>) outs(%55 : tensor<1x3x12x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %114 = arith.addf %in, %out : f32
      linalg.yield %114 : f32
    } -> tensor<1x3x12x1xf32>
    %57 = linalg.generic {indexing_maps = [#map11, #map15, #map11], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%53, %56 : tensor<1x3x12x12xf32>, tensor<1x3x12x1xf32>) outs(%43 : tensor<1x3x12x12xf32>) {
    ^bb0(%in: f32, %in_58: f32, %out: f32):
      %114 = arith.divf %in, %in_58 : f32
      linalg.yield %114 : f32
    } -> tensor<1x3x12x12xf32>
    %collapsed_42 = tensor.collapse_shape %57 [[0, 1], [2], [3]] : tensor<1x3x12x12xf32> into tensor<3x12x12xf32>
    %collapsed_43 = tensor.collapse_shape %transposed_34 [[0, 1], [2], [3]] : tensor<1x3x12x2xf32> into tensor<3x12x2xf32>
    %58 = tensor.empty() : tensor<3x12x2xf32>
    %59 = linalg.fill ins(%cst_0 : f32) outs(%58 : tensor<3x12x2xf32>) -> tensor<3x12x2xf32>
    %60 = linalg.batch_matmul ins(%collapsed_42, %collapsed_43 : tensor<3x12x12xf32>, tensor<3x12x2xf32>) outs(%59 : tensor<3x12x2xf32>) -> tensor<3x12x2xf32>
    %expanded_44 = tensor.expand_shape %60 [[0, 1], [2], [3]] output_shape [1, 3, 12, 2] : tensor<3x12x2xf32> into tensor<1x3x12x2xf32>
    %61 = tensor.empty() : tensor<1x12x3x2xf32>
    %transposed_45 = linalg.transpose ins(%expanded_44 : tensor<1x3x12x2xf32>) outs(%61 : tensor<1x12x3x2xf32>) permutation = [0, 2, 1, 3] 
    %collapsed_46 = tensor.collapse_shape %transposed_45 [[0, 1], [2, 3]] : tensor<1x12x3x2xf32> into tensor<12x6xf32>
    %62 = tensor.empty() : tensor<6x6xf32>
    %transposed_47 = linalg.transpose ins(%cst_17 : tensor<6x6xf32>) outs(%62 : tensor<6x6xf32>) permutation = [1, 0] 
    %63 = linalg.fill ins(%cst_0 : f32) outs(%4 : tensor<12x6xf32>) -> tensor<12x6xf32>
    %64 = linalg.matmul ins(%collapsed_46, %transposed_47 : tensor<12x6xf32>, tensor<6x6xf32>) outs(%63 : tensor<12x6xf32>) -> tensor<12x6xf32>
    %65 = linalg.generic {indexing_maps = [#map4, #map8, #map4], iterator_types = ["parallel", "parallel"]} ins(%64, %cst_16 : tensor<12x6xf32>, tensor<6xf32>) outs(%4 : tensor<12x6xf32>) {
    ^bb0(%in: f32, %in_58: f32, %out: f32):
      %114 = arith.addf %in, %in_58 : f32
      linalg.yield %114 : f32
    } -> tensor<12x6xf32>
    %expanded_48 = tensor.expand_shape %65 [[0, 1], [2]] output_shape [1, 12, 6] : tensor<12x6xf32> into tensor<1x12x6xf32>
    %66 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%6, %expanded_48 : tensor<1x12x6xf32>, tensor<1x12x6xf32>) outs(%0 : tensor<1x12x6xf32>) {
    ^bb0(%in: f32, %in_58: f32, %out: f32):
      %114 = arith.addf %in, %in_58 : f32
      linalg.yield %114 : f32
    } -> tensor<1x12x6xf32>
    %67 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%66 : tensor<1x12x6xf32>) outs(%7 : tensor<1x12x6xf64>) {
    ^bb0(%in: f32, %out: f64):
      %114 = arith.extf %in : f32 to f64
      linalg.yield %114 : f64
    } -> tensor<1x12x6xf64>
    %68 = linalg.generic {indexing_maps = [#map1, #map6], iterator_types = ["parallel", "parallel", "reduction"]} ins(%67 : tensor<1x12x6xf64>) outs(%10 : tensor<1x12x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %114 = arith.addf %in, %out : f64
      linalg.yield %114 : f64
    } -> tensor<1x12x1xf64>
    %69 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%68 : tensor<1x12x1xf64>) outs(%9 : tensor<1x12x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %114 = arith.divf %in, %cst_26 : f64
      linalg.yield %114 : f64
    } -> tensor<1x12x1xf64>
    %70 = linalg.generic {indexing_maps = [#map1, #map6, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%67, %69 : tensor<1x12x6xf64>, tensor<1x12x1xf64>) outs(%7 : tensor<1x12x6xf64>) {
    ^bb0(%in: f64, %in_58: f64, %out: f64):
      %114 = arith.subf %in, %in_58 : f64
      linalg.yield %114 : f64
    } -> tensor<1x12x6xf64>
    %71 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%70, %70 : tensor<1x12x6xf64>, tensor<1x12x6xf64>) outs(%7 : tensor<1x12x6xf64>) {
    ^bb0(%in: f64, %in_58: f64, %out: f64):
      %114 = arith.mulf %in, %in_58 : f64
      linalg.yield %114 : f64
    } -> tensor<1x12x6xf64>
    %72 = linalg.generic {indexing_maps = [#map1, #map6], iterator_types = ["parallel", "parallel", "reduction"]} ins(%71 : tensor<1x12x6xf64>) outs(%10 : tensor<1x12x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %114 = arith.addf %in, %out : f64
      linalg.yield %114 : f64
    } -> tensor<1x12x1xf64>
    %73 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%72 : tensor<1x12x1xf64>) outs(%9 : tensor<1x12x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %114 = arith.divf %in, %cst_26 : f64
      linalg.yield %114 : f64
    } -> tensor<1x12x1xf64>
    %74 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%73 : tensor<1x12x1xf64>) outs(%17 : tensor<1x12x1xf32>) {
    ^bb0(%in: f64, %out: f32):
      %114 = arith.truncf %in : f64 to f32
      linalg.yield %114 : f32
    } -> tensor<1x12x1xf32>
    %75 = linalg.generic {indexing_maps = [#map1, #map6], iterator_types = ["parallel", "parallel", "reduction"]} ins(%66 : tensor<1x12x6xf32>) outs(%19 : tensor<1x12x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %114 = arith.addf %in, %out : f32
      linalg.yield %114 : f32
    } -> tensor<1x12x1xf32>
    %76 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%75 : tensor<1x12x1xf32>) outs(%17 : tensor<1x12x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %114 = arith.divf %in, %cst_27 : f32
      linalg.yield %114 : f32
    } -> tensor<1x12x1xf32>
    %77 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%74 : tensor<1x12x1xf32>) outs(%17 : tensor<1x12x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %114 = arith.truncf %cst_23 : f64 to f32
      %115 = arith.addf %in, %114 : f32
      linalg.yield %115 : f32
    } -> tensor<1x12x1xf32>
    %78 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%77 : tensor<1x12x1xf32>) outs(%17 : tensor<1x12x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %114 = math.rsqrt %in : f32
      linalg.yield %114 : f32
    } -> tensor<1x12x1xf32>
    %79 = linalg.generic {indexing_maps = [#map1, #map6, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%66, %76 : tensor<1x12x6xf32>, tensor<1x12x1xf32>) outs(%0 : tensor<1x12x6xf32>) {
    ^bb0(%in: f32, %in_58: f32, %out: f32):
      %114 = arith.subf %in, %in_58 : f32
      linalg.yield %114 : f32
    } -> tensor<1x12x6xf32>
    %80 = linalg.generic {indexing_maps = [#map1, #map6, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%79, %78 : tensor<1x12x6xf32>, tensor<1x12x1xf32>) outs(%0 : tensor<1x12x6xf32>) {
    ^bb0(%in: f32, %in_58: f32, %out: f32):
      %114 = arith.mulf %in, %in_58 : f32
      linalg.yield %114 : f32
    } -> tensor<1x12x6xf32>
    %81 = linalg.generic {indexing_maps = [#map1, #map7, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%80, %cst_15 : tensor<1x12x6xf32>, tensor<6xf32>) outs(%0 : tensor<1x12x6xf32>) {
    ^bb0(%in: f32, %in_58: f32, %out: f32):
      %114 = arith.mulf %in, %in_58 : f32
      linalg.yield %114 : f32
    } -> tensor<1x12x6xf32>
    %82 = linalg.generic {indexing_maps = [#map1, #map7, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%81, %cst_14 : tensor<1x12x6xf32>, tensor<6xf32>) outs(%0 : tensor<1x12x6xf32>) {
    ^bb0(%in: f32, %in_58: f32, %out: f32):
      %114 = arith.addf %in, %in_58 : f32
      linalg.yield %114 : f32
    } -> tensor<1x12x6xf32>
    %collapsed_49 = tensor.collapse_shape %82 [[0, 1], [2]] : tensor<1x12x6xf32> into tensor<12x6xf32>
    %83 = tensor.empty() : tensor<6x24xf32>
    %transposed_50 = linalg.transpose ins(%cst_13 : tensor<24x6xf32>) outs(%83 : tensor<6x24xf32>) permutation = [1, 0] 
    %84 = tensor.empty() : tensor<12x24xf32>
    %85 = linalg.fill ins(%cst_0 : f32) outs(%84 : tensor<12x24xf32>) -> tensor<12x24xf32>
    %86 = linalg.matmul ins(%collapsed_49, %transposed_50 : tensor<12x6xf32>, tensor<6x24xf32>) outs(%85 : tensor<12x24xf32>) -> tensor<12x24xf32>
    %87 = linalg.generic {indexing_maps = [#map4, #map8, #map4], iterator_types = ["parallel", "parallel"]} ins(%86, %cst_12 : tensor<12x24xf32>, tensor<24xf32>) outs(%84 : tensor<12x24xf32>) {
    ^bb0(%in: f32, %in_58: f32, %out: f32):
      %114 = arith.addf %in, %in_58 : f32
      linalg.yield %114 : f32
    } -> tensor<12x24xf32>
    %expanded_51 = tensor.expand_shape %87 [[0, 1], [2]] output_shape [1, 12, 24] : tensor<12x24xf32> into tensor<1x12x24xf32>
    %88 = tensor.empty() : tensor<1x12x24xf32>
    %89 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_51 : tensor<1x12x24xf32>) outs(%88 : tensor<1x12x24xf32>) {
    ^bb0(%in: f32, %out: f32):
      %114 = math.fpowi %in, %c3_i64 : f32, i64
      %115 = arith.mulf %114, %cst_2 : f32
      %116 = arith.addf %in, %115 : f32
      %117 = arith.mulf %116, %cst_3 : f32
      %118 = math.tanh %117 : f32
      %119 = arith.addf %118, %cst_4 : f32
      %120 = arith.mulf %119, %cst_5 : f32
      %121 = arith.mulf %in, %120 : f32
      linalg.yield %121 : f32
    } -> tensor<1x12x24xf32>
    %collapsed_52 = tensor.collapse_shape %89 [[0, 1], [2]] : tensor<1x12x24xf32> into tensor<12x24xf32>
    %90 = tensor.empty() : tensor<24x6xf32>
    %transposed_53 = linalg.transpose ins(%cst_11 : tensor<6x24xf32>) outs(%90 : tensor<24x6xf32>) permutation = [1, 0] 
    %91 = linalg.matmul ins(%collapsed_52, %transposed_53 : tensor<12x24xf32>, tensor<24x6xf32>) outs(%63 : tensor<12x6xf32>) -> tensor<12x6xf32>
    %92 = linalg.generic {indexing_maps = [#map4, #map8, #map4], iterator_types = ["parallel", "parallel"]} ins(%91, %cst_10 : tensor<12x6xf32>, tensor<6xf32>) outs(%4 : tensor<12x6xf32>) {
    ^bb0(%in: f32, %in_58: f32, %out: f32):
      %114 = arith.addf %in, %in_58 : f32
      linalg.yield %114 : f32
    } -> tensor<12x6xf32>
    %expanded_54 = tensor.expand_shape %92 [[0, 1], [2]] output_shape [1, 12, 6] : tensor<12x6xf32> into tensor<1x12x6xf32>
    %93 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%66, %expanded_54 : tensor<1x12x6xf32>, tensor<1x12x6xf32>) outs(%0 : tensor<1x12x6xf32>) {
    ^bb0(%in: f32, %in_58: f32, %out: f32):
      %114 = arith.addf %in, %in_58 : f32
      linalg.yield %114 : f32
    } -> tensor<1x12x6xf32>
    %94 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%93 : tensor<1x12x6xf32>) outs(%7 : tensor<1x12x6xf64>) {
    ^bb0(%in: f32, %out: f64):
      %114 = arith.extf %in : f32 to f64
      linalg.yield %114 : f64
    } -> tensor<1x12x6xf64>
    %95 = linalg.generic {indexing_maps = [#map1, #map6], iterator_types = ["parallel", "parallel", "reduction"]} ins(%94 : tensor<1x12x6xf64>) outs(%10 : tensor<1x12x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %114 = arith.addf %in, %out : f64
      linalg.yield %114 : f64
    } -> tensor<1x12x1xf64>
    %96 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%95 : tensor<1x12x1xf64>) outs(%9 : tensor<1x12x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %114 = arith.divf %in, %cst_26 : f64
      linalg.yield %114 : f64
    } -> tensor<1x12x1xf64>
    %97 = linalg.generic {indexing_maps = [#map1, #map6, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%94, %96 : tensor<1x12x6xf64>, tensor<1x12x1xf64>) outs(%7 : tensor<1x12x6xf64>) {
    ^bb0(%in: f64, %in_58: f64, %out: f64):
      %114 = arith.subf %in, %in_58 : f64
      linalg.yield %114 : f64
    } -> tensor<1x12x6xf64>
    %98 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%97, %97 : tensor<1x12x6xf64>, tensor<1x12x6xf64>) outs(%7 : tensor<1x12x6xf64>) {
    ^bb0(%in: f64, %in_58: f64, %out: f64):
      %114 = arith.mulf %in, %in_58 : f64
      linalg.yield %114 : f64
    } -> tensor<1x12x6xf64>
    %99 = linalg.generic {indexing_maps = [#map1, #map6], iterator_types = ["parallel", "parallel", "reduction"]} ins(%98 : tensor<1x12x6xf64>) outs(%10 : tensor<1x12x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %114 = arith.addf %in, %out : f64
      linalg.yield %114 : f64
    } -> tensor<1x12x1xf64>
    %100 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%99 : tensor<1x12x1xf64>) outs(%9 : tensor<1x12x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %114 = arith.divf %in, %cst_26 : f64
      linalg.yield %114 : f64
    } -> tensor<1x12x1xf64>
    %101 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%100 : tensor<1x12x1xf64>) outs(%17 : tensor<1x12x1xf32>) {
    ^bb0(%in: f64, %out: f32):
      %114 = arith.truncf %in : f64 to f32
      linalg.yield %114 : f32
    } -> tensor<1x12x1xf32>
    %102 = linalg.generic {indexing_maps = [#map1, #map6], iterator_types = ["parallel", "parallel", "reduction"]} ins(%93 : tensor<1x12x6xf32>) outs(%19 : tensor<1x12x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %114 = arith.addf %in, %out : f32
      linalg.yield %114 : f32
    } -> tensor<1x12x1xf32>
    %103 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%102 : tensor<1x12x1xf32>) outs(%17 : tensor<1x12x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %114 = arith.divf %in, %cst_27 : f32
      linalg.yield %114 : f32
    } -> tensor<1x12x1xf32>
    %104 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%101 : tensor<1x12x1xf32>) outs(%17 : tensor<1x12x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %114 = arith.truncf %cst_23 : f64 to f32
      %115 = arith.addf %in, %114 : f32
      linalg.yield %115 : f32
    } -> tensor<1x12x1xf32>
    %105 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%104 : tensor<1x12x1xf32>) outs(%17 : tensor<1x12x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %114 = math.rsqrt %in : f32
      linalg.yield %114 : f32
    } -> tensor<1x12x1xf32>
    %106 = linalg.generic {indexing_maps = [#map1, #map6, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%93, %103 : tensor<1x12x6xf32>, tensor<1x12x1xf32>) outs(%0 : tensor<1x12x6xf32>) {
    ^bb0(%in: f32, %in_58: f32, %out: f32):
      %114 = arith.subf %in, %in_58 : f32
      linalg.yield %114 : f32
    } -> tensor<1x12x6xf32>
    %107 = linalg.generic {indexing_maps = [#map1, #map6, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%106, %105 : tensor<1x12x6xf32>, tensor<1x12x1xf32>) outs(%0 : tensor<1x12x6xf32>) {
    ^bb0(%in: f32, %in_58: f32, %out: f32):
      %114 = arith.mulf %in, %in_58 : f32
      linalg.yield %114 : f32
    } -> tensor<1x12x6xf32>
    %108 = linalg.generic {indexing_maps = [#map1, #map7, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%107, %cst_9 : tensor<1x12x6xf32>, tensor<6xf32>) outs(%0 : tensor<1x12x6xf32>) {
    ^bb0(%in: f32, %in_58: f32, %out: f32):
      %114 = arith.mulf %in, %in_58 : f32
      linalg.yield %114 : f32
    } -> tensor<1x12x6xf32>
    %109 = linalg.generic {indexing_maps = [#map1, #map7, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%108, %cst_8 : tensor<1x12x6xf32>, tensor<6xf32>) outs(%0 : tensor<1x12x6xf32>) {
    ^bb0(%in: f32, %in_58: f32, %out: f32):
      %114 = arith.addf %in, %in_58 : f32
      linalg.yield %114 : f32
    } -> tensor<1x12x6xf32>
    %110 = tensor.empty() : tensor<6x7xf32>
    %transposed_55 = linalg.transpose ins(%cst_25 : tensor<7x6xf32>) outs(%110 : tensor<6x7xf32>) permutation = [1, 0] 
    %collapsed_56 = tensor.collapse_shape %109 [[0, 1], [2]] : tensor<1x12x6xf32> into tensor<12x6xf32>
    %111 = tensor.empty() : tensor<12x7xf32>
    %112 = linalg.fill ins(%cst_0 : f32) outs(%111 : tensor<12x7xf32>) -> tensor<12x7xf32>
    %113 = linalg.matmul ins(%collapsed_56, %transposed_55 : tensor<12x6xf32>, tensor<6x7xf32>) outs(%112 : tensor<12x7xf32>) -> tensor<12x7xf32>
    %expanded_57 = tensor.expand_shape %113 [[0, 1], [2]] output_shape [1, 12, 7] : tensor<12x7xf32> into tensor<1x12x7xf32>
    return %expanded_57 : tensor<1x12x7xf32>
  }
}

{-#
  dialect_resources: {
    builtin: {
      torch_tensor_6_torch.float32_7: "0x040000008CC9BEBC6A2893BE65C9C3BD56712D3E680D123E08C037BD",
      torch_tensor_6_torch.float32_6: "0x04000000A6A79F3F2ED1703F2351913F9EB8563F31B98A3FA21A763F",
      torch_tensor_6_torch.float32_5: "0x04000000867F1CBE34D5213E5DE229BE92F0433E6CA63FBE771A9EBD",
      torch_tensor_6_24_torch.float32: "0x040000002325C5BC9F73293EFB24B3BB6D830ABC144C41BE687C253E89F22C3ED8F227BEB14614BE8A0B223C7335EFBD2A082BBE4D31833D32B558BD9FE7903D6A1DA63DA5213A3EB360F83D047E44BE387328BE4387273E679931BE4084FF3D4AC8FEBD1AB9273E3D6CEC3D634710BE08D02CBE744AB7BD301EBFBDCB41EDBDDE4B133E9D564D3DAEDDD1BCC91C63BCE2F5AD3D0844AB3C410CCFBC139A393E2B3D103E6C816A3C2941103E763534BD3DA21EBE631AF03D4BE6E73DA994073D845532BED0E1163EBADE6D3C0828DCBD946838BE4615D9BD2D5C423E7C58CF3DFF6AB8BD9BFA2C3E670B333E13C8CF3D020295BCC7E1433E4C283DBD4C6AAEBDEDC0C73DD468AEBDAA90183E605EDEBD3DED993D7FC419BE65450BBE8D87293C61C4243E103320BE475D5EBD3075C23DFAA415BD0A7E3BBEFBDA19BBCDD192BD0805473D3D04AC3D8A317BBDE52AD6BD462BF73DBC1234BE6107CC3D7F01A83D5DE4A53DC7D411BEEE1BA83D6680F9BD30D2BA3D36A4C2BD6D06383D9FB5123B568810BEA53C42BE8F3745BDC6DBF83DB7443FBD6E3758BD17C801BE175217BEFCC487BC37AA5ABD1F97953D7D0A4B3E41B80FBEE76180BD3F179B3D89150DBE6F52B9BC15FED3BD9DF0043EFD24BABC2C64893CA297F83D031514BEEFCAE1BD0706223E8319A63D36C895BCEE66503EDB3A373E0ECCB4BDE4B469BD6E2EB53DBA5602BEF2C64FBEBF03D3BD3A633FBE8C2A043E739E533D0EE62FBE9CCF0CBC7E48483E336DF4BD9F6004BEF3B2B33D75A813BE39FE42BE817FEC3DE3EBD4BC7B92DD3D",
      torch_tensor_24_torch.float32: "0x04000000F16A8BBEDCC2533EE5A23F3E56F0093EFA32B13D8512B2BEAEF8B5BE86B76DBDB50714BD343FA93E3F7DC93EC5708D3D148289BECDC12FBED4CB2B3E421ED43DADDACE3EEC5803BF50B993BDF34798BE8470973E8A8EC43DAE51A5BD1876BEBE",
      torch_tensor_24_6_torch.float32: "0x04000000D2AAF03D1C0BB9BE220870BEF18384BE3F0DA3BD295473BC10EF0FBC3EF576BEE6794E3E655D543E055CB7BE67BFC1BEAAA9B3BDEC94E83DF2339FBE8FFC19BD24CFBD3C36B79FBE1CBCC33EDD62973E0CA79F3ECE772ABE466495BE25534D3D8584743E7B814C3EC89A87BE5417A43E243046BE5A2B92BD086EEABD5308473E8706C3BE3D1985BECD564ABDB3E18F3EB64FC9BD4F25833E5C6BBF3EEA5C7B3CB4C88CBE44D8143BE6A7223EC10FB2BD3515CCBEF7CB783EB22E36BEC83192BEB50D553E2540C93D224A983E01D8A8BD4F40813ECE86C6BD8FC781BE5EF5C03EE0A8CD3ED0F6943E8E5CE9BDA86536BED2CF933D4674523E2A5F553D1205303EC3B59FBC9E1C6D3EFD51463EB81E6E3EA366FABC0F07ACBE811883BE4BA550BE9FC5B03E4CA1A8BC2B9160BD381523BE786F8CBC23E38C3E220ABE384C18423EF9646F3E0F94CBBE1C33123EC4D9D03E7CD553BEF5D9873DD76C163C30F85C3EA070C93D6C099DBEE2219CBEDD79B23EAB2F34BE39B6B7BE7C96BBBE67D9B5BE5CE6BE3D0B4F413DD3AD72BE08E1BCBD29B4823D2448183E8EAD2A3E120B61BE07F7C43E1743C33E237194BE96BEC13E713CABBE2AF589BEA612A53D3435F53D12DDB93E92AC063B112C8D3E415A0BBE934F98BEF79422BD9507593E1E5123BEB4EDB0BE74A67EBE9F1C943D3A50C73EADE2B83CCC7FA8BE9A273BBE9F29543E479103BE45B561BDC77F9B3E50A9193E26EC7F3E0AA7BB3EE89709BE786E723D28D39CBEDCC3CF3E5C1C8CBEE2AEC63E6160BF3E1EE3B53D36B8B4BE369357BC",
      torch_tensor_6_torch.float32_4: "0x0400000047EC8F3D6BE8863D10F55EBD691B003E37F5C5BB4006093C",
      torch_tensor_6_torch.float32_3: "0x04000000243D6F3FFE63593F73BE503FC11E6D3FE0B0893FD1D6863F",
      torch_tensor_6_torch.float32_2: "0x04000000425FE8BE88DEE73E6E741F3E9CD2DABDBFEF403EC23089BE",
      torch_tensor_6_6_torch.float32: "0x040000009DA33D3E5B9FAA3EE1038BBEA37CD4BA1427A9BE4C8551BA25A6B2BEE952C9BE7DA8833E61FF38BED23B05BDFB71F6BD73C9A5BECED226BDCC04773DD803A73E2CD531BE8627C73ECD8F41BE86CB853E2093B63EE5E62C3D4C930FBE6B9E9A3E6FE2F3BDA4F732BE62BC11BE917AAABEB21727BD4D0CAABE5AE3883E5950C9BEBC499BBEFABFA53D154F813E07EBC73E",
      torch_tensor_18_torch.float32: "0x04000000C4C775BD95A10FBFDDBD903E92799F3CC868D23DB9928ABEC8B0A7BEE7F5CC3EEFCF05BE54251DBE686E68BEE8EFD73EA1FB58BEB1D868BED6AC6ABEC3FD4EBEEF2A863E202EEBBC",
      torch_tensor_18_6_torch.float32: "0x04000000672DBA3E70F9CABB3FD3BABE456C143E943EAA3EB8578ABE4521DCBD10A30C3D99686EBEAED0C1BEE802373E2585ABBE94DDD1BDBDF95DBE96319D3E076FA13D15DE413E448B8DBE5225B03EEDFD143DEBDC67BE62C7DABC020094BEA95F9ABCD470693E0FEE3BBE7BAEB03ED447FF3DE64D92BDB396023E81079ABD4152C2BD8F2289BE7396733E4BF37A3E10240F3E5C3E773ED4D2D03E7DD1C43E18B7C9BE7FA5BE3DFE2C0FBD44F30D3E9626A2BD7B5CE93D4352C0BE63123F3EBDD0C83EC35C96BD3443A6BE4DC1ADBE1465A0BD095BCABBB97F3A3D57CF513D4F719D3E26AF97BDC899EE3D452D5EBE4695CD3E0F6C203E7DE867BD2967893E91FB133E57638F3D3AD1F6BDCB43523D811AEF3CCA3E74BE4F6DBF3BEA93B63DFB9C77BE2559953D17C30ABE42E6ADBEFE5C7ABE56E4A5BE587FC13DE1B77F3E5C07BE3EA5F2CC3E50A8243E71774C3E82958EBD8CCBAC3EB4D31FBEEF32E3BD5E210BBE911E8CBE5718A1BE6E70AABD3BEFA83E6D4150BE4EC3BDBE0308BFBD7167BD3E0AA9C93D5066D3BCA701EFBDC787B73E00DAC8BE22E26C3E4B03E33DDB07833EB34C72BEBF1109BE81AF2FBEEDD1CA3E",
      torch_tensor_6_torch.float32_1: "0x040000003A0B49BD8FE2153EB34B11BE2DDD05BE1A23FD3DE56ABDBD",
      torch_tensor_6_torch.float32: "0x04000000E689843F605A673FD7BC863F6816813F712E8C3FCA0F603F",
      torch_tensor_16_6_torch.float32: "0x04000000A426BA3EB09BA1BE523608BF1F29993E20D1B5BFB76027BEE76F083E30ED3A3E8C57CE3F8497C83FC35770BFFD549EBF2A2380BD1926E63E9BC362BFE637993F303E23BFDB4A12C07B3EBCBE9AD661BF73C70B3F7113183E817F10C03400CF3E263A3F3F619CB03F01D4A43FF9515E3FE1EBB0BF279676BFCC02CCBEDA5231BE305FAABD8B3A023F75148F3F0675903F33FF103E0FBB0BBF326D09BFA631543F62C40EBF696DE0BEB21E943FAF27B63D9A20883EF24143BE216CC43E0FCFF43F0310CABF6F60253F73E39A3DDE301CBEC287483EF0CCC8BF2FF68FBF3BFEA0BE8CA99CBFE7E8233FF9162F3F737ECE3FE4E36E3F25277ABF78E350BFA506943FE1EB2D3F7F14CABE02E1A93F1793E23D38C0AC3EDCE9A3BE31A3113F3881083E0E00DF3F9088163F86108D3E2F036FBFAE671CBEABAB07BF720DBA3F4F4DC5BF0B090CC000237EBFAD74633F634BBEBF1BCC63BF1A89663F28E1853E070219BE8E74C0BE74F42C3E88A20ABF935024BEC3C46E3F46F2843DF6858A3D4A850CBF",
      torch_tensor_7_6_torch.float32: "0x0400000056F451BF2390CA3ED51E663F39B7B1BF01012BBE2DFF913E931E24BF95C664BFED316D3F571709BFBA7194BFAC99EBBED162353FF8A1813F28ED6B3E8A8A8B3FC194CABF9B2DA6BE3493F63F4CF7A8BEEB344B3EEA35483F7B01853F937939BF565D56BE78825CBEF59F1C3F8813EF3F1ABE2040CD9CA0BF4B03513FFE5E88BF207836BE09DD84BE8C9ECA3E1812AFBFCB4DCEBDF4B3723E74F7213F3DC1BBBD9AE9CF3FF56ECD3A"
    }
  }
#-}
