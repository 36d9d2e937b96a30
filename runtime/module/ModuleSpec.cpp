//===- ModuleSpec.cpp - Names and small helpers of module structs ---------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/module/ModuleSpec.h"

using namespace gist;

/// Equal expressions share a number: a large model has thousands of commands
/// with few different sizes.
ExprId ModuleSpec::addExpr(const Expr &expr) {
  std::vector<std::pair<uint8_t, int64_t>> key;
  key.reserve(expr.steps.size());
  for (const ExprStep &step : expr.steps)
    key.emplace_back(static_cast<uint8_t>(step.op), step.value);
  auto [entry, isNew] =
      exprIds.try_emplace(std::move(key), static_cast<ExprId>(exprs.size()));
  if (isNew)
    exprs.push_back(expr);
  return entry->second;
}

/// In bytes. Blocks of quantised weights have no element: they count as bytes.
uint64_t gist::elementSize(ElementType type) {
  switch (type) {
  case ElementType::Byte:
  case ElementType::I8:
    return 1;
  case ElementType::F16:
  case ElementType::BF16:
  case ElementType::I16:
    return 2;
  case ElementType::F32:
  case ElementType::I32:
    return 4;
  case ElementType::I64:
    return 8;
  }
  return 1;
}

/// These functions index by the enumeration; verifySpec has refused other
/// numbers.
const char *gist::toString(ElementType type) {
  static constexpr const char *kNames[] = {"byte", "f32", "f16", "bf16",
                                           "i8",   "i16", "i32", "i64"};
  return kNames[static_cast<size_t>(type)];
}

const char *gist::toString(BufferKind kind) {
  static constexpr const char *kNames[] = {"weight", "arena", "state", "input",
                                           "output"};
  return kNames[static_cast<size_t>(kind)];
}

const char *gist::toString(CodeFormat format) {
  static constexpr const char *kNames[] = {"elf", "hsaco", "ptx"};
  return kNames[static_cast<size_t>(format)];
}

const char *gist::toString(ObservationKind kind) {
  static constexpr const char *kNames[] = {"input", "product", "residual",
                                           "keys",  "values",  "queries"};
  return kNames[static_cast<size_t>(kind)];
}
