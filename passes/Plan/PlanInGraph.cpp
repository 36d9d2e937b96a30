//===- PlanInGraph.cpp - From a plan's file to its ops --------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Plan/PlanInGraph.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "passes/Kernel/Kernels.h"

using namespace mlir;
using namespace gist;

static_assert(static_cast<int>(DepthKind::Any) + 1 ==
                  static_cast<int>(LayerDepth::Any),
              "the dialect has the depths of the files behind the full one");
static_assert(static_cast<size_t>(LinearPart::Head) == kNumLinearGroups,
              "the head follows the groups of a layer");

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

namespace {
/// Appends the records of a plan.
/// Optional attributes are left out where a choice does not have them: the ops
/// print like the plan's file, and their verifiers check which belong together.
class PlanWriter {
public:
  explicit PlanWriter(ModuleOp module)
      : b(module.getLoc(), module.getContext()) {
    b.setInsertionPointToStart(module.getBody());
  }

  PlanOp write(const PlanFile &file);

private:
  IntegerAttr count(int64_t value) { return b.getI64IntegerAttr(value); }
  IntegerAttr countOrNone(int64_t value) {
    return value == 0 ? IntegerAttr() : count(value);
  }
  FloatAttr number(double value) { return b.getF64FloatAttr(value); }
  UnitAttr flag(bool value) { return value ? b.getUnitAttr() : UnitAttr(); }

  void write(const HeadChoice &head);
  void write(const LinearChoice &linear, LinearPart part);
  void write(const DepthChoice &choice);
  void write(const SelectionChoice &choice);
  void write(const AttendChoice &choice);

  ImplicitLocOpBuilder b;
};
} // namespace

void PlanWriter::write(const HeadChoice &head) {
  IntegerAttr window, sinks;
  FloatAttr theta, room, random;
  if (head.kind != HeadKind::Dense)
    window = count(head.window);
  if (head.kind == HeadKind::Window)
    sinks = count(head.sinks);
  if (head.kind == HeadKind::Clusters) {
    theta = number(head.theta);
    room = number(head.room);
  }
  if (head.kind == HeadKind::Random)
    random = number(head.room);
  PlanHeadOp::create(b, window, sinks, theta, room, random);
}

void PlanWriter::write(const LinearChoice &linear, LinearPart part) {
  FloatAttr epsilon, epsilonLow;
  if (linear.epsilon) {
    epsilon = number(*linear.epsilon);
    if (linear.bits != 0)
      epsilonLow = number(linear.epsilonLow);
  }
  PlanLinearOp::create(b, part, countOrNone(linear.bits), linear.isCompensated,
                       countOrNone(linear.exactRows),
                       countOrNone(linear.exactBits), countOrNone(linear.k),
                       epsilonLow, epsilon);
}

void PlanWriter::write(const DepthChoice &choice) {
  // Full layers are not written.
  if (choice.kind != LayerDepth::Full)
    PlanDepthOp::create(
        b, static_cast<DepthKind>(static_cast<int>(choice.kind) - 1),
        countOrNone(choice.neurons));
}

void PlanWriter::write(const SelectionChoice &choice) {
  CascadeRuleAttr rule;
  if (!choice.isFresh())
    rule = CascadeRuleAttr::get(b.getContext(),
                                *symbolizeCascadeRule(choice.rule));
  PlanSelectOp::create(
      b, *symbolizeSelectOn(choice.on), b.getDenseF64ArrayAttr(choice.taus),
      *symbolizeAgainst(choice.against),
      *symbolizeSimilarity(choice.similarity), rule, countOrNone(choice.k));
}

void PlanWriter::write(const AttendChoice &choice) {
  auto optional = [&](std::optional<int64_t> value) {
    return value ? count(*value) : IntegerAttr();
  };
  // Keys always count their members.
  bool isKeys = choice.mode == "keys";
  PlanAttendOp::create(b, *symbolizeAttendMode(choice.mode),
                       choice.logCount && !isKeys, optional(choice.window),
                       optional(choice.block), *symbolizeMerge(choice.merge));
}

