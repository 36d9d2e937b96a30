//===- Eval.cpp - gist-run eval -------------------------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/gist-run/Accounting.h"
#include "tools/gist-run/Commands.h"
#include "tools/gist-run/Evaluation.h"
#include "tools/gist-run/Options.h"

#include "nlohmann/json.hpp"

#include <algorithm>
#include <memory>
#include <optional>

using namespace gist;
using namespace gist::run;

namespace {
struct Options {
  ModelOptions model;
  std::string text, against, againstDevice;
  int64_t window = 512, stride = 0, maxTokens = 0, recall = 0;
  bool json = false;
};
} // namespace

static nlohmann::json toJson(const Comparison &result, bool compared) {
  nlohmann::json json = {{"tokens", result.count},
                         {"nll", result.meanNll()},
                         {"nll_error", result.nllError()},
                         {"perplexity", result.perplexity()},
                         {"accuracy", result.accuracy()}};
  if (compared) {
    json["against_perplexity"] = result.referencePerplexity();
    json["perplexity_ratio"] =
        result.perplexity() / result.referencePerplexity();
    json["top1_agreement"] = result.agreement();
    json["kl_mean"] = result.meanKl();
    json["kl_max"] = result.klMax;
    json["row_error_mean"] = result.meanError();
    json["row_error_max"] = result.errorMax;
    json["lost_lead_max"] = result.lostLead;
  }
  return json;
}

/// What the module counted in its last call: for each name, its numbers.
static nlohmann::json toJson(const std::vector<StatisticValue> &statistics) {
  nlohmann::json json = nlohmann::json::object();
  for (const StatisticValue &statistic : statistics)
    json[statistic.name] = statistic.values;
  return json;
}

static void print(const char *title, const Comparison &result, bool compared) {
  std::printf("%s: %llu tokens predicted\n", title,
              static_cast<unsigned long long>(result.count));
  std::printf("  perplexity        %.4f (nll %.5f +- %.5f)\n",
              result.perplexity(), result.meanNll(), result.nllError());
  std::printf("  top-1 accuracy    %.4f\n", result.accuracy());
  if (!compared)
    return;
  std::printf("  against           %.4f\n", result.referencePerplexity());
  std::printf("  perplexity ratio  %.5f\n",
              result.perplexity() / result.referencePerplexity());
  std::printf("  top-1 agreement   %.4f\n", result.agreement());
  std::printf("  lost lead         %.4f max\n", result.lostLead);
  std::printf("  KL divergence     %.6f mean, %.6f max\n", result.meanKl(),
              result.klMax);
  std::printf("  row error         %.2e mean, %.2e max\n", result.meanError(),
              result.errorMax);
}

