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
// CHECK-DAG: #[[ENOUGH:.*]] = affine_map<()[{{.*}}] -> (96)>
// CHECK-DAG: #[[FEW:.*]] = affine_map<()[{{.*}}] -> (120)>
// CHECK-DAG: #[[MANY:.*]] = affine_map<()[{{.*}}] -> (128)>

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
// CHECK:       nvvm.cluster.arrive
// CHECK:       nvvm.cluster.wait
// CHECK:       vector.store %{{.*}} : memref<5760xf32>, vector<4xf32>
// CHECK:       llvm.atomicrmw uinc_wrap
// CHECK:       vector.load %{{.*}} : memref<5760xf32>, vector<4xf32>
func.func private @few(%q: tensor<1x9x64xf16>, %k: tensor<?x3x64xf16>, %v: tensor<?x3x64xf16>, %o: tensor<1x9x64xf16>)
    -> tensor<1x9x64xf16> attributes {gist.kernel = #gist.kernel<kind = attention, outputs = 1>} {
  %r = gist.attention %q, %k, %v causal : tensor<1x9x64xf16>, tensor<?x3x64xf16>, tensor<?x3x64xf16>
  return %r : tensor<1x9x64xf16>
}

// Of 8 heads clusters of 8 would leave half of the GPU without work: there are
// clusters of 2, of which 66 run side by side, so 8 for each head. Memory for 8 x
// 32 x 64 pairs of columns, 4 numbers each, and 8 x 2 words.
// CHECK-LABEL: func.func private @many(
// CHECK-SAME:  memref<65536xf32>, %{{[^:]*}}: memref<16xi32>
// CHECK-SAME:  gist.grid = [#[[MANY]]]
// CHECK-SAME:  nvvm.cluster_dim = array<i32: 2, 1, 1>
// CHECK-NOT:   vector.load
// CHECK:       nvvm.prefetch
// CHECK:       nvvm.prefetch
// CHECK:       nvvm.griddepcontrol wait
// CHECK-NOT:   scf.for
// CHECK-COUNT-8: vector.load %{{.*}} : memref<?x8x128xf16>, vector<8xf16>
// CHECK:       scf.for
// CHECK-NOT:   gpu.shuffle
// CHECK-COUNT-8: vector.load %{{.*}} : memref<?x8x128xf16>, vector<8xf16>
// CHECK:       gpu.shuffle
// CHECK:       llvm.atomicrmw uinc_wrap
func.func private @many(%q: tensor<1x32x128xf16>, %k: tensor<?x8x128xf16>, %v: tensor<?x8x128xf16>, %o: tensor<1x32x128xf16>)
    -> tensor<1x32x128xf16> attributes {gist.kernel = #gist.kernel<kind = attention, outputs = 1>} {
  %r = gist.attention %q, %k, %v causal : tensor<1x32x128xf16>, tensor<?x8x128xf16>, tensor<?x8x128xf16>
  return %r : tensor<1x32x128xf16>
}

// 12 heads fill the GPU with a cluster of 8 each: what these share in workgroup
// memory is not combined in global memory. They prefetch keys.
// CHECK-LABEL: func.func private @enough(
// CHECK-SAME:  memref<1x12x64xf16>) attributes
// CHECK-SAME:  gist.grid = [#[[ENOUGH]]]
// CHECK-SAME:  nvvm.cluster_dim = array<i32: 8, 1, 1>
// CHECK:       nvvm.prefetch
// CHECK:       nvvm.griddepcontrol wait
// CHECK-NOT:   llvm.atomicrmw
func.func private @enough(%q: tensor<1x12x64xf16>, %k: tensor<?x12x64xf16>, %v: tensor<?x12x64xf16>, %o: tensor<1x12x64xf16>)
    -> tensor<1x12x64xf16> attributes {gist.kernel = #gist.kernel<kind = attention, outputs = 1>} {
  %r = gist.attention %q, %k, %v causal : tensor<1x12x64xf16>, tensor<?x12x64xf16>, tensor<?x12x64xf16>
  return %r : tensor<1x12x64xf16>
}

