//===- Depths.cpp - gist-plan depths --------------------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `gist-plan depths`: finds which layers the bulk of a prompt needs, or takes a
// plan that says so, fits the maps in place of the others, and measures what
// the plan keeps on other texts and questions. The model is compiled once, with
// layers in which every plan can be tried.
//
//===----------------------------------------------------------------------===//

#include "passes/Plan/File/PlanFile.h"
#include "passes/Plan/File/PlanJson.h"
#include "runtime/module/Properties.h"
#include "runtime/support/AtomicFile.h"
#include "tools/gist-plan/Commands.h"
#include "tools/gist-plan/SharedOptions.h"
#include "tools/planning/BuiltInTexts.h"
#include "tools/planning/CertificateFile.h"
#include "tools/planning/DepthPlanner.h"
#include "tools/planning/PromptSpeed.h"
#include "tools/running/Compiler.h"
#include "tools/tasks/Sample.h"

#include <nlohmann/json.hpp>

#include <charconv>
#include <filesystem>

using namespace gist;
using namespace gist::plan;
using Json = nlohmann::ordered_json;

namespace {
struct Options {
  run::ModelOptions model; ///< device and threads; its path is made
  std::string compiler, source, plan, output;
  std::vector<std::string> texts, heldOut;
  PlannerOptions planner; ///< what is promised, and how sure
  DepthSearch search;
  FitOptions fit;
  int64_t maxTokens = 65536, answer = 512, windows = 1;
  size_t kindSamples = 9, searchSamples = 18, heldOutSamples = 4;
  std::vector<double> also; ///< more qualities
  uint64_t seed = 1;
  double seconds = 0;
};

/// A text in two parts: one to fit maps with, one to search with.
struct SplitText {
  std::string name, fit, search;
};

class DepthsCommand {
public:
  explicit DepthsCommand(const Options &options)
      : options(options), limit(options.seconds) {}
  Status run();

private:
  Status openModel();
  Status readTexts();
  Status openContract(bool isHeldOut, size_t samples, Contract &contract,
                      TaskTerms &tasks);
  Status collectTokens(std::vector<int32_t> &tokens);
  Status givePlan(DepthFitter &fitter);
  Status search(DepthFitter &fitter, Contract &heldOut, const TaskTerms &tasks);
  /// Judges what was found and writes it.
  Status finish(const Promise &promise, Contract &heldOut,
                const TaskTerms &tasks, const std::string &output);
  /// What the plan that was written saves of a prompt's time.
  Status measureSpeed(const std::string &output, PromptSpeed &speed);
  Status writeMapsOf(const std::string &output) const;
  /// Writes the plan, whose maps are written.
  Status write(const Promise &promise, const Json &measured,
               const std::string &output) const;

  const Options &options;
  run::Limit limit;     ///< of the search
  run::Limit unlimited; ///< of what comes after it
  run::TemporaryModule module, dense;
  run::TemporaryFolder folder;
  ProbePool pool;
  ModelSource source;
  DepthModel model;
  std::vector<SplitText> texts;
  std::vector<int32_t> prompt; ///< to measure time with
  PlanFile given;              ///< the plan that the user names
  FoundDepths found;
};
} // namespace

Status DepthsCommand::openModel() {
  GIST_TRY(openModelSource(options.source, source));
  // Prompt, answer and the copy of as many tokens of the prompt.
  int64_t context =
      std::max(options.search.prompt + 2 * options.answer, options.fit.window);
  GIST_TRY(module.make(options.compiler, options.source, options.model.device,
                       {"--observe", std::string("--plan=") + kDepthsPlan,
                        "--context=" + std::to_string(context)}));
  run::ModelOptions chosen = options.model;
  chosen.path = module.path;
  chosen.trust = true; // It was compiled a moment ago.
  GIST_TRY(pool.open(chosen, 1, /*hasHeads=*/false));
  return model.open(*pool.first().model().session, source);
}

