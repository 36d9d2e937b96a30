//===- OutlineKernel.cpp - A group of ops as a function -------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Cuts groups of ops out of a host function. A kernel is a function whose last
// arguments are the destinations of its results. Equal kernels are kept once;
// whatever differs only between layers is passed as an argument, so that the
// number of kernels does not grow with the depth of a model.
//
//===----------------------------------------------------------------------===//

#include "passes/Graph/OutlineKernel.h"
#include "dialect/GistClusterOps.h"
#include "dialect/GistLaunchNames.h"
#include "dialect/GistOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/RegionUtils.h"
#include "passes/Kernel/Unused.h"

#include <map>

using namespace mlir;
using namespace gist;

/// Everything `op` reads from outside of itself, its regions included.
/// The order is that of the operands: it becomes the order of arguments.
static SetVector<Value> getReadValues(Operation *op) {
  SetVector<Value> values(llvm::from_range, op->getOperands());
  getUsedValuesDefinedAbove(op->getRegions(), values);
  return values;
}

/// The tensor.empty that `value` starts from, through fills and insertions;
/// null when there is content to keep.
/// A fill or an insertion is part of the kernel; the memory is the caller's.
static tensor::EmptyOp getEmptyDestination(Value value) {
  for (;;) {
    if (auto fill = value.getDefiningOp<linalg::FillOp>())
      value = fill.getOutputs()[0];
    else if (auto insert = value.getDefiningOp<tensor::InsertSliceOp>())
      value = insert.getDest();
    else
      return value.getDefiningOp<tensor::EmptyOp>();
  }
}

/// `chain`, fills of and insertions into a tensor.empty, on `destination` in
/// its place. The chain is copied: others may start from the same.
static Value startFrom(OpBuilder &builder, Value chain, Value destination) {
  Operation *op = chain.getDefiningOp();
  if (isa<tensor::EmptyOp>(op))
    return destination;
  constexpr unsigned kDestination = 1; // of linalg.fill and tensor.insert_slice
  Value start = startFrom(builder, op->getOperand(kDestination), destination);
  builder.setInsertionPointAfter(op);
  Operation *copy = builder.clone(*op);
  copy->setOperand(kDestination, start);
  return copy->getResult(0);
}

/// The number of the layer that `op` works on, or null. It is passed even where
/// it is a constant, so that layers share the kernel.
static Value getLayer(Operation *op) {
  if (auto update = dyn_cast<ClusterUpdateOp>(op))
    return update.getLayer();
  if (auto attention = dyn_cast<ClusterAttentionOp>(op))
    return attention.getLayer();
  return {};
}

/// The operand that result `number` of `op` updates, or null.
static OpOperand *getDestination(Operation *op, unsigned number) {
  if (auto insert = dyn_cast<tensor::InsertSliceOp>(op))
    return &insert.getDestMutable();
  if (auto style = dyn_cast<DestinationStyleOpInterface>(op))
    return style.getDpsInitOperand(number);
  return nullptr;
}

namespace {
/// Builds one kernel and the operands of its call.
class Outliner {
public:
  explicit Outliner(const KernelGroup &group)
      : tail(group.getTail()), tails(group.getTails()), kind(group.getKind()),
        host(tail), kernel(tail) {
    members.insert(group.ops.begin(), group.ops.end());
  }

  LogicalResult run() {
    // From each op that gives results backwards.
    for (Operation *op : tails) {
      collect(op);
      llvm::append_range(results, op->getResults());
      if (failed(chooseDestinations(op)))
        return failure();
    }
    build();
    return success();
  }

  // What run() makes: the kernel, which is in no module yet, and what its call
  // passes.
  func::FuncOp function;
  SmallVector<Value> inputs, outputs;
  SmallVector<Value> results; ///< in the host function

private:
  /// Gathers the ops of the kernel: those of the group and what is free. The
  /// order follows operands alone and not where ops stand in the host function,
  /// so that equal kernels look equal.
  void collect(Operation *op) {
    if (!visited.insert(op).second)
      return;
    for (Value value : getReadValues(op)) {
      Operation *producer = value.getDefiningOp();
      if (producer && isInside(producer) && value != getLayer(op))
        collect(producer);
    }
    ops.push_back(op);
  }

  bool isInside(Operation *op) const {
    if (members.contains(op))
      return true;
    // A number is the same in every call; an index that is computed is not.
    return getKernelRole(op) == KernelRole::Free ||
           op->hasTrait<OpTrait::ConstantLike>();
  }

