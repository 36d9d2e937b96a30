//===- Models.h - The models that are served --------------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TOOLS_SERVING_MODELS_H
#define GIST_TOOLS_SERVING_MODELS_H

#include "runtime/device/Device.h"
#include "runtime/session/Pool.h"
#include "runtime/session/Session.h"
#include "runtime/text/Tokenizer.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace gist::serve {

/// A model that is ready. What is const is for all threads; the rest belongs to
/// the thread of the engine.
struct Model {
  std::string name; ///< as clients call it
  /// Clients call it with one of them NAME:ADAPTER.
  std::vector<std::string> adapters;
  std::shared_ptr<const Module> module;
  Tokenizer tokenizer;
  /// Tokens that end an answer, the model's and the tokenizer's.
  std::vector<int32_t> endTokens;
  int64_t context = 0; ///< tokens of a sequence at most
  bool scores = false; ///< knows the probabilities of a prompt's tokens
  size_t embedLimit = 0;
  std::shared_ptr<const TokenTrie> trie; ///< of what writes text
  int64_t created = 0;                   ///< seconds since 1970, of the file

  std::unique_ptr<Pool> pool;       ///< null: does not write text
  std::unique_ptr<Session> encoder; ///< null: makes no embeddings

  /// The adapter of a name MODEL:ADAPTER, by its number; 0: none.
  int32_t adapterOf(const std::string &called) const;
  bool writes() const { return pool != nullptr; }
  bool embeds() const { return encoder != nullptr; }
};

/// A file and the name that it is served under.
struct ModelFile {
  std::string name, path;

  /// Reads `NAME=PATH`, or `PATH`, whose name is that of the file without its
  /// ending.
  static Status parse(const std::string &text, ModelFile &result);
};

struct ModelSettings {
  PoolOptions pool;
  bool verify = false; ///< compare the hash of every weight
  std::string draft;   ///< "lookup", or the module that drafts; empty: none
  Communicator *ranks = nullptr; ///< of a module that several share
};

/// Opens a model on a device, which outlives it. `note`, where not empty, is a
/// sentence for the operator of the server.
Status openModel(const ModelFile &file, const ModelSettings &settings,
                 Device &device, std::unique_ptr<Model> &result,
                 std::string &note);

} // namespace gist::serve

#endif // GIST_TOOLS_SERVING_MODELS_H
