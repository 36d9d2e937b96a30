//===- VerifyAttrs.cpp - What the attributes that passes add may be -------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One table for all discardable attributes of the dialect (GistNames.h). Passes
// may read them without asking again: one of the right name and the wrong type,
// or in the wrong place, is refused before any pass runs.
//
//===----------------------------------------------------------------------===//

#include "dialect/GistClusterOps.h"
#include "dialect/GistCpuTileAttrs.h"
#include "dialect/GistIntegerOps.h"
#include "dialect/GistKernelAttrs.h"
#include "dialect/GistLaunchNames.h"
#include "dialect/GistNames.h"
#include "dialect/GistOps.h"
#include "dialect/GistPlanAttrs.h"
#include "dialect/GistRankOps.h"
#include "dialect/GistTargetAttrs.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace gist;

//===----------------------------------------------------------------------===//
// #gist.observed
//===----------------------------------------------------------------------===//

LogicalResult ObservedAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                   Observation kind, int64_t layer,
                                   StringRef group,
                                   ArrayRef<StringAttr> weights) {
  if (layer < -1)
    return emitError() << "expects a layer, or -1 for the head, got " << layer;
  bool isLinear = kind == Observation::Input || kind == Observation::Product;
  if (isLinear == group.empty() || isLinear == weights.empty())
    return emitError() << "expects a group and weights for linear layers, and "
                          "neither for anything else";
  if (kind == Observation::Product && weights.size() != 1)
    return emitError() << "expects one weight for a product, got "
                       << weights.size();
  return success();
}

//===----------------------------------------------------------------------===//
// What attributes hold
//===----------------------------------------------------------------------===//

static bool isTwoRanks(Attribute attribute) {
  auto ranks = dyn_cast<DenseI64ArrayAttr>(attribute);
  return ranks && ranks.size() == 2 && ranks[0] >= 0 && ranks[1] >= 0 &&
         ranks[0] != ranks[1];
}

/// A map with one result and only symbols.
static bool isSize(Attribute attribute) {
  auto map = dyn_cast<AffineMapAttr>(attribute);
  return map && map.getValue().getNumDims() == 0 &&
         map.getValue().getNumResults() == 1;
}

/// The symbols are the tokens, the tokens before and the capacity.
static bool isArenaSize(Attribute attribute) {
  return isSize(attribute) &&
         cast<AffineMapAttr>(attribute).getValue().getNumSymbols() ==
             kNumSizeSymbols;
}

/// As many maps as the grid has dimensions; the symbols are numbers that a call
/// passes.
/// Fewer than three are x, or x and y.
static bool isGrid(Attribute attribute) {
  auto sizes = dyn_cast<ArrayAttr>(attribute);
  return sizes && sizes.size() <= 3 && llvm::all_of(sizes, isSize);
}

static bool isNumber(Attribute attribute) {
  auto number = dyn_cast<IntegerAttr>(attribute);
  return number && number.getType().isSignlessInteger(64) &&
         number.getInt() >= 0;
}

static bool isPositive(Attribute attribute) {
  return isNumber(attribute) && cast<IntegerAttr>(attribute).getInt() > 0;
}

static bool isText(Attribute attribute) {
  auto text = dyn_cast<StringAttr>(attribute);
  return text && !text.empty();
}

static bool isTexts(Attribute attribute) {
  auto texts = dyn_cast<ArrayAttr>(attribute);
  return texts && !texts.empty() && llvm::all_of(texts, isText);
}

static bool isByRow(Attribute attribute) {
  auto type = dyn_cast<TypeAttr>(attribute);
  return type && isSmallNumber(type.getValue());
}

/// One number, of threads.
static bool isWorkgroup(Attribute attribute) {
  auto threads = dyn_cast<DenseI64ArrayAttr>(attribute);
  return threads && threads.size() == 1 && threads[0] > 0;
}

template <typename... Types> static bool isOf(Attribute attribute) {
  return isa<Types...>(attribute);
}

namespace {
/// What an attribute stands on.
enum class On { Module, Function, Argument, Result, Weight, Op };

/// An attribute may have several rules: gist.name stands on arguments and on
/// results.
struct Rule {
  StringRef name;
  On on;
  bool (*holds)(Attribute);
  StringRef expected;
};
} // namespace

/// What unit attributes hold.
static constexpr StringLiteral kUnit = "nothing (a unit attribute)";

