// The main loops of attention on sm_90: instructions of four warps, beside which
// copies and weights go on.

// RUN: gist-opt %s -gist-gpu-tile=target=sm_90 -gist-gpu=target=sm_90 "-gist-write-gpu-code=output=%t.ptx" -o /dev/null
// RUN: FileCheck %s --input-file=%t.ptx

// CHECK: .target sm_90a

// A step has 64 keys. Scores are 256 / 16 products, with queries in workgroup
// memory; outputs are 64 / 16, with weights in registers. Of the 64 rows of 512
// bytes of keys, and as many of values, 256 threads copy 8 chunks each. The
// outputs are still running when weights are computed.
// CHECK-LABEL: .entry dense(
// CHECK:       cp.async.wait_group 1;
// CHECK:       [[LOOP:\$L__BB0_[0-9]+]]:
// CHECK:       cp.async.wait_group 0;
// CHECK-NEXT:  fence.proxy.async.shared::cta;
// CHECK-NEXT:  bar.sync
// CHECK:       wgmma.fence.sync.aligned;
// CHECK-COUNT-16: wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16
// CHECK:       wgmma.commit_group.sync.aligned;
// CHECK-COUNT-4: wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16
// CHECK:       wgmma.commit_group.sync.aligned;
// CHECK-COUNT-16: cp.async.cg.shared.global
// CHECK-NOT:   cp.async.cg
// CHECK:       cp.async.commit_group;
// CHECK:       wgmma.wait_group.sync.aligned 1;
// CHECK:       ex2.approx
// A wait that is in one block with the weights would come before them. Warps that
// share a product wait in one place, the second: the sum of weights that the
// branch looks at is never negative. Then each looks whether it has to scale.
// CHECK-NOT:   wgmma.wait_group
// CHECK-NOT:   bar.
// CHECK:       setp.{{[a-z]+}}.f32 [[SUM:%p[0-9]+]], %r{{[0-9]+}}, 0f00000000;
// CHECK:       @[[SUM]] bra
// CHECK:       wgmma.wait_group.sync.aligned 0; // never
// CHECK:       wgmma.wait_group.sync.aligned 0;
// CHECK:       vote.sync.any.pred
// CHECK-NOT:   bar.sync
func.func private @dense(%q: tensor<?x16x256xf16>, %k: tensor<?x16x256xf16>, %v: tensor<?x16x256xf16>,
    %out: tensor<?x16x256xf16>) -> tensor<?x16x256xf16> attributes {gist.kernel = #gist.kernel<kind = attention, outputs = 1>} {
  %r = gist.attention %q, %k, %v causal : tensor<?x16x256xf16>, tensor<?x16x256xf16>, tensor<?x16x256xf16>
  return %r : tensor<?x16x256xf16>
}

// bf16, and values of another size than keys.
// CHECK-LABEL: .entry sizes(
// CHECK:       wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16
// CHECK:       cvt.rn.bf16x2.f32
// CHECK:       wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16
func.func private @sizes(%q: tensor<?x4x128xbf16>, %k: tensor<?x4x128xbf16>, %v: tensor<?x4x64xbf16>,
    %out: tensor<?x4x64xbf16>) -> tensor<?x4x64xbf16> attributes {gist.kernel = #gist.kernel<kind = attention, outputs = 1>} {
  %r = gist.attention %q, %k, %v causal : tensor<?x4x128xbf16>, tensor<?x4x128xbf16>, tensor<?x4x64xbf16>
  return %r : tensor<?x4x64xbf16>
}

// One query: a cluster of eight workgroups shares the keys. They say that they
// have begun, and when they are done write what they have found into the memory
// of one, which waits for that. No workgroup touches another's memory
// afterwards.
// CHECK-LABEL: .entry one(
// CHECK:       .reqnctapercluster 8
// CHECK:       barrier.cluster.arrive.relaxed.aligned
// CHECK:       ex2.approx
// CHECK:       barrier.cluster.wait.aligned
// CHECK:       mapa.shared::cluster.u32
// CHECK:       st.shared::cluster.v2.f32
// CHECK:       barrier.cluster.arrive.aligned
// CHECK:       barrier.cluster.wait.aligned
// CHECK-NOT:   shared::cluster
func.func private @one(%q: tensor<1x6x64xf16>, %k: tensor<?x2x64xf16>, %v: tensor<?x2x64xf16>,
    %out: tensor<1x6x64xf16>) -> tensor<1x6x64xf16> attributes {gist.kernel = #gist.kernel<kind = attention, outputs = 1>} {
  %r = gist.attention %q, %k, %v causal : tensor<1x6x64xf16>, tensor<?x2x64xf16>, tensor<?x2x64xf16>
  return %r : tensor<1x6x64xf16>
}
