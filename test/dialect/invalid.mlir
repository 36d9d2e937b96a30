// Each numbered constraint of each op, by name, with the whole message.
// RUN: gist-opt %s -split-input-file -verify-diagnostics

//===----------------------------------------------------------------------===//
// !gist.selection
//===----------------------------------------------------------------------===//

// expected-error @+1 {{expects <tokens> or <heads x tokens>, got 3 dimensions}}
func.func private @selection_rank(!gist.selection<2x3x4>)

// -----

// expected-error @+1 {{expects a static, positive number of heads}}
func.func private @selection_heads(!gist.selection<?x4>)

// -----

//===----------------------------------------------------------------------===//
// gram_select
//===----------------------------------------------------------------------===//

func.func @gram_select_c1_tau(%x: tensor<8x64xf32>) {
  // expected-error @+1 {{'gist.gram_select' op expects tau in [0, 1), got 1.000000e+00}}
  %s = gist.gram_select %x, 1.0 : tensor<8x64xf32>
  return
}

// -----

func.func @gram_select_c1_tau_negative(%x: tensor<8x64xf32>) {
  // expected-error @+1 {{'gist.gram_select' op expects tau in [0, 1), got -1.250000e-01}}
  %s = gist.gram_select %x, -1.25e-1 : tensor<8x64xf32>
  return
}

// -----

func.func @gram_select_c1_tau_nan(%x: tensor<8x64xf32>) {
  // expected-error @+1 {{'gist.gram_select' op expects tau in [0, 1), got nan}}
  %s = gist.gram_select %x, 0x7FC00000 : tensor<8x64xf32>
  return
}

// -----

func.func @gram_select_c2_offsets(%x: tensor<8x64xf32>, %o: tensor<1xi32>) {
  // expected-error @+1 {{'gist.gram_select' op expects offsets with at least two entries, got 1}}
  %s = gist.gram_select %x, 3.0e-1 offsets(%o : tensor<1xi32>) : tensor<8x64xf32>
  return
}

// -----

func.func @gram_select_c3_heads(%x: tensor<8x?x64xf32>) {
  // expected-error @+1 {{expects a static number of heads, at least one, got 'tensor<8x?x64xf32>'}}
  %s = gist.gram_select %x, 3.0e-1 : tensor<8x?x64xf32>
  return
}

// -----

func.func @gram_select_c1_no_tau(%x: tensor<8x64xf32>) {
  // expected-error @+1 {{'gist.gram_select' op expects either tau or taus}}
  %s = "gist.gram_select"(%x) <{operandSegmentSizes = array<i32: 1, 0, 0, 0, 0>}> : (tensor<8x64xf32>) -> !gist.selection<8>
  return
}

// -----

func.func @gram_select_c4_taus(%x: tensor<8x3x64xf32>, %t: tensor<2xf32>) {
  // expected-error @+1 {{'gist.gram_select' op expects taus for 3 heads, got 'tensor<2xf32>'}}
  %s = gist.gram_select %x, taus(%t : tensor<2xf32>) : tensor<8x3x64xf32>
  return
}

// -----

func.func @gram_select_c4_tau_of_rows(%x: tensor<8x64xf32>, %t: tensor<2xf32>) {
  // expected-error @+1 {{'gist.gram_select' op expects taus for 1 head, got 'tensor<2xf32>'}}
  %s = gist.gram_select %x, taus(%t : tensor<2xf32>) : tensor<8x64xf32>
  return
}

// -----

func.func @gram_select_c5_rows(%x: tensor<8x64xf32>, %g: tensor<7x16xf32>, %r: tensor<8xf32>) {
  // expected-error @+1 {{'gist.gram_select' op expects coefficients and a norm for every row of 'tensor<8x64xf32>', got 'tensor<7x16xf32>' and 'tensor<8xf32>'}}
  %s = gist.gram_select %x, 3.0e-1 subspace(%g, %r : tensor<7x16xf32>, tensor<8xf32>) : tensor<8x64xf32>
  return
}

// -----

func.func @gram_select_rank(%x: tensor<8xf32>) {
  // expected-error @+1 {{expects tokens to be a tensor of rank 2 to 3, got 'tensor<8xf32>'}}
  %s = gist.gram_select %x, 3.0e-1 : tensor<8xf32>
  return
}

// -----

