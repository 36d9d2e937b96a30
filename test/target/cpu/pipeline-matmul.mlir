// RUN: gist-opt %s -gist-set-target="triple=aarch64-linux-gnu cpu=neoverse-v1" -gist-select-tile-config \
// RUN:   -gist-tile-and-distribute -canonicalize | FileCheck %s --check-prefix=TILE
// RUN: gist-opt %s -gist-tile="triple=aarch64-linux-gnu cpu=neoverse-v1" | FileCheck %s --check-prefix=BUFFER
// RUN: gist-opt %s -gist-tile="triple=aarch64-linux-gnu cpu=neoverse-v1" -gist-lower-to-cpu | FileCheck %s --check-prefix=ABI

// Rows are the fast dimension of the grid: neighbours share the weight's tile.
// The numbers of the kernel are the index argument, then the sizes of x, r, out.
// TILE-DAG: #[[ROWS:.+]] = affine_map<()[s0, s1, s2, s3] -> (s1 ceildiv 128)>
// TILE-DAG: #[[COLUMNS:.+]] = affine_map<()[s0, s1, s2, s3] -> (4)>
// TILE-LABEL: func private @residual
// TILE-SAME:    gist.grid = [#[[ROWS]], #[[COLUMNS]]]
// TILE:         scf.forall (%{{.+}}, %{{.+}}) = (0, 0) to (%{{.+}}, 192) step (128, 48)
// The product and its zeros are computed in the tile of the sum that reads them.
// TILE:           linalg.fill
// TILE:           linalg.matmul
// TILE:           linalg.generic
// TILE:           tensor.parallel_insert_slice
// TILE-NOT:     linalg.

// In place: the only scratch is a panel of the weight, 96 x 16 f32, and the tile
// of the product, 128 x 48 f32.
// BUFFER-LABEL: func private @residual
// BUFFER-SAME:    %[[OUT:[^:]+]]: memref<?x192xf32>) attributes
// BUFFER:         memref.alloca() {alignment = 64 : i64} : memref<6144xi8>
// BUFFER-NEXT:    memref.alloca() {alignment = 64 : i64} : memref<24576xi8>
// BUFFER-NOT:     memref.alloc
// BUFFER-NOT:     memref.copy
// BUFFER:         vector.fma
// BUFFER:         return

// ABI: func @residual(%{{.+}}: !llvm.ptr, %{{.+}}: i64, %{{.+}}: i64, %{{.+}}: i64) attributes
// ABI-NOT: scf.forall
func.func private @residual(%unused: index, %x: tensor<?x96xf32>, %w: tensor<192x96xf16>,
    %r: tensor<?x192xf32>, %out: tensor<?x192xf32>) -> tensor<?x192xf32>
    attributes {gist.kernel = #gist.kernel<kind = matmul, outputs = 1>} {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %t = tensor.dim %x, %c0 : tensor<?x96xf32>
  %e = tensor.empty(%t) : tensor<?x192xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x192xf32>) -> tensor<?x192xf32>
  %y = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>,
      affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%x, %w : tensor<?x96xf32>, tensor<192x96xf16>)
      outs(%f : tensor<?x192xf32>) -> tensor<?x192xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>,
      affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%y, %r : tensor<?x192xf32>, tensor<?x192xf32>) outs(%out : tensor<?x192xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %1 = arith.addf %a, %b : f32
    linalg.yield %1 : f32
  } -> tensor<?x192xf32>
  return %s : tensor<?x192xf32>
}
