//===- WeightParts.cpp - What the bytes of a weight are made of -----------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A weight of a program is a stored one, or several below one another, and
// perhaps in the order that kernels read it in.
//
//===----------------------------------------------------------------------===//

#include "passes/Emit/WeightParts.h"
#include "passes/Kernel/PackWeights.h"

using namespace mlir;
using namespace gist;

uint64_t gist::getNumBytes(RankedTensorType type) {
  return type.getNumElements() * (type.getElementTypeBitWidth() / 8);
}

FailureOr<std::vector<const Weight *>> gist::findParts(WeightOp op,
                                                       WeightMaker &weights) {
  SmallVector<StringRef> names;
  if (auto parts = op->getAttrOfType<ArrayAttr>(kPartsAttr))
    llvm::append_range(names, parts.getAsValueRange<StringAttr>());
  else
    names.push_back(op.getName());
  std::vector<const Weight *> found;
  for (StringRef name : names) {
    const Weight *part = nullptr;
    Status status = weights.find(op->getParentOfType<ModuleOp>(), name, part);
    if (!status.ok())
      return op.emitOpError(status.text);
    found.push_back(part);
  }
  return found;
}

/// Called while the file is written, so that only one packed weight is in
/// memory at a time.
WeightProducer gist::makeProducer(WeightOp op,
                                  std::vector<const Weight *> parts) {
  auto packing = op->getAttrOfType<PackingAttr>(kPackingAttr);
  auto stored = op->getAttrOfType<BlockFormatAttr>(kFormatAttr);
  BlockFormat format = stored ? stored.getValue() : BlockFormat();
  return [=, parts = std::move(parts)](const ByteSink &sink) {
    std::vector<uint8_t> bytes;
    int64_t rows = 0;
    for (const Weight *part : parts) {
      bytes.insert(bytes.end(), part->content.data,
                   part->content.data + part->content.size);
      rows += part->shape[0];
    }
    if (packing)
      bytes = packWeight(format, packing, bytes, rows, parts[0]->shape[1]);
    return sink({bytes.data(), bytes.size()});
  };
}
