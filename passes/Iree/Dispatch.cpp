//===- Dispatch.cpp - Work that IREE does in one go -----------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Iree/Dispatch.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Utils/Utils.h"
#include "passes/Iree/Words.h"

using namespace mlir;
using namespace gist;

/// What a tensor of a dispatch is inside of it.
static Type getBoundType(RankedTensorType type, StringRef access) {
  std::string text;
  llvm::raw_string_ostream(text)
      << "dispatch.tensor<" << access << ":" << type << ">";
  return iree::type(type.getContext(), "iree_tensor_ext", text);
}

static NamedAttribute segments(Builder &b, ArrayRef<int32_t> sizes) {
  return b.getNamedAttr("operandSegmentSizes", b.getDenseI32ArrayAttr(sizes));
}

/// The attributes of an op that takes or puts all of a tensor of `type`;
/// `first` are the segments of operands before its sizes.
static SmallVector<NamedAttribute> coverAll(Builder &b, RankedTensorType type,
                                            ArrayRef<int32_t> first) {
  auto numbers = [&](StringRef name, ArrayRef<int64_t> values) {
    return b.getNamedAttr(name, b.getDenseI64ArrayAttr(values));
  };
  auto dynamic = static_cast<int32_t>(type.getNumDynamicDims());
  SmallVector<int32_t> sizes(first);
  sizes.append({dynamic, 0, dynamic, 0}); // dims, offsets, sizes, strides
  return {numbers("static_offsets", SmallVector<int64_t>(type.getRank(), 0)),
          numbers("static_sizes", type.getShape()),
          numbers("static_strides", SmallVector<int64_t>(type.getRank(), 1)),
          segments(b, sizes)};
}

/// `parts` one after the other.
static SmallVector<Value> join(ArrayRef<ValueRange> parts) {
  SmallVector<Value> all;
  for (ValueRange part : parts)
    llvm::append_range(all, part);
  return all;
}

SmallVector<Value> iree::createDispatch(ValueBuilder &b, ValueRange inputs,
                                        ValueRange outputs, OrderedBody body) {
  SmallVector<Value> arguments = join({inputs, outputs});
  // Sizes are arguments, too, after all others; and IREE asks for them apart.
  SmallVector<Value> sizes, resultSizes;
  SmallVector<Attribute> tied;
  for (Value argument : arguments)
    if (isa<RankedTensorType>(argument.getType()))
      llvm::append_range(
          sizes, tensor::createDynamicDimValues(b, b.getLoc(), argument));
  for (auto [number, output] : llvm::enumerate(outputs)) {
    llvm::append_range(resultSizes,
                       tensor::createDynamicDimValues(b, b.getLoc(), output));
    tied.push_back(
        b.getIndexAttr(static_cast<int64_t>(inputs.size() + number)));
  }
  size_t numArguments = arguments.size() + sizes.size();
  Operation *dispatch = iree::create(
      b, "flow.dispatch.workgroups",
      join({arguments, sizes, sizes, resultSizes}), outputs.getTypes(),
      {segments(b, {0, static_cast<int32_t>(numArguments),
                    static_cast<int32_t>(sizes.size()),
                    static_cast<int32_t>(resultSizes.size())}),
       b.getNamedAttr("tied_operands", b.getArrayAttr(tied))},
      /*numRegions=*/2);

  OpBuilder::InsertionGuard guard(b);
  SmallVector<Type> types;
  for (auto [number, argument] : llvm::enumerate(arguments)) {
    auto tensor = dyn_cast<RankedTensorType>(argument.getType());
    types.push_back(tensor ? getBoundType(tensor, number < inputs.size()
                                                      ? "readonly"
                                                      : "readwrite")
                           : argument.getType());
  }
  types.append(sizes.size(), b.getIndexType());
  Block *block = b.createBlock(&dispatch->getRegion(0), {}, types,
                               SmallVector<Location>(types.size(), b.getLoc()));
  auto nextSize = block->args_begin() + arguments.size();
  SmallVector<Value> inside, bound;
  SmallVector<SmallVector<Value>> boundSizes;
  for (auto [argument, given] :
       llvm::zip_first(arguments, block->getArguments())) {
    auto tensor = dyn_cast<RankedTensorType>(argument.getType());
    Value value = given;
    SmallVector<Value> own;
    if (tensor) {
      for (size_t i = 0; i < tensor.getNumDynamicDims(); ++i)
        own.push_back(*nextSize++);
      if (!own.empty())
        value = iree::create(b, "flow.dispatch.tie_shape",
                             join({ValueRange(given), own}), given.getType())
                    ->getResult(0);
      bound.push_back(value);
      value = iree::create(b, "iree_tensor_ext.dispatch.tensor.load",
                           join({ValueRange(value), own, own}), Type(tensor),
                           coverAll(b, tensor, {1}))
                  ->getResult(0);
    } else {
      bound.push_back(value);
    }
    inside.push_back(value);
    boundSizes.push_back(std::move(own));
  }
  ValueRange all(inside);
  SmallVector<Value> results =
      body(b, all.take_front(inputs.size()), all.drop_front(inputs.size()));
  for (auto [number, result] : llvm::enumerate(results)) {
    size_t place = inputs.size() + number;
    const SmallVector<Value> &own = boundSizes[place];
    iree::create(b, "iree_tensor_ext.dispatch.tensor.store",
                 join({ValueRange(result), ValueRange(bound[place]), own, own}),
                 {},
                 coverAll(b, cast<RankedTensorType>(result.getType()), {1, 1}));
  }
  iree::create(b, "flow.return");

  // One workgroup: each step needs the one before it.
  b.createBlock(&dispatch->getRegion(1));
  Value one = arith::ConstantIndexOp::create(b, 1);
  iree::create(b, "flow.return", {one, one, one});
  return llvm::to_vector_of<Value>(dispatch->getResults());
}
