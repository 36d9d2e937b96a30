//===- SessionApart.cpp - Several tokens as if they came by themselves ----===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Attention of several queries adds in another order than attention of one, so
// that a call of several tokens does not give the bits of as many calls. A
// batch does, whose pieces are one token each of the same sequence.
//
//===----------------------------------------------------------------------===//

#include "runtime/session/Batch.h"
#include "runtime/session/SequenceState.h"
#include "runtime/session/Session.h"
#include "runtime/support/OutOfMemory.h"

#include <algorithm>

using namespace gist;

/// Where products get tiles, and the last row is as cheap as it gets.
static constexpr int64_t kMostApart = 16;

int64_t Session::mostApart() const {
  return std::min(kMostApart, maxTokens(kEntryScore));
}

Status Session::checkApart() const {
  GIST_TRY(checkRewinds());
  GIST_TRY(refuseRanks("several tokens in one call"));
  const EntrySpec *entry = source->findEntry(kEntryScore, targetId);
  if (!entry)
    return Status::error(Code::Unsupported,
                         "the module has no logits of every token; compile it "
                         "with 'gist-compile --logits=all'");
  StateLayout layout;
  GIST_TRY(StateLayout::create(*source, *entry, layout));
  if (!layout.isByPosition())
    return Status::error(Code::Unsupported,
                         "the module's state is more than rows by position and "
                         "cannot go back to an earlier token");
  return {};
}

Status Session::prepareApart() try {
  if (apart)
    return {};
  GIST_TRY(checkApart());
  BatchLimits limits;
  limits.pieces = limits.rows = limits.wanted = mostApart();
  limits.rowsOfLong = 1;
  limits.capacity = context;
  return Batch::create(*source, *source->findEntry(kEntryScore, targetId),
                       nullptr, targetId, device, *code, map, limits, apart);
}
GIST_CATCH_OUT_OF_MEMORY

Status Session::scoreApart(std::span<const int32_t> tokens,
                           const LogitsSink &sink) try {
  lastLogits = {};
  GIST_TRY(checkRoom(tokens.size()));
  GIST_TRY(prepareApart());
  std::vector<BatchPiece> pieces;
  for (size_t i = 0; i < tokens.size(); ++i)
    pieces.push_back({.tokens = 1,
                      .before = past + static_cast<int64_t>(i),
                      .capacity = context,
                      .state = &map.buffers});
  auto rows = static_cast<int64_t>(tokens.size());
  RowRange wanted{0, rows};
  std::vector<int32_t> numbers;
  GIST_TRY(numbersOf(tokens, numbers));
  GIST_TRY(apart->run(pieces, numbers, {&wanted, 1}));
  past += rows;
  for (int64_t i = 0; i < rows; ++i)
    GIST_TRY(sink(static_cast<size_t>(i), apart->logits(i)));
  return {};
}
GIST_CATCH_OUT_OF_MEMORY

Status Session::measureApart() {
  if (governor.isMeasured())
    return {};
  std::span<const float> logits = lastLogits;
  int64_t before = past, room = std::min(mostApart(), context - past);
  for (size_t rows : DraftGovernor::kTrials) {
    if (static_cast<int64_t>(rows) > room)
      continue;
    int64_t start = Profile::now();
    GIST_TRY(scoreApart(std::vector<int32_t>(rows),
                        [](auto &&...) { return Status(); }));
    governor.noteTrial(rows, Profile::now() - start);
    GIST_TRY(rewind(before));
  }
  // The batch has logits of its own.
  lastLogits = logits;
  return {};
}
