//===- AddScratch.cpp - The pass -gist-add-scratch ------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Once the target is known, the entry of a kernel says which scratch memory it
// needs besides the operands and results of its ops. They get it as their last
// destinations: tensors of undefined content, then words of control, which are
// zero when a kernel starts.
//
// Control is a destination because kernels write it. The calls of a kind share
// one tensor of control in a host function: a kernel clears it before the first
// of them, and each call takes it from the call before. Kernels that leave
// their words zero all use the same words; the others have words of their own,
// and a number says which.
//
// A module file for several targets has calls, kernels and a memory plan for
// each of them (passes/Driver/Program.h). So every buffer is what its own
// target needs, and not the largest.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/Passes.h"
#include "passes/Target/Info/ModuleTarget.h"
#include "passes/Tile/Cpu/CpuKernel.h"
#include "passes/Tile/Gpu/GpuKernels.h"
#include "llvm/ADT/MapVector.h"

namespace gist {
#define GEN_PASS_DEF_ADDSCRATCHPASS
#include "passes/Passes.h.inc"
} // namespace gist

using namespace mlir;
using namespace gist;

namespace {
/// A kernel that works in memory of its own, and the types of that memory.
struct ScratchKernel {
  func::FuncOp kernel;
  KernelScratch needs;
  SmallVector<RankedTensorType> types; ///< of the tensors
  RankedTensorType control;            ///< null where there is none

  bool hasNumber() const { return control && !needs.leavesZero; }
  KernelKind getKind() { return getKernelKind(kernel); }
};

/// Calls of one kind that share a tensor of control.
using ControlKey = std::pair<KernelKind, Type>;

class ScratchAdder {
public:
  explicit ScratchAdder(ModuleOp module)
      : module(module), symbols(module), context(module.getContext()) {}

  void add(func::FuncOp kernel, KernelScratch needs) {
    ScratchKernel &entry = kernels[kernel];
    entry = {kernel, std::move(needs), {}, {}};
    for (const ScratchTensor &tensor : entry.needs.tensors) {
      SmallVector<int64_t> shape;
      for (AffineExpr size : tensor.sizes) {
        auto constant = dyn_cast<AffineConstantExpr>(size);
        shape.push_back(constant ? constant.getValue() : ShapedType::kDynamic);
      }
      entry.types.push_back(RankedTensorType::get(shape, tensor.element));
    }
  }

  void run() {
    setControlTypes();
    SmallVector<func::FuncOp> hosts;
    for (auto function : module.getOps<func::FuncOp>())
      if (!isKernel(function) && !function.isExternal())
        hosts.push_back(function);
    // Sizes are functions of the operands that calls have before.
    for (func::FuncOp host : hosts)
      extendCalls(host);
    for (auto &[function, entry] : kernels)
      extendKernel(entry);
  }

private:
  ScratchKernel *find(DispatchOp call) {
    auto kernel = symbols.lookup<func::FuncOp>(call.getKernel());
    auto found = kernels.find(kernel);
    return found == kernels.end() ? nullptr : &found->second;
  }

  /// Words of control for the function that has most calls of a kind: kernels
  /// are shared by functions, so their types are too.
  void setControlTypes() {
    DenseMap<KernelKind, int64_t> most;
    for (auto function : module.getOps<func::FuncOp>()) {
      DenseMap<KernelKind, int64_t> calls;
      for (auto call : function.getOps<DispatchOp>())
        if (ScratchKernel *entry = find(call))
          // Every call of a function has words of its own, by its number.
          most[entry->getKind()] =
              std::max(most[entry->getKind()], ++calls[entry->getKind()]);
    }
    for (auto &[function, entry] : kernels) {
      int64_t words = entry.needs.controlWords;
      if (words == 0)
        continue;
      if (!entry.needs.leavesZero)
        words *= std::max<int64_t>(most.lookup(entry.getKind()), 1);
      entry.control =
          RankedTensorType::get(words, IntegerType::get(context, 32));
    }
  }

