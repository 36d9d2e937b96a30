//===- HeadErrorsTest.cpp - Tests of what heads would give ----------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/planning/HeadErrors.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>

using namespace gist;
using namespace gist::plan;

namespace {
constexpr size_t kLayers = 2, kKvHeads = 2, kGroup = 3, kKey = 8, kValue = 12,
                 kTokens = 96, kBlock = 16, kStride = 3;
using Row = std::vector<double>;

double dot(const Row &a, const Row &b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i)
    sum += a[i] * b[i];
  return sum;
}

/// A sequence with rows that repeat, one that is zero, and others at random.
struct Sequence {
  std::vector<Row> queries, keys, values; ///< by layer, token, head

  explicit Sequence(unsigned seed) {
    std::mt19937 random(seed);
    std::normal_distribution<float> normal;
    auto fill = [&](std::vector<Row> &rows, size_t heads, size_t size) {
      for (size_t i = 0; i < kLayers * kTokens * heads; ++i) {
        Row &row = rows.emplace_back();
        for (size_t k = 0; k < size; ++k)
          row.push_back(static_cast<double>(normal(random)));
      }
    };
    fill(queries, kKvHeads * kGroup, kKey);
    fill(keys, kKvHeads, kKey);
    fill(values, kKvHeads, kValue);
    for (size_t t = 8; t < kTokens; t += 5)
      keys[t * kKvHeads + 1] = keys[(t - 7) * kKvHeads + 1];
    keys[20 * kKvHeads] = Row(kKey);
  }
  const Row &key(size_t layer, size_t token, size_t head) const {
    return keys[(layer * kTokens + token) * kKvHeads + head];
  }
  const Row &value(size_t layer, size_t token, size_t head) const {
    return values[(layer * kTokens + token) * kKvHeads + head];
  }
  const Row &query(size_t layer, size_t token, size_t head) const {
    return queries[(layer * kTokens + token) * kKvHeads * kGroup + head];
  }

  /// What a call shows of some tokens.
  run::Observer::Shown show(size_t past, size_t count) const {
    run::Observer::Shown shown;
    for (size_t layer = 0; layer < kLayers; ++layer) {
      auto add = [&](ObservationKind kind, const std::vector<Row> &rows,
                     size_t heads) {
        std::vector<float> numbers;
        for (size_t i = 0; i < count * heads; ++i)
          for (double number : rows[(layer * kTokens + past) * heads + i])
            numbers.push_back(static_cast<float>(number));
        std::vector<uint8_t> bytes(numbers.size() * sizeof(float));
        std::memcpy(bytes.data(), numbers.data(), bytes.size());
        shown[{.kind = kind, .layer = static_cast<int64_t>(layer)}] = bytes;
      };
      add(ObservationKind::Queries, queries, kKvHeads * kGroup);
      add(ObservationKind::Keys, keys, kKvHeads);
      add(ObservationKind::Values, values, kKvHeads);
      add(ObservationKind::Residual, keys, kKvHeads);
    }
    return shown;
  }
};

struct Kept {
  Row key, value, unit;
  double count = 1;
};

/// The clusters of the tokens before `end`, as gist.cluster_update says.
std::vector<Kept> clustersOf(const Sequence &sequence, size_t layer,
                             size_t head, size_t end,
                             const HeadChoice &choice) {
  std::vector<Kept> kept;
  auto most = static_cast<size_t>(std::ceil(choice.room * kTokens));
  for (size_t t = 0; t < end; ++t) {
    const Row &key = sequence.key(layer, t, head),
              &value = sequence.value(layer, t, head);
    double norm = std::sqrt(dot(key, key));
    if (choice.kind == HeadKind::Window) {
      if (t < static_cast<size_t>(choice.sinks))
        kept.push_back({key, value, {}});
      continue;
    }
    Kept *nearest = nullptr;
    double largest = -2;
    for (Kept &each : kept)
      if (double cosine = norm > 0 ? dot(each.unit, key) / norm : -3;
          cosine > largest) {
        largest = cosine;
        nearest = &each;
      }
    if (nearest && (largest >= choice.theta || kept.size() == most)) {
      for (size_t k = 0; k < kKey; ++k)
        nearest->key[k] =
            (nearest->key[k] * nearest->count + key[k]) / (nearest->count + 1);
      for (size_t k = 0; k < kValue; ++k)
        nearest->value[k] = (nearest->value[k] * nearest->count + value[k]) /
                            (nearest->count + 1);
      ++nearest->count;
    } else if (kept.size() < most) {
      Row unit = key;
      for (double &number : unit)
        number /= norm > 0 ? norm : 1;
      kept.push_back({key, value, unit});
    }
  }
  return kept;
}

