#map = affine_map<(d0, d1, d2) -> (d0, d1)>
#map1 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map2 = affine_map<(d0) -> (d0)>
#map3 = affine_map<(d0, d1) -> (d0)>
#map4 = affine_map<(d0, d1) -> (d0, d1)>
#map5 = affine_map<(d0, d1, d2) -> (d1, d2)>
#map6 = affine_map<(d0, d1, d2) -> (d0, d1, 0)>
#map7 = affine_map<(d0, d1, d2) -> (d2)>
#map8 = affine_map<(d0, d1) -> (d1)>
#map9 = affine_map<(d0, d1) -> ()>
#map10 = affine_map<(d0, d1) -> (0, d1)>
#map11 = affine_map<(d0, d1) -> (d0, 0)>
#map12 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map13 = affine_map<(d0, d1, d2, d3) -> (d2, d3)>
#map14 = affine_map<(d0, d1, d2, d3) -> ()>
#map15 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
#map16 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, 0)>
module {
  func.func @main(%arg0: tensor<1x?xi64>) -> tensor<1x?x7xf32> {
    %c0_i64 = arith.constant 0 : i64
    %c1_i64 = arith.constant 1 : i64
    %c1 = arith.constant 1 : index
    %c0 = arith.constant 0 : index
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
    %cst_7 = arith.constant dense<true> : tensor<i1>
    %cst_8 = arith.constant dense_resource<torch_tensor_6_torch.float32_13> : tensor<6xf32>
    %cst_9 = arith.constant dense_resource<torch_tensor_6_torch.float32_12> : tensor<6xf32>
    %cst_10 = arith.constant dense_resource<torch_tensor_6_torch.float32_11> : tensor<6xf32>
    %cst_11 = arith.constant dense_resource<torch_tensor_6_24_torch.float32_1> : tensor<6x24xf32>
    %cst_12 = arith.constant dense_resource<torch_tensor_24_torch.float32_1> : tensor<24xf32>
    %cst_13 = arith.constant dense_resource<torch_tensor_24_6_torch.float32_1> : tensor<24x6xf32>
    %cst_14 = arith.constant dense_resource<torch_tensor_6_torch.float32_10> : tensor<6xf32>
    %cst_15 = arith.constant dense_resource<torch_tensor_6_torch.float32_9> : tensor<6xf32>
    %cst_16 = arith.constant dense_resource<torch_tensor_6_torch.float32_8> : tensor<6xf32>
    %cst_17 = arith.constant dense_resource<torch_tensor_6_6_torch.float32_1> : tensor<6x6xf32>
    %cst_18 = arith.constant dense_resource<torch_tensor_18_torch.float32_1> : tensor<18xf32>
    %cst_19 = arith.constant dense_resource<torch_tensor_18_6_torch.float32_1> : tensor<18x6xf32>
    %cst_20 = arith.constant dense_resource<torch_tensor_6_torch.float32_7> : tensor<6xf32>
    %cst_21 = arith.constant dense_resource<torch_tensor_6_torch.float32_6> : tensor<6xf32>
    %cst_22 = arith.constant dense_resource<torch_tensor_6_torch.float32_5> : tensor<6xf32>
    %cst_23 = arith.constant dense_resource<torch_tensor_6_24_torch.float32> : tensor<6x24xf32>
    %cst_24 = arith.constant dense_resource<torch_tensor_24_torch.float32> : tensor<24xf32>
    %cst_25 = arith.constant dense_resource<torch_tensor_24_6_torch.float32> : tensor<24x6xf32>
    %cst_26 = arith.constant dense_resource<torch_tensor_6_torch.float32_4> : tensor<6xf32>
    %cst_27 = arith.constant dense_resource<torch_tensor_6_torch.float32_3> : tensor<6xf32>
    %cst_28 = arith.constant dense_resource<torch_tensor_6_torch.float32_2> : tensor<6xf32>
    %cst_29 = arith.constant dense_resource<torch_tensor_6_6_torch.float32> : tensor<6x6xf32>
    %cst_30 = arith.constant 1.4142135623730951 : f64
    %cst_31 = arith.constant dense_resource<torch_tensor_18_torch.float32> : tensor<18xf32>
    %cst_32 = arith.constant dense_resource<torch_tensor_18_6_torch.float32> : tensor<18x6xf32>
    %cst_33 = arith.constant dense_resource<torch_tensor_6_torch.float32_1> : tensor<6xf32>
    %cst_34 = arith.constant dense_resource<torch_tensor_6_torch.float32> : tensor<6xf32>
    %cst_35 = arith.constant 1.000000e-05 : f64
    %cst_36 = arith.constant dense_resource<torch_tensor_16_6_torch.float32> : tensor<16x6xf32>
    %cst_37 = arith.constant dense_resource<torch_tensor_7_6_torch.float32> : tensor<7x6xf32>
    %cst_38 = arith.constant 6.000000e+00 : f64
    %cst_39 = arith.constant 6.000000e+00 : f32
    %dim = tensor.dim %arg0, %c1 : tensor<1x?xi64>
    %0 = arith.index_cast %dim : index to i64
    %1 = tensor.empty(%dim) : tensor<1x?x6xf32>
    %2 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg0 : tensor<1x?xi64>) outs(%1 : tensor<1x?x6xf32>) {
    ^bb0(%in: i64, %out: f32):
      %200 = arith.index_cast %in : i64 to index
      %201 = linalg.index 2 : index
      %202 = arith.cmpi slt, %200, %c7 : index
      cf.assert %202, "index must be smaller than dim size"
      %203 = arith.cmpi sge, %in, %c0_i64 : i64
      cf.assert %203, "index must be larger or equal to 0"
      %extracted = tensor.extract %cst_37[%200, %201] : tensor<7x6xf32>
      linalg.yield %extracted : f32
    } -> tensor<1x?x6xf32>
    %3 = tensor.empty(%dim) : tensor<?xi64>
    %4 = linalg.generic {indexing_maps = [#map2], iterator_types = ["parallel"]} outs(%3 : tensor<?xi64>) {
    ^bb0(%out: i64):
      %200 = linalg.index 0 : index
      %201 = arith.index_cast %200 : index to i64
      linalg.yield %201 : i64
    } -> tensor<?xi64>
    %5 = tensor.empty(%dim) : tensor<?x6xf32>
    %6 = linalg.generic {indexing_maps = [#map3, #map4], iterator_types = ["parallel", "parallel"]} ins(%4 : tensor<?xi64>) outs(%5 : tensor<?x6xf32>) {
    ^bb0(%in: i64, %out: f32):
      %200 = arith.index_cast %in : i64 to index
      %201 = linalg.index 1 : index
      %202 = arith.cmpi slt, %200, %c16 : index
      cf.assert %202, "index must be smaller than dim size"
      %203 = arith.cmpi sge, %in, %c0_i64 : i64
      cf.assert %203, "index must be larger or equal to 0"
      %extracted = tensor.extract %cst_36[%200, %201] : tensor<16x6xf32>
      linalg.yield %extracted : f32
    } -> tensor<?x6xf32>
    %7 = linalg.generic {indexing_maps = [#map1, #map5, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%2, %6 : tensor<1x?x6xf32>, tensor<?x6xf32>) outs(%1 : tensor<1x?x6xf32>) {
    ^bb0(%in: f32, %in_99: f32, %out: f32):
      %200 = arith.addf %in, %in_99 : f32
      linalg.yield %200 : f32
    } -> tensor<1x?x6xf32>
    %8 = tensor.empty(%dim) : tensor<1x?x6xf64>
    %9 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%7 : tensor<1x?x6xf32>) outs(%8 : tensor<1x?x6xf64>) {
    ^bb0(%in: f32, %out: f64):
      %200 = arith.extf %in : f32 to f64
      linalg.yield %200 : f64
    } -> tensor<1x?x6xf64>
    %10 = tensor.empty(%dim) : tensor<1x?x1xf64>
    %11 = linalg.fill ins(%cst : f64) outs(%10 : tensor<1x?x1xf64>) -> tensor<1x?x1xf64>
    %12 = linalg.generic {indexing_maps = [#map1, #map6], iterator_types = ["parallel", "parallel", "reduction"]} ins(%9 : tensor<1x?x6xf64>) outs(%11 : tensor<1x?x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %200 = arith.addf %in, %out : f64
      linalg.yield %200 : f64
    } -> tensor<1x?x1xf64>
    %13 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%12 : tensor<1x?x1xf64>) outs(%10 : tensor<1x?x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %200 = arith.divf %in, %cst_38 : f64
      linalg.yield %200 : f64
    } -> tensor<1x?x1xf64>
    %14 = linalg.generic {indexing_maps = [#map1, #map6, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%9, %13 : tensor<1x?x6xf64>, tensor<1x?x1xf64>) outs(%8 : tensor<1x?x6xf64>) {
    ^bb0(%in: f64, %in_99: f64, %out: f64):
      %200 = arith.subf %in, %in_99 : f64
      linalg.yield %200 : f64
    } -> tensor<1x?x6xf64>
    %15 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%14, %14 : tensor<1x?x6xf64>, tensor<1x?x6xf64>) outs(%8 : tensor<1x?x6xf64>) {
    ^bb0(%in: f64, %in_99: f64, %out: f64):
      %200 = arith.mulf %in, %in_99 : f64
      linalg.yield %200 : f64
    } -> tensor<1x?x6xf64>
    %16 = linalg.generic {indexing_maps = [#map1, #map6], iterator_types = ["parallel", "parallel", "reduction"]} ins(%15 : tensor<1x?x6xf64>) outs(%11 : tensor<1x?x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %200 = arith.addf %in, %out : f64
      linalg.yield %200 : f64
    } -> tensor<1x?x1xf64>
    %17 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%16 : tensor<1x?x1xf64>) outs(%10 : tensor<1x?x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %200 = arith.divf %in, %cst_38 : f64
      linalg.yield %200 : f64
    } -> tensor<1x?x1xf64>
    %18 = tensor.empty(%dim) : tensor<1x?x1xf32>
    %19 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%17 : tensor<1x?x1xf64>) outs(%18 : tensor<1x?x1xf32>) {
    ^bb0(%in: f64, %out: f32):
      %200 = arith.truncf %in : f64 to f32
      linalg.yield %200 : f32
    } -> tensor<1x?x1xf32>
    %20 = linalg.fill ins(%cst_0 : f32) outs(%18 : tensor<1x?x1xf32>) -> tensor<1x?x1xf32>
    %21 = linalg.generic {indexing_maps = [#map1, #map6], iterator_types = ["parallel", "parallel", "reduction"]} ins(%7 : tensor<1x?x6xf32>) outs(%20 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %200 = arith.addf %in, %out : f32
      linalg.yield %200 : f32
    } -> tensor<1x?x1xf32>
    %22 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%21 : tensor<1x?x1xf32>) outs(%18 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %200 = arith.divf %in, %cst_39 : f32
      linalg.yield %200 : f32
    } -> tensor<1x?x1xf32>
    %23 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%19 : tensor<1x?x1xf32>) outs(%18 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %200 = arith.truncf %cst_35 : f64 to f32
      %201 = arith.addf %in, %200 : f32
      linalg.yield %201 : f32
    } -> tensor<1x?x1xf32>
    %24 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%23 : tensor<1x?x1xf32>) outs(%18 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %200 = math.rsqrt %in : f32
      linalg.yield %200 : f32
    } -> tensor<1x?x1xf32>
    %25 = linalg.generic {indexing_maps = [#map1, #map6, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%7, %22 : tensor<1x?x6xf32>, tensor<1x?x1xf32>) outs(%1 : tensor<1x?x6xf32>) {
    ^bb0(%in: f32, %in_99: f32, %out: f32):
      %200 = arith.subf %in, %in_99 : f32
      linalg.yield %200 : f32
    } -> tensor<1x?x6xf32>
    %26 = linalg.generic {indexing_maps = [#map1, #map6, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%25, %24 : tensor<1x?x6xf32>, tensor<1x?x1xf32>) outs(%1 : tensor<1x?x6xf32>) {
    ^bb0(%in: f32, %in_99: f32, %out: f32):
      %200 = arith.mulf %in, %in_99 : f32
      linalg.yield %200 : f32
    } -> tensor<1x?x6xf32>
    %27 = linalg.generic {indexing_maps = [#map1, #map7, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%26, %cst_34 : tensor<1x?x6xf32>, tensor<6xf32>) outs(%1 : tensor<1x?x6xf32>) {
    ^bb0(%in: f32, %in_99: f32, %out: f32):
      %200 = arith.mulf %in, %in_99 : f32
      linalg.yield %200 : f32
    } -> tensor<1x?x6xf32>
    %28 = linalg.generic {indexing_maps = [#map1, #map7, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%27, %cst_33 : tensor<1x?x6xf32>, tensor<6xf32>) outs(%1 : tensor<1x?x6xf32>) {
    ^bb0(%in: f32, %in_99: f32, %out: f32):
      %200 = arith.addf %in, %in_99 : f32
      linalg.yield %200 : f32
    } -> tensor<1x?x6xf32>
    %collapsed = tensor.collapse_shape %28 [[0, 1], [2]] : tensor<1x?x6xf32> into tensor<?x6xf32>
    %29 = tensor.empty() : tensor<6x18xf32>
    %transposed = linalg.transpose ins(%cst_32 : tensor<18x6xf32>) outs(%29 : tensor<6x18xf32>) permutation = [1, 0] 
    %30 = tensor.empty(%dim) : tensor<?x18xf32>
    %31 = linalg.fill ins(%cst_0 : f32) outs(%30 : tensor<?x18xf32>) -> tensor<?x18xf32>
    %32 = linalg.matmul ins(%collapsed, %transposed : tensor<?x6xf32>, tensor<6x18xf32>) outs(%31 : tensor<?x18xf32>) -> tensor<?x18xf32>
    %33 = linalg.generic {indexing_maps = [#map4, #map8, #map4], iterator_types = ["parallel", "parallel"]} ins(%32, %cst_31 : tensor<?x18xf32>, tensor<18xf32>) outs(%30 : tensor<?x18xf32>) {
    ^bb0(%in: f32, %in_99: f32, %out: f32):
      %200 = arith.addf %in, %in_99 : f32
      linalg.yield %200 : f32
    } -> tensor<?x18xf32>
    %expanded = tensor.expand_shape %33 [[0, 1], [2]] output_shape [1, %dim, 18] : tensor<?x18xf32> into tensor<1x?x18xf32>
    %extracted_slice = tensor.extract_slice %expanded[0, 0, 0] [1, %dim, 6] [1, 1, 1] : tensor<1x?x18xf32> to tensor<1x?x6xf32>
    %extracted_slice_40 = tensor.extract_slice %expanded[0, 0, 6] [1, %dim, 6] [1, 1, 1] : tensor<1x?x18xf32> to tensor<1x?x6xf32>
    %extracted_slice_41 = tensor.extract_slice %expanded[0, 0, 12] [1, %dim, 6] [1, 1, 1] : tensor<1x?x18xf32> to tensor<1x?x6xf32>
    %expanded_42 = tensor.expand_shape %extracted_slice [[0], [1], [2, 3]] output_shape [1, %dim, 3, 2] : tensor<1x?x6xf32> into tensor<1x?x3x2xf32>
    %34 = tensor.empty(%dim) : tensor<1x3x?x2xf32>
    %transposed_43 = linalg.transpose ins(%expanded_42 : tensor<1x?x3x2xf32>) outs(%34 : tensor<1x3x?x2xf32>) permutation = [0, 2, 1, 3] 
    %expanded_44 = tensor.expand_shape %extracted_slice_40 [[0], [1], [2, 3]] output_shape [1, %dim, 3, 2] : tensor<1x?x6xf32> into tensor<1x?x3x2xf32>
    %expanded_45 = tensor.expand_shape %extracted_slice_41 [[0], [1], [2, 3]] output_shape [1, %dim, 3, 2] : tensor<1x?x6xf32> into tensor<1x?x3x2xf32>
    %transposed_46 = linalg.transpose ins(%expanded_45 : tensor<1x?x3x2xf32>) outs(%34 : tensor<1x3x?x2xf32>) permutation = [0, 2, 1, 3] 
    %35 = arith.cmpi sge, %0, %c0_i64 : i64
    cf.assert %35, "negative values not allowed in new dimensions"
    cf.assert %35, "negative values not allowed in new dimensions"
    %36 = tensor.empty(%dim, %dim) : tensor<?x?xi1>
    %37 = linalg.generic {indexing_maps = [#map9, #map4], iterator_types = ["parallel", "parallel"]} ins(%cst_7 : tensor<i1>) outs(%36 : tensor<?x?xi1>) {
    ^bb0(%in: i1, %out: i1):
      linalg.yield %in : i1
    } -> tensor<?x?xi1>
    %expanded_47 = tensor.expand_shape %4 [[0, 1]] output_shape [1, %dim] : tensor<?xi64> into tensor<1x?xi64>
    %expanded_48 = tensor.expand_shape %4 [[0, 1]] output_shape [%dim, 1] : tensor<?xi64> into tensor<?x1xi64>
    %38 = tensor.empty(%dim, %dim) : tensor<?x?xi64>
    %39 = linalg.generic {indexing_maps = [#map10, #map11, #map4], iterator_types = ["parallel", "parallel"]} ins(%expanded_47, %expanded_48 : tensor<1x?xi64>, tensor<?x1xi64>) outs(%38 : tensor<?x?xi64>) {
    ^bb0(%in: i64, %in_99: i64, %out: i64):
      %200 = arith.subi %in, %in_99 : i64
      linalg.yield %200 : i64
    } -> tensor<?x?xi64>
    %40 = tensor.empty(%dim, %dim) : tensor<?x?xi1>
    %41 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel"]} ins(%39 : tensor<?x?xi64>) outs(%40 : tensor<?x?xi1>) {
    ^bb0(%in: i64, %out: i1):
      %200 = arith.cmpi sle, %in, %c0_i64 : i64
      linalg.yield %200 : i1
    } -> tensor<?x?xi1>
    cf.assert %true, "mismatched size for broadcast"
    cf.assert %true, "mismatched size for broadcast"
    %42 = linalg.generic {indexing_maps = [#map4, #map4, #map4], iterator_types = ["parallel", "parallel"]} ins(%41, %37 : tensor<?x?xi1>, tensor<?x?xi1>) outs(%40 : tensor<?x?xi1>) {
    ^bb0(%in: i1, %in_99: i1, %out: i1):
      %200 = arith.andi %in, %in_99 : i1
      linalg.yield %200 : i1
    } -> tensor<?x?xi1>
    %43 = tensor.empty(%dim) : tensor<1x3x2x?xf32>
    %transposed_49 = linalg.transpose ins(%expanded_44 : tensor<1x?x3x2xf32>) outs(%43 : tensor<1x3x2x?xf32>) permutation = [0, 2, 3, 1] 
    %44 = arith.cmpi sge, %0, %c0_i64 : i64
    cf.assert %44, "unimplemented: dynamic negative broadcast sizes"
    %45 = tensor.empty(%dim) : tensor<1x3x?x2xf32>
    %46 = linalg.generic {indexing_maps = [#map12], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%45 : tensor<1x3x?x2xf32>) {
    ^bb0(%out: f32):
      %200 = linalg.index 1 : index
      %201 = linalg.index 2 : index
      %202 = linalg.index 3 : index
      %203 = arith.cmpi eq, %dim, %c1 : index
      %204 = arith.select %203, %c0, %201 : index
      %extracted = tensor.extract %transposed_43[%c0, %200, %204, %202] : tensor<1x3x?x2xf32>
      linalg.yield %extracted : f32
    } -> tensor<1x3x?x2xf32>
    %collapsed_50 = tensor.collapse_shape %46 [[0, 1], [2], [3]] : tensor<1x3x?x2xf32> into tensor<3x?x2xf32>
    cf.assert %44, "unimplemented: dynamic negative broadcast sizes"
    %47 = tensor.empty(%dim) : tensor<1x3x2x?xf32>
    %48 = linalg.generic {indexing_maps = [#map12], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%47 : tensor<1x3x2x?xf32>) {
    ^bb0(%out: f32):
      %200 = linalg.index 1 : index
      %201 = linalg.index 2 : index
      %202 = linalg.index 3 : index
      %203 = arith.cmpi eq, %dim, %c1 : index
      %204 = arith.select %203, %c0, %202 : index
      %extracted = tensor.extract %transposed_49[%c0, %200, %201, %204] : tensor<1x3x2x?xf32>
      linalg.yield %extracted : f32
    } -> tensor<1x3x2x?xf32>
    %collapsed_51 = tensor.collapse_shape %48 [[0, 1], [2], [3]] : tensor<1x3x2x?xf32> into tensor<3x2x?xf32>
    %49 = tensor.empty(%dim, %dim) : tensor<3x?x?xf32>
    %50 = linalg.fill ins(%cst_0 : f32) outs(%49 : tensor<3x?x?xf32>) -> tensor<3x?x?xf32>
    %51 = linalg.batch_matmul ins(%collapsed_50, %collapsed_51 : tensor<3x?x2xf32>, tensor<3x2x?xf32>) outs(%50 : tensor<3x?x?xf32>) -> tensor<3x?x?xf32>
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
    %66 = linalg.generic {indexing_maps = [#map12, #map12], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%reshape : tensor<1x3x?x?xf32>) outs(%65 : tensor<1x3x?x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %200 = arith.truncf %cst_30 : f64 to f32
      %201 = arith.divf %in, %200 : f32
      linalg.yield %201 : f32
    } -> tensor<1x3x?x?xf32>
    %67 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel"]} ins(%42 : tensor<?x?xi1>) outs(%40 : tensor<?x?xi1>) {
    ^bb0(%in: i1, %out: i1):
      %200 = arith.xori %in, %true : i1
      linalg.yield %200 : i1
    } -> tensor<?x?xi1>
    %68 = arith.cmpi eq, %dim, %64 : index
    cf.assert %68, "mismatched size for broadcast"
    cf.assert %68, "mismatched size for broadcast"
    %69 = tensor.empty(%dim, %dim) : tensor<1x3x?x?xf32>
    %70 = linalg.generic {indexing_maps = [#map13, #map14, #map12, #map12], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%67, %cst_6, %66 : tensor<?x?xi1>, tensor<f32>, tensor<1x3x?x?xf32>) outs(%69 : tensor<1x3x?x?xf32>) {
    ^bb0(%in: i1, %in_99: f32, %in_100: f32, %out: f32):
      %200 = arith.select %in, %in_99, %in_100 : f32
      linalg.yield %200 : f32
    } -> tensor<1x3x?x?xf32>
    %71 = tensor.empty(%dim) : tensor<1x3x?xi64>
    %72 = linalg.fill ins(%c0_i64 : i64) outs(%71 : tensor<1x3x?xi64>) -> tensor<1x3x?xi64>
    %73 = tensor.empty(%dim) : tensor<1x3x?xf32>
    %74 = linalg.fill ins(%cst_1 : f32) outs(%73 : tensor<1x3x?xf32>) -> tensor<1x3x?xf32>
    %75:2 = linalg.generic {indexing_maps = [#map12, #map15, #map15], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%70 : tensor<1x3x?x?xf32>) outs(%74, %72 : tensor<1x3x?xf32>, tensor<1x3x?xi64>) {
    ^bb0(%in: f32, %out: f32, %out_99: i64):
      %200 = linalg.index 3 : index
      %201 = arith.index_cast %200 : index to i64
      %202 = arith.maximumf %in, %out : f32
      %203 = arith.cmpf ogt, %in, %out : f32
      %204 = arith.select %203, %201, %out_99 : i64
      linalg.yield %202, %204 : f32, i64
    } -> (tensor<1x3x?xf32>, tensor<1x3x?xi64>)
    %expanded_52 = tensor.expand_shape %75#0 [[0], [1], [2, 3]] output_shape [1, 3, %dim, 1] : tensor<1x3x?xf32> into tensor<1x3x?x1xf32>
    %76 = linalg.generic {indexing_maps = [#map12, #map16, #map12], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%70, %expanded_52 : tensor<1x3x?x?xf32>, tensor<1x3x?x1xf32>) outs(%69 : tensor<1x3x?x?xf32>) {
    ^bb0(%in: f32, %in_99: f32, %out: f32):
      %200 = arith.subf %in, %in_99 : f32
      linalg.yield %200 : f32
    } -> tensor<1x3x?x?xf32>
    %77 = linalg.generic {indexing_maps = [#map12, #map12], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%76 : tensor<1x3x?x?xf32>) outs(%69 : tensor<1x3x?x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %200 = math.exp %in : f32
      linalg.yield %200 : f32
    } -> tensor<1x3x?x?xf32>
    %78 = tensor.empty(%dim) : tensor<1x3x?x1xf32>
    %79 = linalg.fill ins(%cst_0 : f32) outs(%78 : tensor<1x3x?x1xf32>) -> tensor<1x3x?x1xf32>
    %80 = linalg.generic {indexing_maps = [#map12, #map16], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%77 : tensor<1x3x?x?xf32>) outs(%79 : tensor<1x3x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %200 = arith.addf %in, %out : f32
      linalg.yield %200 : f32
    } -> tensor<1x3x?x1xf32>
    %81 = linalg.generic {indexing_maps = [#map12, #map16, #map12], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%77, %80 : tensor<1x3x?x?xf32>, tensor<1x3x?x1xf32>) outs(%69 : tensor<1x3x?x?xf32>) {
    ^bb0(%in: f32, %in_99: f32, %out: f32):
      %200 = arith.divf %in, %in_99 : f32
      linalg.yield %200 : f32
    } -> tensor<1x3x?x?xf32>
    cf.assert %44, "unimplemented: dynamic negative broadcast sizes"
    cf.assert %44, "unimplemented: dynamic negative broadcast sizes"
    %82 = tensor.empty(%dim, %dim) : tensor<1x3x?x?xf32>
    %83 = linalg.generic {indexing_maps = [#map12], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%82 : tensor<1x3x?x?xf32>) {
    ^bb0(%out: f32):
      %200 = linalg.index 1 : index
      %201 = linalg.index 2 : index
      %202 = linalg.index 3 : index
      %203 = arith.cmpi eq, %dim, %c1 : index
      %204 = arith.select %203, %c0, %201 : index
      %205 = arith.select %203, %c0, %202 : index
      %extracted = tensor.extract %81[%c0, %200, %204, %205] : tensor<1x3x?x?xf32>
      linalg.yield %extracted : f32
    } -> tensor<1x3x?x?xf32>
    cf.assert %60, "must have at most one inferred (negative) dimension"
    %from_elements_53 = tensor.from_elements %c3_i64, %63, %63 : tensor<3xi64>
    %reshape_54 = tensor.reshape %83(%from_elements_53) : (tensor<1x3x?x?xf32>, tensor<3xi64>) -> tensor<3x?x?xf32>
    cf.assert %44, "unimplemented: dynamic negative broadcast sizes"
    %84 = linalg.generic {indexing_maps = [#map12], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%45 : tensor<1x3x?x2xf32>) {
    ^bb0(%out: f32):
      %200 = linalg.index 1 : index
      %201 = linalg.index 2 : index
      %202 = linalg.index 3 : index
      %203 = arith.cmpi eq, %dim, %c1 : index
      %204 = arith.select %203, %c0, %201 : index
      %extracted = tensor.extract %transposed_46[%c0, %200, %204, %202] : tensor<1x3x?x2xf32>
      linalg.yield %extracted : f32
    } -> tensor<1x3x?x2xf32>
    %collapsed_55 = tensor.collapse_shape %84 [[0, 1], [2], [3]] : tensor<1x3x?x2xf32> into tensor<3x?x2xf32>
    %85 = arith.cmpi eq, %63, %0 : i64
    cf.assert %85, "mismatching contracting dimension"
    %86 = tensor.empty(%64) : tensor<3x?x2xf32>
    %87 = linalg.fill ins(%cst_0 : f32) outs(%86 : tensor<3x?x2xf32>) -> tensor<3x?x2xf32>
    %88 = linalg.batch_matmul ins(%reshape_54, %collapsed_55 : tensor<3x?x?xf32>, tensor<3x?x2xf32>) outs(%87 : tensor<3x?x2xf32>) -> tensor<3x?x2xf32>
    %expanded_56 = tensor.expand_shape %88 [[0, 1], [2], [3]] output_shape [1, 3, %64, 2] : tensor<3x?x2xf32> into tensor<1x3x?x2xf32>
    %89 = tensor.empty(%64) : tensor<1x?x3x2xf32>
    %transposed_57 = linalg.transpose ins(%expanded_56 : tensor<1x3x?x2xf32>) outs(%89 : tensor<1x?x3x2xf32>) permutation = [0, 2, 1, 3] 
    %collapsed_58 = tensor.collapse_shape %transposed_57 [[0, 1], [2, 3]] : tensor<1x?x3x2xf32> into tensor<?x6xf32>
    %90 = tensor.empty() : tensor<6x6xf32>
    %transposed_59 = linalg.transpose ins(%cst_29 : tensor<6x6xf32>) outs(%90 : tensor<6x6xf32>) permutation = [1, 0] 
    %91 = tensor.empty(%64) : tensor<?x6xf32>
    %92 = linalg.fill ins(%cst_0 : f32) outs(%91 : tensor<?x6xf32>) -> tensor<?x6xf32>
    %93 = linalg.matmul ins(%collapsed_58, %transposed_59 : tensor<?x6xf32>, tensor<6x6xf32>) outs(%92 : tensor<?x6xf32>) -> tensor<?x6xf32>
    %94 = linalg.generic {indexing_maps = [#map4, #map8, #map4], iterator_types = ["parallel", "parallel"]} ins(%93, %cst_28 : tensor<?x6xf32>, tensor<6xf32>) outs(%91 : tensor<?x6xf32>) {
    ^bb0(%in: f32, %in_99: f32, %out: f32):
      %200 = arith.addf %in, %in_99 : f32
      linalg.yield %200 : f32
    } -> tensor<?x6xf32>
    %expanded_60 = tensor.expand_shape %94 [[0, 1], [2]] output_shape [1, %64, 6] : tensor<?x6xf32> into tensor<1x?x6xf32>
    cf.assert %68, "mismatched size for broadcast"
    %95 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%7, %expanded_60 : tensor<1x?x6xf32>, tensor<1x?x6xf32>) outs(%1 : tensor<1x?x6xf32>) {
    ^bb0(%in: f32, %in_99: f32, %out: f32):
      %200 = arith.addf %in, %in_99 : f32
      linalg.yield %200 : f32
    } -> tensor<1x?x6xf32>
    %96 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%95 : tensor<1x?x6xf32>) outs(%8 : tensor<1x?x6xf64>) {
    ^bb0(%in: f32, %out: f64):
      %200 = arith.extf %in : f32 to f64
      linalg.yield %200 : f64
    } -> tensor<1x?x6xf64>
    %97 = linalg.generic {indexing_maps = [#map1, #map6], iterator_types = ["parallel", "parallel", "reduction"]} ins(%96 : tensor<1x?x6xf64>) outs(%11 : tensor<1x?x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %200 = arith.addf %in, %out : f64
      linalg.yield %200 : f64
    } -> tensor<1x?x1xf64>
    %98 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%97 : tensor<1x?x1xf64>) outs(%10 : tensor<1x?x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %200 = arith.divf %in, %cst_38 : f64
      linalg.yield %200 : f64
    } -> tensor<1x?x1xf64>
    %99 = linalg.generic {indexing_maps = [#map1, #map6, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%96, %98 : tensor<1x?x6xf64>, tensor<1x?x1xf64>) outs(%8 : tensor<1x?x6xf64>) {
    ^bb0(%in: f64, %in_99: f64, %out: f64):
      %200 = arith.subf %in, %in_99 : f64
      linalg.yield %200 : f64
    } -> tensor<1x?x6xf64>
    %100 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%99, %99 : tensor<1x?x6xf64>, tensor<1x?x6xf64>) outs(%8 : tensor<1x?x6xf64>) {
    ^bb0(%in: f64, %in_99: f64, %out: f64):
      %200 = arith.mulf %in, %in_99 : f64
      linalg.yield %200 : f64
    } -> tensor<1x?x6xf64>
    %101 = linalg.generic {indexing_maps = [#map1, #map6], iterator_types = ["parallel", "parallel", "reduction"]} ins(%100 : tensor<1x?x6xf64>) outs(%11 : tensor<1x?x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %200 = arith.addf %in, %out : f64
      linalg.yield %200 : f64
    } -> tensor<1x?x1xf64>
    %102 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%101 : tensor<1x?x1xf64>) outs(%10 : tensor<1x?x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %200 = arith.divf %in, %cst_38 : f64
      linalg.yield %200 : f64
    } -> tensor<1x?x1xf64>
    %103 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%102 : tensor<1x?x1xf64>) outs(%18 : tensor<1x?x1xf32>) {
    ^bb0(%in: f64, %out: f32):
      %200 = arith.truncf %in : f64 to f32
      linalg.yield %200 : f32
    } -> tensor<1x?x1xf32>
    %104 = linalg.generic {indexing_maps = [#map1, #map6], iterator_types = ["parallel", "parallel", "reduction"]} ins(%95 : tensor<1x?x6xf32>) outs(%20 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %200 = arith.addf %in, %out : f32
      linalg.yield %200 : f32
    } -> tensor<1x?x1xf32>
    %105 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%104 : tensor<1x?x1xf32>) outs(%18 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %200 = arith.divf %in, %cst_39 : f32
      linalg.yield %200 : f32
    } -> tensor<1x?x1xf32>
    %106 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%103 : tensor<1x?x1xf32>) outs(%18 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %200 = arith.truncf %cst_35 : f64 to f32
      %201 = arith.addf %in, %200 : f32
      linalg.yield %201 : f32
    } -> tensor<1x?x1xf32>
    %107 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%106 : tensor<1x?x1xf32>) outs(%18 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %200 = math.rsqrt %in : f32
      linalg.yield %200 : f32
    } -> tensor<1x?x1xf32>
    %108 = linalg.generic {indexing_maps = [#map1, #map6, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%95, %105 : tensor<1x?x6xf32>, tensor<1x?x1xf32>) outs(%1 : tensor<1x?x6xf32>) {
    ^bb0(%in: f32, %in_99: f32, %out: f32):
      %200 = arith.subf %in, %in_99 : f32
      linalg.yield %200 : f32
    } -> tensor<1x?x6xf32>
    %109 = linalg.generic {indexing_maps = [#map1, #map6, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%108, %107 : tensor<1x?x6xf32>, tensor<1x?x1xf32>) outs(%1 : tensor<1x?x6xf32>) {
    ^bb0(%in: f32, %in_99: f32, %out: f32):
      %200 = arith.mulf %in, %in_99 : f32
      linalg.yield %200 : f32
    } -> tensor<1x?x6xf32>
    %110 = linalg.generic {indexing_maps = [#map1, #map7, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%109, %cst_27 : tensor<1x?x6xf32>, tensor<6xf32>) outs(%1 : tensor<1x?x6xf32>) {
    ^bb0(%in: f32, %in_99: f32, %out: f32):
      %200 = arith.mulf %in, %in_99 : f32
      linalg.yield %200 : f32
    } -> tensor<1x?x6xf32>
    %111 = linalg.generic {indexing_maps = [#map1, #map7, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%110, %cst_26 : tensor<1x?x6xf32>, tensor<6xf32>) outs(%1 : tensor<1x?x6xf32>) {
    ^bb0(%in: f32, %in_99: f32, %out: f32):
      %200 = arith.addf %in, %in_99 : f32
      linalg.yield %200 : f32
    } -> tensor<1x?x6xf32>
    %collapsed_61 = tensor.collapse_shape %111 [[0, 1], [2]] : tensor<1x?x6xf32> into tensor<?x6xf32>
    %112 = tensor.empty() : tensor<6x24xf32>
    %transposed_62 = linalg.transpose ins(%cst_25 : tensor<24x6xf32>) outs(%112 : tensor<6x24xf32>) permutation = [1, 0] 
    %113 = tensor.empty(%dim) : tensor<?x24xf32>
    %114 = linalg.fill ins(%cst_0 : f32) outs(%113 : tensor<?x24xf32>) -> tensor<?x24xf32>
    %115 = linalg.matmul ins(%collapsed_61, %transposed_62 : tensor<?x6xf32>, tensor<6x24xf32>) outs(%114 : tensor<?x24xf32>) -> tensor<?x24xf32>
    %116 = linalg.generic {indexing_maps = [#map4, #map8, #map4], iterator_types = ["parallel", "parallel"]} ins(%115, %cst_24 : tensor<?x24xf32>, tensor<24xf32>) outs(%113 : tensor<?x24xf32>) {
    ^bb0(%in: f32, %in_99: f32, %out: f32):
      %200 = arith.addf %in, %in_99 : f32
      linalg.yield %200 : f32
    } -> tensor<?x24xf32>
    %expanded_63 = tensor.expand_shape %116 [[0, 1], [2]] output_shape [1, %dim, 24] : tensor<?x24xf32> into tensor<1x?x24xf32>
    %117 = tensor.empty(%dim) : tensor<1x?x24xf32>
    %118 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_63 : tensor<1x?x24xf32>) outs(%117 : tensor<1x?x24xf32>) {
    ^bb0(%in: f32, %out: f32):
      %200 = math.fpowi %in, %c3_i64 : f32, i64
      %201 = arith.mulf %200, %cst_2 : f32
      %202 = arith.addf %in, %201 : f32
      %203 = arith.mulf %202, %cst_3 : f32
      %204 = math.tanh %203 : f32
      %205 = arith.addf %204, %cst_4 : f32
      %206 = arith.mulf %205, %cst_5 : f32
      %207 = arith.mulf %in, %206 : f32
      linalg.yield %207 : f32
    } -> tensor<1x?x24xf32>
    %collapsed_64 = tensor.collapse_shape %118 [[0, 1], [2]] : tensor<1x?x24xf32> into tensor<?x24xf32>
    %119 = tensor.empty() : tensor<24x6xf32>
    %transposed_65 = linalg.transpose ins(%cst_23 : tensor<6x24xf32>) outs(%119 : tensor<24x6xf32>) permutation = [1, 0] 
    %120 = linalg.fill ins(%cst_0 : f32) outs(%5 : tensor<?x6xf32>) -> tensor<?x6xf32>
    %121 = linalg.matmul ins(%collapsed_64, %transposed_65 : tensor<?x24xf32>, tensor<24x6xf32>) outs(%120 : tensor<?x6xf32>) -> tensor<?x6xf32>
    %122 = linalg.generic {indexing_maps = [#map4, #map8, #map4], iterator_types = ["parallel", "parallel"]} ins(%121, %cst_22 : tensor<?x6xf32>, tensor<6xf32>) outs(%5 : tensor<?x6xf32>) {
    ^bb0(%in: f32, %in_99: f32, %out: f32):
      %200 = arith.addf %in, %in_99 : f32
      linalg.yield %200 : f32
    } -> tensor<?x6xf32>
    %expanded_66 = tensor.expand_shape %122 [[0, 1], [2]] output_shape [1, %dim, 6] : tensor<?x6xf32> into tensor<1x?x6xf32>
    %123 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%95, %expanded_66 : tensor<1x?x6xf32>, tensor<1x?x6xf32>) outs(%1 : tensor<1x?x6xf32>) {
    ^bb0(%in: f32, %in_99: f32, %out: f32):
      %200 = arith.addf %in, %in_99 : f32
      linalg.yield %200 : f32
    } -> tensor<1x?x6xf32>
    %124 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%123 : tensor<1x?x6xf32>) outs(%8 : tensor<1x?x6xf64>) {
    ^bb0(%in: f32, %out: f64):
      %200 = arith.extf %in : f32 to f64
      linalg.yield %200 : f64
    } -> tensor<1x?x6xf64>
    %125 = linalg.generic {indexing_maps = [#map1, #map6], iterator_types = ["parallel", "parallel", "reduction"]} ins(%124 : tensor<1x?x6xf64>) outs(%11 : tensor<1x?x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %200 = arith.addf %in, %out : f64
      linalg.yield %200 : f64
    } -> tensor<1x?x1xf64>
    %126 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%125 : tensor<1x?x1xf64>) outs(%10 : tensor<1x?x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %200 = arith.divf %in, %cst_38 : f64
      linalg.yield %200 : f64
    } -> tensor<1x?x1xf64>
    %127 = linalg.generic {indexing_maps = [#map1, #map6, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%124, %126 : tensor<1x?x6xf64>, tensor<1x?x1xf64>) outs(%8 : tensor<1x?x6xf64>) {
    ^bb0(%in: f64, %in_99: f64, %out: f64):
      %200 = arith.subf %in, %in_99 : f64
      linalg.yield %200 : f64
    } -> tensor<1x?x6xf64>
    %128 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%127, %127 : tensor<1x?x6xf64>, tensor<1x?x6xf64>) outs(%8 : tensor<1x?x6xf64>) {
    ^bb0(%in: f64, %in_99: f64, %out: f64):
      %200 = arith.mulf %in, %in_99 : f64
      linalg.yield %200 : f64
    } -> tensor<1x?x6xf64>
    %129 = linalg.generic {indexing_maps = [#map1, #map6], iterator_types = ["parallel", "parallel", "reduction"]} ins(%128 : tensor<1x?x6xf64>) outs(%11 : tensor<1x?x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %200 = arith.addf %in, %out : f64
      linalg.yield %200 : f64
    } -> tensor<1x?x1xf64>
    %130 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%129 : tensor<1x?x1xf64>) outs(%10 : tensor<1x?x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %200 = arith.divf %in, %cst_38 : f64
      linalg.yield %200 : f64
    } -> tensor<1x?x1xf64>
    %131 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%130 : tensor<1x?x1xf64>) outs(%18 : tensor<1x?x1xf32>) {
    ^bb0(%in: f64, %out: f32):
      %200 = arith.truncf %in : f64 to f32
      linalg.yield %200 : f32
    } -> tensor<1x?x1xf32>
    %132 = linalg.generic {indexing_maps = [#map1, #map6], iterator_types = ["parallel", "parallel", "reduction"]} ins(%123 : tensor<1x?x6xf32>) outs(%20 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %200 = arith.addf %in, %out : f32
      linalg.yield %200 : f32
    } -> tensor<1x?x1xf32>
    %133 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%132 : tensor<1x?x1xf32>) outs(%18 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %200 = arith.divf %in, %cst_39 : f32
      linalg.yield %200 : f32
    } -> tensor<1x?x1xf32>
    %134 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%131 : tensor<1x?x1xf32>) outs(%18 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %200 = arith.truncf %cst_35 : f64 to f32
      %201 = arith.addf %in, %200 : f32
      linalg.yield %201 : f32
    } -> tensor<1x?x1xf32>
    %135 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%134 : tensor<1x?x1xf32>) outs(%18 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %200 = math.rsqrt %in : f32
      linalg.yield %200 : f32
    } -> tensor<1x?x1xf32>
    %136 = linalg.generic {indexing_maps = [#map1, #map6, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%123, %133 : tensor<1x?x6xf32>, tensor<1x?x1xf32>) outs(%1 : tensor<1x?x6xf32>) {
    ^bb0(%in: f32, %in_99: f32, %out: f32):
      %200 = arith.subf %in, %in_99 : f32
      linalg.yield %200 : f32
    } -> tensor<1x?x6xf32>
    %137 = linalg.generic {indexing_maps = [#map1, #map6, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%136, %135 : tensor<1x?x6xf32>, tensor<1x?x1xf32>) outs(%1 : tensor<1x?x6xf32>) {
    ^bb0(%in: f32, %in_99: f32, %out: f32):
      %200 = arith.mulf %in, %in_99 : f32
      linalg.yield %200 : f32
    } -> tensor<1x?x6xf32>
    %138 = linalg.generic {indexing_maps = [#map1, #map7, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%137, %cst_21 : tensor<1x?x6xf32>, tensor<6xf32>) outs(%1 : tensor<1x?x6xf32>) {
    ^bb0(%in: f32, %in_99: f32, %out: f32):
      %200 = arith.mulf %in, %in_99 : f32
      linalg.yield %200 : f32
    } -> tensor<1x?x6xf32>
    %139 = linalg.generic {indexing_maps = [#map1, #map7, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%138, %cst_20 : tensor<1x?x6xf32>, tensor<6xf32>) outs(%1 : tensor<1x?x6xf32>) {
    ^bb0(%in: f32, %in_99: f32, %out: f32):
      %200 = arith.addf %in, %in_99 : f32
      linalg.yield %200 : f32
    } -> tensor<1x?x6xf32>
    %collapsed_67 = tensor.collapse_shape %139 [[0, 1], [2]] : tensor<1x?x6xf32> into tensor<?x6xf32>
    %transposed_68 = linalg.transpose ins(%cst_19 : tensor<18x6xf32>) outs(%29 : tensor<6x18xf32>) permutation = [1, 0] 
    %140 = linalg.matmul ins(%collapsed_67, %transposed_68 : tensor<?x6xf32>, tensor<6x18xf32>) outs(%31 : tensor<?x18xf32>) -> tensor<?x18xf32>
    %141 = linalg.generic {indexing_maps = [#map4, #map8, #map4], iterator_types = ["parallel", "parallel"]} ins(%140, %cst_18 : tensor<?x18xf32>, tensor<18xf32>) outs(%30 : tensor<?x18xf32>) {
    ^bb0(%in: f32, %in_99: f32, %out: f32):
      %200 = arith.addf %in, %in_99 : f32
      linalg.yield %200 : f32
    } -> tensor<?x18xf32>
    %expanded_69 = tensor.expand_shape %141 [[0, 1], [2]] output_shape [1, %dim, 18] : tensor<?x18xf32> into tensor<1x?x18xf32>
    %extracted_slice_70 = tensor.extract_slice %expanded_69[0, 0, 0] [1, %dim, 6] [1, 1, 1] : tensor<1x?x18xf32> to tensor<1x?x6xf32>
    %extracted_slice_71 = tensor.extract_slice %expanded_69[0, 0, 6] [1, %dim, 6] [1, 1, 1] : tensor<1x?x18xf32> to tensor<1x?x6xf32>
    %extracted_slice_72 = tensor.extract_slice %expanded_69[0, 0, 12] [1, %dim, 6] [1, 1, 1] : tensor<1x?x18xf32> to tensor<1x?x6xf32>
    %expanded_73 = tensor.expand_shape %extracted_slice_70 [[0], [1], [2, 3]] output_shape [1, %dim, 3, 2] : tensor<1x?x6xf32> into tensor<1x?x3x2xf32>
    %transposed_74 = linalg.transpose ins(%expanded_73 : tensor<1x?x3x2xf32>) outs(%34 : tensor<1x3x?x2xf32>) permutation = [0, 2, 1, 3] 
    %expanded_75 = tensor.expand_shape %extracted_slice_71 [[0], [1], [2, 3]] output_shape [1, %dim, 3, 2] : tensor<1x?x6xf32> into tensor<1x?x3x2xf32>
    %expanded_76 = tensor.expand_shape %extracted_slice_72 [[0], [1], [2, 3]] output_shape [1, %dim, 3, 2] : tensor<1x?x6xf32> into tensor<1x?x3x2xf32>
    %transposed_77 = linalg.transpose ins(%expanded_76 : tensor<1x?x3x2xf32>) outs(%34 : tensor<1x3x?x2xf32>) permutation = [0, 2, 1, 3] 
    cf.assert %35, "negative values not allowed in new dimensions"
    cf.assert %35, "negative values not allowed in new dimensions"
    cf.assert %true, "mismatched size for broadcast"
    cf.assert %true, "mismatched size for broadcast"
    %transposed_78 = linalg.transpose ins(%expanded_75 : tensor<1x?x3x2xf32>) outs(%43 : tensor<1x3x2x?xf32>) permutation = [0, 2, 3, 1] 
    cf.assert %44, "unimplemented: dynamic negative broadcast sizes"
    %142 = linalg.generic {indexing_maps = [#map12], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%45 : tensor<1x3x?x2xf32>) {
    ^bb0(%out: f32):
      %200 = linalg.index 1 : index
      %201 = linalg.index 2 : index
      %202 = linalg.index 3 : index
      %203 = arith.cmpi eq, %dim, %c1 : index
      %204 = arith.select %203, %c0, %201 : index
      %extracted = tensor.extract %transposed_74[%c0, %200, %204, %202] : tensor<1x3x?x2xf32>
      linalg.yield %extracted : f32
    } -> tensor<1x3x?x2xf32>
    %collapsed_79 = tensor.collapse_shape %142 [[0, 1], [2], [3]] : tensor<1x3x?x2xf32> into tensor<3x?x2xf32>
    cf.assert %44, "unimplemented: dynamic negative broadcast sizes"
    %143 = linalg.generic {indexing_maps = [#map12], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%47 : tensor<1x3x2x?xf32>) {
    ^bb0(%out: f32):
      %200 = linalg.index 1 : index
      %201 = linalg.index 2 : index
      %202 = linalg.index 3 : index
      %203 = arith.cmpi eq, %dim, %c1 : index
      %204 = arith.select %203, %c0, %202 : index
      %extracted = tensor.extract %transposed_78[%c0, %200, %201, %204] : tensor<1x3x2x?xf32>
      linalg.yield %extracted : f32
    } -> tensor<1x3x2x?xf32>
    %collapsed_80 = tensor.collapse_shape %143 [[0, 1], [2], [3]] : tensor<1x3x2x?xf32> into tensor<3x2x?xf32>
    %144 = linalg.batch_matmul ins(%collapsed_79, %collapsed_80 : tensor<3x?x2xf32>, tensor<3x2x?xf32>) outs(%50 : tensor<3x?x?xf32>) -> tensor<3x?x?xf32>
    cf.assert %60, "must have at most one inferred (negative) dimension"
    %reshape_81 = tensor.reshape %144(%from_elements) : (tensor<3x?x?xf32>, tensor<4xi64>) -> tensor<1x3x?x?xf32>
    %145 = linalg.generic {indexing_maps = [#map12, #map12], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%reshape_81 : tensor<1x3x?x?xf32>) outs(%65 : tensor<1x3x?x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %200 = arith.truncf %cst_30 : f64 to f32
      %201 = arith.divf %in, %200 : f32
      linalg.yield %201 : f32
    } -> tensor<1x3x?x?xf32>
    cf.assert %68, "mismatched size for broadcast"
    cf.assert %68, "mismatched size for broadcast"
    %146 = linalg.generic {indexing_maps = [#map13, #map14, #map12, #map12], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%67, %cst_6, %145 : tensor<?x?xi1>, tensor<f32>, tensor<1x3x?x?xf32>) outs(%69 : tensor<1x3x?x?xf32>) {
    ^bb0(%in: i1, %in_99: f32, %in_100: f32, %out: f32):
      %200 = arith.select %in, %in_99, %in_100 : f32
      linalg.yield %200 : f32
    } -> tensor<1x3x?x?xf32>
    %147:2 = linalg.generic {indexing_maps = [#map12, #map15, #map15], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%146 : tensor<1x3x?x?xf32>) outs(%74, %72 : tensor<1x3x?xf32>, tensor<1x3x?xi64>) {
    ^bb0(%in: f32, %out: f32, %out_99: i64):
      %200 = linalg.index 3 : index
      %201 = arith.index_cast %200 : index to i64
      %202 = arith.maximumf %in, %out : f32
      %203 = arith.cmpf ogt, %in, %out : f32
      %204 = arith.select %203, %201, %out_99 : i64
      linalg.yield %202, %204 : f32, i64
    } -> (tensor<1x3x?xf32>, tensor<1x3x?xi64>)
    %expanded_82 = tensor.expand_shape %147#0 [[0], [1], [2, 3]] output_shape [1, 3, %dim, 1] : tensor<1x3x?xf32> into tensor<1x3x?x1xf32>
    %148 = linalg.generic {indexing_maps = [#map12, #map16, #map12], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%146, %expanded_82 : tensor<1x3x?x?xf32>, tensor<1x3x?x1xf32>) outs(%69 : tensor<1x3x?x?xf32>) {
    ^bb0(%in: f32, %in_99: f32, %out: f32):
      %200 = arith.subf %in, %in_99 : f32
      linalg.yield %200 : f32
    } -> tensor<1x3x?x?xf32>
    %149 = linalg.generic {indexing_maps = [#map12, #map12], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%148 : tensor<1x3x?x?xf32>) outs(%69 : tensor<1x3x?x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %200 = math.exp %in : f32
      linalg.yield %200 : f32
    } -> tensor<1x3x?x?xf32>
    %150 = linalg.generic {indexing_maps = [#map12, #map16], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%149 : tensor<1x3x?x?xf32>) outs(%79 : tensor<1x3x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %200 = arith.addf %in, %out : f32
      linalg.yield %200 : f32
    } -> tensor<1x3x?x1xf32>
    %151 = linalg.generic {indexing_maps = [#map12, #map16, #map12], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%149, %150 : tensor<1x3x?x?xf32>, tensor<1x3x?x1xf32>) outs(%69 : tensor<1x3x?x?xf32>) {
    ^bb0(%in: f32, %in_99: f32, %out: f32):
      %200 = arith.divf %in, %in_99 : f32
      linalg.yield %200 : f32
    } -> tensor<1x3x?x?xf32>
    cf.assert %44, "unimplemented: dynamic negative broadcast sizes"
    cf.assert %44, "unimplemented: dynamic negative broadcast sizes"
    %152 = linalg.generic {indexing_maps = [#map12], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%82 : tensor<1x3x?x?xf32>) {
    ^bb0(%out: f32):
      %200 = linalg.index 1 : index
      %201 = linalg.index 2 : index
      %202 = linalg.index 3 : index
      %203 = arith.cmpi eq, %dim, %c1 : index
      %204 = arith.select %203, %c0, %201 : index
      %205 = arith.select %203, %c0, %202 : index
      %extracted = tensor.extract %151[%c0, %200, %204, %205] : tensor<1x3x?x?xf32>
      linalg.yield %extracted : f32
    } -> tensor<1x3x?x?xf32>
    cf.assert %60, "must have at most one inferred (negative) dimension"
    %reshape_83 = tensor.reshape %152(%from_elements_53) : (tensor<1x3x?x?xf32>, tensor<3xi64>) -> tensor<3x?x?xf32>
    cf.assert %44, "unimplemented: dynamic negative broadcast sizes"
    %153 = linalg.generic {indexing_maps = [#map12], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%45 : tensor<1x3x?x2xf32>) {
    ^bb0(%out: f32):
      %200 = linalg.index 1 : index
      %201 = linalg.index 2 : index
      %202 = linalg.index 3 : index
      %203 = arith.cmpi eq, %dim, %c1 : index
      %204 = arith.select %203, %c0, %201 : index
      %extracted = tensor.extract %transposed_77[%c0, %200, %204, %202] : tensor<1x3x?x2xf32>
      linalg.yield %extracted : f32
    } -> tensor<1x3x?x2xf32>
    %collapsed_84 = tensor.collapse_shape %153 [[0, 1], [2], [3]] : tensor<1x3x?x2xf32> into tensor<3x?x2xf32>
    cf.assert %85, "mismatching contracting dimension"
    %154 = linalg.batch_matmul ins(%reshape_83, %collapsed_84 : tensor<3x?x?xf32>, tensor<3x?x2xf32>) outs(%87 : tensor<3x?x2xf32>) -> tensor<3x?x2xf32>
    %expanded_85 = tensor.expand_shape %154 [[0, 1], [2], [3]] output_shape [1, 3, %64, 2] : tensor<3x?x2xf32> into tensor<1x3x?x2xf32>
    %transposed_86 = linalg.transpose ins(%expanded_85 : tensor<1x3x?x2xf32>) outs(%89 : tensor<1x?x3x2xf32>) permutation = [0, 2, 1, 3] 
    %collapsed_87 = tensor.collapse_shape %transposed_86 [[0, 1], [2, 3]] : tensor<1x?x3x2xf32> into tensor<?x6xf32>
    %transposed_88 = linalg.transpose ins(%cst_17 : tensor<6x6xf32>) outs(%90 : tensor<6x6xf32>) permutation = [1, 0] 
    %155 = linalg.matmul ins(%collapsed_87, %transposed_88 : tensor<?x6xf32>, tensor<6x6xf32>) outs(%92 : tensor<?x6xf32>) -> tensor<?x6xf32>
    %156 = linalg.generic {indexing_maps = [#map4, #map8, #map4], iterator_types = ["parallel", "parallel"]} ins(%155, %cst_16 : tensor<?x6xf32>, tensor<6xf32>) outs(%91 : tensor<?x6xf32>) {
    ^bb0(%in: f32, %in_99: f32, %out: f32):
      %200 = arith.addf %in, %in_99 : f32
      linalg.yield %200 : f32
    } -> tensor<?x6xf32>
    %expanded_89 = tensor.expand_shape %156 [[0, 1], [2]] output_shape [1, %64, 6] : tensor<?x6xf32> into tensor<1x?x6xf32>
    cf.assert %68, "mismatched size for broadcast"
    %157 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%123, %expanded_89 : tensor<1x?x6xf32>, tensor<1x?x6xf32>) outs(%1 : tensor<1x?x6xf32>) {
    ^bb0(%in: f32, %in_99: f32, %out: f32):
      %200 = arith.addf %in, %in_99 : f32
      linalg.yield %200 : f32
    } -> tensor<1x?x6xf32>
    %158 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%157 : tensor<1x?x6xf32>) outs(%8 : tensor<1x?x6xf64>) {
    ^bb0(%in: f32, %out: f64):
      %200 = arith.extf %in : f32 to f64
      linalg.yield %200 : f64
    } -> tensor<1x?x6xf64>
    %159 = linalg.generic {indexing_maps = [#map1, #map6], iterator_types = ["parallel", "parallel", "reduction"]} ins(%158 : tensor<1x?x6xf64>) outs(%11 : tensor<1x?x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %200 = arith.addf %in, %out : f64
      linalg.yield %200 : f64
    } -> tensor<1x?x1xf64>
    %160 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%159 : tensor<1x?x1xf64>) outs(%10 : tensor<1x?x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %200 = arith.divf %in, %cst_38 : f64
      linalg.yield %200 : f64
    } -> tensor<1x?x1xf64>
    %161 = linalg.generic {indexing_maps = [#map1, #map6, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%158, %160 : tensor<1x?x6xf64>, tensor<1x?x1xf64>) outs(%8 : tensor<1x?x6xf64>) {
    ^bb0(%in: f64, %in_99: f64, %out: f64):
      %200 = arith.subf %in, %in_99 : f64
      linalg.yield %200 : f64
    } -> tensor<1x?x6xf64>
    %162 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%161, %161 : tensor<1x?x6xf64>, tensor<1x?x6xf64>) outs(%8 : tensor<1x?x6xf64>) {
    ^bb0(%in: f64, %in_99: f64, %out: f64):
      %200 = arith.mulf %in, %in_99 : f64
      linalg.yield %200 : f64
    } -> tensor<1x?x6xf64>
    %163 = linalg.generic {indexing_maps = [#map1, #map6], iterator_types = ["parallel", "parallel", "reduction"]} ins(%162 : tensor<1x?x6xf64>) outs(%11 : tensor<1x?x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %200 = arith.addf %in, %out : f64
      linalg.yield %200 : f64
    } -> tensor<1x?x1xf64>
    %164 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%163 : tensor<1x?x1xf64>) outs(%10 : tensor<1x?x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %200 = arith.divf %in, %cst_38 : f64
      linalg.yield %200 : f64
    } -> tensor<1x?x1xf64>
    %165 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%164 : tensor<1x?x1xf64>) outs(%18 : tensor<1x?x1xf32>) {
    ^bb0(%in: f64, %out: f32):
      %200 = arith.truncf %in : f64 to f32
      linalg.yield %200 : f32
    } -> tensor<1x?x1xf32>
    %166 = linalg.generic {indexing_maps = [#map1, #map6], iterator_types = ["parallel", "parallel", "reduction"]} ins(%157 : tensor<1x?x6xf32>) outs(%20 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %200 = arith.addf %in, %out : f32
      linalg.yield %200 : f32
    } -> tensor<1x?x1xf32>
    %167 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%166 : tensor<1x?x1xf32>) outs(%18 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %200 = arith.divf %in, %cst_39 : f32
      linalg.yield %200 : f32
    } -> tensor<1x?x1xf32>
    %168 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%165 : tensor<1x?x1xf32>) outs(%18 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %200 = arith.truncf %cst_35 : f64 to f32
      %201 = arith.addf %in, %200 : f32
      linalg.yield %201 : f32
    } -> tensor<1x?x1xf32>
    %169 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%168 : tensor<1x?x1xf32>) outs(%18 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %200 = math.rsqrt %in : f32
      linalg.yield %200 : f32
    } -> tensor<1x?x1xf32>
    %170 = linalg.generic {indexing_maps = [#map1, #map6, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%157, %167 : tensor<1x?x6xf32>, tensor<1x?x1xf32>) outs(%1 : tensor<1x?x6xf32>) {
    ^bb0(%in: f32, %in_99: f32, %out: f32):
      %200 = arith.subf %in, %in_99 : f32
      linalg.yield %200 : f32
    } -> tensor<1x?x6xf32>
    %171 = linalg.generic {indexing_maps = [#map1, #map6, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%170, %169 : tensor<1x?x6xf32>, tensor<1x?x1xf32>) outs(%1 : tensor<1x?x6xf32>) {
    ^bb0(%in: f32, %in_99: f32, %out: f32):
      %200 = arith.mulf %in, %in_99 : f32
      linalg.yield %200 : f32
    } -> tensor<1x?x6xf32>
    %172 = linalg.generic {indexing_maps = [#map1, #map7, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%171, %cst_15 : tensor<1x?x6xf32>, tensor<6xf32>) outs(%1 : tensor<1x?x6xf32>) {
    ^bb0(%in: f32, %in_99: f32, %out: f32):
      %200 = arith.mulf %in, %in_99 : f32
      linalg.yield %200 : f32
    } -> tensor<1x?x6xf32>
    %173 = linalg.generic {indexing_maps = [#map1, #map7, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%172, %cst_14 : tensor<1x?x6xf32>, tensor<6xf32>) outs(%1 : tensor<1x?x6xf32>) {
    ^bb0(%in: f32, %in_99: f32, %out: f32):
      %200 = arith.addf %in, %in_99 : f32
      linalg.yield %200 : f32
    } -> tensor<1x?x6xf32>
    %collapsed_90 = tensor.collapse_shape %173 [[0, 1], [2]] : tensor<1x?x6xf32> into tensor<?x6xf32>
    %transposed_91 = linalg.transpose ins(%cst_13 : tensor<24x6xf32>) outs(%112 : tensor<6x24xf32>) permutation = [1, 0] 
    %174 = linalg.matmul ins(%collapsed_90, %transposed_91 : tensor<?x6xf32>, tensor<6x24xf32>) outs(%114 : tensor<?x24xf32>) -> tensor<?x24xf32>
    %175 = linalg.generic {indexing_maps = [#map4, #map8, #map4], iterator_types = ["parallel", "parallel"]} ins(%174, %cst_12 : tensor<?x24xf32>, tensor<24xf32>) outs(%113 : tensor<?x24xf32>) {
    ^bb0(%in: f32, %in_99: f32, %out: f32):
      %200 = arith.addf %in, %in_99 : f32
      linalg.yield %200 : f32
    } -> tensor<?x24xf32>
    %expanded_92 = tensor.expand_shape %175 [[0, 1], [2]] output_shape [1, %dim, 24] : tensor<?x24xf32> into tensor<1x?x24xf32>
    %176 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_92 : tensor<1x?x24xf32>) outs(%117 : tensor<1x?x24xf32>) {
    ^bb0(%in: f32, %out: f32):
      %200 = math.fpowi %in, %c3_i64 : f32, i64
      %201 = arith.mulf %200, %cst_2 : f32
      %202 = arith.addf %in, %201 : f32
      %203 = arith.mulf %202, %cst_3 : f32
      %204 = math.tanh %203 : f32
      %205 = arith.addf %204, %cst_4 : f32
      %206 = arith.mulf %205, %cst_5 : f32
      %207 = arith.mulf %in, %206 : f32
      linalg.yield %207 : f32
    } -> tensor<1x?x24xf32>
    %collapsed_93 = tensor.collapse_shape %176 [[0, 1], [2]] : tensor<1x?x24xf32> into tensor<?x24xf32>
    %transposed_94 = linalg.transpose ins(%cst_11 : tensor<6x24xf32>) outs(%119 : tensor<24x6xf32>) permutation = [1, 0] 
    %177 = linalg.matmul ins(%collapsed_93, %transposed_94 : tensor<?x24xf32>, tensor<24x6xf32>) outs(%120 : tensor<?x6xf32>) -> tensor<?x6xf32>
    %178 = linalg.generic {indexing_maps = [#map4, #map8, #map4], iterator_types = ["parallel", "parallel"]} ins(%177, %cst_10 : tensor<?x6xf32>, tensor<6xf32>) outs(%5 : tensor<?x6xf32>) {
    ^bb0(%in: f32, %in_99: f32, %out: f32):
      %200 = arith.addf %in, %in_99 : f32
      linalg.yield %200 : f32
    } -> tensor<?x6xf32>
    %expanded_95 = tensor.expand_shape %178 [[0, 1], [2]] output_shape [1, %dim, 6] : tensor<?x6xf32> into tensor<1x?x6xf32>
    %179 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%157, %expanded_95 : tensor<1x?x6xf32>, tensor<1x?x6xf32>) outs(%1 : tensor<1x?x6xf32>) {
    ^bb0(%in: f32, %in_99: f32, %out: f32):
      %200 = arith.addf %in, %in_99 : f32
      linalg.yield %200 : f32
    } -> tensor<1x?x6xf32>
    %180 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%179 : tensor<1x?x6xf32>) outs(%8 : tensor<1x?x6xf64>) {
    ^bb0(%in: f32, %out: f64):
      %200 = arith.extf %in : f32 to f64
      linalg.yield %200 : f64
    } -> tensor<1x?x6xf64>
    %181 = linalg.generic {indexing_maps = [#map1, #map6], iterator_types = ["parallel", "parallel", "reduction"]} ins(%180 : tensor<1x?x6xf64>) outs(%11 : tensor<1x?x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %200 = arith.addf %in, %out : f64
      linalg.yield %200 : f64
    } -> tensor<1x?x1xf64>
    %182 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%181 : tensor<1x?x1xf64>) outs(%10 : tensor<1x?x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %200 = arith.divf %in, %cst_38 : f64
      linalg.yield %200 : f64
    } -> tensor<1x?x1xf64>
    %183 = linalg.generic {indexing_maps = [#map1, #map6, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%180, %182 : tensor<1x?x6xf64>, tensor<1x?x1xf64>) outs(%8 : tensor<1x?x6xf64>) {
    ^bb0(%in: f64, %in_99: f64, %out: f64):
      %200 = arith.subf %in, %in_99 : f64
      linalg.yield %200 : f64
    } -> tensor<1x?x6xf64>
    %184 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%183, %183 : tensor<1x?x6xf64>, tensor<1x?x6xf64>) outs(%8 : tensor<1x?x6xf64>) {
    ^bb0(%in: f64, %in_99: f64, %out: f64):
      %200 = arith.mulf %in, %in_99 : f64
      linalg.yield %200 : f64
    } -> tensor<1x?x6xf64>
    %185 = linalg.generic {indexing_maps = [#map1, #map6], iterator_types = ["parallel", "parallel", "reduction"]} ins(%184 : tensor<1x?x6xf64>) outs(%11 : tensor<1x?x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %200 = arith.addf %in, %out : f64
      linalg.yield %200 : f64
    } -> tensor<1x?x1xf64>
    %186 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%185 : tensor<1x?x1xf64>) outs(%10 : tensor<1x?x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %200 = arith.divf %in, %cst_38 : f64
      linalg.yield %200 : f64
    } -> tensor<1x?x1xf64>
    %187 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%186 : tensor<1x?x1xf64>) outs(%18 : tensor<1x?x1xf32>) {
    ^bb0(%in: f64, %out: f32):
      %200 = arith.truncf %in : f64 to f32
      linalg.yield %200 : f32
    } -> tensor<1x?x1xf32>
    %188 = linalg.generic {indexing_maps = [#map1, #map6], iterator_types = ["parallel", "parallel", "reduction"]} ins(%179 : tensor<1x?x6xf32>) outs(%20 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %200 = arith.addf %in, %out : f32
      linalg.yield %200 : f32
    } -> tensor<1x?x1xf32>
    %189 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%188 : tensor<1x?x1xf32>) outs(%18 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %200 = arith.divf %in, %cst_39 : f32
      linalg.yield %200 : f32
    } -> tensor<1x?x1xf32>
    %190 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%187 : tensor<1x?x1xf32>) outs(%18 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %200 = arith.truncf %cst_35 : f64 to f32
      %201 = arith.addf %in, %200 : f32
      linalg.yield %201 : f32
    } -> tensor<1x?x1xf32>
    %191 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%190 : tensor<1x?x1xf32>) outs(%18 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %200 = math.rsqrt %in : f32
      linalg.yield %200 : f32
    } -> tensor<1x?x1xf32>
    %192 = linalg.generic {indexing_maps = [#map1, #map6, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%179, %189 : tensor<1x?x6xf32>, tensor<1x?x1xf32>) outs(%1 : tensor<1x?x6xf32>) {
    ^bb0(%in: f32, %in_99: f32, %out: f32):
      %200 = arith.subf %in, %in_99 : f32
      linalg.yield %200 : f32
    } -> tensor<1x?x6xf32>
    %193 = linalg.generic {indexing_maps = [#map1, #map6, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%192, %191 : tensor<1x?x6xf32>, tensor<1x?x1xf32>) outs(%1 : tensor<1x?x6xf32>) {
    ^bb0(%in: f32, %in_99: f32, %out: f32):
      %200 = arith.mulf %in, %in_99 : f32
      linalg.yield %200 : f32
    } -> tensor<1x?x6xf32>
    %194 = linalg.generic {indexing_maps = [#map1, #map7, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%193, %cst_9 : tensor<1x?x6xf32>, tensor<6xf32>) outs(%1 : tensor<1x?x6xf32>) {
    ^bb0(%in: f32, %in_99: f32, %out: f32):
      %200 = arith.mulf %in, %in_99 : f32
      linalg.yield %200 : f32
    } -> tensor<1x?x6xf32>
    %195 = linalg.generic {indexing_maps = [#map1, #map7, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%194, %cst_8 : tensor<1x?x6xf32>, tensor<6xf32>) outs(%1 : tensor<1x?x6xf32>) {
    ^bb0(%in: f32, %in_99: f32, %out: f32):
      %200 = arith.addf %in, %in_99 : f32
      linalg.yield %200 : f32
    } -> tensor<1x?x6xf32>
    %196 = tensor.empty() : tensor<6x7xf32>
    %transposed_96 = linalg.transpose ins(%cst_37 : tensor<7x6xf32>) outs(%196 : tensor<6x7xf32>) permutation = [1, 0] 
    %collapsed_97 = tensor.collapse_shape %195 [[0, 1], [2]] : tensor<1x?x6xf32> into tensor<?x6xf32>
    %197 = tensor.empty(%dim) : tensor<?x7xf32>
    %198 = linalg.fill ins(%cst_0 : f32) outs(%197 : tensor<?x7xf32>) -> tensor<?x7xf32>
    %199 = linalg.matmul ins(%collapsed_97, %transposed_96 : tensor<?x6xf32>, tensor<6x7xf32>) outs(%198 : tensor<?x7xf32>) -> tensor<?x7xf32>
    %expanded_98 = tensor.expand_shape %199 [[0, 1], [2]] output_shape [1, %dim, 7] : tensor<?x7xf32> into tensor<1x?x7xf32>
    return %expanded_98 : tensor<1x?x7xf32>
  }
}

{-#
  dialect_resources: {
    builtin: {
      torch_tensor_6_torch.float32_13: "0x04000000AF310E3DCC1D0F3E82ABF0391341B6BCC529563DF17EABBC",
      torch_tensor_6_torch.float32_12: "0x0400000085177D3F42FD8D3F61FF703F75C78A3F5BF08C3F937C6E3F",
      torch_tensor_6_torch.float32_11: "0x040000009CEB6EBC6059AA3D02DC41BD2CD2F5BDE3511D3EC915463E",
      torch_tensor_6_24_torch.float32_1: "0x04000000E74C9B3D91FDC63D2C452EBD5EE8393E6ECA8D3D34244F3E931B3E3E674F1CBDFC272BBE372C0ABE8274493E3BC5FDBD322D6B3C4407073E724A87BD3F63F03D4C5D0CBE97FE253D42A9BF3D5E6C2EBE03D898BD6751D3BD78A01ABD9CB9483E3DCA383E4FACD63D666DC4BD4BFC1DBD1ABB9C3C13BB493E14C82EBEEFE848BD617A32BE32B69B3D9AB9DABC9625BBBD7E223FBEF5C689BD4FF734BEFEF28B3DA94D3EBE803CD6BDBB9D503E98E649BED4FC2BBE8E4220BEDB0306BEC76D253E233E86BDD78A21BE2AB3EB3DB70C363E7790CF3D42629C3C08EF1B3D0992A13DCFD4383EB3BEEF3DA4E122BED71422BE14AE03BE3D30B6BDE868393E505350BE106DF3BC6A711E3EEF349F3D39DBD4BDF55F1EBBF4192ABE95F904BEA5632EBE64B818BE0C6C4A3E46AD01BDBBE9E5BD2464CCBD21AA27BED0D3E1BD81ACA73CB0EBFFBD6589023D905A983D07A1143E2DC5ECBD58FA2ABDF6934E3E9E25B4BC17783ABEF12589BDD460863D61B015BD0F8B933DB6C724BE809ACC3D4AD4B7BDB9D19CBDB82657BC08274B3EC687203E0DBF333E2250F1BC503D133EC5982ABBEC630E3E76018FBDE147D1BD77BD15BE68A322BC37B8B5BD8563253E361CD9BD0DAEDC3D8084D7BDC066E43DE265ED3B4A84F9BD1377273C6DCC41BEB5D29BBC9A16F8BD11063DBEA2693C3ED707F93DD72A493D2F99F63D5AC227BE807FDBBDD443C6BD352C02BECDB52CBD3C191B3E4F3904BE1673203D1A22B63D1F34D4BDC7B3AB3D4FE466BD8802B93D0EDF3C3E82825D3D9EB306BEF48005BEBFBF233E",
      torch_tensor_24_torch.float32_1: "0x04000000EAE7F33E30F7A93E585116BC43F39ABEF626D63E7C6B853E8950A03EF8DC323CBC58153EFA0D91BD4C63753E8793353DCAB845BE9E3D9D3E6C589B3E179C91BEF5B3E43E7F31803E9373983E205DD73D5A586DBE70D50DBE7531193EFEF91FBE",
      torch_tensor_24_6_torch.float32_1: "0x040000001F4383BE6856A13E795A3D3ED2F70D3E04B1963D8A41043E6D19203DBA13CABE432F3DBDD3F1843E2B9756BD1731923D6C7A803E847A753E914392BDD026AA3E477E1BBE96423ABC047CA83EE39669BEC910CF3E133A49BE402455BE81EDA03E5B82953E4E4193BEF79D453EDC2EF13CDE5CA0BE7229F4BD4AEA103DB05BC1BE45C8DBBCF20BD13D23F39B3E8DD9943E29592EBE1060463E597DB13D84EBBDBC3E4D9FBEC55DED3D6CEFBF3E22FCAFBE572BE8BC170E743E80A70C3AC8E8953E328268BDA05467BE5038ABBE24537BBE5A729EBD4FFA813E9F2D2D3D268C0C3D2E5FA83E8A39DB3D400730BEB82F0CBEF7BF6D3EB8AF27BEB030073E8BA0323E09508C3C2BBE92BED2C072BED996C0BED4E9073EA406C6BE92CD6BBEE369C53EFBF53BBC3C40403E80E94FBEF35AC5BDC2BF4FBEA8101D3E867E85BE4ED03DBEFC83CC3D290F993CAFC847BE1ABC093D1A1494BD4B38C9BE787DC33E04B1AABE14F5083EC82A6B3ED3BC98BD0F6AE7BDD0B6C03EEF309D3EE1DE91BDA87814BE327A5FBE847FAB3E50DA63BE484B173EF58EE63DE44AA13EA3A33EBB3BAF563E5E3867BE747B25BE5E7C1EBEAA01C9BE55D3BBBE848D4F3EF98D3A3EBE48D3BD3308BFBE0AAB8D3EDF4ACA3E7D8ED03EA0C62DBE74C9B4BE2708873EFD3F543E3392A33E3FF7DA3D92CC8D3E171139BEFFAAA9BEC060823D085BB23E636A82BEBA89593EF2B32FBEE13581BE6EC6E6BD9AB2CD3E580BB43E1F00AB3E0DA6C83E070260BC4AA2373ED3880F3E91F72DBE0618893E1BD659BD84291ABE3D5D6C3E",
      torch_tensor_6_torch.float32_10: "0x04000000AA1D213B439108BD281508BE1BF3A03D415910BDE21A7B3D",
      torch_tensor_6_torch.float32_9: "0x04000000C7D5793FE55C903FCF117A3F60138D3F3317823F228C6D3F",
      torch_tensor_6_torch.float32_8: "0x04000000BC8173BE2CC855BDF3A7BFBE8493AB3C9A4EFCBDA55895BE",
      torch_tensor_6_6_torch.float32_1: "0x04000000FC9E69BEE5F6C8BEEFF50D3E554A4CBE4A7EE9BD5D405B3EC5D8A8BE3989CD3EE35808BE1661853E041789BD231A943E99FE67BE9375B7BDDF284FBE9A7A893EEB32CABE3F6F8A3EE63AC639D40E85BE1565F1BD574946BD17D0FBBDDF1B38BEB631E1BDB86C2E3DCEBD4A3E1F648A3D2672973EF17389BD768FB03E732F0C3E9D8694BE0A668C3EB185B13DB002863E",
      torch_tensor_18_torch.float32_1: "0x040000007E7E3F3E8659B33EEC5D1B3E784ACBBE912F6FBE50E671BEDA29913E7CDEFD3ECE82863EAC524CBEEC26F4BD5DE4A5BE646FDE3EF477D2BE8BE5C9BE0CA1533EBC91B13CD9D85ABE",
      torch_tensor_18_6_torch.float32_1: "0x04000000A774A13E3050393E477D98BE208C26BD17CB763EEBDDA1BE75689D3CED06803E22999FBE61061F3ED516CABE177BC3BEAE1B133CC5E3BCBE76BB40BE3862773EBB539FBD22CE8BBE9A96AA3E1D45CCBEC1C0AA3DF8C788BEAEC668BE32AA073DCFE1CD3E65F7DDBD92A3CFBE0546B43D2C6926BE71A58BBE022A253E471A253E8ADF4EBE938BDA3C2076723D3D13F73C932681BDF49871BE09D0663E7BF19D3E420AA93E6C97AD3EF310A2BC2007063DF84026BEE644C6BDC858D63D7E73053DD7D795BEBA8E95BE02BC413E41739F3E02C4C13E96667F3E5F88703EF1392F3E9EE58C3E3466D6BD2247813D42C1283E2885B03D853E10BD64B55BBEE9B794BE76C470BEBC0D223D898DC03EC54518BEBD4AAABEB008B6BEF416233EE6AB2D3EE7835FBE883122BEE4E0A13E67F1B0BE1D81753E1499603C2F7F44BEA5F5C93E295F89BE1379BC3E943EAD3E58AB0F3E052A883EDBDDCA3DB208AF3E8A80BA3DEBBED0BE9E6330BE5A12743DC1E9923E8B35F2BD5CC3173EC59C1F3E4179103D6D3DACBE3144C83E649549BE5FEB833D32A222BE1565D53D424A8D3EA13FB03DFB9635BE3A43B93DC11FABBE8BB7AF3E",
      torch_tensor_6_torch.float32_7: "0x04000000EF93DDBD7D38653D4777663DBEA3B7BDFF0CC3BCAB6F61BB",
      torch_tensor_6_torch.float32_6: "0x04000000BF76923F41B6853F7786813FE2A36C3F2A1D893FDFED7A3F",
      torch_tensor_6_torch.float32_5: "0x040000006010F5BA0E26933EC69CDABD92E1393EDAF3AFBD5A177DBE",
      torch_tensor_6_24_torch.float32: "0x040000002325C5BC9F73293EFB24B3BB6D830ABC144C41BE687C253E89F22C3ED8F227BEB14614BE8A0B223C7335EFBD2A082BBE4D31833D32B558BD9FE7903D6A1DA63DA5213A3EB360F83D047E44BE387328BE4387273E679931BE4084FF3D4AC8FEBD1AB9273E3D6CEC3D634710BE08D02CBE744AB7BD301EBFBDCB41EDBDDE4B133E9D564D3DAEDDD1BCC91C63BCE2F5AD3D0844AB3C410CCFBC139A393E2B3D103E6C816A3C2941103E763534BD3DA21EBE631AF03D4BE6E73DA994073D845532BED0E1163EBADE6D3C0828DCBD946838BE4615D9BD2D5C423E7C58CF3DFF6AB8BD9BFA2C3E670B333E13C8CF3D020295BCC7E1433E4C283DBD4C6AAEBDEDC0C73DD468AEBDAA90183E605EDEBD3DED993D7FC419BE65450BBE8D87293C61C4243E103320BE475D5EBD3075C23DFAA415BD0A7E3BBEFBDA19BBCDD192BD0805473D3D04AC3D8A317BBDE52AD6BD462BF73DBC1234BE6107CC3D7F01A83D5DE4A53DC7D411BEEE1BA83D6680F9BD30D2BA3D36A4C2BD6D06383D9FB5123B568810BEA53C42BE8F3745BDC6DBF83DB7443FBD6E3758BD17C801BE175217BEFCC487BC37AA5ABD1F97953D7D0A4B3E41B80FBEE76180BD3F179B3D89150DBE6F52B9BC15FED3BD9DF0043EFD24BABC2C64893CA297F83D031514BEEFCAE1BD0706223E8319A63D36C895BCEE66503EDB3A373E0ECCB4BDE4B469BD6E2EB53DBA5602BEF2C64FBEBF03D3BD3A633FBE8C2A043E739E533D0EE62FBE9CCF0CBC7E48483E336DF4BD9F6004BEF3B2B33D75A813BE39FE42BE817FEC3DE3EBD4BC7B92DD3D",
      torch_tensor_24_torch.float32: "0x04000000C4FB1DBE46EE7B3EF60FEE3DDBE9813E70FCEB3B0B07D2BE6C86AEBE20A11D3CF4D071BEFC236F3E4417983E6EB2143E2E1A15BE90AB63BCA021B83E20D10CBB54C3AE3E8766ABBE546D86BD65A86BBED642BF3DFA42513EEAB1B9BD4AE406BF",
      torch_tensor_24_6_torch.float32: "0x04000000D2AAF03D1C0BB9BE220870BEF18384BE3F0DA3BD295473BC10EF0FBC3EF576BEE6794E3E655D543E055CB7BE67BFC1BEAAA9B3BDEC94E83DF2339FBE8FFC19BD24CFBD3C36B79FBE1CBCC33EDD62973E0CA79F3ECE772ABE466495BE25534D3D8584743E7B814C3EC89A87BE5417A43E243046BE5A2B92BD086EEABD5308473E8706C3BE3D1985BECD564ABDB3E18F3EB64FC9BD4F25833E5C6BBF3EEA5C7B3CB4C88CBE44D8143BE6A7223EC10FB2BD3515CCBEF7CB783EB22E36BEC83192BEB50D553E2540C93D224A983E01D8A8BD4F40813ECE86C6BD8FC781BE5EF5C03EE0A8CD3ED0F6943E8E5CE9BDA86536BED2CF933D4674523E2A5F553D1205303EC3B59FBC9E1C6D3EFD51463EB81E6E3EA366FABC0F07ACBE811883BE4BA550BE9FC5B03E4CA1A8BC2B9160BD381523BE786F8CBC23E38C3E220ABE384C18423EF9646F3E0F94CBBE1C33123EC4D9D03E7CD553BEF5D9873DD76C163C30F85C3EA070C93D6C099DBEE2219CBEDD79B23EAB2F34BE39B6B7BE7C96BBBE67D9B5BE5CE6BE3D0B4F413DD3AD72BE08E1BCBD29B4823D2448183E8EAD2A3E120B61BE07F7C43E1743C33E237194BE96BEC13E713CABBE2AF589BEA612A53D3435F53D12DDB93E92AC063B112C8D3E415A0BBE934F98BEF79422BD9507593E1E5123BEB4EDB0BE74A67EBE9F1C943D3A50C73EADE2B83CCC7FA8BE9A273BBE9F29543E479103BE45B561BDC77F9B3E50A9193E26EC7F3E0AA7BB3EE89709BE786E723D28D39CBEDCC3CF3E5C1C8CBEE2AEC63E6160BF3E1EE3B53D36B8B4BE369357BC",
      torch_tensor_6_torch.float32_4: "0x04000000D186803DB806DE3D49B436BE861320BE69BCB23DEF98E23D",
      torch_tensor_6_torch.float32_3: "0x040000004E4E573FBB4A7E3F446A8F3FB462933F2805673F303B8A3F",
      torch_tensor_6_torch.float32_2: "0x04000000BA982ABE20EBD73E3888E83D5CF644BE0138A73D508BBF3C",
      torch_tensor_6_6_torch.float32: "0x040000009DA33D3E5B9FAA3EE1038BBEA37CD4BA1427A9BE4C8551BA25A6B2BEE952C9BE7DA8833E61FF38BED23B05BDFB71F6BD73C9A5BECED226BDCC04773DD803A73E2CD531BE8627C73ECD8F41BE86CB853E2093B63EE5E62C3D4C930FBE6B9E9A3E6FE2F3BDA4F732BE62BC11BE917AAABEB21727BD4D0CAABE5AE3883E5950C9BEBC499BBEFABFA53D154F813E07EBC73E",
      torch_tensor_18_torch.float32: "0x04000000452C95BEF29104BFF0842E3E4D4BF4BDF4C26F3D9895B6BEFBD188BECF139E3E8C6FADBE30C348BE263F6FBE39BE9F3E7DE2C3BE674590BE086D98BEC17F8BBE06F3603E71B7A83E",
      torch_tensor_18_6_torch.float32: "0x04000000672DBA3E70F9CABB3FD3BABE456C143E943EAA3EB8578ABE4521DCBD10A30C3D99686EBEAED0C1BEE802373E2585ABBE94DDD1BDBDF95DBE96319D3E076FA13D15DE413E448B8DBE5225B03EEDFD143DEBDC67BE62C7DABC020094BEA95F9ABCD470693E0FEE3BBE7BAEB03ED447FF3DE64D92BDB396023E81079ABD4152C2BD8F2289BE7396733E4BF37A3E10240F3E5C3E773ED4D2D03E7DD1C43E18B7C9BE7FA5BE3DFE2C0FBD44F30D3E9626A2BD7B5CE93D4352C0BE63123F3EBDD0C83EC35C96BD3443A6BE4DC1ADBE1465A0BD095BCABBB97F3A3D57CF513D4F719D3E26AF97BDC899EE3D452D5EBE4695CD3E0F6C203E7DE867BD2967893E91FB133E57638F3D3AD1F6BDCB43523D811AEF3CCA3E74BE4F6DBF3BEA93B63DFB9C77BE2559953D17C30ABE42E6ADBEFE5C7ABE56E4A5BE587FC13DE1B77F3E5C07BE3EA5F2CC3E50A8243E71774C3E82958EBD8CCBAC3EB4D31FBEEF32E3BD5E210BBE911E8CBE5718A1BE6E70AABD3BEFA83E6D4150BE4EC3BDBE0308BFBD7167BD3E0AA9C93D5066D3BCA701EFBDC787B73E00DAC8BE22E26C3E4B03E33DDB07833EB34C72BEBF1109BE81AF2FBEEDD1CA3E",
      torch_tensor_6_torch.float32_1: "0x04000000E43F48BE05DEC83D825AD03CA30D35BDB352F83C677F023C",
      torch_tensor_6_torch.float32: "0x040000008E8C803FB4247A3FCDEE853FB288623FE70E8E3FC1D4763F",
      torch_tensor_16_6_torch.float32: "0x04000000A426BA3EB09BA1BE523608BF1F29993E20D1B5BFB76027BEE76F083E30ED3A3E8C57CE3F8497C83FC35770BFFD549EBF2A2380BD1926E63E9BC362BFE637993F303E23BFDB4A12C07B3EBCBE9AD661BF73C70B3F7113183E817F10C03400CF3E263A3F3F619CB03F01D4A43FF9515E3FE1EBB0BF279676BFCC02CCBEDA5231BE305FAABD8B3A023F75148F3F0675903F33FF103E0FBB0BBF326D09BFA631543F62C40EBF696DE0BEB21E943FAF27B63D9A20883EF24143BE216CC43E0FCFF43F0310CABF6F60253F73E39A3DDE301CBEC287483EF0CCC8BF2FF68FBF3BFEA0BE8CA99CBFE7E8233FF9162F3F737ECE3FE4E36E3F25277ABF78E350BFA506943FE1EB2D3F7F14CABE02E1A93F1793E23D38C0AC3EDCE9A3BE31A3113F3881083E0E00DF3F9088163F86108D3E2F036FBFAE671CBEABAB07BF720DBA3F4F4DC5BF0B090CC000237EBFAD74633F634BBEBF1BCC63BF1A89663F28E1853E070219BE8E74C0BE74F42C3E88A20ABF935024BEC3C46E3F46F2843DF6858A3D4A850CBF",
      torch_tensor_7_6_torch.float32: "0x0400000056F451BF2390CA3ED51E663F39B7B1BF01012BBE2DFF913E931E24BF95C664BFED316D3F571709BFBA7194BFAC99EBBED162353FF8A1813F28ED6B3E8A8A8B3FC194CABF9B2DA6BE3493F63F4CF7A8BEEB344B3EEA35483F7B01853F937939BF565D56BE78825CBEF59F1C3F8813EF3F1ABE2040CD9CA0BF4B03513FFE5E88BF207836BE09DD84BE8C9ECA3E1812AFBFCB4DCEBDF4B3723E74F7213F3DC1BBBD9AE9CF3FF56ECD3A"
    }
  }
#-}