  void extendKernel(ScratchKernel &entry) {
    func::FuncOp kernel = entry.kernel;
    Location loc = kernel.getLoc();
    KernelAttr old = getKernelAttr(kernel);
    unsigned inputs = kernel.getNumArguments() - old.getOutputs();
    if (entry.hasNumber())
      (void)kernel.insertArgument(inputs, IndexType::get(context), {}, loc);
    SmallVector<Type> types(entry.types.begin(), entry.types.end());
    if (entry.control)
      types.push_back(entry.control);
    Operation *end = kernel.getBody().front().getTerminator();
    for (Type type : types) {
      unsigned number = kernel.getNumArguments();
      (void)kernel.insertArgument(number, type, {}, loc);
      (void)kernel.insertResult(kernel.getNumResults(), type, {});
      // The body gives the destination back as it is: kernels write into it
      // when they are lowered to buffers.
      end->insertOperands(end->getNumOperands(), kernel.getArgument(number));
    }
    if (entry.control)
      kernel.setArgAttr(kernel.getNumArguments() - 1, kControlArgAttr,
                        UnitAttr::get(context));
    auto added = static_cast<int64_t>(types.size());
    kernel->setAttr(kKernelAttr,
                    KernelAttr::get(context, old.getKind(),
                                    old.getOutputs() + added, added));
  }

  void extendCalls(func::FuncOp host) {
    DenseMap<ControlKey, Value> controls;
    DenseMap<ControlKey, int64_t> numbers;
    for (auto call : llvm::make_early_inc_range(host.getOps<DispatchOp>())) {
      ScratchKernel *entry = find(call);
      if (!entry)
        continue;
      OpBuilder builder(call);
      Location loc = call.getLoc();
      SmallVector<OpFoldResult> operands =
          getNumbers(builder, call, entry->needs);
      SmallVector<Value> inputs(call.getInputs()), outputs(call.getOutputs());
      for (const ScratchTensor &tensor : entry->needs.tensors) {
        SmallVector<OpFoldResult> sizes;
        for (AffineExpr size : tensor.sizes)
          sizes.push_back(affine::makeComposedFoldedAffineApply(
              builder, loc, AffineMap::get(0, operands.size(), size, context),
              operands));
        outputs.push_back(
            tensor::EmptyOp::create(builder, loc, sizes, tensor.element));
      }
      // Kernels of one kind may differ in their words; each type has a tensor.
      ControlKey key(entry->getKind(), entry->control);
      if (entry->hasNumber())
        inputs.push_back(
            arith::ConstantIndexOp::create(builder, loc, numbers[key]++));
      if (entry->control) {
        Value &control = controls[key];
        if (!control)
          control = makeZeros(*entry, call);
        outputs.push_back(control);
      }
      auto extended =
          DispatchOp::create(builder, loc, TypeRange(ValueRange(outputs)),
                             call.getKernelAttr(), inputs, outputs);
      extended->setDiscardableAttrs(call->getDiscardableAttrDictionary());
      if (entry->control)
        controls[key] = extended.getResults().back();
      // What was added comes last, so the first results are the old ones.
      call.replaceAllUsesWith(
          extended.getResults().take_front(call.getNumResults()));
      call.erase();
    }
  }

  /// The numbers of a call in the order of their slots, 0 for those that no
  /// size depends on.
  static SmallVector<OpFoldResult>
  getNumbers(OpBuilder &builder, DispatchOp call, const KernelScratch &needs) {
    SmallVector<OpFoldResult> numbers;
    for (Value operand : call->getOperands())
      if (operand.getType().isIndex())
        numbers.push_back(operand);
    auto isUsed = [&](unsigned number) {
      return llvm::any_of(needs.tensors, [&](const ScratchTensor &tensor) {
        return llvm::any_of(tensor.sizes, [&](AffineExpr size) {
          return size.isFunctionOfSymbol(number);
        });
      });
    };
    for (Value operand : call->getOperands()) {
      auto type = dyn_cast<RankedTensorType>(operand.getType());
      for (int64_t dim = 0; type && dim < type.getRank(); ++dim)
        if (type.isDynamicDim(dim))
          numbers.push_back(
              isUsed(numbers.size())
                  ? tensor::getMixedSize(builder, call.getLoc(), operand, dim)
                  : builder.getIndexAttr(0));
    }
    return numbers;
  }