/// The last part of each text is for the search: maps are better on what they
/// were fitted with.
Status DepthsCommand::readTexts() {
  for (const std::string &path : options.texts) {
    SplitText &text = texts.emplace_back();
    text.name = std::filesystem::path(path).filename().string();
    GIST_TRY(run::readText(path, text.fit));
  }
  if (texts.empty())
    for (const BuiltInText &text : builtInTexts())
      if (!text.isHeldOut)
        texts.push_back({text.name, std::string(text.text), {}});
  // About five bytes a token, and some more.
  size_t wanted = static_cast<size_t>((options.search.prompt + options.answer) *
                                      options.windows) *
                  6;
  for (SplitText &text : texts) {
    size_t size = text.fit.size();
    size_t part = std::min(size / 2, std::max(size / 4, wanted));
    size_t at = std::min(text.fit.find('\n', size - part), size - part);
    text.search = text.fit.substr(at);
    text.fit.resize(at);
  }
  return {};
}

Status DepthsCommand::openContract(bool isHeldOut, size_t samples,
                                   Contract &contract, TaskTerms &tasks) {
  contract.answer = static_cast<size_t>(options.answer);
  // A search compares many plans; a certificate is measured once.
  contract.tokensOfTerm =
      options.answer *
      (isHeldOut ? std::max<int64_t>(4, options.windows) : options.windows);
  std::vector<std::string> paths = options.heldOut;
  auto add = [&](std::string_view name, std::string_view text) {
    paths.push_back(
        folder.file((isHeldOut ? "other-" : "") + std::string(name)));
    return writeWhole(paths.back(), text);
  };
  if (!isHeldOut) {
    paths.clear();
    for (const SplitText &text : texts)
      GIST_TRY(add(text.name, text.search));
  } else if (paths.empty()) {
    for (const BuiltInText &text : builtInTexts())
      if (text.isHeldOut)
        GIST_TRY(add(text.name, text.text));
  }
  GIST_TRY(contract.open(pool, paths, {options.search.prompt}));
  // A certificate lists single tasks.
  tasks = {samples, isHeldOut ? options.seed + 1 : options.seed,
           options.search.prompt, /*isEach=*/isHeldOut};
  if (options.planner.promise.tasks <= 0)
    tasks.samples = 0;
  return tasks.samples > 0 ? contract.addTasks(pool, tasks) : Status();
}

/// What maps are fitted with: texts, and questions that are neither searched
/// with nor judged by. Answers to questions depend on rows that are rare in
/// texts, such as those of lists.
Status DepthsCommand::collectTokens(std::vector<int32_t> &tokens) {
  const Tokenizer &tokenizer = pool.first().model().tokenizer;
  auto most = static_cast<size_t>(options.maxTokens);
  size_t ofTexts = options.planner.promise.tasks > 0 ? most - most / 4 : most;
  for (const SplitText &text : texts) {
    std::vector<int32_t> ids;
    tokenizer.encode(text.fit, ids,
                     {.addSpecial = false, .parseSpecial = false});
    ids.resize(std::min(ids.size(), ofTexts / texts.size()));
    tokens.insert(tokens.end(), ids.begin(), ids.end());
  }
  size_t end = tokens.size() + most - ofTexts;
  std::span<const tasks::Task> all = tasks::allTasks();
  tasks::Filler filler;
  for (size_t i = 0; tokens.size() < end; ++i) {
    tasks::Sample sample;
    GIST_TRY(tasks::makeSample(tokenizer, all[i % all.size()], filler,
                               {options.seed + 2, options.fit.window},
                               i / all.size(), sample));
    std::vector<int32_t> ids = sample.join();
    tokens.insert(tokens.end(), ids.begin(), ids.end());
  }
  return {};
}

