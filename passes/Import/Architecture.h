//===- Architecture.h - The models that can be imported ---------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_IMPORT_ARCHITECTURE_H
#define GIST_PASSES_IMPORT_ARCHITECTURE_H

#include "passes/Import/Files/ModelConfig.h"
#include "passes/Import/Files/ModelSource.h"

#include <initializer_list>
#include <string_view>

namespace gist {

class GraphBuilder;

/// What a module of the model is called in a folder and in a GGUF file. A name
/// that begins with a dot is one of every layer's.
struct ModuleName {
  const char *folder;
  const char *gguf;
};

/// One architecture: how its hyper-parameters are read and its graph is built.
/// To add one, write a file like Llama.cpp and name it in Architectures.def and
/// in CMakeLists.txt.
struct Architecture {
  const char *name; ///< `model_type`, and `general.architecture` if in GGUF.
  const char *ggufName = nullptr; ///< In GGUF, where it differs.
  bool isDecoder;                 ///< Causal, with a KV cache.
  const char *prefix;             ///< May stand before any name in a folder.
  const char *layers;             ///< The list of layers, in a folder.
  /// Names in GGUF files; empty when the architecture is not found there.
  std::initializer_list<ModuleName> ggufNames;
  /// Endings of tensors that files have and the graph has no use for.
  std::initializer_list<const char *> unused;

  Status (*configure)(const ModelSource &source, ModelConfig &config);
  void (*build)(GraphBuilder &b, const ModelConfig &config);
};

#define GIST_ARCHITECTURE(Name) extern const Architecture k##Name;
#include "passes/Import/Architectures.def"
#undef GIST_ARCHITECTURE

/// The architecture of a model, or an error that lists the known ones.
Status findArchitecture(const ModelSource &source, const Architecture *&out);

} // namespace gist

#endif // GIST_PASSES_IMPORT_ARCHITECTURE_H
