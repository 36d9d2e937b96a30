//===- Calibration.cpp - What each head costs and loses alone -------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/planning/Calibration.h"

#include "runtime/support/JsonNesting.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>

using namespace gist;
using Json = nlohmann::ordered_json;

static constexpr int64_t kVersion = 2;

/// Shorter prefixes than this say nothing about long context.
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

double gist::divergenceOf(double change) {
  return std::sqrt(1 + change * change) - 1;
}

double HeadLoss::estimate() const {
  if (divergence <= 0 || tokens <= 0)
    return 0;
  // What a head loses differs from its divergence by about as much again, so
  // the prior's variance is divergence^2; that of the mean is the variance of
  // a change, 2 divergence, over the tokens.
  double weight = divergence / (divergence + 2 / tokens);
  return std::max(0.0, divergence + weight * (mean - divergence));
}

HeadLoss Calibration::firstCopyLoss(const HeadRun &run, size_t text,
                                    size_t checkpoint) const {
  // Nothing predicts the first token.
  HeadLoss loss{0, 0, static_cast<double>(checkpoints()[checkpoint] - 1)};
  for (size_t i = 0; i <= checkpoint; ++i) {
    loss.mean += (run.losses[i] - texts[text].dense[i]) / loss.tokens;
    loss.divergence += run.divergences[i] / loss.tokens;
  }
  return loss;
}

HeadLoss Calibration::secondCopyLoss(const HeadRun &run, size_t text) const {
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
  if (calibration.selections.windows > 0)
    text += ",\n  \"selections\": " + calibration.selections.print();
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

static Status refuse(const char *what) {
  return Status::error(Code::BadFile, "expected %s", what);
}

static Status readRun(const Json &json, size_t count, HeadRun &run) {
  run.losses = json.at("nll").get<std::vector<double>>();
  run.divergences = json.at("divergence").get<std::vector<double>>();
  run.clusters = json.at("clusters").get<std::vector<double>>();
  auto keys = json.at("keys").get<std::vector<double>>();
  auto compared = json.at("compared").get<std::vector<double>>();
  auto absorbed = json.at("absorbed").get<std::vector<double>>();
  for (size_t size :
       {run.losses.size(), run.divergences.size(), run.clusters.size(),
        keys.size(), compared.size(), absorbed.size()})
    if (size != count)
      return refuse("a number for each checkpoint");
  for (size_t i = 0; i < count; ++i)
    run.work.push_back({keys[i], compared[i], absorbed[i]});
  return {};
}

/// Throws what the JSON library throws.
static Status read(const Json &json, Calibration &result) {
  if (json.at("gist_calibration").get<int64_t>() != kVersion)
    return refuse("version 2");
  result.model = json.at("model").get<std::string>();
  result.layers = json.at("layers").get<size_t>();
  result.kvHeads = json.at("kv_heads").get<size_t>();
  result.block = json.at("block").get<int64_t>();
  result.tokens = json.at("tokens").get<int64_t>();
  if (result.tokens < 4 || result.block < 1)
    return refuse("sequences of four tokens or more, and a block");
  // A page has a cell for each head; no model has more.
  constexpr size_t kMost = 1000000;
  if (result.layers > kMost || result.kvHeads > kMost ||
      result.layers * result.kvHeads > kMost)
    return refuse("at most 1000000 heads");
  size_t count = result.checkpoints().size();
  for (const Json &text : json.at("texts")) {
    result.texts.push_back({text.at("path").get<std::string>(),
                            text.at("hash").get<std::string>(),
                            text.at("dense_nll").get<std::vector<double>>()});
    if (result.texts.back().dense.size() != count)
      return refuse("a number for each checkpoint");
  }
  for (const Json &candidate : json.at("candidates")) {
    result.candidates.emplace_back();
    GIST_TRY(
        parseHead(candidate.dump(), result.candidates.back())
            .in("candidate " + std::to_string(result.candidates.size() - 1)));
  }
  if (json.contains("selections"))
    GIST_TRY(parseSelectionCurves(json.at("selections"), result.layers,
                                  result.kvHeads, result.selections));
  for (const Json &entry : json.at("heads")) {
    Calibration::Key key(entry.at("layer").get<size_t>(),
                         entry.at("head").get<size_t>(),
                         entry.at("candidate").get<size_t>());
    if (std::get<0>(key) >= result.layers ||
        std::get<1>(key) >= result.kvHeads ||
        std::get<2>(key) >= result.candidates.size() ||
        entry.at("texts").size() != result.texts.size())
      return refuse("heads and candidates that there are, on every text");
    auto [place, isNew] = result.runs.try_emplace(key);
    if (!isNew)
      return Status::error(Code::BadFile,
                           "layer %zu, head %zu, candidate %zu is there twice; "
                           "expected one measurement of each",
                           std::get<0>(key), std::get<1>(key),
                           std::get<2>(key));
    std::vector<HeadRun> &runs = place->second;
    for (const Json &run : entry.at("texts")) {
      runs.emplace_back();
      GIST_TRY(readRun(run, count, runs.back()));
    }
  }
  return {};
}

Status gist::parseCalibration(std::string_view text, Calibration &calibration) {
  GIST_TRY(checkJsonNesting(text));
  Json json = Json::parse(text.begin(), text.end(), nullptr,
                          /*allow_exceptions=*/false);
  if (json.is_discarded() || !json.is_object() ||
      !json.contains("gist_calibration"))
    return Status::error(Code::BadFile,
                         "the file was not written by 'gist-plan calibrate'");
  Calibration result;
  try {
    GIST_TRY(read(json, result));
  } catch (const Json::exception &error) {
    return Status::error(Code::BadFile, "%s", error.what());
  }
  calibration = std::move(result);
  return {};
}

Status gist::readCalibration(const std::string &path,
                             Calibration &calibration) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (!file || !(text << file.rdbuf()))
    return Status::error(Code::NotFound, "%s: the file cannot be read",
                         path.c_str());
  return parseCalibration(text.str(), calibration).in(path);
}
