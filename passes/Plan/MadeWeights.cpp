//===- MadeWeights.cpp - Weights that a plan makes, in a graph ------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Plan/MadeWeights.h"
#include "dialect/DecomposeUtils.h"
#include "dialect/GistClusterOps.h"
#include "passes/Plan/PlanInGraph.h"

#include <numeric>

using namespace mlir;
using namespace gist;

static_assert(static_cast<int>(MadeWeightKind::Correction) ==
                  static_cast<int>(MadeKind::Correction),
              "the dialect has the kinds of the files, in their order");

//===----------------------------------------------------------------------===//
// Definitions
//===----------------------------------------------------------------------===//

static ModuleOp getModule(ImplicitLocOpBuilder &b) {
  return b.getInsertionBlock()->getParentOp()->getParentOfType<ModuleOp>();
}

/// Adds a definition of `name` at the end of the module unless there is one:
/// functions share their weights.
static void define(ImplicitLocOpBuilder &b, StringRef name,
                   function_ref<void()> create) {
  ModuleOp module = getModule(b);
  if (SymbolTable::lookupSymbolIn(module, name))
    return;
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(module.getBody());
  create();
}

/// The layer of a weight, or null if it belongs to no layer.
static IntegerAttr getLayer(ImplicitLocOpBuilder &b, int64_t layer) {
  return layer < 0 ? IntegerAttr() : b.getI64IntegerAttr(layer);
}

/// f16 or blocks of bytes, as made weights are stored.
static RankedTensorType getType(ImplicitLocOpBuilder &b, WeightFormat format,
                                int64_t rows, int64_t columns) {
  const FormatInfo &info = formatInfo(format);
  SmallVector<int64_t> shape = {rows, columns / info.blockLength};
  if (!info.isQuantized())
    return RankedTensorType::get(shape, b.getF16Type());
  shape.push_back(info.blockBytes);
  return RankedTensorType::get(shape, b.getI8Type());
}

WeightOp gist::createMadeWeight(ImplicitLocOpBuilder &b, const MadeWeight &what,
                                StringRef bases, int64_t rows,
                                int64_t columns) {
  return createMadeWeight(b, what, bases,
                          getType(b, what.format, rows, columns));
}

WeightOp gist::createMadeWeight(ImplicitLocOpBuilder &b, const MadeWeight &what,
                                StringRef bases, RankedTensorType type) {
  // All functions follow one plan, so weights of one name are equal.
  std::string name = madeName(what);
  auto text = [&](StringRef value) {
    return value.empty() ? StringAttr() : b.getStringAttr(value);
  };
  auto count = [&](int64_t value) {
    return value == 0 ? IntegerAttr() : b.getI64IntegerAttr(value);
  };
  define(b, name, [&] {
    // Fields that do not matter to a kind are left out, so that the IR says
    // what the weight is made of and nothing else.
    bool isExact = what.kind == MadeKind::Exact;
    bool isRounded =
        what.kind == MadeKind::Rounded || what.kind == MadeKind::Correction;
    bool isInside = !isExact && what.kind != MadeKind::Rounded;
    bool readsFile = isInside || (isRounded && what.isCompensated);
    MadeWeightOp::create(
        b, name, static_cast<MadeWeightKind>(what.kind), text(what.from),
        count(isRounded ? what.bits : 0), isRounded && what.isCompensated,
        count(isInside ? 0 : what.exactRows),
        count(isExact ? what.exactBits : 0), text(isInside ? what.basis : ""),
        count(isInside ? what.k : 0), text(readsFile ? bases : ""), type);
  });
  return WeightOp::create(b, type, b.getStringAttr(name),
                          getLayer(b, what.layer));
}

WeightOp gist::createConstantWeight(ImplicitLocOpBuilder &b, StringRef name,
                                    int64_t layer, ArrayRef<float> numbers) {
  auto type = RankedTensorType::get({static_cast<int64_t>(numbers.size())},
                                    b.getF32Type());
  define(b, name, [&] {
    ConstantWeightOp::create(b, name, DenseElementsAttr::get(type, numbers));
  });
  return WeightOp::create(b, type, b.getStringAttr(name), getLayer(b, layer));
}

WeightOp gist::createBasisWeight(ImplicitLocOpBuilder &b, StringRef name,
                                 int64_t layer, StringRef basis,
                                 StringRef bases, int64_t k, int64_t d) {
  // Not in blocks: residuals are computed as if V were orthonormal.
  auto type = RankedTensorType::get({k, d}, b.getF32Type());
  define(b, name, [&] {
    MadeWeightOp::create(
        b, name, MadeWeightKind::TransposedBasis, StringAttr(), IntegerAttr(),
        /*compensated=*/false, IntegerAttr(), IntegerAttr(),
        b.getStringAttr(basis), b.getI64IntegerAttr(k),
        bases.empty() ? StringAttr() : b.getStringAttr(bases), type);
  });
  return WeightOp::create(b, type, b.getStringAttr(name), getLayer(b, layer));
}

