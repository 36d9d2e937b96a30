//===- BenchStreams.h - gist-run bench --streams ----------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TOOLS_GIST_RUN_BENCHSTREAMS_H
#define GIST_TOOLS_GIST_RUN_BENCHSTREAMS_H

#include "tools/running/Options.h"

namespace gist::run {

/// Several sequences at once: each stream reads a prompt and writes an answer,
/// again and again.
struct StreamOptions {
  std::vector<int64_t> streams;      ///< how many; several make several tests
  int64_t prompt = 128, answer = 64; ///< tokens of each request
  int64_t rounds = 2;                ///< requests of each stream
  bool fastAlone = false;            ///< PoolOptions::fastAlone
  std::string format = "text";
};

/// Measures streams on a model. All prompts differ, so that nothing is taken
/// over from one to another.
Status benchStreams(ModelOptions model, const StreamOptions &options);

} // namespace gist::run

#endif // GIST_TOOLS_GIST_RUN_BENCHSTREAMS_H
