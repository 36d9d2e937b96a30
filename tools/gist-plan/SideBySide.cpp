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

#include "passes/Plan/File/PlannedModule.h"
#include "runtime/format/Devices.h"
#include "runtime/module/Properties.h"
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
  SpeedUp speedUp() const;

private:
  /// What gist-run prints as JSON, also kept in a file of the folder.
  Status ask(const std::string &name, std::vector<std::string> words,
             json &answer);
  Status bench(const std::string &module, const std::string &name,
               json &answer);
  void printHeader() const;
  Status compilePlanned();
  void printTexts(const json &texts) const;
  void printSpeed() const;
  void printMemory(const json &run) const;

  /// Tokens of decode, after all others.
  int64_t decoded() const {
    return std::clamp<int64_t>(options.tokens / 4, 1, 32);
  }

  std::string file(const char *name) const {
    return options.folder + "/" + name;
  }
  const SideBySideOptions &options;
  std::string program;
  json dense, planned;     ///< of `bench`
  bool isFollowed = false; ///< by gist-compile, without --follow-plan
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
  std::vector<std::string> words = {
      "bench",   module,
      "--text",  options.texts.front(),
      "--tests", "pp" + length + ",tg" + count + "@" + depth,
      "-r",      std::to_string(options.repetitions),
      "-o",      "json"};
  // Texts were read before, so that weights are in memory.
  if (options.repetitions == 1)
    words.push_back("--no-warmup");
  return ask("bench-" + name, std::move(words), answer);
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
      if (part == std::string_view("recall") && !options.wantsRecall)
        continue;
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

void Comparer::printMemory(const json &run) const {
  double cache = number(run, {"against_kv_bytes"}),
         less = number(run, {"kv_bytes"});
  printRow("KV cache", byteSize(cache), byteSize(less), times(less, cache));
  double memory = number(dense, {"peak_resident_bytes"}),
         lower = number(planned, {"peak_resident_bytes"});
  printRow("memory of the process", byteSize(memory), byteSize(lower),
           times(lower, memory));
  // A plan without heads has none.
  if (double work = number(run, {"work", "attention"}); std::isfinite(work))
    printRow("attention work", "1", shortNumber(work), "");
}

/// Of prefill, and of decode.
static std::vector<std::pair<double, double>> readSpeeds(const json &dense,
                                                         const json &planned) {
  std::vector<std::pair<double, double>> speeds;
  const json &before = list(dense, "tests"), &after = list(planned, "tests");
  for (size_t i = 0; i < std::min({before.size(), after.size(), size_t{2}});
       ++i)
    speeds.emplace_back(number(before[i], {"tokens_per_second"}),
                        number(after[i], {"tokens_per_second"}));
  return speeds;
}

SpeedUp Comparer::speedUp() const {
  SpeedUp result{.isFollowed = isFollowed};
  std::vector<std::pair<double, double>> speeds = readSpeeds(dense, planned);
  if (speeds.size() == 2) {
    auto [prompt, fasterPrompt] = speeds[0];
    auto [answer, fasterAnswer] = speeds[1];
    result.prompt = fasterPrompt / prompt;
    result.answer = fasterAnswer / answer;
    result.densePrompt = prompt;
    result.denseAnswer = answer;
  }
  return result;
}

double SpeedUp::ofJob(int64_t promptTokens, int64_t answerTokens) const {
  double forPrompt = static_cast<double>(promptTokens) / densePrompt,
         forAnswer = static_cast<double>(answerTokens) / denseAnswer;
  return (forPrompt + forAnswer) / (forPrompt / prompt + forAnswer / answer);
}

static constexpr const char *kTests[] = {"prefill", "decode"};

void Comparer::printSpeed() const {
  std::vector<std::pair<double, double>> speeds = readSpeeds(dense, planned);
  for (size_t i = 0; i < speeds.size(); ++i) {
    auto [slow, fast] = speeds[i];
    printRow(kTests[i] + std::string(", tokens/s"), shortNumber(slow, 1),
             shortNumber(fast, 1), times(fast, slow));
  }
  // What a person waits for.
  if (auto [slow, fast] = speeds.empty() ? std::pair(0.0, 0.0) : speeds.front();
      slow > 0 && fast > 0) {
    auto count = static_cast<double>(options.tokens);
    printRow("first token after, s", shortNumber(count / slow, 2),
             shortNumber(count / fast, 2), times(slow, fast));
  }
}