/// The plan that the user names, fitted.
Status DepthsCommand::givePlan(DepthFitter &fitter) {
  found.plan = given.depths;
  if (!found.plan.isNeeded())
    return Status::error(Code::BadArgument,
                         "%s: no layer is thin, linear or of the tail, so "
                         "there is nothing to fit",
                         options.plan.c_str());
  if (!found.plan.hasBulk)
    return Status::error(Code::BadArgument,
                         "%s: the plan's depths are for all tokens, without "
                         "first and last; maps are fitted for the bulk of a "
                         "prompt",
                         options.plan.c_str());
  // The module reads the ends of a prompt as every plan of a search does.
  DepthPlan usual;
  if (found.plan.first != usual.first || found.plan.last != usual.last)
    return Status::error(
        Code::BadArgument,
        "%s: the first %lld and the last %lld tokens of a prompt are whole; "
        "maps are fitted and measured with %lld and %lld",
        options.plan.c_str(), static_cast<long long>(found.plan.first),
        static_cast<long long>(found.plan.last),
        static_cast<long long>(usual.first),
        static_cast<long long>(usual.last));
  if (found.plan.layers.size() != model.countLayers())
    return Status::error(
        Code::BadArgument, "%s: the plan has %zu layers, the model %zu",
        options.plan.c_str(), found.plan.layers.size(), model.countLayers());
  for (size_t i = 0; i < found.plan.layers.size(); ++i) {
    const DepthChoice &choice = found.plan.layers[i];
    auto all = static_cast<int64_t>(model.outputWeight(i).cols());
    if (choice.kind == LayerDepth::Any || choice.neurons > all)
      return Status::error(Code::BadArgument,
                           "%s: layer %zu is %s; the model has %lld neurons "
                           "there that can be left out",
                           options.plan.c_str(), i, printDepth(choice).c_str(),
                           static_cast<long long>(all));
  }
  std::vector<MapSet> maps;
  GIST_TRY(fitter.fitAlone({found.plan}, unlimited, maps));
  found.maps = std::move(maps.front());
  GIST_TRY(fitter.fitTogether(found.plan, unlimited, found.maps));
  found.work = countWork(model, found.plan, options.search.prompt);
  return {};
}

/// The file of maps beside a plan.
static std::filesystem::path mapsOf(std::filesystem::path output) {
  return output.replace_extension(".maps.safetensors");
}

Status DepthsCommand::writeMapsOf(const std::string &output) const {
  const ModuleSpec &spec = model.getSession().module().spec();
  auto hash = spec.model.properties.find(kWeightsProperty);
  uint64_t value = 0;
  if (hash != spec.model.properties.end())
    std::from_chars(hash->second.data(),
                    hash->second.data() + hash->second.size(), value, 16);
  return writeMaps(mapsOf(output).string(), value, found.maps);
}

Status DepthsCommand::write(const Promise &promise, const Json &measured,
                            const std::string &output) const {
  DepthPlan plan = found.plan;
  plan.maps = mapsOf(output).filename().string();
  Json contract = {{"quality", promise.perplexity},
                   {"recall", promise.recall},
                   {"tasks", promise.tasks},
                   {"prompt", options.search.prompt},
                   {"work", found.work}};
  contract.update(measured);
  // A line for each layer: what a person compares.
  std::string text =
      "{\n  \"gist_plan\": 1,\n  \"block\": " + std::to_string(Plan().block) +
      ",\n  \"depth\": " + printDepth(plan) +
      ",\n  \"contract\": " + contract.dump() + ",\n  \"layers\": [";
  for (size_t i = 0; i < plan.layers.size(); ++i)
    text += (i == 0 ? "\n    {\"depth\": " : ",\n    {\"depth\": ") +
            printDepth(plan.layers[i]) + "}";
  return writeWhole(output, text + "\n  ]\n}\n");
}

Status DepthsCommand::run() {
  GIST_TRY(checkWritable(options.output));
  if (!options.plan.empty())
    GIST_TRY(readPlanFile(options.plan, given));
  GIST_TRY(folder.make());
  GIST_TRY(readTexts());
  GIST_TRY(openModel());
  std::vector<int32_t> tokens;
  GIST_TRY(collectTokens(tokens));
  size_t length =
      std::min(tokens.size(), static_cast<size_t>(options.search.prompt));
  prompt.assign(tokens.begin(), tokens.begin() + static_cast<long>(length));
  // All texts are read before the search: a wrong name should not cost it.
  Contract heldOut;
  TaskTerms tasks;
  GIST_TRY(
      openContract(/*isHeldOut=*/true, options.heldOutSamples, heldOut, tasks));
  FitOptions fit = options.fit;
  if (given.depths.thinForAll)
    fit.first = 0;
  DepthFitter fitter(model, std::move(tokens), fit);
  if (options.plan.empty())
    return search(fitter, heldOut, tasks);
  GIST_TRY(givePlan(fitter));
  if (given.depths.thinForAll) {
    std::printf("fitted, and not judged: thin layers are for written tokens "
                "too; `gist-run eval` measures a module with this plan\n");
    GIST_TRY(writeMapsOf(options.output));
    return write(options.planner.promise, Json::object(), options.output);
  }
  GIST_TRY(heldOut.measureDense(pool, tryDepths(true)));
  return finish(options.planner.promise, heldOut, tasks, options.output);
}

