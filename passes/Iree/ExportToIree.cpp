//===- ExportToIree.cpp - The pass -gist-export-to-iree -------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Weights become parameters, state becomes mutable globals, calls of kernels
// become dispatches. What is left of functions is tensors and linalg, which
// IREE's compiler takes as it is.
//
//===----------------------------------------------------------------------===//

#include "dialect/GistOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "passes/Iree/Dispatch.h"
#include "passes/Iree/Executable.h"
#include "passes/Iree/Overwritten.h"
#include "passes/Iree/Parameters.h"
#include "passes/Iree/Words.h"
#include "passes/Kernel/KernelKinds.h"
#include "passes/Kernel/Kernels.h"
#include "passes/Passes.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringSet.h"

namespace gist {
#define GEN_PASS_DEF_EXPORTTOIREEPASS
#include "passes/Passes.h.inc"
} // namespace gist

using namespace mlir;
using namespace gist;

/// The function that clears what a session starts without.
static constexpr llvm::StringLiteral kReset = "reset";

/// The argument that `value` is an updated version of, or null.
static BlockArgument getState(Value value) {
  while (!isa<BlockArgument>(value)) {
    Operation *op = value.getDefiningOp();
    if (auto insert = dyn_cast<tensor::InsertSliceOp>(op))
      value = insert.getDest();
    else if (auto style = dyn_cast<DestinationStyleOpInterface>(op))
      value = style.getTiedOpOperand(cast<OpResult>(value))->get();
    else
      return {};
  }
  return cast<BlockArgument>(value);
}

namespace {
/// The globals of a module.
class Globals {
public:
  explicit Globals(ModuleOp module)
      : b(module.getLoc(), OpBuilder::atBlockBegin(module.getBody())) {
    for (Operation &op : *module.getBody())
      if (auto name =
              op.getAttrOfType<StringAttr>(SymbolTable::getSymbolAttrName()))
        taken.insert(name.getValue());
  }

  /// The global with what `op` holds.
  StringRef getWeight(WeightOp op) {
    std::string name = getParameterName(op);
    return get("weight " + name, op.getName(), [&](StringRef symbol) {
      Attribute value =
          iree::attribute(op.getContext(), "stream",
                          "parameter.named<" + iree::quote(kParameterScope) +
                              "::" + iree::quote(name) + ">",
                          op.getType());
      create(symbol, op.getType(), value, /*isMutable=*/false);
    });
  }

  /// The global for the state that functions call `name`.
  ///
  /// IREE gives mutable globals of one size that begin with the same bytes one
  /// memory (docs/upstream/iree-equal-globals.mlir). So all begin with
  /// different numbers, except state that has to be zero, `isCleared`. The
  /// numbers are never read: rows are written first.
  StringRef getState(StringRef name, RankedTensorType type, bool isCleared) {
    std::string key;
    llvm::raw_string_ostream(key) << "state " << name << " " << type;
    return get(key, name, [&](StringRef symbol) {
      Type element = type.getElementType();
      int64_t number = isCleared ? 0
                                 : ++numStates[type.getNumElements() *
                                               element.getIntOrFloatBitWidth()];
      TypedAttr value = isa<FloatType>(element)
                            ? TypedAttr(b.getFloatAttr(element, number))
                            : b.getIntegerAttr(element, number);
      create(symbol, type, DenseElementsAttr::get(type, value),
             /*isMutable=*/true);
    });
  }

private:
  StringRef get(const std::string &key, StringRef wanted,
                function_ref<void(StringRef)> make) {
    auto [found, isNew] = symbolOf.try_emplace(key);
    if (isNew) {
      std::string symbol = wanted.str();
      for (unsigned i = 0; !taken.insert(symbol).second; ++i)
        symbol = wanted.str() + "_" + std::to_string(i);
      found->second = symbol;
      make(symbol);
    }
    return found->second;
  }

  void create(StringRef symbol, Type type, Attribute value, bool isMutable) {
    SmallVector<NamedAttribute> attributes = {
        b.getNamedAttr("sym_name", b.getStringAttr(symbol)),
        b.getNamedAttr("sym_visibility", b.getStringAttr("private")),
        b.getNamedAttr("type", TypeAttr::get(type)),
        b.getNamedAttr("initial_value", value)};
    if (isMutable)
      attributes.push_back(b.getNamedAttr("is_mutable", b.getUnitAttr()));
    iree::create(b, "util.global", {}, {}, attributes);
  }

  ImplicitLocOpBuilder b; ///< globals are in front of everything, in order
  std::map<std::string, std::string> symbolOf;
  std::map<int64_t, int64_t> numStates; ///< of a size in bits
  llvm::StringSet<> taken;
};

/// Rewrites a function that callers know.
class EntryExport {
public:
  EntryExport(func::FuncOp function, Globals &globals, KernelCalls &calls,
              llvm::MapVector<StringRef, RankedTensorType> &cleared)
      : function(function), globals(globals), calls(calls), cleared(cleared) {}

  LogicalResult run() {
    if (failed(verifyStraightLine(function)))
      return failure();
    // In this order: calls read their operands, which may be arguments.
    function.walk([&](WeightOp op) { replaceWeight(op); });
    if (failed(moveState()))
      return failure();
    widenNumbers();
    freeOverwrittenTensors(function);
    for (auto call : llvm::make_early_inc_range(function.getOps<DispatchOp>()))
      if (failed(calls.replace(call)))
        return failure();
    iree::dispatchInOrder(function);
    function.setFunctionType(FunctionType::get(
        function.getContext(), function.front().getArgumentTypes(),
        function.front().getTerminator()->getOperandTypes()));
    function.removeArgAttrsAttr();
    function.removeResAttrsAttr();
    for (NamedAttribute attribute :
         llvm::to_vector(function->getDiscardableAttrs()))
      function->removeDiscardableAttr(attribute.getName());
    return success();
  }

private:
  static NamedAttribute nameGlobal(Builder &b, StringRef symbol) {
    return b.getNamedAttr("global",
                          FlatSymbolRefAttr::get(b.getContext(), symbol));
  }

