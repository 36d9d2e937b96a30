//===- Module.cpp - A module file, read and verified once -----------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Opens a module file. Nothing of the file is trusted: the header's hash covers
// the table, each section's hash its content, and verifySpec the meaning. After
// that the rest of the runtime uses a module without further checks. Hashes
// find damage, not malice.
//
//===----------------------------------------------------------------------===//

#include "runtime/module/Module.h"

#include "runtime/module/Metadata.h"
#include "runtime/module/RandomWeights.h"
#include "runtime/support/FileKind.h"
#include "runtime/support/Hash.h"
#include "runtime/support/OutOfMemory.h"
#include "runtime/support/Sha256.h"

#include <algorithm>
#include <bit>
#include <map>

using namespace gist;

/// What ModuleSpec::requirements may name.
/// A runtime that does not know one must not run the module.
static bool isKnownRequirement(const std::string &name) {
  return name == kRanksRequirement;
}

/// Null for a kind that this runtime does not know.
static const char *sectionName(SectionKind kind) {
  switch (kind) {
  case SectionKind::Metadata:
    return "metadata";
  case SectionKind::Code:
    return "code";
  case SectionKind::Weights:
    return "weight";
  case SectionKind::Tokenizer:
    return "tokenizer";
  case SectionKind::Plan:
    return "plan";
  }
  return nullptr;
}

Status Module::checkVersion() const {
  // runtime/README.md, "Versions": same major, any minor. What an older runtime
  // must not ignore is a required section or a named requirement.
  if (fileHeader.major == kFormatMajor)
    return {};
  return Status::error(
      Code::Unsupported,
      "the module has format %d.%d, but this runtime reads %d.x; compile "
      "the model again with a matching gist-compile",
      fileHeader.major, fileHeader.minor, kFormatMajor);
}

/// Another kind of file, or half of a header.
static const char *explainNoModule(Bytes file) {
  const char *kind = explainKind(file);
  bool isModule =
      file.size >= kModuleMagic.size() &&
      std::equal(kModuleMagic.begin(), kModuleMagic.end(), file.data);
  return kind && !isModule ? kind : "the file is not a gist module";
}

Status Module::readTable(Bytes bytes) {
  // The magic is checked first, so that another kind of file gets a clear
  // message.
  if (bytes.size < sizeof(FileHeader) ||
      !std::equal(kModuleMagic.begin(), kModuleMagic.end(), bytes.data))
    return Status::error(Code::BadFile, "%s", explainNoModule(bytes));
  GIST_TRY(bytes.read(0, "file header", fileHeader));
  GIST_TRY(checkVersion());
  // Before the hash, because an incomplete copy deserves its own message.
  if (fileHeader.fileSize != bytes.size)
    return Status::error(Code::BadFile,
                         "the module has %" PRIu64
                         " bytes, but the file has %" PRIu64
                         "; was it copied completely?",
                         fileHeader.fileSize, bytes.size);
  if (fileHeader.sectionCount > kMaxSections)
    return Status::error(Code::BadFile,
                         "the module has %" PRIu32 " sections; at most %" PRIu32
                         " are allowed",
                         fileHeader.sectionCount, kMaxSections);
  // No overflow: the number of sections is small by now.
  Bytes tableBytes;
  GIST_TRY(bytes.slice(sizeof(FileHeader),
                       fileHeader.sectionCount * sizeof(SectionHeader),
                       "section table", tableBytes));
  // The hash is of the header with a hash of 0.
  FileHeader unhashed = fileHeader;
  unhashed.hash = 0;
  Hasher hasher;
  hasher.update(
      {reinterpret_cast<const uint8_t *>(&unhashed), sizeof(unhashed)});
  hasher.update(tableBytes);
  if (hasher.finish() != fileHeader.hash)
    return Status::error(Code::BadFile, "the header is damaged");

  table.resize(fileHeader.sectionCount);
  if (!table.empty())
    std::memcpy(table.data(), tableBytes.data, tableBytes.size);
  return {};
}

static Status checkZeros(Bytes bytes, uint64_t begin, uint64_t end) {
  Bytes gap;
  GIST_TRY(bytes.slice(begin, end - begin, "gap", gap));
  if (std::any_of(gap.data, gap.data + gap.size,
                  [](uint8_t byte) { return byte != 0; }))
    return Status::error(Code::BadFile,
                         "the bytes between sections are not zero");
  return {};
}

