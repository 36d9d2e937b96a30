// Each fold and canonical form, and each reason for which one is refused.
// RUN: gist-opt %s -canonicalize -split-input-file | FileCheck %s

// CHECK-LABEL: func @gram_select_tau_zero
// CHECK-SAME:    %[[X:.+]]: tensor<?x64xf32>
func.func @gram_select_tau_zero(%x: tensor<?x64xf32>) -> !gist.selection<?> {
  // CHECK: %[[T:.+]] = tensor.dim %[[X]], %{{.+}} : tensor<?x64xf32>
  // CHECK: %[[S:.+]] = gist.keep_all(%[[T]]) : !gist.selection<?>
  // CHECK: return %[[S]]
  %s = gist.gram_select %x, 0.0 causal : tensor<?x64xf32>
  return %s : !gist.selection<?>
}

// -----

// CHECK-LABEL: func @gram_select_one_token
func.func @gram_select_one_token(%x: tensor<1x3x64xf32>) -> !gist.selection<3x1> {
  // CHECK: gist.keep_all : !gist.selection<3x1>
  %s = gist.gram_select %x, 3.0e-1 : tensor<1x3x64xf32>
  return %s : !gist.selection<3x1>
}

// -----

// Tokens may be redundant.
// CHECK-LABEL: func @gram_select_stays
func.func @gram_select_stays(%x: tensor<2x64xf32>) -> !gist.selection<2> {
  // CHECK: gist.gram_select
  %s = gist.gram_select %x, 1.0e-3 : tensor<2x64xf32>
  return %s : !gist.selection<2>
}

// -----

// CHECK-LABEL: func @gram_select_unused
func.func @gram_select_unused(%x: tensor<2x64xf32>) {
  // CHECK-NOT: gist
  // CHECK: return
  %s = gist.gram_select %x, 3.0e-1 : tensor<2x64xf32>
  return
}

// -----

// CHECK-LABEL: func @cascade_inherit
// CHECK-SAME:    %[[S:[a-z0-9]+]]: !gist.selection<3x8>
func.func @cascade_inherit(%x: tensor<8x3x64xf32>, %s: !gist.selection<3x8>) -> (!gist.selection<3x8>, tensor<3xi32>, tensor<3xi32>) {
  // CHECK: %[[ZERO:.+]] = arith.constant dense<0> : tensor<3xi32>
  // CHECK: return %[[S]], %[[ZERO]], %[[ZERO]]
  %n:3 = gist.cascade_update %x, %s, 3.0e-1 rule inherit : tensor<8x3x64xf32>, !gist.selection<3x8>
  return %n#0, %n#1, %n#2 : !gist.selection<3x8>, tensor<3xi32>, tensor<3xi32>
}

// -----

// The types differ in dynamic T.
// CHECK-LABEL: func @cascade_inherit_other_type
func.func @cascade_inherit_other_type(%x: tensor<8x64xf32>, %s: !gist.selection<?>) -> !gist.selection<8> {
  // CHECK: gist.cascade_update
  %n:3 = gist.cascade_update %x, %s, 3.0e-1 rule inherit : tensor<8x64xf32>, !gist.selection<?>
  return %n#0 : !gist.selection<8>
}

// -----

// CHECK-LABEL: func @cascade_covering_tau_zero
func.func @cascade_covering_tau_zero(%x: tensor<8x64xf32>, %s: !gist.selection<8>) -> !gist.selection<8> {
  // CHECK: gist.keep_all : !gist.selection<8>
  %n:3 = gist.cascade_update %x, %s, 0.0 : tensor<8x64xf32>, !gist.selection<8>
  return %n#0 : !gist.selection<8>
}

// -----

// The turnover is read.
// CHECK-LABEL: func @cascade_covering_tau_zero_turnover
func.func @cascade_covering_tau_zero_turnover(%x: tensor<8x64xf32>, %s: !gist.selection<8>) -> (!gist.selection<8>, tensor<i32>) {
  // CHECK: gist.cascade_update
  %n:3 = gist.cascade_update %x, %s, 0.0 : tensor<8x64xf32>, !gist.selection<8>
  return %n#0, %n#2 : !gist.selection<8>, tensor<i32>
}

