//===- Collectives.cpp - What ranks do together ---------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/ranks/Collectives.h"

#include <algorithm>
#include <array>
#include <numeric>

using namespace gist;

static Bytes bytesOf(std::span<const float> values) {
  return {reinterpret_cast<const uint8_t *>(values.data()),
          values.size_bytes()};
}
static Window windowOf(std::span<float> values) {
  return {reinterpret_cast<uint8_t *>(values.data()), values.size_bytes()};
}

/// The part `number` of `size` things in `parts` parts.
static size_t partBegin(size_t size, size_t number, size_t parts) {
  return size / parts * number + std::min(size % parts, number);
}

/// Adds what the ranks have, `parts` of the same size, in their order.
static void addInOrder(std::span<const std::span<const float>> parts,
                       std::span<float> sum) {
  for (size_t i = 0; i < sum.size(); ++i) {
    float total = parts[0][i];
    for (size_t rank = 1; rank < parts.size(); ++rank)
      total += parts[rank][i];
    sum[i] = total;
  }
}

/// Every rank gets all parts and adds them: one exchange.
static Status reduceSmall(Communicator &ranks, std::span<const float> part,
                          std::span<float> sum, CollectiveScratch &scratch) {
  uint32_t size = ranks.size(), own = ranks.rank();
  scratch.floats.resize(part.size() * size);
  std::vector<Bytes> to(size, bytesOf(part));
  std::vector<Window> from(size);
  std::vector<std::span<const float>> parts(size);
  to[own] = {};
  for (uint32_t rank = 0; rank < size; ++rank) {
    std::span<float> place(scratch.floats.data() + rank * part.size(),
                           part.size());
    parts[rank] = rank == own ? part : place;
    if (rank != own)
      from[rank] = windowOf(place);
  }
  GIST_TRY(ranks.exchange(to, from));
  addInOrder(parts, sum);
  return {};
}

/// Each rank adds one piece and hands it to the others: two exchanges, of which
/// each moves a part instead of the whole.
static Status reduceLarge(Communicator &ranks, std::span<const float> part,
                          std::span<float> sum, CollectiveScratch &scratch) {
  uint32_t size = ranks.size(), own = ranks.rank();
  auto pieceOf = [&](auto values, uint32_t rank) {
    size_t begin = partBegin(values.size(), rank, size);
    return values.subspan(begin,
                          partBegin(values.size(), rank + 1, size) - begin);
  };
  std::span<float> mine = pieceOf(sum, own);
  scratch.floats.resize(mine.size() * size);
  std::vector<Bytes> to(size);
  std::vector<Window> from(size);
  std::vector<std::span<const float>> parts(size);
  for (uint32_t rank = 0; rank < size; ++rank) {
    std::span<float> place(scratch.floats.data() + rank * mine.size(),
                           mine.size());
    parts[rank] = rank == own ? pieceOf(part, own) : place;
    if (rank == own)
      continue;
    to[rank] = bytesOf(pieceOf(part, rank));
    from[rank] = windowOf(place);
  }
  GIST_TRY(ranks.exchange(to, from));
  addInOrder(parts, mine);
  for (uint32_t rank = 0; rank < size; ++rank) {
    to[rank] = rank == own ? Bytes() : bytesOf(mine);
    from[rank] = rank == own ? Window() : windowOf(pieceOf(sum, rank));
  }
  return ranks.exchange(to, from);
}

Status gist::allReduce(Communicator &ranks, std::span<const float> part,
                       std::span<float> sum, CollectiveScratch &scratch) {
  // Below this one more exchange costs more than the bytes that it saves.
  constexpr size_t kLarge = size_t{32} << 10; // bytes
  return part.size_bytes() < kLarge || ranks.size() == 2
             ? reduceSmall(ranks, part, sum, scratch)
             : reduceLarge(ranks, part, sum, scratch);
}

