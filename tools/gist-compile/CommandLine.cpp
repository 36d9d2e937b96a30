//===- CommandLine.cpp - The command line of gist-compile -----------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The command line of gist-compile. Each option is checked by itself where it
// is added, and together with the others in checkTogether. What is wrong here
// is wrong usage (exit status 2); what is wrong with a file is found later (1).
//
//===----------------------------------------------------------------------===//

#include "tools/gist-compile/CommandLine.h"

#include "runtime/module/Format.h"
#include "runtime/module/RankSpec.h"
#include "tools/running/Suggest.h"

#include "CLI/CLI.hpp"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <filesystem>
#include <map>
#include <set>
#include <utility>

using namespace gist;
using namespace gist::compile;

/// Letters of an adapter's name, and how many there can be: what a token's id
/// has room for.
static constexpr size_t kMostOfName = 64, kMostAdapters = 100;

static constexpr const char *kDescription =
    "Compiles a model into a module, a file that gist-run takes.\n";

static constexpr const char *kFooter = R"(Examples:
  A GGUF file for this machine, with every feature its CPU has:
    gist-compile model.gguf
  A Hugging Face folder (config.json, *.safetensors, tokenizer.json):
    gist-compile path/to/folder -o model.gist
  For another machine:
    gist-compile model.gguf -o model.gist --triple=x86_64-linux-gnu --cpu=x86-64-v3
    gist-compile model.gguf -o model.gist --triple=aarch64-linux-gnu --features=+i8mm,+dotprod
  For old and new CPUs of one kind, which then choose for themselves:
    gist-compile model.gguf -o model.gist --triple=x86_64-linux-gnu --cpu=x86-64-v3 --cpu=x86-64-v4+avx512vnni
  For an MI300X, with code for this CPU too:
    gist-compile model.gguf -o model.gist --target=gfx942 --target=cpu
  What its kernels take on an MI300X, without writing a module:
    gist-compile model.gguf --target=gfx942 --report=resources
  Read what the model computes, the kernels it becomes and their code:
    gist-compile model.gguf --emit=graph | less
    gist-compile model.gguf --emit=kernels -o kernels.mlir
    gist-compile model.gguf --emit=asm -o kernels.s
  The closest to the original model, to compare with:
    gist-compile model.gguf -o f32.gist --expand-weights --compute=f32 --kv-type=f32
  How fast a model would be, from its config.json alone:
    gist-compile gpt-j-6b/config.json --random-weights -o gptj.gist --target=sm_90
    gist-run bench gptj.gist --device cuda
  For IREE, with our kernels in it:
    gist-compile model.gguf --via=iree --kernels=embedded -o model.vmfb
    iree-run-module --module=model.vmfb --parameters=model=model.irpa --function=decode --input=1xi32=1 --input=0
  See every stage, and where the time goes:
    gist-compile model.gguf -o model.gist --dump-stages=stages --timing
  Edit one of them and run what it became:
    gist-compile stages/03-kernels.mlir --weights model.gguf -o edited.gist

Exit status: 0 done, 1 failed, 2 wrong usage. A file is written whole or not at all.)";

/// Adds an option whose value is one of `words`, which the help calls `type`.
template <typename T>
static void addChoice(CLI::App &app, const char *names, T &value,
                      const std::map<std::string, T> &words, const char *type,
                      const char *help) {
  // CLI11 would describe an option by the whole map.
  app.add_option(names, value, help)
      ->transform(CLI::CheckedTransformer(words).description(""))
      ->type_name(type);
}

/// Programs for IREE.
static void addIreeOptions(CLI::App &app, Options &options) {
  static const std::map<std::string, IreeKernels> kKernels = {
      {"plain", IreeKernels::Plain}, {"embedded", IreeKernels::Embedded}};
  static const std::map<std::string, bool> kVia = {{"iree", true}};
  app.option_defaults()->group("IREE");
  addChoice(app, "--via", options.viaIree, kVia, "iree",
            "iree: have iree-compile make a .vmfb; its weights are in "
            "the .irpa file beside it");
  addChoice(app, "--kernels", options.ireeKernels, kKernels, "plain|embedded",
            "Code that IREE runs: plain (default), its own; embedded, the "
            "kernels of this compiler");
  app.add_option("--iree-compile", options.ireeCompile,
                 "The compiler of IREE, 3.13 or 3.12; default: the one in PATH")
      ->type_name("PROGRAM");
}

