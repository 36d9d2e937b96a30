//===- Report.cpp - What a plan does, as a page ---------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/gist-plan/Report.h"
#include "tools/gist-plan/Plot.h"
#include "tools/gist-plan/ReportPage.h"

#include "nlohmann/json.hpp"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <map>

using namespace gist;
using namespace gist::plan;
using nlohmann::json;

static constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();

//===----------------------------------------------------------------------===//
// Reading what may be missing
//===----------------------------------------------------------------------===//

/// The part of `from` at the end of a path of keys, or null.
static const json &find(const json &from,
                        std::initializer_list<const char *> path) {
  static const json nothing;
  const json *part = &from;
  for (const char *key : path) {
    if (!part->is_object())
      return nothing;
    auto next = part->find(key);
    if (next == part->end())
      return nothing;
    part = &*next;
  }
  return *part;
}

static double number(const json &from,
                     std::initializer_list<const char *> path) {
  const json &part = find(from, path);
  return part.is_number() ? part.get<double>() : kNothing;
}

static std::string text(const json &from, const char *key) {
  const json &part = find(from, {key});
  return part.is_string() ? part.get<std::string>() : std::string();
}

/// The elements of a list, none where there is no list.
static const json &list(const json &from, const char *key) {
  static const json nothing = json::array();
  const json &part = find(from, {key});
  return part.is_array() ? part : nothing;
}

static double larger(double a, double b) {
  return std::isnan(a) ? b : std::isnan(b) ? a : std::max(a, b);
}

//===----------------------------------------------------------------------===//
// Quality and work
//===----------------------------------------------------------------------===//

namespace {
/// The worst of all texts at one length.
struct Worst {
  double perplexity = kNothing, recall = kNothing, work = kNothing,
         cache = kNothing;
};
} // namespace

static std::map<double, Worst> findWorst(const json &plan) {
  std::map<double, Worst> result;
  for (const json &run : list(plan, "texts")) {
    double tokens = number(run, {"tokens"});
    if (std::isnan(tokens))
      continue;
    Worst &worst = result[tokens];
    worst.perplexity =
        larger(worst.perplexity, number(run, {"windows", "perplexity_ratio"}));
    worst.recall =
        larger(worst.recall, number(run, {"recall", "perplexity_ratio"}));
    worst.work = larger(worst.work, number(run, {"work", "attention"}));
    worst.cache = larger(worst.cache, number(run, {"work", "cache"}));
  }
  return result;
}

/// Whether all texts keep what the plan promises; `asked` without a promise.
static std::string judge(const json &plan) {
  double quality = number(plan, {"quality"});
  if (std::isnan(quality))
    return "";
  double recall = 1 + 5 * (quality - 1);
  for (auto &[tokens, worst] : findWorst(plan))
    if (worst.perplexity > quality || worst.recall > recall)
      return "not kept";
  return "kept";
}

static std::string writeSummary(const json &plans) {
  Table table({"plan", "tokens", "worst perplexity ratio", "worst recall ratio",
               "attention work", "KV cache", "contract"});
  for (const json &plan : plans)
    for (auto &[tokens, worst] : findWorst(plan))
      table.addRow({text(plan, "name"), shortNumber(tokens, 0),
                    shortNumber(worst.perplexity, 4),
                    shortNumber(worst.recall, 4), shortNumber(worst.work),
                    shortNumber(worst.cache), judge(plan)});
  return table.write();
}

static std::string writeTexts(const json &plans) {
  Table table({"plan", "text", "tokens", "perplexity", "dense", "ratio",
               "recall ratio", "same top-1", "KL", "work", "KV bytes"});
  for (const json &plan : plans)
    for (const json &run : list(plan, "texts"))
      table.addRow(
          {text(plan, "name"), text(run, "text"),
           shortNumber(number(run, {"tokens"}), 0),
           shortNumber(number(run, {"windows", "perplexity"})),
           shortNumber(number(run, {"windows", "against_perplexity"})),
           shortNumber(number(run, {"windows", "perplexity_ratio"}), 4),
           shortNumber(number(run, {"recall", "perplexity_ratio"}), 4),
           shortNumber(number(run, {"windows", "top1_agreement"})),
           shortNumber(number(run, {"windows", "kl_mean"}), 4),
           shortNumber(number(run, {"work", "attention"})),
           shortNumber(number(run, {"work", "cache_bytes"}), 0)});
  return table.write();
}

