//===- ReportStep.h - A page of measurements, as a step ---------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TOOLS_GIST_PLAN_REPORTSTEP_H
#define GIST_TOOLS_GIST_PLAN_REPORTSTEP_H

#include "runtime/support/Status.h"

#include <string>
#include <vector>

namespace gist::plan {

/// One page (HTML) of everything that these files have measured.
Status writePage(const std::vector<std::string> &files,
                 const std::string &output);

} // namespace gist::plan

#endif // GIST_TOOLS_GIST_PLAN_REPORTSTEP_H
