//===- ModuleTarget.cpp - The machine that a module is for ----------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Target/Info/ModuleTarget.h"

using namespace mlir;
using namespace gist;

/// Says why `module` is not for a target of `kind`.
/// The same message for all passes, with what to do.
static void reportTarget(ModuleOp module, StringRef kind) {
  InFlightDiagnostic error = module.emitError("expects ");
  error << kTargetAttr << " to name a " << kind;
  if (Attribute target = module->getAttr(kTargetAttr))
    error << ", got " << target;
  else
    error
        << "; -gist-set-target writes it, as do the stages when their options "
           "name a target";
}

const GpuInfo *gist::getGpuTarget(ModuleOp module) {
  auto target = module->getAttrOfType<GpuTargetAttr>(kTargetAttr);
  if (target)
    return getGpuInfo(target.getName()); // The attribute's verifier knows it.
  reportTarget(module, "GPU");
  return nullptr;
}

FailureOr<CpuTarget> gist::getCpuTarget(ModuleOp module) {
  auto target = module->getAttrOfType<CpuTargetAttr>(kTargetAttr);
  if (!target) {
    reportTarget(module, "CPU");
    return failure();
  }
  return CpuTarget{target.getTriple().str(), target.getCpu().str(),
                   target.getFeatures().str()};
}

FailureOr<TargetInfo> gist::getCpuTargetInfo(ModuleOp module) {
  FailureOr<CpuTarget> target = getCpuTarget(module);
  if (failed(target))
    return failure();
  return getTargetInfo(
      *target, [&](const Twine &message) { module.emitError(message); });
}

size_t gist::getRank(ModuleOp module) {
  FailureOr<TargetInfo> info = getCpuTargetInfo(module);
  return failed(info) ? 0 : getTableRow(*info);
}