/// What is compiled and what is written where.
static void addOutputOptions(CLI::App &app, Options &options) {
  static const std::map<std::string, Emit> kEmit = {
      {"graph", Emit::Graph},   {"kernels", Emit::Kernels},
      {"llvm", Emit::Llvm},     {"asm", Emit::Assembly},
      {"module", Emit::Module}, {"iree", Emit::Iree}};
  app.add_option(
         "model", options.model,
         "GGUF file, Hugging Face folder, graph in MLIR (.mlir), or with "
         "--random-weights a config.json")
      ->required()
      ->type_name("MODEL");
  app.add_option("-o,--output", options.output,
                 "File to write; default: model.gist beside the model, and "
                 "standard output for what is not a module")
      ->type_name("FILE");
  addChoice(app, "--emit", options.emit, kEmit,
            "graph|kernels|llvm|asm|module|iree",
            "graph: the model on tensors; kernels: what is cut out of it; "
            "llvm: LLVM IR of the kernels; asm: their assembly; module: "
            "what gist-run takes (default); iree: text for iree-compile, "
            "with the weights beside it");
  app.add_option("--dump-stages", options.dumpStages,
                 "Write the program after every stage to FOLDER, numbered")
      ->type_name("FOLDER");
}

/// A target ID such as gfx942:xnack- too.
static bool isAmd(const std::string &target) {
  return target.starts_with("gfx942");
}

/// What --target takes. A target ID says how a GPU is set up, in the order that
/// LLVM has.
/// "" leaves a setting open: the code then runs with either.
static std::vector<std::string> getTargets() {
  std::vector<std::string> targets = {"cpu", "gfx942", "sm_90"};
  for (const char *sramecc : {"", ":sramecc+", ":sramecc-"})
    for (const char *xnack : {"", ":xnack+", ":xnack-"})
      if (*sramecc || *xnack)
        targets.push_back(std::string("gfx942") + sramecc + xnack);
  return targets;
}

/// Empty, or why there is no such target. People name devices, makers and
/// platforms.
static std::string checkTarget(const std::string &name) {
  static const std::map<std::string, std::string> kMeant = {
      {"cuda", "sm_90"}, {"nvidia", "sm_90"},  {"gpu", "sm_90 or gfx942"},
      {"hip", "gfx942"}, {"rocm", "gfx942"},   {"amd", "gfx942"},
      {"x86_64", "cpu"}, {"aarch64", "cpu"},   {"native", "cpu"},
      {"arm64", "cpu"},  {"mi300x", "gfx942"}, {"h100", "sm_90"},
      {"h200", "sm_90"}};
  std::vector<std::string> targets = getTargets();
  if (std::find(targets.begin(), targets.end(), name) != targets.end())
    return "";
  auto found = kMeant.find(name);
  return "there is no target " + name +
         "; expected cpu, gfx942 (AMD MI300) or sm_90 (NVIDIA H100, H200)" +
         (found == kMeant.end() ? "" : "; did you mean " + found->second + "?");
}

/// --target may be given several times. Without allow_extra_args(false) it
/// would take MODEL as a second value.
static void addTargetOptions(CLI::App &app, Options &options) {
  app.option_defaults()->group("Target");
  app.add_option("--target", options.targets,
                 "Machine to compile for: cpu (default), gfx942 (AMD MI300), "
                 "also as a target ID such as gfx942:sramecc+:xnack-, sm_90 "
                 "(NVIDIA H100, H200); may be given more than once")
      ->check(checkTarget)
      ->type_name("NAME")
      ->allow_extra_args(false);
  app.add_option("--triple", options.triple,
                 "LLVM triple of the CPU; default: this machine's")
      ->type_name("TRIPLE");
  app.add_option(
         "--cpu", options.cpus,
         "LLVM name of the CPU, also with features: x86-64-v4+avx512vnni; "
         "default: native, the running one with the features it really has; "
         "for another triple generic on aarch64 and x86-64-v3 (AVX2, FMA) on "
         "x86_64; may be given more than once: the best that a machine can "
         "run is chosen there")
      ->type_name("NAME")
      ->allow_extra_args(false);
  app.add_option("--features", options.features,
                 "Features added to the CPU's or taken away: +i8mm,-sve")
      ->type_name("LIST");
}

