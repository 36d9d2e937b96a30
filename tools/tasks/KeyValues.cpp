//===- KeyValues.cpp - Many pairs, one of which is asked for --------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/tasks/Task.h"

#include <set>

using namespace gist::tasks;

/// Eight hexadecimal digits.
static std::string makeCode(Random &random) {
  std::string code;
  for (int i = 0; i < 8; ++i)
    code += "0123456789abcdef"[random.below(16)];
  return code;
}

/// Every line could be the one: keys that look alike are the hard case for a
/// cache that merges keys.
Turns gist::tasks::makeKeyValues(Random &random, const Filler &, size_t units) {
  size_t count = units + 1;
  std::vector<std::pair<std::string, std::string>> pairs;
  std::set<std::string> keys;
  while (pairs.size() < count) {
    std::string key = makeCode(random);
    if (keys.insert(key).second)
      pairs.emplace_back(key, makeCode(random));
  }
  std::string text = "The following lines are pairs of a key and its "
                     "value.\n\n";
  for (const auto &[key, value] : pairs)
    text += "\"" + key + "\": \"" + value + "\"\n";
  const auto &[key, value] = pairs[random.below(count)];
  return {{text,
           "\nQuestion: What is the value of the key \"" + key +
               "\"?\nAnswer: The value of the key \"" + key + "\" is \"",
           value,
           {value}}};
}
