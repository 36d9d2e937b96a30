//===- Keys.cpp - API keys ------------------------------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/serving/Keys.h"

#include <algorithm>
#include <sstream>

using namespace gist;
using namespace gist::serve;

Status Keys::add(std::string_view key) {
  bool isPlain =
      !key.empty() && std::all_of(key.begin(), key.end(),
                                  [](char c) { return c > ' ' && c < '\x7f'; });
  if (!isPlain)
    return Status::error(Code::BadArgument,
                         "an API key is empty or has characters other than "
                         "letters, digits and signs of ASCII");
  keys.emplace_back(key);
  return {};
}

Status Keys::addLines(const std::string &text) {
  std::istringstream lines(text);
  size_t before = keys.size();
  for (std::string line; std::getline(lines, line);) {
    while (!line.empty() && (line.back() == '\r' || line.back() == ' '))
      line.pop_back();
    if (!line.empty() && line[0] != '#')
      GIST_TRY(add(line));
  }
  if (keys.size() == before)
    return Status::error(Code::BadArgument, "there is no API key in the file");
  return {};
}

/// Looks at every byte of `given`, wherever they differ.
static bool isSame(std::string_view key, std::string_view given) {
  unsigned difference = key.size() == given.size() ? 0 : 1;
  for (size_t i = 0; i < given.size(); ++i)
    difference |= static_cast<unsigned char>(given[i]) ^
                  static_cast<unsigned char>(key[i % key.size()]);
  // Without this a compiler may leave the loop early.
  asm volatile("" : "+r"(difference));
  return difference == 0;
}

std::optional<size_t> Keys::find(std::string_view authorization) const {
  static constexpr std::string_view kScheme = "Bearer ";
  if (authorization.substr(0, kScheme.size()) != kScheme)
    return std::nullopt;
  std::string_view given = authorization.substr(kScheme.size());
  std::optional<size_t> found;
  for (size_t i = 0; i < keys.size(); ++i)
    if (isSame(keys[i], given))
      found = i;
  return found;
}
