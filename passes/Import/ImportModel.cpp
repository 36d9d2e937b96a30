//===- ImportModel.cpp - From a model file to a graph ---------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// From a path to a module with @forward, its weights and what a program that
// runs it must know. The results are set only when all went well.
//
//===----------------------------------------------------------------------===//

#include "passes/Import/ImportModel.h"

#include "dialect/GistDialect.h"
#include "passes/Import/Architecture.h"
#include "passes/Import/GraphBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Verifier.h"

using namespace gist;
using namespace mlir;

static Status configure(const ModelSource &source,
                        const Architecture &architecture,
                        const ImportOptions &options, ModelConfig &config) {
  // Some GGUF files leave the size of the vocabulary to the tokenizer.
  auto tokens = source.gguf.metadata.find("tokenizer.ggml.tokens");
  if (tokens != source.gguf.metadata.end())
    // Set before configure(): a number in the file overrules it.
    config.vocabSize = static_cast<int64_t>(
        std::min<uint64_t>(tokens->second.count, INT64_MAX));
  GIST_TRY(architecture.configure(source, config));

  config.capacity = config.contextLength;
  if (options.contextLength == 0)
    return {};
  if (options.contextLength < 1 || options.contextLength > config.contextLength)
    return Status::error(Code::BadArgument,
                         "a context of %" PRId64
                         " tokens was asked for; the model takes 1 to %" PRId64,
                         options.contextLength, config.contextLength);
  config.capacity = options.contextLength;
  return {};
}

/// A matrix of the adapter that nothing took belongs to another model.
static Status checkUsed(const LoraAdapter &adapter) {
  for (const auto &[layer, update] : adapter.updates)
    if (!update.isUsed)
      return Status::error(Code::BadFile,
                           "the model has no linear layer %s, which the "
                           "adapter changes",
                           inQuotes(layer).c_str());
  return {};
}

/// An architecture may have a head or not, by what the file stores; the width
/// of the result tells.
static ModelOutput outputOf(const ModelConfig &config, Type result) {
  if (config.pooling != Pooling::None)
    return ModelOutput::SentenceEmbedding;
  bool isVocabulary =
      cast<RankedTensorType>(result).getDimSize(1) == config.vocabSize;
  return isVocabulary ? ModelOutput::Logits : ModelOutput::HiddenStates;
}

Status gist::importModel(const std::string &path, const ImportOptions &options,
                         MLIRContext &context, OwningOpRef<ModuleOp> &module,
                         WeightMap &weights, ImportedModel &info) {
  auto source = std::make_shared<ModelSource>();
  const Architecture *architecture = nullptr;
  auto isKnown = [&](const ModelSource &opened) {
    return findArchitecture(opened, architecture);
  };
  if (options.randomWeights) {
    GIST_TRY(openModelConfig(path, *source));
    GIST_TRY(isKnown(*source).in(path));
  } else {
    GIST_TRY(openModelSource(path, *source, isKnown));
  }
  ImportedModel newInfo;
  newInfo.architecture = architecture->name;
  newInfo.isDecoder = architecture->isDecoder;
  GIST_TRY(configure(*source, *architecture, options, newInfo.config).in(path));

  GraphAdapters adapters;
  if (!options.adapter.empty())
    GIST_TRY(openLora(options.adapter, adapters.merged));
  for (const std::string &folder : options.chosenAdapters)
    GIST_TRY(openLora(folder, adapters.chosen.emplace_back()));

  // The builder creates ops of these dialects before any pass could load them.
  context.loadDialect<GistDialect, arith::ArithDialect, func::FuncDialect,
                      linalg::LinalgDialect, math::MathDialect,
                      tensor::TensorDialect>();
  OwningOpRef<ModuleOp> newModule =
      ModuleOp::create(NameLoc::get(StringAttr::get(&context, path)));
  WeightMap newWeights;
  // Weights are views of the mapped files, which must live as long as they do.
  newWeights.source = source;
  GraphBuilder builder(*newModule, *architecture, newInfo.config, *source,
                       options, adapters, newWeights);
  architecture->build(builder, newInfo.config);
  GIST_TRY(builder.takeStatus().in(path));
  GIST_TRY(checkUsed(adapters.merged).in(options.adapter));
  for (size_t i = 0; i < adapters.chosen.size(); ++i)
    GIST_TRY(checkUsed(adapters.chosen[i]).in(options.chosenAdapters[i]));
  // The module has one function so far.
  auto forward = cast<func::FuncOp>(newModule->getBody()->front());
  newInfo.output = outputOf(newInfo.config, forward.getResultTypes().front());
  ImportOptions every = options;
  every.logitsOfEveryToken = true;
  if (options.addsEveryToken && newInfo.isDecoder &&
      newInfo.output == ModelOutput::Logits) {
    // Built a second time instead of cloned: the last norm and the head work on
    // other rows. Weights are found by name and shared.
    GraphBuilder second(*newModule, *architecture, newInfo.config, *source,
                        every, adapters, newWeights);
    architecture->build(second, newInfo.config);
    GIST_TRY(second.takeStatus().in(path));
    cast<func::FuncOp>(newModule->getBody()->back())
        .setName("forward_every_token");
  }
  // The verifier's own diagnostics have said why.
  if (failed(verify(*newModule)))
    return Status::error(Code::Unsupported,
                         "%s: the graph of this model is not valid",
                         path.c_str());
  // A model whose tokenizer is missing or not supported still runs on token
  // ids. A damaged one is an error: other parts may be damaged too.
  TokenizerSpec tokenizer;
  Status status = readTokenizer(*source, tokenizer);
  if (status.ok())
    newInfo.tokenizer = std::move(tokenizer);
  else if (status.code == Code::NotFound || status.code == Code::Unsupported)
    newInfo.noTokenizerBecause = std::move(status.text);
  else
    return std::move(status).in(path);

  module = std::move(newModule);
  weights = std::move(newWeights);
  info = std::move(newInfo);
  return {};
}
