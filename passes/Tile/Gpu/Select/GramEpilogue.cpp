//===- GramEpilogue.cpp - Reduces a tile of cosines -----------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Column by column, so that what is known of a column is needed for a moment
// only: the sums leave few registers.
//
//===----------------------------------------------------------------------===//

#include "passes/Tile/Gpu/Select/GramEpilogue.h"
#include "passes/Tile/Gpu/Matmul/Staging.h"

#include <limits>

using namespace mlir;
using namespace gist;
using arith::CmpFPredicate;
using arith::CmpIPredicate;

/// Columns whose comparisons may be in flight at once: on gfx942 each takes two
/// scalar registers.
static constexpr int64_t kColumnsTogether = 4;
/// Columns of a word of bits.
static constexpr int64_t kWord = 32;

GramEpilogue::Token GramEpilogue::load(unsigned number, Value local) {
  if (readToken)
    return readToken(number, local);
  const GramTile::Side &side = tile.getSide(number);
  Token token = {b.read(side.ids, local), b.read(side.scales, local)};
  if (begins[number])
    token.begin = b.read(begins[number], local);
  return token;
}

GramEpilogue::Column GramEpilogue::loadColumn(const GramTile::Column &place) {
  Token token = load(1, place.local);
  return {place, token.id, token.scale, token.begin};
}

GramEpilogue::Row GramEpilogue::loadRow(unsigned fragment, unsigned laneRow) {
  Token token = load(0, tile.getLaneRow(fragment, laneRow));
  Row row;
  row.fragment = fragment;
  row.laneRow = laneRow;
  row.id = token.id;
  row.scale = token.scale;
  row.bound = getBound(row.id);
  row.begin = token.begin;
  row.best = b.f32(-std::numeric_limits<float>::infinity());
  // The sentinel -1 is the largest unsigned id, so every id wins a tie against
  // it.
  row.owner = b.i32(-1);
  row.words.assign(tile.getWaveColumns() / kWord, b.i32(0));
  return row;
}

std::pair<Value, Value> GramEpilogue::getElement(const Row &row,
                                                 const Column &column) {
  Value cosine = tile.getCosine(row.fragment, column.place, row.laneRow,
                                row.scale, column.scale);
  if (similarity == Similarity::Absolute)
    cosine = math::AbsFOp::create(b, cosine);
  Value counts = b.compare(CmpIPredicate::slt, column.id, row.bound);
  if (row.begin)
    counts =
        b.both(counts, b.compare(CmpIPredicate::eq, row.begin, column.begin));
  return {cosine, counts};
}

void GramEpilogue::run(Improve improve, Store store) {
  SmallVector<Row> rows;
  for (unsigned fragment = 0; fragment < tile.getRowFragments(); ++fragment)
    for (unsigned row = 0; row < tile.getLaneRows(); ++row)
      rows.push_back(loadRow(fragment, row));
  for (const auto &[number, place] : llvm::enumerate(tile.getLaneColumns())) {
    if (number % kColumnsTogether == 0)
      keepOrder(b);
    Column column = loadColumn(place);
    for (Row &row : rows) {
      auto [cosine, counts] = getElement(row, column);
      if (improve) {
        // False for what is not a number. Columns ascend: the first of equals
        // stays.
        Value wins =
            b.both(counts, b.compare(CmpFPredicate::OGT, cosine, row.best));
        row.best = b.select(wins, cosine, row.best);
        row.owner = b.select(wins, column.id, row.owner);
      }
      if (store) {
        Value covers =
            b.both(counts, b.compare(CmpFPredicate::OGE, cosine, theta));
        Value bit = b.select(covers, b.i32(int64_t(1) << place.fixed % kWord),
                             b.i32(0));
        Value &word = row.words[place.fixed / kWord];
        word = arith::OrIOp::create(b, word, bit);
      }
    }
  }
  // All lanes meet before any of them writes: between branches LLVM would
  // compare again, or keep what was compared.
  for (Row &row : rows) {
    if (improve)
      reduceBest(row);
    if (store)
      reduceBits(row);
  }
  for (Row &row : rows) {
    if (improve)
      writeBest(row, improve);
    if (store)
      writeBits(row, store);
  }
}

/// Among the lanes that share a row.
void GramEpilogue::reduceBest(Row &row) {
  for (int64_t mask : tile.getRowShuffles()) {
    Value best = b.exchange(row.best, mask),
          owner = b.exchange(row.owner, mask);
    // The sentinel -1 is the largest unsigned id, so it loses every tie.
    Value isTie = b.both(b.compare(CmpFPredicate::OEQ, best, row.best),
                         b.compare(CmpIPredicate::ult, owner, row.owner));
    Value wins = arith::OrIOp::create(
        b, b.compare(CmpFPredicate::OGT, best, row.best), isTie);
    row.best = b.select(wins, best, row.best);
    row.owner = b.select(wins, owner, row.owner);
  }
}

void GramEpilogue::writeBest(Row &row, Improve improve) {
  Value exists = b.both(b.compare(CmpIPredicate::sge, row.id, b.i32(0)),
                        b.compare(CmpIPredicate::sge, row.owner, b.i32(0)));
  Value isWriter = b.isEqual(tile.getLaneColumn(), 0);
  b.ifThen(b.both(isWriter, exists),
           [&] { improve(row.id, row.best, row.owner); });
}

void GramEpilogue::reduceBits(Row &row) {
  Value shift = b.toI32(tile.getLaneColumn());
  for (Value &word : row.words) {
    // Lanes set bits as if they were lane 0, and move them to their place once.
    word = arith::ShLIOp::create(b, word, shift);
    for (int64_t mask : tile.getRowShuffles())
      word = arith::OrIOp::create(b, word, b.exchange(word, mask));
  }
}

void GramEpilogue::writeBits(Row &row, Store store) {
  Value firstWord = b.div(tile.getWaveColumn(), kWord);
  Value isWriter = b.isEqual(tile.getLaneColumn(), 0);
  Value exists = b.compare(CmpIPredicate::sge, row.id, b.i32(0));
  b.ifThen(b.both(isWriter, exists), [&] {
    for (auto [i, word] : llvm::enumerate(row.words))
      store(row.id, b.add(firstWord, i), word);
  });
}
