//===- PlanOps.cpp - Verifiers of plans and of what they make -------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Verifiers of plans. A plan may come from a file that a person wrote, so every
// rule gives a sentence that says what to change. Whether it fits a model is
// asked later, by the passes that follow it.
//
//===----------------------------------------------------------------------===//

#include "dialect/GistPlanOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"
#include "llvm/ADT/STLExtras.h"

#include "dialect/GistPlanEnums.cpp.inc"

#define GET_OP_CLASSES
#include "dialect/GistPlanOps.cpp.inc"

using namespace mlir;
using namespace gist;

/// Row numbers are f32 in a table of heads, which are exact up to here.
static constexpr int64_t kMaxTokens = int64_t{1} << 24;

/// True also where nothing is said.
static bool isIn(std::optional<int64_t> value, int64_t low, int64_t high) {
  return !value || (*value >= low && *value <= high);
}

/// The bits for which there is a block format.
static bool isFormat(int64_t bits) {
  return llvm::is_contained({2, 3, 4, 8}, bits);
}

//===----------------------------------------------------------------------===//
// Lists
//===----------------------------------------------------------------------===//

static size_t countHeads(PlanLayerOp layer) {
  return llvm::range_size(layer.getOps<PlanHeadOp>());
}

/// Refuses layers of `op` that have other numbers of heads than the first.
/// Plans name heads by their place, so layers cannot leave heads out.
/// Tables have the same layers as plans, so both ask this.
static LogicalResult verifyHeads(Operation *op, Block &body) {
  std::optional<size_t> first;
  for (auto layer : body.getOps<PlanLayerOp>()) {
    size_t heads = countHeads(layer);
    if (heads != first.value_or(heads))
      return op->emitOpError(
                 "expects every layer to have as many heads as the first, ")
             << *first << ", got " << heads;
    first = heads;
  }
  return success();
}

/// Regions are verified after the ops in them, so single records are right by
/// now.
LogicalResult PlanOp::verifyRegions() {
  for (auto other : (*this)->getParentOfType<ModuleOp>().getOps<PlanOp>())
    if (other != *this) // (C1)
      return emitOpError("expects to be the only plan of the module");
  size_t vocabularies = 0;
  for (Operation &op : *getBody().begin()) {
    auto linear = dyn_cast<PlanLinearOp>(op);
    vocabularies += linear && linear.getPart() == LinearPart::Head;
    if (!isa<PlanLayerOp>(op) &&
        (!linear || linear.getPart() != LinearPart::Head)) // (C2)
      return op.emitOpError("is neither a layer nor a linear layer 'head'");
  }
  if (vocabularies > 1) // (C2)
    return emitOpError("expects one linear layer 'head', got ") << vocabularies;
  if (failed(verifyHeads(*this, getBody().front()))) // (C3)
    return failure();
  // A plan is for a KV cache of clusters and linear layers, or for selections
  // on whole sequences. No pass does both.
  bool hasHeads = false, hasLinears = vocabularies > 0, hasSelections = false;
  bool hasDepths = false;
  getBody().walk([&](Operation *op) {
    hasHeads |= isa<PlanHeadOp>(op);
    hasLinears |= isa<PlanLinearOp>(op);
    hasDepths |= isa<PlanDepthOp>(op);
    hasSelections |= isa<PlanSelectOp, PlanAttendOp>(op);
  });
  // A block without heads says nothing, and is not refused.
  if (!isIn(getBlock(), 1, kMaxTokens) || (hasHeads && !getBlock())) // (C4)
    return emitOpError("expects a block of 1 to ")
           << kMaxTokens << " tokens where layers have heads";
  if (hasSelections && (hasHeads || hasLinears || hasDepths)) // (C5)
    return emitOpError("mixes selections, which are for whole sequences, with "
                       "heads, linear layers or depths, which are for a KV "
                       "cache");
  bool hasBulk = getFirst().has_value();
  if (hasDepths != getMaps().has_value() || hasBulk != getLast().has_value() ||
      (hasBulk && !hasDepths) || !isIn(getFirst(), 0, kMaxTokens) ||
      !isIn(getLast(), 0, kMaxTokens)) // (C6)
    return emitOpError("expects a file of maps with depths, and first and last "
                       "tokens from 0 to ")
           << kMaxTokens << " or neither, and only then";
  if (getThinForAll() && !hasBulk) // (C8)
    return emitOpError("expects first and last tokens beside thin_for_all: "
                       "without them all layers are for all tokens");
  bool isTail = false;
  for (auto layer : getOps<PlanLayerOp>()) {
    bool isOwnTail = llvm::any_of(layer.getOps<PlanDepthOp>(), [](auto depth) {
      return depth.getKind() == DepthKind::Tail;
    });
    if (isTail && !isOwnTail) // (C7)
      return layer.emitOpError("stands behind a layer of the tail; expected "
                               "'gist.plan_depth tail'");
    isTail = isOwnTail;
  }
  if (isTail && !hasBulk) // (C8)
    return emitOpError("expects first and last tokens, because a tail is for "
                       "the bulk of a prompt");
  return success();
}