static std::pair<std::string, std::string>
splitAdapter(const std::string &given) {
  size_t end = given.find('=');
  return {given.substr(0, end),
          given.substr(std::min(end, given.size() - 1) + 1)};
}

/// Empty, or what is wrong with it.
static std::string checkAdapter(const std::string &given) {
  auto [name, folder] = splitAdapter(given);
  bool isName = !name.empty() && name.size() <= kMostOfName &&
                std::all_of(name.begin(), name.end(), [](char c) {
                  return std::isalnum(static_cast<unsigned char>(c)) ||
                         std::strchr("-_.", c);
                });
  return isName && !folder.empty() && name.size() < given.size()
             ? ""
             : given +
                   " is no NAME=FOLDER; a name has letters, digits, '-', "
                   "'_' and '.', at most " +
                   std::to_string(kMostOfName);
}

/// What the module computes in, keeps and leaves out.
static void addModelOptions(CLI::App &app, Options &options) {
  static const std::map<std::string, Compute> kCompute = {
      {"auto", Compute::Auto},
      {"f32", Compute::F32},
      {"int8", Compute::Int8},
      {"int8-rows", Compute::Int8Rows},
      {"fp8", Compute::Fp8}};
  static const std::map<std::string, Gram> kGram = {{"exact", Gram::Exact},
                                                    {"fp8", Gram::Fp8}};
  static const std::map<std::string, CacheType> kCacheType = {
      {"f16", CacheType::F16},
      {"f32", CacheType::F32},
      {"int8", CacheType::Int8}};
  static const std::map<std::string, bool> kEveryToken = {{"last", false},
                                                          {"all", true}};
  app.option_defaults()->group("Model");
  addChoice(
      app, "--compute", options.compute, kCompute,
      "auto|f32|int8|int8-rows|fp8",
      "Products: int8 (rows of activations become 8-bit integers with a "
      "scale for each block; for GPUs weights too, with a scale for each "
      "row), for GPUs int8-rows and fp8 (both sides become 8-bit integers "
      "or floats with a scale for each row: faster, less exact), f32, or "
      "auto (default): int8 on CPUs where weights are quantised, f16 on "
      "GPUs");
  addChoice(app, "--gram", options.gram, kGram, "exact|fp8",
            "What a plan's selections compare rows in: exact (default), "
            "or fp8: rounded to f8E4M3FNUZ first, for gfx942");
  app.add_flag("--expand-weights", options.expandWeights,
               "Expand quantised and 16-bit weights to f32: larger, slower, "
               "closest to the original");
  addChoice(app, "--kv-type", options.cacheType, kCacheType, "f16|f32|int8",
            "Numbers that keys and values are kept in: f16 (default), f32, or "
            "int8: 8-bit integers with a scale for each row of a head, half of "
            "the memory of f16");
  app.add_option("--plan", options.plan,
                 "Plan of where the model does less work: a file (JSON), or "
                 "what gist-plan is to try in the module: calibration (of "
                 "heads), depths, bits (of the output weight), joined by '+'; "
                 "default: no plan")
      ->type_name("FILE");
  app.add_flag("--follow-plan", options.followPlan,
               "Do what the plan says also where the model is faster without "
               "it: the cache is smaller then, and gates hold for prompts too; "
               "default: layers that a plan slows down stay dense, and a "
               "warning names them");
  app.add_option("--plan-block", options.planBlock,
                 "Tokens that a cache of clusters takes at a time, and so the "
                 "most that prefill sees at once: more are kept exactly, and "
                 "machines are better used; default: what the plan says, or "
                 "more where the context is long: 256 on CPUs, up to 2048 on "
                 "GPUs")
      ->type_name("N")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 20));
  app.add_option("--ranks", options.ranks,
                 "Processes that share the model: each has some of the heads "
                 "and columns, and reads only its own weights; default: 1")
      ->type_name("N")
      ->check(CLI::Range(int64_t{1}, int64_t{kMaxRanks}).description(""));
  app.add_option("--stages", options.stages,
                 "Processes that have some of the layers each and hand rows on "
                 "to the next, for links that are slow; default: 1")
      ->type_name("N")
      ->check(CLI::Range(int64_t{1}, int64_t{kMaxRanks}).description(""));
  app.add_flag("--rank-sums", options.rankSums,
               "Have ranks add parts of products instead of gathering what "
               "products read: half as many exchanges, but results differ from "
               "those of one process in their last bits");
  app.add_flag(
      "--observe", options.observe,
      "Add an entry that shows what linear layers read and return, for "
      "'gist-plan' and 'gist-run eval --layers'");
  app.add_option(
         "-c,--context,--ctx-size", options.context,
         "Tokens a session can hold; default: the model's own (4096 for "
         "a graph)")
      ->check(CLI::PositiveNumber.description(""))
      ->type_name("N");
  addChoice(app, "--logits", options.logitsOfEveryToken, kEveryToken,
            "last|all",
            "all: also an entry for the logits of every token, which "
            "evaluating a text needs (default); last: none");
  app.add_option("--lora", options.adapter,
                 "Merge an adapter into the weights: a folder of PEFT with "
                 "adapter_config.json and adapter_model.safetensors. Quantised "
                 "weights that it changes are stored in f16")
      ->type_name("FOLDER");
  app.add_option("--lora-scale", options.adapterScale,
                 "How much of the adapter is added, times what its own file "
                 "says; default: 1")
      ->check(CLI::Range(-1e6f, 1e6f).description(""))
      ->type_name("S");
  app.add_option_function<std::vector<std::string>>(
         "--adapter",
         [&options](const std::vector<std::string> &given) {
           for (const std::string &each : given)
             options.chosenAdapters.push_back(splitAdapter(each));
         },
         "Add an adapter, a folder as for --lora, that is chosen by its name "
         "when the module runs, for each sequence. May be given more than once")
      ->type_name("NAME=FOLDER")
      ->check([](const std::string &given) { return checkAdapter(given); }, "");
  app.add_flag("--random-weights", options.randomWeights,
               "Read only config.json and make random f16 weights when the "
               "module is loaded: for measuring a model without its weights");
  app.add_option("--weights", options.weights,
                 "embed: copy weights into the module (default); reference: "
                 "leave them in the model's files, found by path and hash; a "
                 "module, whose name ends with .gist: leave those that it has "
                 "too in there. For a stage that --dump-stages wrote and that "
                 "was edited: the model that it came from")
      ->type_name("embed|reference|MODULE|MODEL");
}

