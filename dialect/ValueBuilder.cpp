//===- ValueBuilder.cpp - Writes arithmetic and control flow --------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialect/ValueBuilder.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace gist;

using Value = ValueBuilder::Value;
using Values = ValueBuilder::Values;

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

Value ValueBuilder::constant(Type type, double value) {
  Type element = getElementTypeOrSelf(type);
  TypedAttr attr =
      isa<FloatType>(element)
          ? TypedAttr(getFloatAttr(element, value))
          : TypedAttr(getIntegerAttr(element, static_cast<int64_t>(value)));
  if (auto shaped = dyn_cast<ShapedType>(type))
    attr = DenseElementsAttr::get(shaped, Attribute(attr));
  return arith::ConstantOp::create(*this, attr);
}

Value ValueBuilder::index(int64_t value) {
  return arith::ConstantIndexOp::create(*this, value);
}

static bool isFloat(Value value) {
  return isa<FloatType>(getElementTypeOrSelf(value));
}

Value ValueBuilder::add(Value a, Value b) {
  if (isFloat(a))
    return arith::AddFOp::create(*this, a, b);
  return createOrFold<arith::AddIOp>(a, b, overflow);
}

Value ValueBuilder::sub(Value a, Value b) {
  if (isFloat(a))
    return arith::SubFOp::create(*this, a, b);
  return createOrFold<arith::SubIOp>(a, b, overflow);
}

Value ValueBuilder::mul(Value a, Value b) {
  if (isFloat(a))
    return arith::MulFOp::create(*this, a, b);
  return createOrFold<arith::MulIOp>(a, b, overflow);
}

Value ValueBuilder::div(Value a, Value b) {
  if (isFloat(a))
    return arith::DivFOp::create(*this, a, b);
  return createOrFold<arith::DivUIOp>(a, b);
}

Value ValueBuilder::rem(Value a, Value b) {
  return createOrFold<arith::RemUIOp>(a, b);
}

Value ValueBuilder::min(Value a, Value b) {
  return createOrFold<arith::MinSIOp>(a, b);
}

Value ValueBuilder::max(Value a, Value b) {
  return createOrFold<arith::MaxSIOp>(a, b);
}

Value ValueBuilder::compare(arith::CmpIPredicate predicate, Value a, Value b) {
  return createOrFold<arith::CmpIOp>(predicate, a, b);
}

Value ValueBuilder::compare(arith::CmpFPredicate predicate, Value a, Value b) {
  return arith::CmpFOp::create(*this, predicate, a, b);
}

Value ValueBuilder::isLess(Value a, Value b) {
  return compare(arith::CmpIPredicate::slt, a, b);
}

Value ValueBuilder::isEqual(Value a, int64_t b) {
  return compare(arith::CmpIPredicate::eq, a, index(b));
}

Value ValueBuilder::both(Value a, Value b) {
  return createOrFold<arith::AndIOp>(a, b);
}

Value ValueBuilder::either(Value a, Value b) {
  return arith::OrIOp::create(*this, a, b);
}

Value ValueBuilder::allOf(ValueRange conditions) {
  if (conditions.empty())
    return boolean(true);
  Value result = conditions.front();
  for (Value condition : conditions.drop_front())
    result = both(result, condition);
  return result;
}

Value ValueBuilder::negate(Value condition) {
  return arith::XOrIOp::create(*this, condition, boolean(true));
}

Value ValueBuilder::select(Value condition, Value a, Value b) {
  return createOrFold<arith::SelectOp>(condition, a, b);
}

Value ValueBuilder::toI32(Value index) {
  return arith::IndexCastOp::create(*this, getI32Type(), index);
}

Value ValueBuilder::toIndex(Value number) {
  return arith::IndexCastOp::create(*this, getIndexType(), number);
}

