//===- SpecBuilder.cpp - What the entries of a module share ---------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The tables of a module's spec while entries are emitted: expressions,
// buffers, weights and kernels, each kept once.
//
//===----------------------------------------------------------------------===//

#include "passes/Emit/SpecBuilder.h"
#include "dialect/Formats.h"
#include "dialect/GistIntegerOps.h"
#include "dialect/GistLaunchNames.h"
#include "dialect/GistRankOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/Emit/WeightParts.h"
#include "passes/Kernel/Kernels.h"
#include "passes/Kernel/Sizes.h"
#include "runtime/module/Format.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <cmath>

using namespace mlir;
using namespace gist;

/// The expression of the file format for `expr`, which has symbols alone.
/// The module evaluates it for each call (runtime/module/Expr.h), so the kinds
/// of both have to match.
static Expr toExpr(AffineExpr expr) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return Expr::constant(constant.getValue());
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return Expr::symbol(symbol.getPosition());
  auto binary = cast<AffineBinaryOpExpr>(expr);
  Expr lhs = toExpr(binary.getLHS()), rhs = toExpr(binary.getRHS());
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return Expr::binary(ExprOp::Add, lhs, rhs);
  case AffineExprKind::Mul:
    return Expr::binary(ExprOp::Mul, lhs, rhs);
  case AffineExprKind::FloorDiv:
    return Expr::binary(ExprOp::FloorDiv, lhs, rhs);
  case AffineExprKind::CeilDiv:
    return Expr::binary(ExprOp::CeilDiv, lhs, rhs);
  case AffineExprKind::Mod:
    return Expr::binary(ExprOp::Mod, lhs, rhs);
  default:
    llvm_unreachable("constants and symbols are handled above");
  }
}

/// The element type of a buffer; quantised blocks are bytes except to their
/// kernels.
static ElementType getElementType(RankedTensorType type) {
  Type element = type.getElementType();
  if (element.isF32())
    return ElementType::F32;
  if (element.isF16())
    return ElementType::F16;
  if (element.isBF16())
    return ElementType::BF16;
  if (element.isInteger(8))
    return ElementType::I8;
  if (element.isInteger(16))
    return ElementType::I16;
  if (element.isInteger(32))
    return ElementType::I32;
  return element.isInteger(64) ? ElementType::I64 : ElementType::Byte;
}

/// Targets share weights and buffers of the same name, but not kernels.
void SpecBuilder::beginTarget(uint32_t number, StringRef name) {
  target = number;
  scope = name.str();
  kernelOf.clear();
}

ExprId SpecBuilder::addExpr(AffineExpr expr) {
  return writer.spec.addExpr(toExpr(expr));
}

uint32_t SpecBuilder::push(BufferSpec buffer) {
  auto number = static_cast<uint32_t>(writer.spec.buffers.size());
  bufferOf[buffer.name] = number;
  writer.spec.buffers.push_back(std::move(buffer));
  return number;
}

/// Expressions are kept once, so their numbers can be compared.
static bool isSame(const BufferSpec &a, const BufferSpec &b) {
  return a.kind == b.kind && a.type == b.type && a.shape == b.shape &&
         a.size == b.size && a.offset == b.offset;
}

/// Entries share a buffer of the same name if it is the same in all respects:
/// the cache of prefill and decode is one. Otherwise the entry's name makes it
/// another.
uint32_t SpecBuilder::addBuffer(const std::string &name, StringRef entry,
                                BufferKind kind, Value tensor,
                                AffineExpr offset) {
  BufferSpec buffer;
  buffer.name = name;
  buffer.kind = kind;
  buffer.type = getElementType(cast<RankedTensorType>(tensor.getType()));
  for (AffineExpr size : getSymbolicShape(tensor))
    buffer.shape.push_back(addExpr(size));
  std::optional<SizePolynomial> bytes = getByteSize(tensor);
  assert(bytes && "planning has asked for every size");
  buffer.size = addExpr(bytes->toMap(tensor.getContext()).getResult(0));
  if (offset)
    buffer.offset = addExpr(offset);

  auto known = bufferOf.find(name);
  if (known == bufferOf.end())
    return push(std::move(buffer));
  if (isSame(writer.spec.buffers[known->second], buffer))
    return known->second;
  buffer.name = (entry + "." + name).str();
  return push(std::move(buffer));
}