  /// Words that calls have to themselves are cleared before anything else,
  /// those that are left zero before their first call.
  Value makeZeros(const ScratchKernel &entry, DispatchOp call) {
    OpBuilder builder(call);
    if (!entry.needs.leavesZero)
      builder.setInsertionPointToStart(call->getBlock());
    Value memory = tensor::EmptyOp::create(builder, call.getLoc(),
                                           entry.control, ValueRange());
    func::FuncOp kernel = getClearKernel(entry.control, call.getLoc());
    return DispatchOp::create(builder, call.getLoc(), TypeRange(memory),
                              FlatSymbolRefAttr::get(kernel.getSymNameAttr()),
                              ValueRange(), memory)
        .getResult(0);
  }

  func::FuncOp getClearKernel(RankedTensorType type, Location loc) {
    func::FuncOp &kernel = clears[type];
    if (kernel)
      return kernel;
    OpBuilder builder(context);
    std::string name = "clear_" + std::to_string(clears.size() - 1);
    kernel =
        func::FuncOp::create(loc, name, builder.getFunctionType(type, type));
    kernel.setPrivate();
    kernel->setAttr(kKernelAttr,
                    KernelAttr::get(context, KernelKind::Rows, 1, 0));
    builder.setInsertionPointToEnd(kernel.addEntryBlock());
    Value zero = arith::ConstantOp::create(
        builder, loc, builder.getZeroAttr(type.getElementType()));
    Value zeros =
        linalg::FillOp::create(builder, loc, zero, kernel.getArgument(0))
            .getResult(0);
    func::ReturnOp::create(builder, loc, zeros);
    symbols.insert(kernel); // Which may change the name.
    return kernel;
  }

  ModuleOp module;
  SymbolTable symbols;
  MLIRContext *context;
  llvm::MapVector<Operation *, ScratchKernel> kernels;
  DenseMap<Type, func::FuncOp> clears;
};

} // namespace

using GetScratch = FailureOr<KernelScratch> (*)(func::FuncOp);

/// What the target knows of the memory of kernels of `kind`; null if they need
/// none.
static GetScratch findScratch(KernelKind kind, bool isGpu) {
  if (isGpu) {
    const GpuKernelEntry *entry = findGpuKernelEntry(kind);
    return entry ? entry->scratch : nullptr;
  }
  const CpuKernelEntry *entry = findCpuKernelEntry(kind);
  return entry ? entry->scratch : nullptr;
}

namespace {
struct AddScratchPass final : gist::impl::AddScratchPassBase<AddScratchPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    bool isGpu = isa_and_nonnull<GpuTargetAttr>(module->getAttr(kTargetAttr));
    if (!isGpu && failed(getCpuTarget(module)))
      return signalPassFailure();
    ScratchAdder adder(module);
    for (auto kernel : module.getOps<func::FuncOp>()) {
      // Memory is added once.
      if (!isKernel(kernel) || getKernelAttr(kernel).getScratch() > 0)
        continue;
      GetScratch getScratch = findScratch(getKernelKind(kernel), isGpu);
      if (!getScratch)
        continue;
      // Entries look for their ops in the body and expect to find them.
      if (failed(verifyKernelBody(kernel)))
        return signalPassFailure();
      FailureOr<KernelScratch> needs = getScratch(kernel);
      if (failed(needs))
        return signalPassFailure();
      if (!needs->tensors.empty() || needs->controlWords > 0)
        adder.add(kernel, std::move(*needs));
    }
    adder.run();
  }
};
} // namespace
