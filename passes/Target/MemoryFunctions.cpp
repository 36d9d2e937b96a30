//===- MemoryFunctions.cpp - Memory without a C library -------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each function moves 16 bytes at a time, and then the rest byte by byte.
//
//===----------------------------------------------------------------------===//

#include "passes/Target/MemoryFunctions.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"

using namespace llvm;

static constexpr uint64_t kWide = 16;

namespace {
/// The body of one of the functions.
class MemoryFunction {
public:
  MemoryFunction(Module &module, StringRef name, Type *second)
      : b(module.getContext()) {
    Type *pointer = b.getPtrTy(), *size = b.getInt64Ty();
    // Kernels may have declared it already.
    function = cast<Function>(
        module
            .getOrInsertFunction(
                name, FunctionType::get(pointer, {pointer, second, size},
                                        /*isVarArg=*/false))
            .getCallee());
    // A loop that copies is not to become a call of itself.
    function->addFnAttr("no-builtins");
    function->addFnAttr(Attribute::NoUnwind);
    b.SetInsertPoint(BasicBlock::Create(b.getContext(), "entry", function));
  }

  Argument *to() { return function->getArg(0); }
  Argument *second() { return function->getArg(1); }
  Argument *size() { return function->getArg(2); }

  /// How many bytes are moved 16 at a time.
  Value *getWideSize() { return b.CreateAnd(size(), ~(kWide - 1)); }

  /// Calls `body` with every `step`-th number from `begin` up to `end`, which
  /// is a number of steps away.
  void loop(Value *begin, Value *end, uint64_t step,
            function_ref<void(Value *)> body) {
    BasicBlock *before = b.GetInsertBlock();
    BasicBlock *head = addBlock("head"), *inside = addBlock("body"),
               *after = addBlock("after");
    b.CreateBr(head);
    b.SetInsertPoint(head);
    PHINode *i = b.CreatePHI(b.getInt64Ty(), 2);
    i->addIncoming(begin, before);
    b.CreateCondBr(b.CreateICmpEQ(i, end), after, inside);
    b.SetInsertPoint(inside);
    body(i);
    i->addIncoming(b.CreateAdd(i, b.getInt64(step)), b.GetInsertBlock());
    b.CreateBr(head);
    b.SetInsertPoint(after);
  }

  /// Copies the bytes at `offset`, all or 16 of them.
  void copy(Value *offset, Type *type) {
    Value *bytes =
        b.CreateAlignedLoad(type, b.CreatePtrAdd(second(), offset), Align(1));
    b.CreateAlignedStore(bytes, b.CreatePtrAdd(to(), offset), Align(1));
  }

  /// From the first byte to the last.
  void copyForward() {
    Value *wide = getWideSize();
    loop(b.getInt64(0), wide, kWide, [&](Value *i) { copy(i, getWideType()); });
    loop(wide, size(), 1, [&](Value *i) { copy(i, b.getInt8Ty()); });
    finish();
  }

  /// From the last byte to the first.
  void copyBackward() {
    Value *wide = getWideSize();
    loop(b.getInt64(0), wide, kWide, [&](Value *i) {
      Value *end = b.CreateSub(size(), i);
      copy(b.CreateSub(end, b.getInt64(kWide)), getWideType());
    });
    loop(wide, size(), 1, [&](Value *i) {
      Value *end = b.CreateSub(size(), i);
      copy(b.CreateSub(end, b.getInt64(1)), b.getInt8Ty());
    });
    finish();
  }

  Type *getWideType() { return FixedVectorType::get(b.getInt8Ty(), kWide); }
  BasicBlock *addBlock(const char *name) {
    return BasicBlock::Create(b.getContext(), name, function);
  }
  void finish() { b.CreateRet(to()); }

  IRBuilder<> b;

private:
  Function *function;
};
} // namespace

void gist::addMemoryFunctions(Module &module) {
  LLVMContext &context = module.getContext();
  MemoryFunction set(module, "memset", Type::getInt32Ty(context));
  Value *byte = set.b.CreateTrunc(set.second(), set.b.getInt8Ty());
  Value *bytes = set.b.CreateVectorSplat(kWide, byte);
  auto store = [&](Value *value) {
    return [&set, value](Value *i) {
      set.b.CreateAlignedStore(value, set.b.CreatePtrAdd(set.to(), i),
                               Align(1));
    };
  };
  Value *wide = set.getWideSize();
  set.loop(set.b.getInt64(0), wide, kWide, store(bytes));
  set.loop(wide, set.size(), 1, store(byte));
  set.finish();

  Type *pointer = PointerType::getUnqual(context);
  MemoryFunction(module, "memcpy", pointer).copyForward();

  // What lies behind its source is copied from the end, so that nothing is
  // overwritten before it is read.
  MemoryFunction move(module, "memmove", pointer);
  BasicBlock *forward = move.addBlock("forward"),
             *backward = move.addBlock("backward");
  move.b.CreateCondBr(move.b.CreateICmpUGT(move.to(), move.second()), backward,
                      forward);
  move.b.SetInsertPoint(forward);
  move.copyForward();
  move.b.SetInsertPoint(backward);
  move.copyBackward();
}
