//===- JobTime.h - What parts of a model take of a job ----------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TOOLS_PLANNING_JOBTIME_H
#define GIST_TOOLS_PLANNING_JOBTIME_H

#include "passes/Plan/File/Plan.h"
#include "passes/Plan/File/Work.h"

namespace gist::plan {

/// What a user does: a prompt is read, and an answer is written behind it.
struct Job {
  int64_t prompt = 2048, answer = 256; ///< tokens
};

/// The states of a layer that what its heads take depends on: whether its cache
/// is that of a plan, and whether the bulk of a prompt needs its attention.
inline constexpr size_t kLayerStates = 4;
constexpr size_t layerState(bool isPlanned, bool hasAttention) {
  return 2 * static_cast<size_t>(isPlanned) +
         static_cast<size_t>(!hasAttention);
}

/// What a head does in a prompt, and for a token behind it.
struct HeadPart {
  HeadKind kind = HeadKind::Dense;
  HeadWork work;   ///< of the prompt
  double rows = 0; ///< of keys that a written token sees
};

/// What parts of a model take on a machine, in seconds, or in any other unit.
struct PartRates {
  /// A multiply-add of a product of many rows.
  double product = 1;
  /// A multiply-add of scores and values: of a dense head in a layer without a
  /// plan and in one with a plan, of a window, of clusters; and one of a token
  /// that joins a cluster.
  double dense = 1, looked = 1, ring = 1, cluster = 1, joined = 1;
  /// A number of a key or value that a written token reads.
  double denseKept = 0, lookedKept = 0, ringKept = 0, clusterKept = 0;
  /// What a layer with a plan takes more, for a token of a prompt and for a
  /// written one.
  double planned = 0, plannedToken = 0;
  /// Two calls for the ends of a prompt, beside the work of their tokens.
  double ends = 0;
  /// A byte of weights that a written token reads.
  double weight = 0;
  /// What no choice changes, of the whole job.
  double rest = 0;

  /// What is kept, in place of time: numbers of keys and values, and bytes of
  /// weights where these are a choice.
  static PartRates ofMemory() {
    return {.product = 0,
            .dense = 0,
            .looked = 0,
            .ring = 0,
            .cluster = 0,
            .joined = 0,
            .denseKept = 1,
            .lookedKept = 1,
            .ringKept = 1,
            .clusterKept = 1,
            .weight = 1};
  }
};

class JobTime {
public:
  /// Without rates: multiply-adds of a prompt.
  JobTime(const Job &job, const AttentionShape &shape,
          const PartRates &rates = {})
      : what(job), shape(shape), rates(rates) {}

  const Job &job() const { return what; }
  /// Of a head, in a layer whose cache is that of a plan or not.
  double ofPrompt(const HeadPart &part, bool isPlanned) const;
  double ofAnswer(const HeadPart &part, bool isPlanned) const;
  /// What a plan costs a layer beside its heads.
  double ofPlannedLayer() const {
    return rates.planned * static_cast<double>(what.prompt) +
           rates.plannedToken * static_cast<double>(what.answer);
  }
  /// Of products of so many multiply-adds for each token of the bulk.
  double ofProducts(double multiplyAdds, int64_t bulk) const {
    return rates.product * multiplyAdds * static_cast<double>(bulk);
  }
  double ofEnds() const { return rates.ends; }
  double ofRest() const { return rates.rest; }
  /// Of so many bytes of weights that every written token reads.
  double ofWeights(double bytes) const {
    return rates.weight * bytes * static_cast<double>(what.answer);
  }

private:
  Job what;
  AttentionShape shape;
  PartRates rates;
};

} // namespace gist::plan

#endif // GIST_TOOLS_PLANNING_JOBTIME_H