/// What the compiler says about its work; nothing here changes the module.
static void addReportOptions(CLI::App &app, Options &options) {
  static const std::map<std::string, ShowProgress> kProgress = {
      {"auto", ShowProgress::Auto},
      {"on", ShowProgress::On},
      {"bar", ShowProgress::Bar},
      {"off", ShowProgress::Off}};
  static const std::map<std::string, Report> kReport = {
      {"remarks", Report::Remarks},
      {"resources", Report::Resources},
      {"resources-json", Report::ResourcesJson}};
  app.option_defaults()->group("Report");
  addChoice(app, "--report", options.report, kReport,
            "remarks|resources|resources-json",
            "remarks: what passes could not fuse or vectorise, and why, on "
            "standard error. resources: registers, memory, occupancy and main "
            "loops of the "
            "kernels for gfx942, on standard output; also of a code "
            "object (.hsaco) given as MODEL");
  app.add_flag("--timing", options.timing,
               "Print the time of every stage and the memory used");
  addChoice(app, "--progress", options.progress, kProgress, "auto|on|bar|off",
            "auto (default): a bar on a terminal, lines elsewhere, and "
            "what to do next; on: lines everywhere; bar: a bar on a "
            "terminal and nothing else; off: nothing");
}

/// "path/to/model.gist" for "path/to/model.gguf", and for the folder
/// "path/to/model".
static std::string besideModel(const std::string &model) {
  std::filesystem::path path = std::filesystem::path(model).lexically_normal();
  if (!path.has_filename()) // A slash at the end.
    path = path.parent_path();
  // The name of a folder may have a point in it: "SmolLM2-1.7B".
  std::string ending = path.extension().string();
  if (ending == ".gguf" || ending == ".mlir" || ending == ".json")
    path.replace_extension();
  return path.string() + ".gist";
}

