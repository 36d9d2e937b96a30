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
#include "tools/gist-plan/DepthsOptions.h"
#include "tools/gist-plan/SharedOptions.h"
#include "tools/planning/BuiltInTexts.h"
#include "tools/planning/CertificateFile.h"
#include "tools/planning/FitTexts.h"
#include "tools/planning/PlanFinder.h"
#include "tools/planning/PromptSpeed.h"
#include "tools/running/Compiler.h"

#include <nlohmann/json.hpp>

#include <filesystem>

using namespace gist;
using namespace gist::plan;
using Json = nlohmann::ordered_json;

std::string DepthsOptions::mapsOf(const std::string &output) {
  return std::filesystem::path(output)
      .replace_extension(".maps.safetensors")
      .string();
}

std::string DepthsOptions::nameOf(const std::string &output, double quality) {
  char text[32];
  std::snprintf(text, sizeof(text), "-%g", quality);
  std::filesystem::path path = output;
  std::string extension = path.extension().string();
  return path.replace_extension().string() + text + extension;
}

Status DepthsOptions::listQualities(double usual, double least, double most,
                                    std::vector<double> &qualities) const {
  qualities = {isQualityGiven ? search.promise.perplexity : usual};
  qualities.insert(qualities.end(), also.begin(), also.end());
  for (double quality : qualities)
    if (!(quality >= least && quality <= most))
      return Status::error(Code::BadArgument,
                           "--quality %g: expected a number between %g and %g "
                           "for %s",
                           quality, least, most, source.c_str());
  return {};
}

namespace {
class DepthsCommand {
public:
  explicit DepthsCommand(const DepthsOptions &options)
      : options(options), limit(options.seconds) {}
  Status run();

private:
  Status compile(bool &isDecoder);
  Status openModel();
  /// With so many prompts of each text and so many questions.
  Status openContract(bool isHeldOut, int64_t windows, size_t samples,
                      Contract &contract, TaskTerms &tasks);
  Status givePlan(DepthFitter &fitter);
  Status search(DepthFitter &fitter, Contract &heldOut, const TaskTerms &tasks);
  /// Judges what was found and writes it.
  Status finish(const Promise &promise, Contract &heldOut,
                const TaskTerms &tasks, const std::string &output);
  /// What the plan that was written saves of a prompt's time.
  Status measureSpeed(const std::string &output, PromptSpeed &speed);
  Status writeMapsOf(const std::string &output) const {
    return writeMaps(DepthsOptions::mapsOf(output), model.getSession().module(),
                     found.maps);
  }
  /// Writes the plan, whose maps are written.
  Status write(const Promise &promise, const Json &measured,
               const std::string &output) const;

  const DepthsOptions &options;
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
  Plan heads;                  ///< that are judged with it
  std::vector<double> qualities;
  TrialPlan found;
  double work = 1; ///< of a prompt, relative to the model as it is
};
} // namespace

Status DepthsCommand::compile(bool &isDecoder) {
  GIST_TRY(openModelSource(options.source, source));
  // Prompt, answer and the copy of as many tokens of the prompt.
  int64_t context =
              std::max(options.prompt + 2 * options.answer, options.fit.window),
          most = INT64_MAX;
  GIST_TRY(
      source.config()
          .read({{"max_position_embeddings", "n_positions"}, "context_length"},
                most)
          .in(options.source));
  std::vector<std::string> words = {
      "--observe", "--context=" + std::to_string(std::min(context, most))};
  if (heads.layers.empty())
    words.push_back(std::string("--plan=") + kDepthsPlan);
  else
    words.insert(words.end(),
                 {std::string("--plan=") + kCalibrationPlan + "+" + kDepthsPlan,
                  "--plan-block=" + std::to_string(heads.block)});
  GIST_TRY(module.make(options.compiler, options.source, options.model.device,
                       words));
  std::shared_ptr<const Module> made;
  GIST_TRY(Module::open(module.path, made));
  isDecoder =
      std::ranges::any_of(made->spec().entries, [](const EntrySpec &entry) {
        return entry.name == kEntryPrefill;
      });
  if (isDecoder && context > most)
    return Status::error(
        Code::BadArgument,
        "%s: a prompt of %lld tokens with what is judged "
        "behind it, or a --window of %lld, takes a context of "
        "%lld, and the model has %lld",
        options.source.c_str(), static_cast<long long>(options.prompt),
        static_cast<long long>(options.fit.window),
        static_cast<long long>(context), static_cast<long long>(most));
  return {};
}

