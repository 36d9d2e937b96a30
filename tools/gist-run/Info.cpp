//===- Info.cpp - gist-run info -------------------------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `gist-run info`: what a module file contains. Opening verifies everything but
// the weights; --verify reads those too.
//
//===----------------------------------------------------------------------===//

#include "tools/gist-run/Commands.h"
#include "tools/running/Disassembly.h"
#include "tools/running/ModuleCache.h"
#include "tools/running/Options.h"

#include "runtime/format/Devices.h"

#include "nlohmann/json.hpp"

#include <algorithm>
#include <memory>

using namespace gist;
using namespace gist::run;

namespace {
struct Options {
  std::string path;
  bool disassemble = false, json = false, verify = false, plan = false;
};
} // namespace

/// The order is that of SectionKind. A newer file may have kinds that this
/// program does not know.
static const char *sectionName(SectionKind kind) {
  static constexpr const char *kNames[] = {"unknown", "metadata",  "code",
                                           "weights", "tokenizer", "plan"};
  auto number = static_cast<size_t>(kind);
  return number < std::size(kNames) ? kNames[number] : kNames[0];
}

namespace {
/// The weights of a module and their bytes. Weights that are joined for one
/// target lie around those that another target reads, and count as these.
struct WeightCount {
  size_t count = 0;
  uint64_t bytes = 0;

  explicit WeightCount(const ModuleSpec &spec) {
    for (const WeightSpec &weight : spec.weights) {
      auto isPart = [&](const WeightSpec &other) {
        return other.file.empty() && !other.random && other.size > 0 &&
               other.size < weight.size && other.offset >= weight.offset &&
               other.offset - weight.offset <= weight.size - other.size;
      };
      bool isEmbedded = weight.file.empty() && !weight.random;
      if (isEmbedded &&
          std::any_of(spec.weights.begin(), spec.weights.end(), isPart))
        continue;
      ++count;
      bytes += weight.size;
    }
  }
};
} // namespace

namespace {
/// Which of a module's targets this machine's CPU would run.
struct CpuChoice {
  std::string name;  ///< empty: none
  std::string error; ///< why not

  explicit CpuChoice(const ModuleSpec &spec) {
    std::unique_ptr<Device> device;
    uint32_t target = 0;
    Status status = openDevice("cpu", {.threads = 1}, device);
    if (status.ok())
      status = chooseTarget(*device, spec, target);
    if (status.ok())
      name = spec.targets[target].name;
    else
      error = status.text;
  }
};
} // namespace

/// The names of these fields are an interface: scripts read them.
static nlohmann::json toJson(const Module &module, bool verified) {
  const ModuleSpec &spec = module.spec();
  WeightCount weights(spec);
  nlohmann::json sections = nlohmann::json::array();
  for (const SectionHeader &section : module.sections())
    sections.push_back({{"kind", sectionName(section.kind)},
                        {"index", section.index},
                        {"offset", section.offset},
                        {"size", section.size},
                        {"hash", hashText(section.hash)}});
  nlohmann::json symbols = nlohmann::json::array();
  for (const SymbolSpec &symbol : spec.symbols)
    symbols.push_back({{"name", symbol.name},
                       {"min", symbol.min},
                       {"max", symbol.max},
                       {"initial", symbol.initial}});
  nlohmann::json targets = nlohmann::json::array();
  for (uint32_t i = 0; i < spec.targets.size(); ++i) {
    const TargetSpec &target = spec.targets[i];
    targets.push_back({{"name", target.name},
                       {"device", target.device},
                       {"triple", target.triple},
                       {"cpu", target.cpu},
                       {"features", target.features},
                       {"format", toString(target.format)},
                       {"code_bytes", module.code(i).size}});
  }
  CpuChoice choice(spec);
  nlohmann::json chosen;
  if (!choice.name.empty())
    chosen = choice.name;
  nlohmann::json entries = nlohmann::json::array();
  for (const EntrySpec &entry : spec.entries)
    entries.push_back(
        {{"name", entry.name}, {"commands", entry.commands.size()}});
  return {{"format", std::to_string(module.header().major) + "." +
                         std::to_string(module.header().minor)},
          {"producer", spec.producer},
          {"file_bytes", module.header().fileSize},
          {"architecture", spec.model.architecture},
          {"name", spec.model.name},
          {"vocab_size", spec.model.vocabSize},
          {"context_length", spec.model.contextLength},
          {"embedding_size", spec.model.embeddingSize},
          {"layers", spec.model.layerCount},
          {"stop_tokens", spec.model.stopTokens},
          {"properties", spec.model.properties},
          {"weights", weights.count},
          {"weight_bytes", weights.bytes},
          {"weights_verified", verified},
          {"ranks", module.ranks().count},
          {"kernels", spec.kernels.size()},
          {"symbols", symbols},
          {"targets", targets},
          {"target_on_this_cpu", chosen},
          {"entries", entries},
          {"sections", sections}};
}

