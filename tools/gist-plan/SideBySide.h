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

/// Two modules of one model, and how they are compared. gist-run, which is
/// beside this program, measures.
struct SideBySideOptions {
  std::string dense, planned, plan; ///< files
  std::string folder;               ///< for what gist-run prints
  std::vector<std::string> texts;
  std::string device, model; ///< a model's name, for the page
  unsigned threads = 0;
  int64_t tokens = 0; ///< of a sequence
  Promise promise;
};

/// Time, memory and quality of both: a table on standard output, and
/// `evaluation` for gist-plan report.
Status compareSideBySide(const SideBySideOptions &options,
                         const std::string &evaluation);

} // namespace gist::plan

#endif // GIST_TOOLS_GIST_PLAN_SIDEBYSIDE_H
