// Graphs of torch-mlir, whose weights have no layer. Inputs/torch-model-*.mlir.
// RUN: gist-opt %S/Inputs/torch-model-gpt2-dynamic.mlir -gist-raise -mlir-elide-resource-strings-if-larger=4 | FileCheck %s --check-prefix=GPT2
// RUN: gist-opt %S/Inputs/torch-model-bert-dynamic.mlir -gist-raise -mlir-elide-resource-strings-if-larger=4 | FileCheck %s --check-prefix=BERT

// Four linear layers in each of two layers: queries, keys and values in one, what
// follows attention, up and down. The head reads the embedding's table of 7 x 6.
// GPT2-DAG: layer 0 : tensor<18x6xf32>
// GPT2-DAG: layer 0 : tensor<6x6xf32>
// GPT2-DAG: layer 0 : tensor<24x6xf32>
// GPT2-DAG: layer 0 : tensor<6x24xf32>
// GPT2-DAG: layer 1 : tensor<18x6xf32>
// GPT2-DAG: layer 1 : tensor<6x6xf32>
// GPT2-DAG: layer 1 : tensor<24x6xf32>
// GPT2-DAG: layer 1 : tensor<6x24xf32>
// GPT2-NOT: layer {{[0-9]}} : tensor<7x6xf32>

// Queries, keys, values and what follows are four weights of 12 x 12.
// BERT-COUNT-4: layer 1 : tensor<12x12xf32>
// BERT-COUNT-4: layer 0 : tensor<12x12xf32>

// The pass by itself: it needs attention to count by.
// RUN: gist-opt %s -gist-name-layers | FileCheck %s --check-prefix=NONE
// NONE: gist.weight "w" : tensor<6x4xf32>
func.func @no_attention(%x: tensor<?x4xf32>, %o: tensor<?x6xf32>) -> tensor<?x6xf32> {
  %w = gist.weight "w" : tensor<6x4xf32>
  %y = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%x, %w : tensor<?x4xf32>, tensor<6x4xf32>) outs(%o : tensor<?x6xf32>) -> tensor<?x6xf32>
  return %y : tensor<?x6xf32>
}
