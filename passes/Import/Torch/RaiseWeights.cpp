//===- RaiseWeights.cpp - Constants of a graph become weights -------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialect/GistOps.h"
#include "dialect/GistPlanOps.h"
#include "passes/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace gist {
#define GEN_PASS_DEF_RAISEWEIGHTSPASS
#include "passes/Passes.h.inc"
} // namespace gist

using namespace mlir;
using namespace gist;

/// torch-mlir names resources by their shape, which says nothing.
static constexpr StringRef kUnnamed = "torch_tensor_";

/// The bytes of a constant; null where the text did not bring them.
static std::optional<ArrayRef<char>> getBytes(ElementsAttr values) {
  if (auto dense = dyn_cast<DenseElementsAttr>(values))
    return dense.getRawData();
  auto resource = dyn_cast<DenseResourceElementsAttr>(values);
  AsmResourceBlob *blob =
      resource ? resource.getRawHandle().getBlob() : nullptr;
  if (!blob)
    return std::nullopt;
  return blob->getData();
}

/// Element `index` of packed `bytes` as f32; none where f32 does not hold it.
static std::optional<float> readNumber(const char *bytes, int64_t index,
                                       Type element) {
  unsigned width = llvm::divideCeil(element.getIntOrFloatBitWidth(), 8U);
  uint64_t bits = 0;
  std::memcpy(&bits, bytes + index * width, width);
  if (isa<IntegerType>(element)) {
    if (element.isInteger(1))
      return bits != 0 ? 1.0F : 0.0F;
    int64_t number = element.isUnsignedInteger()
                         ? static_cast<int64_t>(bits)
                         : llvm::SignExtend64(bits, width * 8);
    auto rounded = static_cast<float>(number);
    constexpr int64_t kExact = int64_t(1) << 24;
    if (number < -kExact || number > kExact)
      return std::nullopt;
    return rounded;
  }
  APFloat number(cast<FloatType>(element).getFloatSemantics(),
                 APInt(width * 8, bits));
  bool loses = false;
  bool isNan = number.isNaN();
  number.convert(APFloat::IEEEsingle(), APFloat::rmNearestTiesToEven, &loses);
  if (loses && !isNan)
    return std::nullopt;
  return number.convertToFloat();
}

namespace {
class Raiser {
public:
  explicit Raiser(ModuleOp module) : module(module), symbols(module) {}

  LogicalResult run(func::FuncOp function) {
    SmallVector<arith::ConstantOp> constants;
    function.walk([&](arith::ConstantOp op) {
      auto values = dyn_cast<ElementsAttr>(op.getValue());
      // One number is cheaper where it is read.
      if (values && values.getNumElements() > 1 && !values.isSplat())
        constants.push_back(op);
    });
    for (arith::ConstantOp op : constants)
      if (failed(replace(op)))
        return failure();
    return success();
  }

private:
  LogicalResult replace(arith::ConstantOp op) {
    auto values = cast<ElementsAttr>(op.getValue());
    auto type = dyn_cast<RankedTensorType>(op.getType());
    if (!type)
      return op.emitOpError("is a constant of type ")
             << op.getType() << "; a graph works on tensors";
    StringAttr &name = names[op.getValue()];
    if (!name && failed(define(op, values, type, name)))
      return failure();
    ImplicitLocOpBuilder b(op.getLoc(), op);
    auto stored = RankedTensorType::get(type.getShape(), b.getF32Type());
    Value weight = WeightOp::create(b, stored, name, IntegerAttr());
    if (type != stored)
      weight = convert(b, weight, type);
    op.replaceAllUsesWith(weight);
    op.erase();
    return success();
  }

  LogicalResult define(arith::ConstantOp op, ElementsAttr values,
                       RankedTensorType type, StringAttr &name) {
    std::string chosen;
    if (auto resource = dyn_cast<DenseResourceElementsAttr>(values)) {
      StringRef key = resource.getRawHandle().getKey();
      if (!key.starts_with(kUnnamed))
        chosen = key.str();
    }
    while (chosen.empty() || symbols.lookup(chosen))
      chosen = "constant." + std::to_string(number++);
    std::optional<ArrayRef<char>> bytes = getBytes(values);
    Type element = type.getElementType();
    auto wanted = static_cast<uint64_t>(type.getNumElements()) *
                  llvm::divideCeil(element.getIntOrFloatBitWidth(), 8U);
    bool isPacked = element.isInteger(1) && isa<DenseElementsAttr>(values);
    if (!bytes || (!isPacked && bytes->size() != wanted))
      return op.emitOpError("has the content of ")
             << type << " somewhere else: the text has "
             << (bytes ? bytes->size() : 0) << " bytes of " << wanted;
    ElementsAttr stored = values;
    if (!element.isF32()) {
      std::vector<float> numbers;
      if (isPacked) { // Bits, which only the attribute can read.
        for (bool value : cast<DenseElementsAttr>(values).getValues<bool>())
          numbers.push_back(value ? 1.0F : 0.0F);
      }
      for (int64_t i = 0; !isPacked && i < type.getNumElements(); ++i) {
        std::optional<float> value = readNumber(bytes->data(), i, element);
        if (!value)
          return op.emitOpError("has a number that f32 does not hold; "
                                "weights are stored in f32");
        numbers.push_back(*value);
      }
      stored = DenseElementsAttr::get(
          RankedTensorType::get(type.getShape(),
                                Float32Type::get(op.getContext())),
          ArrayRef<float>(numbers));
    }
    OpBuilder b = OpBuilder::atBlockEnd(module.getBody());
    auto defined = ConstantWeightOp::create(b, op.getLoc(), chosen, stored);
    symbols.insert(defined);
    name = b.getStringAttr(chosen);
    return success();
  }

  /// Gives the numbers of a weight the type that the graph has them in.
  static Value convert(ImplicitLocOpBuilder &b, Value weight,
                       RankedTensorType type) {
    Value empty =
        tensor::EmptyOp::create(b, type.getShape(), type.getElementType());
    AffineMap map = b.getMultiDimIdentityMap(type.getRank());
    SmallVector<utils::IteratorType> loops(type.getRank(),
                                           utils::IteratorType::parallel);
    return linalg::GenericOp::create(
               b, type, weight, empty, ArrayRef<AffineMap>{map, map}, loops,
               [&](OpBuilder &nested, Location at, ValueRange arguments) {
                 Type element = type.getElementType();
                 Value x = arguments[0], y;
                 if (element.isInteger(1)) {
                   Value zero = arith::ConstantOp::create(
                       nested, at, nested.getF32FloatAttr(0));
                   y = arith::CmpFOp::create(
                       nested, at, arith::CmpFPredicate::UNE, x, zero);
                 } else if (isa<IntegerType>(element)) {
                   y = arith::FPToSIOp::create(nested, at, element, x);
                 } else if (element.getIntOrFloatBitWidth() > 32) {
                   y = arith::ExtFOp::create(nested, at, element, x);
                 } else {
                   y = arith::TruncFOp::create(nested, at, element, x);
                 }
                 linalg::YieldOp::create(nested, at, y);
               })
        .getResult(0);
  }

  ModuleOp module;
  SymbolTable symbols;
  DenseMap<Attribute, StringAttr> names;
  unsigned number = 0;
};

struct RaiseWeightsPass final
    : gist::impl::RaiseWeightsPassBase<RaiseWeightsPass> {
  using Base::Base;

  void runOnOperation() override {
    Raiser raiser(getOperation());
    for (auto function : llvm::to_vector(getOperation().getOps<func::FuncOp>()))
      if (failed(raiser.run(function)))
        return signalPassFailure();
  }
};
} // namespace