/// `path` as seen from the folder of the module file `from`.
static std::string relativeTo(StringRef path, StringRef from) {
  SmallString<128> target(path), folder(from);
  // Without a current folder there is nothing to be relative to.
  if (llvm::sys::fs::make_absolute(target) ||
      llvm::sys::fs::make_absolute(folder))
    return path.str();
  llvm::sys::path::remove_dots(target, /*remove_dot_dot=*/true);
  llvm::sys::path::remove_dots(folder, /*remove_dot_dot=*/true);
  llvm::sys::path::remove_filename(folder);
  auto a = llvm::sys::path::begin(target), aEnd = llvm::sys::path::end(target);
  auto b = llvm::sys::path::begin(folder), bEnd = llvm::sys::path::end(folder);
  // The common part is dropped; what is left of the folder is climbed.
  while (a != aEnd && b != bEnd && *a == *b)
    ++a, ++b;
  SmallString<128> result;
  for (; b != bEnd; ++b)
    llvm::sys::path::append(result, "..");
  for (; a != aEnd; ++a)
    llvm::sys::path::append(result, *a);
  return result.str().str();
}

/// The names of random weights one below the other, with their rows: numbers
/// are made from names, and those of a part are what they are elsewhere.
/// `suffix` says what they are in 8 bits.
static std::string getRandomName(ArrayRef<const Weight *> parts,
                                 ArrayAttr names, StringRef suffix) {
  std::string name;
  for (auto [part, single] :
       llvm::zip_equal(parts, names.getAsValueRange<StringAttr>()))
    name += (name.empty() ? "" : "+") + (single + suffix).str() + "[" +
            std::to_string(part->shape[0]) + "]";
  return name;
}

/// What a module calls numbers of 8 bits.
static std::string getFormatName(Type number) {
  std::optional<SmallFloat> format = getSmallFloat(number);
  return format ? toString(*format) : "i8";
}

/// How what a weight in 8 bits has of random numbers is spread. Rows are long
/// enough for their largest numbers to be about the same; a spread of zero
/// would say that numbers are not random.
static RandomNumbers getByRow(RandomNumbers numbers, Type number,
                              bool isScales) {
  constexpr float kSpread = 1e-3f;
  auto most = static_cast<float>(getLargest(number));
  if (!isScales)
    return {.mean = 0, .spread = most};
  float scale = (std::abs(numbers.mean) + numbers.spread) / most;
  return {.mean = scale, .spread = kSpread * scale};
}

void SpecBuilder::shareBytes(WeightOp op, ArrayRef<const Weight *> parts,
                             uint32_t base) {
  auto names = op->getAttrOfType<ArrayAttr>(kPartsAttr);
  if (!names) {
    std::string name = op.getName().str();
    aloneOf[name] = base;
    if (auto joined = joinedOf.find(name); joined != joinedOf.end())
      writer.placeInside(base, joined->second.first, joined->second.second);
    return;
  }
  uint64_t offset = 0;
  for (auto [name, part] :
       llvm::zip_equal(names.getAsValueRange<StringAttr>(), parts)) {
    // Weights of a module are aligned; one that would not be has bytes of its
    // own.
    bool isNew = offset % kWeightAlignment == 0 &&
                 joinedOf.try_emplace(name.str(), base, offset).second;
    if (auto alone = aloneOf.find(name.str()); isNew && alone != aloneOf.end())
      writer.placeInside(alone->second, base, offset);
    offset += part->content.size;
  }
}

