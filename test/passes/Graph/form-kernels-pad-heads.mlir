// RUN: gist-opt %s -gist-form-kernels -split-input-file | FileCheck %s

// CPU kernels read heads in vectors of four. Those of two get zeros, which add
// nothing to a product, and the scale stays that of two.
// CHECK-LABEL: func @narrow_heads
// CHECK-COUNT-3: outs(%{{.*}} : tensor<?x{{[26]}}x4xf32>)
// CHECK:         gist.dispatch @attention_0
// CHECK:         outs(%{{.*}} : tensor<?x6x2xf32>)
// CHECK-LABEL: func.func private @attention_0
// CHECK-SAME:    tensor<?x6x4xf32>, %{{.*}}: tensor<?x2x4xf32>, %{{.*}}: tensor<?x2x4xf32>
// CHECK:         gist.attention {{.*}} causal scale 0.70710
func.func @narrow_heads(%q: tensor<?x6x2xf32>, %k: tensor<?x2x2xf32>, %v: tensor<?x2x2xf32>)
    -> tensor<?x6x2xf32> {
  %o = gist.attention %q, %k, %v causal
      : tensor<?x6x2xf32>, tensor<?x2x2xf32>, tensor<?x2x2xf32>
  return %o : tensor<?x6x2xf32>
}

// -----

// A known number of keys: attention runs by its definition.
// CHECK-LABEL: func.func private @attention
// CHECK-SAME:    tensor<8x6x2xf32>
func.func @known(%q: tensor<8x6x2xf32>, %k: tensor<8x2x2xf32>, %v: tensor<8x2x2xf32>)
    -> tensor<8x6x2xf32> {
  %o = gist.attention %q, %k, %v causal
      : tensor<8x6x2xf32>, tensor<8x2x2xf32>, tensor<8x2x2xf32>
  return %o : tensor<8x6x2xf32>
}

// -----

// GPUs read them as they are.
// CHECK-LABEL: func.func private @attention
// CHECK-SAME:    tensor<?x6x2xf32>
module attributes {gist.target = #gist.gpu_target<"gfx942", gram = exact>} {
  func.func @gpu(%q: tensor<?x6x2xf32>, %k: tensor<?x2x2xf32>, %v: tensor<?x2x2xf32>)
      -> tensor<?x6x2xf32> {
    %o = gist.attention %q, %k, %v causal
        : tensor<?x6x2xf32>, tensor<?x2x2xf32>, tensor<?x2x2xf32>
    return %o : tensor<?x6x2xf32>
  }
}

// -----

// Rows that are compared, and attention on representatives, on any number of
// tokens: cosines do not change either.
// CHECK-LABEL: func.func private @gram_select
// CHECK-SAME:    tensor<12x2x8xf32>
// CHECK-LABEL: func.func private @attend
// CHECK-SAME:    tensor<12x6x8xf32>, %{{.*}}: tensor<12x2x8xf32>, %{{.*}}: tensor<12x2x8xf32>
func.func @selection(%q: tensor<12x6x6xf32>, %k: tensor<12x2x6xf32>, %v: tensor<12x2x6xf32>)
    -> tensor<12x6x6xf32> {
  %s = gist.gram_select %k, 3.0e-1 causal : tensor<12x2x6xf32>
  %o = gist.attend %q, %k, %v on %s mode keys causal window 4 block 4
      : tensor<12x6x6xf32>, tensor<12x2x6xf32>, tensor<12x2x6xf32>, !gist.selection<2x12>
  return %o : tensor<12x6x6xf32>
}
