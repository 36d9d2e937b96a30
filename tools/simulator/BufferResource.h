//===- BufferResource.h - The four dwords of a buffer -----------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The four scalar registers that describe a buffer to buffer_* and s_buffer_*
// instructions: the base address, the size of a record, their number, and
// flags. The bits are those of the CDNA3 manual's buffer resource descriptor.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TOOLS_SIMULATOR_BUFFERRESOURCE_H
#define GIST_TOOLS_SIMULATOR_BUFFERRESOURCE_H

#include <cstdint>

namespace gist::sim {

/// Read when an instruction uses it: the registers may change in between.
struct BufferResource {
  uint64_t base;
  uint32_t stride, records;
  // Neither is implemented; instructions that use such a buffer fail.
  bool swizzled, addsThreadId;

  explicit BufferResource(const uint32_t *words)
      : base(words[0] | uint64_t(words[1] & 0xffff) << 32),
        stride(words[1] >> 16 & 0x3fff), records(words[2]),
        swizzled(words[1] >> 31), addsThreadId(words[3] >> 23 & 1) {}

  /// Bytes in range of a raw (stride 0) buffer, or of all records.
  uint64_t size() const {
    return stride ? uint64_t(stride) * records : records;
  }
};

} // namespace gist::sim

#endif // GIST_TOOLS_SIMULATOR_BUFFERRESOURCE_H
