//===- Report.cpp - What a plan does, as a page ---------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The page of `gist-plan report`. What a plan promises is judged by the worst
// text, because a plan that keeps its quality on average may lose it on a kind
// of text.
//
//===----------------------------------------------------------------------===//

#include "tools/report/Report.h"
#include "tools/report/Plot.h"
#include "tools/report/ReportData.h"
#include "tools/report/ReportLayers.h"
#include "tools/report/ReportPage.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

using namespace gist;
using namespace gist::plan;
using nlohmann::json;

//===----------------------------------------------------------------------===//
// Quality and work
//===----------------------------------------------------------------------===//

namespace {
/// All texts at one length: the worst of them, and how much they differ.
struct Worst {
  double perplexity = kNothing, recall = kNothing, work = kNothing,
         cache = kNothing, time = kNothing;
  std::vector<double> ratios; ///< of every window of every text
};

/// Recall may lose five times as much as perplexity, as in gist-plan auto.
constexpr double kRecallFactor = 5;
} // namespace

/// Keyed by the length of the sequences, because the savings depend on it.
static std::map<double, Worst> findWorst(const json &plan) {
  std::map<double, Worst> result;
  for (const json &run : list(plan, "texts")) {
    double tokens = number(run, {"tokens"});
    if (std::isnan(tokens))
      continue;
    Worst &worst = result[tokens];
    double ratio = number(run, {"windows", "perplexity_ratio"});
    worst.perplexity = larger(worst.perplexity, ratio);
    worst.recall =
        larger(worst.recall, number(run, {"recall", "perplexity_ratio"}));
    worst.work = larger(worst.work, number(run, {"work", "attention"}));
    worst.cache = larger(worst.cache, number(run, {"work", "cache"}));
    worst.time = larger(worst.time, number(run, {"seconds"}) /
                                        number(run, {"against_seconds"}));
    std::vector<double> each =
        numbers(find(run, {"variation", "perplexity_ratio"}), "values");
    // An evaluation of one window has no variation.
    if (each.empty())
      each.push_back(ratio);
    worst.ratios.insert(worst.ratios.end(), each.begin(), each.end());
  }
  return result;
}

/// Whether all texts keep what the plan promises; empty without a promise.
static std::string judge(const json &plan) {
  double quality = number(plan, {"quality"});
  if (std::isnan(quality))
    return "";
  // A contract may say another recall than follows from its quality.
  double recall = number(plan, {"plan", "contract", "recall"});
  if (std::isnan(recall))
    recall = 1 + kRecallFactor * (quality - 1);
  for (auto &[tokens, worst] : findWorst(plan))
    // What was not measured is a NaN, which is never larger: it breaks no
    // promise.
    if (worst.perplexity > quality || worst.recall > recall)
      return "not kept";
  return "kept";
}

static std::string writeSummary(const json &plans) {
  Table table({"plan", "tokens", "worst perplexity ratio", "mean over windows",
               "deviation", "worst recall ratio", "attention work", "KV cache",
               "time of dense", "contract"});
  for (const json &plan : plans)
    for (auto &[tokens, worst] : findWorst(plan))
      table.addRow({text(plan, "name"), shortNumber(tokens, 0),
                    shortNumber(worst.perplexity, 4),
                    shortNumber(meanOf(worst.ratios), 4),
                    shortNumber(deviationOf(worst.ratios), 4),
                    shortNumber(worst.recall, 4), shortNumber(worst.work),
                    shortNumber(worst.cache), shortNumber(worst.time),
                    judge(plan)});
  return table.write();
}

/// A sentence for each baseline.
static std::string writeBaselines(const json &plans) {
  std::string html;
  for (const json &plan : plans)
    if (std::string what = text(plan, "baseline"); !what.empty())
      html += "<dt>" + escape(text(plan, "name")) + "</dt><dd>" + escape(what) +
              "</dd>\n";
  return html.empty() ? html : "<dl>" + html + "</dl>\n";
}

/// Rows that selections compared, over all layers.
static double countGram(const json &run) {
  // Stays "nothing", which differs from 0, if no layer has a number.
  double sum = kNothing;
  for (const json &layer : list(run, "layers"))
    if (double part = number(layer, {"gram"}); !std::isnan(part))
      sum = std::isnan(sum) ? part : sum + part;
  return sum;
}

