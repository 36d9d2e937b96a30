//===- Certificate.cpp - What was promised, and what is kept --------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/planning/Certificate.h"

#include "tools/running/Intervals.h"

#include "nlohmann/json.hpp"

#include <algorithm>
#include <cmath>

using namespace gist;
using namespace gist::plan;
using Json = nlohmann::ordered_json;

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

static const char *nameOf(TermKind kind) {
  switch (kind) {
  case TermKind::Perplexity:
    return "perplexity";
  case TermKind::Recall:
    return "recall";
  case TermKind::Tasks:
    return "answers";
  }
  return "";
}

Verdict Certificate::verdict() const {
  Verdict worst = Verdict::Kept;
  for (const CertificateRow &row : rows)
    worst = std::max(worst, row.verdict);
  return worst;
}

/// A loss and where it ends, as ratios, with what they say of the promise.
static CertificateRow judgeRow(const Term &term, std::string title,
                               const Promise &promise, double loss,
                               double bound, const run::Mean &parts) {
  double allowed = promise.allowance(term.kind);
  // One part alone says nothing of how sure it is.
  bool isSure = parts.count > 1 && bound <= allowed;
  // Perplexities grow with what is lost, likelihoods fall.
  double sign = term.kind == TermKind::Tasks ? -1 : 1;
  return {term,
          std::move(title),
          std::exp(sign * loss),
          std::exp(sign * bound),
          promise.limit(term.kind),
          isSure            ? Verdict::Kept
          : loss <= allowed ? Verdict::Likely
                            : Verdict::Broken,
          parts.count,
          parts.error};
}

Certificate plan::certify(const Contract &contract, const Measurement &measured,
                          const Promise &promise, double confidence,
                          const TaskTerms &tasks, const std::string &device) {
  Certificate result{promise, confidence, tasks, device, 0, {}};
  std::vector<double> answers;
  for (size_t k = 0; k < contract.terms().size(); ++k) {
    const Term &term = contract.terms()[k];
    std::vector<double> parts = contract.differences(measured, k);
    if (term.kind == TermKind::Tasks)
      answers.insert(answers.end(), parts.begin(), parts.end());
    else
      result.work = std::max(result.work, measured.terms[k].work);
    result.rows.push_back(judgeRow(
        term, contract.title(term), promise, contract.loss(measured, k),
        contract.bound(measured, k, confidence), run::meanOf(parts)));
  }
  if (!answers.empty() && tasks.isEach) {
    run::Mean mean = run::meanOf(answers);
    result.all = judgeRow({0, tasks.length, TermKind::Tasks}, "all tasks",
                          promise, mean.value, mean.upper(confidence), mean);
  }
  return result;
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
  std::printf("work of the heads that the plan chooses for: %.4f of dense at "
              "most, on %s\n",
              certificate.work, certificate.device.c_str());
}

/// Four digits are what a person reads and a measurement gives.
static double rounded(double value) { return std::round(value * 1e4) / 1e4; }

static Json toJson(const CertificateRow &row) {
  return {{"part", nameOf(row.term.kind)},
          {"text", row.title},
          {"tokens", row.term.tokens},
          {"ratio", rounded(row.ratio)},
          {"bound", rounded(row.bound)},
          {"promised", rounded(row.limit)},
          {"verdict", toString(row.verdict)},
          {"count", row.parts},
          // In nats, where errors of several certificates can be put together.
          {"error", std::round(row.error * 1e6) / 1e6}};
}

Json plan::toJson(const Certificate &certificate) {
  Json rows = Json::array();
  for (const CertificateRow &row : certificate.rows)
    rows.push_back(::toJson(row));
  const Promise &promise = certificate.promise;
  Json json = {{"verdict", toString(certificate.verdict())},
               {"device", certificate.device},
               {"work", rounded(certificate.work)},
               {"confidence", certificate.confidence},
               {"perplexity", rounded(promise.perplexity)},
               {"recall", rounded(promise.recall)}};
  if (certificate.tasks.samples > 0) {
    json["tasks"] = rounded(promise.tasks);
    json["task_seed"] = certificate.tasks.seed;
    json["task_samples"] = certificate.tasks.samples;
    json["of_each_task"] = certificate.tasks.isEach;
  }
  if (certificate.all)
    json["all_tasks"] = ::toJson(*certificate.all);
  json["parts"] = std::move(rows);
  return json;
}