// -----

// The paper's rule with tau = 0 is left alone: it validates against what it inherits.
// CHECK-LABEL: func @cascade_paper_tau_zero
func.func @cascade_paper_tau_zero(%x: tensor<8x64xf32>, %s: !gist.selection<8>) -> !gist.selection<8> {
  // CHECK: gist.cascade_update
  %n:3 = gist.cascade_update %x, %s, 0.0 rule paper : tensor<8x64xf32>, !gist.selection<8>
  return %n#0 : !gist.selection<8>
}

// -----

// CHECK-LABEL: func @cascade_from_all
// CHECK-SAME:    %[[X:.+]]: tensor<8x64xf32>
func.func @cascade_from_all(%x: tensor<8x64xf32>) -> !gist.selection<8> {
  // CHECK: %[[S:.+]] = gist.gram_select %[[X]], 3.000000e-01 similarity signed causal : tensor<8x64xf32>
  // CHECK: return %[[S]]
  %all = gist.keep_all : !gist.selection<8>
  %n:3 = gist.cascade_update %x, %all, 3.0e-1 similarity signed causal : tensor<8x64xf32>, !gist.selection<8>
  return %n#0 : !gist.selection<8>
}

// -----

// The turnover is read.
// CHECK-LABEL: func @cascade_from_all_turnover
func.func @cascade_from_all_turnover(%x: tensor<8x64xf32>) -> (!gist.selection<8>, tensor<i32>) {
  // CHECK: gist.cascade_update
  %all = gist.keep_all : !gist.selection<8>
  %n:3 = gist.cascade_update %x, %all, 3.0e-1 : tensor<8x64xf32>, !gist.selection<8>
  return %n#0, %n#1 : !gist.selection<8>, tensor<i32>
}

// -----

// CHECK-LABEL: func @unpack_of_pack
// CHECK-SAME:    %[[A:[a-z0-9]+]]: tensor<8xi32>, %[[B:[a-z0-9]+]]: tensor<i32>, %[[C:[a-z0-9]+]]: tensor<8xi32>, %[[D:[a-z0-9]+]]: tensor<8xi32>
func.func @unpack_of_pack(%a: tensor<8xi32>, %b: tensor<i32>, %c: tensor<8xi32>, %d: tensor<8xi32>) -> (tensor<8xi32>, tensor<i32>, tensor<8xi32>, tensor<8xi32>) {
  // CHECK-NOT: gist
  // CHECK: return %[[A]], %[[B]], %[[C]], %[[D]]
  %s = gist.pack_selection %a, %b, %c, %d : tensor<8xi32>, tensor<i32>, tensor<8xi32>, tensor<8xi32>
  %p:4 = gist.unpack_selection %s : !gist.selection<8>
  return %p#0, %p#1, %p#2, %p#3 : tensor<8xi32>, tensor<i32>, tensor<8xi32>, tensor<8xi32>
}

// -----

// CHECK-LABEL: func @pack_of_unpack
// CHECK-SAME:    %[[S:.+]]: !gist.selection<3x8>
func.func @pack_of_unpack(%s: !gist.selection<3x8>) -> !gist.selection<3x8> {
  // CHECK-NOT: gist.{{unpack|pack}}
  // CHECK: return %[[S]]
  %p:4 = gist.unpack_selection %s : !gist.selection<3x8>
  %q = gist.pack_selection %p#0, %p#1, %p#2, %p#3 : tensor<3x8xi32>, tensor<3xi32>, tensor<3x8xi32>, tensor<3x8xi32>
  return %q : !gist.selection<3x8>
}

// -----

