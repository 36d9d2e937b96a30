//===- Module.cpp - What a module says about itself -----------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a module file says about the model and its targets, besides code and
// weights.
//
//===----------------------------------------------------------------------===//

#include "passes/Driver/Module.h"

#include "passes/Cost/PlanCost.h"
#include "runtime/format/Devices.h"
#include "runtime/module/Properties.h"

#include "llvm/Support/Path.h"

using namespace gist;
using namespace gist::compile;

void compile::describeModel(const Options &options, const ImportedModel &model,
                            const std::string &compute, ModuleWriter &writer) {
  ModuleSpec &spec = writer.spec;
  spec.producer = "gist-compile " GIST_VERSION;
  ModelInfo &info = spec.model;
  info.architecture = model.architecture;
  // The file's name without its ending, or the folder's name.
  llvm::StringRef path = llvm::StringRef(options.model).rtrim('/');
  // A model can be named by its folder or by the file in it.
  if (llvm::sys::path::filename(path) == "config.json" &&
      llvm::sys::path::has_parent_path(path))
    path = llvm::sys::path::parent_path(path);
  info.name = llvm::sys::path::stem(path).str();
  info.vocabSize = model.config.vocabSize;
  info.contextLength = model.config.contextLength;
  // A module for several targets has one size for all of them: that of GPUs.
  if (model.isDecoder && options.targets == std::vector<std::string>{"cpu"})
    info.prefillChunk = kCpuCallTokens;
  info.embeddingSize = model.config.hiddenSize;
  info.layerCount = model.config.numLayers;
  info.properties["compute"] = compute;
  // gist-run and gist-plan read these properties.
  if (model.isDecoder) {
    info.properties["kv"] = getName(options.cacheType);
    info.properties["query_heads"] = std::to_string(model.config.numHeads);
  }
  if (model.config.maxSentence > 0)
    info.properties[kMaxSentenceProperty] =
        std::to_string(model.config.maxSentence);
  if (options.randomWeights)
    info.properties["weights"] = "random";
  else if (options.expandWeights)
    info.properties["weights"] = "expanded to f32";
  // The module then takes token ids only.
  if (!model.tokenizer)
    return;
  const TokenizerSpec &tokenizer = *model.tokenizer;
  info.bosToken = tokenizer.bos;
  info.padToken = tokenizer.pad;
  info.unkToken = tokenizer.unknown;
  info.stopTokens.assign(tokenizer.stop.begin(), tokenizer.stop.end());
  writer.setTokenizer(tokenizer.serialize());
}

/// The device kind under which a runtime opens the driver.
TargetSpec compile::describeTarget(const Target &target,
                                   const std::vector<std::string> &features) {
  if (!target.gpu)
    return {.name = target.name,
            .device = kCpuDevice,
            .triple = target.cpu.triple,
            .cpu = target.cpu.cpu,
            .features = features,
            .format = CodeFormat::Elf};
  bool isAmd = target.gpu->kind == GpuKind::Amd;
  return {.name = target.name,
          .device = isAmd ? kHipDevice : kCudaDevice,
          .triple = target.gpu->triple,
          .cpu = target.gpu->name,
          .features = {},
          .format = isAmd ? CodeFormat::Hsaco : CodeFormat::Ptx};
}
