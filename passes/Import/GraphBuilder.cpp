//===- GraphBuilder.cpp - Weights, embeddings and linear layers -----------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Names, weights, embeddings and linear layers of GraphBuilder. Everything is
// plain linalg and tensor ops, so that later stages need not know
// architectures.
//
//===----------------------------------------------------------------------===//

#include "passes/Import/GraphBuilder.h"

#include "dialect/Formats.h"
#include "dialect/GistOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "runtime/module/ModuleSpec.h"
#include "llvm/ADT/StringExtras.h"

#include <utility>

using namespace gist;
using namespace mlir;

GraphBuilder::GraphBuilder(ModuleOp module, const Architecture &architecture,
                           const ModelConfig &config, const ModelSource &source,
                           const ImportOptions &options,
                           GraphAdapters &adapters, WeightMap &weights)
    : architecture(architecture), config(config), source(source),
      options(options), adapters(adapters), weights(weights),
      hasCache(architecture.isDecoder && !options.wholeSequence),
      b(UnknownLoc::get(module.getContext()), module.getContext()) {
  b.setInsertionPointToEnd(module.getBody());
  auto tokensType =
      RankedTensorType::get({ShapedType::kDynamic}, b.getI32Type());
  SmallVector<Type> arguments{tokensType};
  if (hasCache) {
    // One tensor for all layers, so that kernels of different layers are the
    // same kernel with another layer number.
    auto cache = RankedTensorType::get(
        {config.numLayers, config.capacity, config.numKvHeads, config.headSize},
        getCacheElement());
    arguments.append({b.getIndexType(), cache, cache});
    if (options.cacheType == CacheType::Int8) {
      RankedTensorType scales = tensorType(cache.getShape().drop_back());
      arguments.append({scales, scales});
    }
  }
  function =
      func::FuncOp::create(b, "forward", b.getFunctionType(arguments, {}));
  Block *entry = function.addEntryBlock();
  const char *names[] = {kTensorTokens, "past",     "k_cache",
                         "v_cache",     "k_scales", "v_scales"};
  for (BlockArgument argument : entry->getArguments()) {
    StringAttr name = b.getStringAttr(names[argument.getArgNumber()]);
    function.setArgAttr(argument.getArgNumber(), kNameAttr, name);
    argument.setLoc(NameLoc::get(name)); // for people
  }
  b.setInsertionPointToStart(entry);

  tokens = entry->getArgument(0);
  if (hasCache) {
    past = entry->getArgument(1);
    keyCache.rows = entry->getArgument(2);
    valueCache.rows = entry->getArgument(3);
  }
  if (arguments.size() > 4) {
    keyCache.scales = entry->getArgument(4);
    valueCache.scales = entry->getArgument(5);
  }
  numTokens = tensor::DimOp::create(b, tokens, 0);
  if (!adapters.chosen.empty())
    splitTokens();
  // An encoder has no past: it sees all tokens of a sequence at once.
  total =
      past ? arith::AddIOp::create(b, past, numTokens).getResult() : numTokens;
}

Type GraphBuilder::getCacheElement() {
  switch (options.cacheType) {
  case CacheType::F32:
    return b.getF32Type();
  case CacheType::F16:
    return b.getF16Type();
  case CacheType::Int8:
    break;
  }
  return b.getI8Type();
}

/// Later errors are often consequences of the first.
void GraphBuilder::fail(Status status) {
  if (firstError.ok())
    firstError = std::move(status);
}

//===----------------------------------------------------------------------===//
// Names and weights
//===----------------------------------------------------------------------===//

/// "layers.3.self_attn.q_proj": names that begin with a dot are those of a
/// layer.
static std::string inLayer(std::string_view name, const char *layers,
                           int64_t layer) {
  std::string front;
  if (name.front() == '.')
    front = layers + ("." + std::to_string(layer));
  return front + std::string(name);
}

/// What a folder calls a module, an optional prefix not included.
std::string GraphBuilder::folderName(std::string_view module) const {
  return inLayer(module, architecture.layers, currentLayer);
}

/// The name of a tensor in the source, an optional prefix not included.
std::string GraphBuilder::fullName(std::string_view module,
                                   const char *suffix) const {
  if (!source.isGguf)
    return folderName(module) + suffix;
  std::string_view name = module;
  for (const ModuleName &entry : architecture.ggufNames)
    if (module == entry.folder)
      name = entry.gguf;
  return inLayer(name, "blk", currentLayer) + suffix;
}

