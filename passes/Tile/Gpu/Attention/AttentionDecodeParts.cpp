//===- AttentionDecodeParts.cpp - Memory for parts of the keys ------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Tile/Gpu/Attention/AttentionDecode.h"

using namespace mlir;
using namespace gist;

static int64_t getNumbers(const DecodeHeads &heads, const DecodeSplit &split,
                          bool multiplied) {
  return split.parts * heads.numHeads * (heads.valueSize / kDecodeWidth) *
         kNumbersOfPair * (multiplied ? split.workgroups : 1);
}

static int64_t getWords(const DecodeHeads &heads, const DecodeSplit &split) {
  return heads.numHeads / split.heads * split.workgroups;
}

KernelScratch gist::makeDecodeScratch(const DecodeHeads &heads,
                                      const GpuInfo &gpu, MLIRContext *context,
                                      bool multiplied) {
  KernelScratch scratch;
  DecodeSplit split = getDecodeSplit(heads.numHeads, heads.kvHeads, gpu);
  if (split.parts == 1)
    return scratch;
  scratch.tensors.push_back(
      {{getAffineConstantExpr(getNumbers(heads, split, multiplied), context)},
       Float32Type::get(context)});
  scratch.controlWords = getWords(heads, split);
  scratch.leavesZero = true;
  return scratch;
}

FailureOr<DecodeParts> gist::findDecodeParts(GpuKernel &kernel, Operation *op,
                                             const DecodeHeads &heads,
                                             bool multiplied) {
  func::FuncOp source = kernel.source;
  unsigned last = source.getNumArguments() - 1;
  DecodeParts parts;
  if (!source.getArgAttr(last, kControlArgAttr))
    return parts;
  DecodeSplit split =
      getDecodeSplit(heads.numHeads, heads.kvHeads, kernel.b.getGpu());
  parts.count = split.parts;
  Builder &b = kernel.b;
  Type types[] = {
      RankedTensorType::get(getNumbers(heads, split, multiplied),
                            b.getF32Type()),
      RankedTensorType::get(getWords(heads, split), b.getI32Type())};
  // Kernels may be written by hand; the types say whether both passes agree on
  // the number of parts.
  if (last < 1 || source.getArgumentTypes().take_back(2) != ArrayRef(types))
    return op->emitOpError("expects scratch memory of ")
           << types[0] << " and " << types[1] << " for " << parts.count
           << " parts of the keys";
  auto target = cast<func::FuncOp>(kernel.b.getBlock()->getParentOp());
  parts.scratch = target.getArgument(last - 1);
  parts.control = target.getArgument(last);
  return parts;
}
