//===- ReduceDepth.cpp - The pass -gist-reduce-depth ----------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A layer is found by its attention: the residual stream before it, and the
// products that its queries, keys and values begin with. Replacing what comes
// into the next layer, or where keys begin, is all that a kind of layer does;
// the ops that nothing reads any more go away.
//
//===----------------------------------------------------------------------===//

#include "dialect/DecomposeUtils.h"
#include "dialect/GistClusterOps.h"
#include "dialect/GistNames.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/Kernel/KernelKinds.h"
#include "passes/Kernel/Kernels.h"
#include "passes/Kernel/Unused.h"
#include "passes/Passes.h"
#include "passes/Plan/FindLinears.h"
#include "passes/Plan/MadeWeights.h"
#include "passes/Plan/PlanInGraph.h"
#include "passes/Plan/SelectionRows.h"
#include "runtime/module/ModuleSpec.h"

namespace gist {
#define GEN_PASS_DEF_REDUCEDEPTHPASS
#include "passes/Passes.h.inc"
} // namespace gist

using namespace mlir;
using namespace gist;

/// Keeps n(0) finite.
static constexpr float kEpsilon = 1e-6F;

namespace {
/// What a layer is found by.
struct LayerOps {
  Operation *attention = nullptr;
  Value stream; ///< what comes into the layer
  /// The products that keys and values begin with.
  SetVector<Operation *> products;
};

class DepthReducer {
public:
  DepthReducer(func::FuncOp function, const DepthPlan &plan)
      : function(function), plan(plan),
        b(function.getLoc(), function.getContext()) {}

  LogicalResult run();
  /// Only finds what maps are fitted towards.
  LogicalResult findTargets();

  /// A value of the function and what it is called (kTargetEntry, kFitEntry).
  using Shown = std::pair<std::string, Value>;
  ArrayRef<Shown> getShown() const { return shown; }

private:
  LogicalResult find();
  LogicalResult findLayers();
  LogicalResult addLayer(Operation *attention, Value query, Value key,
                         Value value);
  LogicalResult reduce(int64_t number);
  LogicalResult thin(int64_t number);
  void makeLinear(int64_t number);
  void makeTail(int64_t number);
  void makeAny(int64_t number);
  void openKeys(int64_t number, Value rows);
  void openNeurons(int64_t number);
  void openStream(int64_t number, Value rows);
  void showSum(int64_t number, Value block);

  Value normalise(Value x);
  /// `map` of rows, with its bias.
  Value apply(Value rows, int64_t layer, const std::string &map, int64_t width);
  LinearInput *findNeurons(int64_t number);
  Value fitted(int64_t layer, const std::string &tensor,
               ArrayRef<int64_t> shape) {
    return createFittedWeight(b, layer, tensor, plan.maps, shape, inBlocks);
  }
  /// `value`, which has a number for each neuron, with those that stay.
  FailureOr<Value> pickNeurons(Value value, int64_t layer, int64_t all);

  func::FuncOp function;
  const DepthPlan &plan;
  ValueBuilder b;
  SmallVector<LayerOps> layers;
  SmallVector<LinearInput> linears; ///< where layers are thin
  /// Maps are stored as finely as the model's weights.
  bool inBlocks = false;
  Value tailRows; ///< n(x) of what comes into the tail
  DenseMap<Value, Value> picked;
  SmallVector<Shown> shown;
};
} // namespace

/// Of the map that takes the place of `product` in a tail.
static std::string tailMapNameOf(Operation *product) {
  return tailMapName(getWeightOf(product->getOperand(1)).getName().str());
}

static int64_t getWidth(Value rows) {
  return cast<RankedTensorType>(rows.getType()).getDimSize(1);
}

/// The rows of a call that attention finds in the cache `all` is a view of.
static Value findCachedRows(Value all) {
  auto extract = all.getDefiningOp<tensor::ExtractSliceOp>();
  auto insert = extract
                    ? extract.getSource().getDefiningOp<tensor::InsertSliceOp>()
                    : tensor::InsertSliceOp();
  return insert ? insert.getSource() : Value();
}