/// The short form; --disassemble has everything.
static void printSummary(const Module &module, bool verified) {
  const ModuleSpec &spec = module.spec();
  printHeader(module);
  std::printf("sections:\n");
  for (const SectionHeader &section : module.sections())
    std::printf("  %-9s offset %12llu  size %12llu  xxh64 %s\n",
                sectionName(section.kind),
                static_cast<unsigned long long>(section.offset),
                static_cast<unsigned long long>(section.size),
                hashText(section.hash).c_str());
  WeightCount weights(spec);
  std::printf("weights: %zu, %s%s\n", weights.count,
              sizeText(weights.bytes).c_str(),
              verified ? ", hashes are right" : "");
  printTargets(module);
  CpuChoice choice(spec);
  if (choice.name.empty())
    std::printf("on this CPU: %s\n", choice.error.c_str());
  else
    std::printf("on this CPU: @%s\n", choice.name.c_str());
  if (module.ranks().count > 1)
    std::printf("ranks: %u\n", module.ranks().count);
  std::printf("kernels: %zu\n", spec.kernels.size());
  std::printf("entries:\n");
  for (const EntrySpec &entry : spec.entries)
    std::printf("  %s: %zu commands\n", entry.name.c_str(),
                entry.commands.size());
}

/// A module that cannot run on this machine can still be looked into.
static Status runInfo(Options &options) {
  GIST_TRY(compileOnce(kCpuDevice, options.path));
  std::shared_ptr<const Module> module;
  GIST_TRY(Module::open(options.path, module));
  if (options.verify)
    GIST_TRY(module->verifyWeights().in(options.path));
  if (options.plan) {
    if (module->plan().empty())
      return Status::error(Code::NotFound, "%s: the module has no plan",
                           options.path.c_str());
    // The plan is a piece of the mapped file, without a zero at its end.
    std::printf("%.*s\n", static_cast<int>(module->plan().size()),
                module->plan().data());
  } else if (options.json) {
    std::printf("%s\n", toJson(*module, options.verify)
                            .dump(2, ' ', false,
                                  nlohmann::json::error_handler_t::replace)
                            .c_str());
  } else if (options.disassemble) {
    disassemble(*module);
  } else {
    printSummary(*module, options.verify);
  }
  return {};
}

void run::addInfo(CLI::App &app, Action &action) {
  auto options = std::make_shared<Options>();
  CLI::App *command = app.add_subcommand("info", "Show what a module contains");
  command->add_option("module", options->path, "Module file")
      ->required()
      ->type_name("MODULE");
  auto *disassemble =
      command->add_flag("--disassemble", options->disassemble,
                        "Print everything: symbols, memory plan, kernels and "
                        "command lists");
  auto *json = command->add_flag("--json", options->json, "Print JSON")
                   ->excludes(disassemble);
  command
      ->add_flag("--plan", options->plan,
                 "Print the plan that the module was compiled with (JSON)")
      ->excludes(disassemble)
      ->excludes(json);
  command->add_flag("--verify", options->verify,
                    "Compare the hash of every weight, which reads the whole "
                    "file; everything else is always verified");
  command->callback(
      [options, &action] { action = [options] { return runInfo(*options); }; });
}