/// As a user compiles it, and where that leaves the model as it is, as the plan
/// says: there is something to compare then.
Status Comparer::compilePlanned() {
  std::string path = file("planned.gist");
  // Compiled every time: the plan may be a new one.
  GIST_TRY(compileModel(options, path, {"--plan", options.plan}));
  std::shared_ptr<const Module> module;
  GIST_TRY(Module::open(path, module));
  isFollowed = isPlanned(*module) ||
               module->spec().model.properties.contains(kBulkProperty);
  if (isFollowed)
    return {};
  GIST_TRY(
      compileModel(options, path, {"--plan", options.plan, "--follow-plan"}));
  GIST_TRY(Module::open(path, module));
  // A plan in which every head is dense costs nothing.
  isFollowed = !isPlanned(*module);
  return {};
}

Status Comparer::run(json &result) {
  GIST_TRY(run::findProgram("gist-run", "", program));
  if (!std::filesystem::is_regular_file(file("dense.gist")))
    GIST_TRY(compileModel(options, file("dense.gist"), {}));
  GIST_TRY(compilePlanned());
  json texts = json::array();
  for (const std::string &path : options.texts) {
    std::string name = std::filesystem::path(path).stem().string();
    std::string length = std::to_string(options.tokens);
    json run;
    std::vector<std::string> words = {"eval",      file("planned.gist"),
                                      "--against", file("dense.gist"),
                                      "--text",    path,
                                      "--window",  length,
                                      "--stride",  length,
                                      "--json",    "--max-tokens",
                                      length};
    if (options.wantsRecall) {
      words.push_back("--recall");
      words.push_back(std::to_string(options.tokens / 2));
    }
    GIST_TRY(ask("eval-" + name, std::move(words), run));
    // The plan stands once in the evaluation, beside all texts.
    run.erase("plan");
    run["text"] = name;
    run["tokens"] = options.tokens;
    texts.push_back(std::move(run));
  }
  GIST_TRY(bench(file("dense.gist"), "dense", dense));
  GIST_TRY(bench(file("planned.gist"), "planned", planned));
  printHeader();
  printSpeed();
  printMemory(texts.front());
  printTexts(texts);

  json speed = json::array();
  for (auto [slow, fast] : readSpeeds(dense, planned))
    speed.push_back({{"test", kTests[speed.size()]},
                     {"tokens", options.tokens},
                     {"dense", slow},
                     {"plan", fast}});
  std::string planText;
  json plan;
  GIST_TRY(run::readText(options.plan, planText));
  GIST_TRY(parseJson(planText, plan).in(options.plan));
  result = {
      {"gist_evaluation", 1},
      {"model", std::filesystem::path(options.model).filename().string()},
      {"machine", text(dense, "device_name")},
      {"command", options.command},
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

Status plan::findCompiler(const std::string &device, std::string &compiler) {
  if (!targetOfDevice(device))
    return Status::error(Code::BadArgument,
                         "there is no device '%s'; expected cpu, hip or cuda",
                         device.c_str());
  if (!compiler.empty())
    return {};
  Status found = run::findProgram("gist-compile", "--compiler", compiler);
  return found.ok() ? found
                    : Status::error(found.code,
                                    "%s; gist-plan needs it to compile the "
                                    "model, and it is in the component "
                                    "'compiler' of Gist",
                                    found.text.c_str());
}

Status plan::makeFolder(const std::string &path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  return error ? Status::error(Code::Io, "%s: %s", path.c_str(),
                               error.message().c_str())
               : Status();
}

Status plan::compileModel(const SideBySideOptions &options,
                          const std::string &output,
                          const std::vector<std::string> &more) {
  std::vector<std::string> words = {
      options.compiler,
      options.model,
      "-o",
      output,
      std::string("--target=") + targetOfDevice(options.device),
      "--context=" + std::to_string(options.context),
      "--weights=reference",
      "--progress=bar"};
  if (!options.compute.empty())
    words.push_back("--compute=" + options.compute);
  words.insert(words.end(), more.begin(), more.end());
  return run::runProgram(words);
}

Status plan::compareSideBySide(const SideBySideOptions &options,
                               const std::string &evaluation,
                               SpeedUp &speedUp) {
  Comparer comparer(options);
  json result;
  GIST_TRY(comparer.run(result));
  speedUp = comparer.speedUp();
  return writeWhole(evaluation,
                    result.dump(1, ' ', false, json::error_handler_t::replace) +
                        "\n");
}
