//===- Random.h - The same numbers on every machine -------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The standard library's generators repeat everywhere, but what it makes of
// them (distributions, shuffles) does not.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TOOLS_TASKS_RANDOM_H
#define GIST_TOOLS_TASKS_RANDOM_H

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace gist::tasks {

/// SplitMix64.
class Random {
public:
  explicit Random(uint64_t seed) : state(seed) {}

  uint64_t next() {
    state += 0x9e3779b97f4a7c15u;
    uint64_t z = state;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }

  /// From 0 to `count` - 1; `count` is small, so that no correction is needed
  /// for what does not divide.
  size_t below(size_t count) { return static_cast<size_t>(next() % count); }

  template <typename T> const T &choose(std::span<const T> from) {
    return from[below(from.size())];
  }

  template <typename T> void shuffle(std::vector<T> &list) {
    for (size_t i = list.size(); i > 1; --i)
      std::swap(list[i - 1], list[below(i)]);
  }

private:
  uint64_t state;
};

} // namespace gist::tasks

#endif // GIST_TOOLS_TASKS_RANDOM_H
