//===- Checked.h - Arithmetic that says when it wraps -----------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sizes in files are any numbers, and so are their sums and products. Code that
// needs one of them asks here; test/check-arithmetic.sh fails where code asks
// the compiler itself.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_RUNTIME_SUPPORT_CHECKED_H
#define GIST_RUNTIME_SUPPORT_CHECKED_H

#include <type_traits>

namespace gist {

/// `a + b` in `result`; true if it does not fit, and then `result` has its low
/// bits. Operands and result are of one type, so that nothing is lost on the
/// way in.
template <typename T>
[[nodiscard]] constexpr bool addOverflows(T a, std::type_identity_t<T> b,
                                          std::type_identity_t<T> &result) {
  return __builtin_add_overflow(a, b, &result);
}

/// `a - b`, likewise.
template <typename T>
[[nodiscard]] constexpr bool subOverflows(T a, std::type_identity_t<T> b,
                                          std::type_identity_t<T> &result) {
  return __builtin_sub_overflow(a, b, &result);
}

/// `a * b`, likewise.
template <typename T>
[[nodiscard]] constexpr bool mulOverflows(T a, std::type_identity_t<T> b,
                                          std::type_identity_t<T> &result) {
  return __builtin_mul_overflow(a, b, &result);
}

} // namespace gist

#endif // GIST_RUNTIME_SUPPORT_CHECKED_H