func.func @gram_select_result(%x: tensor<8x64xf32>) {
  // expected-error @+2 {{'gist.gram_select' op inferred type(s) '!gist.selection<8>' are incompatible with return type(s) of operation '!gist.selection<9>'}}
  // expected-error @+1 {{'gist.gram_select' op failed to infer returned types}}
  %s = "gist.gram_select"(%x) <{operandSegmentSizes = array<i32: 1, 0, 0, 0, 0>, tau = 3.0e-1 : f32}> : (tensor<8x64xf32>) -> !gist.selection<9>
  return
}

// -----

//===----------------------------------------------------------------------===//
// cascade_update
//===----------------------------------------------------------------------===//

func.func @cascade_update_c1_tau(%x: tensor<8x64xf32>, %s: !gist.selection<8>) {
  // expected-error @+1 {{'gist.cascade_update' op expects tau in [0, 1), got 2.000000e+00}}
  %n:3 = gist.cascade_update %x, %s, 2.0 : tensor<8x64xf32>, !gist.selection<8>
  return
}

// -----

func.func @cascade_update_c2_offsets(%x: tensor<8x64xf32>, %s: !gist.selection<8>, %o: tensor<0xi32>) {
  // expected-error @+1 {{'gist.cascade_update' op expects offsets with at least two entries, got 0}}
  %n:3 = gist.cascade_update %x, %s, 3.0e-1 offsets(%o : tensor<0xi32>) : tensor<8x64xf32>, !gist.selection<8>
  return
}

// -----

func.func @cascade_update_c5_taus(%x: tensor<8x3x64xf32>, %s: !gist.selection<3x8>, %t: tensor<1xf32>) {
  // expected-error @+1 {{'gist.cascade_update' op expects taus for 3 heads, got 'tensor<1xf32>'}}
  %n:3 = gist.cascade_update %x, %s, taus(%t : tensor<1xf32>) : tensor<8x3x64xf32>, !gist.selection<3x8>
  return
}

// -----

func.func @cascade_update_c6_norms(%x: tensor<8x3x64xf32>, %s: !gist.selection<3x8>, %g: tensor<8x3x16xf32>, %r: tensor<8x2xf32>) {
  // expected-error @+1 {{'gist.cascade_update' op expects coefficients and a norm for every row of 'tensor<8x3x64xf32>', got 'tensor<8x3x16xf32>' and 'tensor<8x2xf32>'}}
  %n:3 = gist.cascade_update %x, %s, 3.0e-1 subspace(%g, %r : tensor<8x3x16xf32>, tensor<8x2xf32>) : tensor<8x3x64xf32>, !gist.selection<3x8>
  return
}

// -----

func.func @cascade_update_c3_tokens(%x: tensor<8x64xf32>, %s: !gist.selection<9>) {
  // expected-error @+1 {{'gist.cascade_update' op expects to inherit a selection over its tokens, '!gist.selection<8>', got '!gist.selection<9>'}}
  %n:3 = gist.cascade_update %x, %s, 3.0e-1 : tensor<8x64xf32>, !gist.selection<9>
  return
}

// -----

func.func @cascade_update_c3_heads(%x: tensor<8x3x64xf32>, %s: !gist.selection<8>) {
  // expected-error @+1 {{'gist.cascade_update' op expects to inherit a selection over its tokens, '!gist.selection<3x8>', got '!gist.selection<8>'}}
  %n:3 = gist.cascade_update %x, %s, 3.0e-1 : tensor<8x3x64xf32>, !gist.selection<8>
  return
}

// -----

func.func @cascade_update_c4_paper_causal(%x: tensor<8x64xf32>, %s: !gist.selection<8>) {
  // expected-error @+1 {{'gist.cascade_update' op expects rule paper without causal: it compares tokens with later representatives}}
  %n:3 = gist.cascade_update %x, %s, 3.0e-1 rule paper causal : tensor<8x64xf32>, !gist.selection<8>
  return
}

// -----

//===----------------------------------------------------------------------===//
// keep_all, pack_selection, unpack_selection
//===----------------------------------------------------------------------===//

func.func @keep_all_c1_missing_size() {
  // expected-error @+1 {{'gist.keep_all' op expects a size operand for a dynamic number of tokens, as in '!gist.selection<?>'}}
  %s = gist.keep_all : !gist.selection<?>
  return
}

// -----

