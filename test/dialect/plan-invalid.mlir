// RUN: gist-opt %s -split-input-file -verify-diagnostics

// expected-error @+1 {{'gist.plan' op expects to be the only plan of the module}}
gist.plan {
}
// expected-error @+1 {{'gist.plan' op expects to be the only plan of the module}}
gist.plan {
}

// -----

gist.plan {
  // expected-error @+1 {{'gist.plan_linear' op is neither a layer nor a linear layer 'head'}}
  gist.plan_linear qkv bits 3
}

// -----

// expected-error @+1 {{expects one linear layer 'head', got 2}}
gist.plan {
  gist.plan_linear head bits 3
  gist.plan_linear head bits 4
}

// -----

// expected-error @+1 {{expects every layer to have as many heads as the first, 1, got 2}}
gist.plan block 4 {
  gist.plan_layer {
    gist.plan_head dense
  }
  gist.plan_layer {
    gist.plan_head dense
    gist.plan_head dense
  }
}

// -----

// expected-error @+1 {{expects a block of 1 to 16777216 tokens where layers have heads}}
gist.plan {
  gist.plan_layer {
    gist.plan_head dense
  }
}

// -----

// expected-error @+1 {{mixes selections, which are for whole sequences, with heads, linear layers or depths, which are for a KV cache}}
gist.plan {
  gist.plan_layer {
    gist.plan_attend copy
    gist.plan_linear qkv bits 3
  }
}

// -----

gist.plan {
  gist.plan_layer {
    // expected-error @+1 {{'arith.constant' op does not belong in a layer; expected heads, linear layers, a depth, a selection or an attention}}
    %x = arith.constant 0 : index
  }
}

// -----

gist.plan {
  gist.plan_layer {
    // expected-error @+1 {{is the head, which does not belong in a layer}}
    gist.plan_linear head bits 3
  }
}

// -----

gist.plan {
  gist.plan_layer {
    gist.plan_linear qkv bits 3
    // expected-error @+1 {{is the second linear layer 'qkv' in its layer}}
    gist.plan_linear qkv bits 4
  }
}

// -----

gist.plan {
  // expected-error @+1 {{expects one selection and one attention, got 0 and 2}}
  gist.plan_layer {
    gist.plan_attend copy
    gist.plan_attend copy
  }
}

// -----

// expected-error @+1 {{'gist.plan_head' op expects parent op 'gist.plan_layer'}}
gist.plan_head dense

// -----

gist.plan block 4 {
  gist.plan_layer {
    // expected-error @+1 {{expects 'dense', or a window with sinks, with theta and room, or with random}}
    gist.plan_head window 8 theta 5.0e-1
  }
}

// -----

gist.plan block 4 {
  gist.plan_layer {
    // expected-error @+1 {{expects a window and sinks of 0 to 16777216 tokens}}
    gist.plan_head window 8 sinks -1
  }
}

// -----

gist.plan block 4 {
  gist.plan_layer {
    // expected-error @+1 {{expects theta between 0 and 1, and room and random above 0 and up to 1}}
    gist.plan_head window 8 theta 1.0 room 1.0
  }
}

// -----

gist.plan {
  gist.plan_layer {
    // expected-error @+1 {{expects 2, 3, 4 or 8 bits, got 5}}
    gist.plan_linear o bits 5
  }
}

// -----

gist.plan {
  gist.plan_layer {
    // expected-error @+1 {{expects bits where compensated, exact_rows or epsilon_low are given}}
    gist.plan_linear o compensated
  }
}

// -----

gist.plan {
  gist.plan_layer {
    // expected-error @+1 {{expects positive exact_rows, and only for the head}}
    gist.plan_linear o bits 3 exact_rows 4
  }
}

// -----

gist.plan {
  // expected-error @+1 {{expects exact_bits to be 8 and to come with exact_rows}}
  gist.plan_linear head bits 3 exact_rows 4 exact_bits 4
}

// -----

gist.plan {
  gist.plan_layer {
    // expected-error @+1 {{expects a positive k together with bits or epsilon, and never for the head}}
    gist.plan_linear o k 4
  }
}

// -----

gist.plan {
  gist.plan_layer {
    // expected-error @+1 {{expects a k: a gate needs a subspace}}
    gist.plan_linear o epsilon 1.0e-1
  }
}

// -----

gist.plan {
  gist.plan_layer {
    // expected-error @+1 {{expects 0 <= epsilon_low < epsilon <= 1}}
    gist.plan_linear o bits 3 k 4 epsilon_low 5.0e-1 epsilon 1.0e-1
  }
}

// -----

gist.plan {
  gist.plan_layer {
    // expected-error @+1 {{expects taus of at least 0 and less than 1}}
    gist.plan_select on residual tau [1.0]
  }
}

// -----

gist.plan {
  gist.plan_layer {
    // expected-error @+1 {{expects 'on keys' for a tau for each KV head}}
    gist.plan_select on residual tau [0.5, 0.5]
  }
}

// -----

gist.plan {
  gist.plan_layer {
    // expected-error @+1 {{expects no 'against' beside a rule}}
    gist.plan_select on residual tau [0.5] against all rule paper
  }
}

