// RUN: gist-opt %s -split-input-file -gist-kernels -gist-set-target=target=gfx942 -gist-add-scratch | FileCheck %s
// RUN: gist-opt %s -split-input-file -gist-kernels -gist-set-target=target=sm_90 -gist-add-scratch | FileCheck %s
// RUN: gist-opt %s -split-input-file -gist-kernels -gist-set-target -gist-add-scratch | FileCheck %s --check-prefix=CPU
// Memory is added once.
// RUN: gist-opt %s -split-input-file -gist-kernels -gist-set-target=target=gfx942 -gist-add-scratch -gist-add-scratch | FileCheck %s
// It is planned like any other. What is equal is one value after -cse, and is
// still not one buffer.
// RUN: gist-opt %s -split-input-file -gist-kernels -gist-set-target=target=gfx942 -gist-memory | FileCheck %s --check-prefix=PLANNED
// RUN: gist-opt %s -split-input-file -gist-kernels -gist-set-target=target=gfx942 -gist-add-scratch -cse -gist-memory | FileCheck %s --check-prefix=PLANNED
// The stage of kernels gives them the same as the stage of calls.
// RUN: gist-opt %s -split-input-file -gist-kernels -gist-gpu-tile=target=gfx942 | FileCheck %s --check-prefix=TILES
// RUN: not gist-opt %s -split-input-file -gist-kernels -gist-add-scratch 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: error: expects gist.target to name a CPU; -gist-set-target writes it

// Both kernels work with the same words of control, which they find and leave
// zero, and with scratch of their own. On GPUs that is (T + 68) * 143 + 2^23 words;
// on CPUs seven words for each token.

// CHECK-DAG:   #[[WORDS:.*]] = affine_map<()[s0] -> (s0 * 143 + 8398332)>
// CHECK-LABEL: func.func @cascade
// CHECK:         %[[SIZE:.*]] = affine.apply #[[WORDS]]
// CHECK:         %[[SCRATCH:.*]] = tensor.empty(%[[SIZE]]) : tensor<?xi32>
// CHECK:         %[[ZERO:.*]] = gist.dispatch @clear_0() outs(%{{.*}} : tensor<320xi32>)
// CHECK:         %[[S:.*]]:6 = gist.dispatch @gram_select_0(%{{.*}} : tensor<?x64xf16>)
// CHECK-SAME:      outs({{.*}}, %[[SCRATCH]], %[[ZERO]] :
// CHECK-NOT:     @clear_0
// CHECK:         %[[U:.*]]:8 = gist.dispatch @cascade_update_0(%{{.*}}, %[[S]]#0, %[[S]]#1, %[[S]]#2, %[[S]]#3 :
// CHECK-SAME:      outs({{.*}}, %[[S]]#5 :
// CHECK:         return %[[U]]#0, %[[U]]#1, %[[U]]#4, %[[U]]#5
// CHECK:       func.func private @gram_select_0(%{{.*}}: tensor<?x64xf16>,
// CHECK-SAME:    %{{.*}}: tensor<?xi32>, %{{.*}}: tensor<320xi32> {gist.control})
// CHECK-SAME:    gist.kernel = #gist.kernel<kind = select, outputs = 6, scratch = 2>
// CHECK:       func.func private @cascade_update_0
// CHECK-SAME:    gist.kernel = #gist.kernel<kind = select, outputs = 8, scratch = 2>
// CHECK:       func.func private @clear_0