func.func @keep_all_c1_needless_size(%t: index) {
  // expected-error @+1 {{'gist.keep_all' op expects no size operand for a static number of tokens, as in '!gist.selection<8>'}}
  %s = gist.keep_all(%t) : !gist.selection<8>
  return
}

// -----

func.func @pack_selection_c1_shapes(%a: tensor<8xi32>, %n: tensor<i32>, %b: tensor<9xi32>) {
  // expected-error @+1 {{'gist.pack_selection' op expects nearest of the type of ids, 'tensor<8xi32>', got 'tensor<9xi32>'}}
  %s = gist.pack_selection %a, %n, %b, %a : tensor<8xi32>, tensor<i32>, tensor<9xi32>, tensor<8xi32>
  return
}

// -----

func.func @pack_selection_c1_weight(%a: tensor<8xi32>, %n: tensor<i32>, %b: tensor<?xi32>) {
  // expected-error @+1 {{'gist.pack_selection' op expects weight of the type of ids, 'tensor<8xi32>', got 'tensor<?xi32>'}}
  %s = gist.pack_selection %a, %n, %a, %b : tensor<8xi32>, tensor<i32>, tensor<8xi32>, tensor<?xi32>
  return
}

// -----

func.func @pack_selection_c1_heads(%a: tensor<?x8xi32>, %n: tensor<?xi32>) {
  // expected-error @+1 {{expects ids with a static number of heads, at least one, got 'tensor<?x8xi32>'}}
  %s = gist.pack_selection %a, %n, %a, %a : tensor<?x8xi32>, tensor<?xi32>, tensor<?x8xi32>, tensor<?x8xi32>
  return
}

// -----

func.func @pack_selection_c2_count(%a: tensor<3x8xi32>, %n: tensor<i32>) {
  // expected-error @+1 {{'gist.pack_selection' op expects one count for each selection of '!gist.selection<3x8>', got 'tensor<i32>'}}
  %s = gist.pack_selection %a, %n, %a, %a : tensor<3x8xi32>, tensor<i32>, tensor<3x8xi32>, tensor<3x8xi32>
  return
}

// -----

func.func @unpack_selection_operand(%a: tensor<8xi32>) {
  // expected-error @+1 {{'gist.unpack_selection' op operand #0 must be which tokens represent which, but got 'tensor<8xi32>'}}
  %s:4 = "gist.unpack_selection"(%a) : (tensor<8xi32>) -> (tensor<8xi32>, tensor<i32>, tensor<8xi32>, tensor<8xi32>)
  return
}

// -----

//===----------------------------------------------------------------------===//
// attention
//===----------------------------------------------------------------------===//

func.func @attention_c1_kv(%q: tensor<7x6x64xf32>, %k: tensor<8x3x64xf32>, %v: tensor<9x3x64xf32>) {
  // expected-error @+1 {{'gist.attention' op expects keys and values of the same tokens and heads, got 'tensor<8x3x64xf32>' and 'tensor<9x3x64xf32>'}}
  %o = gist.attention %q, %k, %v : tensor<7x6x64xf32>, tensor<8x3x64xf32>, tensor<9x3x64xf32>
  return
}

// -----

func.func @attention_c2_groups(%q: tensor<7x8x64xf32>, %k: tensor<8x3x64xf32>) {
  // expected-error @+1 {{'gist.attention' op expects the query heads to be a multiple of the KV heads, got 8 and 3}}
  %o = gist.attention %q, %k, %k : tensor<7x8x64xf32>, tensor<8x3x64xf32>, tensor<8x3x64xf32>
  return
}

// -----

func.func @attention_c2_no_kv_heads(%q: tensor<7x8x64xf32>, %k: tensor<8x0x64xf32>) {
  // expected-error @+1 {{'gist.attention' op expects the query heads to be a multiple of the KV heads, got 8 and 0}}
  %o = gist.attention %q, %k, %k : tensor<7x8x64xf32>, tensor<8x0x64xf32>, tensor<8x0x64xf32>
  return
}

// -----

func.func @attention_c3_head_size(%q: tensor<7x6x32xf32>, %k: tensor<8x3x64xf32>) {
  // expected-error @+1 {{'gist.attention' op expects queries and keys of one head size and element type, got 'tensor<7x6x32xf32>' and 'tensor<8x3x64xf32>'}}
  %o = gist.attention %q, %k, %k : tensor<7x6x32xf32>, tensor<8x3x64xf32>, tensor<8x3x64xf32>
  return
}

