//===- Calibration.cpp - What each head costs and loses alone -------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/planning/Calibration.h"

#include "runtime/support/Json.h"
#include "tools/running/Options.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cinttypes>
#include <cmath>

using namespace gist;
using Json = nlohmann::ordered_json;

static constexpr int64_t kVersion = 1;

/// Shorter prefixes than this tell nothing about long context.
static constexpr int64_t kShortest = 256;

std::vector<int64_t> gist::makeCheckpoints(int64_t tokens) {
  // The sequence is a text twice: the last two are the end of each copy.
  std::vector<int64_t> result = {tokens, tokens / 2};
  while (result.back() / 2 >= kShortest)
    result.push_back(result.back() / 2);
  std::reverse(result.begin(), result.end());
  return result;
}

std::vector<int64_t> Calibration::checkpoints() const {
  return makeCheckpoints(tokens);
}

MeanLoss Calibration::firstCopyLoss(const HeadRun &run, size_t text,
                                    size_t checkpoint) const {
  // Nothing predicts the first token.
  MeanLoss loss{0, 0, static_cast<double>(checkpoints()[checkpoint] - 1)};
  for (size_t i = 0; i <= checkpoint; ++i) {
    loss.mean += (run.losses[i] - texts[text].dense[i]) / loss.tokens;
    loss.divergence += run.divergences[i] / loss.tokens;
  }
  return loss;
}

MeanLoss Calibration::secondCopyLoss(const HeadRun &run, size_t text) const {
  // Losses are sums between checkpoints; the last is the second copy alone.
  auto count = static_cast<double>(tokens - tokens / 2);
  return {(run.losses.back() - texts[text].dense.back()) / count,
          run.divergences.back() / count, count};
}

//===----------------------------------------------------------------------===//
// The file
//===----------------------------------------------------------------------===//

static Json toJson(const HeadRun &run) {
  Json keys = Json::array(), compared = Json::array(), absorbed = Json::array();
  for (const HeadWork &work : run.work) {
    keys.push_back(work.keys);
    compared.push_back(work.compared);
    absorbed.push_back(work.absorbed);
  }
  return {{"nll", run.losses},    {"divergence", run.divergences},
          {"keys", keys},         {"compared", compared},
          {"absorbed", absorbed}, {"clusters", run.clusters}};
}

std::string gist::printCalibration(const Calibration &calibration) {
  // One line for each text, candidate and measurement.
  std::string text = "{\n  \"gist_calibration\": " + std::to_string(kVersion);
  text += ",\n  \"model\": " + Json(calibration.model).dump();
  text += ",\n  \"layers\": " + std::to_string(calibration.layers);
  text += ",\n  \"kv_heads\": " + std::to_string(calibration.kvHeads);
  text += ",\n  \"block\": " + std::to_string(calibration.block);
  text += ",\n  \"tokens\": " + std::to_string(calibration.tokens);
  text += ",\n  \"checkpoints\": " + Json(calibration.checkpoints()).dump();
  const char *comma = "\n    ";
  text += ",\n  \"texts\": [";
  for (const CalibrationText &entry : calibration.texts) {
    text += comma + Json{{"path", entry.path},
                         {"hash", entry.hash},
                         {"dense_nll", entry.dense}}
                        .dump();
    comma = ",\n    ";
  }
  comma = "\n    ";
  text += "\n  ],\n  \"candidates\": [";
  for (const HeadChoice &candidate : calibration.candidates) {
    text += comma + printHead(candidate);
    comma = ",\n    ";
  }
  text += "\n  ]";
  comma = "\n    ";
  text += ",\n  \"heads\": [";
  for (const auto &[key, runs] : calibration.runs) {
    auto [layer, head, candidate] = key;
    Json list = Json::array();
    for (const HeadRun &run : runs)
      list.push_back(toJson(run));
    text += comma + Json{{"layer", layer},
                         {"head", head},
                         {"candidate", candidate},
                         {"texts", list}}
                        .dump();
    comma = ",\n    ";
  }
  return text + "\n  ]\n}\n";
}

/// More than any text loses or any head compares; sums stay finite.
static constexpr double kMostNumber = 1e15;

static Status readRun(const Json &json, size_t count, HeadRun &run) {
  std::vector<double> keys, compared, absorbed;
  GIST_TRY(
      readNumbers(json, "nll", count, -kMostNumber, kMostNumber, run.losses));
  GIST_TRY(readNumbers(json, "divergence", count, -kMostNumber, kMostNumber,
                       run.divergences));
  GIST_TRY(readNumbers(json, "clusters", count, 0, kMostNumber, run.clusters));
  GIST_TRY(readNumbers(json, "keys", count, 0, kMostNumber, keys));
  GIST_TRY(readNumbers(json, "compared", count, 0, kMostNumber, compared));
  GIST_TRY(readNumbers(json, "absorbed", count, 0, kMostNumber, absorbed));
  for (size_t i = 0; i < count; ++i)
    run.work.push_back({keys[i], compared[i], absorbed[i]});
  return {};
}