static WeightOp createFitted(ImplicitLocOpBuilder &b, StringRef name,
                             IntegerAttr layer, StringRef tensor,
                             StringRef maps, StringAttr source,
                             RankedTensorType type) {
  define(b, name,
         [&] { FittedWeightOp::create(b, name, tensor, maps, source, type); });
  return WeightOp::create(b, type, b.getStringAttr(name), layer);
}

Value gist::createFittedWeight(ImplicitLocOpBuilder &b, int64_t layer,
                               StringRef tensor, StringRef maps,
                               ArrayRef<int64_t> shape, bool inBlocks) {
  std::string name = ("depth." + tensor).str();
  auto create = [&](RankedTensorType type) {
    return createFitted(b, name, getLayer(b, layer), tensor, maps, {}, type);
  };
  if (shape.size() == 1)
    return create(RankedTensorType::get(shape, b.getF32Type()));
  WeightFormat format = inBlocks ? subspaceFormat(shape[1]) : WeightFormat::F16;
  WeightOp weight = create(getType(b, format, shape[0], shape[1]));
  if (!formatInfo(format).isQuantized())
    return weight;
  return DequantizeOp::create(b, weight.getResult(), getBlockFormat(format));
}

WeightOp gist::createPickedWeight(ImplicitLocOpBuilder &b, WeightOp source,
                                  StringRef tensor, StringRef maps,
                                  int64_t rows) {
  auto type = cast<RankedTensorType>(source.getType());
  SmallVector<int64_t> shape(type.getShape());
  shape[0] = rows;
  std::string name = ("depth." + source.getName()).str();
  return createFitted(b, name, source.getLayerAttr(), tensor, maps,
                      source.getNameAttr(), type.clone(shape));
}

WeightOp gist::getWeightOf(Value numbers) {
  if (auto dequantize = numbers.getDefiningOp<DequantizeOp>())
    numbers = dequantize.getBlocks();
  return numbers.getDefiningOp<WeightOp>();
}

// Stores transposed weights instead of transposing them in each call: blocks
// lie along rows, so a product can read only one of the two forms.
Value gist::createTransposedBasis(ImplicitLocOpBuilder &b, Value basis) {
  WeightOp weight = getWeightOf(basis);
  auto made = weight ? SymbolTable::lookupNearestSymbolFrom<MadeWeightOp>(
                           weight, weight.getNameAttr())
                     : MadeWeightOp();
  auto type = cast<RankedTensorType>(basis.getType());
  if (!made || made.getKind() != MadeWeightKind::Basis)
    return createLoops(b, "dk->kd", basis,
                       createEmpty(b,
                                   {getSize(b, basis, 1), getSize(b, basis, 0)},
                                   type.getElementType()),
                       [](ImplicitLocOpBuilder &, ValueRange args) -> Value {
                         return args[0];
                       });
  int64_t d = type.getDimSize(0), k = type.getDimSize(1);
  MadeWeight turned;
  turned.kind = MadeKind::Transposed;
  turned.from = made.getSource().value_or("").str();
  turned.basis = made.getBasis()->str();
  turned.layer = weight.getLayer().value_or(-1);
  turned.format = subspaceFormat(d);
  turned.k = k;
  WeightOp stored =
      createMadeWeight(b, turned, made.getBases().value_or(""), k, d);
  if (!formatInfo(turned.format).isQuantized())
    return stored;
  return DequantizeOp::create(b, stored.getResult(),
                              getBlockFormat(turned.format));
}

//===----------------------------------------------------------------------===//
// Content
//===----------------------------------------------------------------------===//

Status WeightMaker::open(StringRef path, const LinearBases *&file) {
  auto known = files.find(path.str());
  if (known == files.end()) {
    LinearBases opened;
    GIST_TRY(LinearBases::open(path.str(), opened));
    known = files.emplace(path.str(), std::move(opened)).first;
  }
  file = &known->second;
  return {};
}

Status WeightMaker::openMaps(StringRef path, const DepthMaps *&file) {
  auto known = maps.find(path.str());
  if (known == maps.end()) {
    DepthMaps opened;
    Status status = DepthMaps::open(path.str(), opened);
    if (!isFitting) {
      GIST_TRY(std::move(status));
      GIST_TRY(opened.checkModel(hashOfModel(model)));
    }
    known = maps.emplace(path.str(), std::move(opened)).first;
  }
  file = &known->second;
  return {};
}

