//===- SafetensorsWriter.cpp - Writes safetensors files -------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/planning/SafetensorsWriter.h"

#include "runtime/support/AtomicFile.h"

#include <nlohmann/json.hpp>

using namespace gist;
using namespace gist::plan;

Status SafetensorsWriter::write(const std::string &path) const {
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  uint64_t offset = 0;
  for (const Tensor &tensor : tensors) {
    uint64_t end = offset + tensor.content.size();
    header[tensor.name] = {{"dtype", tensor.type},
                           {"shape", tensor.shape},
                           {"data_offsets", {offset, end}}};
    offset = end;
  }
  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' '); // Numbers begin at words.
  uint64_t length = text.size();
  AtomicFile file;
  GIST_TRY(file.open(path));
  GIST_TRY(file.write({reinterpret_cast<const uint8_t *>(&length), 8}));
  GIST_TRY(file.write(
      {reinterpret_cast<const uint8_t *>(text.data()), text.size()}));
  for (const Tensor &tensor : tensors)
    GIST_TRY(file.write({tensor.content.data(), tensor.content.size()}));
  return file.commit();
}