/// "plan.json" of one more quality: "plan-1.05.json".
static std::string nameOf(std::filesystem::path output, double quality) {
  char text[32];
  std::snprintf(text, sizeof(text), "-%g", quality);
  std::string extension = output.extension().string();
  return output.replace_extension().string() + text + extension;
}

Status DepthsCommand::search(DepthFitter &fitter, Contract &heldOut,
                             const TaskTerms &tasks) {
  Contract kinds, terms;
  TaskTerms searched;
  GIST_TRY(
      openContract(/*isHeldOut=*/false, options.kindSamples, kinds, searched));
  GIST_TRY(openContract(/*isHeldOut=*/false, options.searchSamples, terms,
                        searched));
  std::vector<std::pair<Promise, std::string>> wanted = {
      {options.planner.promise, options.output}};
  for (double quality : options.also)
    wanted.push_back({Promise::of(quality), nameOf(options.output, quality)});
  Promise loosest = std::ranges::max(wanted, {}, [](const auto &one) {
                      return one.first.perplexity;
                    }).first;
  DepthSearch search = options.search;
  search.confidence = options.planner.confidence;
  DepthPlanner planner(search, pool, model, fitter, kinds, terms, limit);
  GIST_TRY(planner.measureKinds(loosest));
  std::vector<FoundDepths> all(wanted.size());
  for (size_t i = 0; i < wanted.size(); ++i)
    GIST_TRY(planner.solve(wanted[i].first, all[i]));
  pool.stopAt(unlimited);
  GIST_TRY(heldOut.measureDense(pool, tryDepths(true)));
  Status missing;
  for (size_t i = 0; i < wanted.size(); ++i) {
    const auto &[promise, output] = wanted[i];
    found = std::move(all[i]);
    if (found.plan.isNeeded())
      GIST_TRY(finish(promise, heldOut, tasks, output));
    else if (missing.ok())
      missing =
          limit.hasStopped()
              ? Status::error(Code::NotFound,
                              "the time was over before a plan of quality %g "
                              "was found; give more --seconds or fewer "
                              "--max-tokens",
                              promise.perplexity)
              : Status::error(Code::NotFound,
                              "no layer can be left out at quality %g; ask "
                              "for less, such as --quality %g",
                              promise.perplexity,
                              1 + 2 * (promise.perplexity - 1));
  }
  // After the plans of other qualities, which are written.
  return missing;
}

Status DepthsCommand::finish(const Promise &promise, Contract &heldOut,
                             const TaskTerms &tasks,
                             const std::string &output) {
  std::printf("quality %g, prompts of %lld tokens: %.3f of the work\n",
              promise.perplexity, static_cast<long long>(options.search.prompt),
              found.work);
  for (size_t i = 0; i < found.plan.layers.size(); ++i)
    if (found.plan.layers[i].kind != LayerDepth::Full)
      std::printf("layer %zu: %s\n", i,
                  printDepth(found.plan.layers[i]).c_str());
  GIST_TRY(model.follow(found.plan, found.maps));
  Measurement measured;
  GIST_TRY(heldOut.measure(pool, tryDepths(false), measured));
  Certificate certificate =
      certify(heldOut, measured, promise, options.planner.confidence, tasks,
              pool.first().model().device->info().name);
  certificate.work = found.work;
  certificate.workOf = "a prompt";
  print(certificate);
  Json contract = {{"certificate", toJson(certificate)}};
  // Written before it is measured, to be followed at every length: what
  // compiles is the file.
  found.plan.least = {{options.model.device, 1}};
  GIST_TRY(writeMapsOf(output));
  GIST_TRY(write(promise, contract, output));
  PromptSpeed speed;
  GIST_TRY(measureSpeed(output, speed));
  found.plan.least = {{options.model.device, speed.least}};
  contract["speed"] = {{"device", certificate.device},
                       {"dense_seconds", speed.times.dense},
                       {"seconds", speed.times.planned},
                       {"times", speed.ratio()}};
  GIST_TRY(write(promise, contract, output));
  std::printf("\ngist-compile %s -o less.gist --plan %s\n",
              options.source.c_str(), output.c_str());
  return {};
}