Status WeightMaker::make(FittedWeightOp op, Weight &weight) {
  auto type = cast<RankedTensorType>(op.getType());
  std::vector<int64_t> shape(type.getShape());
  WeightFormat format = WeightFormat::F32;
  if (type.getElementType().isF16())
    format = WeightFormat::F16;
  const Weight *source = nullptr;
  if (op.getSource()) {
    auto found = model.entries.find(op.getSource()->str());
    if (found == model.entries.end())
      return Status::error(Code::NotFound,
                           "there is no weight '%s' in the model",
                           op.getSource()->str().c_str());
    source = &found->second;
    shape.resize(1);
  } else if (type.getElementType().isInteger(8)) {
    format = WeightFormat::Q8_0;
    shape = {shape[0], shape[1] * formatInfo(format).blockLength};
  }
  // Models with random weights get random maps: speed depends on shapes alone.
  const auto &any = model.entries.begin()->second;
  if (source ? source->random.has_value() : any.random.has_value()) {
    if (source) {
      weight = *source;
      weight.shape[0] = shape[0];
    } else {
      weight = randomWeight(shape, shape.size() == 1, format);
    }
    return {};
  }
  const DepthMaps *file = nullptr;
  GIST_TRY(openMaps(op.getMaps(), file));
  std::vector<float> numbers;
  Status status = file->find(op.getTensor().str(), shape, numbers);
  if (status.code == Code::NotFound && isFitting) {
    // Before the fit, a thin layer takes the first rows of a weight.
    numbers.resize(std::accumulate(shape.begin(), shape.end(), int64_t{1},
                                   std::multiplies<>()));
    if (source)
      std::iota(numbers.begin(), numbers.end(), 0.0F);
    status = {};
  }
  GIST_TRY(std::move(status));
  if (source)
    return pickedWeight(*source, numbers, weight).in(op.getTensor().str());
  weight = fittedWeight(format, shape, numbers);
  return {};
}

/// The struct of passes/Plan/File for `op`.
static MadeWeight describe(MadeWeightOp op) {
  auto type = cast<RankedTensorType>(op.getType());
  MadeWeight what;
  what.kind = static_cast<MadeKind>(op.getKind());
  what.from = op.getSource().value_or("").str();
  what.bits = op.getBits().value_or(0);
  what.isCompensated = op.getCompensated();
  what.exactRows = op.getExactRows().value_or(0);
  what.exactBits = op.getExactBits().value_or(0);
  what.basis = op.getBasis().value_or("").str();
  what.k = op.getK().value_or(0);
  if (type.getElementType().isF32())
    what.format = WeightFormat::F32;
  else if (type.getElementType().isInteger(8))
    what.format = WeightFormat::Q8_0; // Rounded weights go by their bits.
  int64_t blockLength = formatInfo(what.format).blockLength;
  if (what.kind == MadeKind::Basis)
    // Only the type has the length of the basis vectors.
    what.d = type.getDimSize(0);
  else if (what.kind == MadeKind::Transposed)
    what.d = type.getDimSize(1) * blockLength;
  return what;
}

Status WeightMaker::make(MadeWeightOp op, Weight &weight) {
  const LinearBases *bases = nullptr;
  GIST_TRY(open(op.getBases().value_or(""), bases));
  const Weight *source = nullptr;
  // Without a source the weight is part of a basis. makeWeight reports a source
  // that the model does not have.
  if (op.getSource())
    if (auto found = model.entries.find(op.getSource()->str());
        found != model.entries.end())
      source = &found->second;
  return makeWeight(describe(op), *bases, source, weight);
}

