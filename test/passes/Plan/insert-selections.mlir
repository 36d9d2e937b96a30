// A selection stands before the attention of every layer for which the plan has
// one; attention itself stays. How many tokens it keeps is counted in a state.
// RUN: gist-opt %s -gist-insert-selections -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: func.func @keys(
// CHECK-SAME: %[[Q:[^:]+]]: tensor<?x4x16xf32>, %[[K:[^:]+]]: tensor<?x2x16xf32>, %[[V:[^:]+]]: tensor<?x2x16xf32>
// Two layers, two KV heads.
// CHECK-SAME: tensor<2x2xi32> {gist.name = "representatives", gist.statistic, gist.zero_on_reset}
// CHECK-SAME: -> (tensor<?x4x16xf32> {gist.name = "y"}
// CHECK: %[[S:.+]] = gist.gram_select %[[K]], 3.000000e-01 causal {gist.layer = 0 : i64} : tensor<?x2x16xf32>
// CHECK: %[[A:.+]] = gist.attention %[[Q]], %[[K]], %[[V]] causal
// The second layer has none.
// CHECK-NOT: gist.gram_select
// CHECK-NOT: gist.cascade_update
// CHECK: gist.attention %[[A]], %[[K]], %[[V]] causal
func.func @keys(%q: tensor<?x4x16xf32>, %k: tensor<?x2x16xf32>, %v: tensor<?x2x16xf32>)
    -> (tensor<?x4x16xf32> {gist.name = "y"}) {
  %a = gist.attention %q, %k, %v causal : tensor<?x4x16xf32>, tensor<?x2x16xf32>, tensor<?x2x16xf32>
  %b = gist.attention %a, %k, %v causal : tensor<?x4x16xf32>, tensor<?x2x16xf32>, tensor<?x2x16xf32>
  return %b : tensor<?x4x16xf32>
}
gist.plan {
  gist.plan_layer {
    gist.plan_select on keys tau [3.000000e-01]
  }
  gist.plan_layer {
  }
}

// -----

// A plan that traces returns what a selection looked at and what it says, but
// no rows that an entry shows already: a module writes each value once.
// CHECK-LABEL: func.func @shown(
// CHECK-SAME: -> (tensor<?x4x16xf32> {gist.name = "y"}, tensor<?x2x16xf32> {gist.name = "0@keys"}, tensor{{[^,]*}} {gist.name = "selection.0.nearest"}, tensor<1x2xi32>,
// CHECK-LABEL: func.func @hidden(
// CHECK-SAME: -> (tensor<?x4x16xf32> {gist.name = "y"}, tensor<?x2x16xf32> {gist.name = "selection.0.rows"}, tensor{{[^,]*}} {gist.name = "selection.0.nearest"}, tensor<1x2xi32>,
func.func @shown(%q: tensor<?x4x16xf32>, %k: tensor<?x2x16xf32>, %v: tensor<?x2x16xf32>)
    -> (tensor<?x4x16xf32> {gist.name = "y"}, tensor<?x2x16xf32> {gist.name = "0@keys"}) {
  %a = gist.attention %q, %k, %v causal : tensor<?x4x16xf32>, tensor<?x2x16xf32>, tensor<?x2x16xf32>
  return %a, %k : tensor<?x4x16xf32>, tensor<?x2x16xf32>
}
func.func @hidden(%q: tensor<?x4x16xf32>, %k: tensor<?x2x16xf32>, %v: tensor<?x2x16xf32>)
    -> (tensor<?x4x16xf32> {gist.name = "y"}) {
  %a = gist.attention %q, %k, %v causal : tensor<?x4x16xf32>, tensor<?x2x16xf32>, tensor<?x2x16xf32>
  return %a : tensor<?x4x16xf32>
}
gist.plan trace {
  gist.plan_layer {
    gist.plan_select on keys tau [3.000000e-01]
  }
}

// -----

// Without a plan nothing happens.
// CHECK-LABEL: func.func @dense(
// CHECK-NOT: gist.gram_select
func.func @dense(%q: tensor<?x4x16xf32>, %k: tensor<?x2x16xf32>, %v: tensor<?x2x16xf32>)
    -> (tensor<?x4x16xf32> {gist.name = "y"}) {
  %a = gist.attention %q, %k, %v causal : tensor<?x4x16xf32>, tensor<?x2x16xf32>, tensor<?x2x16xf32>
  %b = gist.attention %a, %k, %v causal : tensor<?x4x16xf32>, tensor<?x2x16xf32>, tensor<?x2x16xf32>
  return %b : tensor<?x4x16xf32>
}

