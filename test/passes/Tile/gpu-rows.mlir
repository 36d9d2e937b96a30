// Kernels on whole rows for GPUs.
// RUN: gist-opt %s -split-input-file -gist-gpu-tile=target=gfx942 | FileCheck %s
// RUN: gist-opt %s -split-input-file -gist-gpu-tile=target=sm_90 | FileCheck %s --check-prefix=SM90

// A row of 576 numbers is shared by two waves of 64, or four warps of 32:
// vectors of four, a second step for what is past 512. Every vector is read
// once, although the kernel says it is read for the sum and for the result.

// CHECK: #[[ROWS:.*]] = affine_map<()[s0, s1] -> (s1)>
// CHECK-LABEL: func.func private @norm(
// CHECK-SAME: %[[X:.*]]: memref<?x576xf32>, %[[Y:.*]]: memref<?x576xf32>)
// CHECK-SAME: gist.grid = [#[[ROWS]]]
// CHECK-SAME: gist.tile = #gist.gpu_rows<rows = 1, waves = 2>
// CHECK-SAME: gist.workgroup = array<i64: 128>
// CHECK: memref.alloca() {{.*}} : memref<2xf32, #gpu.address_space<workgroup>>
// CHECK: %[[THREAD:.*]] = gpu.thread_id x upper_bound 128
// CHECK: %[[C:.*]] = arith.muli %[[THREAD]], %c4
// CHECK: vector.load %[[X]][%{{.*}}, %[[C]]] {alignment = 16 : i64} : memref<?x576xf32>, vector<4xf32>
// CHECK: vector.load %[[X]]
// CHECK-NOT: vector.load %[[X]]
// CHECK-COUNT-6: gpu.shuffle xor
// CHECK-NOT: gpu.shuffle
// CHECK: gpu.barrier
// CHECK: memref.store {{.*}} #gpu.address_space<workgroup>
// CHECK: gpu.barrier
// CHECK: vector.store {{.*}}, %[[Y]]
// CHECK: scf.if
// CHECK-NEXT: vector.store {{.*}}, %[[Y]]
// CHECK-NOT: vector.store
// CHECK: return

// SM90-LABEL: func.func private @norm(
// SM90-SAME: waves = 4>
// SM90-SAME: gist.workgroup = array<i64: 128>
// SM90-COUNT-5: gpu.shuffle xor
// SM90-NOT: gpu.shuffle
// SM90: return