/// What a layer says: heads, linear layers, or a selection and an attention.
LogicalResult PlanLayerOp::verifyRegions() {
  size_t selects = 0, attends = 0, depths = 0;
  // A part that is named twice would leave open which of the two holds.
  llvm::SmallDenseSet<uint32_t> parts;
  for (Operation &op : *getBody().begin()) {
    if (!isa<PlanHeadOp, PlanLinearOp, PlanDepthOp, PlanSelectOp, PlanAttendOp>(
            op)) // (C1)
      return op.emitOpError("does not belong in a layer; expected heads, "
                            "linear layers, a depth, a selection or an "
                            "attention");
    selects += isa<PlanSelectOp>(op);
    attends += isa<PlanAttendOp>(op);
    depths += isa<PlanDepthOp>(op);
    auto linear = dyn_cast<PlanLinearOp>(op);
    if (!linear)
      continue;
    if (linear.getPart() == LinearPart::Head) // (C2)
      return op.emitOpError("is the head, which does not belong in a layer");
    if (!parts.insert(static_cast<uint32_t>(linear.getPart())).second) // (C2)
      return op.emitOpError("is the second linear layer '")
             << stringifyLinearPart(linear.getPart()) << "' in its layer";
  }
  if (selects > 1 || attends > 1) // (C3)
    return emitOpError("expects one selection and one attention, got ")
           << selects << " and " << attends;
  if (depths > 1) // (C3)
    return emitOpError("expects one depth, got ") << depths;
  return success();
}

