//===- ElementEmitter.cpp - Elements of tensors, computed on demand -------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Tile/Gpu/Elements/ElementEmitter.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "passes/Kernel/Dimensions.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace gist;

using Values = ElementEmitter::Values;

ElementEmitter::ElementEmitter(GpuBuilder &b, func::FuncOp kernel,
                               ValueRange arguments)
    : b(b), kernel(kernel) {
  for (auto [source, argument] :
       llvm::zip_equal(kernel.getArguments(), arguments))
    this->arguments[source] = argument;
}

void ElementEmitter::bind(Value tensor, Element element) {
  bound[tensor] = std::move(element);
  forget(tensor);
}

void ElementEmitter::unbind(Value tensor) {
  bound.erase(tensor);
  forget(tensor);
}

Value ElementEmitter::element(Value tensor, ValueRange indices) {
  return get(tensor, indices, 1);
}

Value ElementEmitter::elements(Value tensor, ValueRange indices,
                               int64_t width) {
  Value value = get(tensor, indices, width);
  if (width == 1)
    value =
        vector::BroadcastOp::create(b, b.vectorOf(1, value.getType()), value);
  return value;
}

//===----------------------------------------------------------------------===//
// Remembering
//===----------------------------------------------------------------------===//

bool ElementEmitter::areSame(ValueRange a, ValueRange b) {
  if (a.size() != b.size())
    return false;
  return llvm::all_of(llvm::zip_equal(a, b), [](auto pair) {
    auto [x, y] = pair;
    if (x == y)
      return true;
    std::optional<int64_t> constant = getConstantIntValue(x);
    return constant && constant == getConstantIntValue(y);
  });
}

/// What was computed from elements of `tensor` is not known any more.
void ElementEmitter::forget(Value tensor) {
  // Keys begin with their tensor, so those of one tensor lie together.
  Key first = {
      {tensor.getAsOpaquePointer(), std::numeric_limits<int64_t>::min()}};
  auto found = known.lower_bound(first);
  if (found != known.end() &&
      found->first.front().first == tensor.getAsOpaquePointer())
    // Everything goes: what was computed from the tensor is not known apart.
    known.clear();
}

/// Equal constants are equal keys, whichever op made them.
ElementEmitter::Key ElementEmitter::getKey(Value tensor, ValueRange indices,
                                           int64_t width) {
  Key key = {{tensor.getAsOpaquePointer(), width}};
  for (Value i : indices) {
    if (std::optional<int64_t> constant = getConstantIntValue(i))
      key.push_back({nullptr, *constant});
    else
      key.push_back({i.getAsOpaquePointer(), 0});
  }
  return key;
}

/// Whether `value` dominates the insertion point. Values are remembered while
/// branches are written, and must not be used behind them.
bool ElementEmitter::isVisible(Value value) {
  Block *here = b.getInsertionBlock();
  Block *block = value.getParentBlock();
  Operation *ancestor = nullptr; // Null at the end of the block.
  if (block == here) {
    if (b.getInsertionPoint() != here->end())
      ancestor = &*b.getInsertionPoint();
  } else {
    ancestor = block->findAncestorOpInBlock(*here->getParentOp());
    if (!ancestor)
      return false;
  }
  Operation *op = value.getDefiningOp();
  return !op || !ancestor || op->isBeforeInBlock(ancestor);
}

Value ElementEmitter::recall(const Key &key) {
  auto found = known.find(key);
  return found != known.end() && isVisible(found->second) ? found->second
                                                          : Value();
}

