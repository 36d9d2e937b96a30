//===- ModelSource.h - One model, from a file or a folder -------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_IMPORT_FILES_MODELSOURCE_H
#define GIST_PASSES_IMPORT_FILES_MODELSOURCE_H

#include "passes/Import/Files/Gguf.h"
#include "passes/Import/Files/ModelConfig.h"
#include "passes/Import/Files/ModelFolder.h"
#include "runtime/text/TokenizerSpec.h"

namespace gist {

/// A GGUF file or a Hugging Face folder, opened. Tensors point into files that
/// it keeps mapped.
struct ModelSource {
  std::string path;
  bool isGguf = false;
  std::string architecture; ///< As the file or config.json calls it.

  std::unique_ptr<MappedFile> ggufBytes;
  GgufFile gguf;
  ModelFolder folder;

  const std::map<std::string, StoredTensor, std::less<>> &tensors() const {
    return isGguf ? gguf.tensors : folder.tensors;
  }
  ConfigReader config() const {
    return isGguf ? ConfigReader(gguf, architecture)
                  : ConfigReader(folder.config);
  }
};

/// May refuse a model as soon as its architecture is known.
using AcceptSource = std::function<Status(const ModelSource &)>;

/// Opens what `path` names: a folder, or a file taken as GGUF. `accept` is
/// asked before the tensors of a GGUF file are read. On error `out` is left as
/// it was.
Status openModelSource(const std::string &path, ModelSource &out,
                       const AcceptSource &accept = {});

/// Opens a config.json, or the folder of one, and leaves weights alone. On
/// error `out` is left as it was.
Status openModelConfig(const std::string &path, ModelSource &out);

/// Reads the model's tokenizer. On error `spec` is left as it was.
Status readTokenizer(const ModelSource &source, TokenizerSpec &spec);

/// Divides the rotary frequencies by the numbers in the tensor `name`, where
/// the model has one: how GGUF files state Llama 3's scaling.
Status scaleRotaryByTensor(const ModelSource &source, const char *name,
                           ModelConfig &config);

} // namespace gist

#endif // GIST_PASSES_IMPORT_FILES_MODELSOURCE_H