static const Rule kRules[] = {
    {kTargetAttr, On::Module, isOf<CpuTargetAttr, GpuTargetAttr>,
     "#gist.cpu_target or #gist.gpu_target"},
    {kSharedStateAttr, On::Module, isOf<UnitAttr>, kUnit},
    {kFastPlanAttr, On::Module, isOf<UnitAttr>, kUnit},
    {kKernelAttr, On::Function, isOf<KernelAttr>, "#gist.kernel"},
    {kCollectiveAttr, On::Function, isOf<DenseI64ArrayAttr>,
     "array<i64> of the columns of each rank"},
    {kHandOnAttr, On::Function, isTwoRanks,
     "array<i64> of two different ranks"},
    {kTileAttr, On::Function, isOf<CpuTileInterface, GpuTileInterface>,
     "a tile of a CPU or a GPU, such as #gist.cpu_rows"},
    {kPrefetchAttr, On::Function, isNumber, "an i64 that is not negative"},
    {kGridAttr, On::Function, isGrid,
     "an array of up to three maps, each of symbols to one size"},
    {kWorkgroupAttr, On::Function, isWorkgroup,
     "array<i64: n> with one positive number of threads"},
    {kSharedMemoryAttr, On::Function, isNumber, "an i64 that is not negative"},
    {kWavesAttr, On::Function, isNumber, "an i64 that is not negative"},
    {kWaitsAttr, On::Function, isOf<UnitAttr>, kUnit},
    {kByTableAttr, On::Function, isOf<UnitAttr>, kUnit},
    {kMaxTokensAttr, On::Function, isPositive, "a positive i64"},
    {kConstantArgAttr, On::Argument, isOf<UnitAttr>, kUnit},
    {kControlArgAttr, On::Argument, isOf<UnitAttr>, kUnit},
    {kLoadArgumentsAttr, On::Op, isOf<UnitAttr>, kUnit},
    {kNameAttr, On::Argument, isText, "a string that is not empty"},
    {kNameAttr, On::Result, isText, "a string that is not empty"},
    {kObservedAttr, On::Result, isOf<ObservedAttr>, "#gist.observed"},
    {kZeroOnResetAttr, On::Argument, isOf<UnitAttr>, kUnit},
    {kStatisticAttr, On::Argument, isOf<UnitAttr>, kUnit},
    {kArenaSizeAttr, On::Function, isArenaSize,
     "a map of three symbols to one size"},
    {kFormatAttr, On::Weight, isOf<BlockFormatAttr>, "#gist.block_format"},
    {kPackingAttr, On::Weight, isOf<PackingAttr>, "#gist.packing"},
    {kPartsAttr, On::Weight, isTexts, "an array of names"},
    {kByRowAttr, On::Weight, isByRow, "i8, f8E4M3FN or f8E4M3FNUZ"},
    {kLayerAttr, On::Op, isNumber, "an i64 that is not negative"},
};

//===----------------------------------------------------------------------===//
// Hooks of the dialect
//===----------------------------------------------------------------------===//

static StringRef getPlace(On on) {
  switch (on) {
  case On::Module:
    return "a module";
  case On::Function:
    return "a function";
  case On::Argument:
    return "an argument of a function";
  case On::Result:
    return "a result of a function";
  case On::Weight:
    return "gist.weight";
  case On::Op:
    return "an op";
  }
  llvm_unreachable("all cases are listed");
}

/// Whether `attribute` may stand on `op` itself.
static bool mayStandOn(On on, Operation *op) {
  switch (on) {
  case On::Module:
    return isa<ModuleOp>(op);
  case On::Function:
    return isa<FunctionOpInterface>(op);
  case On::Weight:
    return isa<WeightOp>(op);
  case On::Op:
    return true;
  case On::Argument:
  case On::Result:
    return false;
  }
  llvm_unreachable("all cases are listed");
}

/// Checks `attribute` of `op`, where `fits` says which rules apply there.
static LogicalResult verify(Operation *op, NamedAttribute attribute,
                            function_ref<bool(const Rule &)> fits) {
  StringRef name = attribute.getName();
  // The rule of another place gives a better message than "unknown".
  const Rule *known = nullptr;
  for (const Rule &rule : kRules) {
    if (rule.name != name)
      continue;
    known = &rule;
    if (!fits(rule))
      continue;
    if (rule.holds(attribute.getValue()))
      return success();
    return op->emitOpError("has the attribute '")
           << name << "', which holds " << rule.expected << ", got "
           << attribute.getValue();
  }
  if (known)
    return op->emitOpError("has the attribute '")
           << name << "', which belongs on " << getPlace(known->on);
  return op->emitOpError("has the attribute '")
         << name << "', which the gist dialect does not have";
}

/// MLIR calls these for every attribute that begins with "gist.".
LogicalResult GistDialect::verifyOperationAttribute(Operation *op,
                                                    NamedAttribute attribute) {
  // It describes the whole function, so it is verified against all of it.
  if (attribute.getName() == kKernelAttr)
    return verifyKernelAttr(op, attribute.getValue());
  return ::verify(op, attribute,
                  [&](const Rule &rule) { return mayStandOn(rule.on, op); });
}

LogicalResult GistDialect::verifyRegionArgAttribute(Operation *op, unsigned,
                                                    unsigned,
                                                    NamedAttribute attribute) {
  return ::verify(op, attribute,
                  [](const Rule &rule) { return rule.on == On::Argument; });
}

LogicalResult
GistDialect::verifyRegionResultAttribute(Operation *op, unsigned, unsigned,
                                         NamedAttribute attribute) {
  return ::verify(op, attribute,
                  [](const Rule &rule) { return rule.on == On::Result; });
}
