//===- Target.cpp - The machines that were asked for ----------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// From --target, --triple, --cpu and --features to machines that the compiler
// knows. Everything is checked here, before a model is opened.
//
//===----------------------------------------------------------------------===//

#include "passes/Driver/Target.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/SubtargetFeature.h"
#include "llvm/TargetParser/Triple.h"

using namespace mlir;
using namespace gist;
using namespace gist::compile;

/// Refuses features without a sign and features that the architecture does not
/// have.
static Status checkFeatures(const std::string &list, const CpuTarget &target) {
  llvm::Triple triple(target.triple);
  std::string message;
  const llvm::Target *backend =
      llvm::TargetRegistry::lookupTarget(triple, message);
  if (!backend)
    return Status::error(Code::Unsupported, "%s", message.c_str());
  std::unique_ptr<llvm::MCSubtargetInfo> subtarget(
      // Without the features that are asked for: LLVM would print its own
      // warnings about unknown ones on standard error.
      backend->createMCSubtargetInfo(triple, target.cpu, ""));
  llvm::SubtargetFeatures features(list);
  for (const std::string &feature : features.getFeatures()) {
    if (!llvm::SubtargetFeatures::hasFlag(feature))
      return Status::error(Code::BadArgument,
                           "feature '%s': expected +%s or -%s", feature.c_str(),
                           feature.c_str(), feature.c_str());
    llvm::StringRef name = llvm::SubtargetFeatures::StripFlag(feature);
    if (llvm::none_of(subtarget->getAllProcessorFeatures(),
                      [&](const llvm::SubtargetFeatureKV &known) {
                        return name == known.Key;
                      }))
      return Status::error(Code::BadArgument, "there is no feature '%s' on %s",
                           name.str().c_str(), target.triple.c_str());
  }
  return {};
}

/// Names that people use for features of x86-64.
static constexpr std::pair<llvm::StringRef, llvm::StringRef> kShortNames[] = {
    {"vnni", "avx512vnni"}, {"amx", "amx-tile,+amx-int8,+amx-bf16"}};

/// Splits x86-64-v4+avx512vnni into the CPU and a list of features; --features
/// of the user are appended.
static void splitName(const std::string &name, const Options &options,
                      std::string &cpu, std::string &features) {
  llvm::SmallVector<llvm::StringRef> parts;
  llvm::StringRef(name).split(parts, '+');
  cpu = parts.front().str();
  bool isX86 = llvm::Triple(options.triple).isX86() ||
               (options.triple.empty() &&
                llvm::Triple(llvm::sys::getDefaultTargetTriple()).isX86());
  for (llvm::StringRef part : llvm::drop_begin(parts)) {
    for (auto [shorter, whole] : kShortNames)
      if (isX86 && part == shorter)
        part = whole;
    features += (features.empty() ? "+" : ",+") + part.str();
  }
  // A process asks Linux for tiles before it uses them. IREE does not ask.
  if (isX86 && options.emit == Emit::Iree && (cpu.empty() || cpu == "native"))
    features += (features.empty() ? "" : ",") +
                std::string("-amx-tile,-amx-int8,-amx-bf16");
  if (!options.features.empty())
    features += (features.empty() ? "" : ",") + options.features;
}

/// `report` collects the message; there is no op to attach it to.
static Status findCpu(const Options &options, const std::string &name,
                      CpuTarget &target) {
  std::string cpu, features, message;
  splitName(name, options, cpu, features);
  auto report = [&](const llvm::Twine &text) { message = text.str(); };
  // The CPU first: LLVM prints its own warnings about features.
  FailureOr<CpuTarget> named = resolveTarget({options.triple, cpu, ""}, report);
  if (failed(named) || failed(getTargetInfo(*named, report)))
    return Status::error(Code::Unsupported, "%s", message.c_str());
  GIST_TRY(checkFeatures(features, *named));
  FailureOr<CpuTarget> resolved =
      resolveTarget({options.triple, cpu, features}, report);
  if (failed(resolved))
    return Status::error(Code::Unsupported, "%s", message.c_str());
  target = *resolved;
  return {};
}

Status compile::findTargets(const Options &options,
                            std::vector<Target> &targets) {
  for (const std::string &name : options.targets) {
    // The command line takes known names only, so what is not a GPU is the CPU.
    Target target{.name = name, .cpu = {}, .gpu = getGpuInfo(name)};
    if (target.gpu) {
      targets.push_back(std::move(target));
      continue;
    }
    std::vector<std::string> cpus = options.cpus;
    if (cpus.empty())
      cpus.emplace_back();
    for (const std::string &cpu : cpus) {
      if (cpus.size() > 1)
        target.name = cpu;
      GIST_TRY(findCpu(options, cpu, target.cpu));
      targets.push_back(target);
    }
  }
  return {};
}
