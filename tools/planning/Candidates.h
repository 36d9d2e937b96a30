//===- Candidates.h - What a head may be asked to do ------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TOOLS_PLANNING_CANDIDATES_H
#define GIST_TOOLS_PLANNING_CANDIDATES_H

#include "passes/Plan/File/Plan.h"

namespace gist::plan {

/// Windows with sinks and clusters of several thresholds; of each kind the
/// cheapest first. Dense is always a choice, and not in the list.
std::vector<HeadChoice> defaultCandidates();

/// A list of heads in a JSON file, as a plan has them.
Status readCandidates(const std::string &path,
                      std::vector<HeadChoice> &candidates);

} // namespace gist::plan

#endif // GIST_TOOLS_PLANNING_CANDIDATES_H