static std::string writeTexts(const json &plans) {
  Table table({"plan", "text", "tokens", "perplexity", "dense", "ratio",
               "recall ratio", "same top-1", "KL", "work", "KV bytes",
               "Gram operations", "seconds", "dense, seconds"});
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
           byteSize(number(run, {"work", "cache_bytes"})),
           shortNumber(countGram(run), 0),
           shortNumber(number(run, {"seconds"}), 2),
           shortNumber(number(run, {"against_seconds"}), 2)});
  return table.write();
}

/// The lengths that plans were measured at, so that an axis names these.
static std::vector<double> findLengths(const json &plans) {
  std::set<double> lengths;
  for (const json &plan : plans)
    for (const auto &[tokens, worst] : findWorst(plan))
      lengths.insert(tokens);
  // More would be written over each other.
  constexpr size_t kMost = 8;
  if (lengths.size() > kMost)
    return {};
  return {lengths.begin(), lengths.end()};
}

/// How work falls as contexts grow, one line for each plan.
static std::string drawWork(const json &plans, double Worst::*what,
                            const char *title, const char *label) {
  Plot plot{title, {"tokens", true}, {label}, {}};
  plot.x.marks = findLengths(plans);
  // Shares of dense work are compared with zero.
  plot.y.lowest = 0;
  for (const json &plan : plans) {
    Series series = makeSeries(plan);
    for (auto &[tokens, worst] : findWorst(plan)) {
      series.points.emplace_back(tokens, worst.*what);
      series.notes.push_back(shortNumber(tokens, 0) + " tokens, " +
                             shortNumber(worst.*what));
    }
    plot.series.push_back(series);
  }
  return hasPoints(plot) ? plot.draw() : std::string();
}

/// What plans promise: a line for each quality. Recall may lose `factor` times
/// as much as perplexity.
static std::vector<Limit> findLimits(const json &plans, double factor) {
  std::set<double> qualities;
  for (const json &plan : plans)
    if (double quality = number(plan, {"quality"}); !std::isnan(quality))
      qualities.insert(quality);
  std::vector<Limit> limits;
  for (double quality : qualities) {
    double most = 1 + factor * (quality - 1);
    limits.push_back({"quality " + shortNumber(quality, 4) + ": at most " +
                          shortNumber(most, 4),
                      most});
  }
  return limits;
}

/// Every plan and baseline: what it costs against what it keeps. A point has
/// the length of its sequences beside it.
static std::string drawTrade(const json &plans, double Worst::*what,
                             double factor, const char *title,
                             const char *label) {
  Plot plot{title, {"attention work, of dense"}, {label, true}, {}};
  for (const json &plan : plans) {
    Series series = makeSeries(plan);
    for (auto &[tokens, worst] : findWorst(plan)) {
      series.points.emplace_back(worst.work, worst.*what);
      series.labels.push_back(shortNumber(tokens, 0));
      series.notes.push_back(shortNumber(tokens, 0) + " tokens, work " +
                             shortNumber(worst.work) + ", ratio " +
                             shortNumber(worst.*what, 4));
    }
    plot.series.push_back(series);
  }
  plot.limits = findLimits(plans, factor);
  plot.hint = "Numbers beside points are the tokens of the sequences.";
  return hasPoints(plot) ? plot.draw() : std::string();
}

//===----------------------------------------------------------------------===//
// Certificates and tasks
//===----------------------------------------------------------------------===//

/// ", seed 5", or all of them.
static std::string listSeeds(const json &certificate) {
  std::string text;
  for (const json &seed : list(certificate, "task_seeds"))
    text += (text.empty() ? ", seed " : ", ") + seed.dump();
  return text;
}

