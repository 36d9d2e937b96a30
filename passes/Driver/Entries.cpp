//===- Entries.cpp - The functions that a session calls -------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Renames @forward of the import to the name that the runtime looks up.
//
//===----------------------------------------------------------------------===//

#include "passes/Driver/Entries.h"

#include "dialect/GistNames.h"
#include "runtime/module/ModuleSpec.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace gist;
using namespace gist::compile;

namespace {
/// The names of an entry and of its first result.
struct EntryName {
  const char *entry, *result;
};
} // namespace

/// The names follow from the model's output: logits, an embedding or hidden
/// states. Only a decoder can go on from a cache, so only its entry is
/// "prefill".
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

/// Renames a function that import made.
static void nameEntry(func::FuncOp function, EntryName name) {
  function.setName(name.entry);
  function.setResultAttr(0, kNameAttr,
                         StringAttr::get(function.getContext(), name.result));
}

Status compile::importEntries(const Options &options, bool wholeSequences,
                              MLIRContext &context,
                              OwningOpRef<ModuleOp> &program,
                              WeightMap &weights, ImportedModel &model) {
  ImportOptions import;
  // All a decoder can do without a cache is to score.
  import.wholeSequence = import.logitsOfEveryToken = wholeSequences;
  import.expandWeights = options.expandWeights;
  import.cacheType = options.cacheType;
  import.randomWeights = options.randomWeights;
  import.contextLength = options.context;
  import.adapter = options.adapter;
  import.adapterScale = options.adapterScale;
  for (const auto &[name, folder] : options.chosenAdapters)
    import.chosenAdapters.push_back(folder);
  import.addsEveryToken = options.logitsOfEveryToken && !wholeSequences;
  GIST_TRY(
      importModel(options.model, import, context, program, weights, model));
  // The second function, where there is one, has the logits of every token.
  // Import gives one function or two, in this order.
  auto functions = llvm::to_vector(program->getOps<func::FuncOp>());
  EntryName score = {kEntryScore, kTensorLogits};
  bool isScored = model.isDecoder && model.output == ModelOutput::Logits;
  nameEntry(functions.front(),
            isScored && wholeSequences ? score : nameOf(model));
  if (functions.size() > 1)
    nameEntry(functions.back(), score);
  return {};
}
