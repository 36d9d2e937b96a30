// RUN: gist-opt %s -gist-gpu-tile=target=gfx942 | FileCheck %s --check-prefixes=TILE,AMD
// RUN: gist-opt %s -gist-gpu-tile=target=sm_90 | FileCheck %s --check-prefixes=TILE,NVIDIA

// A workgroup of 1024 threads for each row.
// TILE-LABEL:  func.func private @sample_0
// TILE-SAME:     %[[LOGITS:.+]]: memref<?x1000xf32>, %[[SETTINGS:.+]]: memref<?x5xi64>, %[[NEXT:.+]]: memref<?xi32>, %[[WEIGHTS:.+]]: memref<?x1000xi32>
// TILE-SAME:     gist.grid =
// AMD-SAME:      waves = [16]
// NVIDIA-SAME:   waves = [32]
// TILE-SAME:     gist.workgroup = array<i64: 1024>
// The best token; who asks for no other is done.
// TILE:          memref.load %[[LOGITS]]
// TILE:          arith.maxsi
// TILE:          gpu.barrier
// TILE:          scf.if
// Its weights are written once.
// TILE:            memref.store %{{.+}}, %[[WEIGHTS]]
// top-k, by the 32 bits of a logit and 10 of a token: no weight is read.
// TILE:            scf.if
// TILE-NOT:          %[[WEIGHTS]]
// TILE:              scf.for %{{.+}} = %c0 to %c42
// TILE-NOT:            %[[WEIGHTS]]
// TILE:                memref.load %[[LOGITS]]
// top-p.
// TILE:            scf.if
// TILE:              scf.for %{{.+}} = %c0 to %c42
// TILE:                memref.load %[[WEIGHTS]]
// The draw, by the bits of the token.
// TILE:            scf.for %{{.+}} = %c0 to %c10
// TILE:              memref.load %[[WEIGHTS]]
// TILE:          memref.store %{{.+}}, %[[NEXT]]
func.func private @sample_0(%logits: tensor<?x1000xf32>, %settings: tensor<?x5xi64>, %next: tensor<?xi32>, %weights: tensor<?x1000xi32>)
    -> (tensor<?xi32>, tensor<?x1000xi32>) attributes {gist.kernel, gist.outputs = 2 : i64} {
  %drawn = gist.sample %logits by %settings : tensor<?x1000xf32>, tensor<?x5xi64>
  return %drawn, %weights : tensor<?xi32>, tensor<?x1000xi32>
}