// -----

gist.plan {
  gist.plan_layer {
    // expected-error @+1 {{expects k to be positive and 'on normalised'}}
    gist.plan_select on residual tau [0.5] k 4
  }
}

// -----

gist.plan {
  gist.plan_layer {
    // expected-error @+1 {{expects window, block and merge with the mode keys, and log_count with copy}}
    gist.plan_attend copy window 4
  }
}

// -----

gist.plan {
  gist.plan_layer {
    // expected-error @+1 {{expects a window of 0 tokens or more, and a block of 1 or more}}
    gist.plan_attend keys window 4 block 0
  }
}

// -----

// expected-error @+1 {{expects a positive context and block, got 0 and 4}}
gist.head_table @t context 0 block 4 {
  gist.plan_layer {
    gist.plan_head dense
  }
}

// -----

// expected-error @+1 {{'gist.head_table' op expects layers}}
gist.head_table @t context 8 block 4 {
}

// -----

gist.head_table @t context 8 block 4 {
  // expected-error @+1 {{expects a table to contain only heads}}
  gist.plan_layer {
    gist.plan_attend copy
  }
}

// -----

// expected-error @+1 {{expects numbers in f32, got 'tensor<2xf16>'}}
gist.constant_weight @c dense<[0.5, 0.0]> : tensor<2xf16>

// -----

// expected-error @+1 {{expects a static shape of rank 2, or 3 for blocks, got 'tensor<?x4xf16>'}}
gist.made_weight @m image of "w" basis "b" k 4 : tensor<?x4xf16>

// -----

// expected-error @+1 {{expects the weight that it is made of}}
gist.made_weight @m rounded bits 3 : tensor<16x1x16xi8>

// -----

// expected-error @+1 {{expects 2, 3, 4 or 8 bits}}
gist.made_weight @m rounded of "w" : tensor<16x1x16xi8>

// -----

// expected-error @+1 {{expects exact_rows that are not negative, and 8 exact_bits}}
gist.made_weight @m exact of "w" : tensor<8x64xf16>

// -----

// expected-error @+1 {{expects a basis and a positive k}}
gist.made_weight @m image of "w" : tensor<16x4xf16>

// -----

// expected-error @+1 {{expects a type of the size that k says, got 5 and 'tensor<16x4xf16>'}}
gist.made_weight @m image of "w" basis "b" k 5 : tensor<16x4xf16>

// -----

// (C6) of gist.plan
// expected-error @+1 {{expects a file of maps with depths, and first and last tokens from 0 to 16777216 or neither, and only then}}
gist.plan first 4 last 128 {
  gist.plan_layer {
    gist.plan_depth linear
  }
}

// -----

// (C6) of gist.plan
// expected-error @+1 {{expects a file of maps with depths, and first and last tokens from 0 to 16777216 or neither, and only then}}
gist.plan first 4 last 128 maps "maps" {
  gist.plan_layer {
    gist.plan_linear o bits 3
  }
}

// -----

// (C6) of gist.plan
// expected-error @+1 {{expects a file of maps with depths, and first and last tokens from 0 to 16777216 or neither, and only then}}
gist.plan last 128 maps "maps" {
  gist.plan_layer {
    gist.plan_depth linear
  }
}

// -----

// (C7) of gist.plan
gist.plan first 4 last 128 maps "maps" {
  gist.plan_layer {
    gist.plan_depth tail
  }
  // expected-error @+1 {{stands behind a layer of the tail; expected 'gist.plan_depth tail'}}
  gist.plan_layer {
    gist.plan_depth linear
  }
}

// -----

// (C8) of gist.plan
// expected-error @+1 {{expects first and last tokens, because a tail is for the bulk of a prompt}}
gist.plan maps "maps" {
  gist.plan_layer {
    gist.plan_depth tail
  }
}

// -----

// (C8) of gist.plan
// expected-error @+1 {{expects first and last tokens beside thin_for_all: without them all layers are for all tokens}}
gist.plan thin_for_all maps "maps" {
  gist.plan_layer {
    gist.plan_depth thin neurons 8
  }
}

// -----

// (C3) of gist.plan_layer
gist.plan first 4 last 128 maps "maps" {
  // expected-error @+1 {{expects one depth, got 2}}
  gist.plan_layer {
    gist.plan_depth linear
    gist.plan_depth thin neurons 8
  }
}

// -----

// (C1) of gist.plan_depth
gist.plan first 4 last 128 maps "maps" {
  gist.plan_layer {
    // expected-error @+1 {{expects a positive number of neurons for a thin layer, and for no other}}
    gist.plan_depth thin
  }
}

// -----

// (C1) of gist.plan_depth
gist.plan first 4 last 128 maps "maps" {
  gist.plan_layer {
    // expected-error @+1 {{expects a positive number of neurons for a thin layer, and for no other}}
    gist.plan_depth tail neurons 8
  }
}

// -----

// (C1) of gist.fitted_weight
// expected-error @+1 {{expects a static shape, got 'tensor<?x8xf32>'}}
gist.fitted_weight @depth.0.linear "0.linear" in "maps" : tensor<?x8xf32>
