//===- GpuBuilder.cpp - Writes the code of one GPU thread -----------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Tile/Gpu/Core/GpuBuilder.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace gist;

using Value = GpuBuilder::Value;
using Values = GpuBuilder::Values;
using arith::IntegerOverflowFlags;

GpuBuilder::GpuBuilder(func::FuncOp function, const GpuInfo &gpu,
                       int64_t threads)
    : ImplicitLocOpBuilder(function.getLoc(),
                           OpBuilder::atBlockEnd(&function.getBody().front())),
      gpu(gpu), threads(threads), entry(&function.getBody().front()) {}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

Value GpuBuilder::index(int64_t value) {
  return arith::ConstantIndexOp::create(*this, value);
}

Value GpuBuilder::i32(int64_t value) {
  return arith::ConstantIntOp::create(*this, getI32Type(), value);
}

Value GpuBuilder::constant(Type type, double value) {
  Type element = getElementTypeOrSelf(type);
  TypedAttr attr =
      isa<FloatType>(element)
          ? TypedAttr(getFloatAttr(element, value))
          : TypedAttr(getIntegerAttr(element, static_cast<int64_t>(value)));
  if (auto vector = dyn_cast<VectorType>(type))
    attr = DenseElementsAttr::get(vector, Attribute(attr));
  return arith::ConstantOp::create(*this, attr);
}

Value GpuBuilder::add(Value a, Value b) {
  return createOrFold<arith::AddIOp>(a, b, IntegerOverflowFlags::nsw);
}

Value GpuBuilder::sub(Value a, Value b) {
  return createOrFold<arith::SubIOp>(a, b, IntegerOverflowFlags::nsw);
}

Value GpuBuilder::mul(Value a, Value b) {
  return createOrFold<arith::MulIOp>(a, b, IntegerOverflowFlags::nsw);
}

Value GpuBuilder::div(Value a, Value b) {
  return createOrFold<arith::DivUIOp>(a, b);
}

Value GpuBuilder::rem(Value a, Value b) {
  return createOrFold<arith::RemUIOp>(a, b);
}

Value GpuBuilder::min(Value a, Value b) {
  return createOrFold<arith::MinSIOp>(a, b);
}

Value GpuBuilder::max(Value a, Value b) {
  return createOrFold<arith::MaxSIOp>(a, b);
}

Value GpuBuilder::compare(arith::CmpIPredicate predicate, Value a, Value b) {
  return createOrFold<arith::CmpIOp>(predicate, a, b);
}

Value GpuBuilder::compare(arith::CmpFPredicate predicate, Value a, Value b) {
  return arith::CmpFOp::create(*this, predicate, a, b);
}

Value GpuBuilder::isLess(Value a, Value b) {
  return compare(arith::CmpIPredicate::slt, a, b);
}

Value GpuBuilder::isEqual(Value a, int64_t b) {
  return compare(arith::CmpIPredicate::eq, a, index(b));
}

Value GpuBuilder::both(Value a, Value b) {
  return createOrFold<arith::AndIOp>(a, b);
}

Value GpuBuilder::negate(Value condition) {
  return arith::XOrIOp::create(
      *this, condition, arith::ConstantIntOp::create(*this, getI1Type(), 1));
}

Value GpuBuilder::select(Value condition, Value a, Value b) {
  return createOrFold<arith::SelectOp>(condition, a, b);
}

Value GpuBuilder::toI32(Value index) {
  return arith::IndexCastOp::create(*this, getI32Type(), index);
}

Value GpuBuilder::toIndex(Value number) {
  return arith::IndexCastOp::create(*this, getIndexType(), number);
}

Value GpuBuilder::linearize(ValueRange indices, ValueRange sizes) {
  Value number = index(0);
  for (auto [i, size] : llvm::zip_equal(indices, sizes))
    number = add(mul(number, size), i);
  return number;
}

Values GpuBuilder::delinearize(Value number, ValueRange sizes) {
  Values indices(sizes.size());
  for (size_t i = sizes.size(); i-- > 1;) {
    indices[i] = rem(number, sizes[i]);
    number = div(number, sizes[i]);
  }
  if (!sizes.empty())
    indices.front() = number;
  return indices;
}