/// Adapters that tokens choose are parts of one graph, which has to be whole.
static void checkChosen(const Options &options,
                        void (*refuse)(const std::string &sentence)) {
  const auto &adapters = options.chosenAdapters;
  if (adapters.empty())
    return;
  if (adapters.size() > kMostAdapters)
    refuse("--adapter was given " + std::to_string(adapters.size()) +
           " times; expected at most " + std::to_string(kMostAdapters));
  std::set<std::string> names;
  for (const auto &[name, folder] : adapters)
    if (!names.insert(name).second)
      refuse("--adapter: there are two adapters with the name " + name);
  const std::pair<bool, const char *> others[] = {
      {!options.plan.empty(), "--plan: what a plan loses was measured without"},
      {options.countParts() > 1, "--ranks or --stages"},
      {options.observe, "--observe"},
      {options.randomWeights, "--random-weights"}};
  for (auto [isGiven, other] : others)
    if (isGiven)
      refuse(std::string("--adapter cannot be given together with ") + other);
}

/// Checks that involve several options. The order matters little; the first
/// contradiction is reported. Throws what CLI11 throws, so that one place
/// prints it.
static void checkTogether(const CLI::App &app, Options &options) {
  auto refuse = [](const std::string &sentence) {
    throw CLI::ValidationError(sentence, CLI::ExitCodes::ValidationError);
  };
  options.referenceWeights = options.weights == "reference";
  if (options.weights.ends_with(".gist"))
    options.weightsOf = std::exchange(options.weights, "embed");
  if (!options.weightsOf.empty() && options.emit != Emit::Module)
    refuse("--weights=" + options.weightsOf +
           " leaves weights in that module, so it cannot be given together "
           "with --emit or --via");
  bool namesModel = !options.referenceWeights && options.weights != "embed";
  if (namesModel && !options.isGraph())
    refuse("--weights: expected embed or reference, or with a stage that "
           "--dump-stages wrote its model; got " +
           options.weights);
  if (namesModel) {
    if (options.output.empty() && options.emit == Emit::Module)
      options.output = besideModel(options.model);
    options.editedStage = std::exchange(options.model, options.weights);
  }
  if (options.viaIree && app.count("--emit") != 0)
    refuse("--via=iree writes a .vmfb, so it cannot be given together with "
           "--emit");
  if (options.viaIree) {
    options.emit = Emit::Iree;
    if (options.output.empty() || options.output == "-")
      refuse("-o FILE is required: it says where the .vmfb goes");
  }
  if (app.count("--iree-compile") != 0 && !options.viaIree)
    refuse("--iree-compile names the program that --via=iree calls: add it");
  if (app.count("--kernels") != 0 && options.emit != Emit::Iree)
    refuse("--kernels is about programs for IREE: add --emit=iree or "
           "--via=iree");
  bool isModule = options.emit == Emit::Module;
  bool isReported =
      options.report != Report::None && options.report != Report::Remarks;
  if (isReported && !isModule)
    refuse("--report=resources reads the code of a module, so it cannot be "
           "given together with --emit");
  if (isReported && !options.isCodeObject() &&
      std::none_of(options.targets.begin(), options.targets.end(), isAmd))
    refuse("--report=resources is about kernels for gfx942: add "
           "--target=gfx942");
  if (options.isCodeObject() && !isReported)
    refuse("a code object cannot be compiled, only reported on: add "
           "--report=resources");
  if (isModule && !isReported && options.output.empty())
    options.output = besideModel(options.model);
  if (isModule && options.output == "-")
    refuse("-o: a module is written to a file, not to standard output");
  // What is not a module goes to standard output.
  if (options.output.empty())
    options.output = "-";
  std::set<std::string> targets(options.targets.begin(), options.targets.end());
  if (targets.size() != options.targets.size())
    refuse("--target: one machine is named twice");
  std::set<std::string> cpus(options.cpus.begin(), options.cpus.end());
  if (cpus.size() != options.cpus.size())
    refuse("--cpu: one CPU is named twice");
  if (!isModule && options.emit != Emit::Graph && options.countTargets() > 1)
    refuse("--emit: only a module holds code for several targets");
  for (const char *name : {"--triple", "--cpu", "--features"})
    if (app.count(name) != 0 && targets.count("cpu") == 0)
      refuse(std::string(name) + " needs a CPU target: add --target=cpu");
  // Fails if there is no such file yet, and then the two differ.
  std::error_code error;
  if (std::filesystem::equivalent(options.model, options.output, error))
    refuse("-o: " + options.output + " is the model itself");
  if (std::filesystem::equivalent(options.weightsOf, options.output, error))
    refuse("-o: " + options.output +
           " is the module that --weights leaves weights in; choose another "
           "file");
  if (options.gram == Gram::Fp8)
    for (const std::string &target : options.targets)
      if (!isAmd(target))
        refuse("--gram=fp8 rounds to f8E4M3FNUZ, which " + target +
               " cannot multiply; only gfx942 can");
  if (options.expandWeights && isSmall(options.compute))
    refuse(std::string("--compute=") + getName(options.compute) +
           " needs quantised weights, and --expand-weights removes them: leave "
           "one of the two out");
  if ((options.compute == Compute::Int8Rows ||
       options.compute == Compute::Fp8) &&
      targets.count("cpu") != 0)
    refuse(std::string("--compute=") + getName(options.compute) +
           " is for GPUs: leave the target cpu out, or choose int8");
  if (options.randomWeights && options.referenceWeights)
    refuse("--weights=reference needs a model file, and --random-weights has "
           "none: leave one of the two out");
  if (options.randomWeights && !options.adapter.empty())
    refuse("--lora needs a model's weights, and --random-weights has none: "
           "leave one of the two out");
  checkChosen(options, refuse);
  if (app.count("--lora-scale") != 0 && options.adapter.empty())
    refuse("--lora-scale needs an adapter: add --lora");
  const char *split = options.stages > 1 ? "--stages" : "--ranks";
  if (options.ranks > 1 && options.stages > 1)
    refuse("--ranks and --stages cannot be given together: a model is split "
           "one way or the other");
  if (options.countParts() > 1 && !isModule)
    refuse(std::string(split) + " splits a module, so it cannot be given "
                                "together with --emit or --via");
  if (options.countParts() > 1 && (options.observe || isReported))
    refuse(std::string(split) +
           " cannot be given together with --observe or --report");
  if (options.countParts() > 1 && options.triesHeads())
    refuse("--plan=" + options.plan + " is measured on one rank: leave " +
           std::string(split) + " out");
  if ((options.triesDepths() || options.triesBits()) && !options.observe)
    refuse("--plan=" + options.plan +
           " makes a module for fitting: add --observe");
  if (options.rankSums && options.ranks == 1)
    refuse("--rank-sums needs several ranks: add --ranks");
  if (options.planBlock != 0 && options.plan.empty())
    refuse("--plan-block needs a plan: add --plan");
  if (options.followPlan && options.plan.empty() && !options.isGraph())
    refuse("--follow-plan needs a plan: add --plan");
  // An option that would have no effect is refused.
  if (options.isGraph())
    for (const char *name :
         {"--expand-weights", "--kv-type", "--logits", "--weights",
          "--random-weights", "--lora", "--adapter"})
      if (app.count(name) != 0)
        refuse(std::string(name) + " applies when a model is imported; a .mlir "
                                   "graph is compiled as it is");
}

