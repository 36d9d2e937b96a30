//===- Contract.h - What a plan must keep, measured -------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// A quality q is a contract of two parts for every text and length: perplexity
// at most q times that of the model as it is, and the perplexity of a text's
// second copy at most 1 + 5 (q - 1) times.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TOOLS_PLANNING_CONTRACT_H
#define GIST_TOOLS_PLANNING_CONTRACT_H

#include "tools/planning/Probe.h"
#include "tools/planning/Trials.h"

#include <functional>

namespace gist::plan {

/// One thing that must hold.
struct Term {
  size_t text;    ///< its number
  int64_t tokens; ///< of a sequence
  bool isRecall;  ///< the second copy, or text as it comes
};

struct TermResult {
  double loss = 0; ///< mean -log p, nats
  double work = 0; ///< relative to dense attention on the same tokens
};

struct Measurement {
  std::vector<TermResult> terms;
  /// The most that a head had in any sequence, by layer and KV head.
  std::vector<double> clusters;
};

class Contract {
public:
  /// Tokens that each term is measured on at least, if the text has as many:
  /// a short sequence alone says little.
  int64_t tokensOfTerm = 4096;
  /// Where results of sequences are kept; may be null. Outlives this.
  Trials *trials = nullptr;
  /// Told of every sequence that is measured or known, by several threads.
  std::function<void()> afterWindow = {};

  /// `lengths` are those of the sequences. What a text is too short for is left
  /// out, unless it is too short for all.
  Status open(ProbePool &pool, const std::vector<std::string> &texts,
              const std::vector<int64_t> &lengths);

  Status measure(ProbePool &pool, const Plan &plan, Measurement &result) const;
  /// Measures the model as it is, which everything is compared with.
  Status measureDense(ProbePool &pool);

  /// What a quality allows the recall: five times what perplexity may lose.
  static double recallQuality(double quality) { return 1 + 5 * (quality - 1); }
  /// How many nats a term may lose.
  static double allowance(const Term &term, double quality);
  /// What a plan loses in a term: the logarithm of a ratio of perplexities.
  double loss(const Measurement &measured, size_t term) const {
    return measured.terms[term].loss - dense.terms[term].loss;
  }
  double densePerplexity(size_t term) const;

  const std::vector<std::string> &texts() const { return paths; }
  const std::vector<Term> &terms() const { return list; }
  /// Sequences of one measurement, and their tokens together.
  size_t countWindows() const { return windows.size(); }
  size_t countTokens() const;

private:
  Status measureWindow(Prober &prober, const Plan &plan, size_t number,
                       WindowResult &result) const;

  /// A sequence to predict, for a term.
  struct Window {
    size_t term;
    std::vector<int32_t> tokens;
  };

  std::vector<std::string> paths;
  std::vector<Term> list;
  std::vector<Window> windows;
  Measurement dense;
};

} // namespace gist::plan

#endif // GIST_TOOLS_PLANNING_CONTRACT_H