Status DepthsCommand::openModel() {
  run::ModelOptions chosen = options.model;
  chosen.path = module.path;
  chosen.trust = true; // It was compiled a moment ago.
  GIST_TRY(pool.open(chosen, 1, /*hasHeads=*/!heads.layers.empty()));
  return model.open(*pool.first().model().session, source);
}

Status DepthsCommand::openContract(bool isHeldOut, int64_t windows,
                                   size_t samples, Contract &contract,
                                   TaskTerms &tasks) {
  contract.answer = static_cast<size_t>(options.answer);
  contract.tokensOfTerm = options.answer * windows;
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
  GIST_TRY(contract.open(pool, paths, {options.prompt}));
  // A certificate lists single tasks.
  tasks = {samples, isHeldOut ? options.seed + 1 : options.seed, options.prompt,
           /*isEach=*/isHeldOut};
  if (options.search.promise.tasks <= 0)
    tasks.samples = 0;
  return tasks.samples > 0 ? contract.addTasks(pool, tasks) : Status();
}

/// The plan that the user names, fitted.
Status DepthsCommand::givePlan(DepthFitter &fitter) {
  found.depths = given.depths;
  GIST_TRY(model.check(found.depths).in(options.plan));
  std::vector<MapSet> maps;
  GIST_TRY(fitter.fitAlone({found.depths}, unlimited, maps));
  found.maps = std::move(maps.front());
  GIST_TRY(fitter.fitTogether(found.depths, unlimited, found.maps));
  work = countWork(model, found.depths, options.prompt);
  return {};
}

Status DepthsCommand::write(const Promise &promise, const Json &measured,
                            const std::string &output) const {
  DepthPlan plan = found.depths;
  plan.maps =
      std::filesystem::path(DepthsOptions::mapsOf(output)).filename().string();
  Json contract = toJson(promise, options.search.confidence);
  contract["prompt"] = options.prompt;
  contract["work"] = work;
  contract.update(measured);
  return writeWhole(output, printPlanFile(heads, plan, {}, contract.dump()));
}

Status DepthsCommand::run() {
  GIST_TRY(checkWritable(options.output));
  if (!options.plan.empty())
    GIST_TRY(readPlanFile(options.plan, given));
  if (!options.heads.empty()) {
    PlanFile file;
    GIST_TRY(readPlanFile(options.heads, file));
    if (!file.hasHeads())
      return Status::error(Code::BadArgument,
                           "%s: expected a plan of heads; it says nothing of "
                           "them",
                           options.heads.c_str());
    heads = std::move(file.heads);
  }
  bool isDecoder = false;
  GIST_TRY(compile(isDecoder));
  if (!isDecoder)
    return findEncoderDepths(options, module.path);
  constexpr double kUsual = 1.01, kLeast = 1.0001, kMost = 2;
  GIST_TRY(options.listQualities(kUsual, kLeast, kMost, qualities));
  GIST_TRY(folder.make());
  GIST_TRY(readSplitTexts(
      options.texts, (options.prompt + options.answer) * options.windows * 2,
      texts));
  GIST_TRY(openModel());
  std::vector<int32_t> tokens;
  GIST_TRY(
      collectFitTokens(pool.first().model().tokenizer, texts,
                       {options.maxTokens, options.fit.window,
                        options.search.promise.tasks > 0, options.seed + 2},
                       tokens));
  size_t length = std::min(tokens.size(), static_cast<size_t>(options.prompt));
  prompt.assign(tokens.begin(), tokens.begin() + static_cast<long>(length));
  // All texts are read before the search: a wrong name should not cost it.
  Contract heldOut;
  TaskTerms tasks;
  GIST_TRY(openContract(/*isHeldOut=*/true,
                        std::max<int64_t>(4, options.windows * 2),
                        options.heldOutSamples, heldOut, tasks));
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
    return write(options.search.promise, Json::object(), options.output);
  }
  GIST_TRY(heldOut.measureDense(pool));
  return finish(options.search.promise, heldOut, tasks, options.output);
}

