//===- HeadErrors.cpp - What heads would give with less to see ------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/planning/HeadErrors.h"

#include "tools/planning/AllCores.h"
#include "tools/planning/LinearMoments.h"

#include <algorithm>
#include <cmath>
#include <cstring>

using namespace gist;
using namespace gist::plan;
using Eigen::Index;
using Rows = Eigen::Map<const Matrix, 0, Eigen::OuterStride<>>;

HeadErrors::HeadErrors(const PlannedModule &module, size_t tokens,
                       size_t stride)
    : module(module), tokens(tokens), stride(stride),
      layers(static_cast<size_t>(module.shape.layers)) {}

void HeadErrors::add(const run::Observer::Shown &shown, size_t past,
                     size_t count) {
  for (const auto &[what, bytes] : shown) {
    if (what.layer < 0 || static_cast<size_t>(what.layer) >= layers.size())
      continue;
    Layer &layer = layers[static_cast<size_t>(what.layer)];
    size_t row = bytes.size() / sizeof(float) / count * sizeof(float);
    auto append = [&](std::vector<float> &rows, size_t first, size_t step) {
      for (size_t i = first; i < count; i += step) {
        size_t old = rows.size();
        rows.resize(old + row / sizeof(float));
        std::memcpy(rows.data() + old, bytes.data() + i * row, row);
      }
    };
    switch (what.kind) {
    case ObservationKind::Keys:
      append(layer.keys, 0, 1);
      break;
    case ObservationKind::Values:
      append(layer.values, 0, 1);
      break;
    case ObservationKind::Queries:
      // Of each group the last, which sees the most of what is kept.
      append(layer.queries, stride - 1 - past % stride, stride);
      break;
    default:
      break;
    }
  }
  added += count;
}

bool HeadErrors::isComplete() const {
  auto kvHeads = static_cast<size_t>(module.shape.kvHeads);
  return added == tokens && std::ranges::all_of(layers, [&](const Layer &each) {
           return each.keys.size() ==
                      tokens * kvHeads *
                          static_cast<size_t>(module.shape.keySize) &&
                  each.values.size() ==
                      tokens * kvHeads *
                          static_cast<size_t>(module.shape.valueSize) &&
                  each.queries.size() ==
                      tokens / stride *
                          static_cast<size_t>(module.shape.queryHeads *
                                              module.shape.keySize);
         });
}

namespace {
/// Clusters of tokens that left a window, as gist.cluster_update makes them.
class Clusters {
public:
  Clusters(const HeadChoice &choice, Index most, Index keySize, Index valueSize)
      : theta(choice.kind == HeadKind::Window
                  ? std::numeric_limits<float>::infinity()
                  : static_cast<float>(choice.theta)),
        sinks(choice.kind == HeadKind::Window ? choice.sinks : -1), most(most),
        units(0, keySize), keys(0, keySize), values(0, valueSize) {}

  void absorb(Index token, const Rows &newKeys, const Rows &newValues) {
    auto key = newKeys.row(token);
    if (sinks >= 0 ? token >= sinks : isAlike(token, key, newValues))
      return;
    if (count == units.rows()) {
      Index rows = std::max<Index>(64, 2 * count);
      units.conservativeResize(rows, Eigen::NoChange);
      keys.conservativeResize(rows, Eigen::NoChange);
      values.conservativeResize(rows, Eigen::NoChange);
      sizes.conservativeResize(rows);
    }
    float norm = key.norm();
    units.row(count) = key / (norm > 0 ? norm : 1);
    keys.row(count) = key;
    values.row(count) = newValues.row(token);
    sizes[count++] = 1;
  }

  Index size() const { return count; }
  auto getKeys() const { return keys.topRows(count); }
  auto getValues() const { return values.topRows(count); }
  auto getSizes() const { return sizes.head(count); }

private:
  /// Lets the token join the nearest cluster, if there is one.
  template <typename Row>
  bool isAlike(Index token, const Row &key, const Rows &newValues) {
    float norm = key.norm();
    if (count == 0 || !(norm > 0) || !std::isfinite(norm))
      return count >= most;
    cosines.noalias() = units.topRows(count) * key.transpose();
    Index nearest = 0;
    float largest = cosines.maxCoeff(&nearest) / norm;
    if (!(largest >= theta) && count < most)
      return false;
    float share = 1 / (sizes[nearest] + 1);
    keys.row(nearest) += share * (key - keys.row(nearest));
    values.row(nearest) += share * (newValues.row(token) - values.row(nearest));
    sizes[nearest] += 1;
    return true;
  }

  float theta;
  int64_t sinks;
  Index most, count = 0;
  Matrix units, keys, values;
  Eigen::VectorXf sizes, cosines;
};

/// Sums of softmax over some rows, relative to the largest score.
struct Softmax {
  Eigen::VectorXf sum;
  float weight = 0, largest = -std::numeric_limits<float>::infinity();

  explicit Softmax(Index size) : sum(Eigen::VectorXf::Zero(size)) {}

