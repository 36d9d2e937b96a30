//===- Eval.cpp - gist-run eval -------------------------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `gist-run eval`: how well a module predicts a text, and how far it is from
// another module on the same text. What is measured is in tools/running; here
// it is put together and told.
//
//===----------------------------------------------------------------------===//

#include "runtime/format/GateLevels.h"
#include "runtime/support/Json.h"
#include "tools/gist-run/Commands.h"
#include "tools/gist-run/EvalTasks.h"
#include "tools/gist-run/EvalWriting.h"
#include "tools/running/Accounting.h"
#include "tools/running/Evaluation.h"
#include "tools/running/LayerComparison.h"
#include "tools/running/Pair.h"
#include "tools/running/SelectionMeter.h"

#include "nlohmann/json.hpp"

#include <algorithm>
#include <memory>
#include <optional>

using namespace gist;
using namespace gist::run;

namespace {
/// Lengths are in tokens; 0 means the default, or not at all.
struct Options {
  ModelOptions model;
  AgainstOptions against;
  std::string text;
  int64_t window = 512, stride = 0, maxTokens = 0, recall = 0;
  bool layers = false, json = false;
};

/// One evaluation: what is measured, and how it is reported.
class Evaluation {
public:
  explicit Evaluation(Options &options) : options(options) {}

  Status run();

private:
  Status open();
  Status measure(const std::vector<int32_t> &tokens);
  /// Adds up what gates did in a window.
  void countGates();
  Status printJson() const;
  nlohmann::json layersToJson() const;
  void printText() const;

  Options &options;
  Accounting accounting;
  SelectionMeter selections;
  Runner runner;
  std::unique_ptr<Runner> other;
  std::optional<LayerComparison> layers;

  /// One for each window; `windows` is their sum.
  std::vector<Comparison> each;
  Comparison windows;
  std::optional<Comparison> recall;
  /// The work of the windows, and of the recall probe.
  AttentionWork work;
  std::optional<AttentionWork> recallWork;
  double seconds = 0, otherSeconds = 0; ///< of the windows
  std::vector<double> gates;            ///< layers x groups x levels
};
} // namespace

/// The names of these fields are read by bench/*.py and gist-plan report.
static nlohmann::json toJson(const Comparison &result, bool compared) {
  nlohmann::json json = {{"tokens", result.count},
                         {"nll", result.meanNll()},
                         {"nll_error", result.nllError()},
                         {"perplexity", result.perplexity()},
                         {"accuracy", result.accuracy()}};
  if (compared) {
    json["against_perplexity"] = result.referencePerplexity();
    json["perplexity_ratio"] = result.ratio();
    json["top1_agreement"] = result.agreement();
    json["kl_mean"] = result.meanKl();
    json["kl_max"] = result.klMax;
    json["row_error_mean"] = result.meanError();
    json["row_error_max"] = result.errorMax;
    json["lost_lead_max"] = result.lostLead;
  }
  return json;
}

