//===- PlanMemory.cpp - The pass -gist-plan-memory ------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Destinations are given slots in the order of the calls. A call may take a
// slot if the tensors that it reads make it wait for all users of what the slot
// held: reuse adds no dependencies, so calls that could run in parallel still
// can. A slot grows to the largest it has to hold. Offsets are sums of the
// sizes of the slots before.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/Kernel/Kernels.h"
#include "passes/Kernel/Sizes.h"
#include "passes/Passes.h"

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/SmallPtrSet.h"

namespace gist {
#define GEN_PASS_DEF_PLANMEMORYPASS
#include "passes/Passes.h.inc"
} // namespace gist

using namespace mlir;
using namespace gist;

/// Every slot starts at a multiple of this, so that vector loads are aligned.
static constexpr int64_t kAlignment = 64;
/// Sizes are compared at a call of this many tokens, none before it.
/// Any plan is right. The numbers only decide which of two polynomials counts
/// as the larger one.
static constexpr std::array<int64_t, kNumSizeSymbols> kTypical = {256, 0, 4096};

namespace {
/// Memory that one destination after another uses.
struct Slot {
  SizePolynomial size;
  llvm::BitVector users; ///< calls that write or read what it holds
};

/// A destination and the calls to which its content matters.
/// What another call updates in place is one lifetime with it.
struct Lifetime {
  OpOperand *destination;
  SizePolynomial size;
  unsigned writer;
  llvm::BitVector users; ///< the writer too
  bool isReturned = false;
};

class Planner {
public:
  explicit Planner(func::FuncOp function) : function(function) {}

  LogicalResult run() {
    repeatClears();
    for (auto [number, call] : llvm::enumerate(function.getOps<DispatchOp>()))
      // After the clears, which add calls.
      numbers[call] = number;
    for (DispatchOp call : function.getOps<DispatchOp>())
      addAncestors(call);
    SmallVector<Lifetime> lifetimes;
    for (DispatchOp call : function.getOps<DispatchOp>())
      for (OpOperand &destination : call.getDpsInitsMutable())
        if (!getUpdatedArgument(destination.get()) &&
            failed(addDestination(call, destination, lifetimes)))
          return failure();

    SmallVector<unsigned> slotOf;
    for (const Lifetime &lifetime : lifetimes)
      slotOf.push_back(findSlot(lifetime));
    place(lifetimes, slotOf);
    return success();
  }

private:
  /// A call without inputs gives all of its users the same value, but each call
  /// that updates that value in place needs its own buffer: words of control
  /// are one value, not one buffer.
  void repeatClears() {
    for (DispatchOp call : function.getOps<DispatchOp>())
      for (OpOperand &destination : call.getDpsInitsMutable()) {
        auto clear = destination.get().getDefiningOp<DispatchOp>();
        if (!clear || !clear.getInputs().empty() ||
            destination.get().hasOneUse())
          continue;
        unsigned number = cast<OpResult>(destination.get()).getResultNumber();
        OpBuilder builder(clear);
        destination.set(builder.clone(*clear)->getResult(number));
      }
  }

  /// Finds the calls that `call` waits for, directly or not, for what it reads.
  void addAncestors(DispatchOp call) {
    // Calls come in program order, so the ancestors of what is read are there.
    llvm::BitVector &own = ancestors.emplace_back(numbers.size());
    SmallVector<Value> sources(call->getOperands());
    llvm::SmallPtrSet<Operation *, 8> seen;
    while (!sources.empty()) {
      Operation *op = sources.pop_back_val().getDefiningOp();
      if (!op || !seen.insert(op).second)
        continue;
      if (auto other = dyn_cast<DispatchOp>(op)) {
        unsigned number = numbers.lookup(other);
        own |= ancestors[number];
        own.set(number);
      } else { // A view, or a size.
        llvm::append_range(sources, op->getOperands());
      }
    }
  }

  /// What another call has written is updated where it is, as a part of the
  /// life of what that call writes. So no later call may read it as it was.
  LogicalResult addDestination(DispatchOp call, OpOperand &destination,
                               SmallVectorImpl<Lifetime> &lifetimes) {
    Value updated = destination.get();
    if (updated.getDefiningOp<tensor::EmptyOp>())
      return addLifetime(call, destination, lifetimes);
    if (!updated.getDefiningOp<DispatchOp>())
      return call.emitOpError("has a destination that is not new memory, an "
                              "argument, or what another kernel wrote");
    for (OpOperand &use : updated.getUses())
      if (&use != &destination && !isa<tensor::DimOp>(use.getOwner()) &&
          !use.getOwner()->isBeforeInBlock(call))
        return call.emitOpError("updates what '")
               << updated.getDefiningOp<DispatchOp>().getKernel()
               << "' wrote, which is used again later as it was";
    return success();
  }

