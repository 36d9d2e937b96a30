//===- BenchDrafts.h - What drafts gain -------------------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TOOLS_GIST_RUN_BENCHDRAFTS_H
#define GIST_TOOLS_GIST_RUN_BENCHDRAFTS_H

#include "tools/running/Drafts.h"

namespace gist::run {

struct BenchDraftOptions {
  DraftOptions draft;
  std::string text;        ///< a file: what is continued
  int64_t tokens = 128;    ///< to write
  int64_t repetitions = 5; ///< of both, in turns
  std::string format = "text";
};

/// Continues a text greedily with and without drafts, in turns, after one of
/// each that is not counted.
Status benchDrafts(const ModelOptions &model, const BenchDraftOptions &options);

} // namespace gist::run

#endif // GIST_TOOLS_GIST_RUN_BENCHDRAFTS_H