// The parts come back in another order.
// CHECK-LABEL: func @pack_of_unpack_swapped
func.func @pack_of_unpack_swapped(%s: !gist.selection<8>) -> !gist.selection<8> {
  // CHECK: gist.pack_selection
  %p:4 = gist.unpack_selection %s : !gist.selection<8>
  %q = gist.pack_selection %p#0, %p#1, %p#3, %p#2 : tensor<8xi32>, tensor<i32>, tensor<8xi32>, tensor<8xi32>
  return %q : !gist.selection<8>
}

// -----

// CHECK-LABEL: func @attention_zero_mask
func.func @attention_zero_mask(%q: tensor<7x6x64xf32>, %k: tensor<8x3x64xf32>) -> tensor<7x6x64xf32> {
  // CHECK: gist.attention %{{.+}}, %{{.+}}, %{{.+}} causal :
  %m = arith.constant dense<0.0> : tensor<7x8xf32>
  %o = gist.attention %q, %k, %k mask(%m : tensor<7x8xf32>) causal : tensor<7x6x64xf32>, tensor<8x3x64xf32>, tensor<8x3x64xf32>
  return %o : tensor<7x6x64xf32>
}

// -----

// CHECK-LABEL: func @attention_real_mask
func.func @attention_real_mask(%q: tensor<7x6x64xf32>, %k: tensor<8x3x64xf32>) -> tensor<7x6x64xf32> {
  // CHECK: gist.attention {{.*}} mask(
  %m = arith.constant dense<-1.0> : tensor<7x8xf32>
  %o = gist.attention %q, %k, %k mask(%m : tensor<7x8xf32>) causal : tensor<7x6x64xf32>, tensor<8x3x64xf32>, tensor<8x3x64xf32>
  return %o : tensor<7x6x64xf32>
}

// -----

// CHECK-LABEL: func @attention_wide_window
func.func @attention_wide_window(%q: tensor<7x6x64xf32>, %k: tensor<8x3x64xf32>) -> tensor<7x6x64xf32> {
  // CHECK: gist.attention %{{.+}}, %{{.+}}, %{{.+}} causal :
  %o = gist.attention %q, %k, %k causal window 8 sinks 2 : tensor<7x6x64xf32>, tensor<8x3x64xf32>, tensor<8x3x64xf32>
  return %o : tensor<7x6x64xf32>
}

// -----

// The window may hide keys: one short of their number, or of an unknown number.
// CHECK-LABEL: func @attention_narrow_window
func.func @attention_narrow_window(%q: tensor<7x6x64xf32>, %k: tensor<8x3x64xf32>, %d: tensor<?x3x64xf32>) -> (tensor<7x6x64xf32>, tensor<7x6x64xf32>) {
  // CHECK: gist.attention {{.*}} window 7
  // CHECK: gist.attention {{.*}} window 9
  %o = gist.attention %q, %k, %k causal window 7 : tensor<7x6x64xf32>, tensor<8x3x64xf32>, tensor<8x3x64xf32>
  %p = gist.attention %q, %d, %d causal window 9 : tensor<7x6x64xf32>, tensor<?x3x64xf32>, tensor<?x3x64xf32>
  return %o, %p : tensor<7x6x64xf32>, tensor<7x6x64xf32>
}

// -----

// CHECK-LABEL: func @attend_all_keys
// CHECK-SAME:    %[[Q:[a-z0-9]+]]: tensor<8x6x64xf32>, %[[K:[a-z0-9]+]]: tensor<8x3x64xf32>, %[[V:[a-z0-9]+]]: tensor<8x3x32xf32>
func.func @attend_all_keys(%q: tensor<8x6x64xf32>, %k: tensor<8x3x64xf32>, %v: tensor<8x3x32xf32>, %o: tensor<3xi32>) -> tensor<8x6x32xf32> {
  // CHECK: %[[R:.+]] = gist.attention %[[Q]], %[[K]], %[[V]] causal scale 1.250000e-01 offsets(%[[O:.+]], %[[O]] : tensor<3xi32>, tensor<3xi32>) :
  // CHECK: return %[[R]]
  %all = gist.keep_all : !gist.selection<3x8>
  %r = gist.attend %q, %k, %v on %all mode keys causal scale 1.25e-1 window 2 block 1 offsets(%o : tensor<3xi32>) : tensor<8x6x64xf32>, tensor<8x3x64xf32>, tensor<8x3x32xf32>, !gist.selection<3x8>
  return %r : tensor<8x6x32xf32>
}

