//===- CertificateFile.cpp - Certificates as JSON -------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/planning/CertificateFile.h"

#include "runtime/support/Json.h"

#include "nlohmann/json.hpp"

#include <cmath>

using namespace gist;
using namespace gist::plan;
using Json = nlohmann::ordered_json;

/// Four digits are as precise as the measurements.
static double rounded(double value) { return std::round(value * 1e4) / 1e4; }

/// A cosine of .9999 differs from .9998.
static double rounded(TermKind kind, double value) {
  return kind == TermKind::Embedding ? std::round(value * 1e5) / 1e5
                                     : rounded(value);
}

static Json toJson(const CertificateRow &row) {
  TermKind kind = row.term.kind;
  return {{"part", nameOf(row.term.kind)},
          {"text", row.title},
          {"tokens", row.term.tokens},
          {"ratio", rounded(kind, row.ratio)},
          {"bound", rounded(kind, row.bound)},
          {"promised", rounded(kind, row.limit)},
          {"verdict", toString(row.verdict)},
          {"count", row.parts.count},
          // In nats, where errors of several certificates can be put together.
          {"error", std::round(row.parts.error * 1e6) / 1e6}};
}

Json plan::toJson(const Certificate &certificate) {
  Json rows = Json::array();
  for (const CertificateRow &row : certificate.rows)
    rows.push_back(::toJson(row));
  const Promise &promise = certificate.promise;
  Json json;
  if (!certificate.plan.empty())
    json["plan"] = certificate.plan;
  json["verdict"] = toString(certificate.verdict());
  json["device"] = certificate.device;
  json["work"] = rounded(certificate.work);
  json["work_of"] = certificate.workOf;
  json["confidence"] = certificate.confidence;
  if (certificate.isOfEncoder()) {
    json["cosine"] = promise.cosine;
  } else {
    json["perplexity"] = rounded(promise.perplexity);
    json["recall"] = rounded(promise.recall);
  }
  if (certificate.samples > 0) {
    json["tasks"] = rounded(promise.tasks);
    json["task_seeds"] = certificate.seeds;
    json["task_samples"] = certificate.samples;
    json["of_each_task"] = certificate.isOfEachTask;
  }
  if (certificate.all)
    json["all_tasks"] = ::toJson(*certificate.all);
  json["parts"] = std::move(rows);
  return json;
}

Json plan::toJson(const Promise &promise, double confidence) {
  Json contract = {{"quality", promise.perplexity},
                   {"recall", rounded(promise.recall)}};
  if (promise.tasks > 0)
    contract["tasks"] = rounded(promise.tasks);
  contract["confidence"] = confidence;
  return contract;
}

void plan::addCertificate(const Certificate &certificate, Json &contract) {
  Json judged = toJson(certificate);
  contract["certified"] = std::move(judged["parts"]);
  judged.erase("parts");
  contract["certificate"] = std::move(judged);
}

std::string plan::printCertificates(std::span<const Certificate> list) {
  Json json = Json::array();
  for (const Certificate &certificate : list)
    json.push_back(toJson(certificate));
  return Json{{"gist_certificates", json}}.dump(1) + "\n";
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

static Status refuse(const std::string &what) {
  return Status::error(Code::BadFile, "expected %s", what.c_str());
}

/// Far above any measurement.
static constexpr int64_t kMostCount = int64_t{1} << 40;

/// Ratios and verdicts follow from the loss and its scatter.
static Status readRow(const Json &json, const Certificate &certificate,
                      CertificateRow &row) {
  std::string part;
  double ratio = 1, error = 0;
  int64_t count = 0;
  GIST_TRY(readText(json, "part", part));
  GIST_TRY(readText(json, "text", row.title));
  GIST_TRY(readInteger(json, "tokens", 1, kMostCount, row.term.tokens));
  GIST_TRY(readNumber(json, "ratio", 1e-4, 1e9, ratio));
  GIST_TRY(readNumber(json, "error", 0, 1e6, error));
  GIST_TRY(readInteger(json, "count", 1, kMostCount, count));
  bool isKnown = false;
  for (TermKind kind :
       {TermKind::Perplexity, TermKind::Recall, TermKind::Tasks})
    if (part == nameOf(kind)) {
      row.term.kind = kind;
      isKnown = true;
    }
  if (!isKnown)
    return refuse("'part', one of perplexity, recall and answers");
  run::Mean mean{lossOf(row.term.kind, ratio), error,
                 static_cast<size_t>(count)};
  // A single part has no scatter.
  double bound = count > 1 ? mean.upper(certificate.confidence) : mean.value;
  row = judgeRow(row.term, row.title, certificate.promise, mean.value, bound,
                 mean);
  return {};
}

static Status readCertificate(const Json &json, Certificate &result) {
  GIST_TRY(readText(json, "plan", result.plan));
  GIST_TRY(readText(json, "device", result.device));
  GIST_TRY(readNumber(json, "work", 0, 1e3, result.work));
  if (json.contains("work_of"))
    GIST_TRY(readText(json, "work_of", result.workOf));
  GIST_TRY(readNumber(json, "confidence", 0.5, 0.9999, result.confidence));
  GIST_TRY(
      readNumber(json, "perplexity", 1.0001, 2, result.promise.perplexity));
  GIST_TRY(readNumber(json, "recall", 1.0001, 10, result.promise.recall));
  if (json.contains("task_samples")) {
    int64_t samples = 0;
    GIST_TRY(readNumber(json, "tasks", 1e-4, 0.9999, result.promise.tasks));
    GIST_TRY(readInteger(json, "task_samples", 1, kMostCount, samples));
    result.samples = static_cast<size_t>(samples);
    const Json *isOfEach = nullptr, *seeds = nullptr;
    GIST_TRY(findMember(json, "of_each_task", "true or false", isOfEach));
    if (!isOfEach->is_boolean())
      return refuse("'of_each_task', true or false");
    result.isOfEachTask = isOfEach->get<bool>();
    GIST_TRY(findList(json, "task_seeds", seeds));
    if (seeds->empty())
      return refuse("'task_seeds', a list of whole numbers");
    for (const Json &seed : *seeds) {
      std::optional<uint64_t> number = bitsOf(seed);
      if (!number)
        return refuse("'task_seeds', a list of whole numbers");
      result.seeds.push_back(*number);
    }
  }
  const Json *parts = nullptr;
  GIST_TRY(findList(json, "parts", parts));
  if (parts->empty())
    return refuse("'parts', a list of one or more");
  for (const Json &part : *parts) {
    result.rows.emplace_back();
    GIST_TRY(readRow(part, result, result.rows.back()));
    if (result.rows.back().term.kind == TermKind::Tasks && result.samples == 0)
      return refuse("'task_samples' where a part is of answers");
  }
  return {};
}

Status plan::parseCertificates(std::string_view text,
                               std::vector<Certificate> &list) {
  Json json;
  GIST_TRY(parseJson(text, json));
  if (!json.is_object() || !json.contains("gist_certificates") ||
      !json["gist_certificates"].is_array())
    return Status::error(Code::BadFile,
                         "not a file of certificates of gist-plan");
  std::vector<Certificate> result;
  for (const Json &entry : json["gist_certificates"]) {
    result.emplace_back();
    GIST_TRY(readCertificate(entry, result.back())
                 .in("certificate " + std::to_string(result.size() - 1)));
  }
  if (result.empty())
    return refuse("'gist_certificates', a list of one or more");
  list = std::move(result);
  return {};
}
