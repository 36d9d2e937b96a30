//===- AttentionMmaLoads.cpp - Loads of keys and values -------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "passes/Tile/Gpu/Attention/AttentionMma.h"

using namespace mlir;
using namespace gist;
using Value = GpuBuilder::Value;
using Values = GpuBuilder::Values;

/// Heads up to this size keep their queries in registers.
static constexpr int64_t kMaxQueryRegisters = 128;

Value MmaAttention::getBiasSlot() {
  return b.min(b.thread(), b.index(keys - 1));
}

void MmaAttention::findKeyRows(Value step, Loads &found) {
  int64_t chunks = depth / keyTile.getChunk();
  distribute(keys * chunks, [&](Value item, Value isOne) {
    Value slot = b.select(isOne, b.div(item, chunks), b.index(0));
    found.keys.push_back(steps->getRow(b, step, slot));
  });
  if (biases && isPipelined)
    found.bias.push_back(steps->getRow(b, step, getBiasSlot()));
}

void MmaAttention::findValueRows(Value step, Loads &found) {
  auto find = [&](Value isOne, Value slot) {
    slot = b.select(isOne, slot, b.index(0));
    found.values.push_back(steps->getRow(b, step, slot));
  };
  if (isAsync) {
    int64_t chunks = width / keyTile.getChunk();
    distribute(keys * chunks, [&](Value item, Value isOne) {
      find(isOne, b.div(item, chunks));
    });
    return;
  }
  distribute(keys / 4 * width / valuePiece, [&](Value item, Value isOne) {
    Value first = b.mul(b.rem(item, keys / 4), 4);
    for (int64_t i = 0; i < 4; ++i)
      find(isOne, b.add(first, i));
  });
}

MmaAttention::Loads MmaAttention::findRows(Value step) {
  Loads found;
  findKeyRows(step, found);
  findValueRows(step, found);
  return found;
}

/// The first of `values`, which is taken from them.
static Value takeFirst(ValueRange &values) {
  Value first = values.front();
  values = values.drop_front();
  return first;
}

void MmaAttention::loadKeys(Value step, const Loads &sourceRows,
                            Loads &loaded) {
  int64_t chunk = keyTile.getChunk();
  ValueRange left = sourceRows.keys;
  distribute(keys * depth / chunk, [&](Value item, Value isOne) {
    item = b.select(isOne, item, b.index(0));
    Value column = b.mul(b.rem(item, depth / chunk), chunk);
    loaded.keys.push_back(
        fetchChunk(*keySource, takeFirst(left), column, depth));
  });
  if (!biases)
    return;
  Value slot = getBiasSlot();
  Value row =
      isPipelined ? sourceRows.bias.front() : steps->getRow(b, step, slot);
  loaded.bias.push_back(steps->getBias(b, step, slot, row));
}

void MmaAttention::loadValues(const Loads &sourceRows, Loads &loaded) {
  ValueRange left = sourceRows.values;
  // Lanes take keys first, so that what they store goes to different banks.
  distribute(keys / 4 * width / valuePiece, [&](Value item, Value isOne) {
    item = b.select(isOne, item, b.index(0));
    Value column = b.mul(b.div(item, keys / 4), valuePiece);
    for (int64_t i = 0; i < 4; ++i)
      loaded.values.push_back(
          fetchChunk(*valueSource, takeFirst(left), column, width, valuePiece));
  });
}

MmaAttention::Loads MmaAttention::load(Value step, const Loads &sourceRows) {
  Loads loaded;
  loadKeys(step, sourceRows, loaded);
  loadValues(sourceRows, loaded);
  return loaded;
}

void MmaAttention::storeKeys(const Loads &loaded) {
  int64_t chunk = keyTile.getChunk();
  Value stage = b.index(0);
  ValueRange left = loaded.keys;
  distribute(keys * depth / chunk, [&](Value item, Value isOne) {
    Value fetched = takeFirst(left);
    b.ifThen(isOne, [&] {
      Value column = b.mul(b.rem(item, depth / chunk), chunk);
      keyTile.store(b, finishChunk(*keySource, fetched, column, depth), stage,
                    b.div(item, depth / chunk), column);
    });
  });
  if (biases)
    b.ifThen(b.isLess(b.thread(), keys), [&] {
      b.write(loaded.bias.front(), biases, {stage, b.thread()});
    });
}

