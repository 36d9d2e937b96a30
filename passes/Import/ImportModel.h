//===- ImportModel.h - From a model file to a graph -------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_IMPORT_IMPORTMODEL_H
#define GIST_PASSES_IMPORT_IMPORTMODEL_H

#include "passes/Import/CacheType.h"
#include "passes/Import/Files/ModelConfig.h"
#include "passes/Import/Files/Weights.h"
#include "runtime/text/TokenizerSpec.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <optional>
#include <string>
#include <vector>

namespace gist {

struct ImportOptions {
  /// Expand quantised and 16-bit weights to f32.
  bool expandWeights = false;
  /// Make weights up: config.json alone is read.
  bool randomWeights = false;
  /// Give the logits of every token of a call instead of the last one's.
  bool logitsOfEveryToken = false;
  /// Give a decoder a second function, `forward_every_token`, with the logits
  /// of every token, which reads the same weights.
  bool addsEveryToken = false;
  /// What keys and values are kept in.
  CacheType cacheType = CacheType::F32;
  /// Give a decoder no KV cache: a call sees a whole sequence from its start.
  bool wholeSequence = false;
  /// A folder with an adapter to merge into the weights, and by how much;
  /// empty: none.
  std::string adapter;
  float adapterScale = 1;
  /// Folders of adapters of which each token has one or none: those with
  /// number n, from 1 on, have n << kAdapterShift added to their ids.
  std::vector<std::string> chosenAdapters;
  /// The capacity in tokens; 0 takes the model's own.
  int64_t contextLength = 0;
};

enum class ModelOutput {
  Logits,            ///< tokens (or 1) x vocabulary
  HiddenStates,      ///< tokens x hidden size
  SentenceEmbedding, ///< 1 x hidden size
};

/// What a program that runs the model needs to know about it.
struct ImportedModel {
  std::string architecture;
  bool isDecoder = false;
  ModelOutput output = ModelOutput::Logits;
  ModelConfig config;
  /// The tokenizer, or none and why.
  std::optional<TokenizerSpec> tokenizer;
  std::string noTokenizerBecause;
};

/// Imports the GGUF file or Hugging Face folder at `path`; with random weights
/// also a config.json alone. The module holds
///
///   func.func @forward(%tokens: tensor<?xi32>) -> tensor<...>
///
/// for an encoder; for a decoder, with L layers and a capacity of C tokens,
///
///   func.func @forward(%tokens: tensor<?xi32>, %past: index,
///                      %k_cache: tensor<LxCxHkvxDxf32>, %v_cache: ...)
///       -> (tensor<1xVxf32>, tensor<LxCxHkvxDxf32>, tensor<LxCxHkvxDxf32>)
///
/// where the caches hold `past` tokens and get these after them; caches of
/// 8-bit integers are followed by their scales, %k_scales and %v_scales:
/// tensor<LxCxHkvxf32>, in arguments and results; as for an
/// encoder where calls see whole sequences. The caller
/// keeps tokens within the vocabulary and past + tokens within C. Weights are
/// `gist.weight` ops under the names of the source. On error the results are
/// left as they were.
Status importModel(const std::string &path, const ImportOptions &options,
                   mlir::MLIRContext &context,
                   mlir::OwningOpRef<mlir::ModuleOp> &module,
                   WeightMap &weights, ImportedModel &info);

} // namespace gist

#endif // GIST_PASSES_IMPORT_IMPORTMODEL_H