// -----

// expected-error @+1 {{'func.func' op has 2 layers with attention, but the plan is for 1}}
func.func @layers(%q: tensor<?x4x16xf32>, %k: tensor<?x2x16xf32>, %v: tensor<?x2x16xf32>)
    -> (tensor<?x4x16xf32> {gist.name = "y"}) {
  %a = gist.attention %q, %k, %v causal : tensor<?x4x16xf32>, tensor<?x2x16xf32>, tensor<?x2x16xf32>
  %b = gist.attention %a, %k, %v causal : tensor<?x4x16xf32>, tensor<?x2x16xf32>, tensor<?x2x16xf32>
  return %b : tensor<?x4x16xf32>
}
gist.plan {
  gist.plan_layer {
    gist.plan_select on keys tau [3.000000e-01]
  }
}

// -----

func.func @inherit(%q: tensor<?x4x16xf32>, %k: tensor<?x2x16xf32>, %v: tensor<?x2x16xf32>)
    -> (tensor<?x4x16xf32> {gist.name = "y"}) {
  // expected-error @+1 {{'gist.attention' op is layer 0, but no layer before it has a selection to inherit}}
  %a = gist.attention %q, %k, %v causal : tensor<?x4x16xf32>, tensor<?x2x16xf32>, tensor<?x2x16xf32>
  %b = gist.attention %a, %k, %v causal : tensor<?x4x16xf32>, tensor<?x2x16xf32>, tensor<?x2x16xf32>
  return %b : tensor<?x4x16xf32>
}
gist.plan {
  gist.plan_layer {
    gist.plan_select on keys tau [3.000000e-01] rule covering
  }
  gist.plan_layer {
  }
}

// -----

func.func @taus(%q: tensor<?x4x16xf32>, %k: tensor<?x2x16xf32>, %v: tensor<?x2x16xf32>)
    -> (tensor<?x4x16xf32> {gist.name = "y"}) {
  // expected-error @+1 {{'gist.attention' op is layer 0 with 2 KV heads, but the plan has 3 taus}}
  %a = gist.attention %q, %k, %v causal : tensor<?x4x16xf32>, tensor<?x2x16xf32>, tensor<?x2x16xf32>
  %b = gist.attention %a, %k, %v causal : tensor<?x4x16xf32>, tensor<?x2x16xf32>, tensor<?x2x16xf32>
  return %b : tensor<?x4x16xf32>
}
gist.plan {
  gist.plan_layer {
    gist.plan_select on keys tau [3.000000e-01, 2.000000e-01, 1.000000e-01]
  }
  gist.plan_layer {
  }
}

// -----

func.func @rows(%q: tensor<?x4x16xf32>, %k: tensor<?x2x16xf32>, %v: tensor<?x2x16xf32>)
    -> (tensor<?x4x16xf32> {gist.name = "y"}) {
  // expected-error @+1 {{'gist.attention' op has queries that are not projected from one tensor of rows}}
  %a = gist.attention %q, %k, %v causal : tensor<?x4x16xf32>, tensor<?x2x16xf32>, tensor<?x2x16xf32>
  %b = gist.attention %a, %k, %v causal : tensor<?x4x16xf32>, tensor<?x2x16xf32>, tensor<?x2x16xf32>
  return %b : tensor<?x4x16xf32>
}
gist.plan {
  gist.plan_layer {
    gist.plan_select on normalised tau [3.000000e-01]
  }
  gist.plan_layer {
  }
}

// -----

func.func @mask(%q: tensor<?x4x16xf32>, %k: tensor<?x2x16xf32>, %m: tensor<?x?xf32>) -> tensor<?x4x16xf32> {
  // expected-error @+1 {{'gist.attention' op has a window, a mask or offsets, which a plan of selections does not support}}
  %a = gist.attention %q, %k, %k mask(%m : tensor<?x?xf32>) : tensor<?x4x16xf32>, tensor<?x2x16xf32>, tensor<?x2x16xf32>
  %b = gist.attention %a, %k, %k causal : tensor<?x4x16xf32>, tensor<?x2x16xf32>, tensor<?x2x16xf32>
  return %b : tensor<?x4x16xf32>
}
gist.plan {
  gist.plan_layer {
    gist.plan_select on keys tau [3.000000e-01]
  }
  gist.plan_layer {
  }
}
