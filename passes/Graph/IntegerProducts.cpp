//===- IntegerProducts.cpp - Products of 8-bit numbers on GPUs ------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   y = x W^T      W: a stored weight, or blocks that are dequantised
//
// becomes, with V and s the values of W and the scales of its rows,
//
//   q, r = quantize_blocks x
//   y = scaled_matmul(q, r, V) * s      many rows
//   y = x (V * s)^T                      few rows: they read V as fast as it is
//
//===----------------------------------------------------------------------===//

#include "passes/Graph/IntegerProducts.h"
#include "dialect/GistIntegerOps.h"
#include "dialect/GistLaunchNames.h"
#include "dialect/GpuInfo.h"
#include "dialect/ValueBuilder.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "passes/Kernel/ColumnHalves.h"
#include "passes/Kernel/Kernels.h"
#include "passes/Kernel/Linears.h"

using namespace mlir;
using namespace gist;

/// Numbers of a row that share a scale: what matrix instructions add up before
/// sums are scaled.
static constexpr int64_t kBlock = 128;
/// Numbers of a row begin where 16 bytes do.
static constexpr int64_t kAlignment = 32;
/// Rows up to which a product is bound by the weight that it reads.
static constexpr int64_t kFewRows = 16;

/// What a product multiplies with: a weight, perhaps of blocks.
static WeightOp getStored(Value weight) {
  if (auto blocks = weight.getDefiningOp<DequantizeOp>())
    weight = blocks.getBlocks();
  return weight.getDefiningOp<WeightOp>();
}

/// Whether `use` is the weight of a product of floats that begins with zero.
static bool isMultiplied(OpOperand &use) {
  auto product = dyn_cast<linalg::MatmulOp>(use.getOwner());
  if (!product || use.getOperandNumber() != 1 || !isTransposedMatmul(product))
    return false;
  auto fill = product.getDpsInits()[0].getDefiningOp<linalg::FillOp>();
  return fill && matchPattern(fill.value(), m_AnyZeroFloat());
}

/// Whether nothing but products reads `stored`: lookups want floats, and a
/// weight with other readers would be there twice.
static bool isForProducts(WeightOp stored) {
  return llvm::all_of(stored->getUses(), [](OpOperand &use) {
    if (auto blocks = dyn_cast<DequantizeOp>(use.getOwner()))
      return llvm::all_of(blocks->getUses(), isMultiplied);
    return isMultiplied(use);
  });
}

/// Whether `rows` are few in every call.
static bool areFew(Value rows) {
  auto type = cast<RankedTensorType>(rows.getType());
  if (!type.isDynamicDim(0))
    return type.getDimSize(0) <= kFewRows;
  Operation *entry = rows.getParentRegion()->getParentOp();
  auto most = entry->getAttrOfType<IntegerAttr>(kMaxTokensAttr);
  return most && most.getInt() <= kFewRows;
}

namespace {
class ProductWriter {
public:
  ProductWriter(linalg::MatmulOp product, SmallNumbers numbers)
      : b(product.getLoc(), product), product(product), numbers(numbers),
        x(product.getDpsInputs()[0]), w(product.getDpsInputs()[1]),
        stored(getStored(w)) {}

  void replace();

private:
  /// The numbers of the stored weight in 8 bits or the scales of its rows, as
  /// `type` says.
  WeightOp makeWeight(RankedTensorType type);
  /// V * s.
  Value scaleWeight(WeightOp values, WeightOp scales);
  Value multiplyNumbers(WeightOp values);
  /// Lets all that reads `sums` read them times the scales of their columns.
  void scaleColumns(Value sums, WeightOp scales, int64_t firstColumn);
  /// Elementwise; `maps` are those of inputs and result.
  Value createLoops(RankedTensorType type, ValueRange inputs,
                    ArrayRef<OpFoldResult> sizes, ArrayRef<AffineMap> maps,
                    function_ref<Value(ValueBuilder &, ValueRange)> body);

  ValueBuilder b;
  linalg::MatmulOp product;
  SmallNumbers numbers;
  Value x, w;
  WeightOp stored;
};
} // namespace

Value ProductWriter::createLoops(
    RankedTensorType type, ValueRange inputs, ArrayRef<OpFoldResult> sizes,
    ArrayRef<AffineMap> maps,
    function_ref<Value(ValueBuilder &, ValueRange)> body) {
  Value empty = tensor::EmptyOp::create(b, sizes, type.getElementType());
  SmallVector<utils::IteratorType> loops(type.getRank(),
                                         utils::IteratorType::parallel);
  return linalg::GenericOp::create(
             b, TypeRange(type), inputs, ValueRange(empty), maps, loops,
             [&](OpBuilder &nested, Location location, ValueRange numbers) {
               ValueBuilder inner(location, nested);
               linalg::YieldOp::create(inner, body(inner, numbers));
             })
      .getResult(0);
}

WeightOp ProductWriter::makeWeight(RankedTensorType type) {
  auto weight =
      WeightOp::create(b, type, stored.getNameAttr(), stored.getLayerAttr());
  if (Attribute parts = stored->getAttr(kPartsAttr))
    weight->setAttr(kPartsAttr, parts);
  weight->setAttr(kByRowAttr, TypeAttr::get(numbers.type));
  return weight;
}

