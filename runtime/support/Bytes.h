//===- Bytes.h - The one bounded reader ------------------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Everything read from a file is untrusted. This is the only code that does
// arithmetic on file offsets; the readers of modules, GGUF files, safetensors
// and tokenizers all go through it.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_RUNTIME_SUPPORT_BYTES_H
#define GIST_RUNTIME_SUPPORT_BYTES_H

#include "runtime/support/Status.h"

#include <bit>
#include <cinttypes>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <type_traits>

namespace gist {

static_assert(std::endian::native == std::endian::little,
              "file formats are little-endian and read in place");

/// A view of bytes that the caller owns and keeps alive.
struct Bytes {
  const uint8_t *data = nullptr;
  uint64_t size = 0;

  /// Sets `out` to the `count` bytes at `offset`; `what` names them in errors.
  Status slice(uint64_t offset, uint64_t count, const char *what,
               Bytes &out) const {
    // Written without `offset + count`, which can wrap.
    if (offset > size || count > size - offset)
      return Status::error(Code::BadFile,
                           "%s: %" PRIu64 " bytes at offset %" PRIu64
                           " do not fit in %" PRIu64,
                           what, count, offset, size);
    out = {data + offset, count};
    return {};
  }

  /// Copies one plain value at `offset` into `out`, whatever its alignment.
  template <typename T>
  Status read(uint64_t offset, const char *what, T &out) const {
    static_assert(std::is_trivially_copyable_v<T>);
    Bytes bytes;
    GIST_TRY(slice(offset, sizeof(T), what, bytes));
    std::memcpy(&out, bytes.data, sizeof(T));
    return {};
  }

  std::string_view text() const {
    return {reinterpret_cast<const char *>(data), static_cast<size_t>(size)};
  }
};

/// Reads front to back. The position only advances when a read succeeds.
class Cursor {
public:
  explicit Cursor(Bytes bytes) : bytes(bytes) {}

  template <typename T> Status read(const char *what, T &out) {
    GIST_TRY(bytes.read(position, what, out));
    position += sizeof(T);
    return {};
  }

  Status take(uint64_t count, const char *what, Bytes &out) {
    GIST_TRY(bytes.slice(position, count, what, out));
    position += count;
    return {};
  }

  uint64_t offset() const { return position; }
  /// Never wraps: the position does not pass the end.
  uint64_t left() const { return bytes.size - position; }

private:
  Bytes bytes;
  uint64_t position = 0;
};

} // namespace gist

#endif // GIST_RUNTIME_SUPPORT_BYTES_H
