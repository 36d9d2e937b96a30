//===- Fit.cpp - gist-plan fit --------------------------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `gist-plan fit`: the maps of a plan that lets prompts walk through fewer
// layers. The model is compiled with the plan and with maps of zeros, and shows
// what the layers read and give on texts.
//
//===----------------------------------------------------------------------===//

#include "passes/Import/Files/ModelSource.h"
#include "passes/Plan/File/PlanFile.h"
#include "passes/Plan/File/PlanJson.h"
#include "runtime/module/Properties.h"
#include "runtime/support/AtomicFile.h"
#include "tools/gist-plan/Commands.h"
#include "tools/planning/BuiltInTexts.h"
#include "tools/planning/DepthFit.h"
#include "tools/running/Compiler.h"
#include "tools/running/Options.h"
#include "tools/running/TemporaryFolder.h"

#include <unistd.h>

#include <charconv>
#include <filesystem>

using namespace gist;
using namespace gist::plan;

namespace {
struct Options {
  std::string compiler, model, plan, output;
  std::vector<std::string> texts;
  unsigned threads = 0;
  int64_t maxTokens = 32768;
  FitOptions fit;
};

/// A module that shows what maps are fitted from.
class FitModule {
public:
  Status open(const Options &options, const std::string &plan) {
    GIST_TRY(module.make(options.compiler, options.model, "cpu",
                         {"--observe", "--plan=" + plan,
                          "--context=" + std::to_string(options.fit.window)}));
    run::ModelOptions chosen;
    chosen.path = module.path;
    chosen.trust = true; // It was compiled a moment ago.
    chosen.threads = options.threads;
    return runner.openWithTokenizer(chosen);
  }

  run::Runner runner;

private:
  run::TemporaryModule module;
};
} // namespace

/// Of each text as many tokens, one text after the other.
static Status readTokens(const Options &options, const run::Runner &runner,
                         std::vector<int32_t> &tokens) {
  std::vector<std::string> texts;
  for (const std::string &path : options.texts)
    GIST_TRY(run::readText(path, texts.emplace_back()));
  if (texts.empty())
    for (const BuiltInText &text : builtInTexts())
      if (!text.isHeldOut)
        texts.emplace_back(text.text);
  size_t most = static_cast<size_t>(options.maxTokens) / texts.size();
  for (const std::string &text : texts) {
    std::vector<int32_t> ids;
    runner.tokenizer.encode(text, ids,
                            {.addSpecial = false, .parseSpecial = false});
    ids.resize(std::min(ids.size(), most));
    tokens.insert(tokens.end(), ids.begin(), ids.end());
  }
  return {};
}

static void showProgress(const char *what, size_t done, size_t of) {
  bool isTerminal = isatty(STDERR_FILENO) != 0;
  if (!isTerminal && done != of)
    return;
  std::fprintf(stderr, "%s%s %zu/%zu windows%s", isTerminal ? "\r\033[K" : "",
               what, done, of, isTerminal && done != of ? "" : "\n");
  std::fflush(stderr);
}

/// The sums of squares of the columns of what a layer's neurons are read by.
static Status squaresOfColumns(const Module &module, const ModelSource &model,
                               int64_t layer, Eigen::VectorXd &squares) {
  for (const EntrySpec &entry : module.spec().entries)
    for (const ObservationSpec &shown : entry.observations) {
      if (shown.kind != ObservationKind::Input || shown.layer != layer ||
          shown.group != "down" || shown.weights.size() != 1)
        continue;
      auto found = model.tensors().find(shown.weights[0]);
      if (found == model.tensors().end() || found->second.shape.size() != 2)
        break;
      const StoredTensor &tensor = found->second;
      Matrix numbers(tensor.shape[0], tensor.shape[1]);
      dequantize(tensor.format, tensor.content, numbers.data());
      squares = numbers.array()
                    .square()
                    .matrix()
                    .colwise()
                    .sum()
                    .transpose()
                    .cast<double>();
      return {};
    }
  return Status::error(Code::NotFound,
                       "the output weight of the feed-forward block of layer "
                       "%lld is not a matrix of the model",
                       static_cast<long long>(layer));
}

/// The tensor that says which model maps are for.
static Status addModel(const Module &module, std::vector<FittedTensor> &maps) {
  const auto &properties = module.spec().model.properties;
  auto found = properties.find(kWeightsProperty);
  uint64_t hash = 0;
  if (found != properties.end())
    std::from_chars(found->second.data(),
                    found->second.data() + found->second.size(), hash, 16);
  maps.push_back({kModelTensor, {4}, wordsOfHash(hash)});
  return {};
}