void MmaAttention::storeValues(const Loads &loaded) {
  ValueRange left = loaded.values;
  distribute(keys / 4 * width / valuePiece, [&](Value item, Value isOne) {
    b.ifThen(isOne, [&] {
      Value column = b.mul(b.div(item, keys / 4), valuePiece);
      Values four;
      for (Value fetched : left.take_front(4))
        four.push_back(finishChunk(*valueSource, fetched, column, width));
      mma.storeTransposed(b, valueTile, four, b.index(0),
                          b.mul(b.rem(item, keys / 4), 4), column);
    });
    left = left.drop_front(4);
  });
}

void MmaAttention::copyTile(const RowSource &source, const SharedTile &tile,
                            Value stage, ValueRange sourceRows) {
  int64_t chunk = tile.getChunk(), chunks = tile.getColumns() / chunk;
  distribute(tile.getRows() * chunks, [&](Value item, Value isOne) {
    Value row = takeFirst(sourceRows);
    b.ifThen(isOne, [&] {
      Value slot = b.div(item, chunks);
      Value column = b.mul(b.rem(item, chunks), chunk);
      if (!source.place) {
        Value fetched = fetchChunk(source, row, column, tile.getColumns());
        tile.store(b, finishChunk(source, fetched, column, tile.getColumns()),
                   stage, slot, column);
        return;
      }
      Value to = tile.getPlace(b, slot, column), count;
      if (tile.getColumns() != source.width) {
        // What is past the row is filled with zeros.
        Value isInside = b.isLess(column, source.width);
        count = b.select(isInside, b.index(chunk), b.index(0));
        column = b.select(isInside, column, b.index(0));
      }
      auto [buffer, place] = source.place(row, column);
      nvgpu::DeviceAsyncCopyOp::create(
          b, nvgpu::DeviceAsyncTokenType::get(b.getContext()), tile.getBuffer(),
          ValueRange{stage, slot, to}, buffer, place, b.getIndexAttr(chunk),
          count, b.getUnitAttr());
    });
  });
}

void MmaAttention::copy(Value step, Value stage, const Loads &sourceRows) {
  copyTile(*keySource, keyTile, stage, sourceRows.keys);
  copyTile(*valueSource, valueTile, stage, sourceRows.values);
  if (biases)
    b.ifThen(b.isLess(b.thread(), keys), [&] {
      Value slot = b.thread();
      b.write(steps->getBias(b, step, slot, steps->getRow(b, step, slot)),
              biases, {stage, slot});
    });
}

void MmaAttention::loadQueries(const RowSource &queries) {
  auto readChunk = [&](Value row, Value column) {
    return finishChunk(queries, fetchChunk(queries, row, column, depth), column,
                       depth);
  };
  if (!isAsync) {
    // A lane's fragment is a chunk of its row.
    Value column = b.mul(b.div(lane, mma.rows()), keyTile.getChunk());
    for (int64_t tile = 0; tile < rowTiles; ++tile)
      for (int64_t k = 0; k < depth; k += mma.depth())
        queryFragments.push_back(readChunk(getRow(tile, 0), b.add(column, k)));
    return;
  }
  int64_t chunk = queryTile.getChunk(), chunks = depth / chunk;
  distribute(rows * chunks, [&](Value item, Value isOne) {
    b.ifThen(isOne, [&] {
      Value row = b.div(item, chunks);
      Value column = b.mul(b.rem(item, chunks), chunk);
      queryTile.store(b, readChunk(row, column), b.index(0), row, column);
    });
  });
  b.barrier();
  if (depth <= kMaxQueryRegisters)
    for (int64_t tile = 0; tile < rowTiles; ++tile)
      for (int64_t k = 0; k < depth; k += mma.depth())
        queryFragments.push_back(mma.loadA(b, queryTile, lane, b.index(0),
                                           b.add(firstRow, tile * mma.rows()),
                                           b.index(k)));
}

Value MmaAttention::getQuery(int64_t tile, int64_t k) {
  if (queryFragments.empty())
    return mma.loadA(b, queryTile, lane, b.index(0),
                     b.add(firstRow, tile * mma.rows()), b.index(k));
  return queryFragments[(tile * depth + k) / mma.depth()];
}
