// Kernels whose workgroups share one result: no register spills, no scratch, at
// most 64 KiB of workgroup memory, and the matrix unit has its share of a loop.

// RUN: gist-opt %s -gist-gpu-tile=target=gfx942 -gist-gpu=target=gfx942 "-gist-write-gpu-code=output=%t.hsaco" -o /dev/null
// RUN: gist-compile %t.hsaco --report=resources | FileCheck %s

// Two workgroups of `narrow` share a compute unit: that is 64 KiB to the byte.
// CHECK:      kernel {{ *}}threads{{ .*}}lds  scratch  spills  waves/simd
// CHECK-DAG:  narrow    256 {{.*}} 32768 {{ *}}0 {{ *}}0 {{ *}}2
// CHECK-DAG:  deep      256 {{.*}} 49152 {{ *}}0 {{ *}}0 {{ *}}1
// CHECK-DAG:  few       512 {{.*}} 16384 {{ *}}0 {{ *}}0 {{ *}}4
// CHECK-DAG:  query64   512 {{.*}} {{6...}} {{ *}}0 {{ *}}0 {{ *}}4
// CHECK-DAG:  query128  512 {{.*}} {{1....}} {{ *}}0 {{ *}}0 {{ *}}2
// CHECK-DAG:  clusters  256 {{.*}} {{1....}} {{ *}}0 {{ *}}0 {{ *}}2
// CHECK-DAG:  grouped   512 {{.*}} {{1....}} {{ *}}0 {{ *}}0 {{ *}}2
// CHECK-DAG:  gates     256 {{.*}} {{3....}} {{ *}}0 {{ *}}0 {{ *}}1
// CHECK-DAG:  experts   256 {{.*}} {{33...}} {{ *}}0 {{ *}}0 {{ *}}1
// Loops load a step ahead all the same. Attention has three: clusters, the ring
// and the call's own keys.
// CHECK:      main loop  mfma {{.*}}barriers  mfma/barrier  ahead {{.*}}mfma busy
// CHECK-NEXT: narrow {{ *}}16 {{.*}} 2 {{ *}}8 {{ *}}1 {{ *}}{{[0-9]+}} {{ *}}{{[0-9]+}} {{ *}}{{3.%}}
// CHECK-NEXT: deep {{ *}}64 {{.*}} 2 {{ *}}32 {{ *}}1 {{ *}}{{[34].}} {{ *}}{{[0-9]+}} {{ *}}{{[78].%}}
// CHECK-NEXT: clusters {{ *}}32 {{.*}} 2 {{ *}}16 {{ *}}1 {{ *}}{{[0-9]+}} {{ *}}{{[0-9]+}} {{ *}}{{4[5-9]%}}
// CHECK-NEXT: clusters {{ *}}32 {{.*}} 2 {{ *}}16 {{ *}}1 {{ *}}32 {{ *}}{{[0-9]+}} {{ *}}{{5[3-9]%}}
// CHECK-NEXT: clusters {{ *}}32 {{.*}} 2 {{ *}}16 {{ *}}1 {{ *}}32 {{ *}}{{[0-9]+}} {{ *}}{{(5[89]|6.)%}}
// CHECK-NEXT: gates {{ *}}32 {{.*}} 2 {{ *}}16 {{ *}}1 {{ *}}{{[0-9]+}} {{ *}}{{[0-9]+}} {{ *}}{{5[5-9]%}}
// CHECK-NEXT: experts {{ *}}32 {{.*}} 2 {{ *}}16 {{ *}}1 {{ *}}{{[0-9]+}} {{ *}}{{[0-9]+}} {{ *}}{{(5[5-9]|6.)%}}

#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (n, k)>
#y = affine_map<(m, n, k) -> (m, n)>

