//===- EmitModule.cpp - From a planned program to a module file -----------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Turns host functions, which are straight lines of gist.dispatch, into entries
// of a module: buffers for their tensors, commands for their calls, and for
// each command the earlier ones it must wait for.
//
//===----------------------------------------------------------------------===//

#include "passes/Emit/EmitModule.h"
#include "dialect/GistLaunchNames.h"
#include "dialect/GistRankOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/Emit/CacheLayers.h"
#include "passes/Emit/SpecBuilder.h"
#include "passes/Kernel/ColumnHalves.h"
#include "passes/Kernel/KernelKinds.h"
#include "passes/Kernel/RowByRow.h"
#include "passes/Kernel/Sizes.h"
#include "llvm/ADT/BitVector.h"

#include <set>

using namespace mlir;
using namespace gist;

/// Terms in the sums of the product that `kernel` computes that each number of
/// its result is made of; 0 when it computes none, or one of unknown length.
/// For statistics: gist-run shows operations and bytes of products.
static int64_t getProductDepth(func::FuncOp kernel) {
  switch (getKernelKind(kernel)) {
  case KernelKind::QuantizedMatmul:
    if (auto product = findRoot<QuantizedMatmulOp>(kernel))
      return product.getValues().getType().getDimSize(1);
    return 0;
  case KernelKind::GuardedMatmul:
    if (auto product = findRoot<GuardedMatmulOp>(kernel))
      return product.getInput().getType().getDimSize(1);
    return 0;
  case KernelKind::Matmul:
  case KernelKind::GatedProducts:
    break;
  default:
    return 0;
  }
  // The last of several products counts: it has the weight itself.
  int64_t depth = 0;
  kernel.walk([&](linalg::LinalgOp op) {
    if (!linalg::isaContractionOpInterface(op))
      return;
    SmallVector<unsigned> sums;
    op.getReductionDims(sums);
    SmallVector<int64_t> ranges = op.getStaticLoopRanges();
    // A gate halves the result: each number of it is made of two products.
    depth = getColumnHalves(op->getResult(0)) ? 2 : 1;
    for (unsigned loop : sums)
      depth *= ShapedType::isDynamic(ranges[loop]) ? 0 : ranges[loop];
  });
  return depth;
}

/// True for ops that give the same bytes another shape.
static bool isReshape(Operation *op) {
  return isa_and_nonnull<tensor::CastOp, tensor::ExpandShapeOp,
                         tensor::CollapseShapeOp>(op);
}

namespace {
/// Finds out which earlier commands a command has to wait for: those that wrote
/// what it reads, and those that used what it overwrites.
class Dependencies {
public:
  /// Where tensors lie: a buffer, a layer's part of one, or an offset in the
  /// arena, whose slots are either the same or apart.
  using Place = std::pair<uint32_t, AffineExpr>;

  /// Returns only those that others do not imply. Fewer edges make smaller
  /// graphs on GPUs.
  std::vector<uint32_t> add(ArrayRef<Place> reads, ArrayRef<Place> writes) {
    auto number = static_cast<uint32_t>(before.size());
    std::set<uint32_t> direct;
    for (const Place &place : reads)
      // Reading waits for the last writer; writing also for all readers since.
      if (auto found = uses.find(place); found != uses.end())
        direct.insert(found->second.writer.begin(), found->second.writer.end());
    for (const Place &place : writes) {
      Uses &all = uses[place];
      direct.insert(all.writer.begin(), all.writer.end());
      direct.insert(all.readers.begin(), all.readers.end());
    }
    for (const Place &place : reads)
      uses[place].readers.push_back(number);
    for (const Place &place : writes)
      // Later commands wait for this one and, through it, for the readers
      // before.
      uses[place] = {{number}, {}};

    // Waiting for a command includes waiting for all that it waits for. Earlier
    // numbers are smaller, so sets of different sizes can be joined.
    llvm::BitVector all(number);
    for (uint32_t earlier : direct)
      all |= before[earlier];
    std::vector<uint32_t> result;
    for (uint32_t earlier : direct)
      if (!all.test(earlier))
        result.push_back(earlier);
    for (uint32_t earlier : direct)
      all.set(earlier);
    before.push_back(std::move(all));
    return result;
  }

private:
  struct Uses {
    SmallVector<uint32_t, 1> writer, readers; ///< since the last writer
  };
  DenseMap<Place, Uses> uses;
  std::vector<llvm::BitVector> before; ///< per command, all it waits for
};

/// Writes one host function as an entry for one target.
class EntryEmitter {
public:
  EntryEmitter(func::FuncOp function, Operation *kernels, uint32_t target,
               SpecBuilder &builder)
      : function(function), kernels(kernels), builder(builder),
        scope(builder.getScoped(function.getName())) {
    entry.name = function.getName().str();
    entry.target = target;
    if (auto most = function->getAttrOfType<IntegerAttr>(kMaxTokensAttr))
      entry.maxTokens = most.getInt();
  }