LogicalResult DepthReducer::addLayer(Operation *attention, Value query,
                                     Value key, Value value) {
  if (!key || !value)
    return attention->emitOpError(
        "does not read a KV cache, and has no bulk of a prompt; expected a "
        "plan of depths without first and last tokens");
  LayerOps layer;
  layer.attention = attention;
  layer.stream = findResidualRows(attention, query);
  if (!layer.stream)
    return attention->emitOpError("has no residual stream around it, which a "
                                  "plan of depths needs");
  layer.products = findFirstProducts(key);
  layer.products.insert_range(findFirstProducts(value));
  for (Operation *product : layer.products)
    if (!isTransposedMatmul(cast<linalg::LinalgOp>(product)) ||
        !getWeightOf(product->getOperand(1)))
      return product->emitOpError(
          "gives keys or values, but is not a product with a weight of the "
          "model; expected a plan of depths without gates there");
  inBlocks |= llvm::any_of(layer.products, [](Operation *product) {
    return product->getOperand(1).getDefiningOp<DequantizeOp>() != nullptr;
  });
  layers.push_back(std::move(layer));
  return success();
}

LogicalResult DepthReducer::findLayers() {
  ClusterUpdateOp update;
  // Without a cache, an encoder's, all rows are those of the call.
  auto findKeys = [&](Value all) {
    Value cached = findCachedRows(all);
    return cached || plan.hasBulk ? cached : all;
  };
  for (Operation &op : function.front()) {
    if (auto next = dyn_cast<ClusterUpdateOp>(op))
      update = next;
    LogicalResult result = success();
    if (auto dense = dyn_cast<AttentionOp>(op))
      result = addLayer(dense, dense.getQuery(), findKeys(dense.getKey()),
                        findKeys(dense.getValue()));
    else if (auto clusters = dyn_cast<ClusterAttentionOp>(op))
      result = addLayer(clusters, clusters.getQuery(),
                        update ? update.getKey() : Value(),
                        update ? update.getValue() : Value());
    if (failed(result))
      return failure();
  }
  if (layers.size() != plan.layers.size())
    return function.emitOpError("has ")
           << layers.size() << " layers with attention, but the plan is for "
           << plan.layers.size();
  return success();
}

/// x / sqrt(mean of squares + epsilon).
Value DepthReducer::normalise(Value x) {
  OpFoldResult rows = getSize(b, x, 0);
  int64_t width = getWidth(x);
  Value zeros = createFilled(b, {rows}, b.f32(0));
  Value squares = createLoops(b, "td->t", x, zeros,
                              [](ValueBuilder &b, ValueRange v) -> Value {
                                return b.add(b.mul(v[0], v[0]), v[1]);
                              });
  Value empty = createEmpty(b, {rows, b.getIndexAttr(width)}, b.getF32Type());
  return createLoops(b, "td,t->td", {x, squares}, empty,
                     [&](ValueBuilder &b, ValueRange v) -> Value {
                       Value mean =
                           b.div(v[1], b.f32(static_cast<float>(width)));
                       Value above = b.add(mean, b.f32(kEpsilon));
                       return b.mul(v[0], math::RsqrtOp::create(b, above));
                     });
}

/// x and y combined element by element; `dims` says the dimensions of both.
template <typename Op>
static Value combine(ValueBuilder &b, StringRef dims, Value x, Value y) {
  Value empty =
      createEmpty(b, {getSize(b, x, 0), getSize(b, x, 1)}, b.getF32Type());
  return createLoops(b, dims, {x, y}, empty,
                     [](ValueBuilder &b, ValueRange v) -> Value {
                       return Op::create(b, v[0], v[1]);
                     });
}

