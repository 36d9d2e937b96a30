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

GpuBuilder::GpuBuilder(func::FuncOp function, const GpuInfo &gpu,
                       int64_t threads)
    : ValueBuilder(function.getLoc(),
                   OpBuilder::atBlockEnd(&function.getBody().front())),
      gpu(gpu), threads(threads), entry(&function.getBody().front()) {
  overflow = arith::IntegerOverflowFlags::nsw;
}

//===----------------------------------------------------------------------===//
// Indices
//===----------------------------------------------------------------------===//

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