  LogicalResult run() {
    // PlanMemory has left the size on the function.
    if (auto size = function->getAttrOfType<AffineMapAttr>(kArenaSizeAttr))
      entry.arenaSize = builder.addExpr(size.getValue().getResult(0));
    layered = findLayeredCaches(function);
    if (failed(verifyStraightLine(function)) || failed(checkArguments()))
      return failure();
    addEndpoints();
    if (failed(addResults()))
      return failure();
    for (DispatchOp call : function.getOps<DispatchOp>())
      if (failed(addCall(call)))
        return failure();
    keepRowsApart();
    builder.writer.spec.entries.push_back(std::move(entry));
    return success();
  }

private:
  func::ReturnOp getReturn() {
    return cast<func::ReturnOp>(function.front().getTerminator());
  }

  /// Graphs written by hand may have arguments that a module cannot hold.
  LogicalResult checkArguments() {
    int64_t numbers =
        llvm::count_if(function.getArgumentTypes(), llvm::IsaPred<IndexType>);
    if (numbers > 1)
      return function.emitError("takes ")
             << numbers
             << " numbers of type index; a module passes one, the tokens "
                "before the call";
    for (BlockArgument argument : function.getArguments())
      if (isa<RankedTensorType>(argument.getType()) && !getByteSize(argument))
        return function.emitError("takes a tensor of type ")
               << argument.getType()
               << "; a module holds elements of whole bytes, of sizes that "
                  "the tokens give";
    return success();
  }

  /// Arguments that come back updated are state, the others inputs.
  /// Passes return state that they update; nothing else says which it is.
  void addEndpoints() {
    SmallPtrSet<Value, 4> updated;
    for (Value result : getReturn().getOperands())
      if (BlockArgument argument = getUpdatedArgument(result))
        updated.insert(argument);
    for (BlockArgument argument : function.getArguments()) {
      // Numbers are symbols of the module, not buffers.
      if (isa<IndexType>(argument.getType()))
        continue;
      std::string name = "argument" + std::to_string(argument.getArgNumber());
      if (auto given = function.getArgAttrOfType<StringAttr>(
              argument.getArgNumber(), kNameAttr))
        name = given.str();
      bool isState = updated.contains(argument);
      // Entries of a rank share their state; ranks do not.
      if (isState)
        name = builder.getRankName(name);
      uint32_t buffer = builder.addBuffer(
          name, scope, isState ? BufferKind::State : BufferKind::Input,
          argument);
      bufferOf[argument] = buffer;
      if (!isState) {
        entry.inputs.push_back(buffer);
        continue;
      }
      unsigned number = argument.getArgNumber();
      // State that must be zero when a session begins.
      if (function.getArgAttr(number, kZeroOnResetAttr))
        builder.writer.spec.buffers[buffer].zeroOnReset = true;
      if (function.getArgAttr(number, kStatisticAttr))
        entry.statistics.push_back({.name = name, .buffer = buffer});
    }
  }

