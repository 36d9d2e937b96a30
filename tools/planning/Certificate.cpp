//===- Certificate.cpp - What was promised, and what is kept --------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/planning/Certificate.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

using namespace gist;
using namespace gist::plan;

const char *plan::toString(Verdict verdict) {
  switch (verdict) {
  case Verdict::Kept:
    return "kept";
  case Verdict::Likely:
    return "likely";
  case Verdict::Broken:
    return "broken";
  }
  return "";
}

const char *plan::nameOf(TermKind kind) {
  switch (kind) {
  case TermKind::Perplexity:
    return "perplexity";
  case TermKind::Recall:
    return "recall";
  case TermKind::Tasks:
    return "answers";
  case TermKind::Embedding:
    return "cosine";
  }
  return "";
}

Verdict Certificate::verdict() const {
  Verdict worst = Verdict::Kept;
  for (const CertificateRow &row : rows)
    worst = std::max(worst, row.verdict);
  return worst;
}

CertificateRow plan::judgeRow(const Term &term, std::string title,
                              const Promise &promise, double loss, double bound,
                              const run::Mean &parts) {
  double allowed = promise.allowance(term.kind);
  // A single part has no scatter to compute a confidence from.
  bool isSure = parts.count > 1 && bound <= allowed;
  return {term,
          std::move(title),
          ratioOf(term.kind, loss),
          ratioOf(term.kind, bound),
          promise.limit(term.kind),
          isSure            ? Verdict::Kept
          : loss <= allowed ? Verdict::Likely
                            : Verdict::Broken,
          parts};
}

/// All tasks together: each has its share of the samples.
static std::optional<CertificateRow>
judgeAllTasks(const std::vector<CertificateRow> &rows, const Promise &promise,
              double confidence) {
  std::vector<run::Mean> tasks;
  int64_t tokens = 0;
  for (const CertificateRow &row : rows)
    if (row.term.kind == TermKind::Tasks) {
      tasks.push_back(row.parts);
      tokens = row.term.tokens;
    }
  if (tasks.empty())
    return std::nullopt;
  run::Mean mean = run::stratify(tasks);
  return judgeRow({0, tokens, TermKind::Tasks}, "all tasks", promise,
                  mean.value, mean.upper(confidence), mean);
}

Certificate plan::certify(const Contract &contract, const Measurement &measured,
                          const Promise &promise, double confidence,
                          const TaskTerms &tasks, const std::string &device) {
  Certificate result;
  result.promise = promise;
  result.confidence = confidence;
  result.device = device;
  result.samples = tasks.samples;
  result.isOfEachTask = tasks.isEach;
  if (tasks.samples > 0)
    result.seeds.push_back(tasks.seed);
  for (size_t k = 0; k < contract.terms().size(); ++k) {
    const Term &term = contract.terms()[k];
    if (term.kind != TermKind::Tasks)
      result.work = std::max(result.work, measured.terms[k].work);
    result.rows.push_back(judgeRow(term, contract.title(term), promise,
                                   contract.loss(measured, k),
                                   contract.bound(measured, k, confidence),
                                   contract.differences(measured, k)));
  }
  if (tasks.isEach)
    result.all = judgeAllTasks(result.rows, promise, confidence);
  return result;
}

//===----------------------------------------------------------------------===//
// Several certificates
//===----------------------------------------------------------------------===//

/// Refuses two certificates that cannot be combined.
static Status checkAlike(const Certificate &a, const Certificate &b) {
  auto promiseOf = [](const Certificate &c) {
    return std::tuple(c.promise.perplexity, c.promise.recall, c.promise.tasks,
                      c.confidence);
  };
  // A certificate without questions promises nothing about them.
  Certificate other = b;
  if (a.samples == 0 || b.samples == 0)
    other.promise.tasks = a.promise.tasks;
  if (promiseOf(a) != promiseOf(other))
    return Status::error(Code::BadArgument,
                         "certificates of '%s' promise different things, or "
                         "with different confidence",
                         a.plan.c_str());
  if (a.device != b.device)
    return Status::error(Code::BadArgument,
                         "certificates of '%s' are of two devices: %s and %s",
                         a.plan.c_str(), a.device.c_str(), b.device.c_str());
  if (a.samples > 0 && b.samples > 0 && a.isOfEachTask != b.isOfEachTask)
    return Status::error(Code::BadArgument,
                         "a certificate of '%s' has a row for each task, "
                         "another one for all",
                         a.plan.c_str());
  return {};
}