/// The limit keeps products of divisors from overflowing. 1 is always right.
int64_t GpuBuilder::getDivisor(Value index) {
  constexpr int64_t kLimit = 1 << 20;
  auto powerOfTwo = [&](int64_t value) {
    return value == 0 ? kLimit : std::min(value & -value, kLimit);
  };
  if (std::optional<int64_t> value = getConstantIntValue(index))
    return powerOfTwo(*value);
  if (auto argument = dyn_cast<BlockArgument>(index)) {
    auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
    if (loop && loop.getInductionVar() == index)
      return std::min(getDivisor(loop.getLowerBound()),
                      getDivisor(loop.getStep()));
    return 1;
  }
  Operation *op = index.getDefiningOp();
  auto of = [&](unsigned operand) {
    return getDivisor(op->getOperand(operand));
  };
  if (isa<arith::AddIOp, arith::SubIOp, arith::MinSIOp, arith::MaxSIOp,
          arith::RemUIOp>(op))
    return std::min(of(0), of(1));
  if (isa<arith::MulIOp>(op))
    return std::min(of(0) * of(1), kLimit);
  if (isa<arith::SelectOp>(op))
    return std::min(of(1), of(2));
  if (isa<arith::DivUIOp>(op))
    if (std::optional<int64_t> by = getConstantIntValue(op->getOperand(1)))
      // Where `by` has more factors of two than the dividend is known to have,
      // the quotient is rounded and nothing is known.
      if (llvm::isPowerOf2_64(*by))
        return std::max<int64_t>(of(0) / *by, 1);
  return 1;
}

//===----------------------------------------------------------------------===//
// Thread and workgroup numbers
//===----------------------------------------------------------------------===//

Value GpuBuilder::thread() {
  if (!threadId) {
    InsertionGuard guard(*this);
    setInsertionPointToStart(entry);
    // It is made once, where the kernel begins, so that it dominates every use;
    // so are the numbers of blocks below.
    threadId = gpu::ThreadIdOp::create(*this, gpu::Dimension::x,
                                       getIndexAttr(threads));
  }
  return threadId;
}

