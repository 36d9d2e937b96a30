// RUN: gist-opt %s -gist-vectorize-tiles | FileCheck %s

// Keys and values in 8 bits: integers are widened as rows are read, scales are
// multiplied with scores (keys) and with weights (values), and nothing is left
// of the loops that would scale every element.

#row = affine_map<(t, h, d) -> (t, h, d)>
#scale = affine_map<(t, h, d) -> (t, h)>

// CHECK-LABEL: func private @tiles
// CHECK-NOT:     linalg.generic
// CHECK-NOT:     vector<64xi8>
// CHECK:         arith.sitofp {{.*}} : vector<16xi8> to vector<16xf32>
// CHECK:         amx.tile_mulf
// CHECK:         %[[KEY:.*]] = vector.broadcast {{.*}} : f32 to vector<16xf32>
// CHECK-NEXT:    arith.mulf {{.*}}, %[[KEY]] : vector<16xf32>
// CHECK:         arith.maxnumf
// CHECK:         %[[VALUE:.*]] = vector.broadcast {{.*}} : f32 to vector<16xf32>
// CHECK-NEXT:    arith.mulf {{.*}}, %[[VALUE]] : vector<16xf32>
// CHECK:         llvm.x86.avx512bf16.cvtne2ps2bf16.512
// CHECK:         amx.tile_mulf
func.func private @tiles(%q: tensor<?x3x64xf32>, %k: tensor<?x1x64xi8>, %ks: tensor<?x1xf32>, %v: tensor<?x1x64xi8>, %vs: tensor<?x1xf32>, %out: tensor<?x3x64xf32>) -> tensor<?x3x64xf32>
    attributes {gist.kernel = #gist.kernel<kind = attention, outputs = 1>, gist.tile = #gist.cpu_amx_attention<queries = 32, keys = 64>} {
  %c0 = arith.constant 0 : index
  %kn = tensor.dim %k, %c0 : tensor<?x1x64xi8>
  %ke = tensor.empty(%kn) : tensor<?x1x64xf32>
  %kw = linalg.generic {indexing_maps = [#row, #scale, #row], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%k, %ks : tensor<?x1x64xi8>, tensor<?x1xf32>) outs(%ke : tensor<?x1x64xf32>) {
  ^bb0(%i: i8, %l: f32, %o: f32):
    %1 = arith.sitofp %i : i8 to f32
    %2 = arith.mulf %1, %l : f32
    linalg.yield %2 : f32
  } -> tensor<?x1x64xf32>
  %vn = tensor.dim %v, %c0 : tensor<?x1x64xi8>
  %ve = tensor.empty(%vn) : tensor<?x1x64xf32>
  %vw = linalg.generic {indexing_maps = [#row, #scale, #row], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%v, %vs : tensor<?x1x64xi8>, tensor<?x1xf32>) outs(%ve : tensor<?x1x64xf32>) {
  ^bb0(%i: i8, %l: f32, %o: f32):
    %1 = arith.sitofp %i : i8 to f32
    %2 = arith.mulf %1, %l : f32
    linalg.yield %2 : f32
  } -> tensor<?x1x64xf32>
  %y = gist.attention %q, %kw, %vw causal : tensor<?x3x64xf32>, tensor<?x1x64xf32>, tensor<?x1x64xf32>
  return %y : tensor<?x3x64xf32>
}

// CHECK-LABEL: func private @pairs
// CHECK-NOT:     linalg.generic
// CHECK-NOT:     vector<64xi8>
// CHECK:         arith.sitofp {{.*}} : vector<8xi8> to vector<8xf32>
// CHECK:         llvm.aarch64.neon.bfmmla
// CHECK:         %[[KEYS:.*]] = vector.transfer_read {{.*}} : tensor<64xf32>, vector<4xf32>
// CHECK-NEXT:    arith.mulf {{.*}}, %[[KEYS]] : vector<4xf32>
// CHECK:         arith.maxnumf
// CHECK:         %[[VALUES:.*]] = vector.transfer_read {{.*}} : tensor<64xf32>, vector<16xf32>
// CHECK-NEXT:    arith.mulf {{.*}}, %[[VALUES]] : vector<16xf32>
// CHECK:         llvm.aarch64.neon.bfmmla
func.func private @pairs(%q: tensor<?x3x64xf32>, %k: tensor<?x1x64xi8>, %ks: tensor<?x1xf32>, %v: tensor<?x1x64xi8>, %vs: tensor<?x1xf32>, %out: tensor<?x3x64xf32>) -> tensor<?x3x64xf32>
    attributes {gist.kernel = #gist.kernel<kind = attention, outputs = 1>, gist.tile = #gist.cpu_attention<queries = 32, keys = 64, registers = 8, lanes = 4, instruction = bfmmla>} {
  %c0 = arith.constant 0 : index
  %kn = tensor.dim %k, %c0 : tensor<?x1x64xi8>
  %ke = tensor.empty(%kn) : tensor<?x1x64xf32>
  %kw = linalg.generic {indexing_maps = [#row, #scale, #row], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%k, %ks : tensor<?x1x64xi8>, tensor<?x1xf32>) outs(%ke : tensor<?x1x64xf32>) {
  ^bb0(%i: i8, %l: f32, %o: f32):
    %1 = arith.sitofp %i : i8 to f32
    %2 = arith.mulf %1, %l : f32
    linalg.yield %2 : f32
  } -> tensor<?x1x64xf32>
  %vn = tensor.dim %v, %c0 : tensor<?x1x64xi8>
  %ve = tensor.empty(%vn) : tensor<?x1x64xf32>
  %vw = linalg.generic {indexing_maps = [#row, #scale, #row], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%v, %vs : tensor<?x1x64xi8>, tensor<?x1xf32>) outs(%ve : tensor<?x1x64xf32>) {
  ^bb0(%i: i8, %l: f32, %o: f32):
    %1 = arith.sitofp %i : i8 to f32
    %2 = arith.mulf %1, %l : f32
    linalg.yield %2 : f32
  } -> tensor<?x1x64xf32>
  %y = gist.attention %q, %kw, %vw causal : tensor<?x3x64xf32>, tensor<?x1x64xf32>, tensor<?x1x64xf32>
  return %y : tensor<?x3x64xf32>
}