/// How work falls as contexts grow, one line for each plan.
static std::string drawWork(const json &plans, double Worst::*what,
                            const char *title, const char *label) {
  Plot plot{title, {"tokens", true}, {label}, {}};
  plot.y.lowest = 0;
  for (const json &plan : plans) {
    Series series{text(plan, "name"), {}};
    for (auto &[tokens, worst] : findWorst(plan))
      series.points.emplace_back(tokens, worst.*what);
    plot.series.push_back(series);
  }
  return plot.draw();
}

/// Every plan and baseline: what it costs against what it keeps.
static std::string drawTrade(const json &plans, double Worst::*what,
                             const char *title, const char *label) {
  Plot plot{title, {"attention work, of dense"}, {label, true}, {}};
  for (const json &plan : plans) {
    Series series{text(plan, "name"), {}};
    for (auto &[tokens, worst] : findWorst(plan)) {
      series.points.emplace_back(worst.work, worst.*what);
      series.notes.push_back(shortNumber(tokens, 0) + " tokens, work " +
                             shortNumber(worst.work) + ", ratio " +
                             shortNumber(worst.*what, 4));
    }
    plot.series.push_back(series);
  }
  plot.limits = {{"1.01", 1.01}, {"1.05", 1.05}};
  return plot.draw();
}

//===----------------------------------------------------------------------===//
// Where the savings are
//===----------------------------------------------------------------------===//

static HeatMap::Cell describeHead(const json &head) {
  HeatMap::Cell cell;
  double window = number(head, {"window"});
  if (double theta = number(head, {"theta"}); !std::isnan(theta)) {
    cell = {shortNumber(theta, 2),
            "clusters of cosine " + shortNumber(theta, 2) + ", window " +
                shortNumber(window, 0),
            1 - theta, "clusters"};
  } else if (double share = number(head, {"random"}); !std::isnan(share)) {
    cell = {shortNumber(share, 2),
            "a random share of " + shortNumber(share, 2) + ", window " +
                shortNumber(window, 0),
            1 - share, "random"};
  } else if (!std::isnan(window)) {
    cell = {"w", "sinks and a window of " + shortNumber(window, 0), 0.9,
            "window"};
  } else {
    cell = {"", "dense", 0, "dense"};
  }
  return cell;
}

/// Layers are columns: there are more of them than heads.
static std::string drawHeads(const json &plan) {
  HeatMap map;
  map.title = text(plan, "name") + ": what each KV head keeps";
  map.rowLabel = "head";
  map.columnLabel = "layer";
  for (const json &layer : list(find(plan, {"plan"}), "layers")) {
    size_t number = 0;
    for (const json &head : list(layer, "heads")) {
      if (map.rows.size() <= number)
        map.rows.resize(number + 1);
      map.rows[number++].push_back(describeHead(head));
    }
  }
  return map.rows.empty() ? std::string() : map.draw();
}

/// A line for each text of the longest run: some number of every layer.
static std::string drawLayers(const json &plan, const char *key,
                              const char *title) {
  Plot plot{text(plan, "name") + ": " + title, {"layer"}, {title}, {}};
  for (const json &run : list(plan, "texts")) {
    Series series{
        text(run, "text") + ", " + shortNumber(number(run, {"tokens"}), 0), {}};
    for (const json &layer : list(run, "layers"))
      series.points.emplace_back(static_cast<double>(series.points.size()),
                                 number(layer, {key}));
    if (std::any_of(series.points.begin(), series.points.end(),
                    [](auto point) { return !std::isnan(point.second); }))
      plot.series.push_back(series);
  }
  return plot.series.empty() ? std::string() : plot.draw();
}

//===----------------------------------------------------------------------===//
// Time, linears, gates, selections
//===----------------------------------------------------------------------===//