/// The plan's text with another file of maps.
static std::string withMaps(const PlanFile &plan, const std::string &maps) {
  PlanJson json;
  // It has been read before.
  (void)parsePlanJson(plan.text, json);
  json["depth"]["maps"] = maps;
  std::string text = "{";
  // A line for each layer: what a person compares.
  for (const auto &[name, value] : json.items()) {
    text += (text.size() > 1 ? ",\n  " : "\n  ") + PlanJson(name).dump() + ": ";
    if (name != "layers") {
      text += value.dump();
      continue;
    }
    text += "[";
    for (size_t i = 0; i < value.size(); ++i)
      text += (i == 0 ? "\n    " : ",\n    ") + value[i].dump();
    text += "\n  ]";
  }
  return text + "\n}\n";
}

static Status runFit(const Options &options) {
  GIST_TRY(checkWritable(options.output));
  PlanFile plan;
  GIST_TRY(readPlanFile(options.plan, plan));
  if (!plan.depths.isNeeded())
    return Status::error(
        Code::BadArgument,
        "%s: no layer is thin, linear or of the tail, so there "
        "is nothing to fit",
        options.plan.c_str());
  ModelSource model;
  GIST_TRY(openModelSource(options.model, model));
  run::TemporaryFolder folder;
  GIST_TRY(folder.make());
  std::string draft = folder.file("plan.json");
  std::string draftMaps = folder.file("maps.safetensors");
  GIST_TRY(writeWhole(draft, withMaps(plan, "maps.safetensors")));

  std::vector<FittedTensor> maps;
  std::vector<int32_t> tokens;
  auto fitted = std::make_unique<FitModule>();
  GIST_TRY(fitted->open(options, draft));
  GIST_TRY(readTokens(options, fitted->runner, tokens));
  const Module &module = *fitted->runner.module;
  GIST_TRY(findNeurons(
      *fitted->runner.session, plan.depths, tokens,
      [&](int64_t layer, Eigen::VectorXd &squares) {
        return squaresOfColumns(module, model, layer, squares);
      },
      options.fit, showProgress, maps));
  // Which neurons there are decides what weights the module has.
  if (!maps.empty()) {
    GIST_TRY(writeMaps(draftMaps, maps));
    fitted = std::make_unique<FitModule>();
    GIST_TRY(fitted->open(options, draft));
  }
  GIST_TRY(fitMaps(*fitted->runner.session, plan.depths, tokens, options.fit,
                   showProgress, maps));
  GIST_TRY(addModel(*fitted->runner.module, maps));
  std::filesystem::path path = options.output;
  std::filesystem::path file = path;
  file.replace_extension(".maps.safetensors");
  GIST_TRY(writeMaps(file.string(), maps));
  return writeWhole(options.output, withMaps(plan, file.filename().string()));
}

void gist::plan::addFit(CLI::App &app, Action &action) {
  auto options = std::make_shared<Options>();
  CLI::App *command = app.add_subcommand(
      "fit", "Fit the maps of a plan whose prompts walk through fewer layers");
  command->add_option("model", options->model, "GGUF file or folder")
      ->required()
      ->type_name("MODEL");
  command
      ->add_option("plan", options->plan, "Plan with the depth of each layer")
      ->required()
      ->type_name("PLAN");
  command
      ->add_option("-o,--output", options->output,
                   "Writes the plan, and NAME.maps.safetensors beside it")
      ->required()
      ->type_name("NAME.json");
  command
      ->add_option("--text", options->texts,
                   "Text to fit with, may be given several times; without it "
                   "texts that gist-plan has with it")
      ->type_name("FILE");
  command
      ->add_option("--max-tokens", options->maxTokens,
                   "Tokens of all texts together")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command->add_option("--window", options->fit.window, "Tokens of a sequence")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command
      ->add_option("--ridge", options->fit.ridge,
                   "How much maps are held down, relative to what they read")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command->add_option("-t,--threads", options->threads, "CPU threads; 0: all")
      ->type_name("N");
  command
      ->add_option("--compiler", options->compiler,
                   "The program gist-compile; without it one beside gist-plan "
                   "or on the path")
      ->type_name("PATH");
  command->callback(
      [options, &action] { action = [options] { return runFit(*options); }; });
}