static Value add(ValueBuilder &b, Value x, Value y) {
  return combine<arith::AddFOp>(b, "td,td->td", x, y);
}

Value DepthReducer::apply(Value rows, int64_t layer, const std::string &map,
                          int64_t width) {
  Value weight = fitted(layer, map, {width, getWidth(rows)});
  Value mapped = createLinear(b, rows, weight);
  return combine<arith::AddFOp>(b, "td,d->td", mapped,
                                fitted(layer, biasName(map), width));
}

void DepthReducer::makeLinear(int64_t number) {
  Value x = layers[number].stream, next = layers[number + 1].stream;
  b.setInsertionPoint(next.getDefiningOp());
  Value result = add(
      b, x, apply(normalise(x), number, linearMapName(number), getWidth(x)));
  next.replaceAllUsesWith(result);
  layers[number + 1].stream = result;
}

void DepthReducer::makeTail(int64_t number) {
  LayerOps &layer = layers[number];
  if (!tailRows) {
    b.setInsertionPointAfterValue(layer.stream);
    tailRows = normalise(layer.stream);
  }
  for (Operation *product : layer.products) {
    // The rows of the tail stand before its first layer.
    b.setInsertionPoint(product);
    Value own = product->getResult(0);
    own.replaceAllUsesWith(
        apply(tailRows, number, tailMapNameOf(product), getWidth(own)));
  }
}

//===----------------------------------------------------------------------===//
// A layer that can be of every kind
//===----------------------------------------------------------------------===//

/// `value` is read by what makes `other` of it.
static void replaceBehind(Value value, Value other) {
  value.replaceUsesWithIf(other, [&](OpOperand &use) {
    return other.getDefiningOp()->isBeforeInBlock(use.getOwner());
  });
}

/// What `rows` are part of, through sums that are all that reads them: behind a
/// feed-forward block what came into it, and what it gives.
static Value findSum(Value rows) {
  while (rows.hasOneUse()) {
    OpOperand &use = *rows.getUses().begin();
    auto loops = dyn_cast<linalg::GenericOp>(use.getOwner());
    if (!loops || !loops.isDpsInput(&use) || loops.getNumResults() != 1 ||
        loops.getResult(0).getType() != rows.getType() ||
        loops.getNumParallelLoops() != loops.getNumLoops() ||
        !llvm::all_of(loops.getBody()->without_terminator(), [](Operation &op) {
          return isa<arith::AddFOp, arith::ExtFOp>(op);
        }))
      return rows;
    rows = loops.getResult(0);
  }
  return rows;
}

/// Where a norm stands behind the sum, least squares need what comes into it.
void DepthReducer::showSum(int64_t number, Value block) {
  Value sum = findSum(block);
  bool isLast = number + 1 == static_cast<int64_t>(layers.size());
  if (isLast || sum != layers[number + 1].stream)
    shown.push_back({sumName(number), sum});
}

void DepthReducer::openKeys(int64_t number, Value rows) {
  for (Operation *product : layers[number].products) {
    Value own = product->getResult(0);
    b.setInsertionPointAfter(product);
    std::string map = tailMapNameOf(product);
    Value gate = fitted(number, gateName(map), getWidth(own));
    Value kept = combine<arith::MulFOp>(b, "td,d->td", own, gate);
    Value sum = add(b, kept, apply(rows, number, map, getWidth(own)));
    replaceBehind(own, sum);
  }
}

void DepthReducer::openNeurons(int64_t number) {
  // Experts have no block of their own, and stay as they are.
  LinearInput *input = findNeurons(number);
  if (!input)
    return;
  linalg::LinalgOp product = input->linears.front().product;
  b.setInsertionPoint(product);
  std::string map = thinMapName(number);
  Value own = product->getResult(0);
  Value mapped = apply(input->rows, number, map, getWidth(own));
  own.replaceAllUsesWith(mapped);
  shown.push_back({map, input->rows});
  showSum(number, mapped);
}

