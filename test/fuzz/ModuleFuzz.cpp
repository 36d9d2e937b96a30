//===- ModuleFuzz.cpp - Any bytes as a module -----------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Hashes would stop nearly every change at the door, so they are made right
// first; the reader, the verifier and the binding of commands see the rest.
//
//===----------------------------------------------------------------------===//

#include "runtime/module/Format.h"
#include "runtime/module/Module.h"
#include "runtime/session/Binding.h"
#include "runtime/support/Hash.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

using namespace gist;

/// Makes the hashes of header and sections those of the content.
static void seal(uint8_t *data, uint64_t size) {
  FileHeader header;
  if (size < sizeof(header))
    return;
  std::memcpy(&header, data, sizeof(header));
  header.magic = kModuleMagic;
  header.major = kFormatMajor;
  header.fileSize = size;
  uint64_t room = (size - sizeof(header)) / sizeof(SectionHeader);
  header.sectionCount = std::min<uint32_t>(
      header.sectionCount,
      static_cast<uint32_t>(std::min<uint64_t>(room, kMaxSections)));
  uint8_t *table = data + sizeof(header);
  for (uint32_t i = 0; i < header.sectionCount; ++i) {
    SectionHeader section;
    std::memcpy(&section, table + i * sizeof(section), sizeof(section));
    Bytes content;
    if (Bytes{data, size}.slice(section.offset, section.size, "", content).ok())
      section.hash = hashBytes(content);
    std::memcpy(table + i * sizeof(section), &section, sizeof(section));
  }
  header.hash = 0;
  Hasher hasher;
  hasher.update({reinterpret_cast<const uint8_t *>(&header), sizeof(header)});
  hasher.update({table, header.sectionCount * sizeof(SectionHeader)});
  header.hash = hasher.finish();
  std::memcpy(data, &header, sizeof(header));
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  // Aligned as a mapped file is.
  size_t room = (size / kPageAlignment + 1) * kPageAlignment;
  auto *copy = static_cast<uint8_t *>(std::aligned_alloc(kPageAlignment, room));
  std::copy(data, data + size, copy); // data may be null
  seal(copy, size);
  std::shared_ptr<const Module> module;
  if (Module::fromBytes({copy, size}, "/nonexistent", module).ok()) {
    struct NoCode final : DeviceCode {
    } code;
    SymbolValues symbols(module->spec());
    MemoryMap memory;
    memory.buffers.assign(module->spec().buffers.size(), {4096, 4096});
    for (const EntrySpec &entry : module->spec().entries) {
      EntryBinding binding(*module, entry, code);
      (void)binding.bind(symbols, memory).ok();
    }
  }
  module.reset();
  std::free(copy);
  return 0;
}
