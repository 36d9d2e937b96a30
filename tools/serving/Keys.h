//===- Keys.h - API keys ----------------------------------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TOOLS_SERVING_KEYS_H
#define GIST_TOOLS_SERVING_KEYS_H

#include "runtime/support/Status.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gist::serve {

/// The keys that a server accepts. Without keys, every client is accepted.
class Keys {
public:
  /// Refuses keys that no header can carry.
  Status add(std::string_view key);
  /// One key a line; blank lines and lines that begin with # are left out.
  Status addLines(const std::string &text);

  bool empty() const { return keys.empty(); }
  /// Which key a header `Authorization: Bearer KEY` has; none if it is unknown.
  /// The time does not depend on how much of the key matches.
  std::optional<size_t> find(std::string_view authorization) const;

private:
  std::vector<std::string> keys;
};

} // namespace gist::serve

#endif // GIST_TOOLS_SERVING_KEYS_H
