//===- ModelFolder.h - A model as Hugging Face lays it out ------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_IMPORT_MODELFOLDER_H
#define GIST_PASSES_IMPORT_MODELFOLDER_H

#include "passes/Import/Safetensors.h"
#include "runtime/MappedFile.h"

#include "nlohmann/json.hpp"

#include <map>
#include <string>
#include <vector>

namespace gist {

/// A folder with config.json, weights in safetensors and, where present, the
/// tokenizer. Moving it keeps the views in `tensors` valid.
struct ModelFolder {
  nlohmann::json config;
  nlohmann::json tokenizerConfig;  ///< null when there is none.
  nlohmann::json generationConfig; ///< null when there is none.
  std::string tokenizer;           ///< tokenizer.json, not parsed; or empty.
  std::string vocabulary;          ///< vocab.txt, one token a line; or empty.
  std::string chatTemplate;        ///< chat_template.jinja, or empty.

  /// How a sentence-transformers folder makes one vector of the last hidden
  /// states.
  struct Pooling {
    bool present = false;
    bool mean = false;
    bool normalize = false;
  } pooling;

  std::map<std::string, StoredTensor, std::less<>> tensors;
  std::map<std::string, std::string, std::less<>> skipped;
  std::vector<MappedFile> files; ///< What the tensors point into.
};

/// Opens the folder at `path`. On error `out` is left as it was.
Status openModelFolder(const std::string &path, ModelFolder &out);

} // namespace gist

#endif // GIST_PASSES_IMPORT_MODELFOLDER_H