// -----

func.func @attention_c4_more_queries(%q: tensor<9x6x64xf32>, %k: tensor<8x3x64xf32>) {
  // expected-error @+1 {{'gist.attention' op expects at least as many keys as queries where causal, got 8 and 9}}
  %o = gist.attention %q, %k, %k causal : tensor<9x6x64xf32>, tensor<8x3x64xf32>, tensor<8x3x64xf32>
  return
}

// -----

func.func @attention_c5_scale(%q: tensor<7x6x64xf32>, %k: tensor<8x3x64xf32>) {
  // expected-error @+1 {{'gist.attention' op expects a finite, positive scale, got 0.000000e+00}}
  %o = gist.attention %q, %k, %k scale 0.0 : tensor<7x6x64xf32>, tensor<8x3x64xf32>, tensor<8x3x64xf32>
  return
}

// -----

func.func @attention_c6_window(%q: tensor<7x6x64xf32>, %k: tensor<8x3x64xf32>) {
  // expected-error @+1 {{'gist.attention' op expects a positive window, with causal, got -1}}
  %o = gist.attention %q, %k, %k causal window -1 : tensor<7x6x64xf32>, tensor<8x3x64xf32>, tensor<8x3x64xf32>
  return
}

// -----

func.func @attention_c6_window_not_causal(%q: tensor<7x6x64xf32>, %k: tensor<8x3x64xf32>) {
  // expected-error @+1 {{'gist.attention' op expects a positive window, with causal, got 4 without causal}}
  %o = gist.attention %q, %k, %k window 4 : tensor<7x6x64xf32>, tensor<8x3x64xf32>, tensor<8x3x64xf32>
  return
}

// -----

func.func @attention_c6_sinks(%q: tensor<7x6x64xf32>, %k: tensor<8x3x64xf32>) {
  // expected-error @+1 {{'gist.attention' op expects sinks that are not negative, with a window, got 4 without window}}
  %o = gist.attention %q, %k, %k causal sinks 4 : tensor<7x6x64xf32>, tensor<8x3x64xf32>, tensor<8x3x64xf32>
  return
}

// -----

func.func @attention_c7_mask(%q: tensor<7x6x64xf32>, %k: tensor<8x3x64xf32>, %m: tensor<8x7xf32>) {
  // expected-error @+1 {{'gist.attention' op expects a mask of queries x keys, 7 x 8, got 'tensor<8x7xf32>'}}
  %o = gist.attention %q, %k, %k mask(%m : tensor<8x7xf32>) : tensor<7x6x64xf32>, tensor<8x3x64xf32>, tensor<8x3x64xf32>
  return
}

// -----

func.func @attention_c8_offsets_lengths(%q: tensor<7x6x64xf32>, %k: tensor<8x3x64xf32>, %a: tensor<3xi32>, %b: tensor<4xi32>) {
  // expected-error @+1 {{'gist.attention' op expects offsets and key_offsets together, of one length}}
  %o = gist.attention %q, %k, %k offsets(%a, %b : tensor<3xi32>, tensor<4xi32>) : tensor<7x6x64xf32>, tensor<8x3x64xf32>, tensor<8x3x64xf32>
  return
}

// -----

func.func @attention_c8_offsets_alone(%q: tensor<7x6x64xf32>, %k: tensor<8x3x64xf32>, %a: tensor<3xi32>) {
  // expected-error @+1 {{'gist.attention' op expects offsets and key_offsets together, of one length}}
  %o = "gist.attention"(%q, %k, %k, %a) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 1, 0>}> : (tensor<7x6x64xf32>, tensor<8x3x64xf32>, tensor<8x3x64xf32>, tensor<3xi32>) -> tensor<7x6x64xf32>
  return
}

// -----

func.func @attention_c8_offsets_short(%q: tensor<7x6x64xf32>, %k: tensor<8x3x64xf32>, %a: tensor<1xi32>) {
  // expected-error @+1 {{'gist.attention' op expects offsets with at least two entries, got 1}}
  %o = gist.attention %q, %k, %k offsets(%a, %a : tensor<1xi32>, tensor<1xi32>) : tensor<7x6x64xf32>, tensor<8x3x64xf32>, tensor<8x3x64xf32>
  return
}

// -----