Value ElementEmitter::fail(Value tensor, int64_t width) {
  // A constant goes on in its place, so that one error is reported and not
  // many.
  failed = true;
  Type element = getElementTypeOrSelf(tensor);
  return b.constant(width == 1 ? element : Type(b.vectorOf(width, element)), 0);
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

Value ElementEmitter::get(Value tensor, ValueRange indices, int64_t width) {
  Key key = getKey(tensor, indices, width);
  if (Value value = recall(key))
    return value;
  Value value;
  if (auto found = bound.find(tensor); found != bound.end()) {
    // A copy: the function may bind tensors itself.
    Element element = found->second;
    value = element(indices, width);
    if (!value && width > 1)
      return getInPieces(tensor, indices, width, 1);
  }
  if (!value)
    value = compute(tensor, indices, width);
  known[key] = value;
  return value;
}

Value ElementEmitter::getInPieces(Value tensor, ValueRange indices,
                                  int64_t width, int64_t piece) {
  Values parts, at(indices);
  for (int64_t first = 0; first < width; first += piece) {
    at.back() = b.add(indices.back(), first);
    parts.push_back(get(tensor, at, piece));
  }
  return b.concat(parts);
}

Value ElementEmitter::readBuffer(Value buffer, ValueRange indices,
                                 int64_t width) {
  return width == 1 ? b.read(buffer, indices) : b.read(buffer, indices, width);
}

Value ElementEmitter::compute(Value tensor, ValueRange indices, int64_t width) {
  if (isa<BlockArgument>(tensor)) {
    // Vectors of single bits would be packed ones.
    if (width > 1 && getElementTypeOrSelf(tensor).isInteger(1))
      return getInPieces(tensor, indices, width, 1);
    return readBuffer(arguments.lookup(tensor), indices, width);
  }
  Operation *op = tensor.getDefiningOp();
  unsigned number = cast<OpResult>(tensor).getResultNumber();
  return TypeSwitch<Operation *, Value>(op)
      .Case([&](linalg::LinalgOp op) {
        return getStructured(op, number, indices, width);
      })
      .Case([&](tensor::ExtractSliceOp op) {
        return getSlice(op, indices, width);
      })
      .Case([&](tensor::InsertSliceOp op) {
        return getInserted(op, indices, width);
      })
      .Case([&](tensor::PadOp op) { return getPadded(op, indices, width); })
      .Case([&](tensor::CollapseShapeOp op) {
        return getCollapsed(op, indices, width);
      })
      .Case([&](tensor::ExpandShapeOp op) {
        return getExpanded(op, indices, width);
      })
      .Case([&](tensor::CastOp op) {
        return get(op.getSource(), indices, width);
      })
      .Case([&](DequantizeOp op) { return getDequantized(op, indices, width); })
      .Case([&](AttentionOp op) {
        return width == 1 ? getAttention(op, indices)
                          : getInPieces(tensor, indices, width, 1);
      })
      .Case([&](tensor::EmptyOp) {
        // Whatever it holds is right.
        Type element = getElementTypeOrSelf(tensor);
        return b.constant(
            width == 1 ? element : Type(b.vectorOf(width, element)), 0);
      })
      .Case([&](arith::ConstantOp op) -> Value {
        auto splat = dyn_cast<SplatElementsAttr>(op.getValue());
        if (!splat) {
          op->emitOpError("is a table, which kernels take as an argument");
          return fail(tensor, width);
        }
        Value scalar = arith::ConstantOp::create(
            b, cast<TypedAttr>(splat.getSplatValue<Attribute>()));
        return b.broadcast(scalar, width);
      })
      .Case([&](tensor::SplatOp op) {
        return b.broadcast(this->number(op.getInput()), width);
      })
      .Default([&](Operation *op) {
        if (!failed)
          op->emitOpError("has elements that cannot be computed one by one");
        return fail(tensor, width);
      });
}

//===----------------------------------------------------------------------===//
// Structured ops
//===----------------------------------------------------------------------===//

Value ElementEmitter::getLoopSize(linalg::LinalgOp op, unsigned dim) {
  AffineExpr loop = getAffineDimExpr(dim, op.getContext());
  for (OpOperand &operand : op->getOpOperands())
    for (auto [i, expr] :
         llvm::enumerate(op.getMatchingIndexingMap(&operand).getResults()))
      if (expr == loop)
        return size(operand.get(), static_cast<int64_t>(i));
  op->emitOpError("has a loop whose size does not follow from its operands");
  failed = true;
  return b.index(1);
}

/// An affine expression of loops.
static Value evaluate(GpuBuilder &b, AffineExpr expr, ValueRange loops) {
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return loops[dim.getPosition()];
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return b.index(constant.getValue());
  // linalg allows no symbols in its maps.
  auto binary = cast<AffineBinaryOpExpr>(expr);
  Value lhs = evaluate(b, binary.getLHS(), loops);
  Value rhs = evaluate(b, binary.getRHS(), loops);
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return b.add(lhs, rhs);
  case AffineExprKind::Mul:
    return b.mul(lhs, rhs);
  case AffineExprKind::FloorDiv:
    return b.div(lhs, rhs);
  case AffineExprKind::Mod:
    return b.rem(lhs, rhs);
  default:
    return affine::expandAffineExpr(b, b.getLoc(), expr, loops, {});
  }
}