void DepthReducer::openStream(int64_t number, Value rows) {
  Value x = layers[number].stream, next = layers[number + 1].stream;
  b.setInsertionPointAfterValue(next);
  Value change = combine<arith::SubFOp>(b, "td,td->td", next, x);
  Value gate = fitted(number, gateName(number), getWidth(x));
  Value kept = combine<arith::MulFOp>(b, "td,d->td", change, gate);
  Value mapped = apply(rows, number, linearMapName(number), getWidth(x));
  Value result = add(b, add(b, x, kept), mapped);
  replaceBehind(next, result);
  layers[number + 1].stream = result;
}

void DepthReducer::makeAny(int64_t number) {
  Value x = layers[number].stream;
  b.setInsertionPointAfterValue(x);
  Value rows = normalise(x);
  shown.push_back({streamName(number), x});
  shown.push_back({linearMapName(number), rows});
  if (plan.hasBulk) // Only the bulk of a prompt can have a tail.
    openKeys(number, rows);
  openNeurons(number);
  // As in reduce().
  if (number + 1 < static_cast<int64_t>(layers.size()))
    openStream(number, rows);
}

//===----------------------------------------------------------------------===//
// Fewer neurons
//===----------------------------------------------------------------------===//

FailureOr<Value> DepthReducer::pickNeurons(Value value, int64_t layer,
                                           int64_t all) {
  if (Value known = picked.lookup(value))
    return known;
  int64_t neurons = plan.layers[layer].neurons;
  auto type = cast<RankedTensorType>(value.getType());
  if (!llvm::is_contained(type.getShape(), all))
    return value; // The same for every neuron.
  Operation *op = value.getDefiningOp();
  auto refuse = [&]() -> FailureOr<Value> {
    Operation *where = op ? op : function.getOperation();
    return where->emitOpError("is part of the feed-forward block of layer ")
           << layer << ", which has to consist of plain products and of what "
           << "is done element by element to be thin";
  };
  auto narrow = [&](RankedTensorType wide) {
    SmallVector<int64_t> shape(wide.getShape());
    shape.back() = neurons;
    return wide.clone(shape);
  };
  Value result;
  std::string rows = thinRowsName(layer);
  auto loops = dyn_cast_or_null<linalg::LinalgOp>(op);
  if (auto empty = dyn_cast_or_null<tensor::EmptyOp>(op)) {
    result = tensor::EmptyOp::create(b, narrow(type), empty.getDynamicSizes());
  } else if (loops && isTransposedMatmul(loops)) {
    WeightOp weight = getWeightOf(op->getOperand(1));
    if (!weight)
      return refuse();
    Value numbers = createPickedWeight(b, weight, rows, plan.maps, neurons);
    if (auto read = op->getOperand(1).getDefiningOp<DequantizeOp>())
      numbers = DequantizeOp::create(b, numbers, read.getFormatAttr());
    result = createLinear(b, op->getOperand(0), numbers);
  } else if (auto weight = dyn_cast_or_null<WeightOp>(op);
             weight && type.getRank() == 1) {
    result = createPickedWeight(b, weight, rows, plan.maps, neurons);
  } else if (loops && op->getNumResults() == 1 &&
             loops.getNumParallelLoops() == loops.getNumLoops() &&
             llvm::all_of(loops.getIndexingMapsArray(), [](AffineMap map) {
               return map.isProjectedPermutation();
             })) {
    SmallVector<Value> operands;
    for (Value operand : op->getOperands()) {
      FailureOr<Value> part = pickNeurons(operand, layer, all);
      if (failed(part))
        return failure();
      operands.push_back(*part);
    }
    result = clone(b, op, narrow(type), operands)->getResult(0);
  } else {
    return refuse();
  }
  picked[value] = result;
  return result;
}

