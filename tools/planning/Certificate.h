//===- Certificate.h - What was promised, and what is kept ------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TOOLS_PLANNING_CERTIFICATE_H
#define GIST_TOOLS_PLANNING_CERTIFICATE_H

#include "tools/planning/Contract.h"

#include <optional>
#include <span>

namespace gist::plan {

/// Whether a part of a contract holds.
enum class Verdict {
  Kept,   ///< with the confidence asked for
  Likely, ///< as measured, but the scatter allows another answer
  Broken,
};
const char *toString(Verdict verdict);
/// "perplexity", "recall", "answers" or "cosine".
const char *nameOf(TermKind kind);

/// A term for display: ratios to the unchanged model.
struct CertificateRow {
  Term term;
  std::string title;
  double ratio; ///< as measured
  double bound; ///< the ratio's upper or lower end at the confidence
  double limit; ///< what was promised
  Verdict verdict;
  run::Mean parts; ///< losses of parts of text, or of samples, in nats
};

/// What a plan does on texts and seeds that it was not searched with.
struct Certificate {
  std::string plan; ///< its file's name, without folders; may be empty
  Promise promise;
  double confidence = 0;
  std::vector<uint64_t> seeds; ///< of the questions
  size_t samples = 0;          ///< of all tasks together, or of each; 0: none
  bool isOfEachTask = false;
  std::string device; ///< that it was measured on
  double work = 0;    ///< the most of any text, relative to dense
  std::string workOf = "the heads that the plan chooses for";
  std::vector<CertificateRow> rows;
  /// All tasks together, where each has a row. A search keeps this row; the
  /// verdict ignores it, because single tasks are harder to keep.
  std::optional<CertificateRow> all = std::nullopt;

  bool isOfEncoder() const {
    return !rows.empty() && rows.front().term.kind == TermKind::Embedding;
  }
  /// The worst of all rows.
  Verdict verdict() const;
};

/// A loss and its bound as ratios, with the verdict on the promise.
CertificateRow judgeRow(const Term &term, std::string title,
                        const Promise &promise, double loss, double bound,
                        const run::Mean &parts);

Certificate certify(const Contract &contract, const Measurement &measured,
                    const Promise &promise, double confidence,
                    const TaskTerms &tasks, const std::string &device);

/// One certificate of several of a plan, with the samples of all of them. They
/// promise the same, and no text or seed is in two of them: what is counted
/// twice would look surer than it is.
Status combine(std::span<const Certificate> list, Certificate &result);

/// A table, and a sentence.
void print(const Certificate &certificate);

} // namespace gist::plan

#endif // GIST_TOOLS_PLANNING_CERTIFICATE_H