// Of 16 heads 8 workgroups each have a part: nothing but parts is put together.
// CHECK-LABEL: func.func private @alone(
// CHECK-SAME:  memref<65536xf32>, %{{[^:]*}}: memref<16xi32>
// CHECK-SAME:  gist.grid = [#[[MANY]]]
// CHECK-NOT:   nvvm.cluster
// CHECK:       llvm.atomicrmw uinc_wrap
func.func private @alone(%q: tensor<1x16x256xf16>, %k: tensor<?x16x256xf16>, %v: tensor<?x16x256xf16>, %o: tensor<1x16x256xf16>)
    -> tensor<1x16x256xf16> attributes {gist.kernel = #gist.kernel<kind = attention, outputs = 1>} {
  %r = gist.attention %q, %k, %v causal : tensor<1x16x256xf16>, tensor<?x16x256xf16>, tensor<?x16x256xf16>
  return %r : tensor<1x16x256xf16>
}

// 64 heads have one cluster each, which needs no other memory.
// CHECK-LABEL: func.func private @most(
// CHECK-SAME:  memref<1x64x128xf16>) attributes
// CHECK-SAME:  gist.grid = [#[[MANY]]]
// CHECK-SAME:  nvvm.cluster_dim = array<i32: 2, 1, 1>
// CHECK-NOT:   llvm.atomicrmw
func.func private @most(%q: tensor<1x64x128xf16>, %k: tensor<?x64x128xf16>, %v: tensor<?x64x128xf16>, %o: tensor<1x64x128xf16>)
    -> tensor<1x64x128xf16> attributes {gist.kernel = #gist.kernel<kind = attention, outputs = 1>} {
  %r = gist.attention %q, %k, %v causal : tensor<1x64x128xf16>, tensor<?x64x128xf16>, tensor<?x64x128xf16>
  return %r : tensor<1x64x128xf16>
}

// The kernel writes the token's own key and value into the cache: one workgroup
// of each KV head does. It attends to them as they were given, and reads only
// rows before them.
// CHECK-LABEL: func.func private @own(
// CHECK-SAME:  %[[K:[a-z0-9]+]]: memref<1x3x64xf16>, %[[V:[a-z0-9]+]]: memref<1x3x64xf16>, %{{[^:]*}}: index, %[[N:[a-z0-9]+]]: index
// CHECK-SAME:  %[[KEYS:[a-z0-9]+]]: memref<512x3x64xf16>, %[[VALUES:[a-z0-9]+]]: memref<512x3x64xf16>
// CHECK:       %[[BEFORE:.+]] = arith.subi %[[N]], %c1
// CHECK-NOT:   nvvm.prefetch
// CHECK:       nvvm.griddepcontrol wait
// CHECK:       scf.if
// CHECK:       vector.load %[[K]]
// CHECK:       scf.if
// CHECK:       vector.store %{{.+}}, %[[KEYS]]
// CHECK:       vector.load %[[V]]
// CHECK:       scf.if
// CHECK:       vector.store %{{.+}}, %[[VALUES]]
// CHECK:       gpu.barrier
// CHECK:       scf.for {{.*}} to %[[BEFORE]]
// CHECK:       vector.load %[[KEYS]]
// CHECK:       vector.load %[[VALUES]]
// CHECK-NOT:   vector.store %{{.+}}, %[[KEYS]]
func.func private @own(%q: tensor<1x9x64xf16>, %k: tensor<1x3x64xf16>, %v: tensor<1x3x64xf16>, %past: index, %n: index,
    %kc: tensor<512x3x64xf16>, %vc: tensor<512x3x64xf16>, %o: tensor<1x9x64xf16>)
    -> (tensor<512x3x64xf16>, tensor<512x3x64xf16>, tensor<1x9x64xf16>)
    attributes {gist.kernel = #gist.kernel<kind = attention, outputs = 3>} {
  %kn = tensor.insert_slice %k into %kc[%past, 0, 0] [1, 3, 64] [1, 1, 1] : tensor<1x3x64xf16> into tensor<512x3x64xf16>
  %vn = tensor.insert_slice %v into %vc[%past, 0, 0] [1, 3, 64] [1, 1, 1] : tensor<1x3x64xf16> into tensor<512x3x64xf16>
  %ka = tensor.extract_slice %kn[0, 0, 0] [%n, 3, 64] [1, 1, 1] : tensor<512x3x64xf16> to tensor<?x3x64xf16>
  %va = tensor.extract_slice %vn[0, 0, 0] [%n, 3, 64] [1, 1, 1] : tensor<512x3x64xf16> to tensor<?x3x64xf16>
  %r = gist.attention %q, %ka, %va causal : tensor<1x9x64xf16>, tensor<?x3x64xf16>, tensor<?x3x64xf16>
  return %kn, %vn, %r : tensor<512x3x64xf16>, tensor<512x3x64xf16>, tensor<1x9x64xf16>
}