// CPU-DAG:     #[[WORDS:.*]] = affine_map<()[s0] -> (s0 * 7)>
// CPU-LABEL:   func.func @cascade
// CPU:           %[[SIZE:.*]] = affine.apply #[[WORDS]]
// CPU:           %[[SCRATCH:.*]] = tensor.empty(%[[SIZE]]) : tensor<?xi32>
// CPU:           %[[ZERO:.*]] = gist.dispatch @clear_0() outs(%{{.*}} : tensor<128xi32>)
// CPU:           gist.dispatch @gram_select_0(
// CPU-SAME:        outs({{.*}}, %[[SCRATCH]], %[[ZERO]] :
func.func @cascade(%x: tensor<?x64xf16>, %y: tensor<?x64xf16>)
    -> (tensor<?xi32>, tensor<i32>, tensor<i32>, tensor<i32>) {
  %s = gist.gram_select %x, 3.0e-1 causal : tensor<?x64xf16>
  %t, %r, %a = gist.cascade_update %y, %s, 3.0e-1 causal
      : tensor<?x64xf16>, !gist.selection<?>
  %i, %c, %n, %w = gist.unpack_selection %t : !gist.selection<?>
  return %i, %c, %r, %a : tensor<?xi32>, tensor<i32>, tensor<i32>, tensor<i32>
}

// -----

// One selection per head has control and scratch for each; the sums of shared
// tiles are for all of them.

// CHECK-LABEL: func.func @heads
// (100 + 68) * 3 * 143 + 2^23 and 3 * 320 words.
// CHECK:         tensor.empty() : tensor<8460680xi32>
// CHECK:         gist.dispatch @clear_0() outs(%{{.*}} : tensor<960xi32>)
// CHECK:         gist.dispatch @gram_select_0
// CPU-LABEL:   func.func @heads
// 100 * 3 * 7 and 3 * 128 words.
// CPU:           tensor.empty() : tensor<2100xi32>
// CPU:           gist.dispatch @clear_0() outs(%{{.*}} : tensor<384xi32>)
func.func @heads(%x: tensor<100x3x64xf16>) -> tensor<3x100xi32> {
  %s = gist.gram_select %x, 3.0e-1 against all : tensor<100x3x64xf16>
  %i, %c, %n, %w = gist.unpack_selection %s : !gist.selection<3x100>
  return %n : tensor<3x100xi32>
}

// -----

// Calls of gated projections have words of their own, which one kernel clears for
// all of them before anything else; the number of the call says which they are.

// CHECK-LABEL: func.func @few
// CHECK:         %[[CONTROL:.*]] = gist.dispatch @clear_0() outs(%{{.*}} : tensor<128xi32>)
// 2 * (32 * 16 + 64 + 512 * 3) words.
// CHECK:         %[[SCRATCH:.*]] = tensor.empty() : tensor<4224xf32>
// CHECK:         %[[ZERO:.*]] = arith.constant 0 : index
// CHECK:         %[[P:.*]]:4 = gist.dispatch @gated_projection_0(%arg0, %arg1, %arg2, %arg3, %[[ZERO]]
// CHECK-SAME:      outs({{.*}}, %[[SCRATCH]], %[[CONTROL]] : tensor<2x96xf16>, tensor<2xi8>, tensor<4224xf32>, tensor<128xi32>)
// CHECK-NOT:     @clear_0
// CHECK:         %[[ONE:.*]] = arith.constant 1 : index
// CHECK:         %[[Q:.*]]:4 = gist.dispatch @gated_projection_0(%arg0, %arg1, %arg4, %arg3, %[[ONE]]
// CHECK-SAME:      outs({{.*}}, %[[P]]#3 :
// CHECK:         return %[[P]]#0, %[[Q]]#0, %[[Q]]#1
// CHECK:       func.func private @gated_projection_0(
// CHECK-SAME:    %{{.*}}: index, %{{.*}}: tensor<2x96xf16>, %{{.*}}: tensor<2xi8>, %{{.*}}: tensor<4224xf32>, %{{.*}}: tensor<128xi32> {gist.control})
// CHECK:         gist.gated_projection
// PLANNED-LABEL: func.func @few
// TILES:       func.func private @gated_projection_0(
// TILES-SAME:    %{{.*}}: memref<4224xf32>, %{{.*}}: memref<128xi32>)
// CPU-LABEL:   func.func @few
// CPU-NOT:       @clear
// CPU:           return
func.func @few(%x: tensor<2x64xf16>, %v: tensor<64x16xf16>, %w: tensor<96x64xf16>,
    %m: tensor<96x16xf16>, %u: tensor<96x64xf16>)
    -> (tensor<2x96xf16>, tensor<2x96xf16>, tensor<2xi8>) {
  %y, %l = gist.gated_projection %x, %v, 1.0e-1 weights(%w : tensor<96x64xf16>)
      images(%m : tensor<96x16xf16>) : tensor<2x64xf16>, tensor<64x16xf16>
  %z, %k = gist.gated_projection %x, %v, 1.0e-1 weights(%u : tensor<96x64xf16>)
      images(%m : tensor<96x16xf16>) : tensor<2x64xf16>, tensor<64x16xf16>
  return %y, %z, %k : tensor<2x96xf16>, tensor<2x96xf16>, tensor<2xi8>
}

