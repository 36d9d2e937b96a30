// RUN: gist-opt %s -split-input-file -gist-set-target -gist-add-scratch | FileCheck %s --check-prefix=MEMORY
// RUN: gist-opt %s -split-input-file -gist-set-target -gist-add-scratch -gist-select-tile-config -gist-tile-and-distribute \
// RUN:   | FileCheck %s --check-prefix=GRID
// RUN: gist-opt %s -split-input-file -gist-tile | FileCheck %s --check-prefix=TILES

// 9 rows of an output of 64 numbers, a largest score and a sum are 594 numbers for 256
// keys, so three for each key. Heads of a part come before the next part.
// MEMORY-LABEL: func private @one
// MEMORY-SAME:    %{{.*}}: tensor<?xf32>, %{{.*}}: tensor<3xi32> {gist.control})
// GRID-DAG:     #[[HEADS:.*]] = affine_map<()[s0, s1, s2] -> (3)>
// GRID-DAG:     #[[PARTS:.*]] = affine_map<()[s0, s1, s2] -> (s0 ceildiv 256)>
// GRID-LABEL:   func private @one
// GRID-SAME:      %{{.*}}: memref<?xf32>, %{{.*}}: memref<3xi32> {gist.control}) -> tensor<1x9x64xf16>
// GRID-SAME:      gist.grid = [#[[HEADS]], #[[PARTS]]]
// One word is counted up for each part; the last one clears it.
// TILES-LABEL:  func private @one
// TILES:          scf.forall
// TILES:            memref.atomic_rmw addi
// TILES:            memref.store %{{.*}} : memref<3xi32>
func.func private @one(%q: tensor<1x9x64xf16>, %k: tensor<?x3x64xf16>, %v: tensor<?x3x64xf16>,
    %out: tensor<1x9x64xf16>) -> tensor<1x9x64xf16> attributes {gist.kernel = #gist.kernel<kind = attention, outputs = 1>} {
  %o = gist.attention %q, %k, %v causal : tensor<1x9x64xf16>, tensor<?x3x64xf16>, tensor<?x3x64xf16>
  return %o : tensor<1x9x64xf16>
}

// -----

// Any number of queries may be one. Parts come first: those of many queries are one.
// MEMORY-LABEL: func private @any
// MEMORY-SAME:    tensor<3xi32> {gist.control})
// GRID-DAG:     #[[PARTS:.*]] = affine_map<()[s0, s1, s2, s3, s4] -> (s1 ceildiv 256)>
// GRID-DAG:     #[[QUERIES:.*]] = affine_map<()[s0, s1, s2, s3, s4] -> (s0 ceildiv 32)>
// GRID-LABEL:   func private @any
// GRID-SAME:      gist.grid = [#[[PARTS]], #[[QUERIES]], #{{.*}}]
func.func private @any(%q: tensor<?x9x64xf16>, %k: tensor<?x3x64xf16>, %v: tensor<?x3x64xf16>,
    %out: tensor<?x9x64xf16>) -> tensor<?x9x64xf16> attributes {gist.kernel = #gist.kernel<kind = attention, outputs = 1>} {
  %o = gist.attention %q, %k, %v causal : tensor<?x9x64xf16>, tensor<?x3x64xf16>, tensor<?x3x64xf16>
  return %o : tensor<?x9x64xf16>
}

// -----

// What is before the window of a query has no clusters of its own: tokens bound keys.
// MEMORY-LABEL: func private @clusters
// MEMORY-SAME:    tensor<3xi32> {gist.control})
// GRID-DAG:     #[[PARTS:.*]] = affine_map<()[{{.*}}] -> ((s0 + 1) ceildiv 256)>
// GRID-LABEL:   func private @clusters
// GRID-SAME:      gist.grid = [#{{.*}}, #[[PARTS]]]
func.func private @clusters(%q: tensor<1x9x64xf16>, %heads: tensor<2x3x8xf32>, %past: index, %layer: index,
    %k: tensor<500x64xf16>, %v: tensor<500x64xf16>, %w: tensor<40xf32>, %n: tensor<2x3xi32>,
    %out: tensor<1x9x64xf16>) -> tensor<1x9x64xf16> attributes {gist.kernel = #gist.kernel<kind = cluster_attention, outputs = 1>} {
  %o = gist.cluster_attention %q, %heads, %past, %layer on(%k, %v, %w, %n) block 16
      : tensor<1x9x64xf16>, tensor<2x3x8xf32>, tensor<500x64xf16>, tensor<500x64xf16>, tensor<40xf32>, tensor<2x3xi32>
  return %o : tensor<1x9x64xf16>
}

// -----

// Keys of the queries alone are one where they are one; without causality and with a
// known number of queries there are no parts either.
// MEMORY-LABEL: func private @both_ways
// MEMORY-NOT:     gist.control
// MEMORY-LABEL: func private @two
// MEMORY-NOT:     gist.control
func.func private @both_ways(%q: tensor<?x4x8xf32>, %k: tensor<?x2x8xf32>, %v: tensor<?x2x8xf32>,
    %out: tensor<?x4x8xf32>) -> tensor<?x4x8xf32> attributes {gist.kernel = #gist.kernel<kind = attention, outputs = 1>} {
  %o = gist.attention %q, %k, %v : tensor<?x4x8xf32>, tensor<?x2x8xf32>, tensor<?x2x8xf32>
  return %o : tensor<?x4x8xf32>
}
func.func private @two(%q: tensor<2x4x8xf32>, %k: tensor<?x2x8xf32>, %v: tensor<?x2x8xf32>,
    %out: tensor<2x4x8xf32>) -> tensor<2x4x8xf32> attributes {gist.kernel = #gist.kernel<kind = attention, outputs = 1>} {
  %o = gist.attention %q, %k, %v causal : tensor<2x4x8xf32>, tensor<?x2x8xf32>, tensor<?x2x8xf32>
  return %o : tensor<2x4x8xf32>
}
