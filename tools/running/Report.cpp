//===- Report.cpp - What generate and chat tell about a run ---------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/running/Report.h"

#include <cerrno>
#include <cstring>

using namespace gist;
using namespace gist::run;

/// Flushed, so that a text appears as it is made.
Status run::printText(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() &&
      std::fflush(stdout) == 0)
    return {};
  return Status::error(Code::Io, "standard output: cannot write: %s",
                       std::strerror(errno));
}

void run::printStatistics(const Runner &runner, const GenerateResult &result) {
  // Nothing decoded, nothing timed.
  auto rate = [](double tokens, int64_t nanoseconds) {
    return nanoseconds > 0 ? tokens / (static_cast<double>(nanoseconds) / 1e9)
                           : 0.0;
  };
  auto milliseconds = [](int64_t nanoseconds) {
    return static_cast<double>(nanoseconds) / 1e6;
  };
  std::fprintf(stderr, "load:     %10.1f ms\n", runner.loadSeconds * 1e3);
  std::fprintf(
      stderr, "prompt:   %10.1f ms, %6zu tokens, %9.2f tokens/s\n",
      milliseconds(result.promptNanoseconds), result.promptTokens,
      rate(static_cast<double>(result.promptTokens), result.promptNanoseconds));
  std::fprintf(stderr, "decode:   %10.1f ms, %6lld tokens, %9.2f tokens/s\n",
               milliseconds(result.decodeNanoseconds),
               static_cast<long long>(result.decodedTokens),
               rate(static_cast<double>(result.decodedTokens),
                    result.decodeNanoseconds));
  if (const DraftCounts &drafts = result.drafts; drafts.calls > 0)
    std::fprintf(stderr,
                 "drafts:   %10lld tokens, %6lld accepted, in %lld calls\n",
                 static_cast<long long>(drafts.drafted),
                 static_cast<long long>(drafts.accepted),
                 static_cast<long long>(drafts.calls));
  std::fprintf(stderr, "finish:   %s after %zu tokens\n",
               toString(result.reason), result.tokens.size());
  MemoryUse use = runner.session->memoryUse();
  std::fprintf(stderr,
               "memory:   weights %s, state %s for %lld tokens, scratch %s, "
               "input and output %s, peak resident %s\n",
               sizeText(use.weights).c_str(), sizeText(use.state).c_str(),
               static_cast<long long>(runner.session->capacity()),
               sizeText(use.arena).c_str(), sizeText(use.io).c_str(),
               sizeText(peakMemory()).c_str());
}
