//===- ModuleWriter.cpp - Writes a module file ----------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Writes a module file from front to back. Weights may be larger than memory,
// so they are streamed. Header and table come first in the file and last in
// time: their room is left free and filled at the end.
//
//===----------------------------------------------------------------------===//

#include "runtime/module/ModuleWriter.h"

#include "runtime/module/Format.h"
#include "runtime/module/Metadata.h"
#include "runtime/module/Module.h"
#include "runtime/module/RandomWeights.h"
#include "runtime/support/AtomicFile.h"
#include "runtime/support/Hash.h"
#include "runtime/support/TextBytes.h"

#include <algorithm>
#include <cassert>
#include <map>
#include <set>

using namespace gist;

template <typename T> static Bytes bytesOfValue(const T &value) {
  static_assert(std::is_trivially_copyable_v<T>);
  return {reinterpret_cast<const uint8_t *>(&value), sizeof(value)};
}

static uint64_t alignTo(uint64_t value, uint64_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

/// `data` must live until write().
uint32_t ModuleWriter::addWeight(std::string name, std::string format,
                                 std::vector<int64_t> shape, Bytes data) {
  return addWeight(std::move(name), std::move(format), std::move(shape),
                   data.size,
                   [data](const ByteSink &sink) { return sink(data); });
}

uint32_t ModuleWriter::addWeight(std::string name, std::string format,
                                 std::vector<int64_t> shape, uint64_t size,
                                 WeightProducer producer) {
  WeightSpec weight;
  weight.name = std::move(name);
  weight.format = std::move(format);
  weight.shape = std::move(shape);
  weight.size = size;
  spec.weights.push_back(std::move(weight));
  producers.push_back(std::move(producer));
  places.emplace_back();
  return static_cast<uint32_t>(spec.weights.size() - 1);
}

void ModuleWriter::placeInside(uint32_t part, uint32_t whole, uint64_t offset) {
  assert(isStored(part) && isStored(whole) && part != whole &&
         "both have bytes in the file");
  assert(offset % kWeightAlignment == 0 &&
         offset + spec.weights[part].size <= spec.weights[whole].size &&
         "a part lies in its whole, aligned as every weight");
  // Offsets in the file are not known before write().
  places[part] = {whole, offset};
}

uint32_t ModuleWriter::addExternalWeight(std::string name, std::string format,
                                         std::vector<int64_t> shape,
                                         std::string file, uint64_t offset,
                                         Bytes data) {
  assert(!file.empty() && "an external weight names its file");
  uint32_t index = addWeight(std::move(name), std::move(format),
                             std::move(shape), data.size, nullptr);
  WeightSpec &weight = spec.weights[index];
  weight.file = std::move(file);
  weight.offset = offset;
  // Computed now: nothing of it is written later.
  weight.hash = hashBytes(data);
  return index;
}

uint32_t ModuleWriter::addRandomWeight(std::string name, std::string format,
                                       std::vector<int64_t> shape,
                                       uint64_t size, RandomNumbers numbers) {
  uint32_t index = addWeight(std::move(name), std::move(format),
                             std::move(shape), size, nullptr);
  spec.weights[index].random = numbers;
  return index;
}

uint32_t ModuleWriter::addTarget(TargetSpec target, std::string content) {
  spec.targets.push_back(std::move(target));
  code.push_back(std::move(content));
  return static_cast<uint32_t>(spec.targets.size() - 1);
}

namespace {

/// Appends sections to a file and keeps their table.
class SectionWriter {
public:
  SectionWriter(AtomicFile &file, uint32_t sectionCount)
      : file(file), sectionCount(sectionCount) {}

  /// Leaves room for the header and the table, which come last.
  Status begin() {
    std::string room(sizeof(FileHeader) + sectionCount * sizeof(SectionHeader),
                     '\0');
    return file.write(bytesOf(room));
  }

  /// Begins a section at a multiple of `alignment`.
  Status open(SectionKind kind, uint32_t index, uint64_t alignment) {
    GIST_TRY(pad(alignment));
    table.push_back({.kind = kind,
                     .index = index,
                     .offset = file.size(),
                     .alignment = static_cast<uint32_t>(alignment)});
    // One section is open at a time.
    hasher = Hasher();
    return {};
  }

  Status append(Bytes bytes) {
    hasher.update(bytes);
    return file.write(bytes);
  }

  void close() {
    table.back().size = file.size() - table.back().offset;
    table.back().hash = hasher.finish();
  }

  Status add(SectionKind kind, uint32_t index, uint64_t alignment,
             Bytes content) {
    GIST_TRY(open(kind, index, alignment));
    GIST_TRY(append(content));
    close();
    return {};
  }

  Status finish() {
    assert(table.size() == sectionCount && "the room left was for these");
    // The hash is 0 while it is computed; see Module::readTable.
    FileHeader header;
    header.sectionCount = sectionCount;
    header.fileSize = file.size();
    Bytes tableBytes{reinterpret_cast<const uint8_t *>(table.data()),
                     table.size() * sizeof(SectionHeader)};
    Hasher headerHasher;
    headerHasher.update(bytesOfValue(header));
    headerHasher.update(tableBytes);
    header.hash = headerHasher.finish();
    GIST_TRY(file.rewrite(0, bytesOfValue(header)));
    return file.rewrite(sizeof(header), tableBytes);
  }

private:
  /// Zeros between sections belong to none of them.
  Status pad(uint64_t alignment) {
    std::string zeros(alignTo(file.size(), alignment) - file.size(), '\0');
    return file.write(bytesOf(zeros));
  }

  AtomicFile &file;
  uint32_t sectionCount;
  std::vector<SectionHeader> table;
  Hasher hasher;
};

} // namespace

/// Hands the bytes of a weight to `sink` and fills in its hash.
static Status produceWeight(WeightSpec &weight, const WeightProducer &producer,
                            const ByteSink &sink) {
  Hasher hasher;
  uint64_t produced = 0;
  GIST_TRY(producer([&](Bytes piece) {
    hasher.update(piece);
    produced += piece.size;
    return sink(piece);
  }));
  if (produced != weight.size)
    return Status::error(Code::BadArgument,
                         "weight '%s' has %" PRIu64 " bytes, but %" PRIu64
                         " were announced",
                         weight.name.c_str(), produced, weight.size);
  weight.hash = hasher.finish();
  return {};
}

/// Streams one weight into the open weight section.
static Status writeWeight(SectionWriter &writer, WeightSpec &weight,
                          const WeightProducer &producer) {
  GIST_TRY(produceWeight(weight, producer,
                         [&](Bytes piece) { return writer.append(piece); }));
  // The zeros behind a weight count for the section's hash, not for the
  // weight's.
  std::string zeros(alignTo(weight.size, kWeightAlignment) - weight.size, '\0');
  return writer.append(bytesOf(zeros));
}

Status ModuleWriter::leaveIn(const Module &other, const std::string &file) {
  std::map<std::string, uint32_t> theirs;
  const std::vector<WeightSpec> &found = other.spec().weights;
  for (uint32_t i = 0; i < found.size(); ++i)
    if (found[i].file.empty() && !found[i].random)
      theirs[found[i].name] = i;
  std::set<uint32_t> wholes;
  for (const Inside &place : places)
    wholes.insert(place.whole);
  for (uint32_t i = 0; i < spec.weights.size(); ++i) {
    WeightSpec &weight = spec.weights[i];
    auto at = theirs.find(weight.name);
    if (!isStored(i) || wholes.contains(i) || at == theirs.end())
      continue;
    const WeightSpec &same = found[at->second];
    if (same.format != weight.format || same.shape != weight.shape ||
        same.size != weight.size)
      continue;
    GIST_TRY(
        produceWeight(weight, producers[i], [](Bytes) { return Status(); }));
    if (weight.hash != same.hash)
      continue;
    weight.file = file;
    weight.offset = other.weightOffset(at->second);
    producers[i] = nullptr;
  }
  return {};
}

Status ModuleWriter::write(const std::string &path) {
  // Offsets are given before anything is written, so that verifySpec sees a
  // whole spec. Weights without a producer lie in other files, or are made up.
  uint64_t end = 0;
  bool hasEmbedded = false;
  for (size_t i = 0; i < spec.weights.size(); ++i) {
    if (!isStored(i))
      continue;
    hasEmbedded = true;
    spec.weights[i].offset = end;
    end += alignTo(spec.weights[i].size, kWeightAlignment);
  }
  for (size_t i = 0; i < spec.weights.size(); ++i)
    if (places[i].whole != kNone)
      spec.weights[i].offset =
          spec.weights[places[i].whole].offset + places[i].offset;
  // The same checks as the reader's: a module that is written can be read.
  GIST_TRY(verifySpec(spec));
  GIST_TRY(verifyRanks(spec, ranks));

  // A temporary file that takes the place of `path` in commit(), and goes away
  // on every return before that.
  AtomicFile file;
  GIST_TRY(file.open(path));
  auto sectionCount = static_cast<uint32_t>(
      1 + code.size() + (hasEmbedded ? 1 : 0) + (tokenizer.empty() ? 0 : 1) +
      (plan.empty() ? 0 : 1));
  if (sectionCount > kMaxSections)
    return Status::error(Code::BadArgument,
                         "the module has too many targets: %zu", code.size());
  SectionWriter writer(file, sectionCount);
  GIST_TRY(writer.begin());
  if (hasEmbedded) {
    // Pages, so that the weights can be mapped and handed to a device.
    GIST_TRY(writer.open(SectionKind::Weights, 0, kPageAlignment));
    for (size_t i = 0; i < spec.weights.size(); ++i)
      if (isStored(i))
        GIST_TRY(writeWeight(writer, spec.weights[i], producers[i]));
      else if (producers[i]) // Its bytes are written elsewhere.
        GIST_TRY(produceWeight(spec.weights[i], producers[i],
                               [](Bytes) { return Status(); }));
    writer.close();
  }
  // After the weights, whose hashes it contains.
  GIST_TRY(writer.add(SectionKind::Metadata, 0, kWeightAlignment,
                      bytesOf(encodeMetadata(spec, ranks))));
  for (uint32_t i = 0; i < code.size(); ++i)
    GIST_TRY(
        writer.add(SectionKind::Code, i, kWeightAlignment, bytesOf(code[i])));
  if (!tokenizer.empty())
    GIST_TRY(writer.add(SectionKind::Tokenizer, 0, kWeightAlignment,
                        bytesOf(tokenizer)));
  if (!plan.empty())
    GIST_TRY(writer.add(SectionKind::Plan, 0, kWeightAlignment, bytesOf(plan)));
  GIST_TRY(writer.finish());
  return file.commit();
}
