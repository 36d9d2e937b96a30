// RUN: gist-opt %s -gist-gpu-tile=target=gfx942 | FileCheck %s --check-prefixes=TILE,AMD
// RUN: gist-opt %s -gist-gpu-tile=target=sm_90 | FileCheck %s --check-prefixes=TILE,NVIDIA

// A workgroup of 1024 threads for each row.
// TILE-LABEL:  func.func private @sample_0
// TILE-SAME:     %[[LOGITS:.+]]: memref<?x1000xf32>, %[[SETTINGS:.+]]: memref<?x5xi64>, %[[NEXT:.+]]: memref<?xi32>, %[[WEIGHTS:.+]]: memref<?x2x4096xi32>
// TILE-SAME:     gist.grid =
// AMD-SAME:      waves = 16>
// NVIDIA-SAME:   waves = 32>
// TILE-SAME:     gist.workgroup = array<i64: 1024>
// The best token; greedy rows are done.
// TILE:          vector.load %[[LOGITS]]{{.*}}, vector<4xf32>
// TILE:          arith.maxsi
// TILE:          gpu.barrier
// TILE:          scf.if
// What is needed of a token is written once: its weight and its order.
// TILE:            vector.store %{{.+}}, %[[WEIGHTS]][%{{.+}}, %c0, %{{.+}}]
// TILE:            vector.store %{{.+}}, %[[WEIGHTS]][%{{.+}}, %c1, %{{.+}}]
// top-k, by the 32 bits of a logit: no weight is read; among equal ones by the
// token, whose 11 bits reach behind the last.
// TILE:            %[[K:.+]]:2 = scf.if
// TILE:              scf.for %{{.+}} = %c0 to %c32
// TILE-NOT:            %[[WEIGHTS]][%{{.+}}, %c0, %{{.+}}]
// TILE:                vector.load %[[WEIGHTS]][%{{.+}}, %c1, %{{.+}}] {{.*}}: memref<?x2x4096xi32>, vector<4xi32>
// TILE:              scf.for %{{.+}} = %c0 to %c11
// top-p, by weights.
// TILE:            scf.if
// TILE:              scf.for %{{.+}} = %c0 to %c32
// TILE:                vector.load %[[WEIGHTS]][%{{.+}}, %c0, %{{.+}}]
// TILE:              scf.for %{{.+}} = %c0 to %c10
// Chosen tokens keep their weight; the draw, by the bits of a place in a chunk.
// TILE:            vector.store %{{.+}}, %[[WEIGHTS]][%{{.+}}, %c0, %{{.+}}]
// TILE:            scf.for %{{.+}} = %c0 to %c12
// TILE:              vector.load %[[WEIGHTS]][%{{.+}}, %c0, %{{.+}}]
// TILE:          memref.store %{{.+}}, %[[NEXT]]
func.func private @sample_0(%logits: tensor<?x1000xf32>, %settings: tensor<?x5xi64>, %next: tensor<?xi32>)
    -> tensor<?xi32> attributes {gist.kernel = #gist.kernel<kind = sample, outputs = 1>} {
  %drawn = gist.sample %logits by %settings : tensor<?x1000xf32>, tensor<?x5xi64>
  return %drawn : tensor<?xi32>
}