/// Rows are a view of the model's bytes; columns are copied.
Status WeightMaker::makePart(ModuleOp module, WeightPartOp op, Weight &weight) {
  std::string name = op.getSource().str();
  // Not a part of a part: that could go round in a circle.
  if (!model.entries.count(name) && !module.lookupSymbol<FittedWeightOp>(name))
    return Status::error(Code::NotFound,
                         "is a part of the weight '%s', which the model does "
                         "not have",
                         name.c_str());
  const Weight *source = nullptr;
  GIST_TRY(find(module, name, source));
  const Weight &whole = *source;
  auto axis = static_cast<size_t>(op.getAxis());
  auto begin = static_cast<uint64_t>(op.getOffset());
  auto size = static_cast<uint64_t>(op.getSize());
  // Blocks lie in a row one after the other, so columns are counted in them.
  uint64_t length = axis == 1 ? formatInfo(whole.format).blockLength : 1;
  if (axis >= whole.shape.size() ||
      begin + size > static_cast<uint64_t>(whole.shape[axis]) / length)
    return Status::error(Code::BadFile,
                         "asks for more than the weight '%s' has",
                         op.getSource().str().c_str());
  weight.format = whole.format;
  weight.shape = whole.shape;
  weight.shape[axis] = static_cast<int64_t>(size * length);
  weight.random = whole.random;
  if (whole.random)
    return {};
  auto rows = static_cast<uint64_t>(whole.shape[0]);
  uint64_t pitch = whole.content.size / rows; // bytes of a row
  if (axis == 0) {
    weight.content = {whole.content.data + begin * pitch, size * pitch};
    weight.file = whole.file;
    weight.fileOffset = whole.fileOffset + begin * pitch;
    weight.owned = whole.owned;
    return {};
  }
  uint64_t step = pitch / (static_cast<uint64_t>(whole.shape[1]) / length);
  auto copy = std::make_shared<std::vector<uint8_t>>();
  copy->reserve(rows * size * step);
  for (uint64_t row = 0; row < rows; ++row) {
    const uint8_t *at = whole.content.data + row * pitch + begin * step;
    copy->insert(copy->end(), at, at + size * step);
  }
  weight.content = {copy->data(), copy->size()};
  weight.owned = std::move(copy);
  return {};
}

static Status makeTable(HeadTableOp op, Weight &weight) {
  Plan plan = getHeads(op.getBody().front(), op.getBlock());
  CacheLayout layout;
  GIST_TRY(layOutCache(plan, op.getCapacity(), layout));
  weight = madeWeight({static_cast<int64_t>(plan.layers.size()),
                       static_cast<int64_t>(plan.layers.front().size()),
                       kNumHeadFields},
                      layout.table);
  return {};
}

static Weight makeConstant(ConstantWeightOp op) {
  std::vector<float> numbers;
  for (APFloat value : op.getValues().getValues<APFloat>())
    numbers.push_back(value.convertToFloat());
  ArrayRef<int64_t> shape = op.getValues().getShapedType().getShape();
  return madeWeight({shape.begin(), shape.end()}, numbers);
}

Status WeightMaker::find(ModuleOp module, StringRef name,
                         const Weight *&weight) {
  // The model's own weights first: an op must not shadow them.
  if (auto found = model.entries.find(name.str());
      found != model.entries.end()) {
    weight = &found->second;
    return {};
  }
  if (auto found = made.find(name.str()); found != made.end()) {
    weight = &found->second;
    return {};
  }
  Operation *op = SymbolTable::lookupSymbolIn(module, name);
  Weight result;
  if (auto defined = dyn_cast_or_null<MadeWeightOp>(op))
    GIST_TRY(make(defined, result));
  else if (auto fitted = dyn_cast_or_null<FittedWeightOp>(op))
    GIST_TRY(make(fitted, result));
  else if (auto table = dyn_cast_or_null<HeadTableOp>(op))
    GIST_TRY(makeTable(table, result));
  else if (auto constant = dyn_cast_or_null<ConstantWeightOp>(op))
    result = makeConstant(constant);
  else if (auto part = dyn_cast_or_null<WeightPartOp>(op))
    GIST_TRY(makePart(module, part, result));
  else
    return Status::error(Code::NotFound,
                         "reads the weight '%s', which the model does not have",
                         name.str().c_str());
  // Computed once for all targets. Nodes of a map do not move, so the pointer
  // stays valid.
  weight = &made.emplace(name.str(), std::move(result)).first->second;
  return {};
}

Status WeightMaker::checkFiles(ModuleOp module) {
  // Kept: these are the weights that the module will have.
  for (auto op : module.getOps<FittedWeightOp>()) {
    const Weight *weight = nullptr;
    GIST_TRY(find(module, op.getSymName(), weight));
  }
  for (auto op : module.getOps<MadeWeightOp>()) {
    const LinearBases *bases = nullptr;
    GIST_TRY(open(op.getBases().value_or(""), bases));
    MadeWeight what = describe(op);
    std::vector<float> rows;
    if (!needsSource(what.kind))
      GIST_TRY(bases->basis(what.basis, what.k, what.d, rows));
    // Compensated weights were rounded when the file was made, and are in it.
    if (what.kind != MadeKind::Rounded || !what.isCompensated)
      continue;
    ArrayRef<int64_t> shape = cast<RankedTensorType>(op.getType()).getShape();
    WeightFormat format = roundedFormat(what.bits);
    Bytes blocks;
    GIST_TRY(bases->rounded(what.from, format, shape[0] + what.exactRows,
                            shape[1] * formatInfo(format).blockLength, blocks));
  }
  return {};
}
