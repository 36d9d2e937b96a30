//===- Format.h - The container of a module file ----------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A header, a table of sections, and the sections. runtime/README.md describes
// the layout and which versions a runtime accepts.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_RUNTIME_MODULE_FORMAT_H
#define GIST_RUNTIME_MODULE_FORMAT_H

#include <array>
#include <cstdint>

namespace gist {

/// Like PNG's: the first byte is not text, and the line ends and the ^Z show a
/// transfer that changed them.
inline constexpr std::array<uint8_t, 8> kModuleMagic = {0x89, 'G',  'I',  'S',
                                                        'T',  '\r', '\n', 0x1a};
inline constexpr uint16_t kFormatMajor = 1;
inline constexpr uint16_t kFormatMinor = 0;

/// Far more than any module needs; bounds what a lying header can ask for.
inline constexpr uint32_t kMaxSections = 256;
/// Weights start at multiples of this, so that any vector load is aligned.
inline constexpr uint64_t kWeightAlignment = 64;
/// The weight section starts on a page, so that it can be mapped alone.
inline constexpr uint64_t kPageAlignment = 4096;

/// Little-endian, as all machines that modules run on are: both structs are
/// copied to and from the file as they are in memory.
struct FileHeader {
  std::array<uint8_t, 8> magic = kModuleMagic;
  uint16_t major = kFormatMajor;
  uint16_t minor = kFormatMinor;
  uint32_t sectionCount = 0;
  uint64_t fileSize = 0;
  uint64_t hash = 0; ///< of this header with hash = 0, then the section table
  // Zero. A later minor version may use it without moving the table.
  std::array<uint64_t, 4> reserved = {};
};
static_assert(sizeof(FileHeader) == 64);

enum class SectionKind : uint32_t {
  Metadata = 1,  ///< the FlatBuffer of Format.fbs
  Code = 2,      ///< one per target, `index` is the target
  Weights = 3,   ///< embedded weights, at the offsets the metadata gives
  Tokenizer = 4, ///< TokenizerSpec::serialize(), chat template included
  Plan = 5,      ///< the plan that was compiled, as its file says it
};

/// A reader that does not know a section with this flag refuses the file.
inline constexpr uint32_t kSectionRequired = 1;

/// The table follows the file header at once, `sectionCount` of these.
struct SectionHeader {
  SectionKind kind = SectionKind::Metadata;
  uint32_t index = 0;
  uint64_t offset = 0; ///< from the start of the file, ascending in the table
  uint64_t size = 0;
  uint64_t hash = 0; ///< XXH64 of the section's bytes
  uint32_t alignment = 0;
  uint32_t flags = 0;
};
static_assert(sizeof(SectionHeader) == 40);

} // namespace gist

#endif // GIST_RUNTIME_MODULE_FORMAT_H
