// RUN: gist-opt %s | gist-opt | FileCheck %s

// A module without functions: -gist-plan has nothing to apply the plan to.

// CHECK: gist.plan block 128 bases "b.safetensors" {
gist.plan block 128 bases "b.safetensors" {
  // CHECK-NEXT: gist.plan_layer {
  gist.plan_layer {
    // CHECK-NEXT: gist.plan_head dense
    gist.plan_head dense
    // CHECK-NEXT: gist.plan_head window 64 theta 9.000000e-01 room 2.500000e-01
    gist.plan_head window 64 theta 9.0e-1 room 2.5e-1
    // CHECK-NEXT: gist.plan_linear qkv k 8 epsilon 1.000000e-01
    gist.plan_linear qkv k 8 epsilon 1.0e-1
    // CHECK-NEXT: gist.plan_linear down bits 3 k 4 epsilon_low 1.000000e-01 epsilon 5.000000e-01
    gist.plan_linear down bits 3 k 4 epsilon_low 1.0e-1 epsilon 5.0e-1
  }
  gist.plan_layer {
    // CHECK: gist.plan_head window 8 sinks 2
    gist.plan_head window 8 sinks 2
    // A third has no short text: it comes back as it was.
    // CHECK-NEXT: gist.plan_head window 8 random 0.33333333333333331
    gist.plan_head window 8 random 0.33333333333333331
  }
  // CHECK: gist.plan_linear head bits 4 compensated exact_rows 16 exact_bits 8
  gist.plan_linear head bits 4 compensated exact_rows 16 exact_bits 8
}

// CHECK: module
module {
  // CHECK: gist.plan trace {
  gist.plan trace {
    gist.plan_layer {
      // CHECK: gist.plan_select on keys tau [3.000000e-01, 0.000000e+00] similarity signed
      gist.plan_select on keys tau [3.0e-1, 0.0] similarity signed
      // CHECK: gist.plan_attend keys window 128 block 64 merge representative
      gist.plan_attend keys window 128 block 64 merge representative
    }
    gist.plan_layer {
      // CHECK: gist.plan_select on normalised tau [2.500000e-01] rule covering k 8
      gist.plan_select on normalised tau [2.5e-1] rule covering k 8
      // CHECK: gist.plan_attend copy log_count
      gist.plan_attend copy log_count
    }
    // CHECK: gist.plan_layer {
    // CHECK-NEXT: }
    gist.plan_layer {
    }
  }
}

// CHECK: gist.constant_weight @plan.0.taus dense<[3.000000e-01, 0.000000e+00]> : tensor<2xf32>
gist.constant_weight @plan.0.taus dense<[3.0e-1, 0.0]> : tensor<2xf32>
// CHECK: gist.made_weight @w.q3_1 rounded of "w" bits 3 compensated in "b.safetensors" : tensor<16x1x16xi8>
gist.made_weight @w.q3_1 rounded of "w" bits 3 compensated in "b.safetensors" : tensor<16x1x16xi8>
// CHECK: gist.made_weight @w.image32 image of "w" basis "0.qkv.basis" k 32 in "b.safetensors" : tensor<16x1x34xi8>
gist.made_weight @w.image32 image of "w" basis "0.qkv.basis" k 32 in "b.safetensors" : tensor<16x1x34xi8>
// CHECK: gist.head_table @plan.heads context 32 block 4 {
gist.head_table @plan.heads context 32 block 4 {
  gist.plan_layer {
    gist.plan_head dense
  }
}
