//===- SideBySide.h - A model with and without a plan -----------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TOOLS_GIST_PLAN_SIDEBYSIDE_H
#define GIST_TOOLS_GIST_PLAN_SIDEBYSIDE_H

#include "runtime/support/Status.h"
#include "tools/planning/Promise.h"

#include <string>
#include <vector>

namespace gist::plan {

/// A model and a plan for it, and how they are compared. gist-run and
/// gist-compile, which are beside this program, measure and compile.
struct SideBySideOptions {
  std::string model, plan; ///< files
  std::string compiler;    ///< as findCompiler finds it
  std::string compute;     ///< gist-compile --compute; may be empty
  std::string folder;      ///< for modules and what gist-run prints
  std::string command;     ///< that the page names
  std::vector<std::string> texts;
  std::string device;
  unsigned threads = 0;
  int64_t context = 0;
  int64_t tokens = 0; ///< of a sequence
  /// Runs that are timed. Of several, one comes before and is not counted.
  int repetitions = 1;
  bool wantsRecall = false;
  Promise promise;
};

/// What a plan was measured to gain.
struct SpeedUp {
  double prompt = 1, answer = 1;           ///< times as fast
  double densePrompt = 0, denseAnswer = 0; ///< tokens/s without the plan
  bool isFollowed = false; ///< where a user compiles with the plan

  bool isThere() const { return isFollowed && (prompt > 1 || answer > 1); }
  /// Of a prompt and an answer of so many tokens.
  double ofJob(int64_t promptTokens, int64_t answerTokens) const;
};

/// gist-compile as the user names it, or beside this program. Refuses a device
/// that it cannot compile for.
Status findCompiler(const std::string &device, std::string &compiler);

/// Makes a folder for results, where it is not there.
Status makeFolder(const std::string &path);

/// Compiles the model. Weights stay where they are, where they can be used as
/// they are.
Status compileModel(const SideBySideOptions &options, const std::string &output,
                    const std::vector<std::string> &more);

/// Time, memory and quality with and without the plan: a table on standard
/// output, and `evaluation` for gist-plan report.
Status compareSideBySide(const SideBySideOptions &options,
                         const std::string &evaluation, SpeedUp &speedUp);

/// One page (HTML) of everything that these files have measured.
Status writePage(const std::vector<std::string> &files,
                 const std::string &output);

} // namespace gist::plan

#endif // GIST_TOOLS_GIST_PLAN_SIDEBYSIDE_H
