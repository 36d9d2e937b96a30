//===- Hash.cpp - XXH64 of file content -----------------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/Hash.h"

#include <algorithm>
#include <bit>

using namespace gist;

static constexpr uint64_t kPrime1 = 0x9E3779B185EBCA87u;
static constexpr uint64_t kPrime2 = 0xC2B2AE3D27D4EB4Fu;
static constexpr uint64_t kPrime3 = 0x165667B19E3779F9u;
static constexpr uint64_t kPrime4 = 0x85EBCA77C2B2AE63u;
static constexpr uint64_t kPrime5 = 0x27D4EB2F165667C5u;
static constexpr uint64_t kStripe = 32;

template <typename T> static T load(const uint8_t *at) {
  T value;
  std::memcpy(&value, at, sizeof(value));
  return value;
}

static uint64_t mixLane(uint64_t lane, uint64_t input) {
  return std::rotl(lane + input * kPrime2, 31) * kPrime1;
}

static uint64_t mergeLane(uint64_t hash, uint64_t lane) {
  return (hash ^ mixLane(0, lane)) * kPrime1 + kPrime4;
}

static void mixStripe(std::array<uint64_t, 4> &lanes, const uint8_t *at) {
  for (size_t i = 0; i < lanes.size(); ++i)
    lanes[i] = mixLane(lanes[i], load<uint64_t>(at + 8 * i));
}

void Hasher::update(Bytes bytes) {
  uint64_t held = total % kStripe;
  total += bytes.size;
  const uint8_t *at = bytes.data;
  uint64_t left = bytes.size;
  if (held != 0) {
    uint64_t count = std::min(kStripe - held, left);
    std::copy_n(at, count, pending.data() + held);
    at += count;
    left -= count;
    if (held + count < kStripe)
      return;
    mixStripe(lanes, pending.data());
  }
  for (; left >= kStripe; at += kStripe, left -= kStripe)
    mixStripe(lanes, at);
  std::copy_n(at, left, pending.data());
}

uint64_t Hasher::finish() const {
  uint64_t hash = kPrime5;
  if (total >= kStripe) {
    hash = std::rotl(lanes[0], 1) + std::rotl(lanes[1], 7) +
           std::rotl(lanes[2], 12) + std::rotl(lanes[3], 18);
    for (uint64_t lane : lanes)
      hash = mergeLane(hash, lane);
  }
  hash += total;

  const uint8_t *at = pending.data();
  uint64_t left = total % kStripe;
  for (; left >= 8; at += 8, left -= 8)
    hash = std::rotl(hash ^ mixLane(0, load<uint64_t>(at)), 27) * kPrime1 +
           kPrime4;
  if (left >= 4) {
    hash =
        std::rotl(hash ^ load<uint32_t>(at) * kPrime1, 23) * kPrime2 + kPrime3;
    at += 4;
    left -= 4;
  }
  for (; left != 0; ++at, --left)
    hash = std::rotl(hash ^ *at * kPrime5, 11) * kPrime1;

  hash = (hash ^ (hash >> 33)) * kPrime2;
  hash = (hash ^ (hash >> 29)) * kPrime3;
  return hash ^ (hash >> 32);
}

uint64_t gist::hashBytes(Bytes bytes) {
  Hasher hasher;
  hasher.update(bytes);
  return hasher.finish();
}
