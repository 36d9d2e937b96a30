//===- Random.h - The same numbers on every machine -------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TEST_FUZZ_RANDOM_H
#define GIST_TEST_FUZZ_RANDOM_H

#include <cstdint>
#include <initializer_list>

namespace gist::fuzz {

/// SplitMix64. The standard's distributions differ between libraries, and a
/// seed in a report must give the same graph everywhere.
class Random {
public:
  explicit Random(uint64_t seed) : state(seed) {}

  uint64_t next() {
    uint64_t z = (state += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }

  /// From `least` to `most`, both included.
  int64_t range(int64_t least, int64_t most) {
    auto count = static_cast<uint64_t>(most - least) + 1;
    return least + static_cast<int64_t>(next() % count);
  }
  bool oneIn(int64_t n) { return range(1, n) == 1; }
  template <typename T> T oneOf(std::initializer_list<T> choices) {
    return choices.begin()[next() % choices.size()];
  }

private:
  uint64_t state;
};

} // namespace gist::fuzz

#endif // GIST_TEST_FUZZ_RANDOM_H
