// One query with few heads on sm_90: clusters of 8 workgroups share the keys of
// a head. At most 15 clusters share a launch, so 3 heads have 5 each, with
// memory for what each leaves: 5 x 9 x 32 pairs of columns, 4 numbers each, and
// a word for each of the 3 x 8 workgroups that add up.

// RUN: gist-opt %s "-gist-gpu-tile=target=sm_90" | FileCheck %s
// RUN: gist-opt %s "-gist-gpu-tile=target=gfx942" | FileCheck %s --check-prefix=AMD

// gfx942 has no clusters of workgroups: each of up to 32 parts is one's. 304
// compute units would do for more. 3 heads have 96 workgroups, and 32 x 9 x 32
// pairs of columns, 4 numbers each; 8 heads have 256, and 32 x 32 x 64 pairs.
// AMD-DAG: #[[FEW:.*]] = affine_map<()[{{.*}}] -> (96)>
// AMD-DAG: #[[MANY:.*]] = affine_map<()[{{.*}}] -> (256)>
// AMD-LABEL: func.func private @few(
// AMD-SAME:  memref<36864xf32>, %{{[^:]*}}: memref<3xi32>
// AMD-SAME:  gist.grid = [#[[FEW]]]
// What a part leaves is written back by every wave before the part is counted,
// and read by the last one after it has dropped what its caches hold. Eight parts
// are read at once.
// AMD:       vector.store %{{.*}} : memref<36864xf32>, vector<4xf32>
// AMD:       llvm.fence syncscope("agent") release
// AMD-NEXT:  gpu.barrier
// AMD:       llvm.atomicrmw add {{.*}} syncscope("agent") monotonic
// AMD:       gpu.barrier
// AMD-NEXT:  llvm.fence syncscope("agent") acquire
// AMD:       scf.for {{.*}} step %c8
// AMD-COUNT-8: vector.load %{{.*}} : memref<36864xf32>, vector<4xf32>
// AMD-NOT:   vector.load %{{.*}} : memref<36864xf32>
// AMD-LABEL: func.func private @many(
// AMD-SAME:  memref<262144xf32>, %{{[^:]*}}: memref<8xi32>
// AMD-SAME:  gist.grid = [#[[MANY]]]
// CHECK-DAG: #[[FEW:.*]] = affine_map<()[{{.*}}] -> (120)>
// CHECK-DAG: #[[MANY:.*]] = affine_map<()[{{.*}}] -> (64)>

// Clusters without keys do nothing. The last one of a head reads what all have
// left; its ticket leaves the word zero.
// CHECK-LABEL: func.func private @few(
// CHECK-SAME:  memref<5760xf32>, %{{[^:]*}}: memref<24xi32>
// CHECK-SAME:  gist.grid = [#[[FEW]]]
// CHECK:       nvvm.griddepcontrol wait
// CHECK:       scf.if
// CHECK:       scf.for
// CHECK:       nvvm.griddepcontrol launch_dependents
// CHECK:       nvvm.cluster.wait
// CHECK:       vector.store %{{.*}} : memref<5760xf32>, vector<4xf32>
// CHECK:       nvvm.cluster.wait
// CHECK:       llvm.atomicrmw uinc_wrap
// CHECK:       vector.load %{{.*}} : memref<5760xf32>, vector<4xf32>
func.func private @few(%q: tensor<1x9x64xf16>, %k: tensor<?x3x64xf16>, %v: tensor<?x3x64xf16>, %o: tensor<1x9x64xf16>)
    -> tensor<1x9x64xf16> attributes {gist.kernel = #gist.kernel<kind = attention, outputs = 1>} {
  %r = gist.attention %q, %k, %v causal : tensor<1x9x64xf16>, tensor<?x3x64xf16>, tensor<?x3x64xf16>
  return %r : tensor<1x9x64xf16>
}

// 8 heads have one cluster each, which needs no other memory.
// CHECK-LABEL: func.func private @many(
// CHECK-SAME:  memref<1x32x128xf16>) attributes
// CHECK-SAME:  gist.grid = [#[[MANY]]]
// CHECK-NOT:   llvm.atomicrmw
func.func private @many(%q: tensor<1x32x128xf16>, %k: tensor<?x8x128xf16>, %v: tensor<?x8x128xf16>, %o: tensor<1x32x128xf16>)
    -> tensor<1x32x128xf16> attributes {gist.kernel = #gist.kernel<kind = attention, outputs = 1>} {
  %r = gist.attention %q, %k, %v causal : tensor<1x32x128xf16>, tensor<?x8x128xf16>, tensor<?x8x128xf16>
  return %r : tensor<1x32x128xf16>
}
