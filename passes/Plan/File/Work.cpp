//===- Work.cpp - How much work attention is ------------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Plan/File/Work.h"
#include "passes/Plan/File/Plan.h"

#include <algorithm>

using namespace gist;

HeadWork &HeadWork::operator+=(const HeadWork &other) {
  keys += other.keys;
  compared += other.compared;
  absorbed += other.absorbed;
  return *this;
}

double gist::countMultiplyAdds(const HeadWork &work,
                               const AttentionShape &shape) {
  auto keySize = static_cast<double>(shape.keySize);
  double row = keySize + static_cast<double>(shape.valueSize);
  // A module that is not for plans of heads does not say how many it has.
  double group = shape.kvHeads > 0 ? static_cast<double>(shape.queryHeads) /
                                         static_cast<double>(shape.kvHeads)
                                   : 0;
  // All query heads of a group read the same key; comparing and absorbing
  // happen once for the KV head.
  return work.keys * group * row + work.compared * keySize +
         work.absorbed * (keySize + row);
}

double gist::countDenseKeys(int64_t before, int64_t tokens) {
  auto p = static_cast<double>(before), n = static_cast<double>(tokens);
  // Every token sees those before the call, and itself and those of the call
  // before it.
  return n * p + n * (n + 1) / 2;
}

HeadWork gist::denseWork(int64_t tokens) {
  return {.keys = countDenseKeys(0, tokens)};
}

WorkMeter::WorkMeter(const AttentionShape &shape, int64_t block,
                     std::vector<float> table)
    : shape(shape), block(block), table(std::move(table)),
      work(static_cast<size_t>(shape.heads())) {}

void WorkMeter::reset() {
  std::fill(work.begin(), work.end(), HeadWork());
  denseKeys = 0;
}

void WorkMeter::add(int64_t before, int64_t tokens,
                    std::span<const double> clusters) {
  denseKeys += countDenseKeys(before, tokens);
  auto n = static_cast<double>(tokens);
  for (size_t i = 0; i < work.size(); ++i) {
    HeadPlace head = readPlace(table, i);
    // Tokens before this one are in clusters, or gone.
    auto firstExact = [&](int64_t at) {
      return head.window < 0 ? 0 : std::max<int64_t>(0, at - head.window);
    };
    // Windows move by whole blocks, so a token may see more than the window.
    int64_t first = firstExact(before / block * block);
    work[i].keys += countDenseKeys(before - first, tokens) + n * clusters[i];
    // Tokens leave a window when a block begins. Those of a head with sinks are
    // dropped, which costs nothing.
    if (before == 0 || before % block != 0 || head.sinks >= 0)
      continue;
    auto absorbed = static_cast<double>(first - firstExact(before - block));
    // A block's tokens meet the clusters that it founds one by one; counted as
    // if all were there from its start.
    work[i].compared += absorbed * clusters[i];
    work[i].absorbed += absorbed;
  }
}

double WorkMeter::multiplyAdds() const {
  double sum = 0;
  for (const HeadWork &head : work)
    sum += countMultiplyAdds(head, shape);
  return sum;
}

double WorkMeter::denseMultiplyAdds() const {
  return static_cast<double>(shape.heads()) *
         countMultiplyAdds({.keys = denseKeys}, shape);
}

double WorkMeter::relative() const {
  double dense = denseMultiplyAdds();
  return dense > 0 ? multiplyAdds() / dense : 0;
}