Status gist::allGather(Communicator &ranks, std::span<const float> part,
                       std::span<const int64_t> columns, std::span<float> all,
                       CollectiveScratch &scratch) {
  uint32_t size = ranks.size(), own = ranks.rank();
  auto width = static_cast<size_t>(
      std::accumulate(columns.begin(), columns.end(), int64_t{0}));
  size_t rows = part.size() / static_cast<size_t>(columns[own]);
  // One row is in its place as it comes; several lie rank by rank first.
  bool isDirect = rows == 1;
  if (!isDirect)
    scratch.floats.resize(all.size());
  std::span<float> landing = isDirect ? all : std::span<float>(scratch.floats);
  std::vector<Bytes> to(size, bytesOf(part));
  std::vector<Window> from(size);
  std::vector<std::span<float>> places(size);
  to[own] = {};
  size_t begin = 0;
  for (uint32_t rank = 0; rank < size; ++rank) {
    size_t count = rows * static_cast<size_t>(columns[rank]);
    places[rank] = landing.subspan(begin, count);
    begin += count;
    if (rank == own)
      std::copy(part.begin(), part.end(), places[rank].begin());
    else
      from[rank] = windowOf(places[rank]);
  }
  GIST_TRY(ranks.exchange(to, from));
  if (isDirect)
    return {};
  size_t column = 0;
  for (uint32_t rank = 0; rank < size; ++rank) {
    auto count = static_cast<size_t>(columns[rank]);
    for (size_t row = 0; row < rows; ++row)
      std::copy_n(places[rank].begin() + static_cast<ptrdiff_t>(row * count),
                  count,
                  all.begin() + static_cast<ptrdiff_t>(row * width + column));
    column += count;
  }
  return {};
}

Status gist::handOn(Communicator &ranks, uint32_t from, uint32_t to,
                    std::span<const float> part, std::span<float> result) {
  uint32_t own = ranks.rank();
  std::vector<Bytes> sent(ranks.size());
  std::vector<Window> received(ranks.size());
  if (own == from)
    sent[to] = bytesOf(part);
  if (own == to)
    received[from] = windowOf(result);
  else
    std::copy(part.begin(), part.end(), result.begin());
  return ranks.exchange(sent, received);
}

Status gist::broadcast(Communicator &ranks, std::vector<uint8_t> &message,
                       Patience patience) {
  // Most messages are a token and a position: they go with their size.
  struct Head {
    uint64_t size = 0;
    std::array<uint8_t, 120> begin = {};
  } head;
  bool isRoot = ranks.rank() == 0;
  uint32_t size = ranks.size();
  std::vector<Bytes> to(size);
  std::vector<Window> from(size);
  auto send = [&](Bytes bytes, Window window) {
    for (uint32_t rank = 1; rank < size; ++rank)
      to[rank] = isRoot ? bytes : Bytes();
    from[0] = isRoot ? Window() : window;
    return ranks.exchange(to, from, patience);
  };
  if (isRoot) {
    head.size = message.size();
    std::copy_n(message.begin(), std::min(message.size(), head.begin.size()),
                head.begin.begin());
  }
  auto *raw = reinterpret_cast<uint8_t *>(&head);
  GIST_TRY(send({raw, sizeof head}, {raw, sizeof head}));
  // Rank 0 is trusted, but a wrong size must not crash this process.
  constexpr uint64_t kMost = uint64_t{1} << 32;
  if (head.size > kMost)
    return Status::error(Code::Io, "rank 0 sent a message without an end");
  if (!isRoot) {
    message.resize(head.size);
    std::copy_n(head.begin.begin(),
                std::min<uint64_t>(head.size, head.begin.size()),
                message.begin());
  }
  if (head.size <= head.begin.size())
    return {};
  patience = Patience::Bounded; // The message has begun.
  return send({message.data(), message.size()},
              {message.data(), message.size()});
}

Status gist::compareHashes(Communicator &ranks, uint64_t hash) {
  uint32_t size = ranks.size(), own = ranks.rank();
  std::vector<uint64_t> all(size, hash);
  std::vector<Bytes> to(
      size, Bytes{reinterpret_cast<const uint8_t *>(&hash), sizeof hash});
  std::vector<Window> from(size);
  to[own] = {};
  for (uint32_t rank = 0; rank < size; ++rank)
    if (rank != own)
      from[rank] = {reinterpret_cast<uint8_t *>(&all[rank]), sizeof hash};
  GIST_TRY(ranks.exchange(to, from));
  for (uint32_t rank = 1; rank < size; ++rank)
    if (all[rank] != all[0])
      return Status::error(Code::Io,
                           "rank %u disagrees with rank 0: what they computed "
                           "together is not the same",
                           rank);
  return {};
}