/// The same weight is stored once however many ops name it.
FailureOr<uint32_t> SpecBuilder::addWeight(WeightOp op) {
  FailureOr<std::vector<const Weight *>> parts = findParts(op, weights);
  if (failed(parts))
    return failure();
  const Weight &weight = *parts->front();
  auto type = cast<RankedTensorType>(op.getType());
  auto packing = op->getAttrOfType<PackingAttr>(kPackingAttr);
  std::vector<int64_t> shape = weight.shape;
  uint64_t bytes = weight.random ? getNumBytes(type) : weight.content.size;
  for (const Weight *part : llvm::drop_begin(*parts)) {
    shape[0] += part->shape[0];
    bytes += part->content.size;
  }
  auto byRow = op->getAttrOfType<TypeAttr>(kByRowAttr);
  bool isScales = type.getRank() == 1;
  // A packed weight has other bytes than the model: packWeight makes them. So
  // has one in 8 bits.
  if (!packing && !byRow && bytes != getNumBytes(type))
    return op.emitOpError("has ")
           << bytes << " bytes in the model, but its type "
           << "says " << getNumBytes(type);

  // A table that is both gathered from and multiplied is stored in both forms.
  std::string name = op.getName().str();
  WeightStorage storage{weight.format, std::nullopt};
  if (packing)
    storage.packing = getPackedLayout(packing);
  std::string format = printStorage(storage);
  // The name of the format is all that a module says of the layout. It is read
  // back to make sure that it says enough.
  if (WeightStorage said; !parseStorage(format, said) || said != storage)
    return op.emitOpError("has a packing that a module cannot name: ")
           << packing << " is not what \"" << format << "\" means";
  if (packing)
    name += " " + format;
  std::string suffix;
  if (byRow) {
    std::string number = getFormatName(byRow.getValue());
    suffix = " " + number + (isScales ? " scales" : " values");
    name += suffix;
    bytes = getNumBytes(type);
    shape = type.getShape().vec();
    format = isScales ? "f32" : number;
  }
  if (auto known = bufferOf.find(name); known != bufferOf.end())
    return known->second;

  BufferSpec buffer;
  buffer.name = name;
  buffer.kind = BufferKind::Weight;
  buffer.type = formatInfo(weight.format).isQuantized() && !byRow
                    ? ElementType::Byte
                    : getElementType(type);
  for (int64_t size : shape)
    buffer.shape.push_back(writer.spec.addConstant(size));
  if (weight.random)
    buffer.base = writer.addRandomWeight(
        parts->size() == 1
            ? name
            : getRandomName(*parts, op->getAttrOfType<ArrayAttr>(kPartsAttr),
                            suffix),
        format, shape, bytes,
        byRow ? getByRow(*weight.random, byRow.getValue(), isScales)
              : *weight.random);
  else if (packing || byRow || parts->size() > 1)
    buffer.base = writer.addWeight(name, format, shape, getNumBytes(type),
                                   makeProducer(op, *parts));
  // Packed and joined weights exist nowhere else, so they are always embedded.
  else if (options.referenceFrom.empty() || weight.file.empty())
    buffer.base = writer.addWeight(name, format, shape, weight.content);
  else
    buffer.base = writer.addExternalWeight(
        name, format, shape, relativeTo(weight.file, options.referenceFrom),
        weight.fileOffset, weight.content);
  bool isEmbedded =
      !weight.random && writer.spec.weights[buffer.base].file.empty();
  if (isEmbedded && !packing && !byRow)
    shareBytes(op, *parts, buffer.base);
  return push(std::move(buffer));
}

void SpecBuilder::addKernels(ModuleOp calls, Operation *lowered) {
  for (auto kernel : calls.getOps<func::FuncOp>()) {
    auto columns = kernel->getAttrOfType<DenseI64ArrayAttr>(kCollectiveAttr);
    if (!isKernel(kernel) && !columns)
      continue;
    KernelSpec spec;
    // A name for people, and apart for each target; code is found by its
    // symbol.
    spec.name = getScoped(kernel.getName());
    // The slots are those of EmitModule: each dynamic size is one more.
    for (Type type : kernel.getArgumentTypes()) {
      ++spec.argCount;
      if (auto tensor = dyn_cast<RankedTensorType>(type))
        spec.argCount += tensor.getNumDynamicDims();
    }
    kernelOf[kernel.getName().str()] = writer.spec.kernels.size();
    if (columns) {
      ArrayRef<int64_t> widths = columns.asArrayRef();
      CollectiveSpec one;
      one.kernel = static_cast<uint32_t>(writer.spec.kernels.size());
      one.kind = widths.empty() ? Collective::AllReduce : Collective::AllGather;
      one.columns.assign(widths.begin(), widths.end());
      if (auto ranks = kernel->getAttrOfType<DenseI64ArrayAttr>(kHandOnAttr)) {
        one.kind = Collective::HandOn;
        one.from = static_cast<uint32_t>(ranks[0]);
        one.to = static_cast<uint32_t>(ranks[1]);
      }
      writer.ranks.collectives.push_back(std::move(one));
      writer.spec.kernels.push_back(std::move(spec));
      continue;
    }
    KernelCode code{.target = target, .symbol = kernel.getName().str()};
    if (Operation *function =
            SymbolTable::lookupSymbolIn(lowered, kernel.getName())) {
      if (auto threads =
              function->getAttrOfType<DenseI64ArrayAttr>(kWorkgroupAttr))
        llvm::copy(threads.asArrayRef(), code.workgroup.begin());
      if (auto bytes = function->getAttrOfType<IntegerAttr>(kSharedMemoryAttr))
        code.sharedMemory = bytes.getInt();
      code.waits = function->hasAttr(kWaitsAttr);
      if (function->hasAttr(kByTableAttr))
        code.byTable = code.symbol + kByTableSuffix.str();
    }
    spec.code.push_back(std::move(code));
    writer.spec.kernels.push_back(std::move(spec));
  }
}