/// Sections lie in the order of the table and do not overlap. A kind that is
/// not known is skipped, unless it is marked as required: newer writers may add
/// sections.
Status Module::readSections(Bytes bytes, Bytes &metadata, Bytes &weights) {
  uint64_t end = sizeof(FileHeader) + table.size() * sizeof(SectionHeader);
  std::map<std::pair<SectionKind, uint32_t>, Bytes> found;
  for (const SectionHeader &section : table) {
    const char *name = sectionName(section.kind);
    Bytes data;
    GIST_TRY(bytes.slice(section.offset, section.size, name ? name : "section",
                         data));
    // The table's order is part of the format, so one comparison finds both
    // overlap and disorder.
    if (section.offset < end)
      return Status::error(Code::BadFile, "sections overlap");
    // Hashes do not cover what lies between; so that no byte can change without
    // being noticed, it must be zero.
    GIST_TRY(checkZeros(bytes, end, section.offset));
    // No overflow: slice() has checked the sum.
    end = section.offset + section.size;
    if (!name) {
      if (section.flags & kSectionRequired)
        return Status::error(
            Code::Unsupported,
            "the module needs a newer runtime: this one does not "
            "know sections of kind %" PRIu32,
            static_cast<uint32_t>(section.kind));
      continue;
    }
    // A section that is skipped may have any alignment.
    if (!std::has_single_bit(section.alignment) ||
        section.offset % section.alignment != 0)
      return Status::error(Code::BadFile,
                           "%s section at offset %" PRIu64
                           " is not aligned to %" PRIu32,
                           name, section.offset, section.alignment);
    // Weights are large and checked on request.
    if (section.kind != SectionKind::Weights && hashBytes(data) != section.hash)
      return Status::error(Code::BadFile, "%s section is damaged", name);
    if (!found.emplace(std::pair(section.kind, section.index), data).second)
      return Status::error(Code::BadFile,
                           "the module has two %s sections of number %" PRIu32,
                           name, section.index);
    if (section.kind == SectionKind::Code)
      codeSections.emplace_back(section.index, data);
  }
  GIST_TRY(checkZeros(bytes, end, bytes.size));
  // Only code has several sections, one for each target.
  auto get = [&](SectionKind kind) {
    auto at = found.find({kind, 0});
    return at == found.end() ? Bytes() : at->second;
  };
  metadata = get(SectionKind::Metadata);
  weights = get(SectionKind::Weights);
  tokenizerData = get(SectionKind::Tokenizer);
  planData = get(SectionKind::Plan);
  if (!metadata.data)
    return Status::error(Code::BadFile, "the module has no metadata section");
  return {};
}

/// One view for each weight, into the weights section or into another file.
/// Files are mapped once, and stay mapped as long as the module lives.
Status Module::findWeights(Bytes section, const std::string &folder) {
  std::map<std::string, Bytes> external;
  for (const WeightSpec &weight : content.weights) {
    // Made up when a session is created, so there are no bytes.
    if (weight.random) {
      weightData.emplace_back();
      continue;
    }
    Bytes whole = section;
    if (!weight.file.empty()) {
      auto [at, isNew] = external.try_emplace(weight.file);
      if (isNew) {
        std::unique_ptr<MappedFile> file;
        // Mapped, not read: a weight costs nothing until a session uses it.
        GIST_TRY(MappedFile::open(folder + "/" + weight.file, file)
                     .in("weight file '" + weight.file + "'"));
        at->second = file->bytes();
        files.push_back(std::move(file));
      }
      whole = at->second;
    } else if (weight.offset % kWeightAlignment != 0) {
      return Status::error(
          Code::BadFile,
          "weight '%s' at offset %" PRIu64 " is not aligned to %" PRIu64,
          weight.name.c_str(), weight.offset, kWeightAlignment);
    }
    Bytes data;
    GIST_TRY(whole.slice(weight.offset, weight.size, "content", data)
                 .in("weight '" + weight.name + "'"));
    weightData.push_back(data);
  }
  return {};
}

