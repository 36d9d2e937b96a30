//===- SideBySide.cpp - A model with and without a plan -------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Measures two modules with gist-run, as a user would, and puts its results
// side by side.
//
//===----------------------------------------------------------------------===//

#include "tools/gist-plan/SideBySide.h"

#include "runtime/support/AtomicFile.h"
#include "runtime/support/Json.h"
#include "tools/report/Plot.h"
#include "tools/report/ReportData.h"
#include "tools/running/Compiler.h"
#include "tools/running/Options.h"

#include "nlohmann/json.hpp"

#include <algorithm>
#include <cinttypes>
#include <cmath>
#include <filesystem>

using namespace gist;
using namespace gist::plan;
using nlohmann::json;

namespace {
class Comparer {
public:
  Comparer(const SideBySideOptions &options) : options(options) {}

  Status run(json &result);

private:
  /// What gist-run prints as JSON, also kept in a file of the folder.
  Status ask(const std::string &name, std::vector<std::string> words,
             json &answer);
  Status bench(const std::string &module, const std::string &name,
               json &answer);
  void printHeader() const;
  void printTexts(const json &texts) const;
  void printCosts(const json &run) const;

  /// Tokens of decode, after all others.
  int64_t decoded() const {
    return std::clamp<int64_t>(options.tokens / 4, 1, 32);
  }

  const SideBySideOptions &options;
  std::string program;
  json dense, planned; ///< of `bench`
};
} // namespace

Status Comparer::ask(const std::string &name, std::vector<std::string> words,
                     json &answer) {
  std::string file = options.folder + "/" + name + ".json";
  words.insert(words.begin(), program);
  for (const std::string &word :
       {std::string("-t"), std::to_string(options.threads),
        std::string("--device"), options.device})
    words.push_back(word);
  GIST_TRY(run::runProgram(words, file));
  std::string text;
  GIST_TRY(run::readText(file, text));
  return parseJsonObject(text, answer)
      .in(file + ": what " + program + " wrote");
}

/// Of prefill, and of decode at the end of as many tokens.
Status Comparer::bench(const std::string &module, const std::string &name,
                       json &answer) {
  std::string length = std::to_string(options.tokens),
              count = std::to_string(decoded()),
              depth = std::to_string(options.tokens - decoded());
  return ask("bench-" + name,
             {"bench", module, "--text", options.texts.front(), "--tests",
              "pp" + length + ",tg" + count + "@" + depth, "-r", "2", "-o",
              "json"},
             answer);
}

static void printRow(const std::string &title, const std::string &dense,
                     const std::string &planned, const std::string &more) {
  std::printf("%-26s %11s %11s  %s\n", title.c_str(), dense.c_str(),
              planned.c_str(), more.c_str());
}

void Comparer::printHeader() const {
  std::printf("\n");
  printRow(std::to_string(options.tokens) + " tokens", "dense", "planned", "");
}

/// What each text loses; these texts were not searched on.
void Comparer::printTexts(const json &texts) const {
  bool isKept = true;
  for (const json &run : texts)
    for (auto [part, words, most] :
         {std::tuple("windows", "perplexity, ", options.promise.perplexity),
          std::tuple("recall", "recall, ", options.promise.recall)}) {
      double ratio = number(run, {part, "perplexity_ratio"});
      // A NaN does not keep the quality.
      isKept &= ratio <= most;
      printRow(words + text(run, "text"),
               shortNumber(number(run, {part, "against_perplexity"}), 2),
               shortNumber(number(run, {part, "perplexity"}), 2),
               shortNumber(ratio, 4) + " times, asked for " +
                   shortNumber(most, 4) + (ratio <= most ? "" : ": not kept"));
    }
  if (!isKept)
    std::fprintf(stderr,
                 "the plan does not keep the quality on all of these texts, "
                 "which it was not found on; a quality nearer to 1, more "
                 "--seconds, or a --text like yours help\n");
}

/// "1.25 times".
static std::string times(double part, double whole) {
  return shortNumber(part / whole, 2) + " times";
}

void Comparer::printCosts(const json &run) const {
  printRow("attention work", "1",
           shortNumber(number(run, {"work", "attention"})), "");
  double cache = number(run, {"against_kv_bytes"}),
         less = number(run, {"kv_bytes"});
  printRow("KV cache", byteSize(cache), byteSize(less), times(less, cache));
  double memory = number(dense, {"peak_resident_bytes"}),
         lower = number(planned, {"peak_resident_bytes"});
  printRow("memory of the process", byteSize(memory), byteSize(lower),
           times(lower, memory));
  const char *names[] = {"prefill, tokens/s", "decode, tokens/s"};
  for (size_t i = 0; i < 2; ++i) {
    const json &before = list(dense, "tests"), &after = list(planned, "tests");
    if (i >= before.size() || i >= after.size())
      continue;
    double slow = number(before[i], {"tokens_per_second"}),
           fast = number(after[i], {"tokens_per_second"});
    printRow(names[i], shortNumber(slow, 1), shortNumber(fast, 1),
             times(fast, slow));
  }
}

Status Comparer::run(json &result) {
  GIST_TRY(run::findProgram("gist-run", "", program));
  json texts = json::array();
  for (const std::string &path : options.texts) {
    std::string name = std::filesystem::path(path).stem().string();
    std::string length = std::to_string(options.tokens);
    json run;
    GIST_TRY(
        ask("eval-" + name,
            {"eval", options.planned, "--against", options.dense, "--text",
             path, "--window", length, "--stride", length, "--max-tokens",
             length, "--recall", std::to_string(options.tokens / 2), "--json"},
            run));
    // The plan stands once in the evaluation, beside all texts.
    run.erase("plan");
    run["text"] = name;
    run["tokens"] = options.tokens;
    texts.push_back(std::move(run));
  }
  GIST_TRY(bench(options.dense, "dense", dense));
  GIST_TRY(bench(options.planned, "planned", planned));
  printHeader();
  printTexts(texts);
  printCosts(texts.front());

  json speed = json::array();
  const json &before = list(dense, "tests"), &after = list(planned, "tests");
  const char *names[] = {"prefill", "decode"};
  for (size_t i = 0; i < std::min({before.size(), after.size(), size_t{2}});
       ++i)
    speed.push_back({{"test", names[i]},
                     {"tokens", options.tokens},
                     {"dense", find(before[i], {"tokens_per_second"})},
                     {"plan", find(after[i], {"tokens_per_second"})}});
  std::string planText;
  json plan;
  GIST_TRY(run::readText(options.plan, planText));
  GIST_TRY(parseJson(planText, plan).in(options.plan));
  result = {
      {"gist_evaluation", 1},
      {"model", options.model},
      {"machine", text(dense, "device_name")},
      {"command", "gist-plan auto"},
      {"plans",
       json::array(
           {{{"name", "quality " + shortNumber(options.promise.perplexity, 4)},
             {"quality", options.promise.perplexity},
             {"recall", options.promise.recall},
             {"plan", plan},
             {"texts", texts},
             {"speed", speed}}})}};
  return {};
}

Status plan::compareSideBySide(const SideBySideOptions &options,
                               const std::string &evaluation) {
  json result;
  GIST_TRY(Comparer(options).run(result));
  return writeWhole(evaluation,
                    result.dump(1, ' ', false, json::error_handler_t::replace) +
                        "\n");
}