// -----

// Gates and means of clusters leave their words as they are: words of the same
// number are not the same words.

// CHECK-LABEL: func.func @both
// CHECK:         %[[MEANS:.*]] = gist.dispatch @clear_0() outs({{.*}} : tensor<64xi32>)
// CHECK:         %[[GATES:.*]] = gist.dispatch @clear_0() outs({{.*}} : tensor<64xi32>)
// CHECK:         gist.dispatch @gated_projection_0({{.*}}, %[[GATES]] :
// CHECK:         gist.dispatch @attend_0({{.*}}, %[[MEANS]] :
// PLANNED-DAG:  #[[FIRST:.*]] = affine_map<()[s0, s1, s2] -> (0)>
// PLANNED-DAG:  #[[SECOND:.*]] = affine_map<()[s0, s1, s2] -> (256)>
// PLANNED-LABEL: func.func @both
// PLANNED:         %[[V:.*]] = gist.arena() at #[[FIRST]] : tensor<64xi32>
// PLANNED:         %[[A:.*]] = gist.dispatch @clear_0() outs(%[[V]] :
// PLANNED:         %[[W:.*]] = gist.arena() at #[[SECOND]] : tensor<64xi32>
// PLANNED:         %[[B:.*]] = gist.dispatch @clear_0() outs(%[[W]] :
// PLANNED:         gist.dispatch @gated_projection_0({{.*}}, %[[GATES:[0-9]+]] :
// PLANNED:         gist.dispatch @attend_0(
// PLANNED-NOT:       %[[GATES]] :
// PLANNED:         return
// CPU-LABEL:   func.func @both
// CPU-NOT:       @clear
// CPU:           return
!q = tensor<2x1x64xf16>
!part = tensor<2xi32>
func.func @both(%x: tensor<2x64xf16>, %v: tensor<64x16xf16>, %w: tensor<96x64xf16>, %m: tensor<96x16xf16>,
    %q: !q, %ids: !part, %count: tensor<i32>, %nearest: !part, %weight: !part)
    -> (tensor<2x96xf16>, !q) {
  %y, %l = gist.gated_projection %x, %v, 1.0e-1 weights(%w : tensor<96x64xf16>)
      images(%m : tensor<96x16xf16>) : tensor<2x64xf16>, tensor<64x16xf16>
  %s = gist.pack_selection %ids, %count, %nearest, %weight : !part, tensor<i32>, !part, !part
  %r = gist.attend %q, %q, %q on %s mode keys causal window 64 block 64 merge mean
      : !q, !q, !q, !gist.selection<2>
  return %y, %r : tensor<2x96xf16>, !q
}

// -----

// Sampling works in memory of its own.

// CHECK-LABEL: func.func @sample
// CHECK:         %[[MEMORY:.+]] = tensor.empty(%{{.+}}) : tensor<?x2x4096xi32>
// CHECK:         %[[CALL:.+]]:2 = gist.dispatch @sample_0(%{{.+}}) outs(%{{.+}}, %[[MEMORY]] : tensor<?xi32>, tensor<?x2x4096xi32>)
// CHECK:         return %[[CALL]]#0
func.func @sample(%logits: tensor<?x1000xf32>, %settings: tensor<?x5xi64>) -> tensor<?xi32> {
  %next = gist.sample %logits by %settings : tensor<?x1000xf32>, tensor<?x5xi64>
  return %next : tensor<?xi32>
}
