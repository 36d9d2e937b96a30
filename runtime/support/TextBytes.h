//===- TextBytes.h - Text as bytes ------------------------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_RUNTIME_SUPPORT_TEXTBYTES_H
#define GIST_RUNTIME_SUPPORT_TEXTBYTES_H

#include "runtime/support/Bytes.h"

namespace gist {

/// The way back from Bytes::text(). The text is the caller's.
inline Bytes bytesOf(std::string_view text) {
  return {reinterpret_cast<const uint8_t *>(text.data()), text.size()};
}

} // namespace gist

#endif // GIST_RUNTIME_SUPPORT_TEXTBYTES_H
