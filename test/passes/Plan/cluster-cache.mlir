// RUN: gist-opt -split-input-file -verify-diagnostics -gist-cluster-cache %s | FileCheck %s

// Rows of the cache for a context of 32: 32, 8 + 4 + 16, 8 + 4 + 2 and 32.

// CHECK-LABEL: func.func @prefill(
// CHECK-SAME: %[[Q:[^:]*]]: tensor<?x4x8xf16>, %[[K:[^:]*]]: tensor<?x2x8xf16>, %[[PAST:[^:]*]]: index,
// CHECK-SAME: %[[KEYS:[^:]*]]: tensor<106x8xf16> {gist.name = "k_rows"}, %[[VALUES:[^:]*]]: tensor<106x8xf16> {gist.name = "v_rows"},
// CHECK-SAME: %[[UNITS:[^:]*]]: tensor<18x8xf16> {gist.name = "units"}, %[[WEIGHTS:[^:]*]]: tensor<18xf32> {gist.name = "weights"},
// CHECK-SAME: %[[COUNTS:[^:]*]]: tensor<2x2xi32> {gist.name = "clusters", gist.statistic, gist.zero_on_reset})
// CHECK-SAME: -> (tensor<?x4x8xf16> {gist.name = "logits"}, tensor<106x8xf16>, tensor<106x8xf16>, tensor<18x8xf16>, tensor<18xf32>, tensor<2x2xi32>)
// CHECK: %[[HEADS:.*]] = gist.weight "plan.heads" : tensor<2x2x8xf32>
// CHECK-NOT: tensor.insert_slice
// CHECK: %[[ONE:.*]] = arith.constant 1 : index
// CHECK: %[[N0:.*]], %[[N1:.*]], %[[N2:.*]], %[[N3:.*]], %[[N4:.*]] = gist.cluster_update %[[K]], %[[K]], %[[HEADS]], %[[PAST]], %[[ONE]] into(%[[KEYS]], %[[VALUES]], %[[UNITS]], %[[WEIGHTS]], %[[COUNTS]]) block 4
// CHECK: %[[O:.*]] = gist.cluster_attention %[[Q]], %[[HEADS]], %[[PAST]], %[[ONE]] on(%[[N0]], %[[N1]], %[[N3]], %[[N4]]) block 4 scale 5.000000e-01
// CHECK: return %[[O]], %[[N0]], %[[N1]], %[[N2]], %[[N3]], %[[N4]]

// The plan has been followed; what heads do is in the table that the weight is made of.
// CHECK-NOT: gist.plan block
// CHECK: gist.head_table @plan.heads context 32 block 4 {
// CHECK-NEXT: gist.plan_layer {
// CHECK-NEXT: gist.plan_head dense
// CHECK-NEXT: gist.plan_head window 8 theta 8.000000e-01 room 5.000000e-01
// CHECK-NEXT: }
// CHECK-NEXT: gist.plan_layer {
// CHECK-NEXT: gist.plan_head window 8 sinks 2
// CHECK-NEXT: gist.plan_head dense
gist.plan block 4 {
  gist.plan_layer {
    gist.plan_head dense
    gist.plan_head window 8 theta 8.0e-1 room 5.0e-1
  }
  gist.plan_layer {
    gist.plan_head window 8 sinks 2
    gist.plan_head dense
  }
}
func.func @prefill(%q: tensor<?x4x8xf16>, %k: tensor<?x2x8xf16>, %past: index,
    %kc: tensor<2x32x2x8xf16>, %vc: tensor<2x32x2x8xf16>)
    -> (tensor<?x4x8xf16> {gist.name = "logits"}, tensor<2x32x2x8xf16>, tensor<2x32x2x8xf16>) {
  %c0 = arith.constant 0 : index
  %t = tensor.dim %q, %c0 : tensor<?x4x8xf16>
  %all = arith.addi %past, %t : index
  %k1 = tensor.insert_slice %k into %kc[1, %past, 0, 0] [1, %t, 2, 8] [1, 1, 1, 1] : tensor<?x2x8xf16> into tensor<2x32x2x8xf16>
  %v1 = tensor.insert_slice %k into %vc[1, %past, 0, 0] [1, %t, 2, 8] [1, 1, 1, 1] : tensor<?x2x8xf16> into tensor<2x32x2x8xf16>
  %ka = tensor.extract_slice %k1[1, 0, 0, 0] [1, %all, 2, 8] [1, 1, 1, 1] : tensor<2x32x2x8xf16> to tensor<?x2x8xf16>
  %va = tensor.extract_slice %v1[1, 0, 0, 0] [1, %all, 2, 8] [1, 1, 1, 1] : tensor<2x32x2x8xf16> to tensor<?x2x8xf16>
  %o = gist.attention %q, %ka, %va causal scale 5.0e-1 : tensor<?x4x8xf16>, tensor<?x2x8xf16>, tensor<?x2x8xf16>
  return %o, %k1, %v1 : tensor<?x4x8xf16>, tensor<2x32x2x8xf16>, tensor<2x32x2x8xf16>
}