Status DepthsCommand::search(DepthFitter &fitter, Contract &heldOut,
                             const TaskTerms &tasks) {
  Contract kinds, terms;
  TaskTerms searched;
  // A hundred kinds are compared, and a few plans are decided about.
  GIST_TRY(openContract(/*isHeldOut=*/false, options.windows,
                        options.kindSamples, kinds, searched));
  GIST_TRY(openContract(/*isHeldOut=*/false, options.windows * 2,
                        options.searchSamples, terms, searched));
  std::vector<std::pair<Promise, std::string>> wanted = {
      {options.search.promise, options.output}};
  for (double quality : std::span(qualities).subspan(1))
    wanted.push_back(
        {Promise::of(quality), DepthsOptions::nameOf(options.output, quality)});
  Promise loosest = std::ranges::max(wanted, {}, [](const auto &one) {
                      return one.first.perplexity;
                    }).first;
  pool.stopAt(limit);
  GIST_TRY(model.followNone());
  GIST_TRY(kinds.measureDense(pool));
  DepthMenu depths(pool, model, fitter, kinds);
  Status measured = depths.measure(loosest, options.shares, limit);
  if (!measured.ok() && !limit.hasStopped())
    return measured;
  PlanMenu menu(nullptr, &depths);
  PlanTrier trier(pool, menu, &model, &fitter, limit);
  PlanFinder finder(pool, menu, trier, terms, limit);
  std::vector<TrialPlan> all(wanted.size());
  for (size_t i = 0; i < wanted.size(); ++i) {
    SearchOptions search = options.search;
    search.promise = wanted[i].first;
    FoundPlan plan;
    GIST_TRY(finder.find(
        search, JobTime({options.prompt, 0}, pool.first().module().shape),
        plan));
    all[i] = std::move(plan.plan);
  }
  pool.stopAt(unlimited);
  GIST_TRY(heldOut.measureDense(pool));
  Status missing;
  for (size_t i = 0; i < wanted.size(); ++i) {
    const auto &[promise, output] = wanted[i];
    found = std::move(all[i]);
    work = countWork(model, found.depths, options.prompt);
    if (found.depths.isNeeded())
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
              promise.perplexity, static_cast<long long>(options.prompt), work);
  for (size_t i = 0; i < found.depths.layers.size(); ++i)
    if (found.depths.layers[i].kind != LayerDepth::Full)
      std::printf("layer %zu: %s\n", i,
                  printDepth(found.depths.layers[i]).c_str());
  GIST_TRY(model.follow(found.depths, found.maps));
  Measurement measured;
  GIST_TRY(heldOut.measure(pool, Attempt(heads, /*isWhole=*/false), measured));
  Certificate certificate =
      certify(heldOut, measured, promise, options.search.confidence, tasks,
              pool.first().model().device->info().name);
  certificate.work = work;
  certificate.workOf = heads.layers.empty()
                           ? "a prompt"
                           : "a prompt, without what its heads save";
  print(certificate);
  Json contract;
  addCertificate(certificate, contract);
  // Written before it is measured, to be followed at every length: what
  // compiles is the file.
  found.depths.least = {{options.model.device, 1}};
  GIST_TRY(writeMapsOf(output));
  GIST_TRY(write(promise, contract, output));
  PromptSpeed speed;
  GIST_TRY(measureSpeed(output, speed));
  found.depths.least = {{options.model.device, speed.least}};
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
  std::string context = "--context=" + std::to_string(options.prompt);
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
  GIST_TRY(measurePromptSpeed(whole, planned, prompt, found.depths, speed));
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
  auto options = std::make_shared<DepthsOptions>();
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
  CLI::Option *plan =
      command
          ->add_option("--plan", options->plan,
                       "Takes the depths of this plan and fits them, without a "
                       "search")
          ->type_name("FILE");
  command
      ->add_option("--heads", options->heads,
                   "Puts the heads of this plan beside them: both together are "
                   "judged and written")
      ->type_name("FILE")
      ->needs(plan);
  addPromiseOptions(*command, options->search);
  CLI::Option *quality = command->get_option("--quality");
  quality->get_validator(0)->active(false);
  quality->default_str("");
  quality->description(
      "Largest ratio of perplexities to the model as it is (1.01); of an "
      "encoder the smallest cosine of an embedding to the model's own (0.9)");
  command
      ->add_option(
          "--also", options->also,
          "Finds a plan of this quality too, in NAME-QUALITY.json; may "
          "be given several times")
      ->type_name("QUALITY")
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
  count("--prompt", options->prompt, "Tokens of a prompt");
  count("--answer", options->answer, "Tokens behind it that are judged");
  count("--max-tokens", options->maxTokens, "Tokens of all texts to fit with");
  count("--window", options->fit.window,
        "Tokens of a sequence to fit with; of an encoder 128 by default, and "
        "as many of those it is judged by");
  count("--windows", options->windows,
        "Prompts of each text to measure a kind of layer with; a plan is "
        "measured with twice as many, and judged by at least four");
  count("--tries", options->search.steps, "Plans that are fitted and measured");
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
  command->callback([options, command, &action] {
    options->isQualityGiven = command->count("--quality") > 0;
    options->isWindowGiven = command->count("--window") > 0;
    action = [options] { return DepthsCommand(*options).run(); };
  });
}