LinearInput *DepthReducer::findNeurons(int64_t number) {
  // What chooses experts has a number for each of them, and is not such a
  // block.
  auto *found = llvm::find_if(linears, [&](const LinearInput &input) {
    return input.layer == number && input.group == LinearGroup::Down &&
           getWidth(input.linears.front().product->getResult(0)) ==
               getWidth(layers[number].stream);
  });
  return found == linears.end() ? nullptr : &*found;
}

LogicalResult DepthReducer::thin(int64_t number) {
  LinearInput *input = findNeurons(number);
  if (!input)
    return layers[number].attention->emitOpError("belongs to layer ")
           << number
           << ", whose feed-forward block was not found, so that the layer "
              "cannot be thin; experts have none for all tokens";
  int64_t all = input->getSize(), neurons = plan.layers[number].neurons;
  linalg::LinalgOp product = input->linears.front().product;
  if (neurons > all)
    return product.emitOpError("has ")
           << all << " neurons, but the plan keeps " << neurons;
  b.setInsertionPoint(product);
  FailureOr<Value> rows = pickNeurons(input->rows, number, all);
  if (failed(rows))
    return failure();
  Value own = product->getResult(0);
  own.replaceAllUsesWith(
      apply(*rows, number, thinMapName(number), getWidth(own)));
  return success();
}

LogicalResult DepthReducer::reduce(int64_t number) {
  switch (plan.layers[number].kind) {
  case LayerDepth::Full:
    return success();
  case LayerDepth::Thin:
    return thin(number);
  case LayerDepth::Tail:
    makeTail(number);
    return success();
  case LayerDepth::Any:
    makeAny(number);
    return success();
  case LayerDepth::Linear:
    break;
  }
  if (number + 1 < static_cast<int64_t>(layers.size())) {
    makeLinear(number);
    return success();
  }
  // Of the bulk, the last layer leaves nothing but keys and values in any case.
  if (plan.hasBulk)
    return success();
  return layers[number].attention->emitOpError(
      "belongs to the last layer, behind which there is no other to map to; "
      "expected it to be full or thin where a plan is for all tokens");
}

/// Everything is found while the graph is whole.
LogicalResult DepthReducer::find() {
  if (failed(findLayers()))
    return failure();
  if (llvm::none_of(plan.layers, [](const DepthChoice &choice) {
        return choice.kind == LayerDepth::Thin ||
               choice.kind == LayerDepth::Any;
      }))
    return success();
  FailureOr<SmallVector<LinearInput>> found = findLinears(function);
  if (succeeded(found))
    linears = std::move(*found);
  return found;
}

LogicalResult DepthReducer::run() {
  if (failed(find()))
    return failure();
  for (size_t number = 0; number < layers.size(); ++number)
    if (failed(reduce(static_cast<int64_t>(number))))
      return failure();
  return success();
}

LogicalResult DepthReducer::findTargets() {
  if (failed(find()))
    return failure();
  for (auto [number, layer] : llvm::enumerate(layers)) {
    shown.push_back({streamName(static_cast<int64_t>(number)), layer.stream});
    if (LinearInput *input = findNeurons(static_cast<int64_t>(number)))
      showSum(static_cast<int64_t>(number),
              input->linears.front().product->getResult(0));
    if (!plan.hasBulk)
      continue;
    for (Operation *product : layer.products)
      shown.push_back({tailMapNameOf(product), product->getResult(0)});
  }
  return success();
}

/// Makes `function` return `shown` in place of its logits.
static void show(func::FuncOp function, ArrayRef<DepthReducer::Shown> shown) {
  Builder b(function.getContext());
  Operation *end = function.front().getTerminator();
  SmallVector<Value> results;
  SmallVector<DictionaryAttr> attributes;
  for (const auto &[name, value] : shown) {
    results.push_back(value);
    attributes.push_back(
        b.getDictionaryAttr(b.getNamedAttr(kNameAttr, b.getStringAttr(name))));
  }
  for (unsigned i = 1; i < end->getNumOperands(); ++i) {
    results.push_back(end->getOperand(i));
    DictionaryAttr known = function.getResultAttrDict(i);
    attributes.push_back(known ? known : b.getDictionaryAttr({}));
  }
  end->setOperands(results);
  function.setFunctionType(b.getFunctionType(function.getArgumentTypes(),
                                             ValueRange(results).getTypes()));
  function.setAllResultAttrs(attributes);
  eraseUnused(function.front());
}