// -----

// CHECK-LABEL: func.func @no_attention(%{{.*}}: tensor<4xf32>) -> tensor<4xf32>
gist.plan block 4 {
  gist.plan_layer {
    gist.plan_head dense
    gist.plan_head window 8 theta 8.0e-1 room 5.0e-1
  }
  gist.plan_layer {
    gist.plan_head window 8 sinks 2
    gist.plan_head dense
  }
}
func.func @no_attention(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

gist.plan block 4 {
  gist.plan_layer {
    gist.plan_head dense
    gist.plan_head window 8 theta 8.0e-1 room 5.0e-1
  }
  gist.plan_layer {
    gist.plan_head window 8 sinks 2
    gist.plan_head dense
  }
}
func.func @encoder(%q: tensor<?x4x8xf16>, %k: tensor<?x2x8xf16>) -> tensor<?x4x8xf16> {
  // expected-error@+1 {{expects causal attention without sinks, a mask or offsets where a plan has heads}}
  %o = gist.attention %q, %k, %k : tensor<?x4x8xf16>, tensor<?x2x8xf16>, tensor<?x2x8xf16>
  return %o : tensor<?x4x8xf16>
}

// -----

gist.plan block 4 {
  gist.plan_layer {
    gist.plan_head dense
    gist.plan_head window 8 theta 8.0e-1 room 5.0e-1
  }
  gist.plan_layer {
    gist.plan_head window 8 sinks 2
    gist.plan_head dense
  }
}
func.func @no_cache(%q: tensor<?x4x8xf16>, %k: tensor<?x2x8xf16>) -> tensor<?x4x8xf16> {
  // expected-error@+1 {{does not read a KV cache; a plan of KV heads needs one}}
  %o = gist.attention %q, %k, %k causal : tensor<?x4x8xf16>, tensor<?x2x8xf16>, tensor<?x2x8xf16>
  return %o : tensor<?x4x8xf16>
}

// -----

gist.plan block 4 {
  gist.plan_layer {
    gist.plan_head dense
    gist.plan_head window 8 theta 8.0e-1 room 5.0e-1
  }
  gist.plan_layer {
    gist.plan_head window 8 sinks 2
    gist.plan_head dense
  }
}
func.func @other_model(%q: tensor<?x3x8xf16>, %k: tensor<?x3x8xf16>, %past: index,
    %kc: tensor<2x32x3x8xf16>, %vc: tensor<2x32x3x8xf16>)
    -> (tensor<?x3x8xf16>, tensor<2x32x3x8xf16>, tensor<2x32x3x8xf16>) {
  %c0 = arith.constant 0 : index
  %t = tensor.dim %q, %c0 : tensor<?x3x8xf16>
  %all = arith.addi %past, %t : index
  %k1 = tensor.insert_slice %k into %kc[1, %past, 0, 0] [1, %t, 3, 8] [1, 1, 1, 1] : tensor<?x3x8xf16> into tensor<2x32x3x8xf16>
  %v1 = tensor.insert_slice %k into %vc[1, %past, 0, 0] [1, %t, 3, 8] [1, 1, 1, 1] : tensor<?x3x8xf16> into tensor<2x32x3x8xf16>
  %ka = tensor.extract_slice %k1[1, 0, 0, 0] [1, %all, 3, 8] [1, 1, 1, 1] : tensor<2x32x3x8xf16> to tensor<?x3x8xf16>
  %va = tensor.extract_slice %v1[1, 0, 0, 0] [1, %all, 3, 8] [1, 1, 1, 1] : tensor<2x32x3x8xf16> to tensor<?x3x8xf16>
  // expected-error@+1 {{is layer 1 with 3 KV heads, but the plan is for 2 layers with 2}}
  %o = gist.attention %q, %ka, %va causal : tensor<?x3x8xf16>, tensor<?x3x8xf16>, tensor<?x3x8xf16>
  return %o, %k1, %v1 : tensor<?x3x8xf16>, tensor<2x32x3x8xf16>, tensor<2x32x3x8xf16>
}

// -----

// Functions share the table, so they have caches of one size.

gist.plan block 4 {
  gist.plan_layer {
    gist.plan_head dense
    gist.plan_head window 8 theta 8.0e-1 room 5.0e-1
  }
  gist.plan_layer {
    gist.plan_head window 8 sinks 2
    gist.plan_head dense
  }
}

func.func @short(%q: tensor<?x2x8xf16>, %k: tensor<?x2x8xf16>, %past: index,
    %kc: tensor<2x16x2x8xf16>, %vc: tensor<2x16x2x8xf16>)
    -> (tensor<?x2x8xf16>, tensor<2x16x2x8xf16>, tensor<2x16x2x8xf16>) {
  %c0 = arith.constant 0 : index
  %t = tensor.dim %q, %c0 : tensor<?x2x8xf16>
  %all = arith.addi %past, %t : index
  %k1 = tensor.insert_slice %k into %kc[1, %past, 0, 0] [1, %t, 2, 8] [1, 1, 1, 1] : tensor<?x2x8xf16> into tensor<2x16x2x8xf16>
  %v1 = tensor.insert_slice %k into %vc[1, %past, 0, 0] [1, %t, 2, 8] [1, 1, 1, 1] : tensor<?x2x8xf16> into tensor<2x16x2x8xf16>
  %ka = tensor.extract_slice %k1[1, 0, 0, 0] [1, %all, 2, 8] [1, 1, 1, 1] : tensor<2x16x2x8xf16> to tensor<?x2x8xf16>
  %va = tensor.extract_slice %v1[1, 0, 0, 0] [1, %all, 2, 8] [1, 1, 1, 1] : tensor<2x16x2x8xf16> to tensor<?x2x8xf16>
  %o = gist.attention %q, %ka, %va causal : tensor<?x2x8xf16>, tensor<?x2x8xf16>, tensor<?x2x8xf16>
  return %o, %k1, %v1 : tensor<?x2x8xf16>, tensor<2x16x2x8xf16>, tensor<2x16x2x8xf16>
}

// expected-error@+1 {{has a cache of 24 tokens, and 'plan.heads' is defined for another number}}
func.func @long(%q: tensor<?x2x8xf16>, %k: tensor<?x2x8xf16>, %past: index,
    %kc: tensor<2x24x2x8xf16>, %vc: tensor<2x24x2x8xf16>)
    -> (tensor<?x2x8xf16>, tensor<2x24x2x8xf16>, tensor<2x24x2x8xf16>) {
  %c0 = arith.constant 0 : index
  %t = tensor.dim %q, %c0 : tensor<?x2x8xf16>
  %all = arith.addi %past, %t : index
  %k1 = tensor.insert_slice %k into %kc[1, %past, 0, 0] [1, %t, 2, 8] [1, 1, 1, 1] : tensor<?x2x8xf16> into tensor<2x24x2x8xf16>
  %v1 = tensor.insert_slice %k into %vc[1, %past, 0, 0] [1, %t, 2, 8] [1, 1, 1, 1] : tensor<?x2x8xf16> into tensor<2x24x2x8xf16>
  %ka = tensor.extract_slice %k1[1, 0, 0, 0] [1, %all, 2, 8] [1, 1, 1, 1] : tensor<2x24x2x8xf16> to tensor<?x2x8xf16>
  %va = tensor.extract_slice %v1[1, 0, 0, 0] [1, %all, 2, 8] [1, 1, 1, 1] : tensor<2x24x2x8xf16> to tensor<?x2x8xf16>
  %o = gist.attention %q, %ka, %va causal : tensor<?x2x8xf16>, tensor<?x2x8xf16>, tensor<?x2x8xf16>
  return %o, %k1, %v1 : tensor<?x2x8xf16>, tensor<2x24x2x8xf16>, tensor<2x24x2x8xf16>
}

// -----

// A window of the model's own: its ring has what a block of 4 sees of the 6 tokens before each query, 5 + 4. The other layer
// is dense and has no rows here. Attention hides what the ring has too much.

// CHECK-LABEL: func.func @window(
// CHECK-SAME: tensor<9x8xf16> {gist.name = "k_rows"}
// CHECK: gist.cluster_attention {{.*}} block 4 window 6
// CHECK: gist.head_table @plan.heads context 32 block 4 {
// CHECK-NEXT: gist.plan_layer {
// CHECK-NEXT: gist.plan_head dense
// CHECK-NEXT: }
// CHECK-NEXT: gist.plan_layer {
// CHECK-NEXT: gist.plan_head window 5 sinks 0
gist.plan block 4 {
  gist.plan_layer {
    gist.plan_head dense
  }
  gist.plan_layer {
    gist.plan_head dense
  }
}
func.func @window(%q: tensor<?x4x8xf16>, %k: tensor<?x1x8xf16>, %past: index,
    %kc: tensor<2x32x1x8xf16>, %vc: tensor<2x32x1x8xf16>)
    -> (tensor<?x4x8xf16>, tensor<2x32x1x8xf16>, tensor<2x32x1x8xf16>) {
  %c0 = arith.constant 0 : index
  %t = tensor.dim %q, %c0 : tensor<?x4x8xf16>
  %all = arith.addi %past, %t : index
  %k1 = tensor.insert_slice %k into %kc[1, %past, 0, 0] [1, %t, 1, 8] [1, 1, 1, 1] : tensor<?x1x8xf16> into tensor<2x32x1x8xf16>
  %v1 = tensor.insert_slice %k into %vc[1, %past, 0, 0] [1, %t, 1, 8] [1, 1, 1, 1] : tensor<?x1x8xf16> into tensor<2x32x1x8xf16>
  %ka = tensor.extract_slice %k1[1, 0, 0, 0] [1, %all, 1, 8] [1, 1, 1, 1] : tensor<2x32x1x8xf16> to tensor<?x1x8xf16>
  %va = tensor.extract_slice %v1[1, 0, 0, 0] [1, %all, 1, 8] [1, 1, 1, 1] : tensor<2x32x1x8xf16> to tensor<?x1x8xf16>
  %o = gist.attention %q, %ka, %va causal window 6 : tensor<?x4x8xf16>, tensor<?x1x8xf16>, tensor<?x1x8xf16>
  return %o, %k1, %v1 : tensor<?x4x8xf16>, tensor<2x32x1x8xf16>, tensor<2x32x1x8xf16>
}

// -----

gist.plan block 4 {
  gist.plan_layer {
    gist.plan_head window 8 sinks 2
  }
}
func.func @other_window(%q: tensor<?x4x8xf16>, %k: tensor<?x1x8xf16>, %past: index,
    %kc: tensor<1x32x1x8xf16>, %vc: tensor<1x32x1x8xf16>)
    -> (tensor<?x4x8xf16>, tensor<1x32x1x8xf16>, tensor<1x32x1x8xf16>) {
  %c0 = arith.constant 0 : index
  %t = tensor.dim %q, %c0 : tensor<?x4x8xf16>
  %all = arith.addi %past, %t : index
  %k1 = tensor.insert_slice %k into %kc[0, %past, 0, 0] [1, %t, 1, 8] [1, 1, 1, 1] : tensor<?x1x8xf16> into tensor<1x32x1x8xf16>
  %v1 = tensor.insert_slice %k into %vc[0, %past, 0, 0] [1, %t, 1, 8] [1, 1, 1, 1] : tensor<?x1x8xf16> into tensor<1x32x1x8xf16>
  %ka = tensor.extract_slice %k1[0, 0, 0, 0] [1, %all, 1, 8] [1, 1, 1, 1] : tensor<1x32x1x8xf16> to tensor<?x1x8xf16>
  %va = tensor.extract_slice %v1[0, 0, 0, 0] [1, %all, 1, 8] [1, 1, 1, 1] : tensor<1x32x1x8xf16> to tensor<?x1x8xf16>
  // expected-error@+1 {{sees a window of 6 tokens in layer 0; expected "dense" for its heads in the plan}}
  %o = gist.attention %q, %ka, %va causal window 6 : tensor<?x4x8xf16>, tensor<?x1x8xf16>, tensor<?x1x8xf16>
  return %o, %k1, %v1 : tensor<?x4x8xf16>, tensor<1x32x1x8xf16>, tensor<1x32x1x8xf16>
}

// -----

// Layers whose heads are all dense keep their attention, and their part of the model's cache. The others have no rows there,
// and the dense ones none among rings and clusters: 8 + 4 and a sink for each of two heads.

// CHECK-LABEL: func.func @dense_layers(
// CHECK-SAME: %[[Q:[^:]*]]: tensor<?x4x8xf16>, %[[K:[^:]*]]: tensor<?x2x8xf16>, %[[PAST:[^:]*]]: index,
// CHECK-SAME: %[[KC:[^:]*]]: tensor<2x32x2x8xf16>, %[[VC:[^:]*]]: tensor<2x32x2x8xf16>,
// CHECK-SAME: tensor<26x8xf16> {gist.name = "k_rows"}
// CHECK-SAME: -> (tensor<?x4x8xf16>, tensor<2x32x2x8xf16>, tensor<2x32x2x8xf16>, tensor<26x8xf16>
// CHECK: %[[K0:.*]] = tensor.insert_slice %[[K]] into %[[KC]][0, %[[PAST]],
// CHECK: tensor.extract_slice %[[K0]][0, 0, 0, 0]
// CHECK: gist.attention
// CHECK: gist.cluster_update
// CHECK: %[[O1:.*]] = gist.cluster_attention
// CHECK: %[[K2:.*]] = tensor.insert_slice %[[K]] into %[[K0]][1, %[[PAST]],
// CHECK: tensor.extract_slice %[[K2]][1, 0, 0, 0]
// CHECK: gist.attention %[[O1]]
// CHECK: return %{{.*}}, %[[K2]], %{{.*}}
gist.plan block 4 {
  gist.plan_layer {
    gist.plan_head dense
    gist.plan_head dense
  }
  gist.plan_layer {
    gist.plan_head window 8 sinks 1
    gist.plan_head window 8 sinks 1
  }
  gist.plan_layer {
    gist.plan_head dense
    gist.plan_head dense
  }
}
!cache = tensor<3x32x2x8xf16>
func.func @dense_layers(%q: tensor<?x4x8xf16>, %k: tensor<?x2x8xf16>, %past: index, %kc: !cache, %vc: !cache)
    -> (tensor<?x4x8xf16>, !cache, !cache) {
  %c0 = arith.constant 0 : index
  %t = tensor.dim %q, %c0 : tensor<?x4x8xf16>
  %all = arith.addi %past, %t : index
  %k0 = tensor.insert_slice %k into %kc[0, %past, 0, 0] [1, %t, 2, 8] [1, 1, 1, 1] : tensor<?x2x8xf16> into !cache
  %v0 = tensor.insert_slice %k into %vc[0, %past, 0, 0] [1, %t, 2, 8] [1, 1, 1, 1] : tensor<?x2x8xf16> into !cache
  %ka = tensor.extract_slice %k0[0, 0, 0, 0] [1, %all, 2, 8] [1, 1, 1, 1] : !cache to tensor<?x2x8xf16>
  %va = tensor.extract_slice %v0[0, 0, 0, 0] [1, %all, 2, 8] [1, 1, 1, 1] : !cache to tensor<?x2x8xf16>
  %o0 = gist.attention %q, %ka, %va causal scale 5.0e-1 : tensor<?x4x8xf16>, tensor<?x2x8xf16>, tensor<?x2x8xf16>
  %k1 = tensor.insert_slice %k into %k0[1, %past, 0, 0] [1, %t, 2, 8] [1, 1, 1, 1] : tensor<?x2x8xf16> into !cache
  %v1 = tensor.insert_slice %k into %v0[1, %past, 0, 0] [1, %t, 2, 8] [1, 1, 1, 1] : tensor<?x2x8xf16> into !cache
  %kb = tensor.extract_slice %k1[1, 0, 0, 0] [1, %all, 2, 8] [1, 1, 1, 1] : !cache to tensor<?x2x8xf16>
  %vb = tensor.extract_slice %v1[1, 0, 0, 0] [1, %all, 2, 8] [1, 1, 1, 1] : !cache to tensor<?x2x8xf16>
  %o1 = gist.attention %o0, %kb, %vb causal scale 5.0e-1 : tensor<?x4x8xf16>, tensor<?x2x8xf16>, tensor<?x2x8xf16>
  %k2 = tensor.insert_slice %k into %k1[2, %past, 0, 0] [1, %t, 2, 8] [1, 1, 1, 1] : tensor<?x2x8xf16> into !cache
  %v2 = tensor.insert_slice %k into %v1[2, %past, 0, 0] [1, %t, 2, 8] [1, 1, 1, 1] : tensor<?x2x8xf16> into !cache
  %kd = tensor.extract_slice %k2[2, 0, 0, 0] [1, %all, 2, 8] [1, 1, 1, 1] : !cache to tensor<?x2x8xf16>
  %vd = tensor.extract_slice %v2[2, 0, 0, 0] [1, %all, 2, 8] [1, 1, 1, 1] : !cache to tensor<?x2x8xf16>
  %o2 = gist.attention %o1, %kd, %vd causal scale 5.0e-1 : tensor<?x4x8xf16>, tensor<?x2x8xf16>, tensor<?x2x8xf16>
  return %o2, %k2, %v2 : tensor<?x4x8xf16>, !cache, !cache
}