// -----

// From tau = 0 to dense attention in one go.
// CHECK-LABEL: func @attend_all_copy
func.func @attend_all_copy(%q: tensor<?x6x64xf32>, %k: tensor<?x3x64xf32>, %x: tensor<?x96xf32>) -> tensor<?x6x64xf32> {
  // CHECK-NOT: gist.{{attend|gram_select|keep_all}}
  // CHECK: gist.attention
  %all = gist.gram_select %x, 0.0 : tensor<?x96xf32>
  %r = gist.attend %q, %k, %k on %all mode copy log_count : tensor<?x6x64xf32>, tensor<?x3x64xf32>, tensor<?x3x64xf32>, !gist.selection<?>
  return %r : tensor<?x6x64xf32>
}

// -----

// Tokens may be redundant.
// CHECK-LABEL: func @attend_some
func.func @attend_some(%q: tensor<8x6x64xf32>, %k: tensor<8x3x64xf32>, %s: !gist.selection<8>) -> tensor<8x6x64xf32> {
  // CHECK: gist.attend
  %r = gist.attend %q, %k, %k on %s mode copy : tensor<8x6x64xf32>, tensor<8x3x64xf32>, tensor<8x3x64xf32>, !gist.selection<8>
  return %r : tensor<8x6x64xf32>
}

// -----

// CHECK-LABEL: func @gated_projection_epsilon_zero
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<?x96xf16>, %{{.+}}: tensor<96x16xf16>, %[[W:[a-z0-9]+]]: tensor<40x96xf16>, %{{.+}}: tensor<40x16xf16>, %[[B:[a-z0-9]+]]: tensor<40xf32>
func.func @gated_projection_epsilon_zero(%x: tensor<?x96xf16>, %v: tensor<96x16xf16>, %w: tensor<40x96xf16>, %m: tensor<40x16xf16>, %b: tensor<40xf32>) -> tensor<?x40xf16> {
  // CHECK-NOT: gist
  // CHECK: %[[Z:.+]] = linalg.fill
  // CHECK: %[[P:.+]] = linalg.matmul indexing_maps = [{{.*}}] ins(%[[X]], %[[W]] : tensor<?x96xf16>, tensor<40x96xf16>) outs(%[[Z]] : tensor<?x40xf32>)
  // CHECK: linalg.generic {{.*}} ins(%[[P]], %[[B]] : tensor<?x40xf32>, tensor<40xf32>)
  // CHECK:   arith.addf
  // CHECK:   arith.truncf {{.*}} : f32 to f16
  %y, %l = gist.gated_projection %x, %v, 0.0 weights(%w : tensor<40x96xf16>) images(%m : tensor<40x16xf16>) biases(%b : tensor<40xf32>) : tensor<?x96xf16>, tensor<96x16xf16>
  return %y : tensor<?x40xf16>
}

// -----

// CHECK-LABEL: func @gated_projection_complete_basis
func.func @gated_projection_complete_basis(%x: tensor<8x96xf32>, %v: tensor<96x96xf32>, %w: tensor<40x96xf32>, %m: tensor<40x96xf32>) -> tensor<8x40xf32> {
  // CHECK-NOT: gist
  // CHECK: %[[P:.+]] = linalg.matmul
  // CHECK: return %[[P]]
  %y, %l = gist.gated_projection %x, %v, 1.0e-1 weights(%w : tensor<40x96xf32>) images(%m : tensor<40x96xf32>) : tensor<8x96xf32>, tensor<96x96xf32>
  return %y : tensor<8x40xf32>
}

// -----