Value ProductWriter::scaleWeight(WeightOp values, WeightOp scales) {
  auto type = cast<RankedTensorType>(values.getType()).clone(b.getF32Type());
  AffineMap all = b.getMultiDimIdentityMap(2);
  AffineMap row = AffineMap::get(2, 0, b.getAffineDimExpr(0));
  return createLoops(
      type, {values.getResult(), scales.getResult()},
      {b.getIndexAttr(type.getDimSize(0)), b.getIndexAttr(type.getDimSize(1))},
      {all, row, all}, [](ValueBuilder &b, ValueRange numbers) {
        return b.mul(b.toF32(numbers[0]), numbers[1]);
      });
}

Value ProductWriter::multiplyNumbers(WeightOp values) {
  auto type = cast<RankedTensorType>(x.getType());
  Value rows = x;
  if (!type.getElementType().isF32()) {
    AffineMap all = b.getMultiDimIdentityMap(2);
    rows = createLoops(type.clone(b.getF32Type()), x,
                       tensor::getMixedSizes(b, b.getLoc(), x), {all, all},
                       [](ValueBuilder &b, ValueRange numbers) {
                         return b.toF32(numbers[0]);
                       });
  }
  int64_t block = numbers.block ? numbers.block : type.getDimSize(1);
  // Integers are what the op makes where it names no type.
  auto element =
      numbers.type.isInteger() ? TypeAttr() : TypeAttr::get(numbers.type);
  auto quantized =
      QuantizeBlocksOp::create(b, rows, b.getI64IntegerAttr(block), element);
  return ScaledMatmulOp::create(b, quantized.getValues(), quantized.getScales(),
                                values.getResult(), block)
      .getResult();
}

void ProductWriter::scaleColumns(Value sums, WeightOp scales,
                                 int64_t firstColumn) {
  // What reads the sums now; a size is no reader.
  SmallVector<OpOperand *> uses;
  for (OpOperand &use : sums.getUses())
    if (!isa<tensor::DimOp>(use.getOwner()))
      uses.push_back(&use);
  b.setInsertionPointAfterValue(sums);
  auto type = cast<RankedTensorType>(sums.getType());
  int64_t columns = type.getDimSize(1);
  Value factors = scales.getResult();
  if (columns != cast<RankedTensorType>(scales.getType()).getDimSize(0))
    factors = tensor::ExtractSliceOp::create(
        b, factors, ArrayRef<OpFoldResult>{b.getIndexAttr(firstColumn)},
        ArrayRef<OpFoldResult>{b.getIndexAttr(columns)},
        ArrayRef<OpFoldResult>{b.getIndexAttr(1)});
  AffineMap all = b.getMultiDimIdentityMap(2);
  AffineMap column = AffineMap::get(2, 0, b.getAffineDimExpr(1));
  Value rows = product.getDpsInits()[0];
  Value scaled = createLoops(
      type, {sums, factors},
      {tensor::getMixedSize(b, b.getLoc(), rows, 0), b.getIndexAttr(columns)},
      {all, column, all}, [](ValueBuilder &b, ValueRange numbers) {
        return b.mul(numbers[0], numbers[1]);
      });
  for (OpOperand *use : uses)
    use->set(scaled);
}

void ProductWriter::replace() {
  auto type = cast<RankedTensorType>(w.getType());
  WeightOp values = makeWeight(type.clone(numbers.type));
  WeightOp scales =
      makeWeight(RankedTensorType::get(type.getDimSize(0), b.getF32Type()));
  if (areFew(x)) {
    Value weight = scaleWeight(values, scales);
    Value result =
        createTransposedMatmul(b, x, weight, product.getDpsInits()[0])
            .getResult(0);
    product->getResult(0).replaceAllUsesWith(result);
    product->erase();
    return;
  }
  Value sums = multiplyNumbers(values);
  product->getResult(0).replaceAllUsesWith(sums);
  // Where both halves are read apart, as a gate and what it lets through, they
  // stay all that is read of the product.
  if (auto halves = getColumnHalves(sums))
    for (auto [i, half] : llvm::enumerate(*halves))
      scaleColumns(half, scales,
                   static_cast<int64_t>(i) * type.getDimSize(0) / 2);
  else
    scaleColumns(sums, scales, 0);
  product->erase();
}

std::optional<SmallNumbers> gist::getSmallNumbers(StringRef name,
                                                  GpuTargetAttr gpu) {
  MLIRContext *context = gpu.getContext();
  Type integer = IntegerType::get(context, 8);
  if (name == "int8")
    return SmallNumbers{integer, kBlock};
  if (name == "int8-rows")
    return SmallNumbers{integer, 0};
  if (name != "fp8")
    return std::nullopt;
  // The two makers have zero and infinity at other places.
  bool isAmd = getGpuInfo(gpu.getName())->kind == GpuKind::Amd;
  return SmallNumbers{isAmd ? Type(Float8E4M3FNUZType::get(context))
                            : Type(Float8E4M3FNType::get(context)),
                      0};
}

void gist::makeSmallProducts(func::FuncOp function, SmallNumbers numbers) {
  SmallVector<linalg::MatmulOp> products;
  function.walk([&](linalg::MatmulOp product) {
    if (!isMultiplied(product->getOpOperand(1)))
      return;
    Value weight = product.getDpsInputs()[1];
    auto type = cast<RankedTensorType>(weight.getType());
    WeightOp stored = getStored(weight);
    bool isWhole =
        type.hasStaticShape() && type.getDimSize(1) % kAlignment == 0;
    if (stored && isWhole && !stored->hasAttr(kByRowAttr) &&
        getElementTypeOrSelf(product->getResult(0)).isF32() &&
        isForProducts(stored))
      products.push_back(product);
  });
  // Before any is replaced: whether a weight is read otherwise is asked of the
  // function as it was.
  for (linalg::MatmulOp product : products)
    ProductWriter(product, numbers).replace();
}
