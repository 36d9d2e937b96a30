//===- Expr.cpp - Symbolic sizes as postfix expressions -------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/module/Expr.h"
#include "runtime/support/Checked.h"

#include <algorithm>
#include <array>
#include <cinttypes>
#include <limits>

using namespace gist;

/// Names in the order of ExprOp; the first two take no operands.
static Status overflow(ExprOp op, int64_t lhs, int64_t rhs) {
  static constexpr const char *kNames[] = {
      "", "", "add", "sub", "mul", "floordiv", "ceildiv", "mod", "min", "max"};
  return Status::error(Code::BadArgument,
                       "a size does not fit in 64 bits: %s of %" PRId64
                       " and %" PRId64,
                       kNames[static_cast<size_t>(op)], lhs, rhs);
}

/// Applies a binary operation; never undefined, whatever the operands.
static Status apply(ExprOp op, int64_t lhs, int64_t rhs, int64_t &result) {
  switch (op) {
  case ExprOp::Add:
    if (addOverflows(lhs, rhs, result))
      return overflow(op, lhs, rhs);
    return {};
  case ExprOp::Sub:
    if (subOverflows(lhs, rhs, result))
      return overflow(op, lhs, rhs);
    return {};
  case ExprOp::Mul:
    if (mulOverflows(lhs, rhs, result))
      return overflow(op, lhs, rhs);
    return {};
  case ExprOp::Min:
    result = std::min(lhs, rhs);
    return {};
  case ExprOp::Max:
    result = std::max(lhs, rhs);
    return {};
  default:
    break;
  }
  // What is left divides.
  if (rhs == 0)
    return Status::error(Code::BadArgument,
                         "a size divides %" PRId64 " by zero", lhs);
  // The one quotient that does not fit; the processor would trap.
  if (lhs == std::numeric_limits<int64_t>::min() && rhs == -1)
    return overflow(op, lhs, rhs);
  // C++ rounds towards zero. The corrections below make floor and ceiling of
  // it.
  int64_t quotient = lhs / rhs;
  int64_t remainder = lhs % rhs;
  bool inexact = remainder != 0;
  bool negative = (lhs < 0) != (rhs < 0);
  if (op == ExprOp::FloorDiv)
    result = quotient - (inexact && negative ? 1 : 0);
  else if (op == ExprOp::CeilDiv)
    result = quotient + (inexact && !negative ? 1 : 0);
  else
    result = remainder + (inexact && negative ? rhs : 0);
  return {};
}

/// Constants that do not fold (division by zero, overflow) stay as steps, so
/// that the error comes when the value is used.
Expr Expr::binary(ExprOp op, const Expr &lhs, const Expr &rhs) {
  auto isConstant = [](const Expr &expr) {
    return expr.steps.size() == 1 && expr.steps[0].op == ExprOp::Const;
  };
  if (isConstant(lhs) && isConstant(rhs)) {
    int64_t folded = 0;
    if (apply(op, lhs.steps[0].value, rhs.steps[0].value, folded).ok())
      return constant(folded);
  }
  Expr result = lhs;
  result.steps.insert(result.steps.end(), rhs.steps.begin(), rhs.steps.end());
  result.steps.push_back({op, 0});
  return result;
}

Status gist::verifyExpr(const Expr &expr, size_t symbolCount) {
  if (expr.steps.size() > kMaxExprSteps)
    return Status::error(Code::BadFile,
                         "an expression has %zu steps; at most %zu are allowed",
                         expr.steps.size(), kMaxExprSteps);
  size_t depth = 0;
  for (const ExprStep &step : expr.steps) {
    if (static_cast<uint8_t>(step.op) > kLastExprOp)
      return Status::error(Code::BadFile,
                           "an expression has the unknown step %d",
                           static_cast<int>(step.op));
    if (step.op == ExprOp::Const || step.op == ExprOp::Symbol) {
      if (step.op == ExprOp::Symbol &&
          (step.value < 0 || static_cast<uint64_t>(step.value) >= symbolCount))
        return Status::error(Code::BadFile,
                             "an expression reads symbol %" PRId64
                             ", but the module has %zu symbols",
                             step.value, symbolCount);
      // evaluateExpr has a stack of this size and does not check again.
      if (++depth > kMaxExprDepth)
        return Status::error(Code::BadFile,
                             "an expression needs a stack deeper than %zu",
                             kMaxExprDepth);
      continue;
    }
    // Two values go and one comes.
    if (depth < 2)
      return Status::error(
          Code::BadFile,
          "an expression takes two values, but its stack holds %zu", depth);
    --depth;
  }
  if (depth != 1)
    return Status::error(
        Code::BadFile, "an expression leaves %zu values; expected one", depth);
  return {};
}

/// `expr` was verified: symbols exist and the stack is neither too small nor
/// too deep.
Status gist::evaluateExpr(const Expr &expr, std::span<const int64_t> symbols,
                          int64_t &result) {
  std::array<int64_t, kMaxExprDepth> stack;
  size_t depth = 0;
  for (const ExprStep &step : expr.steps) {
    if (step.op == ExprOp::Const) {
      stack[depth++] = step.value;
    } else if (step.op == ExprOp::Symbol) {
      stack[depth++] = symbols[static_cast<size_t>(step.value)];
    } else {
      --depth;
      GIST_TRY(
          apply(step.op, stack[depth - 1], stack[depth], stack[depth - 1]));
    }
  }
  result = stack[0];
  return {};
}

uint64_t gist::exprSymbols(const Expr &expr) {
  // No shift is too wide: a module has at most kMaxSymbols symbols.
  uint64_t mask = 0;
  for (const ExprStep &step : expr.steps)
    if (step.op == ExprOp::Symbol)
      mask |= uint64_t{1} << step.value;
  return mask;
}

std::string gist::printExpr(const Expr &expr,
                            std::span<const std::string> symbols) {
  // Binding strength decides on parentheses: 1 for + and -, 2 for *, 3 for
  // everything that brings its own.
  struct Text {
    std::string text;
    int strength;
  };
  auto bracket = [](const Text &part, int least) {
    return part.strength < least ? "(" + part.text + ")" : part.text;
  };
  std::vector<Text> stack;
  for (const ExprStep &step : expr.steps) {
    if (step.op == ExprOp::Const) {
      stack.push_back({std::to_string(step.value), 3});
      continue;
    }
    if (step.op == ExprOp::Symbol) {
      stack.push_back({symbols[static_cast<size_t>(step.value)], 3});
      continue;
    }
    // Postfix: the operand that was pushed last is the right one.
    Text rhs = std::move(stack.back());
    stack.pop_back();
    Text &lhs = stack.back();
    auto call = [&](const char *name) {
      lhs = {std::string(name) + "(" + lhs.text + ", " + rhs.text + ")", 3};
    };
    switch (step.op) {
    case ExprOp::Add:
      lhs = {bracket(lhs, 1) + " + " + bracket(rhs, 1), 1};
      break;
    case ExprOp::Sub:
      // The right side of a minus needs brackets around a sum as well.
      lhs = {bracket(lhs, 1) + " - " + bracket(rhs, 2), 1};
      break;
    case ExprOp::Mul:
      lhs = {bracket(lhs, 2) + " * " + bracket(rhs, 2), 2};
      break;
    case ExprOp::FloorDiv:
      call("floordiv");
      break;
    case ExprOp::CeilDiv:
      call("ceildiv");
      break;
    case ExprOp::Mod:
      call("mod");
      break;
    case ExprOp::Min:
      call("min");
      break;
    default:
      call("max");
      break;
    }
  }
  return stack.front().text;
}
