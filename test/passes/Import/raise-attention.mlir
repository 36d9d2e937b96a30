// Graphs as torch-mlir 20261001 writes them. Inputs/torch-attention.py made them.
// RUN: gist-opt %S/Inputs/torch-plain.mlir -gist-raise-attention -canonicalize | FileCheck %s --check-prefixes=RAISED,PLAIN
// RUN: gist-opt %S/Inputs/torch-causal.mlir -gist-raise-attention -canonicalize | FileCheck %s --check-prefixes=RAISED,CAUSAL
// RUN: gist-opt %S/Inputs/torch-sdpa.mlir -gist-raise-attention -canonicalize | FileCheck %s --check-prefixes=RAISED,SDPA
// RUN: gist-opt %S/Inputs/torch-masked.mlir -gist-raise-attention -canonicalize | FileCheck %s --check-prefixes=RAISED,MASKED
// RUN: gist-opt %S/Inputs/torch-grouped.mlir -gist-raise-attention -canonicalize | FileCheck %s --check-prefixes=RAISED,GROUPED

// Nothing of the products and the softmax is left.
// RAISED-NOT: linalg.batch_matmul
// RAISED-NOT: math.exp

// 12 queries, 16 keys, 4 heads of width 8, values of width 6; 1 / sqrt(8).
// PLAIN: %[[Q:.+]] = linalg.transpose ins(%{{.+}} : tensor<4x12x8xf32>) {{.+}} permutation = [1, 0, 2]
// PLAIN: %[[K:.+]] = linalg.transpose ins(%{{.+}} : tensor<4x8x16xf32>) {{.+}} permutation = [2, 0, 1]
// PLAIN: %[[V:.+]] = linalg.transpose ins(%{{.+}} : tensor<4x16x6xf32>) {{.+}} permutation = [1, 0, 2]
// PLAIN: %[[O:.+]] = gist.attention %[[Q]], %[[K]], %[[V]] scale 0.353553385
// PLAIN-SAME: tensor<12x4x8xf32>, tensor<16x4x8xf32>, tensor<16x4x6xf32>
// PLAIN: linalg.transpose ins(%[[O]] : tensor<12x4x6xf32>) outs(%{{.+}} : tensor<4x12x6xf32>) permutation = [1, 0, 2]

// CAUSAL: gist.attention %{{.+}}, %{{.+}}, %{{.+}} causal scale 2.500000e-01
// Queries and keys are scaled before the product there.
// SDPA: gist.attention %{{.+}}, %{{.+}}, %{{.+}} causal scale 1.000000e+00
// MASKED: gist.attention %{{.+}}, %{{.+}}, %{{.+}} mask(%arg3 : tensor<12x16xf32>) scale 2.500000e-01
// GROUPED: gist.attention %{{.+}}, %{{.+}}, %{{.+}} causal scale 2.500000e-01

// A mask that hides the query's own token too is a mask, and not causal.
// RUN: sed 's/cmpi sle/cmpi slt/' %S/Inputs/torch-causal.mlir | gist-opt -gist-raise-attention | FileCheck %s --check-prefix=OTHER
// OTHER: %[[HIDDEN:.+]] = arith.constant 0xFF800000 : f32
// OTHER: arith.select %{{.+}}, %[[HIDDEN]], %{{.+}} : f32
// OTHER: gist.attention %{{.+}}, %{{.+}}, %{{.+}} mask(%{{.+}} : tensor<12x12xf32>) scale 2.500000e-01

// What differs in one thing is left as it was: two products, and no attention.
// LEFT-NOT: gist.attention
// LEFT-COUNT-2: linalg.batch_matmul
// LEFT-NOT: gist.attention

// The first product accumulates.
// RUN: sed 's/fill ins(%cst : f32) outs(%1 :/fill ins(%cst_1 : f32) outs(%1 :/' %S/Inputs/torch-masked.mlir | gist-opt -gist-raise-attention | FileCheck %s --check-prefix=LEFT
// The largest of a row begins at 0, so it is not the largest.
// RUN: sed 's/fill ins(%cst_0 : f32)/fill ins(%cst : f32)/' %S/Inputs/torch-masked.mlir | gist-opt -gist-raise-attention | FileCheck %s --check-prefix=LEFT
// The scale is negative.
// RUN: sed 's/2.500000e-01/-2.500000e-01/' %S/Inputs/torch-masked.mlir | gist-opt -gist-raise-attention | FileCheck %s --check-prefix=LEFT
// The mask differs by head.
// RUN: sed 's/tensor<12x16xf32>/tensor<4x16xf32>/g; s/^#map1 .*/#map1 = affine_map<(d0, d1, d2, d3) -> (d1, d3)>/' %S/Inputs/torch-masked.mlir | gist-opt -gist-raise-attention | FileCheck %s --check-prefix=LEFT
// The elements are f16.
// RUN: sed 's/0xFF800000/0xFC00/; s/f32/f16/g' %S/Inputs/torch-masked.mlir | gist-opt -gist-raise-attention | FileCheck %s --check-prefix=LEFT
// Not exp.
// RUN: sed 's/math.exp /math.exp2 /' %S/Inputs/torch-masked.mlir | gist-opt -gist-raise-attention | FileCheck %s --check-prefix=LEFT
// Scaled after it was masked.
// RUN: gist-opt %S/Inputs/torch-late.mlir -gist-raise-attention | FileCheck %s --check-prefix=LEFT
// Rows become zero where something else holds than that all keys are hidden.
// RUN: sed 's/cmpf oeq/cmpf one/' %S/Inputs/torch-sdpa.mlir | gist-opt -gist-raise-attention | FileCheck %s --check-prefix=LEFT
// A dynamic number of tokens, where broadcasts are between the products.
// RUN: gist-opt %S/Inputs/torch-dynamic.mlir -gist-raise-attention | FileCheck %s --check-prefix=LEFT
