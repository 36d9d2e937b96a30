//===- Nesting.cpp - How deep the text of a module may nest ---------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Driver/Nesting.h"

#include <algorithm>

using namespace gist;

/// The place after a string that begins at `at`, or after its line: strings end
/// with their lines.
static size_t skipString(llvm::StringRef text, size_t at) {
  for (++at; at < text.size() && text[at] != '\n'; ++at) {
    if (text[at] == '"')
      return at + 1;
    if (text[at] == '\\')
      ++at;
  }
  return at;
}

Status compile::checkNesting(const std::string &name, llvm::StringRef text) {
  // Bytecode has no brackets, and its reader does not recurse.
  if (text.starts_with("ML\xefR"))
    return {};
  int depth = 0, angles = 0, signs = 0;
  int64_t line = 1;
  for (size_t at = 0; at < text.size(); ++at) {
    char each = text[at];
    line += each == '\n';
    if (each == '"') {
      at = skipString(text, at) - 1;
    } else if (each == '/' && text.substr(at).starts_with("//")) {
      at = std::min(text.find('\n', at), text.size()) - 1;
    } else if (text.substr(at).starts_with("->")) {
      ++at; // the > of an arrow, not of a bracket
    } else if (each == '(' || each == '[' || each == '{') {
      ++depth;
    } else if (each == ')' || each == ']' || each == '}') {
      depth = std::max(depth - 1, 0);
    } else if (each == '<') {
      ++angles;
    } else if (each == '>') {
      // One may also be a comparison in a set.
      angles = std::max(angles - 1, 0);
    }
    if (each == '-')
      ++signs;
    else if (each != ' ' && each != '\t' && each != '\n')
      signs = 0;
    if (depth > kMaxIrNesting || angles > kMaxIrNesting ||
        signs > kMaxIrNesting)
      return Status::error(Code::BadFile,
                           "%s:%lld: nests more than %d deep, which no module "
                           "needs",
                           name.c_str(), static_cast<long long>(line),
                           kMaxIrNesting);
  }
  return {};
}
