//===- CheckKernels.cpp - What tiles and code promise ---------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialect/GistOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "passes/Check/Promises.h"
#include "passes/Kernel/Kernels.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace gist;

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

/// The first tensor among the operands and results of `op`, or null.
static Type findTensor(Operation *op) {
  for (Type type :
       llvm::concat<const Type>(op->getOperandTypes(), op->getResultTypes()))
    if (isa<TensorType>(type))
      return type;
  return {};
}

static LogicalResult checkTiledOp(Operation *op, StringRef stage) {
  if (Type tensor = findTensor(op))
    return op->emitError("works on ")
           << tensor << "; the stage '" << stage
           << "' promises kernels that use only buffers";
  // memref.alloca is allowed: it is memory of the workgroup or the thread.
  if (isa<memref::AllocOp, memref::DeallocOp, memref::ReallocOp>(op))
    return op->emitOpError("is in a kernel; the stage '")
           << stage << "' promises that kernels allocate nothing";
  return success();
}

static LogicalResult checkTiledKernel(func::FuncOp kernel, StringRef stage) {
  if (kernel.getNumResults() != 0)
    return kernel.emitError("is a kernel with results; the stage '")
           << stage << "' promises that kernels write to buffers";
  for (Type type : kernel.getArgumentTypes())
    if (isa<TensorType>(type))
      return kernel.emitError("has an argument of type ")
             << type << "; the stage '" << stage
             << "' promises kernels that use only buffers";
  // The writer of the module needs the grid of each command, and cannot find
  // it in lowered code.
  if (!kernel->hasAttr(kGridAttr))
    return kernel.emitError("is a kernel without '")
           << kGridAttr << "', which the stage '" << stage << "' promises";
  WalkResult walk = kernel.walk([&](Operation *op) {
    return failed(checkTiledOp(op, stage)) ? WalkResult::interrupt()
                                           : WalkResult::advance();
  });
  return failure(walk.wasInterrupted());
}

LogicalResult gist::checkTiles(ModuleOp module) {
  for (auto kernel : module.getOps<func::FuncOp>())
    if (isKernel(kernel) && failed(checkTiledKernel(kernel, "tiles")))
      return failure();
  return success();
}

LogicalResult gist::checkGpuTiles(ModuleOp module) {
  for (auto kernel : module.getOps<func::FuncOp>()) {
    if (!isKernel(kernel))
      continue;
    if (failed(checkTiledKernel(kernel, "gpu-tiles")))
      return failure();
    if (!kernel->hasAttr(kWorkgroupAttr))
      return kernel.emitError("is a kernel without '")
             << kWorkgroupAttr << "', which the stage 'gpu-tiles' promises";
    WalkResult walk = kernel.walk([](scf::ForallOp loop) {
      loop.emitOpError("is in a kernel; the stage 'gpu-tiles' promises the "
                       "code of one thread, without a loop over workgroups");
      return WalkResult::interrupt();
    });
    if (walk.wasInterrupted())
      return failure();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Code
//===----------------------------------------------------------------------===//

/// Fails at the first op inside `parent` of a dialect that is not in `names`.
/// A conversion that does not know an op leaves it, and the translation to
/// LLVM IR would fail later with less to say.
static LogicalResult checkDialects(Operation *parent, ArrayRef<StringRef> names,
                                   StringRef stage) {
  WalkResult walk = parent->walk([&](Operation *op) {
    if (op == parent ||
        llvm::is_contained(names, op->getName().getDialectNamespace()))
      return WalkResult::advance();
    op->emitOpError("is left; the stage '")
        << stage << "' promises the dialects " << llvm::join(names, ", ");
    return WalkResult::interrupt();
  });
  return failure(walk.wasInterrupted());
}

LogicalResult gist::checkCpuCode(ModuleOp module) {
  // Instructions of Arm are ops of their own until LLVM IR is written.
  if (failed(checkDialects(module, {"llvm", "arm_neon"}, "cpu")))
    return failure();
  MLIRContext *context = module.getContext();
  Type pointer = LLVM::LLVMPointerType::get(context);
  Type number = IntegerType::get(context, 64);
  // The slots of a call, and the number of the workgroup in x, y and z.
  auto expected = LLVM::LLVMFunctionType::get(
      LLVM::LLVMVoidType::get(context), {pointer, number, number, number});
  for (auto function : module.getOps<LLVM::LLVMFuncOp>())
    if (isKernel(function) && function.getFunctionType() != expected)
      return function.emitError("is a kernel of type ")
             << function.getFunctionType()
             << "; the stage 'cpu' promises the type that the runtime calls, "
             << expected;
  return success();
}

LogicalResult gist::checkGpuCode(ModuleOp module) {
  // What is around the GPU's module is not translated, so it is not checked.
  for (auto device : module.getOps<gpu::GPUModuleOp>()) {
    if (failed(checkDialects(device, {"llvm", "rocdl", "nvvm"}, "gpu")))
      return failure();
    for (auto function : device.getOps<LLVM::LLVMFuncOp>()) {
      if (!isKernel(function))
        continue;
      for (Type type : function.getArgumentTypes())
        if (!isa<LLVM::LLVMPointerType>(type))
          return function.emitError("is a kernel with an argument of type ")
                 << type
                 << "; the stage 'gpu' promises kernels that take only "
                    "addresses";
    }
  }
  return success();
}