  /// Finds or makes the tensors that the results of `tail` go to.
  /// The host function allocates: a kernel must not, and the memory planner can
  /// only place what it sees there.
  LogicalResult chooseDestinations(Operation *tail) {
    ReifiedRankedShapedTypeDims shapes;
    for (OpResult result : tail->getResults()) {
      OpOperand *old = getDestination(tail, result.getResultNumber());
      // A result that updates state goes where the state is.
      if (old && getUpdatedArgument(old->get())) {
        outputs.push_back(old->get());
        continue;
      }
      if (tensor::EmptyOp empty =
              old ? getEmptyDestination(old->get()) : nullptr) {
        // A clone: the memory planner gives each call its own.
        outputs.push_back(host.clone(*empty)->getResult(0));
        continue;
      }
      // The content of a destination is an input like any other.
      auto type = dyn_cast<RankedTensorType>(result.getType());
      if (!type)
        return tail->emitOpError("gives a ")
               << result.getType() << ", which a kernel cannot write to memory";
      if (shapes.empty() && failed(reifyResultShapes(host, tail, shapes)))
        return tail->emitOpError("does not define the sizes of its results");
      outputs.push_back(tensor::EmptyOp::create(
          host, tail->getLoc(), shapes[result.getResultNumber()],
          type.getElementType()));
    }
    return success();
  }

  void build() {
    OpBuilder detached(tail->getContext());
    TypeRange types = ValueRange(results).getTypes();
    function = func::FuncOp::create(tail->getLoc(), "kernel",
                                    detached.getFunctionType({}, types));
    Block *block = function.addEntryBlock();
    // Destinations first into the map, last into the signature.
    // Inputs are found while ops are cloned, so how many there are is not known
    // yet. Destinations wait in a block of their own and are moved behind them.
    Block destinations;
    for (Value output : outputs) {
      Value argument =
          destinations.addArgument(output.getType(), output.getLoc());
      // State is read through the destination too. Mapped here, it does not
      // become an input as well.
      if (getUpdatedArgument(output))
        mapping.map(output, argument);
    }
    kernel.setInsertionPointToEnd(block);
    for (Operation *op : ops)
      clone(op, block);
    SmallVector<Value> returned;
    for (Value result : results)
      returned.push_back(mapping.lookup(result));
    func::ReturnOp::create(kernel, tail->getLoc(), returned);
    setDestinations(destinations.getArguments());
    for (BlockArgument argument : destinations.getArguments())
      argument.replaceAllUsesWith(
          block->addArgument(argument.getType(), argument.getLoc()));

    function.setFunctionType(
        detached.getFunctionType(block->getArgumentTypes(), types));
    markKernel(function, kind, static_cast<int64_t>(results.size()));
  }

  /// Lets the results start from the destinations and not from tensors of
  /// their own.
  /// Ops that this leaves without uses are erased, and with them inputs that
  /// only they read: the call must not pass what the kernel ignores.
  void setDestinations(ArrayRef<BlockArgument> arguments) {
    OpBuilder::InsertionGuard guard(kernel);
    Operation *last = mapping.lookup(tail->getResult(0)).getDefiningOp();
    for (auto [result, argument] : llvm::zip_equal(results, arguments)) {
      auto copy = cast<OpResult>(mapping.lookup(result));
      OpOperand *old = getDestination(copy.getOwner(), copy.getResultNumber());
      if (old && getEmptyDestination(old->get()))
        old->set(startFrom(kernel, old->get(), argument));
    }
    // What started from tensors of its own has been replaced.
    eraseUnused(*last->getBlock());
    // Sizes of what has been replaced.
    Block *block = last->getBlock();
    // Backwards, so that the indices stay valid.
    for (unsigned i = inputs.size(); i-- > 0;)
      if (block->getArgument(i).use_empty()) {
        block->eraseArgument(i);
        inputs.erase(inputs.begin() + i);
      }
  }

  void clone(Operation *op, Block *block) {
    for (Value value : getReadValues(op))
      if (!mapping.contains(value))
        addInput(value, block);
    Operation *copy = kernel.clone(*op, mapping);
    // Reads and writes of the cache name their layer.
    if (auto slice = dyn_cast<OffsetSizeAndStrideOpInterface>(copy))
      if (getUpdatedArgument(isa<tensor::InsertSliceOp>(op)
                                 ? cast<tensor::InsertSliceOp>(op).getDest()
                                 : op->getOperand(0)))
        passLayer(op, copy, block);
  }

  Value addInput(Value value, Block *block) {
    Value argument = block->addArgument(value.getType(), value.getLoc());
    inputs.push_back(value);
    mapping.map(value, argument);
    return argument;
  }

  /// The cache is one tensor for all layers: which part a kernel reads or
  /// writes is an argument, so that layers share the kernel.
  void passLayer(Operation *op, Operation *copy, Block *block) {
    auto slice = cast<OffsetSizeAndStrideOpInterface>(op);
    std::optional<int64_t> layer =
        getConstantIntValue(slice.getMixedOffsets()[0]);
    if (!layer)
      return;
    Value &number = layers[*layer];
    if (!number)
      number = addInput(
          arith::ConstantIndexOp::create(host, op->getLoc(), *layer), block);
    kernel.setInsertionPoint(copy);
    SmallVector<OpFoldResult> offsets =
        cast<OffsetSizeAndStrideOpInterface>(copy).getMixedOffsets();
    offsets[0] = number;
    Operation *moved;
    if (auto insert = dyn_cast<tensor::InsertSliceOp>(copy))
      moved = tensor::InsertSliceOp::create(
          kernel, copy->getLoc(), insert.getSource(), insert.getDest(), offsets,
          insert.getMixedSizes(), insert.getMixedStrides());
    else {
      auto extract = cast<tensor::ExtractSliceOp>(copy);
      moved = tensor::ExtractSliceOp::create(
          kernel, copy->getLoc(), extract.getType(), extract.getSource(),
          offsets, extract.getMixedSizes(), extract.getMixedStrides());
    }
    mapping.map(op->getResult(0), moved->getResult(0));
    copy->erase();
    kernel.setInsertionPointToEnd(block);
  }

