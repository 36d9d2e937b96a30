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

#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/TargetParser/SubtargetFeature.h"
#include "llvm/TargetParser/Triple.h"

using namespace mlir;
using namespace gist;
using namespace gist::compile;

/// Refuses features without a sign and those that the architecture has not.
static Status checkFeatures(const std::string &list, const CpuTarget &target) {
  llvm::Triple triple(target.triple);
  std::string message;
  const llvm::Target *backend =
      llvm::TargetRegistry::lookupTarget(triple, message);
  if (!backend)
    return Status::error(Code::Unsupported, "%s", message.c_str());
  std::unique_ptr<llvm::MCSubtargetInfo> subtarget(
      // Without the features that are asked for: LLVM would warn about unknown
      // ones on standard error, in words of its own.
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

/// `report` collects the message; there is no op to attach it to.
static Status findCpu(const Options &options, CpuTarget &target) {
  std::string message;
  auto report = [&](const llvm::Twine &text) { message = text.str(); };
  // The CPU first: LLVM prints complaints of its own about features.
  FailureOr<CpuTarget> named =
      resolveTarget({options.triple, options.cpu, ""}, report);
  if (failed(named) || failed(getTargetInfo(*named, report)))
    return Status::error(Code::Unsupported, "%s", message.c_str());
  GIST_TRY(checkFeatures(options.features, *named));
  FailureOr<CpuTarget> resolved =
      resolveTarget({options.triple, options.cpu, options.features}, report);
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
    if (!target.gpu)
      GIST_TRY(findCpu(options, target.cpu));
    targets.push_back(std::move(target));
  }
  return {};
}