Row attend(const Sequence &sequence, size_t layer, size_t token, size_t head,
           size_t exact, std::vector<Kept> kept) {
  for (size_t t = exact; t <= token; ++t)
    kept.push_back({sequence.key(layer, t, head / kGroup),
                    sequence.value(layer, t, head / kGroup),
                    {}});
  Row sum(kValue);
  double weight = 0;
  for (const Kept &each : kept) {
    double share = each.count *
                   std::exp(dot(each.key, sequence.query(layer, token, head)) /
                            std::sqrt(static_cast<double>(kKey)));
    weight += share;
    for (size_t k = 0; k < kValue; ++k)
      sum[k] += share * each.value[k];
  }
  for (double &number : sum)
    number /= weight;
  return sum;
}

PlannedModule makeModule() {
  PlannedModule module;
  module.shape = {.layers = kLayers,
                  .kvHeads = kKvHeads,
                  .queryHeads = kKvHeads * kGroup,
                  .keySize = kKey,
                  .valueSize = kValue};
  module.block = kBlock;
  module.context = kTokens;
  return module;
}
} // namespace

TEST(HeadErrors, AsAttentionWithEachCandidate) {
  PlannedModule module = makeModule();
  const std::vector<HeadChoice> candidates = {
      {.kind = HeadKind::Window, .window = 16, .sinks = 2},
      {.kind = HeadKind::Window, .window = 48, .sinks = 0},
      {.kind = HeadKind::Clusters, .window = 16, .theta = 0.5, .room = 1},
      {.kind = HeadKind::Clusters, .window = 32, .theta = 0.9, .room = 0.1}};
  const std::vector<int64_t> checkpoints = {24, 48, 96};
  // Not the first head of the first layer, which has no candidates.
  const std::vector<size_t> heads = {1, 2, 3};
  for (unsigned seed : {1U, 2U, 3U}) {
    Sequence sequence(seed);
    HeadErrors errors(module, kTokens, kStride);
    for (size_t past = 0, count = 5; past < kTokens; past += count) {
      count = std::min<size_t>(past % kBlock == 0 ? 5 : 11, kTokens - past);
      EXPECT_FALSE(errors.isComplete());
      errors.add(sequence.show(past, count), past, count);
    }
    ASSERT_TRUE(errors.isComplete());
    HeadErrors::Found found = errors.measure(heads, candidates, checkpoints);
    EXPECT_TRUE(found[0].empty());
    for (size_t head : heads)
      for (size_t i = 0; i < candidates.size(); ++i) {
        size_t layer = head / kKvHeads, number = head % kKvHeads;
        auto window = static_cast<size_t>(candidates[i].window);
        std::vector<double> moved(checkpoints.size());
        double size = 0;
        auto exactAt = [&](size_t t) {
          size_t start = t / kBlock * kBlock;
          return start > window ? start - window : 0;
        };
        for (size_t t = kStride - 1; t < kTokens; t += kStride)
          for (size_t g = 0; g < kGroup; ++g) {
            Row whole = attend(sequence, layer, t, number * kGroup + g, 0, {});
            Row less = attend(
                sequence, layer, t, number * kGroup + g, exactAt(t),
                clustersOf(sequence, layer, number, exactAt(t), candidates[i]));
            size += kStride * dot(whole, whole);
            for (size_t k = 0; k < kValue; ++k)
              less[k] -= whole[k];
            size_t segment = t < 24 ? 0 : t < 48 ? 1 : 2;
            moved[segment] += kStride * dot(less, less);
          }
        const HeadError &error = found[head][i];
        EXPECT_NEAR(error.size, size, 1e-4 * size);
        ASSERT_EQ(error.moved.size(), moved.size());
        for (size_t k = 0; k < moved.size(); ++k)
          EXPECT_NEAR(error.moved[k], moved[k], 1e-4 * (moved[k] + 1))
              << "head " << head << ", candidate " << i << ", part " << k;
        ASSERT_EQ(error.clusters.size(), kTokens / kBlock);
        for (size_t b = 0; b < kTokens / kBlock; ++b)
          EXPECT_EQ(
              error.clusters[b],
              static_cast<double>(clustersOf(sequence, layer, number,
                                             exactAt(b * kBlock), candidates[i])
                                      .size()));
      }
  }
}

TEST(HeadErrors, NothingMovesBeforeAWindowIsFull) {
  PlannedModule module = makeModule();
  Sequence sequence(4);
  HeadErrors errors(module, kTokens, kStride);
  errors.add(sequence.show(0, kTokens), 0, kTokens);
  const std::vector<size_t> heads = {0};
  const std::vector<HeadChoice> candidates = {
      {.kind = HeadKind::Window, .window = 80, .sinks = 0}};
  const std::vector<int64_t> checkpoints = {48, 96};
  HeadErrors::Found found = errors.measure(heads, candidates, checkpoints);
  EXPECT_EQ(found[0][0].moved, (std::vector<double>{0, 0}));
}

TEST(HeadErrors, SaysThatRowsAreMissing) {
  PlannedModule module = makeModule();
  Sequence sequence(5);
  HeadErrors errors(module, kTokens, kStride);
  run::Observer::Shown shown = sequence.show(0, kTokens);
  shown.erase({.kind = ObservationKind::Values, .layer = 1});
  errors.add(shown, 0, kTokens);
  EXPECT_FALSE(errors.isComplete());
}