// SmolLM2's last product of a layer: 24 steps of 64 along k in 6 parts.
func.func private @narrow(%x: tensor<?x1536xf16>, %w: tensor<576x1536xf16>, %y: tensor<?x576xf32>)
    -> tensor<?x576xf32> attributes {gist.kernel = #gist.kernel<kind = matmul, outputs = 1>} {
  %zero = arith.constant 0.0 : f32
  %z = linalg.fill ins(%zero : f32) outs(%y : tensor<?x576xf32>) -> tensor<?x576xf32>
  %p = linalg.matmul indexing_maps = [#x, #w, #y]
      ins(%x, %w : tensor<?x1536xf16>, tensor<576x1536xf16>)
      outs(%z : tensor<?x576xf32>) -> tensor<?x576xf32>
  return %p : tensor<?x576xf32>
}

// Up to 16 rows of an 8B model: eight waves share k, and W stays in registers.
func.func private @few(%x: tensor<?x4096xf16>, %w: tensor<28672x4096xf16>, %y: tensor<?x28672xf32>)
    -> tensor<?x28672xf32> attributes {gist.kernel = #gist.kernel<kind = matmul, outputs = 1>, gist.max_tokens = 16 : i64} {
  %zero = arith.constant 0.0 : f32
  %z = linalg.fill ins(%zero : f32) outs(%y : tensor<?x28672xf32>) -> tensor<?x28672xf32>
  %p = linalg.matmul indexing_maps = [#x, #w, #y] ins(%x, %w : tensor<?x4096xf16>, tensor<28672x4096xf16>)
      outs(%z : tensor<?x28672xf32>) -> tensor<?x28672xf32>
  return %p : tensor<?x28672xf32>
}

// The last product of a layer of an 8B model: 448 steps of 32 in 4 parts.
func.func private @deep(%x: tensor<?x14336xf16>, %w: tensor<4096x14336xf16>, %y: tensor<?x4096xf32>)
    -> tensor<?x4096xf32> attributes {gist.kernel = #gist.kernel<kind = matmul, outputs = 1>} {
  %zero = arith.constant 0.0 : f32
  %z = linalg.fill ins(%zero : f32) outs(%y : tensor<?x4096xf32>) -> tensor<?x4096xf32>
  %p = linalg.matmul indexing_maps = [#x, #w, #y]
      ins(%x, %w : tensor<?x14336xf16>, tensor<4096x14336xf16>)
      outs(%z : tensor<?x4096xf32>) -> tensor<?x4096xf32>
  return %p : tensor<?x4096xf32>
}

// One query, and one query of an 8B model.
!q64 = tensor<1x9x64xf16>
!k64 = tensor<?x3x64xf16>
func.func private @query64(%q: !q64, %k: !k64, %v: !k64, %out: !q64) -> !q64
    attributes {gist.kernel = #gist.kernel<kind = attention, outputs = 1>} {
  %r = gist.attention %q, %k, %v causal : !q64, !k64, !k64
  return %r : !q64
}
!q128 = tensor<1x32x128xf16>
!k128 = tensor<?x8x128xf16>
func.func private @query128(%q: !q128, %k: !k128, %v: !k128, %out: !q128) -> !q128
    attributes {gist.kernel = #gist.kernel<kind = attention, outputs = 1>} {
  %r = gist.attention %q, %k, %v causal : !q128, !k128, !k128
  return %r : !q128
}

// Attention on a cache of clusters, all heads of a layer whatever they keep.
!rows = tensor<5264x64xf16>
!weights = tensor<138xf32>
!counts = tensor<2x3xi32>
!heads = tensor<2x3x8xf32>
!queries = tensor<?x9x64xf16>
!own = tensor<?x3x64xf16>
func.func private @clusters(%q: !queries, %heads: !heads, %past: index, %layer: index, %s0: !rows, %s1: !rows,
    %w: !weights, %c: !counts, %k: !own, %v: !own, %out: !queries) -> !queries
    attributes {gist.kernel = #gist.kernel<kind = cluster_attention, outputs = 1>} {
  %r = gist.cluster_attention %q, %heads, %past, %layer on(%s0, %s1, %w, %c) own(%k, %v : !own, !own) block 2048
      : !queries, !heads, !rows, !rows, !weights, !counts
  return %r : !queries
}

// One query there, eight of its heads on one head of keys: a lane has all eight.
!query = tensor<1x24x64xf16>
func.func private @grouped(%q: !query, %heads: !heads, %past: index, %layer: index, %s0: !rows, %s1: !rows,
    %w: !weights, %c: !counts, %out: !query) -> !query
    attributes {gist.kernel = #gist.kernel<kind = cluster_attention, outputs = 1>} {
  %r = gist.cluster_attention %q, %heads, %past, %layer on(%s0, %s1, %w, %c) block 2048
      : !query, !heads, !rows, !rows, !weights, !counts
  return %r : !query
}

#gathered = affine_map<(t, m, d) -> (t, d)>
#matrix = affine_map<(t, m, d) -> (m, d)>
#sum = affine_map<(t, m, d) -> (t, m)>
#token = affine_map<(t, d) -> (t)>
#all = affine_map<(t, d) -> (t, d)>

// Gates of many tokens.
func.func private @gates(%g: tensor<?x64xf16>, %x: tensor<?x256xf16>, %l: tensor<?xi8>,
    %m: tensor<256x64xf16>, %w: tensor<256x256xf16>, %out: tensor<?x256xf16>)
    -> tensor<?x256xf16> attributes {gist.kernel = #gist.kernel<kind = gated_products, outputs = 1>} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %t = tensor.dim %out, %c0 : tensor<?x256xf16>
  %e = tensor.empty(%t) : tensor<?x256xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x256xf32>) -> tensor<?x256xf32>
  %e1 = tensor.empty(%t) : tensor<?x64xf16>
  %closed = linalg.generic {indexing_maps = [#token, #all, #all], iterator_types = ["parallel", "parallel"]}
      ins(%l, %g : tensor<?xi8>, tensor<?x64xf16>) outs(%e1 : tensor<?x64xf16>) {
  ^bb0(%k: i8, %a: f16, %o: f16):
    %one = arith.constant 1 : i8
    %none = arith.constant 0.0 : f16
    %is = arith.cmpi slt, %k, %one : i8
    %n = arith.select %is, %a, %none : f16
    linalg.yield %n : f16
  } -> tensor<?x64xf16>
  %s = linalg.generic {indexing_maps = [#gathered, #matrix, #sum],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%closed, %m : tensor<?x64xf16>, tensor<256x64xf16>) outs(%f : tensor<?x256xf32>) {
  ^bb0(%a: f16, %b: f16, %o: f32):
    %c = arith.extf %a : f16 to f32
    %d = arith.extf %b : f16 to f32
    %p = arith.mulf %c, %d : f32
    %n = arith.addf %o, %p : f32
    linalg.yield %n : f32
  } -> tensor<?x256xf32>
  %e2 = tensor.empty(%t) : tensor<?x256xf16>
  %open = linalg.generic {indexing_maps = [#token, #all, #all], iterator_types = ["parallel", "parallel"]}
      ins(%l, %x : tensor<?xi8>, tensor<?x256xf16>) outs(%e2 : tensor<?x256xf16>) {
  ^bb0(%k: i8, %a: f16, %o: f16):
    %one = arith.constant 1 : i8
    %none = arith.constant 0.0 : f16
    %is = arith.cmpi eq, %k, %one : i8
    %n = arith.select %is, %a, %none : f16
    linalg.yield %n : f16
  } -> tensor<?x256xf16>
  %u = linalg.generic {indexing_maps = [#gathered, #matrix, #sum],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%open, %w : tensor<?x256xf16>, tensor<256x256xf16>) outs(%s : tensor<?x256xf32>) {
  ^bb0(%a: f16, %b: f16, %o: f32):
    %c = arith.extf %a : f16 to f32
    %d = arith.extf %b : f16 to f32
    %p = arith.mulf %c, %d : f32
    %n = arith.addf %o, %p : f32
    linalg.yield %n : f32
  } -> tensor<?x256xf32>
  %y = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]}
      ins(%u : tensor<?x256xf32>) outs(%out : tensor<?x256xf16>) {
  ^bb0(%a: f32, %o: f16):
    %n = arith.truncf %a : f32 to f16
    linalg.yield %n : f16
  } -> tensor<?x256xf16>
  return %y : tensor<?x256xf16>
}

// The second product of Mixtral's experts: rows that tokens have for each.
func.func private @experts(%x: tensor<?x28672xf16>, %w: tensor<32768x14336xf16>, %e: tensor<?x2xi32>, %y: tensor<?x8192xf32>)
    -> tensor<?x8192xf32> attributes {gist.kernel = #gist.kernel<kind = expert_matmul, outputs = 1>} {
  %0 = gist.expert_matmul %x, %w by %e : tensor<?x28672xf16>, tensor<32768x14336xf16>, tensor<?x2xi32> -> tensor<?x8192xf32>
  return %0 : tensor<?x8192xf32>
}