  void replaceWeight(WeightOp op) {
    ImplicitLocOpBuilder b(op.getLoc(), op);
    Operation *load = iree::create(b, "util.global.load", {}, op.getType(),
                                   nameGlobal(b, globals.getWeight(op)));
    op.replaceAllUsesWith(load->getResult(0));
    op.erase();
  }

  /// The name of the global for an argument that comes back updated.
  FailureOr<StringRef> getStateSymbol(BlockArgument argument) {
    unsigned number = argument.getArgNumber();
    auto type = cast<RankedTensorType>(argument.getType());
    if (!type.hasStaticShape())
      return function.emitOpError("updates argument #")
             << number << " of type " << type
             << "; state needs a size that is known";
    auto given = function.getArgAttrOfType<StringAttr>(number, kNameAttr);
    std::string name =
        given ? given.str() : "argument" + std::to_string(number);
    bool isCleared =
        static_cast<bool>(function.getArgAttr(number, kZeroOnResetAttr));
    StringRef symbol = globals.getState(name, type, isCleared);
    if (isCleared)
      cleared[symbol] = type;
    return symbol;
  }

  /// Loads what comes back updated at the beginning, and stores it at the end.
  LogicalResult moveState() {
    auto end = cast<func::ReturnOp>(function.front().getTerminator());
    SmallVector<std::pair<unsigned, StringRef>> stored; ///< of the results
    auto b = ImplicitLocOpBuilder::atBlockBegin(function.getLoc(),
                                                &function.front());
    llvm::BitVector gone(function.getNumArguments());
    for (OpOperand &result : end->getOpOperands()) {
      BlockArgument argument = getState(result.get());
      if (!argument || !isa<RankedTensorType>(argument.getType()))
        continue;
      FailureOr<StringRef> symbol = getStateSymbol(argument);
      if (failed(symbol))
        return failure();
      stored.emplace_back(result.getOperandNumber(), *symbol);
      gone.set(argument.getArgNumber());
      Operation *load =
          iree::create(b, "util.global.load", {}, argument.getType(),
                       nameGlobal(b, *symbol));
      argument.replaceAllUsesWith(load->getResult(0));
    }
    b.setInsertionPoint(end);
    llvm::BitVector isState(end.getNumOperands());
    for (auto [number, symbol] : stored) {
      iree::create(b, "util.global.store", end.getOperand(number), {},
                   nameGlobal(b, symbol));
      isState.set(number);
    }
    end->eraseOperands(isState);
    function.front().eraseArguments(gone);
    return success();
  }

  /// Callers have numbers of 64 bits, not indices.
  void widenNumbers() {
    auto b = ImplicitLocOpBuilder::atBlockBegin(function.getLoc(),
                                                &function.front());
    for (BlockArgument argument : function.front().getArguments()) {
      if (!argument.getType().isIndex())
        continue;
      argument.setType(b.getI64Type());
      auto cast = arith::IndexCastOp::create(b, b.getIndexType(), argument);
      argument.replaceAllUsesExcept(cast, cast);
    }
  }

  func::FuncOp function;
  Globals &globals;
  KernelCalls &calls;
  llvm::MapVector<StringRef, RankedTensorType> &cleared;
};

struct ExportToIreePass final
    : gist::impl::ExportToIreePassBase<ExportToIreePass> {
  using Base::Base;

  void runOnOperation() override {
    if (failed(iree::verifyOpsAllowed(getOperation())) || failed(run()))
      signalPassFailure();
  }

  LogicalResult run() {
    ModuleOp module = getOperation();
    Globals globals(module);
    KernelCalls calls(module, object);
    llvm::MapVector<StringRef, RankedTensorType> cleared;
    for (auto function : llvm::to_vector(module.getOps<func::FuncOp>())) {
      if (isKernel(function) || function.isExternal())
        continue;
      if (failed(EntryExport(function, globals, calls, cleared).run()))
        return failure();
    }
    if (!cleared.empty())
      addReset(cleared);
    removeOurs();
    return success();
  }

  void addReset(const llvm::MapVector<StringRef, RankedTensorType> &cleared) {
    auto b = ImplicitLocOpBuilder::atBlockEnd(getOperation().getLoc(),
                                              getOperation().getBody());
    auto function = func::FuncOp::create(b, kReset, b.getFunctionType({}, {}));
    b.setInsertionPointToStart(function.addEntryBlock());
    for (auto [symbol, type] : cleared) {
      Value zeros = arith::ConstantOp::create(
          b,
          DenseElementsAttr::get(type, b.getZeroAttr(type.getElementType())));
      iree::create(b, "util.global.store", zeros, {},
                   b.getNamedAttr("global", FlatSymbolRefAttr::get(
                                                b.getContext(), symbol)));
    }
    func::ReturnOp::create(b);
  }

  /// Kernels, definitions of weights and the target are not for IREE.
  void removeOurs() {
    for (Operation &op : llvm::make_early_inc_range(*getOperation().getBody()))
      if (isKernel(&op) || isa_and_nonnull<GistDialect>(op.getDialect()))
        op.erase();
    getOperation()->removeAttr(kTargetAttr);
  }
};
} // namespace