/// Finds a tensor with or without the prefix that folders may use, also by the
/// names that norms had in old ones; `name` is set to what it is called, or
/// would be.
const StoredTensor *GraphBuilder::find(std::string_view module,
                                       const char *suffix, std::string &name) {
  SmallVector<std::string> candidates{fullName(module, suffix)};
  if (!source.isGguf) {
    llvm::StringRef kind = suffix;
    // Folders converted from TensorFlow call them gamma and beta.
    const char *old = kind == ".weight" ? ".gamma" : ".beta";
    candidates.push_back(architecture.prefix + candidates[0]);
    candidates.push_back(fullName(module, old));
    candidates.push_back(architecture.prefix + candidates[2]);
  }
  for (const std::string &candidate : candidates) {
    auto found = source.tensors().find(candidate);
    if (found == source.tensors().end())
      continue;
    name = candidate;
    // A tensor that was only looked up counts as used too: a stored copy of a
    // tied head is not an error.
    used.insert(&found->second);
    return &found->second;
  }
  name = candidates[0];
  return nullptr;
}

bool GraphBuilder::hasTensor(std::string_view name) const {
  return source.tensors().contains(name);
}

/// The op for a weight; one op however often it is asked for. `layer` is null
/// for one that belongs to the whole model.
/// The same name in two functions is one weight in the module file.
Value GraphBuilder::emitWeight(const std::string &name, IntegerAttr layer) {
  Value &value = emitted[name];
  if (value)
    return value;
  const Weight &weight = weights.entries.find(name)->second;
  const FormatInfo &info = formatInfo(weight.format);
  SmallVector<int64_t> shape(weight.shape.begin(), weight.shape.end());
  Type element = b.getF32Type();
  // The innermost dimension becomes blocks of bytes. DequantizeOp gives the
  // numbers back.
  if (info.isQuantized()) { // Bytes: rows x blocks x bytes per block.
    shape.back() /= info.blockLength;
    shape.push_back(info.blockBytes);
    element = b.getI8Type();
  } else if (weight.format == WeightFormat::F16) {
    element = b.getF16Type();
  } else if (weight.format == WeightFormat::BF16) {
    element = b.getBF16Type();
  }
  value = WeightOp::create(b, RankedTensorType::get(shape, element),
                           b.getStringAttr(name), layer);
  return value;
}

/// The numbers of a matrix, or of rows taken from it.
Value GraphBuilder::numbers(Value stored, WeightFormat format) {
  if (!formatInfo(format).isQuantized())
    return stored;
  return DequantizeOp::create(b, stored, getBlockFormat(format));
}

/// The shape that the source has of a weight of `shape`: of stacked matrices
/// the number of them comes first.
static std::vector<int64_t> flattened(const std::vector<int64_t> &shape) {
  if (shape.size() < 3)
    return shape;
  return {shape[0] * shape[1], shape[2]};
}