Value ElementEmitter::getOperand(linalg::LinalgOp op, OpOperand &operand,
                                 ValueRange loops,
                                 std::optional<unsigned> inner, int64_t width) {
  if (!isa<RankedTensorType>(operand.get().getType()))
    return number(operand.get());
  AffineMap map = op.getMatchingIndexingMap(&operand);
  auto fetch = [&](ValueRange loops, int64_t width) {
    Values indices;
    for (AffineExpr expr : map.getResults())
      indices.push_back(evaluate(b, expr, loops));
    return get(operand.get(), indices, width);
  };
  if (!inner || !map.isFunctionOfDim(*inner))
    return fetch(loops, 1);
  bool isLastOnly =
      llvm::none_of(map.getResults().drop_back(), [&](AffineExpr expr) {
        return expr.isFunctionOfDim(*inner);
      });
  // The last index must be the loop plus something that does not depend on it.
  AffineExpr rest =
      map.getResults().back() - getAffineDimExpr(*inner, map.getContext());
  if (isLastOnly && !rest.isFunctionOfDim(*inner))
    return fetch(loops, width);
  // Elements that are not neighbours.
  Values lanes, at(loops);
  for (int64_t i = 0; i < width; ++i) {
    at[*inner] = b.add(loops[*inner], i);
    lanes.push_back(fetch(at, 1));
  }
  return b.concat(lanes);
}

namespace {
/// The body of a linalg op, written for one iteration or for `width` that
/// follow each other in the loop `inner`. Values that are the same in all of
/// them are scalars, the others vectors.
class BodyWriter {
public:
  using Get = std::function<Value(Value, ValueRange, int64_t)>;
  using GetNumber = std::function<Value(Value)>;

  BodyWriter(GpuBuilder &b, ValueRange loops, std::optional<unsigned> inner,
             int64_t width, Get get, GetNumber number)
      : b(b), loops(loops), inner(inner), width(width), get(std::move(get)),
        number(std::move(number)) {}

  void map(Value from, Value to) { values[from] = to; }
  Value lookup(Value value) {
    auto found = values.find(value);
    return found != values.end() ? found->second
                                 : values[value] = number(value);
  }
  LogicalResult write(Operation *op);

private:
  Value getExtracted(tensor::ExtractOp op);
  Value getIndex(linalg::IndexOp op);

  GpuBuilder &b;
  ValueRange loops;
  std::optional<unsigned> inner;
  int64_t width;
  Get get;
  GetNumber number;
  DenseMap<Value, Value> values;
};
} // namespace

Value BodyWriter::getIndex(linalg::IndexOp op) {
  Value first = loops[op.getDim()];
  if (width == 1 || op.getDim() != inner)
    return first;
  SmallVector<Attribute> lanes;
  for (int64_t i = 0; i < width; ++i)
    lanes.push_back(b.getIndexAttr(i));
  Value steps = arith::ConstantOp::create(
      b, DenseElementsAttr::get(b.vectorOf(width, b.getIndexType()), lanes));
  return arith::AddIOp::create(b, b.broadcast(first, width), steps);
}

Value BodyWriter::getExtracted(tensor::ExtractOp op) {
  Values indices;
  for (Value i : op.getIndices())
    indices.push_back(lookup(i));
  auto isVector = [](Value value) { return isa<VectorType>(value.getType()); };
  if (llvm::none_of(indices, isVector))
    return get(op.getTensor(), indices, 1);
  // Neighbours, where the last index alone counts up.
  auto last = op.getIndices().back().getDefiningOp<linalg::IndexOp>();
  if (last && last.getDim() == inner &&
      llvm::none_of(ValueRange(indices).drop_back(), isVector)) {
    indices.back() = loops[*inner];
    return get(op.getTensor(), indices, width);
  }
  Values lanes;
  for (int64_t lane = 0; lane < width; ++lane) {
    Values at;
    for (Value i : indices)
      at.push_back(isVector(i) ? b.extract(i, lane) : i);
    lanes.push_back(get(op.getTensor(), at, 1));
  }
  return b.concat(lanes);
}

