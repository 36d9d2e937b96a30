//===- Contract.h - What a plan must keep, measured -------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// A contract of a decoder has three parts: perplexity for every text and
// length, the perplexity of a text's second copy, and how likely right answers
// to questions are, each relative to the model as it is. That of an encoder is
// the cosine between embeddings of every text. What was measured on some tokens
// is judged with its scatter: a part is kept when it would hold at a
// confidence.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TOOLS_PLANNING_CONTRACT_H
#define GIST_TOOLS_PLANNING_CONTRACT_H

#include "tools/planning/MeanLoss.h"
#include "tools/planning/Probe.h"
#include "tools/planning/Promise.h"
#include "tools/planning/Trials.h"
#include "tools/running/Intervals.h"

#include <functional>

namespace gist::plan {

/// One thing that must hold.
struct Term {
  size_t text;    ///< its number; of tasks, the task's
  int64_t tokens; ///< of a sequence
  TermKind kind;
  size_t tasks = 1; ///< tasks that samples come from in turn
};

struct TermResult {
  double loss = 0; ///< mean -log p, nats
  /// Of the heads that a plan chooses for, relative to dense attention on the
  /// same tokens.
  double work = 0;
  /// The mean of each part of its sequences: how much they differ says how sure
  /// the whole is.
  std::vector<double> parts;
  /// The mean of its tokens (MeanLoss.h); 0 where the sequences were known.
  double divergence = 0;
  double count = 0; ///< of tokens, or of questions
};

/// Questions that are part of a contract.
struct TaskTerms {
  size_t samples = 0; ///< of all tasks together, or of each; 0: none
  uint64_t seed = 1;
  int64_t length = 0;  ///< tokens of a sample
  bool isEach = false; ///< a term for each task, rather than one for all
};

/// Something that can be tried in a session.
struct Attempt {
  /// A plan of heads, empty for a module without any. The bulk of a prompt does
  /// what the module's depths are now, or nothing else than the model does.
  Attempt(const Plan &heads, bool isWhole = true);
  /// An encoder whose heads have these taus.
  explicit Attempt(std::vector<double> taus);
  using Run =
      std::function<Status(Prober &prober, std::span<const int32_t> tokens,
                           size_t firstCounted, ProbeRun &result)>;

  /// Equal for what is equal; empty for what changes with the module's depths.
  std::string name;
  Run run;
};

struct Measurement {
  std::vector<TermResult> terms;
  /// The most that a head had in any sequence, by layer and KV head.
  std::vector<double> clusters;
};

class Contract {
public:
  /// Tokens that each term is measured on at least, if the text has as many:
  /// a single short sequence is too noisy.
  int64_t tokensOfTerm = 4096;
  /// Tokens that count behind a prompt; 0: sequences are read as they come.
  /// Sequences then have a prompt, these tokens of the same text, and as many
  /// of the prompt's first again.
  size_t answer = 0;
  /// Without prompts: so many of a sequence's first tokens come again behind
  /// it, for recall; 0: recall has sequences of its own.
  size_t copied = 0;
  /// Where results of sequences are kept; may be null. Outlives this.
  Trials *trials = nullptr;
  /// Told of every sequence that is measured or known, by several threads.
  std::function<void()> afterWindow = {};

  /// `lengths` are those of the sequences. What a text is too short for is left
  /// out, unless it is too short for all.
  Status open(ProbePool &pool, const std::vector<std::string> &texts,
              const std::vector<int64_t> &lengths);
  /// Adds questions; fails if the length is too short for them.
  Status addTasks(ProbePool &pool, const TaskTerms &tasks);

  Status measure(ProbePool &pool, const Attempt &attempt,
                 Measurement &result) const;
  /// The same in two steps: questions take most of the time, and a plan that
  /// loses too much on texts need not be asked any. Terms of questions that
  /// were not asked have no parts.
  Status measureTexts(ProbePool &pool, const Attempt &attempt,
                      Measurement &result) const;
  Status askQuestions(ProbePool &pool, const Attempt &attempt,
                      Measurement &result) const;
  /// Measures the model as it is, which everything is compared with.
  Status measureDense(ProbePool &pool);

  /// What the model as it is was measured to give.
  const Measurement &asItIs() const { return dense; }

  /// What a plan loses in a term: the logarithm of a ratio of perplexities.
  double loss(const Measurement &measured, size_t term) const {
    return measured.terms[term].loss - dense.terms[term].loss;
  }
  /// The same with how far single predictions moved: what is known best of a
  /// change that loses little.
  MeanLoss meanLoss(const Measurement &measured, size_t term) const;
  /// The same of each part of the term's sequences, and how much they scatter.
  /// Where all tasks take turns, each has its share of the samples.
  run::Mean differences(const Measurement &measured, size_t term) const;
  /// The upper bound of a plan's loss on more of the same text, with this
  /// confidence.
  double bound(const Measurement &measured, size_t term,
               double confidence) const;
  /// The same on another text like those of the contract, where it has several:
  /// what they lose differs more than parts of one do.
  double boundOfOthers(const Measurement &measured, size_t term,
                       double confidence) const;
  double densePerplexity(size_t term) const;

  const std::vector<std::string> &texts() const { return paths; }
  /// The name of a term's text without its folder, or of its task.
  std::string title(const Term &term) const;
  const std::vector<Term> &terms() const { return list; }
  /// Sequences of one measurement, and their tokens together.
  size_t countWindows() const { return windows.size(); }
  size_t countTokens() const;

private:
  /// -log p of the tokens of each sequence, or its embedding by the model as it
  /// is; empty where its result was known.
  using TokenLosses = std::vector<std::vector<float>>;
  Status measureWindow(Prober &prober, const Attempt &attempt, size_t number,
                       WindowResult &result, std::vector<float> &losses) const;

  /// A sequence to predict.
  struct Window {
    std::vector<int32_t> tokens;
    /// For each token the part that its loss belongs to; -1: it does not count.
    std::vector<int> partOf;
    std::vector<size_t> termOf = {}; ///< of each part
    char kind = 0;                   ///< letterOf its terms

    /// Counts the tokens from here to the end of `partOf`, for a term.
    void count(size_t begin, size_t end, size_t term);
  };
  void addTexts(size_t text, std::span<const int32_t> tokens, int64_t length);
  void addWithCopy(size_t text, std::span<const int32_t> tokens,
                   int64_t length);
  void addPieces(size_t text, std::span<const int32_t> tokens, int64_t length,
                 const TokenizerSpec &around);
  /// Measures the sequences of texts, or those of questions.
  Status addWindows(ProbePool &pool, const Attempt &attempt, bool areQuestions,
                    Measurement &result, TokenLosses *losses = nullptr) const;
  Measurement emptyMeasurement(ProbePool &pool) const;

  std::vector<std::string> paths;
  std::vector<std::string> taskNames;
  std::vector<Term> list;
  std::vector<Window> windows;
  Measurement dense;
  TokenLosses denseLosses; ///< of the model as it is
};

} // namespace gist::plan

#endif // GIST_TOOLS_PLANNING_CONTRACT_H
