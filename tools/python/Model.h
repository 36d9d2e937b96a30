//===- Model.h - A module and its tokenizer, for Python ---------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TOOLS_PYTHON_MODEL_H
#define GIST_TOOLS_PYTHON_MODEL_H

#include "runtime/session/Conversation.h"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <string>
#include <utility>
#include <vector>

namespace gist::python {

/// Token ids that Python holds; read where they are.
using TokensIn = nanobind::ndarray<const int32_t, nanobind::ndim<1>,
                                   nanobind::c_contig, nanobind::device::cpu>;

/// Arrays for Python.
using TokensOut =
    nanobind::ndarray<nanobind::numpy, int32_t, nanobind::ndim<1>>;
using FloatsOut = nanobind::ndarray<nanobind::numpy, float>;

/// Role and content of each message, UTF-8.
using Messages = std::vector<std::pair<nanobind::bytes, nanobind::bytes>>;

inline std::string getString(const nanobind::bytes &bytes) {
  return {bytes.c_str(), bytes.size()};
}

inline std::span<const int32_t> getSpan(const TokensIn &tokens) {
  return {tokens.data(), tokens.size()};
}

/// Gives the values of a vector to Python, where they are.
template <typename T>
nanobind::ndarray<nanobind::numpy, T>
moveToArray(std::vector<T> values, std::initializer_list<size_t> shape) {
  auto *kept = new std::vector<T>(std::move(values));
  nanobind::capsule owner(kept, [](void *pointer) noexcept {
    delete static_cast<std::vector<T> *>(pointer);
  });
  return {kept->data(), shape, owner};
}

std::vector<ChatMessage> readMessages(const Messages &messages);

/// What gist.Model is made of.
struct Model {
  std::shared_ptr<const Module> module;
  std::shared_ptr<const Tokenizer> tokenizer; ///< null: there is none
  bool isTrusted = false;                     ///< the caller says so

  /// Throws where the module has no tokenizer.
  const Tokenizer &needTokenizer() const;
};

/// The entry of that name; throws if there is no such entry.
const EntrySpec *findEntry(const ModuleSpec &spec, const std::string &name);

/// Adds the class to the extension module.
void addModel(nanobind::module_ &m);
/// Adds sessions and their streams.
void addSession(nanobind::module_ &m);

} // namespace gist::python

#endif // GIST_TOOLS_PYTHON_MODEL_H
