//===- Expr.h - Symbolic sizes as postfix expressions -----------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Grids, sizes, offsets and scalar arguments of a module depend on numbers that
// are only known at a call: the tokens in it, the tokens before it. They are
// written as small postfix integer expressions over the module's symbols.
// Evaluation is checked: overflow and division by zero are a Status.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_RUNTIME_MODULE_EXPR_H
#define GIST_RUNTIME_MODULE_EXPR_H

#include "runtime/support/Status.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace gist {

/// What one step does to the stack. The numbers are part of the file format.
enum class ExprOp : uint8_t {
  Const = 0,    ///< push `value`
  Symbol = 1,   ///< push the value of symbol number `value`
  Add = 2,      ///< the rest pop two and push one
  Sub = 3,      ///
  Mul = 4,      ///
  FloorDiv = 5, ///< rounds towards minus infinity
  CeilDiv = 6,  ///< rounds towards plus infinity
  Mod = 7,      ///< the remainder of FloorDiv, never negative for b > 0
  Min = 8,      ///
  Max = 9,      ///
};
inline constexpr uint8_t kLastExprOp = static_cast<uint8_t>(ExprOp::Max);

struct ExprStep {
  ExprOp op = ExprOp::Const;
  int64_t value = 0; ///< for Const and Symbol, else 0

  bool operator==(const ExprStep &) const = default;
};

/// Bounds that a well-formed expression keeps; evaluation relies on them.
/// The writer keeps them too, because it verifies what it writes.
inline constexpr size_t kMaxExprSteps = 256;
inline constexpr size_t kMaxExprDepth = 16;
/// Symbols a module may have: the set an expression reads fits in one word.
inline constexpr size_t kMaxSymbols = 64;

struct Expr {
  std::vector<ExprStep> steps;

  static Expr constant(int64_t value) { return {{{ExprOp::Const, value}}}; }
  static Expr symbol(uint32_t index) {
    return {{{ExprOp::Symbol, static_cast<int64_t>(index)}}};
  }
  /// `op` on two expressions. Two constants fold when the result fits.
  static Expr binary(ExprOp op, const Expr &lhs, const Expr &rhs);

  bool operator==(const Expr &) const = default;
};

inline Expr operator+(const Expr &a, const Expr &b) {
  return Expr::binary(ExprOp::Add, a, b);
}
inline Expr operator-(const Expr &a, const Expr &b) {
  return Expr::binary(ExprOp::Sub, a, b);
}
inline Expr operator*(const Expr &a, const Expr &b) {
  return Expr::binary(ExprOp::Mul, a, b);
}
inline Expr floorDiv(const Expr &a, const Expr &b) {
  return Expr::binary(ExprOp::FloorDiv, a, b);
}
inline Expr ceilDiv(const Expr &a, const Expr &b) {
  return Expr::binary(ExprOp::CeilDiv, a, b);
}

/// Checks the steps: known operations, symbols below `symbolCount`, exactly one
/// value left, neither too long nor too deep. Everything below trusts this.
Status verifyExpr(const Expr &expr, size_t symbolCount);

/// The value for these symbol values. An error names what went wrong.
Status evaluateExpr(const Expr &expr, std::span<const int64_t> symbols,
                    int64_t &result);

/// Bit i is set when the expression reads symbol i.
uint64_t exprSymbols(const Expr &expr);

/// Infix text with as few parentheses as possible: "ceildiv(T, 16) * 4".
std::string printExpr(const Expr &expr, std::span<const std::string> symbols);

} // namespace gist

#endif // GIST_RUNTIME_MODULE_EXPR_H