PlanOp PlanWriter::write(const PlanFile &file) {
  StringAttr bases;
  if (!file.bases().empty())
    bases = b.getStringAttr(file.bases());
  bool hasHeads = !file.isOfSelections && file.hasHeads();
  bool hasDepths = file.depths.isNeeded();
  bool hasBulk = hasDepths && file.depths.hasBulk;
  auto plan = PlanOp::create(
      b, hasHeads ? count(file.heads.block) : IntegerAttr(), bases,
      flag(file.isOfSelections && file.selections.isTraced),
      hasBulk ? count(file.depths.first) : IntegerAttr(),
      hasBulk ? count(file.depths.last) : IntegerAttr(),
      flag(hasBulk && file.depths.thinForAll),
      hasDepths ? b.getStringAttr(file.depths.maps) : StringAttr());
  Block &body = plan.getBody().emplaceBlock();
  // A file is of selections, or of a KV cache (PlanFile.h).
  size_t layers = file.isOfSelections ? file.selections.layers.size()
                                      : file.heads.layers.size();
  for (size_t i = 0; i < layers; ++i) {
    b.setInsertionPointToEnd(&body);
    auto layer = PlanLayerOp::create(b);
    b.setInsertionPointToEnd(&layer.getBody().emplaceBlock());
    if (file.isOfSelections) {
      const SelectionLayer &said = file.selections.layers[i];
      if (said.selection)
        write(*said.selection);
      if (said.attend)
        write(*said.attend);
      continue;
    }
    for (const HeadChoice &head : file.heads.layers[i])
      write(head);
    // A plan of heads alone has no linear layers. Dense ones are not written.
    for (size_t group = 0;
         i < file.linears.layers.size() && group < kNumLinearGroups; ++group)
      if (!file.linears.layers[i][group].isDense())
        write(file.linears.layers[i][group], static_cast<LinearPart>(group));
    if (i < file.depths.layers.size())
      write(file.depths.layers[i]);
  }
  b.setInsertionPointToEnd(&body);
  if (!file.isOfSelections && !file.linears.head.isDense())
    write(file.linears.head, LinearPart::Head);
  return plan;
}

PlanOp gist::writePlan(ModuleOp module, const PlanFile &plan) {
  // A graph may come with a plan; the one that the user names wins.
  if (PlanOp old = getPlan(module))
    old.erase();
  bool saysSomething = plan.isOfSelections || plan.hasHeads() ||
                       plan.linears.isNeeded() || plan.depths.isNeeded();
  return saysSomething ? PlanWriter(module).write(plan) : PlanOp();
}

/// The KV cache that `op` reads, layers x capacity x KV heads x size; null
/// where its keys are those of the call.
static RankedTensorType findCache(AttentionOp op) {
  auto layer = op.getKey().getDefiningOp<tensor::ExtractSliceOp>();
  bool isOfCache = layer && getUpdatedArgument(layer.getSource()) &&
                   layer.getSourceType().getRank() > layer.getType().getRank();
  return isOfCache ? layer.getSourceType() : RankedTensorType();
}

