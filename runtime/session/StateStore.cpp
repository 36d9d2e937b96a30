//===- StateStore.cpp - States apart from sequences -----------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/session/StateStore.h"

#include "runtime/support/Checked.h"

using namespace gist;

KeptState::~KeptState() {
  StateStore::Pieces pieces;
  if (store && store->findPages(region, begin, end, pieces).ok())
    for (const MemoryMap::Range &piece : pieces)
      store->pages->forget(piece.address, piece.size);
}

Status StateStore::open(const StateLayout &newLayout, Device &newDevice,
                        int64_t chunk, int64_t newMost) {
  layout = &newLayout;
  device = &newDevice;
  most = newMost;
  std::unique_ptr<PageStore> found = device->openPages();
  int64_t tokens = found ? layout->tokensOfPages(found->pageSize()) : 0;
  if (tokens == 0 || chunk % tokens != 0)
    return {};
  // Of a region the last page may be cut.
  most = (most + tokens - 1) / tokens * tokens;
  Pieces pieces;
  // A region that is too large for an address cannot be had: copies can.
  if (!layout->places(most, found->pageSize(), places, regionSize).ok() ||
      !layout->findPieces(places, most, 0, tokens, pieces).ok())
    return {};
  piecesOfTokens = pieces.size();
  step = tokens;
  pages = std::move(found);
  return {};
}

Status StateStore::findPages(uint64_t region, int64_t begin, int64_t end,
                             Pieces &pieces) const {
  GIST_TRY(layout->findPieces(places, most, begin, end, pieces));
  for (MemoryMap::Range &piece : pieces)
    piece.address += region;
  return {};
}

bool StateStore::canShow(int64_t capacity) const {
  return shares() && capacity % step == 0 &&
         mapped + piecesOfTokens <= pages->mostShown();
}

Status StateStore::keep(SequenceState &from, int64_t begin, int64_t end,
                        KeptState *before, std::shared_ptr<KeptState> &result) {
  auto kept = std::make_shared<KeptState>();
  kept->begin = begin;
  kept->end = end;
  if (!shares()) {
    GIST_TRY(from.pack(begin, end, kept->packed));
    kept->size = kept->packed.size();
    result = std::move(kept);
    return {};
  }
  bool continues = before && before->store == this && !before->isContinued;
  kept->region = continues ? before->region : nextRegion;
  if (!continues && addOverflows(nextRegion, regionSize, nextRegion))
    return Status::error(Code::OutOfMemory, "no more state can be kept");
  Pieces here, there;
  GIST_TRY(from.findPieces(begin, end, here));
  GIST_TRY(findPages(kept->region, begin, end, there));
  kept->store = this; // From now on what was stored is given back.
  for (size_t i = 0; i < here.size(); ++i) {
    GIST_TRY(pages->store(there[i].address, here[i].address, here[i].size));
    kept->size += here[i].size;
  }
  if (continues)
    before->isContinued = true;
  if (canShowFrom(from, begin))
    GIST_TRY(show(from, {&kept, 1}));
  result = std::move(kept);
  return {};
}

/// Of one region.
Status StateStore::show(SequenceState &to,
                        std::span<const std::shared_ptr<KeptState>> kept) {
  int64_t begin = kept.front()->begin, end = kept.back()->end;
  Pieces here, there;
  GIST_TRY(to.findPieces(begin, end, here));
  GIST_TRY(findPages(kept.front()->region, begin, end, there));
  // What follows its neighbour in the store too is one mapping with it.
  const KeptState *last = to.shown.empty() ? nullptr : to.shown.back().get();
  if (!last || last->region != kept.front()->region || last->end != begin) {
    mapped += piecesOfTokens;
    to.mappings += piecesOfTokens;
    to.store = this;
  }
  for (const std::shared_ptr<KeptState> &each : kept) {
    to.shown.push_back(each);
    to.shownBytes += each->bytes();
  }
  for (size_t i = 0; i < here.size(); ++i)
    GIST_TRY(pages->show(there[i].address, here[i].address, here[i].size));
  return {};
}

Status StateStore::take(SequenceState &to,
                        std::span<const std::shared_ptr<KeptState>> kept) {
  while (!kept.empty()) {
    const KeptState &first = *kept.front();
    size_t count = 1;
    while (shares() && count < kept.size() &&
           kept[count]->region == first.region &&
           kept[count]->begin == kept[count - 1]->end)
      ++count;
    if (!shares()) {
      GIST_TRY(to.unpack(first.begin, first.end, first.packed));
    } else if (canShowFrom(to, first.begin)) {
      GIST_TRY(show(to, kept.first(count)));
    } else {
      Pieces here, there;
      int64_t end = kept[count - 1]->end;
      GIST_TRY(to.findPieces(first.begin, end, here));
      GIST_TRY(findPages(first.region, first.begin, end, there));
      for (size_t i = 0; i < here.size(); ++i)
        GIST_TRY(pages->load(there[i].address, here[i].address, here[i].size));
    }
    kept = kept.subspan(count);
  }
  return {};
}
