//===- Entries.cpp - The functions that a session calls -------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Driver/Entries.h"

#include "runtime/module/ModuleSpec.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace gist;
using namespace gist::compile;

namespace {
/// What an entry and its first result are called.
struct EntryName {
  const char *entry, *result;
};
} // namespace

static EntryName nameOf(const ImportedModel &model) {
  switch (model.output) {
  case ModelOutput::Logits:
    return {model.isDecoder ? kEntryPrefill : "forward", kTensorLogits};
  case ModelOutput::SentenceEmbedding:
    return {kEntryEmbed, kTensorEmbedding};
  case ModelOutput::HiddenStates:
    break;
  }
  return {"forward", "hidden_states"};
}

/// Renames the one function that import makes.
static func::FuncOp nameEntry(ModuleOp module, EntryName name) {
  auto function = *module.getOps<func::FuncOp>().begin();
  function.setName(name.entry);
  function.setResultAttr(0, "gist.name",
                         StringAttr::get(module.getContext(), name.result));
  return function;
}

Status compile::importEntries(const Options &options, bool wholeSequences,
                              MLIRContext &context,
                              OwningOpRef<ModuleOp> &program,
                              WeightMap &weights, ImportedModel &model) {
  ImportOptions import;
  // All a decoder can do without a cache is to score.
  import.wholeSequence = import.logitsOfEveryToken = wholeSequences;
  import.expandWeights = options.expandWeights;
  import.halfCache = options.halfCache;
  import.randomWeights = options.randomWeights;
  import.contextLength = options.context;
  OwningOpRef<ModuleOp> first;
  WeightMap firstWeights;
  ImportedModel firstModel;
  GIST_TRY(importModel(options.model, import, context, first, firstWeights,
                       firstModel));
  bool isScored =
      firstModel.isDecoder && firstModel.output == ModelOutput::Logits;
  nameEntry(*first, isScored && wholeSequences
                        ? EntryName{kEntryScore, kTensorLogits}
                        : nameOf(firstModel));
  if (isScored && options.logitsOfEveryToken && !wholeSequences) {
    import.logitsOfEveryToken = true;
    OwningOpRef<ModuleOp> second;
    WeightMap sameWeights;
    ImportedModel sameModel;
    GIST_TRY(importModel(options.model, import, context, second, sameWeights,
                         sameModel));
    func::FuncOp score = nameEntry(*second, {kEntryScore, kTensorLogits});
    score->moveBefore(first->getBody(), first->getBody()->end());
  }
  program = std::move(first);
  weights = std::move(firstWeights);
  model = std::move(firstModel);
  return {};
}
