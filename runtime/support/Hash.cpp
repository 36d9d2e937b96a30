//===- Hash.cpp - XXH64 of file content -----------------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/support/Hash.h"

// The header is the whole library then: nothing is linked.
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cstring>
#include <type_traits>

using namespace gist;

static_assert(std::is_trivially_copyable_v<XXH64_state_t>);

/// The state as the library sees it. The bytes are copied, which compilers turn
/// into nothing, so that no pointer of another type ever points at them.
template <typename Array> static XXH64_state_t load(const Array &bytes) {
  static_assert(sizeof(Array) == sizeof(XXH64_state_t));
  XXH64_state_t state;
  std::memcpy(&state, bytes.data(), sizeof(state));
  return state;
}

template <typename Array>
static void store(const XXH64_state_t &state, Array &bytes) {
  std::memcpy(bytes.data(), &state, sizeof(state));
}

Hasher::Hasher() {
  XXH64_state_t fresh;
  XXH64_reset(&fresh, /*seed=*/0);
  store(fresh, state);
}

void Hasher::update(Bytes bytes) {
  if (bytes.size == 0)
    return; // An empty view may have no address.
  XXH64_state_t current = load(state);
  XXH64_update(&current, bytes.data, bytes.size);
  store(current, state);
}

uint64_t Hasher::finish() const {
  XXH64_state_t current = load(state);
  return XXH64_digest(&current);
}

uint64_t gist::hashBytes(Bytes bytes) {
  Hasher hasher;
  hasher.update(bytes);
  return hasher.finish();
}