/// Adds the rows of one more certificate: those of texts are new, those of
/// tasks get more samples.
static Status addRows(const Certificate &more, Certificate &result) {
  for (const CertificateRow &row : more.rows) {
    for (const CertificateRow &other : result.rows)
      if (row.term.kind == TermKind::Tasks &&
          other.term.kind == TermKind::Tasks &&
          other.term.tokens != row.term.tokens)
        return Status::error(Code::BadArgument,
                             "certificates of '%s' have questions of %lld and "
                             "of %lld tokens",
                             result.plan.c_str(),
                             static_cast<long long>(other.term.tokens),
                             static_cast<long long>(row.term.tokens));
    auto known =
        std::ranges::find_if(result.rows, [&](const CertificateRow &other) {
          return other.term.kind == row.term.kind && other.title == row.title &&
                 other.term.tokens == row.term.tokens;
        });
    if (known == result.rows.end()) {
      // Texts first, as in a certificate of one run.
      auto isTask = [](const CertificateRow &other) {
        return other.term.kind == TermKind::Tasks;
      };
      result.rows.insert(row.term.kind == TermKind::Tasks
                             ? result.rows.end()
                             : std::ranges::find_if(result.rows, isTask),
                         row);
      continue;
    }
    if (row.term.kind != TermKind::Tasks)
      return Status::error(Code::BadArgument,
                           "two certificates of '%s' have the text '%s' of "
                           "%lld tokens, which may count once",
                           result.plan.c_str(), row.title.c_str(),
                           static_cast<long long>(row.term.tokens));
    run::Mean both[] = {known->parts, row.parts};
    run::Mean mean = run::pool(both);
    *known = judgeRow(known->term, known->title, result.promise, mean.value,
                      mean.upper(result.confidence), mean);
  }
  return {};
}

Status plan::combine(std::span<const Certificate> list, Certificate &result) {
  if (list.empty())
    return Status::error(Code::BadArgument,
                         "there are no certificates; expected one or more");
  Certificate sum = list.front();
  std::set<uint64_t> seeds(sum.seeds.begin(), sum.seeds.end());
  for (const Certificate &more : list.subspan(1)) {
    GIST_TRY(checkAlike(sum, more));
    for (uint64_t seed : more.seeds) {
      if (!seeds.insert(seed).second)
        return Status::error(Code::BadArgument,
                             "two certificates of '%s' have questions of seed "
                             "%llu, which may count once",
                             sum.plan.c_str(),
                             static_cast<unsigned long long>(seed));
      sum.seeds.push_back(seed);
    }
    if (sum.samples == 0) {
      sum.isOfEachTask = more.isOfEachTask;
      sum.promise.tasks = more.promise.tasks;
    }
    sum.samples += more.samples;
    sum.work = std::max(sum.work, more.work);
    GIST_TRY(addRows(more, sum));
  }
  if (sum.isOfEachTask)
    sum.all = judgeAllTasks(sum.rows, sum.promise, sum.confidence);
  result = std::move(sum);
  return {};
}

void plan::print(const Certificate &certificate) {
  std::printf("%-24s %7s %-10s %8s %8s %9s  %s\n", "held-out text", "tokens",
              "", "ratio", "bound", "promised", "");
  for (const CertificateRow &row : certificate.rows)
    std::printf("%-24s %7lld %-10s %8.4f %8.4f %9.4f  %s\n", row.title.c_str(),
                static_cast<long long>(row.term.tokens), nameOf(row.term.kind),
                row.ratio, row.bound, row.limit, toString(row.verdict));
  if (const std::optional<CertificateRow> &row = certificate.all)
    std::printf("%-24s %7lld %-10s %8.4f %8.4f %9.4f  %s\n", row->title.c_str(),
                static_cast<long long>(row->term.tokens), "answers", row->ratio,
                row->bound, row->limit, toString(row->verdict));
  size_t counts[3] = {};
  for (const CertificateRow &row : certificate.rows)
    ++counts[static_cast<size_t>(row.verdict)];
  std::printf("certificate: of %zu parts %zu are kept with %g %% confidence, "
              "%zu as measured, %zu not\n",
              certificate.rows.size(), counts[0], 100 * certificate.confidence,
              counts[1], counts[2]);
  // Work is measured on texts.
  if (certificate.work == 0)
    std::printf("measured without texts, on %s\n", certificate.device.c_str());
  else
    std::printf("work of %s: %.4f of dense at most, on %s\n",
                certificate.workOf.c_str(), certificate.work,
                certificate.device.c_str());
}
