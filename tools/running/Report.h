//===- Report.h - What generate and chat tell about a run -------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TOOLS_RUNNING_REPORT_H
#define GIST_TOOLS_RUNNING_REPORT_H

#include "tools/running/Options.h"

#include "runtime/text/ChatTemplate.h"

namespace gist::run {

/// Prints speed and memory to standard error.
void printStatistics(const Runner &runner, size_t promptTokens,
                     const GenerateResult &result);

/// A conversation as the model wants it, ready for an answer. What users typed
/// cannot contain special tokens; what the template wrote can.
Status encodeChat(const Tokenizer &tokenizer,
                  const std::vector<ChatMessage> &messages,
                  std::vector<int32_t> &tokens);

} // namespace gist::run

#endif // GIST_TOOLS_RUNNING_REPORT_H
