//===- MadeWeights.cpp - Weights that a plan makes, in a graph ------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Plan/MadeWeights.h"
#include "dialect/DecomposeUtils.h"

using namespace mlir;
using namespace gist;

static constexpr llvm::StringLiteral kMadeAttr = "gist.made";
static constexpr llvm::StringLiteral kKinds[] = {
    "rounded", "exact", "basis", "transposed_basis", "image", "correction"};

WeightOp gist::createMadeWeight(ImplicitLocOpBuilder &b, const MadeWeight &what,
                                int64_t rows, int64_t columns) {
  const FormatInfo &info = formatInfo(what.format);
  SmallVector<int64_t> shape = {rows, columns / info.blockLength};
  Type element = b.getF16Type();
  if (info.isQuantized()) {
    shape.push_back(info.blockBytes);
    element = b.getI8Type();
  }
  return createMadeWeight(b, what, RankedTensorType::get(shape, element));
}

WeightOp gist::createMadeWeight(ImplicitLocOpBuilder &b, const MadeWeight &what,
                                RankedTensorType type) {
  auto op = WeightOp::create(b, type, madeName(what));
  auto text = [&](StringRef value) { return b.getStringAttr(value); };
  auto number = [&](int64_t value) { return b.getI64IntegerAttr(value); };
  op->setAttr(
      kMadeAttr,
      b.getDictionaryAttr(
          {b.getNamedAttr("kind", text(kKinds[static_cast<size_t>(what.kind)])),
           b.getNamedAttr("from", text(what.from)),
           b.getNamedAttr("format", text(formatInfo(what.format).name)),
           b.getNamedAttr("layer", number(what.layer)),
           b.getNamedAttr("group", number(static_cast<int64_t>(what.group))),
           b.getNamedAttr("k", number(what.k))}));
  return op;
}

std::optional<MadeWeight> gist::getMadeWeight(WeightOp op) {
  auto made = op->getAttrOfType<DictionaryAttr>(kMadeAttr);
  if (!made)
    return std::nullopt;
  auto number = [&](StringRef name) {
    return made.getAs<IntegerAttr>(name).getInt();
  };
  MadeWeight what;
  const auto *kind =
      llvm::find(kKinds, made.getAs<StringAttr>("kind").getValue());
  what.kind = static_cast<MadeKind>(kind - std::begin(kKinds));
  what.from = made.getAs<StringAttr>("from").str();
  (void)formatOfName(made.getAs<StringAttr>("format").getValue(), what.format);
  what.layer = number("layer");
  what.group = static_cast<LinearGroup>(number("group"));
  what.k = number("k");
  return what;
}

WeightOp gist::getWeightOf(Value numbers) {
  if (auto dequantize = numbers.getDefiningOp<DequantizeOp>())
    numbers = dequantize.getBlocks();
  return numbers.getDefiningOp<WeightOp>();
}

Value gist::createTransposedBasis(ImplicitLocOpBuilder &b, Value basis) {
  WeightOp weight = getWeightOf(basis);
  std::optional<MadeWeight> made =
      weight ? getMadeWeight(weight) : std::nullopt;
  auto type = cast<RankedTensorType>(basis.getType());
  if (!made)
    return createLoops(b, "dk->kd", basis,
                       createEmpty(b,
                                   {getSize(b, basis, 1), getSize(b, basis, 0)},
                                   type.getElementType()),
                       [](ImplicitLocOpBuilder &, ValueRange args) -> Value {
                         return args[0];
                       });
  int64_t d = type.getDimSize(0), k = type.getDimSize(1);
  MadeWeight turned = transposedBasis(*made, d);
  WeightOp stored = createMadeWeight(b, turned, k, d);
  if (!formatInfo(turned.format).isQuantized())
    return stored;
  return DequantizeOp::create(b, stored.getResult(),
                              getBlockFormat(turned.format));
}

Status gist::makeWeights(ModuleOp module, const LinearPlan &plan,
                         WeightMap &weights) {
  LinearBases bases;
  GIST_TRY(LinearBases::open(plan.bases, bases));
  std::vector<MadeWeight> wanted;
  module.walk([&](WeightOp op) {
    std::optional<MadeWeight> what = getMadeWeight(op);
    if (!what)
      return;
    what->choice =
        what->layer < 0
            ? plan.head
            : plan.layers[what->layer][static_cast<size_t>(what->group)];
    wanted.push_back(*what);
    // Gates read their basis both ways.
    if (what->kind == MadeKind::Basis)
      wanted.push_back(transposedBasis(
          *what, cast<RankedTensorType>(op.getType()).getDimSize(0)));
  });
  for (const MadeWeight &what : wanted)
    GIST_TRY(makeWeight(what, bases, weights));
  return {};
}
