// Attention of the layers that the plan names reads the selection of its layer,
// or the last one before it; other layers stay.
// RUN: gist-opt %s -gist-attend-on-representatives -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: func.func @attend(
// CHECK-SAME: %[[Q:[^:]+]]: tensor<?x4x16xf32>, %[[K:[^:]+]]: tensor<?x2x16xf32>, %[[V:[^:]+]]: tensor<?x2x16xf32>
// CHECK: %[[A:.+]] = gist.attention %[[Q]], %[[K]], %[[V]] causal
// CHECK: %[[S:.+]] = gist.gram_select
// CHECK: %[[B:.+]] = gist.attend %[[A]], %[[K]], %[[V]] on %[[S]] mode keys causal window 8 block 4
// CHECK: gist.attend %[[B]], %[[K]], %[[V]] on %[[S]] mode copy log_count causal
// CHECK-NOT: gist.attention
func.func @attend(%q: tensor<?x4x16xf32>, %k: tensor<?x2x16xf32>, %v: tensor<?x2x16xf32>)
    -> (tensor<?x4x16xf32> {gist.name = "y"}) {
  %a = gist.attention %q, %k, %v causal : tensor<?x4x16xf32>, tensor<?x2x16xf32>, tensor<?x2x16xf32>
  %s = gist.gram_select %k, 3.0e-1 causal {gist.layer = 1 : i64} : tensor<?x2x16xf32>
  %c = gist.attention %a, %k, %v causal : tensor<?x4x16xf32>, tensor<?x2x16xf32>, tensor<?x2x16xf32>
  %b = gist.attention %c, %k, %v causal : tensor<?x4x16xf32>, tensor<?x2x16xf32>, tensor<?x2x16xf32>
  return %b : tensor<?x4x16xf32>
}
gist.plan {
  gist.plan_layer {
  }
  gist.plan_layer {
    gist.plan_attend keys window 8 block 4
  }
  gist.plan_layer {
    gist.plan_attend copy log_count
  }
}

// -----

func.func @none(%q: tensor<?x4x16xf32>, %k: tensor<?x2x16xf32>, %v: tensor<?x2x16xf32>)
    -> (tensor<?x4x16xf32> {gist.name = "y"}) {
  // expected-error @+1 {{'gist.attention' op is layer 0, but neither it nor a layer before it has a selection}}
  %a = gist.attention %q, %k, %v causal : tensor<?x4x16xf32>, tensor<?x2x16xf32>, tensor<?x2x16xf32>
  %s = gist.gram_select %k, 3.0e-1 causal {gist.layer = 1 : i64} : tensor<?x2x16xf32>
  %c = gist.attention %a, %k, %v causal : tensor<?x4x16xf32>, tensor<?x2x16xf32>, tensor<?x2x16xf32>
  %b = gist.attention %c, %k, %v causal : tensor<?x4x16xf32>, tensor<?x2x16xf32>, tensor<?x2x16xf32>
  return %b : tensor<?x4x16xf32>
}
gist.plan {
  gist.plan_layer {
    gist.plan_attend copy
  }
  gist.plan_layer {
  }
  gist.plan_layer {
  }
}

// -----

func.func @window(%q: tensor<?x4x16xf32>, %k: tensor<?x2x16xf32>, %v: tensor<?x2x16xf32>)
    -> (tensor<?x4x16xf32> {gist.name = "y"}) {
  %a = gist.attention %q, %k, %v causal : tensor<?x4x16xf32>, tensor<?x2x16xf32>, tensor<?x2x16xf32>
  %s = gist.gram_select %k, 3.0e-1 causal {gist.layer = 1 : i64} : tensor<?x2x16xf32>
  // expected-error @+1 {{'gist.attention' op is causal: mode keys needs a window and a block}}
  %c = gist.attention %a, %k, %v causal : tensor<?x4x16xf32>, tensor<?x2x16xf32>, tensor<?x2x16xf32>
  %b = gist.attention %c, %k, %v causal : tensor<?x4x16xf32>, tensor<?x2x16xf32>, tensor<?x2x16xf32>
  return %b : tensor<?x4x16xf32>
}
gist.plan {
  gist.plan_layer {
  }
  gist.plan_layer {
    gist.plan_attend keys
  }
  gist.plan_layer {
  }
}
