//===- Module.h - A module file, read and verified once ---------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_RUNTIME_MODULE_MODULE_H
#define GIST_RUNTIME_MODULE_MODULE_H

#include "runtime/module/Format.h"
#include "runtime/module/RankSpec.h"
#include "runtime/support/MappedFile.h"

#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gist {

/// A verified module. Everything that uses one may trust what it says, except
/// values that depend on symbols, which are checked when a call binds them.
/// The weights' bytes are mapped, not read: verifyWeights() compares their
/// hashes on request (docs/decisions/004-module-file.md says why).
class Module {
public:
  /// The file stays mapped as long as the module lives, and must not be changed
  /// in that time.
  static Status open(const std::string &path,
                     std::shared_ptr<const Module> &result);

  /// The same for bytes in memory, aligned to kWeightAlignment and kept alive
  /// by the caller. External weights are looked for in `folder`.
  static Status fromBytes(Bytes bytes, const std::string &folder,
                          std::shared_ptr<const Module> &result);

  const ModuleSpec &spec() const { return content; }
  const RankSpec &ranks() const { return rankContent; }
  std::span<const SectionHeader> sections() const { return table; }
  const FileHeader &header() const { return fileHeader; }

  Bytes code(uint32_t target) const { return targetCode[target]; }
  /// Empty for a weight of random numbers.
  Bytes weight(uint32_t index) const { return weightData[index]; }
  /// Where in the module's file an embedded weight is.
  uint64_t weightOffset(uint32_t index) const {
    return static_cast<uint64_t>(weightData[index].data - whole.data);
  }
  /// Empty when the module has none.
  Bytes tokenizer() const { return tokenizerData; }
  std::string_view plan() const { return planData.text(); }

  /// The entry of this name for `target`: its own, or the one for all.
  const EntrySpec *findEntry(std::string_view name, uint32_t target) const;
  /// kNone if there is no such symbol.
  uint32_t findSymbol(std::string_view name) const;

  /// Compares the hash of every weight; reads them all.
  Status verifyWeights() const;

  /// SHA-256 of everything that decides what the code does: all sections but
  /// the weights, so code and metadata together, and the tables among the
  /// weights. Worked out when it is first asked for.
  const std::string &fingerprint() const;

private:
  Module() = default;
  Status parse(Bytes bytes, const std::string &folder);
  Status readTable(Bytes bytes);
  Status checkVersion() const;
  Status readSections(Bytes bytes, Bytes &metadata, Bytes &weights);
  Status findWeights(Bytes section, const std::string &folder);

  FileHeader fileHeader;
  std::vector<SectionHeader> table;
  ModuleSpec content;
  RankSpec rankContent;
  // Per target and per weight of the spec: views, which `files` keeps alive.
  std::vector<Bytes> targetCode, weightData;
  std::vector<std::pair<uint32_t, Bytes>> codeSections;
  Bytes tokenizerData, planData;
  std::vector<std::unique_ptr<MappedFile>> files; ///< what the views point into
  Bytes whole;
  mutable std::once_flag fingerprintMade; ///< threads may share a module
  mutable std::string fingerprintText;
};

} // namespace gist

#endif // GIST_RUNTIME_MODULE_MODULE_H
