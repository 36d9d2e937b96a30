//===- SafetensorsWriter.h - Writes safetensors files -----------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TOOLS_PLANNING_SAFETENSORSWRITER_H
#define GIST_TOOLS_PLANNING_SAFETENSORSWRITER_H

#include "runtime/support/Bytes.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace gist::plan {

/// Collects tensors and writes them as one file, whole or not at all.
class SafetensorsWriter {
public:
  void add(std::string name, std::string type, std::vector<int64_t> shape,
           std::vector<uint8_t> content) {
    tensors.push_back({std::move(name), std::move(type), std::move(shape),
                       std::move(content)});
  }
  void add(std::string name, std::string type, std::vector<int64_t> shape,
           std::span<const float> content) {
    const auto *bytes = reinterpret_cast<const uint8_t *>(content.data());
    add(std::move(name), std::move(type), std::move(shape),
        std::vector<uint8_t>(bytes, bytes + content.size_bytes()));
  }

  Status write(const std::string &path) const;

private:
  struct Tensor {
    std::string name, type;
    std::vector<int64_t> shape;
    std::vector<uint8_t> content;
  };
  std::vector<Tensor> tensors;
};

} // namespace gist::plan

#endif // GIST_TOOLS_PLANNING_SAFETENSORSWRITER_H
