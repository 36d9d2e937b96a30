//===- BuiltInTexts.h - Texts that a tool has with it -----------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TOOLS_PLANNING_BUILTINTEXTS_H
#define GIST_TOOLS_PLANNING_BUILTINTEXTS_H

#include <span>
#include <string_view>

namespace gist::plan {

/// A text that needs no file: tools/planning/texts says where it comes from.
struct BuiltInText {
  const char *name; ///< of a file to write it to
  std::string_view text;
  bool isHeldOut; ///< to judge a plan by, not to find it with
};

std::span<const BuiltInText> builtInTexts();

} // namespace gist::plan

#endif // GIST_TOOLS_PLANNING_BUILTINTEXTS_H