//===----------------------------------------------------------------------===//
// attend
//===----------------------------------------------------------------------===//

func.func @attend_c1_kv(%q: tensor<8x6x64xf32>, %k: tensor<8x3x64xf32>, %v: tensor<8x2x64xf32>, %s: !gist.selection<8>) {
  // expected-error @+1 {{'gist.attend' op expects keys and values of the same tokens and heads, got 'tensor<8x3x64xf32>' and 'tensor<8x2x64xf32>'}}
  %o = gist.attend %q, %k, %v on %s mode copy : tensor<8x6x64xf32>, tensor<8x3x64xf32>, tensor<8x2x64xf32>, !gist.selection<8>
  return
}

// -----

func.func @attend_c2_groups(%q: tensor<8x5x64xf32>, %k: tensor<8x3x64xf32>, %s: !gist.selection<8>) {
  // expected-error @+1 {{'gist.attend' op expects the query heads to be a multiple of the KV heads, got 5 and 3}}
  %o = gist.attend %q, %k, %k on %s mode copy : tensor<8x5x64xf32>, tensor<8x3x64xf32>, tensor<8x3x64xf32>, !gist.selection<8>
  return
}

// -----

func.func @attend_c3_element(%q: tensor<8x6x64xf32>, %k: tensor<8x3x64xf16>, %s: !gist.selection<8>) {
  // expected-error @+1 {{'gist.attend' op expects queries and keys of one head size and element type, got 'tensor<8x6x64xf32>' and 'tensor<8x3x64xf16>'}}
  %o = gist.attend %q, %k, %k on %s mode copy : tensor<8x6x64xf32>, tensor<8x3x64xf16>, tensor<8x3x64xf16>, !gist.selection<8>
  return
}

// -----

func.func @attend_c4_tokens(%q: tensor<7x6x64xf32>, %k: tensor<?x3x64xf32>, %s: !gist.selection<8>) {
  // expected-error @+1 {{'gist.attend' op expects queries, keys and selection over the same tokens, got 7, ? and 8}}
  %o = gist.attend %q, %k, %k on %s mode copy : tensor<7x6x64xf32>, tensor<?x3x64xf32>, tensor<?x3x64xf32>, !gist.selection<8>
  return
}

// -----

func.func @attend_c5_selection_heads(%q: tensor<8x6x64xf32>, %k: tensor<8x3x64xf32>, %s: !gist.selection<6x8>) {
  // expected-error @+1 {{'gist.attend' op expects one selection per KV head, 3, got 6}}
  %o = gist.attend %q, %k, %k on %s mode copy : tensor<8x6x64xf32>, tensor<8x3x64xf32>, tensor<8x3x64xf32>, !gist.selection<6x8>
  return
}

// -----

func.func @attend_c6_scale(%q: tensor<8x6x64xf32>, %k: tensor<8x3x64xf32>, %s: !gist.selection<8>) {
  // expected-error @+1 {{'gist.attend' op expects a finite, positive scale, got INF}}
  %o = gist.attend %q, %k, %k on %s mode copy scale 0x7F800000 : tensor<8x6x64xf32>, tensor<8x3x64xf32>, tensor<8x3x64xf32>, !gist.selection<8>
  return
}

// -----

func.func @attend_c7_keys_without_window(%q: tensor<8x6x64xf32>, %k: tensor<8x3x64xf32>, %s: !gist.selection<8>) {
  // expected-error @+1 {{'gist.attend' op expects window >= 0 and block >= 1 in causal mode keys, and neither elsewhere}}
  %o = gist.attend %q, %k, %k on %s mode keys causal : tensor<8x6x64xf32>, tensor<8x3x64xf32>, tensor<8x3x64xf32>, !gist.selection<8>
  return
}

// -----

func.func @attend_c7_block(%q: tensor<8x6x64xf32>, %k: tensor<8x3x64xf32>, %s: !gist.selection<8>) {
  // expected-error @+1 {{'gist.attend' op expects window >= 0 and block >= 1 in causal mode keys, and neither elsewhere}}
  %o = gist.attend %q, %k, %k on %s mode keys causal window 4 block 0 : tensor<8x6x64xf32>, tensor<8x3x64xf32>, tensor<8x3x64xf32>, !gist.selection<8>
  return
}

// -----