  LogicalResult addResults() {
    for (auto [number, result] : llvm::enumerate(getReturn().getOperands())) {
      if (getUpdatedArgument(result))
        continue;
      // A kernel writes its own shape; the caller sees another one of the same
      // bytes.
      Value made = result;
      while (isReshape(made.getDefiningOp()))
        made = made.getDefiningOp()->getOperand(0);
      auto call = made.getDefiningOp<DispatchOp>();
      if (!call)
        return getReturn().emitOpError(
            "returns something that no kernel computes");
      auto name = function.getResultAttrOfType<StringAttr>(number, kNameAttr);
      std::string text = name ? name.str() : "result" + std::to_string(number);
      uint32_t buffer = builder.addBuffer(entry.name + "." + text, scope,
                                          BufferKind::Output, result);
      // The kernel's destination is the output's buffer: nothing is copied, and
      // so a value has one output.
      Value destination = call.getTiedOpOperand(cast<OpResult>(made))->get();
      if (!bufferOf.try_emplace(destination, buffer).second)
        return getReturn().emitOpError("returns one value twice, as result ")
               << number << " again; a module writes each value once";
      if (auto what =
              function.getResultAttrOfType<ObservedAttr>(number, kObservedAttr))
        addObservation(what);
      entry.outputs.push_back(buffer);
    }
    return success();
  }

  /// The output that comes next shows `what`.
  void addObservation(ObservedAttr what) {
    ObservationSpec shown;
    shown.kind = static_cast<ObservationKind>(what.getKind());
    shown.layer = static_cast<int32_t>(what.getLayer());
    shown.group = what.getGroup().str();
    for (StringAttr weight : what.getWeights())
      shown.weights.push_back(weight.str());
    shown.output = static_cast<uint32_t>(entry.outputs.size());
    entry.observations.push_back(std::move(shown));
  }

  FailureOr<uint32_t> getBuffer(Value tensor) {
    if (auto known = bufferOf.find(tensor); known != bufferOf.end())
      return known->second;
    Operation *op = tensor.getDefiningOp();
    // In this order: known, a weight, a view of something, planned memory.
    if (auto weight = dyn_cast<WeightOp>(op))
      return builder.addWeight(weight);
    if (isReshape(op))
      return getBuffer(op->getOperand(0));
    if (auto arena = dyn_cast<ArenaOp>(op)) {
      std::string name = scope + ".arena" + std::to_string(numArenaBuffers++);
      AffineExpr offset = arena.getOffset().getResult(0);
      uint32_t buffer =
          builder.addBuffer(name, scope, BufferKind::Arena, arena, offset);
      arenaOffset[buffer] = offset;
      return buffer;
    }
    return op->emitOpError("is left in the host function; kernels compute "
                           "everything on tensors");
  }

  /// Slots of a call: operands in order, then the dynamic sizes of tensors.
  /// `numbers` receives the slots that hold a number instead of an address.
  LogicalResult addArguments(DispatchOp call, CommandSpec &command,
                             SmallVectorImpl<AffineExpr> &numbers) {
    // The lowerings of passes/Target read the slots in the same order.
    SmallVector<AffineExpr> sizes;
    for (Value operand : call->getOperands()) {
      if (isa<IndexType>(operand.getType())) {
        numbers.push_back(getSymbolicValue(operand));
        if (!numbers.back())
          return call.emitOpError(
              "has a number that depends on more than the tokens in the call, "
              "the tokens before it and the capacity");
        command.args.push_back(
            ArgSpec::scalar(builder.addExpr(numbers.back())));
        continue;
      }
      FailureOr<uint32_t> buffer = getBuffer(operand);
      if (failed(buffer))
        return failure();
      bufferOf[operand] = *buffer;
      command.args.push_back(ArgSpec::of(*buffer));
      if (hasRows(operand))
        rowBuffers.insert(*buffer);
      auto type = cast<RankedTensorType>(operand.getType());
      if (type.hasStaticShape())
        continue;
      SmallVector<AffineExpr> shape = getSymbolicShape(operand);
      if (shape.empty())
        return call.emitOpError("has a tensor whose size is not known");
      for (auto [dim, size] : llvm::enumerate(shape))
        if (type.isDynamicDim(dim))
          sizes.push_back(size);
    }
    for (AffineExpr size : sizes)
      command.args.push_back(ArgSpec::scalar(builder.addExpr(size)));
    numbers.append(sizes);
    return success();
  }