/// The stored tensor `module` + `suffix` as a weight of `shape`, in the form
/// the options ask for; blocks are not dequantised yet.
GraphBuilder::NamedWeight
GraphBuilder::loadWeight(std::string_view module, const char *suffix,
                         const std::vector<int64_t> &shape, Stored how) {
  bool transposed = how == Stored::Transposed;
  NamedWeight result;
  const StoredTensor *stored = find(module, suffix, result.name);
  const std::string &name = result.name;
  std::vector<int64_t> storedShape = shape;
  if (transposed)
    std::swap(storedShape[0], storedShape[1]);
  b.setLoc(NameLoc::get(b.getStringAttr(name)));
  // Only the shape matters; the file's tensor is not read.
  if (options.randomWeights) {
    WeightFormat matrices =
        options.expandWeights ? WeightFormat::F32 : WeightFormat::F16;
    bool isBias = llvm::StringRef(suffix) == ".bias";
    // A weight that is requested again keeps its first values.
    auto made = weights.entries.emplace(
        name, randomWeight(flattened(shape), isBias, matrices));
    result.format = made.first->second.format;
    return result;
  }
  if (!stored) {
    std::string prefix;
    if (!source.isGguf)
      prefix =
          ", with or without " + inQuotes(architecture.prefix) + " before it";
    fail(Status::error(Code::BadFile,
                       "the model has no tensor %s%s; expected one of %s",
                       inQuotes(name).c_str(), prefix.c_str(),
                       shapeText(storedShape).c_str()));
    return result;
  }
  if (stored->shape != storedShape) {
    fail(Status::error(Code::BadFile, "tensor %s is %s; expected %s",
                       inQuotes(name).c_str(), shapeText(stored->shape).c_str(),
                       shapeText(storedShape).c_str()));
    return result;
  }
  if (formatInfo(stored->format).isQuantized() &&
      (shape.size() < 2 || transposed)) {
    // Blocks run along rows, so they cannot be transposed or be vectors.
    fail(Status::error(
        Code::Unsupported,
        "tensor %s is stored as %s, which is supported only for matrices",
        inQuotes(name).c_str(), formatInfo(stored->format).name));
    return result;
  }
  // A second function of the same model.
  auto known = weights.entries.find(name);
  if (known != weights.entries.end()) {
    result.format = known->second.format;
    return result;
  }
  bool expands = options.expandWeights && stored->format != WeightFormat::F32;
  Weight content = how == Stored::LessOne ? plusOne(*stored)
                   : expands              ? expandedWeight(*stored)
                                          : storedWeight(*stored);
  if (transposed)
    content = transposedWeight(content);
  if (llvm::StringRef(suffix) == ".weight")
    if (Status status = adapt(module, content); !status.ok()) {
      fail(std::move(status));
      return result;
    }
  // Blocks run along rows: the bytes are the same.
  content.shape = flattened(content.shape);
  result.format = content.format;
  weights.entries.emplace(name, std::move(content));
  return result;
}

/// The same, with the op that stands for it in the graph.
GraphBuilder::LoadedWeight
GraphBuilder::weight(std::string_view module, const char *suffix,
                     const std::vector<int64_t> &shape, Stored how) {
  auto [name, format] = loadWeight(module, suffix, shape, how);
  if (!format) // Anything of the right type, so that building can go on.
    return {tensor::EmptyOp::create(b, flattened(shape), b.getF32Type()),
            WeightFormat::F32};
  IntegerAttr layer;
  if (module.front() == '.')
    layer = b.getI64IntegerAttr(currentLayer);
  return {emitWeight(name, layer), *format};
}

/// A tensor that nothing used means that the model has a part which the graph
/// does not compute. Its results would be silently wrong.
Status GraphBuilder::takeStatus() {
  for (const auto &[name, tensor] : source.tensors()) {
    bool isKnown = used.contains(&tensor);
    for (const char *ending : architecture.unused)
      // By their ending: names of layers and prefixes differ before it.
      isKnown |= llvm::StringRef(name).ends_with(ending);
    if (!isKnown)
      fail(Status::error(Code::Unsupported,
                         "tensor %s is not used by the architecture %s",
                         inQuotes(name).c_str(), architecture.name));
  }
  return std::exchange(firstError, Status());
}

//===----------------------------------------------------------------------===//
// Embeddings
//===----------------------------------------------------------------------===//

/// The rows of a table, of numbers or of raw blocks, with these numbers.
Value GraphBuilder::gatherRows(Value table, Value numbers) {
  auto tableType = cast<RankedTensorType>(table.getType());
  SmallVector<int64_t> shape(tableType.getShape());
  shape[0] = ShapedType::kDynamic;
  auto rank = static_cast<unsigned>(shape.size());
  Value init = empty(RankedTensorType::get(shape, tableType.getElementType()));
  AffineMap rowMap = AffineMap::get(rank, 0, b.getAffineDimExpr(0));
  SmallVector<utils::IteratorType> loops(rank, utils::IteratorType::parallel);
  auto gather = linalg::GenericOp::create(
      b, init.getType(), numbers, init,
      {rowMap, b.getMultiDimIdentityMap(rank)}, loops,
      [&](OpBuilder &nested, Location loc, ValueRange values) {
        ImplicitLocOpBuilder inner(loc, nested);
        SmallVector<Value> at{
            arith::IndexCastOp::create(inner, inner.getIndexType(), values[0])};
        for (unsigned i = 1; i < rank; ++i)
          at.push_back(linalg::IndexOp::create(inner, i));
        Value value = tensor::ExtractOp::create(inner, table, at);
        linalg::YieldOp::create(inner, value);
      });
  return gather.getResult(0);
}

/// Dequantises only the rows that it took: the table is not expanded to f32.
Value GraphBuilder::embedding(std::string_view name, int64_t rows,
                              int64_t columns) {
  auto [table, format] = weight(name, ".weight", {rows, columns});
  return convert(numbers(gatherRows(table, tokens), format), b.getF32Type());
}