/// How much windows differ, and what each of them gave.
static nlohmann::json toJson(const std::vector<Comparison> &each,
                             bool compared) {
  // The last window may have few tokens, which its figures do not show.
  nlohmann::json tokens = nlohmann::json::array();
  for (const Comparison &window : each)
    tokens.push_back(window.count);
  nlohmann::json json = {{"windows", each.size()}, {"tokens", tokens}};
  auto add = [&](const char *name, double (Comparison::*of)() const) {
    Spread spread = spreadOf(each, of);
    nlohmann::json values = nlohmann::json::array();
    for (const Comparison &window : each)
      values.push_back((window.*of)());
    json[name] = {{"mean", spread.mean},
                  {"deviation", spread.deviation},
                  {"values", values}};
  };
  add("perplexity", &Comparison::perplexity);
  if (compared) {
    add("perplexity_ratio", &Comparison::ratio);
    add("kl_mean", &Comparison::meanKl);
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

/// Without another module only what one model can say by itself.
static void print(const char *title, const Comparison &result, bool compared) {
  std::printf("%s: %llu tokens predicted\n", title,
              static_cast<unsigned long long>(result.count));
  std::printf("  perplexity        %.4f (nll %.5f +- %.5f)\n",
              result.perplexity(), result.meanNll(), result.nllError());
  std::printf("  top-1 accuracy    %.4f\n", result.accuracy());
  if (!compared)
    return;
  std::printf("  against           %.4f\n", result.referencePerplexity());
  std::printf("  perplexity ratio  %.5f\n", result.ratio());
  std::printf("  top-1 agreement   %.4f\n", result.agreement());
  std::printf("  lost lead         %.4f max\n", result.lostLead);
  std::printf("  KL divergence     %.6f mean, %.6f max\n", result.meanKl(),
              result.klMax);
  std::printf("  row error         %.2e mean, %.2e max\n", result.meanError(),
              result.errorMax);
}

/// Both modules get the same context. They must have the same tokens.
Status Evaluation::open() {
  // Room for a window, or for two copies of the recall probe.
  int64_t needed = std::max(options.window, 2 * options.recall);
  options.model.context = std::max(options.model.context, needed);
  accounting.listen(options.model);
  GIST_TRY(runner.openWithTokenizer(options.model));
  GIST_TRY(accounting.open(runner).in(options.model.path));
  selections.open(*runner.module);
  GIST_TRY(openAgainst(options.against, options.model, runner, other));
  if (options.layers) {
    layers.emplace(runner, *other);
    GIST_TRY(layers->open());
  }
  return {};
}

/// Statistics are of the last call, so they are added after each window.
void Evaluation::countGates() {
  for (const StatisticValue &value : runner.session->statistics()) {
    if (value.name != "gates")
      continue;
    gates.resize(value.values.size());
    for (size_t i = 0; i < gates.size(); ++i)
      gates[i] += value.values[i];
  }
}

/// Windows first, then the recall probe; each counts its own work.
Status Evaluation::measure(const std::vector<int32_t> &tokens) {
  Evaluator evaluator(runner, other.get());
  evaluator.afterWhole = [&](const Session &session, int64_t count) {
    selections.add(session.statistics(), count);
  };
  const std::vector<uint32_t> &prefix = runner.tokenizer.spec().prefix;
  evaluator.afterWindow = [&](std::span<const int32_t> seen) {
    countGates();
    if (!layers)
      return Status();
    // The layers see what the windows saw: with the prefix in front.
    std::vector<int32_t> all(prefix.begin(), prefix.end());
    all.insert(all.end(), seen.begin(), seen.end());
    return layers->add(all);
  };
  GIST_TRY(evaluator.windows(tokens, options.window, options.stride, each));
  for (const Comparison &window : each)
    windows += window;
  // Taken before the recall probe, which counts apart.
  work = accounting.take();
  seconds = evaluator.time().seconds();
  otherSeconds = evaluator.referenceTime().seconds();
  if (options.recall == 0)
    return {};
  // Two copies of a text would not be representative for selections.
  evaluator.afterWhole = nullptr;
  GIST_TRY(evaluator.recall(tokens, options.recall, recall.emplace()));
  recallWork = accounting.take();
  return {};
}

/// What is known of each layer, from all sources.
nlohmann::json Evaluation::layersToJson() const {
  nlohmann::json list = nlohmann::json::array();
  if (accounting.isActive())
    accounting.addTo(work, list);
  if (selections.isActive())
    selections.addTo(list);
  auto count = static_cast<size_t>(
      std::max<int64_t>(runner.module->spec().model.layerCount, 1));
  // The share of rows that read more than the subspace of a gate.
  // Gates of a layer lie together. A count that does not divide belongs to a
  // module that counts otherwise.
  for (size_t n = 0; n < count && gates.size() % (kNumGateLevels * count) == 0;
       ++n) {
    double open = 0, all = 0;
    for (size_t i = n * gates.size() / count;
         i < (n + 1) * gates.size() / count; ++i) {
      all += gates[i];
      open += i % kNumGateLevels == kClosedGate ? 0 : gates[i];
    }
    if (all > 0)
      list[n]["gates"] = open / all;
  }
  if (layers)
    layers->addTo(list);
  // A layer without data is {}, not null.
  for (nlohmann::json &layer : list)
    if (layer.is_null())
      layer = nlohmann::json::object();
  return list;
}

Status Evaluation::printJson() const {
  bool isCompared = other != nullptr;
  double flops = 0;
  GIST_TRY(productFlopsOfToken(*runner.module, flops));
  nlohmann::json json = {{"module", options.model.path},
                         {"text", options.text},
                         {"window", options.window},
                         {"stride", options.stride},
                         {"weight_bytes", weightBytesOfToken(*runner.module)},
                         {"kv_bytes", runner.session->memoryUse().state},
                         {"flops_of_token", flops},
                         {"seconds", seconds},
                         {"windows", toJson(windows, isCompared)},
                         {"variation", toJson(each, isCompared)}};
  if (other) {
    GIST_TRY(productFlopsOfToken(*other->module, flops));
    json["against"] = options.against.path;
    json["against_weight_bytes"] = weightBytesOfToken(*other->module);
    json["against_kv_bytes"] = other->session->memoryUse().state;
    json["against_flops_of_token"] = flops;
    json["against_seconds"] = otherSeconds;
  }
  if (recall)
    json["recall"] = toJson(*recall, isCompared);
  if (accounting.isActive())
    json["work"] = accounting.toJson(work, recallWork);
  if (selections.isActive())
    json["selections"] = selections.toJson();
  // For gist-plan report, which draws what each head keeps.
  if (nlohmann::json plan; parseJsonObject(runner.module->plan(), plan).ok())
    json["plan"] = std::move(plan);
  // Absent where a module has nothing to say.
  if (nlohmann::json list = layersToJson(); !list.empty())
    json["layers"] = list;
  if (!runner.session->statistics().empty())
    json["statistics"] = toJson(runner.session->statistics());
  std::printf("%s\n",
              json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace)
                  .c_str());
  return {};
}

/// Numbers that repeat go to standard output; times, which do not, to standard
/// error.
void Evaluation::printText() const {
  bool isCompared = other != nullptr;
  print("windows", windows, isCompared);
  if (each.size() > 1) {
    Spread spread = isCompared ? spreadOf(each, &Comparison::ratio)
                               : spreadOf(each, &Comparison::perplexity);
    std::printf("  %-17s %.5f +- %.5f over %zu windows\n",
                isCompared ? "ratio of each" : "each", spread.mean,
                spread.deviation, each.size());
  }
  if (recall)
    print("second copy", *recall, isCompared);
  // Not with the rest, which is the same whenever and wherever it runs.
  if (isCompared)
    std::fprintf(stderr, "time: %.3f s, the other %.3f s\n", seconds,
                 otherSeconds);
  else
    std::fprintf(stderr, "time: %.3f s\n", seconds);
  std::printf("weights of a token  %s",
              sizeText(weightBytesOfToken(*runner.module)).c_str());
  if (isCompared)
    std::printf(", the other %s",
                sizeText(weightBytesOfToken(*other->module)).c_str());
  std::printf("\n");
  if (accounting.isActive())
    accounting.print(work, recallWork);
  if (selections.isActive())
    selections.print();
  if (layers)
    layers->print();
}

Status Evaluation::run() {
  std::string text;
  GIST_TRY(readText(options.text, text));
  GIST_TRY(open());
  std::vector<int32_t> tokens;
  // The prefix is added to every window by the evaluator.
  runner.tokenizer.encode(text, tokens,
                          {.addSpecial = false, .parseSpecial = false});
  if (options.maxTokens > 0 &&
      tokens.size() > static_cast<size_t>(options.maxTokens))
    tokens.resize(static_cast<size_t>(options.maxTokens));
  GIST_TRY(measure(tokens).in(options.text));
  if (options.json)
    GIST_TRY(printJson());
  else
    printText();
  return runner.finish();
}

/// What --tasks and --generate ask for beside the options of all.
struct OtherOptions {
  TaskOptions tasks;
  EvalWritingOptions writing;
  uint64_t seed = 1;
};

static void addOtherOptions(CLI::App &command, OtherOptions &options) {
  addTaskOptions(command, options.tasks);
  options.writing.writing.tokens = 0;
  command
      .add_option("--generate", options.writing.writing.tokens,
                  "Write N tokens after the beginning of the text instead, and "
                  "compare with what the other module expects along the way")
      ->type_name("N");
  addSetting(command, "--prompt-tokens", options.writing.promptTokens, "N",
             "Tokens of the text that --generate goes on after")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 30));
  addSetting(command, "--seed", options.seed, "N",
             "Of --tasks and --generate: the same seed gives the same "
             "samples and the same text");
}