static void addOptions(CLI::App &app, Options &options) {
  addOutputOptions(app, options);
  addTargetOptions(app, options);
  addModelOptions(app, options);
  addIreeOptions(app, options);
  addReportOptions(app, options);
}

Status compile::parseWords(const std::vector<std::string> &words,
                           Options &options) {
  CLI::App app(kDescription, "gist-compile");
  app.set_help_flag();
  Options read;
  addOptions(app, read);
  try {
    // CLI11 takes them from the end.
    app.parse(std::vector<std::string>(words.rbegin(), words.rend()));
    checkTogether(app, read);
  } catch (const CLI::ParseError &error) {
    return Status::error(Code::BadArgument, "%s",
                         explainUsage(app, error).c_str());
  }
  options = std::move(read);
  return {};
}

/// The exit status if the program is to end now: after --help, or wrong usage.
/// CLI11 throws, and nothing of that leaves this function.
std::optional<int> compile::parseOptions(int argc, char **argv,
                                         Options &options) {
  CLI::App app(kDescription, "gist-compile");
  app.footer(kFooter);
  app.set_version_flag("--version", "gist-compile " GIST_VERSION
                                    ", writes module format " +
                                        std::to_string(kFormatMajor) + "." +
                                        std::to_string(kFormatMinor) +
                                        ", LLVM " GIST_LLVM_VERSION);
  addOptions(app, options);
  try {
    app.parse(argc, argv);
    checkTogether(app, options);
  } catch (const CLI::ParseError &error) {
    return exitUsage(app, error);
  }
  return std::nullopt;
}
