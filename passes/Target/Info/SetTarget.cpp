//===- SetTarget.cpp - The pass -gist-set-target --------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Writes what a module is compiled for onto it. All later passes read it there,
// so that a file says everything that its next stage needs.
//
//===----------------------------------------------------------------------===//

#include "passes/Passes.h"
#include "passes/Target/Info/ModuleTarget.h"

namespace gist {
#define GEN_PASS_DEF_SETTARGETPASS
#include "passes/Passes.h.inc"
} // namespace gist

using namespace mlir;
using namespace gist;

namespace {
struct SetTargetPass final : gist::impl::SetTargetPassBase<SetTargetPass> {
  using Base::Base;

  bool namesCpu() const {
    return !triple.empty() || !cpu.empty() || !features.empty();
  }
  /// Whether the options mean a CPU: by its name, or because nothing else is
  /// named and the module is not for a GPU already.
  bool meansCpu(Attribute given) const {
    if (!target.empty())
      return target == "cpu";
    return namesCpu() || !isa_and_nonnull<GpuTargetAttr>(given);
  }

  auto reportAtModule() {
    return [this] { return getOperation().emitError(); };
  }

  /// The CPU of the options. What they leave open is as `given`, or this
  /// machine's.
  FailureOr<Attribute> getCpu(CpuTargetAttr given) {
    if (!gram.empty() && gram != "exact")
      return getOperation().emitError(
          "gram=fp8 is for GPUs that multiply f8E4M3FNUZ; CPUs compare rows as "
          "they are");
    if (given && !namesCpu())
      return Attribute(given);
    auto report = [&](const Twine &message) {
      getOperation().emitError(message);
    };
    CpuTarget named = {triple, cpu, features};
    if (given && named.triple.empty())
      named.triple = given.getTriple().str();
    // The features belong to the CPU that they were given with.
    if (given && named.cpu.empty()) {
      named.cpu = given.getCpu().str();
      if (named.features.empty())
        named.features = given.getFeatures().str();
    }
    FailureOr<CpuTarget> whole = resolveTarget(named, report);
    // A CPU that no table has a row for is refused now, not when a kernel is
    // tiled.
    if (failed(whole) || failed(getTargetInfo(*whole, report)))
      return failure();
    Attribute result = CpuTargetAttr::getChecked(
        reportAtModule(), &getContext(), StringRef(whole->triple),
        StringRef(whole->cpu), StringRef(whole->features));
    if (!result)
      return failure();
    return result;
  }

  /// The same for a GPU.
  FailureOr<Attribute> getGpu(GpuTargetAttr given) {
    if (namesCpu())
      return getOperation().emitError("expects no triple, cpu or features for ")
             << target << ", which is not a CPU";
    std::optional<Gram> number = symbolizeGram(
        gram.empty() ? stringifyGram(given ? given.getGram() : Gram::Exact)
                     : StringRef(gram));
    if (!number)
      return getOperation().emitError(
                 "expected gram=exact or gram=fp8, got gram=")
             << gram;
    StringRef name =
        target.empty() ? given.getName() : StringRef(target.getValue());
    Attribute result = GpuTargetAttr::getChecked(reportAtModule(),
                                                 &getContext(), name, *number);
    if (!result)
      return failure();
    return result;
  }

  void runOnOperation() override {
    Attribute given = getOperation()->getAttr(kTargetAttr);
    FailureOr<Attribute> wanted =
        meansCpu(given) ? getCpu(dyn_cast_or_null<CpuTargetAttr>(given))
                        : getGpu(dyn_cast_or_null<GpuTargetAttr>(given));
    if (failed(wanted))
      return signalPassFailure();
    // What has been chosen so far was chosen for the other target.
    if (given && given != *wanted) {
      getOperation().emitError("is for ")
          << given << " already; the options name " << *wanted;
      return signalPassFailure();
    }
    getOperation()->setAttr(kTargetAttr, *wanted);
  }
};
} // namespace