func.func @attend_c7_copy_with_window(%q: tensor<8x6x64xf32>, %k: tensor<8x3x64xf32>, %s: !gist.selection<8>) {
  // expected-error @+1 {{'gist.attend' op expects window >= 0 and block >= 1 in causal mode keys, and neither elsewhere}}
  %o = gist.attend %q, %k, %k on %s mode copy causal window 4 block 2 : tensor<8x6x64xf32>, tensor<8x3x64xf32>, tensor<8x3x64xf32>, !gist.selection<8>
  return
}

// -----

func.func @attend_c8_log_count(%q: tensor<8x6x64xf32>, %k: tensor<8x3x64xf32>, %s: !gist.selection<8>) {
  // expected-error @+1 {{'gist.attend' op expects log_count in mode copy only: mode keys always counts}}
  %o = gist.attend %q, %k, %k on %s mode keys log_count : tensor<8x6x64xf32>, tensor<8x3x64xf32>, tensor<8x3x64xf32>, !gist.selection<8>
  return
}

// -----

func.func @attend_c8_merge(%q: tensor<8x6x64xf32>, %k: tensor<8x3x64xf32>, %s: !gist.selection<8>) {
  // expected-error @+1 {{'gist.attend' op expects merge in mode keys only}}
  %o = gist.attend %q, %k, %k on %s mode copy merge mean : tensor<8x6x64xf32>, tensor<8x3x64xf32>, tensor<8x3x64xf32>, !gist.selection<8>
  return
}

// -----

func.func @attend_c9_offsets(%q: tensor<8x6x64xf32>, %k: tensor<8x3x64xf32>, %s: !gist.selection<8>, %a: tensor<1xi32>) {
  // expected-error @+1 {{'gist.attend' op expects offsets with at least two entries, got 1}}
  %o = gist.attend %q, %k, %k on %s mode copy offsets(%a : tensor<1xi32>) : tensor<8x6x64xf32>, tensor<8x3x64xf32>, tensor<8x3x64xf32>, !gist.selection<8>
  return
}

// -----

//===----------------------------------------------------------------------===//
// gated_projection
//===----------------------------------------------------------------------===//

func.func @gated_projection_c1_basis(%x: tensor<8x96xf32>, %v: tensor<95x16xf32>, %w: tensor<40x96xf32>, %m: tensor<40x16xf32>) {
  // expected-error @+1 {{'gist.gated_projection' op expects as many basis rows as input columns, 96, got 95}}
  %y, %l = gist.gated_projection %x, %v, 1.0e-1 weights(%w : tensor<40x96xf32>) images(%m : tensor<40x16xf32>) : tensor<8x96xf32>, tensor<95x16xf32>
  return
}

// -----

func.func @gated_projection_c2_columns(%x: tensor<8x96xf32>, %v: tensor<96x97xf32>, %w: tensor<40x96xf32>, %m: tensor<40x97xf32>) {
  // expected-error @+1 {{'gist.gated_projection' op expects a basis of at most 96 columns, got 97}}
  %y, %l = gist.gated_projection %x, %v, 1.0e-1 weights(%w : tensor<40x96xf32>) images(%m : tensor<40x97xf32>) : tensor<8x96xf32>, tensor<96x97xf32>
  return
}

// -----

func.func @gated_projection_c3_counts(%x: tensor<8x96xf32>, %v: tensor<96x16xf32>, %w: tensor<40x96xf32>, %m: tensor<40x16xf32>) {
  // expected-error @+1 {{'gist.gated_projection' op expects at least one weight, an image for each, and biases and low weights for all or none, got 1, 2, 0 and 0}}
  %y, %l = gist.gated_projection %x, %v, 1.0e-1 weights(%w : tensor<40x96xf32>) images(%m, %m : tensor<40x16xf32>, tensor<40x16xf32>) : tensor<8x96xf32>, tensor<96x16xf32>
  return
}

// -----

func.func @gated_projection_c3_no_weight(%x: tensor<8x96xf32>, %v: tensor<96x16xf32>) {
  // expected-error @+1 {{'gist.gated_projection' op expects at least one weight, an image for each, and biases and low weights for all or none, got 0, 0, 0 and 0}}
  %l = "gist.gated_projection"(%x, %v) <{epsilon = 1.0e-1 : f32, operandSegmentSizes = array<i32: 1, 1, 0, 0, 0, 0>}> : (tensor<8x96xf32>, tensor<96x16xf32>) -> tensor<8xi8>
  return
}