static Status runEval(Options &options) {
  if (options.stride == 0)
    options.stride = std::max<int64_t>(1, options.window / 2);
  std::string text;
  GIST_TRY(readText(options.text, text));

  // Room for a window, or for two copies of the recall probe.
  int64_t needed = std::max(options.window, 2 * options.recall);
  options.model.context = std::max(options.model.context, needed);
  Accounting accounting;
  accounting.listen(options.model);
  Runner runner;
  GIST_TRY(runner.openWithTokenizer(options.model));
  GIST_TRY(accounting.open(runner).in(options.model.path));
  std::unique_ptr<Runner> other;
  if (!options.against.empty()) {
    other = std::make_unique<Runner>();
    ModelOptions otherModel = options.model;
    otherModel.path = options.against;
    if (!options.againstDevice.empty())
      otherModel.device = options.againstDevice;
    otherModel.trace.clear();
    otherModel.profile = false;
    otherModel.statistics = false;
    otherModel.afterCall = nullptr;
    GIST_TRY(other->openWithTokenizer(otherModel));
    if (other->tokenizer.spec().serialize() !=
        runner.tokenizer.spec().serialize())
      return Status::error(Code::BadArgument,
                           "the two modules have different tokenizers");
  }

  std::vector<int32_t> tokens;
  runner.tokenizer.encode(text, tokens,
                          {.addSpecial = false, .parseSpecial = false});
  if (options.maxTokens > 0 &&
      tokens.size() > static_cast<size_t>(options.maxTokens))
    tokens.resize(static_cast<size_t>(options.maxTokens));
  Evaluator evaluator(runner, other.get());
  Comparison windows, recall;
  GIST_TRY(evaluator.windows(tokens, options.window, options.stride, windows)
               .in(options.text));
  double windowsWork = accounting.take();
  std::optional<double> recallWork;
  if (options.recall > 0) {
    GIST_TRY(evaluator.recall(tokens, options.recall, recall).in(options.text));
    recallWork = accounting.take();
  }

  if (options.json) {
    nlohmann::json json = {{"module", options.model.path},
                           {"text", options.text},
                           {"window", options.window},
                           {"stride", options.stride},
                           {"weight_bytes", weightBytesOfToken(*runner.module)},
                           {"windows", toJson(windows, other != nullptr)}};
    if (other)
      json["against"] = options.against;
    if (options.recall > 0)
      json["recall"] = toJson(recall, other != nullptr);
    if (accounting.isActive()) {
      json["work"] = accounting.toJson(windowsWork, recallWork);
      json["layers"] = accounting.layersToJson();
    }
    if (!runner.session->statistics().empty())
      json["statistics"] = toJson(runner.session->statistics());
    std::printf("%s\n", json.dump(2, ' ', false,
                                  nlohmann::json::error_handler_t::replace)
                            .c_str());
  } else {
    print("windows", windows, other != nullptr);
    if (options.recall > 0)
      print("second copy", recall, other != nullptr);
    if (accounting.isActive())
      accounting.print(windowsWork, recallWork);
  }
  return runner.finish();
}

void run::addEval(CLI::App &app, Action &action) {
  auto options = std::make_shared<Options>();
  CLI::App *command = app.add_subcommand(
      "eval", "Perplexity of a text, and agreement with another module");
  addModelOptions(*command, options->model);
  command
      ->add_option("-f,--text", options->text,
                   "Text file to predict; - for standard input")
      ->type_name("FILE")
      ->required();
  command
      ->add_option("--window", options->window, "Tokens the model sees at once")
      ->type_name("N")
      ->check(CLI::Range(int64_t{2}, int64_t{1} << 30))
      ->capture_default_str();
  command
      ->add_option("--stride", options->stride,
                   "Distance between windows; tokens of an overlap are "
                   "predicted once, with more context; 0: half a window")
      ->type_name("N")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command
      ->add_option("--max-tokens", options->maxTokens,
                   "Use the first N tokens of the text; 0: all")
      ->type_name("N")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command
      ->add_option("--against", options->against,
                   "Compare with this module: perplexity ratio, equal most "
                   "likely tokens, KL divergence of this module from it")
      ->type_name("MODULE");
  command
      ->add_option("--against-device", options->againstDevice,
                   "Where the other module runs: the same module on a GPU and "
                   "on the CPU, say; without this option, beside this one")
      ->type_name("KIND");
  command
      ->add_option("--recall", options->recall,
                   "Also predict a second copy of the first N tokens, with the "
                   "first in the context: long-range recall")
      ->type_name("N")
      ->check(CLI::NonNegativeNumber);
  command->add_flag("--json", options->json, "Print JSON");
  command->footer("Lost lead: how far the other module's most likely token is "
                  "ahead of its second where the two modules differ.\n"
                  "Row error: the length of the difference of the logits, "
                  "divided by that of the other module's.\n"
                  "Example: gist-run eval plan.gist --text book.txt --window "
                  "2048 --against dense.gist");
  command->callback([options, &action] {
    if (options->stride > options->window)
      throw CLI::ValidationError("--stride", "larger than --window");
    action = [options] { return runEval(*options); };
  });
}
