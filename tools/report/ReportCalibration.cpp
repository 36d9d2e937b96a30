//===- ReportCalibration.cpp - What a calibration measured ----------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/report/Plot.h"
#include "tools/report/ReportData.h"
#include "tools/report/ReportPage.h"

#include <algorithm>
#include <cmath>

using namespace gist;
using nlohmann::json;

/// A description of a candidate.
static std::string nameOf(const HeadChoice &head) {
  std::string window = std::to_string(head.window);
  switch (head.kind) {
  case HeadKind::Dense:
    return "dense";
  case HeadKind::Window:
    return "window " + window + ", " + std::to_string(head.sinks) + " sinks";
  case HeadKind::Clusters:
    return "clusters of cosine " + plan::shortNumber(head.theta, 2) +
           ", window " + window;
  case HeadKind::Random:
    return "a random share of " + plan::shortNumber(head.room, 2) +
           ", window " + window;
  }
  return "";
}

/// Means over texts of what one head loses and sees, layers x heads; null where
/// a candidate was not measured.
static json describeCandidate(const Calibration &calibration,
                              size_t candidate) {
  size_t last = calibration.checkpoints().size() - 2;
  double dense = denseWork(calibration.tokens).keys;
  json losses = json::array(), recall = losses, keys = losses;
  for (size_t layer = 0; layer < calibration.layers; ++layer) {
    for (json *part : {&losses, &recall, &keys})
      part->push_back(json::array());
    for (size_t head = 0; head < calibration.kvHeads; ++head) {
      auto found = calibration.runs.find({layer, head, candidate});
      bool isKnown = found != calibration.runs.end() && !found->second.empty();
      double first = 0, second = 0, seen = 0;
      for (size_t text = 0; isKnown && text < found->second.size(); ++text) {
        const HeadRun &run = found->second[text];
        auto count = static_cast<double>(found->second.size());
        first += calibration.firstCopyLoss(run, text, last).estimate() / count;
        second += calibration.secondCopyLoss(run, text).estimate() / count;
        seen += run.work.back().keys / dense / count;
      }
      losses.back().push_back(isKnown ? json(first) : json());
      recall.back().push_back(isKnown ? json(second) : json());
      keys.back().push_back(isKnown ? json(seen) : json());
    }
  }
  return {{"name", nameOf(calibration.candidates[candidate])},
          {"loss", losses},
          {"recall_loss", recall},
          {"keys", keys}};
}

/// The numbers of all layers and heads.
static std::vector<double> flatten(const json &candidate, const char *key) {
  std::vector<double> all;
  for (const json &layer : plan::list(candidate, key))
    if (layer.is_array())
      for (const json &value : layer)
        if (value.is_number())
          all.push_back(value.get<double>());
  return all;
}

/// One map for each candidate: a column for each layer.
static std::string drawLosses(const json &candidate, double tokens) {
  plan::HeatMap map;
  size_t layer = 0;
  for (const json &heads : plan::list(candidate, "loss")) {
    for (size_t head = 0; heads.is_array() && head < heads.size(); ++head) {
      if (map.rows.size() <= head)
        map.rows.resize(head + 1);
      map.rows[head].resize(layer);
      plan::HeatMap::Cell &cell = map.rows[head].emplace_back();
      if (!heads[head].is_number()) {
        cell.note = "not measured";
        continue;
      }
      // From a millionth of a nat to a hundredth, by its logarithm.
      double loss = heads[head].get<double>();
      cell = {plan::shortNumber(loss * 1e4, loss < 1e-3 ? 1 : 0), "",
              "loses " + plan::shortNumber(loss, 6) + " nats per token",
              loss > 0 ? (std::log10(loss) + 6) / 4 : 0, "loss"};
    }
    ++layer;
  }
  map.title = plan::text(candidate, "name") + ": loss of each KV head at " +
              plan::shortNumber(tokens / 2, 0) +
              " tokens, in 0.0001 nats per token";
  map.rowLabel = "head";
  map.columnLabel = "layer";
  map.legend = {{"loss", "the head alone does so, all others are dense"}};
  map.shadeMeaning = "the darker, the more is lost";
  return map.draw();
}

std::string plan::drawCalibrations(const json &calibrations) {
  std::string html;
  for (const json &one : calibrations) {
    double tokens = number(one, {"tokens"});
    Table table({"candidate", "heads measured", "mean loss, nats per token",
                 "mean loss of the second copy", "rows that queries see"});
    std::string maps;
    for (const json &candidate : list(one, "candidates")) {
      std::vector<double> losses = flatten(candidate, "loss");
      if (losses.empty())
        continue;
      table.addRow({text(candidate, "name"), std::to_string(losses.size()),
                    shortNumber(meanOf(losses), 6),
                    shortNumber(meanOf(flatten(candidate, "recall_loss")), 6),
                    shortNumber(100 * meanOf(flatten(candidate, "keys")), 1) +
                        " % of dense"});
      maps += drawLosses(candidate, tokens);
    }
    if (!maps.empty())
      html += "<p>" + escape(text(one, "model")) + ", sequences of " +
              shortNumber(tokens, 0) +
              " tokens: a text and the same text again.</p>\n" + table.write() +
              maps;
  }
  return html;
}

json plan::toEvaluation(const Calibration &calibration) {
  json candidates = json::array();
  for (size_t i = 0; i < calibration.candidates.size(); ++i)
    candidates.push_back(describeCandidate(calibration, i));
  return {{"gist_evaluation", 1},
          {"model", calibration.model},
          {"calibrations", json::array({{{"model", calibration.model},
                                         {"tokens", calibration.tokens},
                                         {"candidates", candidates}}})}};
}