// -----

func.func @gated_projection_c4_weight(%x: tensor<8x96xf32>, %v: tensor<96x16xf32>, %w: tensor<40x90xf32>, %m: tensor<40x16xf32>) {
  // expected-error @+1 {{'gist.gated_projection' op expects a weight of 40 x 96, got 'tensor<40x90xf32>'}}
  %y, %l = gist.gated_projection %x, %v, 1.0e-1 weights(%w : tensor<40x90xf32>) images(%m : tensor<40x16xf32>) : tensor<8x96xf32>, tensor<96x16xf32>
  return
}

// -----

func.func @gated_projection_c4_image(%x: tensor<8x96xf32>, %v: tensor<96x16xf32>, %w: tensor<40x96xf32>, %m: tensor<16x40xf32>) {
  // expected-error @+1 {{'gist.gated_projection' op expects an image of 40 x 16, got 'tensor<16x40xf32>'}}
  %y, %l = gist.gated_projection %x, %v, 1.0e-1 weights(%w : tensor<40x96xf32>) images(%m : tensor<16x40xf32>) : tensor<8x96xf32>, tensor<96x16xf32>
  return
}

// -----

func.func @gated_projection_c4_bias(%x: tensor<8x96xf32>, %v: tensor<96x16xf32>, %w: tensor<40x96xf32>, %m: tensor<40x16xf32>, %b: tensor<96xf32>) {
  // expected-error @+1 {{'gist.gated_projection' op expects a bias of 40, got 'tensor<96xf32>'}}
  %y, %l = gist.gated_projection %x, %v, 1.0e-1 weights(%w : tensor<40x96xf32>) images(%m : tensor<40x16xf32>) biases(%b : tensor<96xf32>) : tensor<8x96xf32>, tensor<96x16xf32>
  return
}

// -----

func.func @gated_projection_c4_low(%x: tensor<8x96xf32>, %v: tensor<96x16xf32>, %w: tensor<40x96xf32>, %m: tensor<40x16xf32>, %b: tensor<41x96xf32>) {
  // expected-error @+1 {{'gist.gated_projection' op expects a low weight of 40 x 96, got 'tensor<41x96xf32>'}}
  %y, %l = gist.gated_projection %x, %v, 1.0e-1 weights(%w : tensor<40x96xf32>) images(%m : tensor<40x16xf32>) low 1.0e-2 (%b : tensor<41x96xf32>) : tensor<8x96xf32>, tensor<96x16xf32>
  return
}

// -----

func.func @gated_projection_c5_epsilon(%x: tensor<8x96xf32>, %v: tensor<96x16xf32>, %w: tensor<40x96xf32>, %m: tensor<40x16xf32>) {
  // expected-error @+1 {{'gist.gated_projection' op expects a finite epsilon >= 0, got -1.000000e+00}}
  %y, %l = gist.gated_projection %x, %v, -1.0 weights(%w : tensor<40x96xf32>) images(%m : tensor<40x16xf32>) : tensor<8x96xf32>, tensor<96x16xf32>
  return
}

// -----

func.func @gated_projection_c6_order(%x: tensor<8x96xf32>, %v: tensor<96x16xf32>, %w: tensor<40x96xf32>, %m: tensor<40x16xf32>) {
  // expected-error @+1 {{'gist.gated_projection' op expects 0 <= epsilon_low < epsilon, got 5.000000e-01 and 2.500000e-01}}
  %y, %l = gist.gated_projection %x, %v, 2.5e-1 weights(%w : tensor<40x96xf32>) images(%m : tensor<40x16xf32>) low 5.0e-1 (%w : tensor<40x96xf32>) : tensor<8x96xf32>, tensor<96x16xf32>
  return
}

// -----

func.func @gated_projection_c6_together(%x: tensor<8x96xf32>, %v: tensor<96x16xf32>, %w: tensor<40x96xf32>, %m: tensor<40x16xf32>) {
  // expected-error @+1 {{'gist.gated_projection' op expects epsilon_low and low weights together}}
  %y:2 = "gist.gated_projection"(%x, %v, %w, %m) <{epsilon = 2.5e-1 : f32, epsilon_low = 1.25e-1 : f32, operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0>}> : (tensor<8x96xf32>, tensor<96x16xf32>, tensor<40x96xf32>, tensor<40x16xf32>) -> (tensor<8x40xf32>, tensor<8xi8>)
  return
}

