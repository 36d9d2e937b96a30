//===- ModelFolder.h - A model as Hugging Face lays it out ------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_IMPORT_FILES_MODELFOLDER_H
#define GIST_PASSES_IMPORT_FILES_MODELFOLDER_H

#include "passes/Import/Files/Safetensors.h"
#include "runtime/support/MappedFile.h"

#include "nlohmann/json.hpp"

#include <map>
#include <string>
#include <vector>

namespace gist {

/// A folder with config.json, weights in safetensors and, where present, the
/// tokenizer. Moving it keeps the views in `tensors` valid.
struct ModelFolder {
  nlohmann::json config;
  /// The tokenizer's files by name, not parsed: tokenizer.json and its kin.
  std::map<std::string, std::string, std::less<>> texts;

  /// How a sentence-transformers folder makes one vector of the last hidden
  /// states.
  struct Pooling {
    bool present = false;
    bool mean = false;
    bool normalize = false;
    int64_t maxTokens = 0; ///< Of a text; longer ones are cut. 0: not said.
  } pooling;

  std::map<std::string, StoredTensor, std::less<>> tensors;
  std::map<std::string, std::string, std::less<>> skipped;
  std::vector<std::unique_ptr<MappedFile>> files; ///< Of the tensors.

  /// A file of `texts`; empty where the folder has none.
  std::string_view text(std::string_view name) const {
    auto found = texts.find(name);
    return found == texts.end() ? std::string_view() : found->second;
  }
};

/// Opens the folder at `path`, or all of it but the weights. On error `out` is
/// left as it was.
Status openModelFolder(const std::string &path, ModelFolder &out,
                       bool withWeights = true);

/// Opens the weights of a folder that was opened without them.
Status openFolderWeights(const std::string &path, ModelFolder &folder);

} // namespace gist

#endif // GIST_PASSES_IMPORT_FILES_MODELFOLDER_H