/// What one head did with one candidate, on every text.
static Status readHead(const Json &json, size_t count, Calibration &result) {
  size_t layer = 0, head = 0, candidate = 0;
  GIST_TRY(readIndex(json, "layer", result.layers, layer));
  GIST_TRY(readIndex(json, "head", result.kvHeads, head));
  GIST_TRY(readIndex(json, "candidate", result.candidates.size(), candidate));
  const Json *texts = nullptr;
  GIST_TRY(findList(json, "texts", texts));
  if (texts->size() != result.texts.size())
    return Status::error(Code::BadFile, "'texts' has %zu entries; expected %zu",
                         texts->size(), result.texts.size());
  auto [place, isNew] = result.runs.try_emplace({layer, head, candidate});
  if (!isNew)
    return Status::error(Code::BadFile,
                         "layer %zu, head %zu, candidate %zu is there twice; "
                         "expected one measurement of each",
                         layer, head, candidate);
  for (const Json &run : *texts) {
    place->second.emplace_back();
    GIST_TRY(readRun(run, count, place->second.back()));
  }
  return {};
}

/// The sizes, which everything after is compared with.
static Status readSizes(const Json &json, Calibration &result) {
  // A page has a cell for each head; no model has more.
  constexpr int64_t kMostHeads = 1000000, kMostTokens = int64_t{1} << 40;
  int64_t version = 0, layers = 0, kvHeads = 0;
  GIST_TRY(readInteger(json, "gist_calibration", kVersion, kVersion, version));
  GIST_TRY(readText(json, "model", result.model));
  GIST_TRY(readInteger(json, "layers", 0, kMostHeads, layers));
  GIST_TRY(readInteger(json, "kv_heads", 0, kMostHeads, kvHeads));
  if (layers * kvHeads > kMostHeads)
    return Status::error(
        Code::BadFile, "there are %" PRId64 " heads; expected at most %" PRId64,
        layers * kvHeads, kMostHeads);
  GIST_TRY(readInteger(json, "block", 1, kMostTokens, result.block));
  // Two copies of a text that has something to predict.
  GIST_TRY(readInteger(json, "tokens", 4, kMostTokens, result.tokens));
  result.layers = static_cast<size_t>(layers);
  result.kvHeads = static_cast<size_t>(kvHeads);
  return {};
}

static Status read(const Json &json, Calibration &result) {
  GIST_TRY(readSizes(json, result));
  size_t count = result.checkpoints().size();
  const Json *texts = nullptr, *candidates = nullptr, *heads = nullptr;
  GIST_TRY(findList(json, "texts", texts));
  GIST_TRY(findList(json, "candidates", candidates));
  GIST_TRY(findList(json, "heads", heads));
  for (const Json &entry : *texts) {
    CalibrationText &text = result.texts.emplace_back();
    GIST_TRY(readText(entry, "path", text.path));
    GIST_TRY(readText(entry, "hash", text.hash));
    GIST_TRY(readNumbers(entry, "dense_nll", count, -kMostNumber, kMostNumber,
                         text.dense));
  }
  for (const Json &candidate : *candidates) {
    result.candidates.emplace_back();
    GIST_TRY(
        parseHead(candidate.dump(), result.candidates.back())
            .in("candidate " + std::to_string(result.candidates.size() - 1)));
  }
  for (size_t i = 0; i < heads->size(); ++i)
    GIST_TRY(readHead((*heads)[i], count, result)
                 .in("'heads', entry " + std::to_string(i)));
  return {};
}

Status gist::parseCalibration(std::string_view text, Calibration &calibration) {
  Json json;
  GIST_TRY(parseJson(text, json));
  if (!json.is_object() || !json.contains("gist_calibration"))
    return Status::error(Code::BadFile,
                         "the file was not written by 'gist-plan calibrate'");
  Calibration result;
  GIST_TRY(read(json, result));
  calibration = std::move(result);
  return {};
}

Status gist::readCalibration(const std::string &path,
                             Calibration &calibration) {
  std::string text;
  GIST_TRY(run::readText(path, text));
  return parseCalibration(text, calibration).in(path);
}

Status gist::readCandidates(const std::string &path,
                            std::vector<HeadChoice> &candidates) {
  std::string text;
  GIST_TRY(run::readText(path, text));
  Json json;
  GIST_TRY(parseJson(text, json).in(path));
  if (!json.is_array() || json.empty())
    return Status::error(Code::BadFile, "%s: expected a list of heads",
                         path.c_str());
  std::vector<HeadChoice> result;
  for (const Json &entry : json) {
    result.emplace_back();
    std::string where = path + ": head " + std::to_string(result.size() - 1);
    GIST_TRY(parseHead(entry.dump(), result.back()).in(where));
    if (result.back().kind == HeadKind::Dense)
      return Status::error(
          Code::BadFile,
          "%s: expected a list without \"dense\", which is always a choice",
          where.c_str());
  }
  candidates = std::move(result);
  return {};
}