Value GpuBuilder::block(unsigned dim) {
  if (!blockIds[dim]) {
    InsertionGuard guard(*this);
    setInsertionPointToStart(entry);
    blockIds[dim] =
        gpu::BlockIdOp::create(*this, static_cast<gpu::Dimension>(dim));
  }
  return blockIds[dim];
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

Value GpuBuilder::allocWorkgroup(ArrayRef<int64_t> shape, Type element) {
  InsertionGuard guard(*this);
  setInsertionPointToStart(entry);
  auto space =
      gpu::AddressSpaceAttr::get(getContext(), gpu::AddressSpace::Workgroup);
  auto type =
      MemRefType::get(shape, element, MemRefLayoutAttrInterface(), space);
  return memref::AllocaOp::create(*this, type, getI64IntegerAttr(16));
}

Value GpuBuilder::size(Value buffer, int64_t dim) {
  auto type = cast<MemRefType>(buffer.getType());
  if (!type.isDynamicDim(dim))
    return index(type.getDimSize(dim));
  return memref::DimOp::create(*this, buffer, dim);
}

Values GpuBuilder::sizes(Value buffer) {
  Values sizes;
  for (int64_t i = 0; i < cast<MemRefType>(buffer.getType()).getRank(); ++i)
    sizes.push_back(size(buffer, i));
  return sizes;
}

/// The bytes by which `width` elements at `indices` of a buffer are aligned, at
/// most all of them. Buffers begin at multiples of 16 bytes.
static int64_t getAlignment(Value buffer, ValueRange indices, int64_t width) {
  auto type = cast<MemRefType>(buffer.getType());
  int64_t bytes = std::max(type.getElementTypeBitWidth() / 8, 1u);
  int64_t alignment =
      std::min<int64_t>(llvm::bit_floor<uint64_t>(width) * bytes, 16);
  auto [strides, offset] = type.getStridesAndOffset();
  for (auto [i, stride] : llvm::zip_equal(indices, strides)) {
    int64_t divisor = GpuBuilder::getDivisor(i);
    if (ShapedType::isDynamic(stride)) {
      // Sizes outside are dynamic only in front of static ones.
      divisor = 1;
    } else {
      divisor *= stride & -stride;
    }
    alignment = std::min(alignment, divisor * bytes);
  }
  return alignment;
}

Value GpuBuilder::read(Value buffer, ValueRange indices) {
  return memref::LoadOp::create(*this, buffer, indices);
}

Value GpuBuilder::read(Value buffer, ValueRange indices, int64_t width) {
  auto type =
      vectorOf(width, cast<MemRefType>(buffer.getType()).getElementType());
  return vector::LoadOp::create(
      *this, type, buffer, indices, /*nontemporal=*/false,
      llvm::MaybeAlign(getAlignment(buffer, indices, width)));
}

void GpuBuilder::write(Value value, Value buffer, ValueRange indices) {
  auto type = dyn_cast<VectorType>(value.getType());
  if (!type) {
    memref::StoreOp::create(*this, value, buffer, indices);
    return;
  }
  vector::StoreOp::create(
      *this, value, buffer, indices, /*nontemporal=*/false,
      llvm::MaybeAlign(getAlignment(buffer, indices, type.getNumElements())));
}

Value GpuBuilder::readNumber(Value buffer, ValueRange indices) {
  return toIndex(read(buffer, indices));
}

//===----------------------------------------------------------------------===//
// Vectors and types of numbers
//===----------------------------------------------------------------------===//

Value GpuBuilder::broadcast(Value scalar, int64_t lanes) {
  if (lanes == 1)
    return scalar;
  return createOrFold<vector::BroadcastOp>(vectorOf(lanes, scalar.getType()),
                                           scalar);
}

Value GpuBuilder::slice(Value vector, int64_t first, int64_t count) {
  int64_t lanes = cast<VectorType>(vector.getType()).getNumElements();
  if (count == lanes)
    return vector;
  SmallVector<int64_t> mask;
  for (int64_t i = 0; i < count; ++i)
    mask.push_back(first + i);
  return shuffle(vector, vector, mask);
}

Value GpuBuilder::extract(Value vector, int64_t lane) {
  return createOrFold<vector::ExtractOp>(vector, lane);
}

Value GpuBuilder::concat(ValueRange parts) {
  Values lanes;
  for (Value part : parts) {
    auto type = dyn_cast<VectorType>(part.getType());
    if (!type) {
      lanes.push_back(part);
      continue;
    }
    for (int64_t i = 0; i < type.getNumElements(); ++i)
      lanes.push_back(extract(part, i));
  }
  return vector::FromElementsOp::create(
      *this, vectorOf(lanes.size(), lanes.front().getType()), lanes);
}

Value GpuBuilder::shuffle(Value a, Value b, ArrayRef<int64_t> lanes) {
  return createOrFold<vector::ShuffleOp>(a, b, lanes);
}

Value GpuBuilder::convert(Value value, Type element) {
  Type from = getElementTypeOrSelf(value), to = element;
  if (from == element)
    return value;
  if (auto vector = dyn_cast<VectorType>(value.getType()))
    to = vector.clone(element);
  unsigned bits = from.getIntOrFloatBitWidth();
  unsigned target = element.getIntOrFloatBitWidth();
  if (bits < target)
    return arith::ExtFOp::create(*this, to, value);
  if (bits == target) // f16 and bf16 meet in f32.
    return convert(convert(value, getF32Type()), element);
  return arith::TruncFOp::create(*this, to, value);
}

//===----------------------------------------------------------------------===//
// Reductions among threads
//===----------------------------------------------------------------------===//

Value GpuBuilder::reduceLanes(Value vector, Combiner combiner) {
  auto type = dyn_cast<VectorType>(vector.getType());
  if (!type)
    return vector;
  Values lanes;
  for (int64_t i = 0; i < type.getNumElements(); ++i)
    lanes.push_back(extract(vector, i));
  // A tree, not a chain: its depth is the latency.
  while (lanes.size() > 1) {
    Values next;
    for (size_t i = 0; i + 1 < lanes.size(); i += 2)
      next.push_back(combiner(lanes[i], lanes[i + 1]));
    if (lanes.size() % 2)
      next.push_back(lanes.back());
    lanes = std::move(next);
  }
  return lanes.front();
}

Value GpuBuilder::exchange(Value value, int64_t mask) {
  Type type = value.getType();
  // Shuffles move 32 bits.
  unsigned bits = type.getIntOrFloatBitWidth();
  if (bits < 32) {
    auto narrow = getIntegerType(bits);
    Value raw = isa<FloatType>(type)
                    ? arith::BitcastOp::create(*this, narrow, value).getResult()
                    : value;
    Value wide = arith::ExtUIOp::create(*this, getI32Type(), raw);
    Value other = arith::TruncIOp::create(*this, narrow, exchange(wide, mask));
    return isa<FloatType>(type)
               ? arith::BitcastOp::create(*this, type, other).getResult()
               : other;
  }
  if (bits == 64 && isa<FloatType>(type)) {
    Value raw = arith::BitcastOp::create(*this, getI64Type(), value);
    return arith::BitcastOp::create(*this, type, exchange(raw, mask));
  }
  if (bits == 64) {
    Value half = arith::ConstantIntOp::create(*this, type, 32);
    auto move = [&](Value part) -> Value {
      Value word = arith::TruncIOp::create(*this, getI32Type(), part);
      return arith::ExtUIOp::create(*this, type, exchange(word, mask));
    };
    Value low = move(value);
    Value high = move(arith::ShRUIOp::create(*this, value, half));
    return arith::OrIOp::create(
        *this, low, arith::ShLIOp::create(*this, high, half).getResult());
  }
  return gpu::ShuffleOp::create(*this, value, static_cast<int32_t>(mask),
                                static_cast<int32_t>(gpu.waveSize),
                                gpu::ShuffleMode::XOR)
      .getShuffleResult();
}

Value GpuBuilder::waveReduce(Value scalar, Combiner combiner, int64_t lanes) {
  for (int64_t mask = (lanes ? lanes : gpu.waveSize) / 2; mask > 0; mask /= 2)
    scalar = combiner(scalar, exchange(scalar, mask));
  return scalar;
}

Value GpuBuilder::waveReduce(Value scalar, Kind kind, int64_t lanes) {
  return waveReduce(
      scalar, [&](Value a, Value b) { return combine(kind, a, b); }, lanes);
}

Value GpuBuilder::workgroupReduce(Value scalar, Combiner combiner) {
  scalar = waveReduce(scalar, combiner);
  int64_t waves = threads / gpu.waveSize;
  if (waves == 1)
    return scalar;
  // All reductions of a type share one piece of memory, which is why there is a
  // barrier before it is written.
  Value &memory = exchangeMemory[scalar.getType()];
  if (!memory)
    memory = allocWorkgroup({waves}, scalar.getType());
  barrier(); // The reduction before has been read.
  ifThen(isEqual(lane(), 0), [&] { write(scalar, memory, wave()); });
  barrier();
  // With many waves, log2(waves) shuffles take the place of as many reads as
  // there are waves. All waves compute the result, so that no third barrier is
  // needed to hand it out.
  if (waves >= 16 && llvm::isPowerOf2_64(waves))
    return waveReduce(read(memory, rem(lane(), waves)), combiner, waves);
  Value result = read(memory, index(0));
  for (int64_t i = 1; i < waves; ++i)
    result = combiner(result, read(memory, index(i)));
  return result;
}

Value GpuBuilder::workgroupReduce(Value scalar, Kind kind) {
  return workgroupReduce(scalar,
                         [&](Value a, Value b) { return combine(kind, a, b); });
}

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

Values GpuBuilder::loop(Value lower, Value upper, Value step,
                        ValueRange carried, LoopBody body) {
  auto loop = scf::ForOp::create(*this, lower, upper, step, carried);
  InsertionGuard guard(*this);
  setInsertionPointToStart(loop.getBody());
  Values next = body(loop.getInductionVar(), loop.getRegionIterArgs());
  // A loop that carries nothing is created with its terminator, others without
  // one.
  if (!carried.empty() || loop.getBody()->empty() ||
      !loop.getBody()->back().hasTrait<OpTrait::IsTerminator>())
    scf::YieldOp::create(*this, next);
  return loop.getResults();
}

void GpuBuilder::forEach(Value lower, Value upper, Value step,
                         function_ref<void(Value)> body) {
  auto loop = scf::ForOp::create(*this, lower, upper, step);
  InsertionGuard guard(*this);
  setInsertionPoint(loop.getBody()->getTerminator());
  body(loop.getInductionVar());
}

void GpuBuilder::ifThen(Value condition, function_ref<void()> body) {
  if (std::optional<int64_t> known = getConstantIntValue(condition)) {
    if (*known)
      body();
    return;
  }
  auto branch = scf::IfOp::create(*this, condition, /*withElseRegion=*/false);
  InsertionGuard guard(*this);
  setInsertionPoint(branch.thenYield());
  body();
}

Value GpuBuilder::ifElse(Value condition, function_ref<Value()> thenBody,
                         function_ref<Value()> elseBody) {
  if (std::optional<int64_t> known = getConstantIntValue(condition))
    return *known ? thenBody() : elseBody();
  // The type of the result is known after the first branch is written.
  auto draft = scf::IfOp::create(*this, condition, /*withElseRegion=*/true);
  Value results[2];
  {
    InsertionGuard guard(*this);
    setInsertionPoint(draft.thenYield());
    results[0] = thenBody();
    setInsertionPoint(draft.elseYield());
    results[1] = elseBody();
  }
  auto branch = scf::IfOp::create(*this, results[0].getType(), condition,
                                  /*addThenBlock=*/false,
                                  /*addElseBlock=*/false);
  branch.getThenRegion().takeBody(draft.getThenRegion());
  branch.getElseRegion().takeBody(draft.getElseRegion());
  branch.thenYield()->setOperands(results[0]);
  branch.elseYield()->setOperands(results[1]);
  draft.erase();
  return branch.getResult(0);
}
