//===- Errors.h - A Status as an exception of Python ------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TOOLS_PYTHON_ERRORS_H
#define GIST_TOOLS_PYTHON_ERRORS_H

#include "runtime/support/Status.h"

#include <nanobind/nanobind.h>

#include <string_view>

namespace gist::python {

/// A str of Python. Bytes that are not UTF-8, as names of files may have, are
/// kept as Python keeps them.
nanobind::str makeText(std::string_view text);

/// Throws the exception of gist/_errors.py that stands for an error; returns
/// for success. The caller holds the GIL.
void check(const Status &status);

} // namespace gist::python

#endif // GIST_TOOLS_PYTHON_ERRORS_H