  template <typename Scores, typename Values>
  void add(const Scores &scores, const Values &rows) {
    if (scores.size() == 0)
      return;
    float peak = std::max(largest, scores.maxCoeff());
    float before = std::exp(largest - peak);
    Eigen::VectorXf weights = (scores.array() - peak).exp();
    sum = before * sum + rows.transpose() * weights;
    weight = before * weight + weights.sum();
    largest = peak;
  }
  Eigen::VectorXf get() const { return sum / weight; }
};
} // namespace

/// One KV head of one layer with all candidates.
class HeadErrors::Head {
public:
  Head(const HeadErrors &all, size_t head,
       std::span<const HeadChoice> candidates,
       std::span<const int64_t> checkpoints)
      : all(all), candidates(candidates), checkpoints(checkpoints),
        keys(part(all.layers[layerOf(head)].keys, head, shape().keySize)),
        values(part(all.layers[layerOf(head)].values, head, shape().valueSize)),
        number(static_cast<Index>(head) % shape().kvHeads),
        queries(all.layers[layerOf(head)].queries) {}

  std::vector<HeadError> measure() {
    std::vector<Clusters> clusters;
    for (const HeadChoice &choice : candidates)
      clusters.emplace_back(
          choice,
          static_cast<Index>(
              std::ceil(choice.room * static_cast<double>(all.module.context))),
          shape().keySize, shape().valueSize);
    std::vector<HeadError> result(candidates.size());
    for (HeadError &each : result)
      each.moved.resize(checkpoints.size());
    int64_t block = all.module.block, tokens = static_cast<int64_t>(all.tokens),
            stride = static_cast<int64_t>(all.stride);
    for (int64_t past = 0; past < tokens; past += block) {
      for (size_t i = 0; i < candidates.size(); ++i) {
        for (int64_t t = std::max<int64_t>(0, past - block - window(i));
             t < past - window(i); ++t)
          clusters[i].absorb(t, keys, values);
        result[i].clusters.push_back(static_cast<double>(clusters[i].size()));
      }
      // Sampled queries of this block.
      for (int64_t row = past / stride; row < tokens / stride; ++row) {
        int64_t token = (row + 1) * stride - 1;
        if (token >= std::min(past + block, tokens))
          break;
        if (token >= past)
          compare(row, token, past, clusters, result);
      }
    }
    return result;
  }

private:
  const AttentionShape &shape() const { return all.module.shape; }
  size_t layerOf(size_t head) const {
    return head / static_cast<size_t>(shape().kvHeads);
  }
  int64_t window(size_t candidate) const {
    return candidates[candidate].window;
  }
  /// Heads lie side by side in a row.
  Rows part(const std::vector<float> &rows, size_t head, int64_t size) const {
    auto place = static_cast<Index>(head) % shape().kvHeads * size;
    return {rows.data() + place, static_cast<Index>(all.tokens), size,
            Eigen::OuterStride<>(shape().kvHeads * size)};
  }

  /// Adds what one token's queries give with each candidate.
  void compare(int64_t row, int64_t token, int64_t past,
               const std::vector<Clusters> &clusters,
               std::vector<HeadError> &result) const {
    Index group = shape().queryHeads / shape().kvHeads;
    size_t segment = 0;
    while (checkpoints[segment] <= token)
      ++segment;
    float scale = 1 / std::sqrt(static_cast<float>(shape().keySize));
    Eigen::VectorXf scores, others;
    for (Index g = 0; g < group; ++g) {
      Eigen::Map<const Eigen::VectorXf> query(
          queries.data() +
              (row * shape().queryHeads + number * group + g) * shape().keySize,
          shape().keySize);
      scores.noalias() = keys.topRows(token + 1) * query;
      scores *= scale;
      Softmax dense(shape().valueSize);
      dense.add(scores, values.topRows(token + 1));
      Eigen::VectorXf whole = dense.get();
      for (size_t i = 0; i < candidates.size(); ++i) {
        result[i].size += static_cast<double>(all.stride) *
                          static_cast<double>(whole.squaredNorm());
        int64_t exact = std::max<int64_t>(0, past - window(i));
        if (exact == 0)
          continue;
        Softmax less(shape().valueSize);
        less.add(scores.segment(exact, token + 1 - exact),
                 values.middleRows(exact, token + 1 - exact));
        others.noalias() = clusters[i].getKeys() * query;
        others = others * scale + clusters[i].getSizes().array().log().matrix();
        less.add(others, clusters[i].getValues());
        result[i].moved[segment] +=
            static_cast<double>(all.stride) *
            static_cast<double>((less.get() - whole).squaredNorm());
      }
    }
  }

  const HeadErrors &all;
  std::span<const HeadChoice> candidates;
  std::span<const int64_t> checkpoints;
  Rows keys, values;
  Index number;
  const std::vector<float> &queries;
};

HeadErrors::Found
HeadErrors::measure(std::span<const size_t> heads,
                    std::span<const HeadChoice> candidates,
                    std::span<const int64_t> checkpoints) const {
  Found found(static_cast<size_t>(module.shape.heads()));
  forEachOnAllCores(heads.size(), [&](size_t i) {
    found[heads[i]] = Head(*this, heads[i], candidates, checkpoints).measure();
  });
  return found;
}
