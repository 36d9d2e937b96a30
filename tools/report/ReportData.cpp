//===- ReportData.cpp - Reading evaluations -------------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads JSON of evaluations without trust: what is missing or of another type
// is "nothing" (NaN, an empty text or list), and the page then leaves it out.
//
//===----------------------------------------------------------------------===//

#include "tools/report/ReportData.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <map>

using namespace gist;
using nlohmann::json;

/// The value at the end of a path of keys, or null.
const json &plan::find(const json &from,
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

double plan::number(const json &from,
                    std::initializer_list<const char *> path) {
  const json &part = find(from, path);
  return part.is_number() ? part.get<double>() : kNothing;
}

std::string plan::text(const json &from, const char *key) {
  const json &part = find(from, {key});
  return part.is_string() ? part.get<std::string>() : std::string();
}

const json &plan::list(const json &from, const char *key) {
  static const json nothing = json::array();
  const json &part = find(from, {key});
  return part.is_array() ? part : nothing;
}

std::vector<double> plan::numbers(const json &from, const char *key) {
  std::vector<double> result;
  for (const json &value : list(from, key))
    result.push_back(value.is_number() ? value.get<double>() : kNothing);
  return result;
}

double plan::orderable(double value) {
  return std::isnan(value) ? -std::numeric_limits<double>::infinity() : value;
}

double plan::larger(double a, double b) {
  return std::isnan(a) ? b : std::isnan(b) ? a : std::max(a, b);
}

/// The mean of the numbers that are not NaN.
double plan::meanOf(const std::vector<double> &values) {
  double sum = 0, count = 0;
  for (double value : values)
    if (!std::isnan(value)) {
      sum += value;
      ++count;
    }
  return count > 0 ? sum / count : kNothing;
}

/// The standard deviation of a sample, so of at least two numbers.
double plan::deviationOf(const std::vector<double> &values) {
  double mean = meanOf(values), sum = 0, count = 0;
  for (double value : values)
    if (!std::isnan(value)) {
      sum += (value - mean) * (value - mean);
      ++count;
    }
  return count > 1 ? std::sqrt(sum / (count - 1)) : kNothing;
}

//===----------------------------------------------------------------------===//
// What other programs write
//===----------------------------------------------------------------------===//

/// bench/linear_curve.py: points of bytes and perplexity, of several kinds.
static json fromLinearCurve(const json &file) {
  std::map<std::string, json> series;
  json gates = json::array();
  for (const json &point : plan::list(file, "results")) {
    std::string kind = plan::text(point, "kind"),
                name = plan::text(point, "name");
    json &points = series[kind];
    double worst = plan::kNothing;
    for (const auto &[title, ratio] : plan::find(point, {"texts"}).items())
      if (ratio.is_number())
        worst = plan::larger(worst, ratio.get<double>());
    points.push_back({{"bytes", plan::find(point, {"bytes"})},
                      {"ratio", plan::find(point, {"ratio"})},
                      {"note", name}});
    double k = 0, epsilon = 0;
    // The names of points are the only place that says k and epsilon.
    if (std::sscanf(name.c_str(), "k %lf, epsilon %lf", &k, &epsilon) != 2)
      continue; // no gate
    // One share, or one for each group of linear layers.
    double closed = plan::number(point, {"closed"});
    if (std::isnan(closed))
      closed = plan::meanOf(plan::numbers(point, "closed"));
    gates.push_back({{"weights", plan::text(file, "model")},
                     {"k", k},
                     {"epsilon", epsilon},
                     {"open", 1 - closed},
                     {"bytes", plan::find(point, {"bytes"})},
                     {"ratio", plan::find(point, {"ratio"})},
                     {"worst", worst}});
  }
  json lines = json::array();
  for (auto &[kind, points] : series) {
    std::sort(points.begin(), points.end(), [](const json &a, const json &b) {
      return plan::orderable(plan::number(a, {"bytes"})) <
             plan::orderable(plan::number(b, {"bytes"}));
    });
    lines.push_back({{"name", kind}, {"points", points}});
  }
  return {{"gist_evaluation", 1},
          {"model", plan::text(file, "model")},
          {"linears",
           {{{"weights", plan::text(file, "model")}, {"series", lines}}}},
          {"gates", gates}};
}

/// bench/gptj_layer.py: one layer, of which the error of its result is known.
static json fromLayer(const json &points) {
  json gates = json::array();
  for (const json &point : points) {
    std::string name = plan::text(point, "name");
    double k = 0, bits = plan::kNothing, low = 0, epsilon = 0;
    bool isGraded = std::sscanf(name.c_str(),
                                "graded, k %lf, %lf bits, epsilon %lf and %lf",
                                &k, &bits, &low, &epsilon) == 4;
    if (!isGraded && std::sscanf(name.c_str(), "gated, k %lf, epsilon %lf", &k,
                                 &epsilon) != 2)
      continue; // no gate
    // Of each group: rows that read no weight, W, and the rounded one.
    std::vector<double> open;
    for (const json &levels : plan::find(point, {"levels"}))
      if (levels.is_array() && levels.size() == 3 && levels[1].is_number())
        open.push_back(levels[1].get<double>());
    gates.push_back({{"weights", "one layer of GPT-J's shape, f16"},
                     {"k", k},
                     {"epsilon", epsilon},
                     {"open", plan::meanOf(open)},
                     {"bytes", plan::find(point, {"bytes"})},
                     {"error", plan::find(point, {"error"})}});
    if (isGraded) {
      gates.back()["bits"] = bits;
      gates.back()["epsilon_low"] = low;
    }
  }
  return {{"gist_evaluation", 1}, {"gates", gates}};
}

/// bench/papers.py: sets of each layer, by independent selection and by
/// Algorithm 1.
static json fromPapers(const json &file) {
  json selections = json::array();
  // What compares with the layer before begins at the second.
  auto afterFirst = [](const json &values) {
    json shifted = json::array({nullptr});
    for (const json &value : values)
      shifted.push_back(value);
    return shifted;
  };
  for (auto [key, model] :
       {std::pair("smollm2", "SmolLM2"), std::pair("minilm", "MiniLM")})
    for (const auto &[title, found] : plan::find(file, {key}).items()) {
      if (!found.is_object())
        continue;
      selections.push_back(
          {{"model", model},
           {"text", title},
           {"unit", "representatives"},
           {"series",
            {{"independent", plan::list(found, "r_independent")},
             {"Algorithm 1", plan::list(found, "r_cascade")}}}});
      selections.push_back(
          {{"model", model},
           {"text", title},
           {"unit", "against the layer before"},
           {"series",
            {{"Jaccard", afterFirst(plan::list(found, "jaccard_next_layer"))},
             {"turnover", afterFirst(plan::list(found, "turnover"))}}}});
    }
  return {{"gist_evaluation", 1}, {"selections", selections}};
}

/// `gist-run eval --json`: one text with one module.
static json fromEval(const json &file) {
  std::string module = plan::text(file, "module");
  json run = file;
  run["text"] = std::filesystem::path(plan::text(file, "text")).stem().string();
  run["tokens"] = plan::find(file, {"window"});
  run.erase("plan"); // It belongs to the module, not to the text.
  json one = {{"name", std::filesystem::path(module).stem().string()},
              {"module", module},
              {"texts", json::array({run})}};
  if (const json &plan = plan::find(file, {"plan"}); plan.is_object())
    one["plan"] = plan;
  if (double quality = plan::number(file, {"plan", "contract", "quality"});
      !std::isnan(quality))
    one["quality"] = quality;
  return {{"gist_evaluation", 1},
          {"model", one["name"]},
          {"plans", json::array({one})}};
}

/// What `gist-run eval --tasks --json` wrote.
static json fromTasks(const json &file) {
  json one = {
      {"name",
       std::filesystem::path(plan::text(file, "module")).stem().string()},
      {"length", plan::find(file, {"length"})},
      {"tasks", plan::find(file, {"tasks"})}};
  return {{"gist_evaluation", 1},
          {"model", one["name"]},
          {"plans", json::array({one})}};
}

/// A plan, with what its contract says was measured.
static json fromPlan(const json &file, const std::string &name) {
  json texts = json::array();
  for (const char *part : {"measured", "held_out"})
    for (const json &row : plan::list(plan::find(file, {"contract"}), part)) {
      // Answers are not texts to predict; the certificate has them.
      if (row.contains("answer_perplexity_ratio"))
        continue;
      json run = {{"text", plan::text(row, "text")},
                  {"tokens", plan::find(row, {"tokens"})},
                  {"work", {{"attention", plan::find(row, {"work"})}}}};
      for (auto [key, place] : {std::pair("perplexity_ratio", "windows"),
                                std::pair("recall_ratio", "recall")})
        if (const json &ratio = plan::find(row, {key}); ratio.is_number())
          run[place] = {{"perplexity_ratio", ratio},
                        {"against_perplexity", plan::find(row, {"dense"})}};
      texts.push_back(run);
    }
  json one = {{"name", name}, {"plan", file}, {"texts", texts}};
  if (const json &quality = plan::find(file, {"contract", "quality"});
      quality.is_number())
    one["quality"] = quality;
  return {
      {"gist_evaluation", 1}, {"model", name}, {"plans", json::array({one})}};
}

json plan::toEvaluation(const json &file, const std::string &name) {
  // Files are told apart by fields that only one program writes.
  if (file.is_array() && !file.empty() && file.front().contains("levels"))
    return fromLayer(file);
  if (file.contains("gist_evaluation"))
    return file;
  if (find(file, {"results"}).is_array() && file.contains("verdict"))
    return fromLinearCurve(file);
  if (file.contains("proposition4"))
    return fromPapers(file);
  if (find(file, {"module"}).is_string() && find(file, {"windows"}).is_object())
    return fromEval(file);
  if (find(file, {"module"}).is_string() && find(file, {"tasks"}).is_array())
    return fromTasks(file);
  if (file.contains("gist_plan"))
    return fromPlan(file, name);
  // Something else: writeReport says what it expected.
  return file;
}