Status Module::parse(Bytes bytes, const std::string &folder) {
  whole = bytes;
  GIST_TRY(readTable(bytes));
  Bytes metadata, weights;
  GIST_TRY(readSections(bytes, metadata, weights));
  GIST_TRY(decodeMetadata(metadata, content, rankContent));
  for (const std::string &name : content.requirements)
    if (!isKnownRequirement(name))
      return Status::error(
          Code::Unsupported,
          "the module needs a newer runtime: this one does not know '%s'",
          name.c_str());
  // Requirements come first: an unknown one may change what the rest means.
  GIST_TRY(verifySpec(content));
  GIST_TRY(verifyRanks(content, rankContent));
  // The index of a code section is that of its target.
  targetCode.resize(content.targets.size());
  for (auto [target, code] : codeSections) {
    if (target >= targetCode.size())
      return Status::error(Code::BadFile,
                           "a code section is for target %" PRIu32
                           ", but the module has %zu targets",
                           target, targetCode.size());
    targetCode[target] = code;
  }
  for (size_t i = 0; i < targetCode.size(); ++i)
    if (targetCode[i].size == 0)
      return Status::error(Code::BadFile, "target '%s' has no code",
                           content.targets[i].name.c_str());
  return findWeights(weights, folder);
}

Status Module::fromBytes(Bytes bytes, const std::string &folder,
                         std::shared_ptr<const Module> &result) try {
  // Made apart, so that `result` is left as it was on error.
  std::shared_ptr<Module> module(new Module());
  GIST_TRY(module->parse(bytes, folder));
  result = std::move(module);
  return {};
}
GIST_CATCH_OUT_OF_MEMORY

Status Module::open(const std::string &path,
                    std::shared_ptr<const Module> &result) try {
  std::unique_ptr<MappedFile> file;
  GIST_TRY(MappedFile::open(path, file).in(path));
  // Files of weights are named relative to the module.
  size_t slash = path.rfind('/');
  std::string folder = slash == std::string::npos ? "." : path.substr(0, slash);
  std::shared_ptr<Module> module(new Module());
  GIST_TRY(module->parse(file->bytes(), folder).in(path));
  // The views point into the mapping.
  module->files.push_back(std::move(file));
  result = std::move(module);
  return {};
}
GIST_CATCH_OUT_OF_MEMORY

/// An entry for this target, else one for all targets.
const EntrySpec *Module::findEntry(std::string_view name,
                                   uint32_t target) const {
  const EntrySpec *forAll = nullptr;
  for (const EntrySpec &entry : content.entries) {
    if (entry.name != name)
      continue;
    if (entry.target == target)
      return &entry;
    if (entry.target == kNone)
      forAll = &entry;
  }
  return forAll;
}

uint32_t Module::findSymbol(std::string_view name) const {
  for (uint32_t i = 0; i < content.symbols.size(); ++i)
    if (content.symbols[i].name == name)
      return i;
  return kNone;
}

Status Module::verifyWeights() const {
  for (size_t i = 0; i < weightData.size(); ++i)
    if (!content.weights[i].random &&
        hashBytes(weightData[i]) != content.weights[i].hash)
      return Status::error(Code::BadFile, "weight '%s' is damaged",
                           content.weights[i].name.c_str());
  return {};
}

/// Weights are numbers that kernels multiply, and are too large to read when a
/// module is loaded. Small ones in f32 may be tables that say where kernels
/// write: that of a plan's heads (runtime/format/HeadTable.def) does.
static bool maySteerKernels(const WeightSpec &weight) {
  constexpr uint64_t kLargestTable = uint64_t{1} << 20;
  return weight.format == "f32" && weight.size <= kLargestTable &&
         !weight.random;
}

const std::string &Module::fingerprint() const {
  std::call_once(fingerprintMade, [this] {
    Sha256 hasher;
    hasher.update(fileHeader.major);
    // Sizes go before contents, so that no two modules give the same bytes.
    for (const SectionHeader &section : table) {
      if (section.kind == SectionKind::Weights)
        continue;
      hasher.update(static_cast<uint64_t>(section.kind));
      hasher.update(section.index);
      hasher.update(section.size);
      // The place was checked when the sections were read.
      hasher.update(Bytes{whole.data + section.offset, section.size});
    }
    for (size_t i = 0; i < weightData.size(); ++i)
      if (maySteerKernels(content.weights[i]))
        hasher.update(weightData[i]);
    fingerprintText = hasher.finish();
  });
  return fingerprintText;
}