LogicalResult BodyWriter::write(Operation *op) {
  if (auto index = dyn_cast<linalg::IndexOp>(op)) {
    map(index, getIndex(index));
    return success();
  }
  if (auto extract = dyn_cast<tensor::ExtractOp>(op)) {
    map(extract, getExtracted(extract));
    return success();
  }
  auto isScalar = [](Type type) { return type.isIntOrIndexOrFloat(); };
  // Only ops on scalars can be written again for vectors by their types alone.
  if (op->getNumRegions() || !llvm::all_of(op->getOperandTypes(), isScalar) ||
      !llvm::all_of(op->getResultTypes(), isScalar))
    return op->emitOpError("cannot be computed for one element");
  Values operands;
  for (Value operand : op->getOperands())
    operands.push_back(lookup(operand));
  // What is the same in all lanes stays one scalar instruction.
  bool isUniform = llvm::none_of(
      operands, [](Value value) { return isa<VectorType>(value.getType()); });
  if (!isUniform && !OpTrait::hasElementwiseMappableTraits(op))
    return op->emitOpError("cannot be computed for vectors");
  OperationState state(op->getLoc(), op->getName());
  for (Value operand : operands)
    state.operands.push_back(isUniform || isa<VectorType>(operand.getType())
                                 ? operand
                                 : b.broadcast(operand, width));
  for (Type type : op->getResultTypes())
    state.types.push_back(isUniform ? type : Type(b.vectorOf(width, type)));
  state.attributes = op->getDiscardableAttrDictionary().getValue();
  state.propertiesAttr = op->getPropertiesAsAttribute();
  Operation *copy = b.create(state);
  for (auto [from, to] : llvm::zip_equal(op->getResults(), copy->getResults()))
    map(from, to);
  return success();
}

Values ElementEmitter::iterate(linalg::LinalgOp op, ValueRange loops,
                               std::optional<unsigned> inner, int64_t width,
                               ValueRange carried) {
  Block *body = op.getBlock();
  BodyWriter writer(
      b, loops, inner, width,
      [&](Value tensor, ValueRange indices, int64_t width) {
        return get(tensor, indices, width);
      },
      [&](Value value) { return number(value); });
  for (OpOperand &operand : op->getOpOperands()) {
    BlockArgument argument = op.getMatchingBlockArgument(&operand);
    // An operand that the body does not read is not loaded either.
    if (argument.use_empty())
      continue;
    bool isCarried = op.isDpsInit(&operand) && !carried.empty();
    writer.map(argument,
               isCarried
                   ? carried[operand.getOperandNumber() - op.getNumDpsInputs()]
                   : getOperand(op, operand, loops, inner, width));
  }
  for (Operation &inside : body->without_terminator())
    if (mlir::failed(writer.write(&inside))) {
      failed = true;
      break;
    }
  Values results;
  for (auto [result, yielded] :
       llvm::zip_equal(op->getResults(), body->getTerminator()->getOperands()))
    results.push_back(failed ? fail(result, width) : writer.lookup(yielded));
  // Lanes may all be one value.
  for (Value &result : results)
    if (width > 1 && !isa<VectorType>(result.getType()))
      result = b.broadcast(result, width);
  return results;
}