// -----

//===----------------------------------------------------------------------===//
// weight, dequantize
//===----------------------------------------------------------------------===//

func.func @weight_c1_name() {
  // expected-error @+1 {{'gist.weight' op expects a name and a static shape, got "" and 'tensor<4xf32>'}}
  %w = gist.weight "" : tensor<4xf32>
  return
}

// -----

func.func @weight_c1_shape() {
  // expected-error @+1 {{'gist.weight' op expects a name and a static shape, got "w" and 'tensor<?xf32>'}}
  %w = gist.weight "w" : tensor<?xf32>
  return
}

// -----

func.func @dequantize_c1_bytes(%b: tensor<192x18x18xi8>) {
  // expected-error @+1 {{'gist.dequantize' op expects blocks of 20 bytes for q4_1, got 18}}
  %f = gist.dequantize %b format q4_1 : tensor<192x18x18xi8>
  return
}

// -----

func.func @dequantize_c2_blocks(%b: tensor<192x?x20xi8>) {
  // expected-error @+1 {{expects a static number of blocks, got 'tensor<192x?x20xi8>'}}
  %f = gist.dequantize %b format q4_1 : tensor<192x?x20xi8>
  return
}

// -----

//===----------------------------------------------------------------------===//
// sample
//===----------------------------------------------------------------------===//

func.func @sample_c1_rows(%x: tensor<2x7xf32>, %s: tensor<3x5xi64>) {
  // expected-error @+1 {{'gist.sample' op expects 5 settings for each row of 'tensor<2x7xf32>', got 'tensor<3x5xi64>'}}
  %t = gist.sample %x by %s : tensor<2x7xf32>, tensor<3x5xi64>
  return
}

// -----

func.func @sample_c1_settings(%x: tensor<2x7xf32>, %s: tensor<2x4xi64>) {
  // expected-error @+1 {{'gist.sample' op expects 5 settings for each row of 'tensor<2x7xf32>', got 'tensor<2x4xi64>'}}
  %t = gist.sample %x by %s : tensor<2x7xf32>, tensor<2x4xi64>
  return
}

// -----

func.func @sample_c2_dynamic(%x: tensor<2x?xf32>, %s: tensor<2x5xi64>) {
  // expected-error @+1 {{'gist.sample' op expects a static number of tokens from 1 to 16777216, got ?}}
  %t = gist.sample %x by %s : tensor<2x?xf32>, tensor<2x5xi64>
  return
}

// -----

func.func @sample_c2_none(%x: tensor<2x0xf32>, %s: tensor<2x5xi64>) {
  // expected-error @+1 {{'gist.sample' op expects a static number of tokens from 1 to 16777216, got 0}}
  %t = gist.sample %x by %s : tensor<2x0xf32>, tensor<2x5xi64>
  return
}

// -----

func.func @select_no_heads(%t: tensor<100x0x33xf16>) {
  // expected-error @+1 {{expects a static number of heads, at least one, got 'tensor<100x0x33xf16>'}}
  %s = gist.gram_select %t, 3.0e-1 : tensor<100x0x33xf16>
  return
}

// -----

//===----------------------------------------------------------------------===//
// Ranks
//===----------------------------------------------------------------------===//

func.func @all_gather_c1_none(%x: tensor<?x4xf32>) {
  // expected-error @+1 {{'gist.all_gather' op expects a number of columns for each rank, got none}}
  %y = gist.all_gather %x columns [] : tensor<?x4xf32>
  return
}

// -----

func.func @all_gather_c2_columns(%x: tensor<?x4xf32>) {
  // expected-error @+1 {{'gist.all_gather' op expects as many columns as one of the ranks has, got 4}}
  %y = gist.all_gather %x columns [3, 5] : tensor<?x4xf32>
  return
}

// -----

func.func @hand_on_c1_itself(%x: tensor<?x4xf32>) {
  // expected-error @+1 {{'gist.hand_on' op expects two different ranks, got 1 and 1}}
  %y = gist.hand_on %x from 1 to 1 : tensor<?x4xf32>
  return
}

// -----

// expected-error @+1 {{'gist.weight_part' op expects axis 0 or 1 and a range that is not empty, got axis 2, offset 0 and size 8}}
gist.weight_part @part of "whole" axis 2 offset 0 size 8
