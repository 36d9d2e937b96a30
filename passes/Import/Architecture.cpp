//===- Architecture.cpp - The models that can be imported -----------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Import/Architecture.h"

using namespace gist;

/// One pointer for each line of Architectures.def.
static const Architecture *const kArchitectures[] = {
#define GIST_ARCHITECTURE(Name) &k##Name,
#include "passes/Import/Architectures.def"
#undef GIST_ARCHITECTURE
};

Status gist::findArchitecture(const ModelSource &source,
                              const Architecture *&out) {
  std::string known;
  for (const Architecture *candidate : kArchitectures) {
    // An architecture without GGUF names exists in folders only, and is not
    // offered for a file.
    if (source.isGguf && candidate->ggufNames.size() == 0)
      continue;
    const char *name = source.isGguf && candidate->ggufName
                           ? candidate->ggufName
                           : candidate->name;
    if (source.architecture == name) {
      out = candidate;
      return {};
    }
    known += (known.empty() ? "" : ", ") + std::string(name);
  }
  return Status::error(Code::Unsupported,
                       "the architecture %s is not supported; a %s may have %s",
                       inQuotes(source.architecture).c_str(),
                       source.isGguf ? "GGUF file" : "folder", known.c_str());
}
