// RUN: gist-opt %s -gist-vectorize-tiles | FileCheck %s

// One KV head with its 3 query heads, 32 queries: 96 rows are six tiles. Scores
// are those of keys (left) with rows (right), 4 tiles by 2 steps; outputs of
// values with weights, likewise. Weights of neighbouring keys lie side by side.
// CHECK-LABEL: func private @attention
// CHECK-DAG:     %[[ROWS:.*]] = memref.alloc() : memref<6x2x16x32xbf16>
// CHECK-DAG:     %[[SCORES:.*]] = memref.alloc() : memref<64x16xf32>
// CHECK-DAG:     %[[OUT:.*]] = memref.alloc() : memref<6x64x16xf32>
// CHECK-DAG:     %[[WEIGHTS:.*]] = memref.alloc() : memref<2x16x32xbf16>
// CHECK:         %[[R:.*]] = amx.tile_load %[[ROWS]]
// CHECK-NEXT:    %[[K:.*]] = amx.tile_load
// CHECK-NEXT:    amx.tile_mulf %[[K]], %[[R]]
// CHECK-COUNT-7: amx.tile_mulf
// CHECK-COUNT-4: amx.tile_store %[[SCORES]]
// CHECK:         arith.maxnumf
// CHECK:         vector.shuffle {{.*}} [0, 16, 1, 17
// CHECK:         vector.store {{.*}}, %[[WEIGHTS]]
// CHECK-COUNT-4: amx.tile_load %[[OUT]]
// CHECK:         %[[P:.*]] = amx.tile_load %[[WEIGHTS]]
// CHECK:         amx.tile_mulf {{.*}}, %[[P]]
// CHECK-COUNT-7: amx.tile_mulf
// CHECK-COUNT-4: amx.tile_store %[[OUT]]
func.func private @attention(%q: tensor<?x3x64xf16>, %k: tensor<?x1x64xf16>, %v: tensor<?x1x64xf16>,
    %out: tensor<?x3x64xf16>) -> tensor<?x3x64xf16> attributes {gist.kernel = #gist.kernel<kind = attention, outputs = 1>, gist.tile = #gist.cpu_amx_attention<queries = 32, keys = 64>} {
  %o = gist.attention %q, %k, %v causal : tensor<?x3x64xf16>, tensor<?x1x64xf16>, tensor<?x1x64xf16>
  return %o : tensor<?x3x64xf16>
}