static std::string writeSpeed(const json &plans) {
  Table table({"plan", "test", "tokens", "dense, tokens/s", "plan, tokens/s",
               "ratio", "predicted", "off by"});
  for (const json &plan : plans)
    for (const json &run : list(plan, "speed")) {
      double ratio = number(run, {"plan"}) / number(run, {"dense"});
      double predicted = number(run, {"predicted"});
      table.addRow(
          {text(plan, "name"), text(run, "test"),
           shortNumber(number(run, {"tokens"}), 0),
           shortNumber(number(run, {"dense"}), 1),
           shortNumber(number(run, {"plan"}), 1), shortNumber(ratio),
           shortNumber(predicted),
           shortNumber(100 * std::fabs(ratio / predicted - 1), 0) + " %"});
    }
  return table.write();
}

static std::string drawLinears(const json &linears) {
  std::string html;
  for (const json &one : linears) {
    Plot plot{"Weights stored as " + text(one, "weights"),
              {"weight bytes read for a token", true},
              {"perplexity ratio", true},
              {},
              {{"1.01", 1.01}}};
    for (const json &series : list(one, "series")) {
      Series line{text(series, "name"), {}};
      for (const json &point : list(series, "points")) {
        line.points.emplace_back(number(point, {"bytes"}),
                                 number(point, {"ratio"}));
        line.notes.push_back(text(point, "note") + ", " +
                             shortNumber(number(point, {"bytes"}) / 1e6, 2) +
                             " MB, ratio " +
                             shortNumber(number(point, {"ratio"}), 4));
      }
      plot.series.push_back(line);
    }
    html += plot.draw();
  }
  return html;
}

static std::string writeGates(const json &gates) {
  Table table(
      {"k", "epsilon", "tokens that read W", "perplexity ratio", "same top-1"});
  for (const json &gate : gates)
    table.addRow({shortNumber(number(gate, {"k"}), 0),
                  shortNumber(number(gate, {"epsilon"})),
                  shortNumber(number(gate, {"open"})),
                  shortNumber(number(gate, {"ratio"}), 4),
                  shortNumber(number(gate, {"top1_agreement"}))});
  return table.write();
}

static std::string drawSelections(const json &selections) {
  std::string html;
  for (const json &one : selections) {
    Plot plot{text(one, "model") + ", " + text(one, "text"),
              {"layer"},
              {text(one, "unit")},
              {}};
    const json &lines = find(one, {"series"});
    if (!lines.is_object())
      continue;
    for (auto &[name, values] : lines.items()) {
      Series series{name, {}};
      if (values.is_array())
        for (const json &value : values)
          series.points.emplace_back(static_cast<double>(series.points.size()),
                                     value.is_number() ? value.get<double>()
                                                       : kNothing);
      plot.series.push_back(series);
    }
    html += plot.draw();
  }
  return html;
}

Status gist::plan::writeReport(const json &evaluation, std::string &page) {
  if (number(evaluation, {"gist_evaluation"}) != 1)
    return Status::error(Code::BadFile,
                         "is no evaluation: expected an object with "
                         "\"gist_evaluation\": 1");
  const json &plans = list(evaluation, "plans");
  Page html(text(evaluation, "model"));
  html.addText("Machine: " + text(evaluation, "machine") +
               ". Made by: " + text(evaluation, "command"));
  html.addSection("The contract", writeSummary(plans));
  html.addSection(
      "Work",
      drawWork(plans, &Worst::work, "Attention work, worst text",
               "of dense causal attention") +
          drawWork(plans, &Worst::cache, "KV cache", "of the dense cache") +
          drawTrade(plans, &Worst::perplexity, "Work and perplexity",
                    "worst perplexity ratio") +
          drawTrade(plans, &Worst::recall, "Work and long-range recall",
                    "worst recall ratio"));
  std::string heads, layers;
  for (const json &plan : plans) {
    heads += drawHeads(plan);
    for (auto [key, title] :
         {std::pair("attention_error", "error of attention"),
          std::pair("linear_error", "error of linears"),
          std::pair("clusters", "clusters of a head"),
          std::pair("gates", "tokens that read more weights")})
      layers += drawLayers(plan, key, title);
  }
  html.addSection("Where the savings are", heads);
  html.addSection("Layer by layer", layers);
  html.addSection("Time", writeSpeed(plans));
  html.addSection("Linear layers", drawLinears(list(evaluation, "linears")));
  html.addSection("Gates", writeGates(list(evaluation, "gates")));
  html.addSection("Selections", drawSelections(list(evaluation, "selections")));
  html.addSection("Every text", writeTexts(plans));
  page = html.write();
  return {};
}