  Operation *tail; ///< the last of `tails`
  SmallVector<Operation *> tails;
  KernelKind kind;
  OpBuilder host, kernel;
  SmallPtrSet<Operation *, 8> members, visited;
  SmallVector<Operation *> ops;
  // The argument for each constant layer: a kernel that reads and writes one
  // layer has one number for it.
  std::map<int64_t, Value> layers;
  IRMapping mapping;
};
} // namespace

void gist::markKernel(func::FuncOp function, KernelKind kind, int64_t outputs) {
  function.setPrivate();
  function->setAttr(kKernelAttr, KernelAttr::get(function.getContext(), kind,
                                                 outputs, /*scratch=*/0));
}

/// The first kernel with this text. Locations and names are not compared, so
/// that equal layers share one kernel.
/// useLocalScope keeps aliases of the module out of the text.
func::FuncOp KernelTable::intern(func::FuncOp kernel, StringRef kind) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  // All kernels are called "kernel" up to here, so equal ones print the same.
  kernel->print(stream, OpPrintingFlags().useLocalScope());
  func::FuncOp &known = kernels[text];
  if (known) {
    kernel->erase();
    return known;
  }
  kernel.setName((kind + "_" + Twine(numbers[kind]++)).str());
  symbols.insert(kernel);
  return known = kernel;
}

DispatchOp KernelTable::call(OpBuilder &builder, func::FuncOp kernel,
                             StringRef kind, ValueRange inputs,
                             ValueRange outputs) {
  Location loc = kernel.getLoc();
  kernel = intern(kernel, kind);
  return DispatchOp::create(builder, loc, TypeRange(outputs),
                            FlatSymbolRefAttr::get(kernel.getSymNameAttr()),
                            inputs, outputs);
}

/// Moves the views of what an earlier tail of the group gives, and sizes of
/// them, behind the last tail, where the kernel is called.
/// Ops that compute are not among them: groups were joined only where all of
/// those come after the last tail.
static void moveReaders(const KernelGroup &group) {
  Operation *last = group.getTail();
  SetVector<Operation *> readers;
  SmallVector<Operation *> tails(group.earlierTails);
  // What is in the kernel, and views that only the kernel reads, stays.
  auto isMember = [&](Operation *op) {
    return llvm::is_contained(group.ops, op);
  };
  auto isInside = [&](Operation *op) {
    return isMember(op) ||
           (!op->use_empty() && llvm::all_of(op->getUsers(), isMember));
  };
  while (!tails.empty())
    for (Operation *user : tails.pop_back_val()->getUsers())
      if (user->getBlock() == last->getBlock() && user->isBeforeInBlock(last) &&
          !isInside(user) && readers.insert(user))
        tails.push_back(user);
  SmallVector<Operation *> ordered = readers.takeVector();
  llvm::sort(ordered,
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  for (Operation *op : llvm::reverse(ordered))
    op->moveAfter(last);
}

LogicalResult KernelTable::outline(const KernelGroup &group) {
  moveReaders(group);
  Outliner outliner(group);
  if (failed(outliner.run()))
    return failure();
  SmallVector<Operation *> tails = group.getTails();
  // A product of few rows is cut in another way, so it is another kernel.
  auto entry = group.getTail()->getParentOfType<func::FuncOp>();
  Attribute most = entry->getAttr(kMaxTokensAttr);
  if (most && getKernelKind(outliner.function) == KernelKind::Matmul)
    outliner.function->setAttr(kMaxTokensAttr, most);
  OpBuilder builder(group.getTail());
  DispatchOp dispatch = call(builder, outliner.function, group.getName(),
                             outliner.inputs, outliner.outputs);
  // Only the tails of a group have readers outside of it.
  for (auto [result, made] :
       llvm::zip_equal(outliner.results, dispatch.getResults()))
    result.replaceAllUsesWith(made);
  for (Operation *op : llvm::reverse(group.ops))
    if (llvm::is_contained(tails, op) || op->use_empty())
      op->erase();
  // Views that only the kernel has read stand before its call.
  for (Value made : dispatch.getResults())
    for (Operation *user : llvm::make_early_inc_range(made.getUsers()))
      if (isOpTriviallyDead(user))
        user->erase();
  return success();
}