Status gist::makeCalibrationPlan(ModuleOp module, PlanFile &plan) {
  for (auto function : module.getOps<func::FuncOp>()) {
    auto ops = llvm::to_vector(function.getOps<AttentionOp>());
    RankedTensorType cache =
        ops.empty() ? RankedTensorType() : findCache(ops.front());
    if (!cache)
      continue;
    plan.heads = makeCalibrationPlan(cache.getDimSize(0), cache.getDimSize(2));
    // Layers that see a window by themselves are left as they are.
    for (auto [layer, op] : llvm::enumerate(ops))
      if (op.getWindow() && layer < plan.heads.layers.size())
        plan.heads.layers[layer].assign(cache.getDimSize(2), HeadChoice());
    return {};
  }
  for (auto function : module.getOps<func::FuncOp>()) {
    auto ops = llvm::to_vector(function.getOps<AttentionOp>());
    if (ops.empty())
      continue;
    plan.isOfSelections = true;
    plan.selections = makeCalibrationSelections(
        ops.size(), ops.front().getKey().getType().getDimSize(1));
    return {};
  }
  return Status::error(Code::Unsupported,
                       "the model has no attention to make a plan for");
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

PlanOp gist::getPlan(ModuleOp module) {
  auto plans = module.getOps<PlanOp>();
  return plans.empty() ? PlanOp() : *plans.begin();
}

static double toDouble(std::optional<APFloat> value, double otherwise = 0) {
  return value ? value->convertToDouble() : otherwise;
}

/// The op's verifier has seen that its attributes are those of one kind.
static HeadChoice getChoice(PlanHeadOp op) {
  HeadChoice head;
  if (!op.getWindow())
    return head;
  head.window = *op.getWindow();
  if (op.getSinks()) {
    head.kind = HeadKind::Window;
    head.sinks = *op.getSinks();
  } else if (op.getRandom()) {
    head.kind = HeadKind::Random;
    head.room = toDouble(op.getRandom());
  } else {
    head.kind = HeadKind::Clusters;
    head.theta = toDouble(op.getTheta());
    head.room = toDouble(op.getRoom());
  }
  return head;
}

Plan gist::getHeads(Block &body, int64_t block) {
  Plan plan;
  plan.block = block;
  for (auto layer : body.getOps<PlanLayerOp>()) {
    plan.layers.emplace_back();
    for (auto head : layer.getOps<PlanHeadOp>())
      plan.layers.back().push_back(getChoice(head));
  }
  return plan;
}

static LinearChoice getChoice(PlanLinearOp op) {
  LinearChoice choice;
  choice.bits = op.getBits().value_or(0);
  choice.isCompensated = op.getCompensated();
  choice.exactRows = op.getExactRows().value_or(0);
  choice.exactBits = op.getExactBits().value_or(0);
  choice.k = op.getK().value_or(0);
  if (op.getEpsilon())
    choice.epsilon = toDouble(op.getEpsilon());
  choice.epsilonLow = toDouble(op.getEpsilonLow());
  return choice;
}

LinearPlan gist::getLinears(PlanOp plan) {
  LinearPlan result;
  result.bases = plan.getBases().value_or("").str();
  for (auto head : plan.getOps<PlanLinearOp>())
    result.head = getChoice(head);
  for (auto layer : plan.getOps<PlanLayerOp>()) {
    result.layers.emplace_back();
    for (auto linear : layer.getOps<PlanLinearOp>())
      result.layers.back()[static_cast<size_t>(linear.getPart())] =
          getChoice(linear);
  }
  return result;
}

DepthPlan gist::getDepths(PlanOp plan) {
  DepthPlan result;
  result.hasBulk = plan.getFirst().has_value();
  result.thinForAll = plan.getThinForAll();
  result.first = plan.getFirst().value_or(0);
  result.last = plan.getLast().value_or(0);
  result.maps = plan.getMaps().value_or("").str();
  for (auto layer : plan.getOps<PlanLayerOp>()) {
    DepthChoice &choice = result.layers.emplace_back();
    for (auto depth : layer.getOps<PlanDepthOp>()) {
      choice.kind =
          static_cast<LayerDepth>(static_cast<int>(depth.getKind()) + 1);
      choice.neurons = depth.getNeurons().value_or(0);
    }
  }
  return result;
}

SmallVector<PlannedAttention> gist::getAttentions(PlanOp plan) {
  SmallVector<PlannedAttention> layers;
  for (auto layer : plan.getOps<PlanLayerOp>()) {
    PlannedAttention &found = layers.emplace_back();
    for (auto op : layer.getOps<PlanSelectOp>())
      found.selection = op;
    for (auto op : layer.getOps<PlanAttendOp>())
      found.attend = op;
  }
  return layers;
}

std::string gist::printRules(PlanOp plan) {
  bool isOfSelections = false;
  std::string text;
  for (PlannedAttention layer : getAttentions(plan)) {
    isOfSelections |= layer.selection || layer.attend;
    text += text.empty() ? "" : " ";
    if (!layer.selection)
      text += "-";
    else if (!layer.selection.getRule())
      text += "fresh";
    else
      text += stringifyCascadeRule(*layer.selection.getRule()).str();
  }
  return isOfSelections ? text : std::string();
}
