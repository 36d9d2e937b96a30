//===- ExprTest.cpp - Postfix expressions ---------------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/module/Expr.h"

#include <gtest/gtest.h>

#include <limits>

using namespace gist;

static Expr symbol(uint32_t index) { return Expr::symbol(index); }
static Expr constant(int64_t value) { return Expr::constant(value); }
static Expr binary(ExprOp op, const Expr &a, const Expr &b) {
  // Around the folding, so that evaluation is what is tested.
  Expr result = a;
  result.steps.insert(result.steps.end(), b.steps.begin(), b.steps.end());
  result.steps.push_back({op, 0});
  return result;
}

/// Verified first, as every reader does.
static int64_t evaluate(const Expr &expr, std::vector<int64_t> symbols = {}) {
  EXPECT_TRUE(verifyExpr(expr, symbols.size()).ok());
  int64_t value = 0;
  Status status = evaluateExpr(expr, symbols, value);
  EXPECT_TRUE(status.ok()) << status.text;
  return value;
}

// C++ rounds towards zero, so each sign is another case.
TEST(Expr, DivisionsRoundAsNamed) {
  // Floor, ceiling and remainder for every sign; by hand.
  struct {
    int64_t a, b, floor, ceil, mod;
  } cases[] = {{7, 2, 3, 4, 1},    {-7, 2, -4, -3, 1}, {7, -2, -4, -3, -1},
               {-7, -2, 3, 4, -1}, {6, 3, 2, 2, 0},    {-6, 3, -2, -2, 0},
               {0, 5, 0, 0, 0},    {1, 16, 0, 1, 1}};
  for (const auto &c : cases) {
    Expr a = constant(c.a), b = constant(c.b);
    EXPECT_EQ(evaluate(binary(ExprOp::FloorDiv, a, b)), c.floor) << c.a;
    EXPECT_EQ(evaluate(binary(ExprOp::CeilDiv, a, b)), c.ceil) << c.a;
    EXPECT_EQ(evaluate(binary(ExprOp::Mod, a, b)), c.mod) << c.a;
  }
}

// An expression is postfix: a swapped pair of operands shows in the difference.
TEST(Expr, SymbolsAndOrder) {
  Expr expr = (symbol(0) - symbol(1)) * constant(10) +
              Expr::binary(ExprOp::Max, symbol(1),
                           Expr::binary(ExprOp::Min, symbol(0), constant(5)));
  EXPECT_EQ(evaluate(expr, {9, 2}), 75);
  EXPECT_EQ(evaluate(expr, {3, 4}), -6);
  // A mask: bit i stands for symbol i.
  EXPECT_EQ(exprSymbols(expr), 3u);
  EXPECT_EQ(exprSymbols(symbol(5)), 32u);
}

// Static sizes become constants in the file. A constant that cannot be computed
// is an error only when it is used.
TEST(Expr, ConstantsFold) {
  EXPECT_EQ(constant(6) * constant(7), constant(42));
  EXPECT_EQ(ceilDiv(constant(10), constant(4)), constant(3));
  // What cannot be folded stays, and is an error when it is evaluated.
  EXPECT_EQ(floorDiv(constant(1), constant(0)).steps.size(), 3u);
}

// A size that wraps would be a small allocation that kernels write beyond.
TEST(Expr, OverflowIsAnError) {
  int64_t least = std::numeric_limits<int64_t>::min();
  int64_t most = std::numeric_limits<int64_t>::max();
  struct {
    ExprOp op;
    int64_t a, b;
    const char *text;
  } cases[] = {
      {ExprOp::Add, most, 1, "add of 9223372036854775807 and 1"},
      {ExprOp::Sub, least, 1, "sub of -9223372036854775808 and 1"},
      {ExprOp::Mul, most, 2, "mul of 9223372036854775807 and 2"},
      {ExprOp::FloorDiv, least, -1, "floordiv of -9223372036854775808 and -1"},
      {ExprOp::CeilDiv, 3, 0, "divides 3 by zero"},
      {ExprOp::Mod, 5, 0, "divides 5 by zero"},
  };
  for (const auto &c : cases) {
    int64_t value = 0;
    Status status =
        evaluateExpr(binary(c.op, constant(c.a), constant(c.b)), {}, value);
    EXPECT_EQ(status.code, Code::BadArgument);
    EXPECT_NE(status.text.find(c.text), std::string::npos) << status.text;
  }
}

// evaluateExpr does not check again what verifyExpr has passed.
TEST(Expr, MalformedIsRefused) {
  auto message = [](Expr expr, size_t symbols) {
    Status status = verifyExpr(expr, symbols);
    EXPECT_EQ(status.code, Code::BadFile);
    return status.text;
  };
  EXPECT_EQ(message({}, 0), "an expression leaves 0 values; expected one");
  EXPECT_EQ(message({{{ExprOp::Const, 1}, {ExprOp::Const, 2}}}, 0),
            "an expression leaves 2 values; expected one");
  EXPECT_EQ(message({{{ExprOp::Const, 1}, {ExprOp::Add, 0}}}, 0),
            "an expression takes two values, but its stack holds 1");
  EXPECT_EQ(message(symbol(2), 2),
            "an expression reads symbol 2, but the module has 2 symbols");
  EXPECT_EQ(message({{{ExprOp::Symbol, -1}}}, 2),
            "an expression reads symbol -1, but the module has 2 symbols");
  EXPECT_EQ(message({{{static_cast<ExprOp>(10), 0}}}, 0),
            "an expression has the unknown step 10");
  Expr deep;
  for (size_t i = 0; i <= kMaxExprDepth; ++i)
    deep.steps.push_back({ExprOp::Const, 1});
  EXPECT_EQ(message(deep, 0), "an expression needs a stack deeper than 16");
  Expr longOne = constant(1);
  for (size_t i = 0; i < kMaxExprSteps; ++i)
    longOne.steps.push_back({ExprOp::Const, 1});
  // It is too deep as well, but the number of steps is asked first.
  EXPECT_EQ(message(longOne, 0),
            "an expression has 257 steps; at most 256 are allowed");
}

// What gist-run info --disassemble shows; brackets that are missing would say
// another size.
TEST(Expr, PrintsWithFewParentheses) {
  std::vector<std::string> names = {"T", "P"};
  Expr t = symbol(0), p = symbol(1);
  EXPECT_EQ(printExpr(t + p - constant(1), names), "T + P - 1");
  EXPECT_EQ(printExpr(t - (p - constant(1)), names), "T - (P - 1)");
  EXPECT_EQ(printExpr((t + p) * constant(4), names), "(T + P) * 4");
  EXPECT_EQ(printExpr(ceilDiv(t + p, constant(16)) * constant(4), names),
            "ceildiv(T + P, 16) * 4");
}
