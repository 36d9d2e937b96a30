// What walks memory with its last loop becomes loops over vectors of as many
// lanes as `gist.tile` says; what does not stays, and a remark says so.
// RUN: gist-opt %s -gist-vectorize-tiles | FileCheck %s
// RUN: gist-opt %s -gist-vectorize-tiles --remarks-filter-missed=gist-vectorize-tiles -o /dev/null 2>&1 \
// RUN:   | FileCheck %s --check-prefix=REMARK
// RUN: gist-opt %s -gist-vectorize-tiles --remarks-filter-missed=gist-vectorize-tiles -o /dev/null 2>&1 \
// RUN:   | grep -c "remark:" | FileCheck %s --check-prefix=COUNT

// Several registers of 4 lanes at a time, as far as a row fills them.
// CHECK-LABEL: func.func private @rows(
// CHECK-NOT: linalg.generic
// CHECK: vector.transfer_read {{.*}} vector<8xf32>
// CHECK: arith.negf %{{.+}} : vector<8xf32>
// CHECK: vector.transfer_write {{.*}} vector<8xf32>
// CHECK-NOT: linalg.generic
// CHECK: return
#map = affine_map<(t, n) -> (t, n)>
#turned = affine_map<(t, n) -> (n, t)>
#tile = #gist.cpu_rows<rows = 4, lanes = 4>
func.func private @rows(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> tensor<4x8xf32>
    attributes {gist.kernel = #gist.kernel<kind = rows, outputs = 1>, gist.tile = #tile} {
  %r = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<4x8xf32>) outs(%y : tensor<4x8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %n = arith.negf %a : f32
    linalg.yield %n : f32
  } -> tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}

// REMARK: remark: {{.*}}linalg.generic: does not walk memory with its last loop
// CHECK-LABEL: func.func private @turned(
// CHECK: linalg.generic
func.func private @turned(%x: tensor<8x4xf32>, %y: tensor<4x8xf32>) -> tensor<4x8xf32>
    attributes {gist.kernel = #gist.kernel<kind = rows, outputs = 1>, gist.tile = #tile} {
  %r = linalg.generic {indexing_maps = [#turned, #map], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<8x4xf32>) outs(%y : tensor<4x8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %n = arith.negf %a : f32
    linalg.yield %n : f32
  } -> tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}

// Two KV heads at once have no kernel, so the definition runs, a part of it as
// scalar loops.
// REMARK: remark: {{.*}}gist.attention: more than one sequence or KV head
// CHECK-LABEL: func.func private @attention(
// CHECK-NOT: gist.attention
// CHECK: math.exp
func.func private @attention(%q: tensor<4x2x8xf32>, %k: tensor<4x2x8xf32>, %y: tensor<4x2x8xf32>) -> tensor<4x2x8xf32>
    attributes {gist.kernel = #gist.kernel<kind = rows, outputs = 1>, gist.tile = #tile} {
  %r = gist.attention %q, %k, %k : tensor<4x2x8xf32>, tensor<4x2x8xf32>, tensor<4x2x8xf32>
  return %r : tensor<4x2x8xf32>
}

// Only kernels are vectorised, so there are no more remarks than these and one
// for a part of the definition above.
// COUNT: {{^}}3{{$}}
// CHECK-LABEL: func.func @host(
// CHECK: linalg.generic
func.func @host(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %r = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<4x8xf32>) outs(%y : tensor<4x8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %n = arith.negf %a : f32
    linalg.yield %n : f32
  } -> tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}