#r = affine_map<(t, d) -> (t)>
#e = affine_map<(t, d) -> (t, d)>
func.func private @norm(%x: tensor<?x576xf32>, %y: tensor<?x576xf32>) -> tensor<?x576xf32>
    attributes {gist.kernel = #gist.kernel<kind = rows, outputs = 1>} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %t = tensor.dim %x, %c0 : tensor<?x576xf32>
  %empty = tensor.empty(%t) : tensor<?xf32>
  %f = linalg.fill ins(%zero : f32) outs(%empty : tensor<?xf32>) -> tensor<?xf32>
  %s = linalg.generic {indexing_maps = [#e, #r], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<?x576xf32>) outs(%f : tensor<?xf32>) {
  ^bb0(%a: f32, %out: f32):
    %b = arith.mulf %a, %a : f32
    %c = arith.addf %b, %out : f32
    linalg.yield %c : f32
  } -> tensor<?xf32>
  %r = linalg.generic {indexing_maps = [#e, #r, #e], iterator_types = ["parallel", "parallel"]}
      ins(%x, %s : tensor<?x576xf32>, tensor<?xf32>) outs(%y : tensor<?x576xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %q = math.rsqrt %b : f32
    %v = arith.mulf %a, %q : f32
    linalg.yield %v : f32
  } -> tensor<?x576xf32>
  return %r : tensor<?x576xf32>
}

// -----

// Rows of 96 fill no wave: four rows to a workgroup, one wave each, and no
// workgroup memory. The last workgroup may have waves without a row.

// CHECK: #[[ROWS:.*]] = affine_map<()[s0, s1] -> (s1 ceildiv 4)>
// CHECK-LABEL: func.func private @sums(
// CHECK-SAME: gist.grid = [#[[ROWS]]]
// CHECK-SAME: rows = 4, waves = 4>
// CHECK-NOT: memref.alloca
// CHECK: %[[ROWS:.*]] = memref.dim
// CHECK: %[[HAS:.*]] = arith.cmpi slt, %{{.*}}, %[[ROWS]]
// CHECK: scf.if %[[HAS]]
// CHECK-NOT: gpu.barrier
// CHECK: scf.if
// CHECK-NEXT: memref.store
// CHECK: return

#r = affine_map<(t, d) -> (t)>
#e = affine_map<(t, d) -> (t, d)>
func.func private @sums(%x: tensor<?x96xf32>, %y: tensor<?xf32>) -> tensor<?xf32>
    attributes {gist.kernel = #gist.kernel<kind = rows, outputs = 1>} {
  %zero = arith.constant 0.0 : f32
  %f = linalg.fill ins(%zero : f32) outs(%y : tensor<?xf32>) -> tensor<?xf32>
  %s = linalg.generic {indexing_maps = [#e, #r], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<?x96xf32>) outs(%f : tensor<?xf32>) {
  ^bb0(%a: f32, %out: f32):
    %c = arith.addf %a, %out : f32
    linalg.yield %c : f32
  } -> tensor<?xf32>
  return %s : tensor<?xf32>
}

// -----

// Nothing to share: parts of 1024 numbers. Rows of a cache are written where
// they belong, and only they.

// CHECK: #[[ROWS:.*]] = affine_map<()[s0, s1, s2, s3] -> (s0 ceildiv 10)>
// CHECK-LABEL: func.func private @cache(
// CHECK-SAME: %[[T:.*]]: index, %[[P:.*]]: index, %[[LAYER:.*]]: index, %[[X:.*]]: memref<?x192xf32>, %[[CACHE:.*]]: memref<4x256x3x64xf16>)
// CHECK-SAME: gist.grid = [#[[ROWS]]]
// CHECK-SAME: rows = 10, waves = 4, columns = 192>
// CHECK: %[[V:.*]] = vector.load %[[X]][{{.*}}] {alignment = 16 : i64} : memref<?x192xf32>, vector<8xf32>
// CHECK: %[[H:.*]] = arith.truncf %[[V]] : vector<8xf32> to vector<8xf16>
// CHECK: %[[ROW:.*]] = arith.addi {{.*}}%[[P]]
// CHECK: vector.store %[[H]], %[[CACHE]][%[[LAYER]], %[[ROW]], {{.*}}] {alignment = 16 : i64}

#e3 = affine_map<(t, h, d) -> (t, h, d)>
func.func private @cache(%t: index, %p: index, %layer: index, %x: tensor<?x192xf32>,
    %cache: tensor<4x256x3x64xf16>) -> tensor<4x256x3x64xf16>
    attributes {gist.kernel = #gist.kernel<kind = rows, outputs = 1>} {
  %heads = tensor.expand_shape %x [[0], [1, 2]] output_shape [%t, 3, 64]
      : tensor<?x192xf32> into tensor<?x3x64xf32>
  %empty = tensor.empty(%t) : tensor<?x3x64xf16>
  %h = linalg.generic {indexing_maps = [#e3, #e3], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%heads : tensor<?x3x64xf32>) outs(%empty : tensor<?x3x64xf16>) {
  ^bb0(%a: f32, %out: f16):
    %b = arith.truncf %a : f32 to f16
    linalg.yield %b : f16
  } -> tensor<?x3x64xf16>
  %r = tensor.insert_slice %h into %cache[%layer, %p, 0, 0] [1, %t, 3, 64] [1, 1, 1, 1]
      : tensor<?x3x64xf16> into tensor<4x256x3x64xf16>
  return %r : tensor<4x256x3x64xf16>
}

// -----

// Four nibbles are one word, shifted and masked as such; a scale is read for a
// vector. 18 bytes begin at even addresses.

// CHECK-LABEL: func.func private @blocks(
// CHECK-DAG: vector.load %{{.*}} {alignment = 2 : i64} : memref<30x2x18xi8>, vector<4xi8>
// CHECK-DAG: vector.load %{{.*}} {alignment = 2 : i64} : memref<30x2x18xi8>, vector<2xi8>
// CHECK: arith.shrui %{{.*}} : vector<1xi32>
// CHECK: arith.andi %{{.*}} : vector<1xi32>
// CHECK: arith.uitofp %{{.*}} : vector<4xi8> to vector<4xf32>
// CHECK: vector.store

func.func private @blocks(%w: tensor<30x2x18xi8>, %y: tensor<30x64xf32>) -> tensor<30x64xf32>
    attributes {gist.kernel = #gist.kernel<kind = rows, outputs = 1>} {
  %f = gist.dequantize %w format q4_0 : tensor<30x2x18xi8>
  return %f : tensor<30x64xf32>
}

// -----

// Both sums are over two dimensions: all threads go through the heads, each with
// columns of its own, which it finds again in the second loop.

// CHECK-LABEL: func.func private @deviation(
// CHECK-SAME: %[[X:[a-z0-9]+]]: memref<?x4x64xf32>
// CHECK: scf.for %[[HEAD:.*]] = %c0 to %c4
// CHECK: %[[COLUMN:.*]] = arith.select
// CHECK: vector.load %[[X]][%{{.*}}, %[[HEAD]], %[[COLUMN]]]
// CHECK: scf.for %[[HEAD2:.*]] = %c0 to %c4
// CHECK: %[[COLUMN2:.*]] = arith.select
// CHECK: vector.load %[[X]][%{{.*}}, %[[HEAD2]], %[[COLUMN2]]]
// CHECK: vector.store
// SM90-LABEL: func.func private @deviation(

#r3 = affine_map<(t, h, d) -> (t)>
#e3 = affine_map<(t, h, d) -> (t, h, d)>
func.func private @deviation(%x: tensor<?x4x64xf32>, %y: tensor<?x4x64xf32>) -> tensor<?x4x64xf32>
    attributes {gist.kernel = #gist.kernel<kind = rows, outputs = 1>} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %t = tensor.dim %x, %c0 : tensor<?x4x64xf32>
  %empty = tensor.empty(%t) : tensor<?xf32>
  %f = linalg.fill ins(%zero : f32) outs(%empty : tensor<?xf32>) -> tensor<?xf32>
  %m = linalg.generic {indexing_maps = [#e3, #r3], iterator_types = ["parallel", "reduction", "reduction"]}
      ins(%x : tensor<?x4x64xf32>) outs(%f : tensor<?xf32>) {
  ^bb0(%a: f32, %out: f32):
    %c = arith.addf %a, %out : f32
    linalg.yield %c : f32
  } -> tensor<?xf32>
  %s = linalg.generic {indexing_maps = [#e3, #r3, #r3], iterator_types = ["parallel", "reduction", "reduction"]}
      ins(%x, %m : tensor<?x4x64xf32>, tensor<?xf32>) outs(%f : tensor<?xf32>) {
  ^bb0(%a: f32, %n: f32, %out: f32):
    %d = arith.subf %a, %n : f32
    %b = arith.mulf %d, %d : f32
    %c = arith.addf %b, %out : f32
    linalg.yield %c : f32
  } -> tensor<?xf32>
  %r = linalg.generic {indexing_maps = [#e3, #r3, #e3], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x, %s : tensor<?x4x64xf32>, tensor<?xf32>) outs(%y : tensor<?x4x64xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %v = arith.mulf %a, %b : f32
    linalg.yield %v : f32
  } -> tensor<?x4x64xf32>
  return %r : tensor<?x4x64xf32>
}

// -----

// A matrix is transposed in patches: 16 neighbouring threads read 16 neighbouring numbers of a row, and each writes 8 of its own.

// SM90: #[[ROWS:.*]] = affine_map<() -> (16)>
// SM90: #[[COLUMNS:.*]] = affine_map<() -> (32)>
// SM90-LABEL: func.func private @transpose(
// SM90-SAME: %[[X:.*]]: memref<4096x256xf16>, %[[Y:.*]]: memref<256x4096xf16>)
// SM90-SAME: gist.tile = #gist.gpu_rows<rows = 16, waves = 8, columns = 128>
// SM90: %[[THREAD:.*]] = gpu.thread_id x
// SM90-DAG: %[[ROW:.*]] = arith.remui %[[THREAD]], %c16
// SM90-DAG: %[[PIECE:.*]] = arith.divui %[[THREAD]], %c16
// SM90-COUNT-8: memref.load %[[X]]
// SM90-NOT: memref.load
// SM90: vector.store %{{.*}}, %[[Y]]{{.*}} vector<8xf16>
#map = affine_map<(d0, d1) -> (d1, d0)>
#own = affine_map<(d0, d1) -> (d0, d1)>
func.func private @transpose(%x: tensor<4096x256xf16>, %y: tensor<256x4096xf16>) -> tensor<256x4096xf16>
    attributes {gist.kernel = #gist.kernel<kind = rows, outputs = 1>} {
  %0 = linalg.generic {indexing_maps = [#map, #own], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<4096x256xf16>) outs(%y : tensor<256x4096xf16>) {
  ^bb0(%a: f16, %b: f16):
    linalg.yield %a : f16
  } -> tensor<256x4096xf16>
  return %0 : tensor<256x4096xf16>
}
