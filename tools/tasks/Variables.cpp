//===- Variables.cpp - Assignments to follow through a text ---------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/tasks/Task.h"

#include <algorithm>
#include <tuple>

using namespace gist::tasks;

/// Five capital letters, another name each time.
static std::string makeName(Random &random, std::vector<std::string> &used) {
  while (true) {
    std::string name;
    for (int i = 0; i < 5; ++i)
      name += static_cast<char>('A' + random.below(26));
    if (std::find(used.begin(), used.end(), name) != used.end())
      continue;
    used.push_back(name);
    return name;
  }
}

/// Two chains of five variables each, of which one is asked for: the first of a
/// chain gets a value, each other the one before it. Their lines stand among
/// sentences, each chain in its order.
Turns gist::tasks::makeVariables(Random &random, const Filler &filler,
                                 size_t units) {
  constexpr size_t kChains = 2, kNames = 5;
  std::vector<std::string> used, values, wanted;
  // Where a line stands, and which of those there it is: chains keep their
  // order.
  std::vector<std::tuple<size_t, size_t, std::string>> lines;
  for (size_t chain = 0; chain < kChains; ++chain) {
    values.push_back(std::to_string((chain + 1) * 20000 + random.below(20000)));
    std::vector<size_t> places;
    for (size_t i = 0; i < kNames; ++i)
      places.push_back(random.below(units + 1));
    std::sort(places.begin(), places.end());
    std::string before;
    for (size_t i = 0; i < kNames; ++i) {
      std::string name = makeName(random, used);
      lines.emplace_back(places[i], lines.size(),
                         "VAR " + name + " = " +
                             (i == 0 ? values.back() : "VAR " + before));
      before = name;
    }
  }
  std::sort(lines.begin(), lines.end());
  size_t asked = random.below(kChains);
  wanted.assign(used.begin() + static_cast<ptrdiff_t>(asked * kNames),
                used.begin() + static_cast<ptrdiff_t>((asked + 1) * kNames));
  std::string text = "Follow the assignments of variables that are hidden in "
                     "the following text.\n\n";
  std::vector<std::string> sentences = filler.sentences(random, units);
  size_t next = 0;
  for (size_t i = 0; i <= units; ++i) {
    for (; next < lines.size() && std::get<0>(lines[next]) == i; ++next)
      text += "\n" + std::get<2>(lines[next]) + "\n";
    if (i < units)
      text += sentences[i] + " ";
  }
  const std::string &value = values[asked];
  return {{text,
           "\n\nQuestion: Which five variables have the value " + value +
               ", directly or by way of others?\nAnswer: The variables with "
               "the value " +
               value + " are",
           " " + join(wanted), wanted}};
}
