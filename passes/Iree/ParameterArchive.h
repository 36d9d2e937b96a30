//===- ParameterArchive.h - A file of IREE's parameters ---------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Writes files that IREE's tools take as --parameters=SCOPE=FILE.irpa, version
// 0.0 of the format: a header, a table of entries, their names, and the bytes
// of all parameters, each at a multiple of 64. Numbers are little-endian.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_IREE_PARAMETERARCHIVE_H
#define GIST_PASSES_IREE_PARAMETERARCHIVE_H

#include "runtime/module/ModuleWriter.h"

#include <cstdint>
#include <string>
#include <vector>

namespace gist {

class ParameterArchive {
public:
  /// Adds a parameter of `size` bytes, which `producer` gives when the file is
  /// written.
  void add(std::string name, uint64_t size, WeightProducer producer);

  /// Writes the file whole, or not at all.
  Status write(const std::string &path) const;

private:
  struct Parameter {
    std::string name;
    uint64_t size;
    WeightProducer producer;
  };
  std::vector<Parameter> parameters;
};

} // namespace gist

#endif // GIST_PASSES_IREE_PARAMETERARCHIVE_H