  /// Also takes results of the function out of the arena.
  LogicalResult addLifetime(DispatchOp call, OpOperand &destination,
                            SmallVectorImpl<Lifetime> &lifetimes) {
    std::optional<SizePolynomial> size = getByteSize(destination.get());
    if (!size)
      return call.emitOpError("writes a ")
             << destination.get().getType()
             << " whose size is not a polynomial of the tokens in the call, "
                "the "
                "tokens before it and the capacity";
    unsigned number = numbers.lookup(call);
    Lifetime lifetime{&destination, size->alignTo(kAlignment), number,
                      llvm::BitVector(numbers.size())};
    lifetime.users.set(number);
    extend(call.getTiedOpResult(&destination), lifetime);
    if (!lifetime.isReturned) {
      lifetimes.push_back(lifetime);
      return success();
    }
    // What the function returns is the caller's memory, for this call alone.
    // It gets a new tensor.empty: other calls may share this one, and they are
    // planned.
    OpBuilder builder(call);
    Operation *empty = destination.get().getDefiningOp();
    destination.set(builder.clone(*empty)->getResult(0));
    if (empty->use_empty())
      empty->erase();
    return success();
  }

  /// Views do not copy, so their readers count.
  void extend(Value value, Lifetime &lifetime) {
    for (OpOperand &use : value.getUses()) {
      Operation *user = use.getOwner();
      if (isa<func::ReturnOp>(user)) {
        lifetime.isReturned = true;
      } else if (auto call = dyn_cast<DispatchOp>(user)) {
        lifetime.users.set(numbers.lookup(call));
        if (call.isDpsInit(&use)) // Updated where it is.
          extend(call.getTiedOpResult(&use), lifetime);
      } else if (!isa<tensor::DimOp>(user)) { // A view.
        for (Value result : user->getResults())
          extend(result, lifetime);
      }
    }
  }

  /// The free slot that grows least, or a new one if that is smaller.
  unsigned findSlot(const Lifetime &lifetime) {
    // A new slot grows by the whole size, so an old one is taken if it grows
    // less.
    unsigned best = slots.size();
    int64_t bestGrowth = lifetime.size.evaluate(kTypical);
    for (auto [number, slot] : llvm::enumerate(slots)) {
      // BitVector::test is true if a user is not among the ancestors.
      if (slot.users.test(ancestors[lifetime.writer]))
        continue; // A call may still use it.
      int64_t growth = slot.size.max(lifetime.size).evaluate(kTypical) -
                       slot.size.evaluate(kTypical);
      if (growth < bestGrowth) {
        best = number;
        bestGrowth = growth;
      }
    }
    if (best == slots.size())
      slots.push_back({});
    // The slot now holds this tensor, and only its users matter for the next.
    slots[best].size = slots[best].size.max(lifetime.size);
    slots[best].users = lifetime.users;
    return best;
  }

  /// Offsets are symbolic like sizes, so one plan serves calls of any length.
  void place(ArrayRef<Lifetime> lifetimes, ArrayRef<unsigned> slotOf) {
    SmallVector<AffineMap> offsets;
    SizePolynomial end;
    for (const Slot &slot : slots) {
      offsets.push_back(end.toMap(function.getContext()));
      end = end + slot.size;
    }
    // The arena's op says where; the emitter makes a buffer of it.
    for (auto [lifetime, slot] : llvm::zip_equal(lifetimes, slotOf)) {
      OpOperand &use = *lifetime.destination;
      OpBuilder builder(use.getOwner());
      auto empty = use.get().getDefiningOp<tensor::EmptyOp>();
      use.set(ArenaOp::create(builder, use.get().getLoc(), empty.getType(),
                              empty.getDynamicSizes(), offsets[slot]));
      // One tensor.empty may be the destination of several calls.
      if (empty->use_empty())
        empty->erase();
    }
    function->setAttr(kArenaSizeAttr,
                      AffineMapAttr::get(end.toMap(function.getContext())));
  }

  func::FuncOp function;
  DenseMap<Operation *, unsigned> numbers;
  SmallVector<llvm::BitVector> ancestors; ///< of each call
  SmallVector<Slot> slots;
};

struct PlanMemoryPass final : gist::impl::PlanMemoryPassBase<PlanMemoryPass> {
  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function->hasAttr(kKernelAttr) && !function.isExternal() &&
          failed(Planner(function).run()))
        return signalPassFailure();
  }
};
} // namespace
