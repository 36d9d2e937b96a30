//===- EvalWriting.h - gist-run eval --generate -----------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TOOLS_GIST_RUN_EVALWRITING_H
#define GIST_TOOLS_GIST_RUN_EVALWRITING_H

#include "tools/running/Pair.h"
#include "tools/running/Writing.h"

namespace gist::run {

struct EvalWritingOptions {
  ModelOptions model;
  AgainstOptions against;
  std::string text; ///< the prompt is its beginning
  WritingOptions writing;
  int64_t promptTokens = 256;
  bool json = false;
};

/// Writes with one module and reads with the other.
Status runWriting(const EvalWritingOptions &options);

} // namespace gist::run

#endif // GIST_TOOLS_GIST_RUN_EVALWRITING_H