/// What was promised and what is kept of it, on texts and seeds that a plan was
/// not searched with.
static std::string writeCertificates(const json &plans) {
  std::string html;
  for (const json &plan : plans) {
    const json &contract = find(plan, {"plan", "contract"}),
               &certificate = find(contract, {"certificate"});
    if (!certificate.is_object())
      continue;
    std::string promise =
        text(plan, "name") + ": " + text(certificate, "verdict") + ", with " +
        shortNumber(100 * number(certificate, {"confidence"}), 1) +
        " % confidence. Promised: perplexity at most " +
        shortNumber(number(certificate, {"perplexity"}), 4) +
        ", recall at most " + shortNumber(number(certificate, {"recall"}), 4);
    if (double tasks = number(certificate, {"tasks"}); !std::isnan(tasks))
      promise += ", likelihood of right answers at least " +
                 shortNumber(tasks, 4) + " (" +
                 shortNumber(number(certificate, {"task_samples"}), 0) +
                 (find(certificate, {"of_each_task"}) == true
                      ? " samples of each task"
                      : " samples of all tasks") +
                 listSeeds(certificate) + ")";
    html += "<p>" + escape(promise) + ".</p>\n";
    Table table(
        {"part", "text", "tokens", "ratio", "bound", "promised", "verdict"});
    Plot plot{text(plan, "name") + ": how much of the promise is spent",
              {"part of the contract"},
              {"of what may be lost"},
              {}};
    Series measured{"as measured", {}}, bound{"with the confidence", {}};
    for (const json &row : list(contract, "certified")) {
      double promised = number(row, {"promised"});
      table.addRow({text(row, "part"), text(row, "text"),
                    shortNumber(number(row, {"tokens"}), 0),
                    shortNumber(number(row, {"ratio"}), 4),
                    shortNumber(number(row, {"bound"}), 4),
                    shortNumber(promised, 4), text(row, "verdict")});
      auto place = static_cast<double>(measured.points.size() + 1);
      for (auto [series, field] :
           {std::pair(&measured, "ratio"), std::pair(&bound, "bound")}) {
        series->points.emplace_back(place, std::log(number(row, {field})) /
                                               std::log(promised));
        series->notes.push_back(text(row, "part") + ", " + text(row, "text") +
                                ", " + shortNumber(number(row, {field}), 4));
      }
    }
    measured.isJoined = bound.isJoined = false;
    plot.series = {measured, bound};
    plot.limits = {{"promised", 1}};
    plot.hint = "Parts are numbered as in the table.";
    html += table.write();
    if (hasPoints(plot))
      html += plot.draw();
  }
  return html;
}

/// "0.950 [0.910, 0.973]".
static std::string withInterval(const json &row, const char *value,
                                const char *interval) {
  std::vector<double> ends = numbers(row, interval);
  std::string result = shortNumber(number(row, {value}));
  if (ends.size() == 2)
    result += " [" + shortNumber(ends[0]) + ", " + shortNumber(ends[1]) + "]";
  return result;
}

static std::string writeTasks(const json &plans) {
  Table table({"module", "tokens", "task", "samples", "right", "answers found",
               "nll of answers", "right, the other", "likelihood ratio"});
  for (const json &plan : plans)
    for (const json &row : list(plan, "tasks"))
      table.addRow(
          {text(plan, "name"), shortNumber(number(plan, {"length"}), 0),
           text(row, "task"), shortNumber(number(row, {"samples"}), 0),
           withInterval(row, "right", "right_interval"),
           shortNumber(number(row, {"found"})),
           shortNumber(number(row, {"answer_nll"})),
           withInterval(row, "against_right", "against_right_interval"),
           withInterval(row, "likelihood_ratio", "likelihood_ratio_interval")});
  return table.write();
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
           std::isnan(predicted)
               ? "-"
               : shortNumber(100 * std::fabs(ratio / predicted - 1), 0) +
                     " %"});
    }
  return table.write();
}