/// The command that the options ask for.
static Action chooseAction(const std::shared_ptr<Options> &options,
                           const std::shared_ptr<OtherOptions> &others) {
  if (TaskOptions &tasks = others->tasks; !tasks.tasks.empty()) {
    tasks.model = options->model;
    tasks.against = options->against;
    tasks.text = options->text;
    tasks.json = options->json;
    tasks.samples.seed = others->seed;
    return [others] { return runTasks(others->tasks); };
  }
  if (options->text.empty())
    throw CLI::RequiredError("--text or --tasks");
  if (EvalWritingOptions &writing = others->writing;
      writing.writing.tokens != 0) {
    if (options->against.path.empty())
      throw CLI::ValidationError("--generate", "compares with --against");
    writing.model = options->model;
    writing.against = options->against;
    writing.text = options->text;
    writing.json = options->json;
    // As the model says: most likely tokens alone end in a loop.
    writing.writing.sampler.temperature = 1;
    writing.writing.sampler.seed = others->seed;
    return [others] { return runWriting(others->writing); };
  }
  return [options] { return Evaluation(*options).run(); };
}

void run::addEval(CLI::App &app, Action &action) {
  auto options = std::make_shared<Options>();
  CLI::App *command = app.add_subcommand(
      "eval", "Perplexity of a text, answers to questions, and agreement with "
              "another module");
  auto others = std::make_shared<OtherOptions>();
  addModelOptions(*command, options->model);
  addSetting(*command, "-f,--text", options->text, "FILE",
             "Text file to predict; - for standard input. With --tasks "
             "its sentences are what answers are hidden in");
  addSetting(*command, "--window", options->window, "N",
             "Tokens the model sees at once")
      ->check(CLI::Range(int64_t{2}, int64_t{1} << 30));
  addSetting(*command, "--stride", options->stride, "N",
             "Distance between windows; tokens of an overlap are "
             "predicted once, with more context; 0: half a window")
      ->check(CLI::NonNegativeNumber);
  addSetting(*command, "--max-tokens", options->maxTokens, "N",
             "Use the first N tokens of the text; 0: all")
      ->check(CLI::NonNegativeNumber);
  addAgainstOptions(*command, options->against);
  command
      ->add_option("--recall", options->recall,
                   "Also predict a second copy of the first N tokens, with the "
                   "first in the context: long-range recall")
      ->type_name("N")
      ->check(CLI::NonNegativeNumber);
  command->add_flag("--layers", options->layers,
                    "Also compare layer by layer what attention and linear "
                    "layers return; both modules need gist-compile --observe");
  addOtherOptions(*command, *others);
  command->add_flag("--json", options->json, "Print JSON");
  command->footer("Lost lead: how far the other module's most likely token is "
                  "ahead of its second where the two modules differ.\n"
                  "Row error: the length of the difference of the logits, "
                  "divided by that of the other module's.\n"
                  "Example: gist-run eval plan.gist --text book.txt --window "
                  "2048 --against dense.gist\n"
                  "         gist-run eval plan.gist --tasks all --length 4096 "
                  "--samples 50 --against dense.gist");
  command->callback([options, others, &action] {
    if (options->stride > options->window)
      throw CLI::ValidationError("--stride", "larger than --window");
    // On another device a module is compared with itself, if with no other.
    AgainstOptions &against = options->against;
    if (!against.device.empty() && against.path.empty())
      against.path = options->model.path;
    if (options->layers && options->against.path.empty())
      throw CLI::ValidationError("--layers", "compares with --against");
    // Half a window gives every token at least half a window before it.
    if (options->stride == 0)
      options->stride = std::max<int64_t>(1, options->window / 2);
    action = chooseAction(options, others);
  });
}