  /// Commands by rows share only buffers of rows with commands of one sequence:
  /// a buffer without rows has one content per sequence as soon as one of the
  /// latter uses it.
  void keepRowsApart() {
    const std::vector<BufferSpec> &buffers = builder.writer.spec.buffers;
    std::set<uint32_t> ofOne;
    // Each round takes commands away, so it ends.
    for (bool isDone = false; !isDone;) {
      isDone = true;
      for (CommandSpec &command : entry.commands) {
        auto isShared = [&](const ArgSpec &arg) {
          if (arg.buffer == kNone || rowBuffers.contains(arg.buffer))
            return true;
          switch (buffers[arg.buffer].kind) {
          case BufferKind::Weight:
            return true;
          case BufferKind::Arena:
            return !ofOne.contains(arg.buffer);
          default:
            return false;
          }
        };
        if (command.byRows && llvm::all_of(command.args, isShared))
          continue;
        command.byRows = false;
        for (const ArgSpec &arg : command.args)
          if (arg.buffer != kNone && !rowBuffers.contains(arg.buffer) &&
              ofOne.insert(arg.buffer).second)
            isDone = false;
      }
    }
  }

  /// The places of `tensors` of a call. Weights and other tensors that no
  /// command writes have no place, because nothing has to wait for them.
  SmallVector<Dependencies::Place> getPlaces(DispatchOp call,
                                             ValueRange tensors) {
    SmallVector<Dependencies::Place> places;
    std::optional<CacheLayers> layers = getCacheLayers(call);
    for (Value tensor : tensors) {
      if (!isa<TensorType>(tensor.getType()))
        continue;
      uint32_t buffer = bufferOf.lookup(tensor);
      switch (builder.writer.spec.buffers[buffer].kind) {
      case BufferKind::Weight:
      case BufferKind::Input:
        break;
      case BufferKind::Arena:
        // Slots of the arena are the same or apart, so the offset tells them.
        places.emplace_back(kNone, arenaOffset.lookup(buffer));
        break;
      default:
        if (!layers || !layered.contains(getUpdatedArgument(tensor))) {
          places.emplace_back(buffer, AffineExpr());
          break;
        }
        for (int64_t layer = layers->begin; layer < layers->end; ++layer)
          places.emplace_back(buffer,
                              getAffineConstantExpr(layer, call.getContext()));
      }
    }
    return places;
  }

  LogicalResult addCall(DispatchOp call) {
    CommandSpec command;
    command.kernel = builder.getKernel(call.getKernel());
    command.label = call.getKernel().str();
    SmallVector<AffineExpr> numbers;
    if (failed(addArguments(call, command, numbers)))
      return failure();
    for (auto [result, output] :
         llvm::zip_equal(call.getResults(), call.getOutputs()))
      // A call writes in place: its result is the buffer of its destination.
      bufferOf[result] = bufferOf.lookup(output);
    // The layer of a command is that of the first weight that has one.
    for (Value input : call.getInputs())
      if (auto weight = input.getDefiningOp<WeightOp>();
          weight && command.layer < 0)
        command.layer = static_cast<int32_t>(weight.getLayer().value_or(-1));

    // The grid was found while the kernel was lowered. It depends on the
    // numbers that this call passes.
    // The symbol survives lowering, also inside of a GPU's module.
    if (isCollective(call)) {
      addDependencies(call, command);
      return success();
    }
    Operation *lowered = SymbolTable::lookupSymbolIn(kernels, call.getKernel());
    auto grid =
        lowered ? lowered->getAttrOfType<ArrayAttr>(kGridAttr) : ArrayAttr();
    if (!grid || grid.size() > command.grid.size())
      return call.emitOpError("calls a kernel without a grid");
    for (auto [number, size] :
         llvm::enumerate(grid.getAsRange<AffineMapAttr>()))
      command.grid[number] =
          builder.addExpr(size.getValue().getResult(0).replaceSymbols(numbers));
    addCost(call, command);
    command.byRows = isRowByRow(call);
    addDependencies(call, command);
    return success();
  }