// The gate level is read.
// CHECK-LABEL: func @gated_projection_level_read
func.func @gated_projection_level_read(%x: tensor<8x96xf32>, %v: tensor<96x16xf32>, %w: tensor<40x96xf32>, %m: tensor<40x16xf32>) -> (tensor<8x40xf32>, tensor<8xi8>) {
  // CHECK: gist.gated_projection
  %y, %l = gist.gated_projection %x, %v, 0.0 weights(%w : tensor<40x96xf32>) images(%m : tensor<40x16xf32>) : tensor<8x96xf32>, tensor<96x16xf32>
  return %y, %l : tensor<8x40xf32>, tensor<8xi8>
}

// -----

// The gate may close.
// CHECK-LABEL: func @gated_projection_stays
func.func @gated_projection_stays(%x: tensor<8x96xf32>, %v: tensor<96x95xf32>, %w: tensor<40x96xf32>, %m: tensor<40x95xf32>) -> tensor<8x40xf32> {
  // CHECK: gist.gated_projection
  %y, %l = gist.gated_projection %x, %v, 1.0e-3 weights(%w : tensor<40x96xf32>) images(%m : tensor<40x95xf32>) : tensor<8x96xf32>, tensor<96x95xf32>
  return %y : tensor<8x40xf32>
}

// -----

// Of three projections the middle one is read.
// CHECK-LABEL: func @gated_projection_unused
// CHECK-SAME:    %[[W1:[a-z0-9]+]]: tensor<24x96xf32>, %[[M1:[a-z0-9]+]]: tensor<24x16xf32>, %[[B1:[a-z0-9]+]]: tensor<24xf32>
func.func @gated_projection_unused(%w1: tensor<24x96xf32>, %m1: tensor<24x16xf32>, %b1: tensor<24xf32>,
    %x: tensor<8x96xf32>, %v: tensor<96x16xf32>, %w0: tensor<40x96xf32>, %m0: tensor<40x16xf32>, %b0: tensor<40xf32>) -> tensor<8x24xf32> {
  // CHECK: %[[Y:.+]], %{{.+}} = gist.gated_projection
  // CHECK-SAME: weights(%[[W1]] : tensor<24x96xf32>) images(%[[M1]] : tensor<24x16xf32>) biases(%[[B1]] : tensor<24xf32>) low 1.562500e-02(%[[W1]] : tensor<24x96xf32>)
  // CHECK: return %[[Y]]
  %y:3, %l = gist.gated_projection %x, %v, 1.0e-1 weights(%w0, %w1, %w0 : tensor<40x96xf32>, tensor<24x96xf32>, tensor<40x96xf32>) images(%m0, %m1, %m0 : tensor<40x16xf32>, tensor<24x16xf32>, tensor<40x16xf32>) biases(%b0, %b1, %b0 : tensor<40xf32>, tensor<24xf32>, tensor<40xf32>) low 1.5625e-2 (%w0, %w1, %w0 : tensor<40x96xf32>, tensor<24x96xf32>, tensor<40x96xf32>) : tensor<8x96xf32>, tensor<96x16xf32>
  return %y#1 : tensor<8x24xf32>
}

// -----

// Only the level is read: one projection stays to carry it.
// CHECK-LABEL: func @gated_projection_level_alone
func.func @gated_projection_level_alone(%x: tensor<8x96xf32>, %v: tensor<96x16xf32>, %w0: tensor<40x96xf32>, %m0: tensor<40x16xf32>) -> tensor<8xi8> {
  // CHECK: gist.gated_projection {{.*}} weights(%{{[a-z0-9]+}} : tensor<40x96xf32>)
  %y:2, %l = gist.gated_projection %x, %v, 1.0e-1 weights(%w0, %w0 : tensor<40x96xf32>, tensor<40x96xf32>) images(%m0, %m0 : tensor<40x16xf32>, tensor<40x16xf32>) : tensor<8x96xf32>, tensor<96x16xf32>
  return %l : tensor<8xi8>
}