namespace {
struct ReduceDepthPass final
    : gist::impl::ReduceDepthPassBase<ReduceDepthPass> {
  using Base::Base;

  void runOnOperation() override {
    PlanOp written = getPlan(getOperation());
    if (!written || !written.getMaps())
      return;
    DepthPlan plan = getDepths(written);
    // What maps are fitted towards is the model as it is, so it is copied
    // first.
    SmallVector<func::FuncOp> own = getFunctions();
    if (failed(addFitEntries(written, plan)) ||
        failed(reduceAll(own, plan.partFor(/*allTokens=*/true))) ||
        failed(addBulk(written, plan.partFor(/*allTokens=*/false))))
      return signalPassFailure();
    written.removeFirstAttr();
    written.removeLastAttr();
    written.removeThinForAllAttr();
    written.removeMapsAttr();
    dropPart<PlanDepthOp>(written);
  }

private:
  SmallVector<func::FuncOp> getFunctions() {
    SmallVector<func::FuncOp> functions;
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function.isExternal())
        functions.push_back(function);
    return functions;
  }

  /// The function that prompts are read by, or without a bulk the first one.
  /// Null, with a diagnostic, where it is missing.
  func::FuncOp findSource(PlanOp written, bool hasBulk) {
    for (func::FuncOp function : getFunctions())
      if (!hasBulk || function.getName() == from)
        return succeeded(verifyStraightLine(function)) ? function : nullptr;
    written.emitOpError("has depths for the bulk of a prompt, but the module "
                        "has no function '")
        << from << "' to reduce; expected a plan without first and last tokens";
    return nullptr;
  }

  func::FuncOp copy(func::FuncOp source, StringRef name) {
    OpBuilder builder(&getContext());
    builder.setInsertionPointAfter(source);
    auto result = cast<func::FuncOp>(builder.clone(*source));
    result.setName(name);
    return result;
  }

  /// Does what a plan for all tokens says.
  LogicalResult reduceAll(ArrayRef<func::FuncOp> functions,
                          const DepthPlan &plan) {
    if (!plan.isNeeded())
      return success();
    for (func::FuncOp function : functions) {
      if (failed(verifyStraightLine(function)) ||
          failed(DepthReducer(function, plan).run()))
        return failure();
      eraseUnused(function.front());
    }
    return success();
  }

  LogicalResult addBulk(PlanOp written, const DepthPlan &plan) {
    if (!plan.isNeeded())
      return success();
    func::FuncOp source = findSource(written, /*hasBulk=*/true);
    if (!source)
      return failure();
    func::FuncOp reduced = copy(source, to);
    if (failed(DepthReducer(reduced, plan).run()))
      return failure();
    show(reduced, {});
    return success();
  }

  LogicalResult addFitEntries(PlanOp written, const DepthPlan &plan) {
    bool isOpen = llvm::all_of(plan.layers, [](const DepthChoice &choice) {
      return choice.kind == LayerDepth::Any;
    });
    if (!isOpen || !getOperation().lookupSymbol(kEntryObserve))
      return success();
    func::FuncOp source = findSource(written, plan.hasBulk);
    if (!source)
      return failure();
    func::FuncOp fit = copy(source, kFitEntry),
                 target = copy(source, kTargetEntry);
    DepthReducer asIs(target, plan), asPlanned(fit, plan);
    if (failed(asIs.findTargets()) || failed(asPlanned.run()))
      return failure();
    show(target, asIs.getShown());
    show(fit, asPlanned.getShown());
    return success();
  }
};
} // namespace
