//===- GramEpilogue.cpp - What becomes of a tile of cosines ---------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Tile/Gpu/GramEpilogue.h"

#include <limits>

using namespace mlir;
using namespace gist;
using arith::CmpFPredicate;
using arith::CmpIPredicate;

static Value compare(GpuBuilder &b, CmpFPredicate predicate, Value x, Value y) {
  return arith::CmpFOp::create(b, predicate, x, y);
}

void GramEpilogue::loadColumns() {
  const GramTile::Side &side = tile.getSide(1);
  columns.clear();
  for (const GramTile::Column &place : tile.getLaneColumns()) {
    Column column;
    column.place = place;
    column.id = b.read(side.ids, place.local);
    column.scale = b.read(side.scales, place.local);
    if (begins[1])
      column.begin = b.read(begins[1], place.local);
    columns.push_back(column);
  }
}

GramEpilogue::Row GramEpilogue::loadRow(unsigned fragment, unsigned laneRow) {
  const GramTile::Side &side = tile.getSide(0);
  Value local = tile.getLaneRow(fragment, laneRow);
  Row row;
  row.id = b.read(side.ids, local);
  row.scale = b.read(side.scales, local);
  row.bound = getBound(row.id);
  if (begins[0])
    row.begin = b.read(begins[0], local);
  return row;
}

std::pair<Value, Value> GramEpilogue::getElement(unsigned fragment,
                                                 unsigned laneRow,
                                                 const Row &row,
                                                 const Column &column) {
  Value cosine =
      tile.getCosine(fragment, column.place, laneRow, row.scale, column.scale);
  if (similarity == Similarity::Absolute)
    cosine = math::AbsFOp::create(b, cosine);
  Value counts = b.compare(CmpIPredicate::slt, column.id, row.bound);
  if (row.begin)
    counts =
        b.both(counts, b.compare(CmpIPredicate::eq, row.begin, column.begin));
  return {cosine, counts};
}

void GramEpilogue::forEachRow(
    function_ref<void(unsigned, unsigned, Row)> body) {
  loadColumns();
  for (unsigned fragment = 0; fragment < tile.getRowFragments(); ++fragment)
    for (unsigned row = 0; row < tile.getLaneRows(); ++row)
      body(fragment, row, loadRow(fragment, row));
}

void GramEpilogue::cover(function_ref<void(Value)> cover) {
  forEachRow([&](unsigned fragment, unsigned laneRow, Row row) {
    Value isCovered;
    for (const Column &column : columns) {
      auto [cosine, counts] = getElement(fragment, laneRow, row, column);
      Value covers =
          b.both(counts, compare(b, CmpFPredicate::OGE, cosine, theta));
      isCovered = isCovered
                      ? arith::OrIOp::create(b, isCovered, covers).getResult()
                      : covers;
    }
    // Several lanes may say so: they write the same.
    b.ifThen(isCovered, [&] { cover(row.id); });
  });
}

void GramEpilogue::storeBits(function_ref<void(Value, Value, Value)> store) {
  int64_t numWords = tile.getWaveColumns() / 32;
  assert(tile.getWaveColumns() % 32 == 0 && "waves have whole words");
  Value laneColumn = tile.getLaneColumn();
  Value shift = arith::IndexCastOp::create(b, b.getI32Type(), laneColumn);
  Value isWriter = b.isEqual(laneColumn, 0);
  Value firstWord = b.div(tile.getWaveColumn(), 32);
  forEachRow([&](unsigned fragment, unsigned laneRow, Row row) {
    SmallVector<Value> words(numWords, b.i32(0));
    for (const Column &column : columns) {
      auto [cosine, counts] = getElement(fragment, laneRow, row, column);
      Value covers =
          b.both(counts, compare(b, CmpFPredicate::OGE, cosine, theta));
      int64_t fixed = column.place.fixed;
      Value bit = b.select(covers, b.i32(int64_t(1) << fixed % 32), b.i32(0));
      Value &word = words[fixed / 32];
      word = arith::OrIOp::create(b, word, bit);
    }
    for (Value &word : words) {
      word = arith::ShLIOp::create(b, word, shift);
      for (int64_t mask : tile.getRowShuffles())
        word = arith::OrIOp::create(b, word, b.exchange(word, mask));
    }
    Value exists = b.compare(CmpIPredicate::sge, row.id, b.i32(0));
    b.ifThen(b.both(isWriter, exists), [&] {
      for (auto [i, word] : llvm::enumerate(words))
        store(row.id, b.add(firstWord, i), word);
    });
  });
}

void GramEpilogue::findBest(function_ref<void(Value, Value, Value)> improve) {
  Value lowest = b.f32(-std::numeric_limits<float>::infinity());
  Value isWriter = b.isEqual(tile.getLaneColumn(), 0);
  forEachRow([&](unsigned fragment, unsigned laneRow, Row row) {
    Value best = lowest, who = b.i32(-1);
    for (const Column &column : columns) {
      auto [cosine, counts] = getElement(fragment, laneRow, row, column);
      // False for what is not a number. Columns ascend: the first of equals
      // stays.
      Value wins = b.both(counts, compare(b, CmpFPredicate::OGT, cosine, best));
      best = b.select(wins, cosine, best);
      who = b.select(wins, column.id, who);
    }
    for (int64_t mask : tile.getRowShuffles()) {
      Value otherBest = b.exchange(best, mask), other = b.exchange(who, mask);
      // Nobody, as the largest unsigned number, loses every tie.
      Value isTie = b.both(compare(b, CmpFPredicate::OEQ, otherBest, best),
                           b.compare(CmpIPredicate::ult, other, who));
      Value wins = arith::OrIOp::create(
          b, compare(b, CmpFPredicate::OGT, otherBest, best), isTie);
      best = b.select(wins, otherBest, best);
      who = b.select(wins, other, who);
    }
    Value exists = b.both(b.compare(CmpIPredicate::sge, row.id, b.i32(0)),
                          b.compare(CmpIPredicate::sge, who, b.i32(0)));
    b.ifThen(b.both(isWriter, exists), [&] { improve(row.id, best, who); });
  });
}