/// A table defines a weight: the heads of a plan, as numbers for the kernels.
LogicalResult HeadTableOp::verifyRegions() {
  if (getCapacity() < 1 || getBlock() < 1) // (C1)
    return emitOpError("expects a positive context and block, got ")
           << getCapacity() << " and " << getBlock();
  if (failed(verifyHeads(*this, getBody().front()))) // (C2)
    return failure();
  if (getBody().front().empty()) // (C2)
    return emitOpError("expects layers");
  for (Operation &op : getBody().front()) {
    auto layer = dyn_cast<PlanLayerOp>(op);
    if (!layer || countHeads(layer) == 0 ||
        llvm::range_size(layer.getBody().front()) != countHeads(layer)) // (C2)
      return op.emitOpError("expects a table to contain only heads");
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Records
//===----------------------------------------------------------------------===//

/// Four kinds of heads: dense; a window with sinks; clusters by theta; a random
/// share, as a baseline.
LogicalResult PlanHeadOp::verify() {
  bool hasSinks = getSinks().has_value(), hasTheta = getTheta().has_value(),
       hasRandom = getRandom().has_value(), hasRoom = getRoom().has_value();
  // A window goes with exactly one of the three, and they with it.
  int kinds = hasSinks + hasTheta + hasRandom;
  if (kinds != (getWindow() ? 1 : 0) || hasRoom != hasTheta) // (C1)
    return emitOpError("expects 'dense', or a window with sinks, with theta "
                       "and room, or with random");
  if (!isIn(getWindow(), 0, kMaxTokens) ||
      !isIn(getSinks(), 0, kMaxTokens)) // (C2)
    return emitOpError("expects a window and sinks of 0 to ")
           << kMaxTokens << " tokens";
  // Shares of something: more than nothing, at most all.
  auto isShare = [](std::optional<APFloat> value) {
    return !value ||
           (value->convertToDouble() > 0 && value->convertToDouble() <= 1);
  };
  if (!isShare(getTheta()) ||
      (hasTheta && getTheta()->convertToDouble() == 1) || !isShare(getRoom()) ||
      !isShare(getRandom())) // (C3)
    return emitOpError("expects theta between 0 and 1, and room and random "
                       "above 0 and up to 1");
  return success();
}

LogicalResult PlanLinearOp::verify() {
  if (getBits() && !isFormat(*getBits())) // (C1)
    return emitOpError("expects 2, 3, 4 or 8 bits, got ") << *getBits();
  // These say something about rounded weights.
  if (!getBits() &&
      (getCompensated() || getExactRows() || getEpsilonLow())) // (C2)
    return emitOpError(
        "expects bits where compensated, exact_rows or epsilon_low are given");
  bool isHead = getPart() == LinearPart::Head;
  if (getExactRows() && (*getExactRows() < 1 || !isHead)) // (C3)
    return emitOpError("expects positive exact_rows, and only for the head");
  if (getExactBits() && (*getExactBits() != 8 || !getExactRows())) // (C3)
    return emitOpError("expects exact_bits to be 8 and to come with "
                       "exact_rows");
  if (getK() &&
      (*getK() < 1 || isHead || (!getBits() && !getEpsilon()))) // (C4)
    return emitOpError("expects a positive k together with bits or epsilon, "
                       "and never for the head");
  if (getEpsilon() && !getK()) // (C4)
    return emitOpError("expects a k: a gate needs a subspace");
  // Defaults that satisfy the comparison below where an epsilon is absent.
  double high = getEpsilon() ? getEpsilon()->convertToDouble() : 1;
  double low = getEpsilonLow() ? getEpsilonLow()->convertToDouble() : 0;
  bool isOrdered = getEpsilonLow() ? getEpsilon() && low < high : true;
  if (!(low >= 0 && high >= 0 && high <= 1) || !isOrdered) // (C5)
    return emitOpError("expects 0 <= epsilon_low < epsilon <= 1");
  return success();
}

LogicalResult PlanDepthOp::verify() {
  bool isThin = getKind() == DepthKind::Thin;
  if (isThin != getNeurons().has_value() || !isIn(getNeurons(), 1, kMaxTokens))
    // (C1)
    return emitOpError("expects a positive number of neurons for a thin layer, "
                       "and for no other");
  return success();
}

LogicalResult PlanSelectOp::verify() {
  // tau = 0 keeps every token; a larger one lets fewer represent the others.
  bool isFine =
      llvm::all_of(getTaus(), [](double tau) { return tau >= 0 && tau < 1; });
  if (getTaus().empty() || !isFine) // (C1)
    return emitOpError("expects taus of at least 0 and less than 1");
  if (getTaus().size() > 1 && getOn() != SelectOn::Keys) // (C2)
    return emitOpError("expects 'on keys' for a tau for each KV head");
  // A rule says itself what tokens are compared with.
  if (getRule() && getAgainst() != Against::Kept) // (C3)
    return emitOpError("expects no 'against' beside a rule");
  if (getK() && (*getK() < 1 || getOn() != SelectOn::Normalised)) // (C4)
    return emitOpError("expects k to be positive and 'on normalised'");
  return success();
}

LogicalResult PlanAttendOp::verify() {
  bool isKeys = getMode() == AttendMode::Keys;
  bool hasKeys = getWindow() || getBlock() || getMerge() != Merge::Mean;
  if ((hasKeys && !isKeys) || (getLogCount() && isKeys)) // (C1)
    return emitOpError("expects window, block and merge with the mode keys, "
                       "and log_count with copy");
  if (!isIn(getWindow(), 0, kMaxTokens) ||
      !isIn(getBlock(), 1, kMaxTokens)) // (C2)
    return emitOpError("expects a window of 0 tokens or more, and a block of "
                       "1 or more");
  return success();
}

//===----------------------------------------------------------------------===//
// Weights
//===----------------------------------------------------------------------===//

LogicalResult ConstantWeightOp::verify() {
  if (!getValues().getElementType().isF32()) // (C1)
    return emitOpError("expects numbers in f32, got ") << getValues().getType();
  return success();
}

LogicalResult FittedWeightOp::verify() {
  if (!cast<RankedTensorType>(getType()).hasStaticShape()) // (C1)
    return emitOpError("expects a static shape, got ") << getType();
  return success();
}

LogicalResult MadeWeightOp::verify() {
  auto type = cast<RankedTensorType>(getType());
  bool isBlocks = type.getElementType().isInteger(8);
  if (!type.hasStaticShape() || type.getRank() != (isBlocks ? 3 : 2)) // (C1)
    return emitOpError("expects a static shape of rank 2, or 3 for blocks, "
                       "got ")
           << type;
  MadeWeightKind kind = getKind();
  // A basis is made of what the layer reads, all others of a weight.
  bool isBasis =
      kind == MadeWeightKind::Basis || kind == MadeWeightKind::TransposedBasis;
  if (!isBasis && !getSource()) // (C2)
    return emitOpError("expects the weight that it is made of");
  bool isRounded = kind == MadeWeightKind::Rounded;
  bool isCorrection = kind == MadeWeightKind::Correction;
  if ((isRounded || isCorrection) &&
      (!getBits() || !isFormat(*getBits()))) // (C3)
    return emitOpError("expects 2, 3, 4 or 8 bits");
  if (!isIn(getExactRows(), 0, kMaxTokens) ||
      (kind == MadeWeightKind::Exact && !getExactRows()) ||
      !isIn(getExactBits(), 8, 8)) // (C4)
    return emitOpError("expects exact_rows that are not negative, and 8 "
                       "exact_bits");
  bool isInside = isBasis || isCorrection || kind == MadeWeightKind::Image;
  if (!isInside)
    return success();
  if (!getBasis() || !getK() || *getK() < 1) // (C5)
    return emitOpError("expects a basis and a positive k");
  bool isTurned = kind == MadeWeightKind::TransposedBasis;
  int64_t size = type.getDimSize(isTurned ? 0 : 1);
  bool holdsBlocks = isBlocks && !isTurned;
  // Blocks along the rows: k is a multiple of their number.
  if (holdsBlocks ? *getK() % std::max<int64_t>(size, 1) != 0
                  : *getK() != size) // (C5)
    return emitOpError("expects a type of the size that k says, got ")
           << *getK() << " and " << type;
  return success();
}