/// `count` rows of a table from row `first` on, as f32.
Value GraphBuilder::tableRows(std::string_view module, OpFoldResult first,
                              OpFoldResult count, int64_t rows,
                              int64_t columns) {
  auto [table, format] = weight(module, ".weight", {rows, columns});
  auto type = cast<RankedTensorType>(table.getType());
  // A quantised table has a third dimension, the bytes of a block, which is
  // taken whole.
  SmallVector<OpFoldResult> offsets(type.getRank(), b.getIndexAttr(0));
  SmallVector<OpFoldResult> strides(type.getRank(), b.getIndexAttr(1));
  SmallVector<OpFoldResult> sizes;
  for (int64_t dim : type.getShape())
    sizes.push_back(b.getIndexAttr(dim));
  offsets[0] = first;
  sizes[0] = count;
  Value slice =
      tensor::ExtractSliceOp::create(b, table, offsets, sizes, strides);
  return convert(numbers(slice, format), b.getF32Type());
}

Value GraphBuilder::positions(std::string_view name, int64_t rows,
                              int64_t columns, int64_t offset) {
  OpFoldResult first = b.getIndexAttr(offset);
  // Positions go on where the tokens before ended.
  if (past) {
    Value shift = arith::ConstantIndexOp::create(b, offset);
    first = offset == 0 ? past : arith::AddIOp::create(b, past, shift);
  }
  return tableRows(name, first, numTokens, rows + offset, columns);
}

Value GraphBuilder::addRow(Value x, std::string_view name, int64_t rows,
                           int64_t row) {
  int64_t size = cast<RankedTensorType>(x.getType()).getDimSize(1);
  Value value =
      tableRows(name, b.getIndexAttr(row), b.getIndexAttr(1), rows, size);
  value = tensor::CollapseShapeOp::create(
      b, value, ArrayRef<ReassociationIndices>{{0, 1}});
  return addOperand(x, {value, {1}});
}

//===----------------------------------------------------------------------===//
// Linear layers
//===----------------------------------------------------------------------===//

/// x times the transposed weight, and the bias, if wanted.
Value GraphBuilder::project(Value x, std::string_view name, int64_t outputs,
                            Bias bias, Stored how) {
  auto type = cast<RankedTensorType>(x.getType());
  auto [matrix, format] =
      weight(name, ".weight", {outputs, type.getDimSize(1)}, how);
  Value init = zeros(tensorType({type.getDimSize(0), outputs}));
  Value product = linalg::MatmulTransposeBOp::create(
                      b, b.getLoc(), TypeRange(init.getType()),
                      ValueRange{x, numbers(matrix, format)}, init)
                      .getResult(0);
  if (isAdapted(name))
    product = addChosen(product, x, name, format);
  std::string biasName;
  if (bias == Bias::IfStored && !find(name, ".bias", biasName))
    return product;
  return addBias(product, name);
}

Value GraphBuilder::linear(Value x, std::string_view name, int64_t outputs,
                           Bias bias) {
  return project(x, name, outputs, bias,
                 config.transposedLinears ? Stored::Transposed : Stored::AsIs);
}

Value GraphBuilder::addBias(Value x, std::string_view name) {
  int64_t size = cast<RankedTensorType>(x.getType()).getDimSize(1);
  return addOperand(x, {weight(name, ".bias", {size}).value, {1}});
}

/// `tied` uses the table of embeddings as the weight, which is then stored
/// once.
Value GraphBuilder::logits(Value x, std::string_view name,
                           std::string_view embedding, Bias bias) {
  bool tied = false;
  std::string stored;
  bool isStored = find(name, ".weight", stored) != nullptr;
  if (Status status = source.config().read({{"tie_word_embeddings"}}, tied);
      !status.ok())
    fail(std::move(status));
  // Without that key they are tied if the layer is not stored.
  if (!source.config().has({{"tie_word_embeddings"}}))
    tied = !isStored;
  if (!tied)
    return project(x, name, config.vocabSize, bias, Stored::AsIs);
  Value product =
      project(x, embedding, config.vocabSize, Bias::IfStored, Stored::AsIs);
  std::string biasName;
  if (bias == Bias::IfStored && !find(name, ".bias", biasName))
    return product;
  return addBias(product, name);
}
