//===- Summary.h - What was compiled, and what to do now --------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TOOLS_GIST_COMPILE_SUMMARY_H
#define GIST_TOOLS_GIST_COMPILE_SUMMARY_H

#include <string>

namespace gist::compile {

/// Says on standard error how large the module at `path` is, how long it took
/// and which command runs it.
void printSummary(const std::string &path, double seconds);

} // namespace gist::compile

#endif // GIST_TOOLS_GIST_COMPILE_SUMMARY_H