Value ElementEmitter::getStructured(linalg::LinalgOp op, unsigned result,
                                    ValueRange indices, int64_t width) {
  AffineMap map = op.getMatchingIndexingMap(op.getDpsInitOperand(result));
  if (!map.isProjectedPermutation()) {
    op->emitOpError(
        "writes its results at indices that are not loop variables");
    return fail(op->getResult(result), width);
  }
  Values loops(op.getNumLoops());
  for (auto [expr, i] : llvm::zip_equal(map.getResults(), indices))
    loops[cast<AffineDimExpr>(expr).getPosition()] = i;
  std::optional<unsigned> inner;
  if (width > 1)
    inner = cast<AffineDimExpr>(map.getResults().back()).getPosition();

  // The loops that the result does not have are reductions.
  SmallVector<unsigned> reductions;
  for (unsigned i = 0; i < loops.size(); ++i)
    if (!loops[i])
      reductions.push_back(i);
  Values results;
  if (reductions.empty()) {
    results = iterate(op, loops, inner, width, {});
  } else {
    // The thread does the whole reduction alone. Generators that share one
    // among threads have bound its result.
    for (OpOperand &init : op.getDpsInitsMutable()) {
      Value first = getOperand(op, init, loops, inner, width);
      results.push_back(
          isa<VectorType>(first.getType()) ? first : b.broadcast(first, width));
    }
    std::function<Values(unsigned, ValueRange)> reduce =
        [&](unsigned depth, ValueRange carried) -> Values {
      if (depth == reductions.size())
        return iterate(op, loops, inner, width, carried);
      return b.loop(b.index(0), getLoopSize(op, reductions[depth]), 1, carried,
                    [&](Value iv, ValueRange carried) {
                      loops[reductions[depth]] = iv;
                      return reduce(depth + 1, carried);
                    });
    };
    results = reduce(0, results);
  }
  // The other results were computed on the way, and are asked for soon.
  for (unsigned i = 0; i < results.size(); ++i)
    if (op.getMatchingIndexingMap(op.getDpsInitOperand(i)) == map)
      known[getKey(op->getResult(i), indices, width)] = results[i];
  return results[result];
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

Value ElementEmitter::number(OpFoldResult scalar) {
  if (auto value = dyn_cast<Value>(scalar))
    return number(value);
  return b.index(*getConstantIntValue(scalar));
}

Value ElementEmitter::number(Value scalar) {
  if (Value argument = arguments.lookup(scalar))
    return argument;
  Operation *op = scalar.getDefiningOp();
  auto isScalar = [](Type type) { return type.isIntOrIndexOrFloat(); };
  if (!op || op->getNumRegions()) {
    emitError(scalar.getLoc(), "a GPU kernel cannot compute this number");
    return fail(scalar, 1);
  }
  // Simpler to make again than to ask whether one is visible here.
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return arith::ConstantOp::create(b, constant.getValue());
  Key key = getKey(scalar, {}, 0);
  if (Value value = recall(key))
    return value;
  Value value;
  if (auto dim = dyn_cast<tensor::DimOp>(op)) {
    std::optional<int64_t> number = getDimension(dim);
    if (!number) {
      dim.emitOpError("expects a dimension of the tensor, and a constant, in a "
                      "GPU kernel");
      return fail(scalar, 1);
    }
    value = size(dim.getSource(), *number);
  } else if (auto extract = dyn_cast<tensor::ExtractOp>(op)) {
    Values indices;
    for (Value i : extract.getIndices())
      indices.push_back(number(i));
    value = element(extract.getTensor(), indices);
  } else if (llvm::all_of(op->getOperandTypes(), isScalar)) {
    IRMapping mapping;
    for (Value operand : op->getOperands())
      mapping.map(operand, number(operand));
    value = b.clone(*op, mapping)
                ->getResult(cast<OpResult>(scalar).getResultNumber());
  } else {
    op->emitOpError("makes a number that a GPU kernel cannot compute");
    return fail(scalar, 1);
  }
  known[key] = value;
  return value;
}

Value ElementEmitter::size(Value tensor, int64_t dim) {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (!type.isDynamicDim(dim))
    return b.index(type.getDimSize(dim));
  if (Value buffer = arguments.lookup(tensor)) {
    // Sizes have negative widths as their keys, which elements never have.
    Key key = getKey(tensor, {}, -1 - dim);
    if (Value value = recall(key))
      return value;
    return known[key] = b.size(buffer, dim);
  }
  Operation *op = tensor.getDefiningOp();
  if (auto cast = dyn_cast<tensor::CastOp>(op))
    return size(cast.getSource(), dim);
  // A result has the sizes of its destination.
  if (auto style = dyn_cast<DestinationStyleOpInterface>(op))
    return size(style.getDpsInits()[cast<OpResult>(tensor).getResultNumber()],
                dim);
  // Written into the kernel function, which is about to go.
  OpBuilder source(op);
  ReifiedRankedShapedTypeDims shapes;
  if (mlir::failed(reifyResultShapes(source, op, shapes))) {
    op->emitOpError("has a result of unknown size");
    failed = true;
    return b.index(1);
  }
  return number(shapes[cast<OpResult>(tensor).getResultNumber()][dim]);
}

Values ElementEmitter::sizes(Value tensor) {
  Values sizes;
  for (int64_t i = 0; i < cast<RankedTensorType>(tensor.getType()).getRank();
       ++i)
    sizes.push_back(size(tensor, i));
  return sizes;
}