  /// Called last for a command.
  void addDependencies(DispatchOp call, CommandSpec &command) {
    // An empty list then means "without waiting", and not "after everything
    // before".
    command.hasAfter = true;
    command.after = dependencies.add(getPlaces(call, call.getInputs()),
                                     getPlaces(call, call.getOutputs()));
    entry.commands.push_back(std::move(command));
  }

  /// Whether the runtime does it, together with the other ranks. Sums and
  /// gathers of rows treat all rows alike.
  static bool isCollective(DispatchOp call) {
    auto function = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
        call, call.getKernelAttr());
    return function && function->hasAttr(kCollectiveAttr);
  }

  /// What a product does and moves at least, for statistics: two operations per
  /// term, every operand once.
  void addCost(DispatchOp call, CommandSpec &command) {
    auto kernel = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
        call, call.getKernelAttr());
    int64_t depth = getProductDepth(kernel);
    // A kernel with several results does more than one product.
    if (depth == 0 || call.getOutputs().size() != 1)
      return;
    AffineExpr flops = getAffineConstantExpr(2 * depth, call.getContext());
    for (AffineExpr size : getSymbolicShape(call.getOutputs()[0]))
      flops = flops * size;
    command.flops = builder.addExpr(flops);
    SizePolynomial bytes;
    for (Value operand : call->getOperands())
      if (isa<TensorType>(operand.getType()))
        if (std::optional<SizePolynomial> size = getByteSize(operand))
          bytes = bytes + *size;
    command.bytes =
        builder.addExpr(bytes.toMap(call.getContext()).getResult(0));
  }

  func::FuncOp function;
  Operation *kernels;
  SpecBuilder &builder;
  std::string scope; ///< starts the names of what only this entry has
  EntrySpec entry;
  // Destinations, operands and results that have been given a buffer. Numbers
  // are positions in the module's table.
  DenseMap<Value, uint32_t> bufferOf;
  DenseMap<uint32_t, AffineExpr> arenaOffset;
  llvm::SmallPtrSet<Value, 8> layered; ///< arguments that calls use by layers
  std::set<uint32_t> rowBuffers;       ///< with a row for every token
  Dependencies dependencies;
  unsigned numArenaBuffers = 0;
};
} // namespace

LogicalResult gist::emitModule(ArrayRef<TargetProgram> programs,
                               WeightMaker &weights, const EmitOptions &options,
                               ModuleWriter &writer) {
  // The order is that of Sizes.cpp. T is at least one.
  // Name, smallest and largest value, and the default.
  writer.spec.symbols = {
      {kSymbolTokens, 1, options.capacity, 1},
      {kSymbolPast, 0, options.capacity, 0},
      {kSymbolCapacity, 1, options.capacity, options.capacity}};
  SpecBuilder builder(weights, options, writer);
  // With one target, names and entries stay plain; with several each target has
  // its own.
  bool isOnly = programs.size() == 1;
  writer.ranks.count = options.ranks;
  if (options.ranks > 1)
    writer.spec.requirements.emplace_back(kRanksRequirement);
  for (const TargetProgram &program : programs) {
    ModuleOp calls = program.calls;
    uint32_t target = writer.addTarget(program.target, program.code);
    builder.setRank(program.rank);
    if (options.ranks > 1)
      writer.ranks.targets.push_back(program.rank);
    builder.beginTarget(target, isOnly ? "" : program.target.name);
    builder.addKernels(calls, program.kernels);
    for (auto function : calls.getOps<func::FuncOp>())
      if (!isKernel(function) && !function.isExternal() &&
          failed(EntryEmitter(function, program.kernels,
                              isOnly ? kNone : target, builder)
                     .run()))
        return failure();
  }
  return success();
}