Value ValueBuilder::convert(Value value, Type element) {
  Type from = getElementTypeOrSelf(value), to = element;
  if (from == element)
    return value;
  if (auto shaped = dyn_cast<ShapedType>(value.getType()))
    to = shaped.clone(element);
  unsigned bits = from.getIntOrFloatBitWidth();
  unsigned target = element.getIntOrFloatBitWidth();
  if (bits < target)
    return arith::ExtFOp::create(*this, to, value);
  if (bits == target) // f16 and bf16 meet in f32.
    return convert(convert(value, getF32Type()), element);
  return arith::TruncFOp::create(*this, to, value);
}

Value ValueBuilder::toF32(Value value) {
  if (isa<IntegerType>(value.getType()))
    return arith::SIToFPOp::create(*this, getF32Type(), value);
  return convert(value, getF32Type());
}

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

Values ValueBuilder::loop(Value lower, Value upper, Value step,
                          ValueRange carried, LoopBody body) {
  auto loop = scf::ForOp::create(*this, lower, upper, step, carried);
  InsertionGuard guard(*this);
  setInsertionPointToStart(loop.getBody());
  Values next = body(loop.getInductionVar(), loop.getRegionIterArgs());
  // A loop that carries nothing is created with its terminator.
  if (!carried.empty())
    scf::YieldOp::create(*this, next);
  return Values(loop.getResults());
}

void ValueBuilder::forEach(Value lower, Value upper, Value step,
                           function_ref<void(Value)> body) {
  loop(lower, upper, step, {}, [&](Value i, ValueRange) {
    body(i);
    return Values{};
  });
}

Values ValueBuilder::loopWhile(ValueRange carried,
                               function_ref<Value(ValueRange)> condition,
                               function_ref<Values(ValueRange)> body) {
  TypeRange types(carried);
  SmallVector<Location> locations(carried.size(), getLoc());
  auto loop = scf::WhileOp::create(*this, types, carried);
  InsertionGuard guard(*this);
  Block *before = createBlock(&loop.getBefore(), {}, types, locations);
  scf::ConditionOp::create(*this, condition(before->getArguments()),
                           before->getArguments());
  Block *after = createBlock(&loop.getAfter(), {}, types, locations);
  scf::YieldOp::create(*this, body(after->getArguments()));
  return Values(loop.getResults());
}

void ValueBuilder::repeatWhile(function_ref<Value()> body) {
  // All of the work is in the condition: do { body } while.
  loopWhile(
      {}, [&](ValueRange) { return body(); },
      [](ValueRange) { return Values{}; });
}

void ValueBuilder::ifThen(Value condition, function_ref<void()> body) {
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

Values ValueBuilder::ifElse(Value condition, function_ref<Values()> thenBody,
                            function_ref<Values()> elseBody) {
  if (std::optional<int64_t> known = getConstantIntValue(condition))
    return *known ? thenBody() : elseBody();
  // The types of the results are known after the first branch is written.
  auto draft = scf::IfOp::create(*this, condition, /*withElseRegion=*/true);
  Values results[2];
  {
    InsertionGuard guard(*this);
    setInsertionPoint(draft.thenYield());
    results[0] = thenBody();
    setInsertionPoint(draft.elseYield());
    results[1] = elseBody();
  }
  auto branch =
      scf::IfOp::create(*this, TypeRange(ValueRange(results[0])), condition,
                        /*addThenBlock=*/false, /*addElseBlock=*/false);
  branch.getThenRegion().takeBody(draft.getThenRegion());
  branch.getElseRegion().takeBody(draft.getElseRegion());
  branch.thenYield()->setOperands(results[0]);
  branch.elseYield()->setOperands(results[1]);
  // Drivers of patterns remember what was inserted, and what is around it.
  if (auto *told = dyn_cast_if_present<RewriterBase::Listener>(getListener()))
    told->notifyOperationErased(draft);
  draft.erase();
  return Values(branch.getResults());
}

Value ValueBuilder::ifElse(Value condition, function_ref<Value()> thenBody,
                           function_ref<Value()> elseBody) {
  return ifElse(
      condition, [&] { return Values{thenBody()}; },
      [&] { return Values{elseBody()}; })[0];
}
