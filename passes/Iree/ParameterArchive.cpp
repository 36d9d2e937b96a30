//===- ParameterArchive.cpp - A file of IREE's parameters -----------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Iree/ParameterArchive.h"

#include "runtime/support/AtomicFile.h"

#include <cinttypes>

using namespace gist;

namespace {
/// The format's magic number, and the kind of an entry whose bytes are in the
/// same file.
constexpr uint32_t kMagic = 0x41505249; // "IRPA"
constexpr uint32_t kDataEntry = 2;

constexpr uint64_t kHeaderSize = 88, kEntrySize = 76;
constexpr uint64_t kTableAlignment = 16, kDataAlignment = 64;

/// Little-endian numbers one after the other.
class Numbers {
public:
  template <typename T> void add(T number) {
    for (size_t i = 0; i < sizeof(T); ++i)
      bytes.push_back(static_cast<uint8_t>(number >> (8 * i)));
  }
  void addRange(uint64_t offset, uint64_t length) {
    add(offset);
    add(length);
  }
  void alignTo(uint64_t alignment) {
    bytes.resize((bytes.size() + alignment - 1) / alignment * alignment);
  }

  std::vector<uint8_t> bytes;
};
} // namespace

static uint64_t alignTo(uint64_t offset, uint64_t alignment) {
  return (offset + alignment - 1) / alignment * alignment;
}

void ParameterArchive::add(std::string name, uint64_t size,
                           WeightProducer producer) {
  parameters.push_back({std::move(name), size, std::move(producer)});
}

Status ParameterArchive::write(const std::string &path) const {
  uint64_t table = alignTo(kHeaderSize, kTableAlignment);
  uint64_t stride = alignTo(kEntrySize, kTableAlignment);
  uint64_t names = table + stride * parameters.size();
  uint64_t namesSize = 0, dataSize = 0;
  for (const Parameter &parameter : parameters) {
    namesSize += parameter.name.size();
    dataSize = alignTo(dataSize, kDataAlignment) + parameter.size;
  }
  uint64_t data = alignTo(names + namesSize, kDataAlignment);

  Numbers head;
  head.add(kMagic);
  head.add(uint16_t{0}); // version
  head.add(uint16_t{0});
  head.add(kHeaderSize);
  head.add(uint64_t{0}); // no other header follows
  head.add(uint64_t{0}); // flags
  head.add(static_cast<uint64_t>(parameters.size()));
  head.addRange(table, names - table);
  head.addRange(names, namesSize);
  head.addRange(data, dataSize);

  uint64_t name = 0, offset = 0;
  for (const Parameter &parameter : parameters) {
    offset = alignTo(offset, kDataAlignment);
    head.alignTo(kTableAlignment);
    head.add(kEntrySize);
    head.add(kDataEntry);
    head.add(uint64_t{0}); // flags
    head.addRange(name, parameter.name.size());
    head.addRange(0, 0); // nothing more is said of it
    head.add(kDataAlignment);
    head.addRange(offset, parameter.size);
    name += parameter.name.size();
    offset += parameter.size;
  }
  head.alignTo(kTableAlignment);
  for (const Parameter &parameter : parameters)
    head.bytes.insert(head.bytes.end(), parameter.name.begin(),
                      parameter.name.end());

  AtomicFile file;
  GIST_TRY(file.open(path));
  GIST_TRY(file.write({head.bytes.data(), head.bytes.size()}));
  for (const Parameter &parameter : parameters) {
    static constexpr uint8_t kZeros[kDataAlignment] = {};
    uint64_t begin = alignTo(file.size(), kDataAlignment);
    GIST_TRY(file.write({kZeros, begin - file.size()}));
    GIST_TRY(
        parameter.producer([&](Bytes bytes) { return file.write(bytes); }));
    if (file.size() - begin != parameter.size)
      return Status::error(
          Code::BadFile,
          "parameter '%s' has %" PRIu64 " bytes; expected %" PRIu64,
          parameter.name.c_str(), file.size() - begin, parameter.size);
  }
  return file.commit();
}
