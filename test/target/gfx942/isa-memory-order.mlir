// A card of eight dies has a second-level cache on each. What a workgroup hands
// to others is written back to memory before the word that says so, and a
// workgroup that has read that word invalidates its caches before it reads
// more: release and acquire for the whole device, buffer_wbl2 sc1 and
// buffer_inv sc1. Every wave does it for what it has written or is going to
// read.
//
// No workgroup waits for one that has not begun: workgroups that share a result
// do not wait at all, and steps are waited for by those that have drawn a
// ticket when all items before it are drawn, so the workgroups that have these
// items are running. Grids may then be larger than what the card runs at once.
// The simulator executes them one workgroup after the other
// (test/numeric/test_gpu_*.py), where waiting for a later one would never end.

// RUN: gist-opt %s -gist-gpu-tile=target=gfx942 -gist-gpu=target=gfx942 "-gist-write-gpu-code=assembly output=%t.s" -o /dev/null
// RUN: FileCheck %s --input-file=%t.s

// A product whose k two workgroups share, and the keys of one query in parts:
// no load that waits for others (sc1) and no loop around one.
// CHECK-LABEL: {{^}}product:
// CHECK-NOT:   global_load{{.*}} sc1
// CHECK:       global_store_dwordx4
// CHECK:       buffer_wbl2 sc1
// CHECK-NEXT:  s_waitcnt vmcnt(0)
// CHECK-NOT:   global_store
// CHECK:       s_barrier
// CHECK:       global_atomic_add v{{.*}} sc0
// CHECK:       s_barrier
// CHECK-NOT:   global_load
// CHECK:       buffer_inv sc1
// CHECK-NOT:   global_load{{.*}} sc1
// CHECK:       global_load_dwordx4
// CHECK-NOT:   global_load{{.*}} sc1
// CHECK:       s_endpgm
// CHECK-LABEL: {{^}}query:
// CHECK-NOT:   global_load{{.*}} sc1
// CHECK:       global_store_dwordx4
// CHECK:       buffer_wbl2 sc1
// CHECK-NEXT:  s_waitcnt vmcnt(0)
// CHECK-NOT:   global_store
// CHECK:       s_barrier
// CHECK:       global_atomic_add v{{.*}} sc0
// CHECK:       s_barrier
// CHECK-NOT:   global_load
// CHECK:       buffer_inv sc1
// CHECK-NOT:   global_load{{.*}} sc1
// CHECK:       global_load_dwordx4
// CHECK-NOT:   global_load{{.*}} sc1
// CHECK:       s_endpgm

// A gate: a ticket first; then items are counted behind their release, and both
// waits are loads of the device's scope in a loop of their own, each followed by
// an acquire before anything else is loaded.
// CHECK-LABEL: {{^}}gate:
// CHECK-NOT:   global_load{{.*}} sc1
// CHECK:       global_atomic_add v{{.*}} sc0
// CHECK-NOT:   global_load{{.*}} sc1
// CHECK:       buffer_wbl2 sc1
// CHECK-NEXT:  s_waitcnt vmcnt(0)
// CHECK-NOT:   global_store
// CHECK:       s_barrier
// CHECK:       global_atomic_add v{{[0-9]+}}, v{{[0-9]+}}, s[{{.*}}] offset:128
// CHECK:       global_load_dword v{{.*}} sc1
// CHECK:       s_cbranch_{{(vcc|exec)nz}}
// CHECK-NOT:   global_load
// CHECK:       s_barrier
// CHECK-NOT:   global_load
// CHECK:       buffer_inv sc1
// CHECK:       buffer_wbl2 sc1
// CHECK-NEXT:  s_waitcnt vmcnt(0)
// CHECK-NOT:   global_store
// CHECK:       s_barrier
// CHECK:       global_atomic_add v{{[0-9]+}}, v{{[0-9]+}}, s[{{.*}}] offset:128
// CHECK:       global_load_dword v{{.*}} sc1
// CHECK:       s_cbranch_{{(vcc|exec)nz}}
// CHECK-NOT:   global_load
// CHECK:       s_barrier
// CHECK-NOT:   global_load
// CHECK:       buffer_inv sc1
// CHECK-NOT:   sc1
// CHECK:       s_endpgm

// A selection: the ticket of an item, then the wait for its round, and the round's
// words are read behind an acquire. The last item of a round is found by a count
// behind a release, and what decides reads behind an acquire.
// CHECK-LABEL: {{^}}select:
// CHECK-NOT:   global_load{{.*}} sc1
// CHECK:       global_atomic_add v{{.*}} sc0
// CHECK:       global_load_dword v{{.*}} offset:256 sc1
// CHECK:       s_cbranch_{{(vcc|exec)nz}}
// CHECK-NOT:   global_load
// CHECK:       s_barrier
// CHECK-NOT:   global_load
// CHECK:       buffer_inv sc1
// CHECK:       buffer_wbl2 sc1
// CHECK-NEXT:  s_waitcnt vmcnt(0)
// CHECK:       s_barrier
// CHECK:       global_atomic_add v{{.*}} offset:128 sc0
// CHECK:       buffer_inv sc1
#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (n, k)>
#y = affine_map<(m, n, k) -> (m, n)>
func.func private @product(%x: tensor<?x512xf16>, %w: tensor<64x512xf16>, %y: tensor<?x64xf32>)
    -> tensor<?x64xf32> attributes {gist.kernel = #gist.kernel<kind = matmul, outputs = 1>} {
  %zero = arith.constant 0.0 : f32
  %z = linalg.fill ins(%zero : f32) outs(%y : tensor<?x64xf32>) -> tensor<?x64xf32>
  %p = linalg.matmul indexing_maps = [#x, #w, #y]
      ins(%x, %w : tensor<?x512xf16>, tensor<64x512xf16>)
      outs(%z : tensor<?x64xf32>) -> tensor<?x64xf32>
  return %p : tensor<?x64xf32>
}
!q = tensor<1x3x64xf16>
!k = tensor<?x1x64xf16>
func.func private @query(%q: !q, %k: !k, %v: !k, %out: !q) -> !q
    attributes {gist.kernel = #gist.kernel<kind = attention, outputs = 1>} {
  %r = gist.attention %q, %k, %v causal : !q, !k, !k
  return %r : !q
}
func.func private @gate(%x: tensor<1x4096xf16>, %v: tensor<4096x256xf16>,
    %w: tensor<16384x4096xf16>, %m: tensor<16384x256xf16>,
    %y: tensor<1x16384xf16>, %l: tensor<1xi8>) -> (tensor<1x16384xf16>, tensor<1xi8>)
    attributes {gist.kernel = #gist.kernel<kind = gated_projection, outputs = 2>} {
  %r, %level = gist.gated_projection %x, %v, 1.0e-1 weights(%w : tensor<16384x4096xf16>)
      images(%m : tensor<16384x256xf16>) : tensor<1x4096xf16>, tensor<4096x256xf16>
  return %r, %level : tensor<1x16384xf16>, tensor<1xi8>
}
!part = tensor<?xi32>
func.func private @select(%x: tensor<?x4096xf16>, %ids: !part,
    %count: tensor<i32>, %nearest: !part, %weight: !part)
    -> (!part, tensor<i32>, !part, !part) attributes {gist.kernel = #gist.kernel<kind = select, outputs = 4>} {
  %s = gist.gram_select %x, 3.0e-1 against kept causal : tensor<?x4096xf16>
  %i, %c, %n, %w = gist.unpack_selection %s : !gist.selection<?>
  return %i, %c, %n, %w : !part, tensor<i32>, !part, !part
}