static std::string drawLinears(const json &linears) {
  std::string html;
  for (const json &one : linears) {
    Plot plot{"Weights stored as " + text(one, "weights"),
              {"weights read for a token, MB", true},
              {"perplexity ratio", true},
              {},
              {{"quality 1.01: at most 1.01", 1.01}}};
    for (const json &series : list(one, "series")) {
      Series line{text(series, "name"), {}};
      for (const json &point : list(series, "points")) {
        line.points.emplace_back(number(point, {"bytes"}) / 1e6,
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

/// One table of all gates that were measured, by k and then epsilon.
static std::string writeGates(const json &gates) {
  Table table({"weights", "k", "bits", "lower epsilon", "epsilon",
               "tokens that read W", "bytes of a token, MB", "perplexity ratio",
               "worst text", "error of the layer"});
  auto key = [](const json &gate) {
    return std::tuple(text(gate, "weights"), orderable(number(gate, {"k"})),
                      orderable(number(gate, {"epsilon"})));
  };
  std::vector<json> sorted(gates.begin(), gates.end());
  std::sort(sorted.begin(), sorted.end(),
            [&](const json &a, const json &b) { return key(a) < key(b); });
  for (const json &gate : sorted)
    table.addRow({text(gate, "weights"), shortNumber(number(gate, {"k"}), 0),
                  shortNumber(number(gate, {"bits"}), 0),
                  shortNumber(number(gate, {"epsilon_low"})),
                  shortNumber(number(gate, {"epsilon"})),
                  shortNumber(number(gate, {"open"})),
                  shortNumber(number(gate, {"bytes"}) / 1e6, 2),
                  shortNumber(number(gate, {"ratio"}), 4),
                  shortNumber(number(gate, {"worst"}), 4),
                  shortNumber(number(gate, {"error"}), 4)});
  return table.write();
}

static std::string drawSelections(const json &selections) {
  std::string html;
  for (const json &one : selections) {
    // By layer, if it does not say by what else.
    const json &by = find(one, {"by"});
    // Without "by" the values are one for each layer.
    std::vector<double> places = numbers(by, "values");
    Plot plot{text(one, "model") + ", " + text(one, "text"),
              {places.empty() ? "layer" : text(by, "name")},
              {text(one, "unit")},
              {}};
    const json &lines = find(one, {"series"});
    if (!lines.is_object())
      continue;
    for (auto &[name, values] : lines.items()) {
      Series series{name, {}};
      if (values.is_array())
        for (const json &value : values) {
          size_t i = series.points.size();
          series.points.emplace_back(
              i < places.size() ? places[i] : static_cast<double>(i),
              value.is_number() ? value.get<double>() : kNothing);
        }
      plot.series.push_back(series);
    }
    html += plot.draw();
  }
  return html;
}

Status gist::plan::writeReport(const json &evaluation, std::string &page) {
  if (number(evaluation, {"gist_evaluation"}) != 1)
    return Status::error(
        Code::BadFile, "the file is not an evaluation; expected an object with "
                       "\"gist_evaluation\": 1");
  // Every part may be missing; a section without content is left out.
  const json &plans = list(evaluation, "plans");
  Page html(text(evaluation, "model"));
  if (std::string machine = text(evaluation, "machine"); !machine.empty())
    html.addText("Machine: " + machine +
                 ". Made by: " + text(evaluation, "command"));
  html.addSection("The contract", writeSummary(plans) + writeBaselines(plans));
  html.addSection("The certificate", writeCertificates(plans));
  html.addSection("Tasks", writeTasks(plans));
  html.addSection(
      "Work",
      drawWork(plans, &Worst::work, "Attention work, worst text",
               "of dense causal attention") +
          drawWork(plans, &Worst::cache, "KV cache", "of the dense cache") +
          drawTrade(plans, &Worst::perplexity, 1, "Work and perplexity",
                    "worst perplexity ratio") +
          drawTrade(plans, &Worst::recall, kRecallFactor,
                    "Work and long-range recall", "worst recall ratio") +
          drawWork(plans, &Worst::time, "Time of the evaluation",
                   "of the dense model's"));
  std::string heads;
  for (const json &plan : plans)
    heads += drawHeads(plan);
  html.addSection("Where the savings are", heads);
  html.addSection("Layer by layer", drawLayers(plans));
  html.addSection("What heads lose alone",
                  drawCalibrations(list(evaluation, "calibrations")));
  html.addSection("Time", writeSpeed(plans));
  html.addSection("Linear layers", drawLinears(list(evaluation, "linears")));
  html.addSection("Gates", writeGates(list(evaluation, "gates")));
  html.addSection("Selections", drawSelections(list(evaluation, "selections")));
  html.addSection("Every text", writeTexts(plans));
  if (html.isEmpty())
    return Status::error(Code::BadFile,
                         "there is nothing to draw: expected measurements of "
                         "plans, heads, linear layers, gates or selections");
  page = html.write();
  return {};
}
