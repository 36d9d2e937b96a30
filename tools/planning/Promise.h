//===- Promise.h - What a plan may lose -------------------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TOOLS_PLANNING_PROMISE_H
#define GIST_TOOLS_PLANNING_PROMISE_H

#include <cmath>

namespace gist::plan {

/// What a part of a contract is about.
enum class TermKind {
  Perplexity, ///< of text as it comes
  Recall,     ///< of a text's second copy, with the first in the context
  Tasks,      ///< of right answers to questions about a long text
  Embedding,  ///< the cosine between a text's embeddings, of an encoder
};

/// 'p', 'r', 't' or 'e'.
constexpr char letterOf(TermKind kind) {
  return kind == TermKind::Perplexity ? 'p'
         : kind == TermKind::Recall   ? 'r'
         : kind == TermKind::Tasks    ? 't'
                                      : 'e';
}

/// A loss as the ratio to the model as it is: perplexities grow with what is
/// lost in nats, and likelihoods fall; an embedding loses 1 - cosine.
inline double ratioOf(TermKind kind, double loss) {
  return kind == TermKind::Embedding
             ? 1 - loss
             : std::exp(kind == TermKind::Tasks ? -loss : loss);
}

inline double lossOf(TermKind kind, double ratio) {
  return kind == TermKind::Embedding
             ? 1 - ratio
             : (kind == TermKind::Tasks ? -1 : 1) * std::log(ratio);
}

/// Ratios to the model as it is.
struct Promise {
  double perplexity = 1.01; ///< at most
  double recall = 1.05;     ///< at most
  double tasks = 0.98;      ///< at least: likelihood of a right answer's token
  double cosine = 0.995;    ///< at least: of an embedding

  /// Recall may lose five times as much as perplexity, and answers twice.
  static Promise of(double quality) {
    return {quality, 1 + 5 * (quality - 1), 1 - 2 * (quality - 1)};
  }

  double limit(TermKind kind) const {
    return kind == TermKind::Perplexity ? perplexity
           : kind == TermKind::Recall   ? recall
           : kind == TermKind::Tasks    ? tasks
                                        : cosine;
  }
  /// How much may be lost.
  double allowance(TermKind kind) const { return lossOf(kind, limit(kind)); }
};

} // namespace gist::plan

#endif // GIST_TOOLS_PLANNING_PROMISE_H
