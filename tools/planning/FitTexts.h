//===- FitTexts.h - What maps are fitted with -------------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TOOLS_PLANNING_FITTEXTS_H
#define GIST_TOOLS_PLANNING_FITTEXTS_H

#include "runtime/support/Status.h"
#include "runtime/text/Tokenizer.h"

#include <string>
#include <vector>

namespace gist::plan {

/// A text in two parts: one to fit maps with, one to search with. Maps are
/// better on what they were fitted with.
struct SplitText {
  std::string name, fit, search;
};

/// Reads texts, of which the last part is to search with: a quarter, or as much
/// as `searchTokens` take, but at most half. Without any path those that are
/// built in.
Status readSplitTexts(const std::vector<std::string> &paths,
                      int64_t searchTokens, std::vector<SplitText> &texts);

struct FitTokens {
  int64_t most = 65536;  ///< of all texts
  int64_t window = 2048; ///< of a question with its text
  bool hasQuestions = true;
  uint64_t seed = 1; ///< of questions
};

/// A quarter of what maps are fitted with are questions. Answers depend on rows
/// that are rare in texts, such as those of lists.
Status collectFitTokens(const Tokenizer &tokenizer,
                        const std::vector<SplitText> &texts,
                        const FitTokens &options, std::vector<int32_t> &tokens);

} // namespace gist::plan

#endif // GIST_TOOLS_PLANNING_FITTEXTS_H
