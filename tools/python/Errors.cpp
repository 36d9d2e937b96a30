//===- Errors.cpp - A Status as an exception of Python --------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/python/Errors.h"

using namespace gist;

namespace nb = nanobind;

/// Names that gist/_errors.py has classes for.
static const char *getName(Code code) {
  switch (code) {
  case Code::Ok:
    break;
  case Code::BadFile:
    return "bad_file";
  case Code::NotFound:
    return "not_found";
  case Code::BadArgument:
    return "bad_argument";
  case Code::Unsupported:
    return "unsupported";
  case Code::OutOfMemory:
    return "out_of_memory";
  case Code::Io:
    return "io";
  case Code::Device:
    return "device";
  case Code::Untrusted:
    return "untrusted";
  }
  return "unsupported";
}

nb::str python::makeText(std::string_view text) {
  PyObject *result = PyUnicode_DecodeUTF8(
      text.data(), static_cast<Py_ssize_t>(text.size()), "surrogateescape");
  if (!result)
    nb::raise_python_error();
  return nb::steal<nb::str>(result);
}

void python::check(const Status &status) {
  if (status.ok())
    return;
  nb::object classes = nb::module_::import_("gist._errors").attr("CLASSES");
  nb::object type = classes[getName(status.code)];
  PyErr_SetObject(type.ptr(), makeText(status.text).ptr());
  nb::raise_python_error();
}