Status DepthsCommand::measureSpeed(const std::string &output,
                                   PromptSpeed &speed) {
  std::string context = "--context=" + std::to_string(options.search.prompt);
  if (dense.path.empty())
    GIST_TRY(dense.make(options.compiler, options.source, options.model.device,
                        {context}));
  run::TemporaryModule less;
  GIST_TRY(less.make(options.compiler, options.source, options.model.device,
                     {context, "--plan", output}));
  run::ModelOptions whole = options.model;
  whole.trust = true; // Both were compiled a moment ago.
  run::ModelOptions planned = whole;
  whole.path = dense.path;
  planned.path = less.path;
  GIST_TRY(measurePromptSpeed(whole, planned, prompt, found.plan, speed));
  std::printf("time of a prompt of %zu tokens: %.4g s instead of %.4g s, %.2f "
              "times as fast\n",
              prompt.size(), speed.times.planned, speed.times.dense,
              speed.ratio());
  if (speed.ratio() <= 1)
    std::printf("this plan does not pay at this length: gist-compile --plan "
                "leaves prompts whole whose bulk has fewer than %lld tokens\n",
                static_cast<long long>(speed.least));
  return {};
}

void gist::plan::addDepths(CLI::App &app, Action &action) {
  auto options = std::make_shared<Options>();
  CLI::App *command = app.add_subcommand(
      "depths",
      "Find which layers the bulk of a prompt needs, and fit the others");
  auto count = [&](const char *name, auto &value, const char *help) {
    command->add_option(name, value, help)
        ->type_name("N")
        ->check(CLI::NonNegativeNumber)
        ->capture_default_str();
  };
  command->add_option("model", options->source, "GGUF file or folder")
      ->required()
      ->type_name("MODEL");
  command
      ->add_option("-o,--output", options->output,
                   "Writes the plan, and NAME.maps.safetensors beside it")
      ->required()
      ->type_name("NAME.json");
  command
      ->add_option("--plan", options->plan,
                   "Takes the depths of this plan and fits them, without a "
                   "search")
      ->type_name("FILE");
  addPromiseOptions(*command, options->planner);
  command
      ->add_option(
          "--also", options->also,
          "Finds a plan of this quality too, in NAME-QUALITY.json; may "
          "be given several times")
      ->type_name("QUALITY")
      ->check(CLI::Range(1.0001, 2.0))
      ->allow_extra_args(false);
  command
      ->add_option("-f,--text", options->texts,
                   "Text to fit and to search with; may be given several "
                   "times. Default: texts that gist-plan has with it")
      ->type_name("FILE")
      ->allow_extra_args(false);
  command
      ->add_option("--held-out", options->heldOut,
                   "Text to judge the plan by; may be given several times")
      ->type_name("FILE")
      ->allow_extra_args(false);
  count("--prompt", options->search.prompt, "Tokens of a prompt");
  count("--answer", options->answer, "Tokens behind it that are judged");
  count("--max-tokens", options->maxTokens, "Tokens of all texts to fit with");
  count("--window", options->fit.window, "Tokens of a sequence to fit with");
  count("--windows", options->windows,
        "Prompts of each text to search with; at least four are judged by");
  count("--tries", options->search.tries, "Plans that are fitted and measured");
  count("--kind-samples", options->kindSamples,
        "Questions to measure a kind of layer with; 0: none");
  count("--task-samples", options->searchSamples,
        "Questions to measure a plan with; 0: none");
  count("--held-out-samples", options->heldOutSamples,
        "Questions of each task to judge by; 0: none");
  count("--seed", options->seed,
        "Of the questions to search with; the next one's are judged by");
  count("--seconds", options->seconds, "The search ends then; 0: no limit");
  addPlaceOptions(*command, options->model.device, options->model.threads,
                  options->compiler);
  command->footer("Example: gist-plan depths model.gguf --quality 1.01 "
                  "--prompt 2048 -o plan.json");
  command->callback([options, &action] {
    action = [options] { return DepthsCommand(*options).run(); };
  });
}
