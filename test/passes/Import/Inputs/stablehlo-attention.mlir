#map = affine_map<(d0, d1, d2) -> (d1, d0, d2)>
#map1 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map2 = affine_map<(d0, d1, d2) -> (d0, d2, d1)>
#map3 = affine_map<(d0, d1, d2) -> ()>
#map4 = affine_map<(d0, d1) -> ()>
#map5 = affine_map<(d0, d1) -> (d0, d1)>
#map6 = affine_map<() -> ()>
#map7 = affine_map<(d0, d1, d2) -> (d1, d2)>
#map8 = affine_map<(d0, d1, d2) -> (d0, d1)>
#map9 = affine_map<(d0, d1, d2) -> (d0, d1, 0)>
module @jit_attention attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<12x32xf32>, %arg1: tensor<32x32xf32>, %arg2: tensor<32x32xf32>, %arg3: tensor<32x32xf32>, %arg4: tensor<32x32xf32>) -> (tensor<12x32xf32> {jax.result_info = "result"}) {
    %cst = arith.constant 0xFF800000 : f32
    %cst_0 = arith.constant 0.000000e+00 : f32
    %cst_1 = arith.constant dense<0> : tensor<i32>
    %cst_2 = arith.constant dense<false> : tensor<i1>
    %cst_3 = arith.constant dense<0xFF800000> : tensor<f32>
    %cst_4 = arith.constant dense<true> : tensor<i1>
    %cst_5 = arith.constant dense<2.82842708> : tensor<f32>
    %0 = tensor.empty() : tensor<12x32xf32>
    %1 = linalg.fill ins(%cst_0 : f32) outs(%0 : tensor<12x32xf32>) -> tensor<12x32xf32>
    %2 = linalg.matmul ins(%arg0, %arg1 : tensor<12x32xf32>, tensor<32x32xf32>) outs(%1 : tensor<12x32xf32>) -> tensor<12x32xf32>
    %expanded = tensor.expand_shape %2 [[0], [1, 2]] output_shape [12, 4, 8] : tensor<12x32xf32> into tensor<12x4x8xf32>
    %3 = tensor.empty() : tensor<4x12x8xf32>
    %4 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded : tensor<12x4x8xf32>) outs(%3 : tensor<4x12x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<4x12x8xf32>
    %5 = tensor.empty() : tensor<12x32xf32>
    %6 = linalg.fill ins(%cst_0 : f32) outs(%5 : tensor<12x32xf32>) -> tensor<12x32xf32>
    %7 = linalg.matmul ins(%arg0, %arg2 : tensor<12x32xf32>, tensor<32x32xf32>) outs(%6 : tensor<12x32xf32>) -> tensor<12x32xf32>
    %expanded_6 = tensor.expand_shape %7 [[0], [1, 2]] output_shape [12, 4, 8] : tensor<12x32xf32> into tensor<12x4x8xf32>
    %8 = tensor.empty() : tensor<4x12x8xf32>
    %9 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_6 : tensor<12x4x8xf32>) outs(%8 : tensor<4x12x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<4x12x8xf32>
    %10 = tensor.empty() : tensor<12x32xf32>
    %11 = linalg.fill ins(%cst_0 : f32) outs(%10 : tensor<12x32xf32>) -> tensor<12x32xf32>
    %12 = linalg.matmul ins(%arg0, %arg3 : tensor<12x32xf32>, tensor<32x32xf32>) outs(%11 : tensor<12x32xf32>) -> tensor<12x32xf32>
    %expanded_7 = tensor.expand_shape %12 [[0], [1, 2]] output_shape [12, 4, 8] : tensor<12x32xf32> into tensor<12x4x8xf32>
    %13 = tensor.empty() : tensor<4x12x8xf32>
    %14 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_7 : tensor<12x4x8xf32>) outs(%13 : tensor<4x12x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<4x12x8xf32>
    %15 = tensor.empty() : tensor<4x8x12xf32>
    %16 = linalg.generic {indexing_maps = [#map2, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%9 : tensor<4x12x8xf32>) outs(%15 : tensor<4x8x12xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<4x8x12xf32>
    %17 = tensor.empty() : tensor<4x12x12xf32>
    %18 = linalg.fill ins(%cst_0 : f32) outs(%17 : tensor<4x12x12xf32>) -> tensor<4x12x12xf32>
    %19 = linalg.batch_matmul ins(%4, %16 : tensor<4x12x8xf32>, tensor<4x8x12xf32>) outs(%18 : tensor<4x12x12xf32>) -> tensor<4x12x12xf32>
    %20 = tensor.empty() : tensor<4x12x12xf32>
    %21 = linalg.generic {indexing_maps = [#map3, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_5 : tensor<f32>) outs(%20 : tensor<4x12x12xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<4x12x12xf32>
    %22 = tensor.empty() : tensor<4x12x12xf32>
    %23 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%19, %21 : tensor<4x12x12xf32>, tensor<4x12x12xf32>) outs(%22 : tensor<4x12x12xf32>) {
    ^bb0(%in: f32, %in_8: f32, %out: f32):
      %80 = arith.divf %in, %in_8 : f32
      linalg.yield %80 : f32
    } -> tensor<4x12x12xf32>
    %24 = tensor.empty() : tensor<12x12xi1>
    %25 = linalg.generic {indexing_maps = [#map4, #map5], iterator_types = ["parallel", "parallel"]} ins(%cst_4 : tensor<i1>) outs(%24 : tensor<12x12xi1>) {
    ^bb0(%in: i1, %out: i1):
      linalg.yield %in : i1
    } -> tensor<12x12xi1>
    %26 = tensor.empty() : tensor<12x12xi32>
    %27 = linalg.generic {indexing_maps = [#map5], iterator_types = ["parallel", "parallel"]} outs(%26 : tensor<12x12xi32>) {
    ^bb0(%out: i32):
      %80 = linalg.index 0 : index
      %81 = arith.index_cast %80 : index to i32
      linalg.yield %81 : i32
    } -> tensor<12x12xi32>
    %28 = tensor.empty() : tensor<12x12xi32>
    %29 = linalg.generic {indexing_maps = [#map4, #map5], iterator_types = ["parallel", "parallel"]} ins(%cst_1 : tensor<i32>) outs(%28 : tensor<12x12xi32>) {
    ^bb0(%in: i32, %out: i32):
      linalg.yield %in : i32
    } -> tensor<12x12xi32>
    %30 = tensor.empty() : tensor<12x12xi32>
    %31 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel"]} ins(%27, %29 : tensor<12x12xi32>, tensor<12x12xi32>) outs(%30 : tensor<12x12xi32>) {
    ^bb0(%in: i32, %in_8: i32, %out: i32):
      %80 = arith.addi %in, %in_8 : i32
      linalg.yield %80 : i32
    } -> tensor<12x12xi32>
    %32 = tensor.empty() : tensor<12x12xi32>
    %33 = linalg.generic {indexing_maps = [#map5], iterator_types = ["parallel", "parallel"]} outs(%32 : tensor<12x12xi32>) {
    ^bb0(%out: i32):
      %80 = linalg.index 1 : index
      %81 = arith.index_cast %80 : index to i32
      linalg.yield %81 : i32
    } -> tensor<12x12xi32>
    %34 = tensor.empty() : tensor<12x12xi1>
    %35 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel"]} ins(%31, %33 : tensor<12x12xi32>, tensor<12x12xi32>) outs(%34 : tensor<12x12xi1>) {
    ^bb0(%in: i32, %in_8: i32, %out: i1):
      %80 = arith.cmpi sge, %in, %in_8 : i32
      linalg.yield %80 : i1
    } -> tensor<12x12xi1>
    %36 = tensor.empty() : tensor<12x12xi1>
    %37 = linalg.generic {indexing_maps = [#map4, #map5], iterator_types = ["parallel", "parallel"]} ins(%cst_2 : tensor<i1>) outs(%36 : tensor<12x12xi1>) {
    ^bb0(%in: i1, %out: i1):
      linalg.yield %in : i1
    } -> tensor<12x12xi1>
    %38 = tensor.empty() : tensor<12x12xi1>
    %39 = linalg.generic {indexing_maps = [#map5, #map5, #map5, #map5], iterator_types = ["parallel", "parallel"]} ins(%35, %25, %37 : tensor<12x12xi1>, tensor<12x12xi1>, tensor<12x12xi1>) outs(%38 : tensor<12x12xi1>) {
    ^bb0(%in: i1, %in_8: i1, %in_9: i1, %out: i1):
      %80 = arith.select %in, %in_8, %in_9 : i1
      linalg.yield %80 : i1
    } -> tensor<12x12xi1>
    %40 = tensor.empty() : tensor<f32>
    %41 = linalg.generic {indexing_maps = [#map6], iterator_types = []} outs(%40 : tensor<f32>) {
    ^bb0(%out: f32):
      linalg.yield %cst : f32
    } -> tensor<f32>
    %42 = tensor.empty() : tensor<4x12x12xi1>
    %43 = linalg.generic {indexing_maps = [#map7, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%39 : tensor<12x12xi1>) outs(%42 : tensor<4x12x12xi1>) {
    ^bb0(%in: i1, %out: i1):
      linalg.yield %in : i1
    } -> tensor<4x12x12xi1>
    %44 = tensor.empty() : tensor<4x12x12xf32>
    %45 = linalg.generic {indexing_maps = [#map3, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%41 : tensor<f32>) outs(%44 : tensor<4x12x12xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<4x12x12xf32>
    %46 = tensor.empty() : tensor<4x12x12xf32>
    %47 = linalg.generic {indexing_maps = [#map1, #map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%43, %23, %45 : tensor<4x12x12xi1>, tensor<4x12x12xf32>, tensor<4x12x12xf32>) outs(%46 : tensor<4x12x12xf32>) {
    ^bb0(%in: i1, %in_8: f32, %in_9: f32, %out: f32):
      %80 = arith.select %in, %in_8, %in_9 : f32
      linalg.yield %80 : f32
    } -> tensor<4x12x12xf32>
    %48 = tensor.empty() : tensor<4x12xf32>
    %49 = linalg.fill ins(%cst : f32) outs(%48 : tensor<4x12xf32>) -> tensor<4x12xf32>
    %50 = linalg.generic {indexing_maps = [#map1, #map8], iterator_types = ["parallel", "parallel", "reduction"]} ins(%47 : tensor<4x12x12xf32>) outs(%49 : tensor<4x12xf32>) {
    ^bb0(%in: f32, %out: f32):
      %80 = arith.maximumf %out, %in : f32
      linalg.yield %80 : f32
    } -> tensor<4x12xf32>
    %51 = tensor.empty() : tensor<4x12xf32>
    %52 = linalg.generic {indexing_maps = [#map4, #map5], iterator_types = ["parallel", "parallel"]} ins(%cst_3 : tensor<f32>) outs(%51 : tensor<4x12xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<4x12xf32>
    %53 = tensor.empty() : tensor<4x12xf32>
    %54 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel"]} ins(%52, %50 : tensor<4x12xf32>, tensor<4x12xf32>) outs(%53 : tensor<4x12xf32>) {
    ^bb0(%in: f32, %in_8: f32, %out: f32):
      %80 = arith.maximumf %in, %in_8 : f32
      linalg.yield %80 : f32
    } -> tensor<4x12xf32>
    %55 = tensor.empty() : tensor<4x12x1xf32>
    %56 = linalg.generic {indexing_maps = [#map8, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%54 : tensor<4x12xf32>) outs(%55 : tensor<4x12x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<4x12x1xf32>
    %57 = tensor.empty() : tensor<4x12x12xf32>
    %58 = linalg.generic {indexing_maps = [#map9, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%56 : tensor<4x12x1xf32>) outs(%57 : tensor<4x12x12xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<4x12x12xf32>
    %59 = tensor.empty() : tensor<4x12x12xf32>
    %60 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%47, %58 : tensor<4x12x12xf32>, tensor<4x12x12xf32>) outs(%59 : tensor<4x12x12xf32>) {
    ^bb0(%in: f32, %in_8: f32, %out: f32):
      %80 = arith.subf %in, %in_8 : f32
      linalg.yield %80 : f32
    } -> tensor<4x12x12xf32>
    %61 = tensor.empty() : tensor<4x12x12xf32>
    %62 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%60 : tensor<4x12x12xf32>) outs(%61 : tensor<4x12x12xf32>) {
    ^bb0(%in: f32, %out: f32):
      %80 = math.exp %in : f32
      linalg.yield %80 : f32
    } -> tensor<4x12x12xf32>
    %63 = tensor.empty() : tensor<4x12xf32>
    %64 = linalg.fill ins(%cst_0 : f32) outs(%63 : tensor<4x12xf32>) -> tensor<4x12xf32>
    %65 = linalg.generic {indexing_maps = [#map1, #map8], iterator_types = ["parallel", "parallel", "reduction"]} ins(%62 : tensor<4x12x12xf32>) outs(%64 : tensor<4x12xf32>) {
    ^bb0(%in: f32, %out: f32):
      %80 = arith.addf %out, %in : f32
      linalg.yield %80 : f32
    } -> tensor<4x12xf32>
    %66 = tensor.empty() : tensor<4x12x1xf32>
    %67 = linalg.generic {indexing_maps = [#map8, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%65 : tensor<4x12xf32>) outs(%66 : tensor<4x12x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<4x12x1xf32>
    %68 = tensor.empty() : tensor<4x12x12xf32>
    %69 = linalg.generic {indexing_maps = [#map9, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%67 : tensor<4x12x1xf32>) outs(%68 : tensor<4x12x12xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<4x12x12xf32>
    %70 = tensor.empty() : tensor<4x12x12xf32>
    %71 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%62, %69 : tensor<4x12x12xf32>, tensor<4x12x12xf32>) outs(%70 : tensor<4x12x12xf32>) {
    ^bb0(%in: f32, %in_8: f32, %out: f32):
      %80 = arith.divf %in, %in_8 : f32
      linalg.yield %80 : f32
    } -> tensor<4x12x12xf32>
    %72 = tensor.empty() : tensor<4x12x8xf32>
    %73 = linalg.fill ins(%cst_0 : f32) outs(%72 : tensor<4x12x8xf32>) -> tensor<4x12x8xf32>
    %74 = linalg.batch_matmul ins(%71, %14 : tensor<4x12x12xf32>, tensor<4x12x8xf32>) outs(%73 : tensor<4x12x8xf32>) -> tensor<4x12x8xf32>
    %75 = tensor.empty() : tensor<12x4x8xf32>
    %76 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%74 : tensor<4x12x8xf32>) outs(%75 : tensor<12x4x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<12x4x8xf32>
    %collapsed = tensor.collapse_shape %76 [[0], [1, 2]] : tensor<12x4x8xf32> into tensor<12x32xf32>
    %77 = tensor.empty() : tensor<12x32xf32>
    %78 = linalg.fill ins(%cst_0 : f32) outs(%77 : tensor<12x32xf32>) -> tensor<12x32xf32>
    %79 = linalg.matmul ins(%collapsed, %arg4 : tensor<12x32xf32>, tensor<32x32xf32>) outs(%78 : tensor<12x32xf32>) -> tensor<12x32xf32>
    return %79 : tensor<12x32xf32>
  }
}

