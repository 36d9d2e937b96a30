//===- RankSpec.cpp - What a module for several ranks says ----------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/module/RankSpec.h"

#include <algorithm>
#include <cinttypes>
#include <map>

using namespace gist;

const CollectiveSpec *RankSpec::find(uint32_t kernel) const {
  auto at = std::lower_bound(collectives.begin(), collectives.end(), kernel,
                             [](const CollectiveSpec &one, uint32_t number) {
                               return one.kernel < number;
                             });
  return at != collectives.end() && at->kernel == kernel ? &*at : nullptr;
}

static Status verifyCollective(const ModuleSpec &spec, const RankSpec &ranks,
                               const CollectiveSpec &one) {
  if (one.kernel >= spec.kernels.size())
    return Status::error(Code::BadFile,
                         "kernel %" PRIu32 " does not exist; there are %zu",
                         one.kernel, spec.kernels.size());
  const KernelSpec &kernel = spec.kernels[one.kernel];
  bool isGather = one.kind == Collective::AllGather;
  bool isHandOn = one.kind == Collective::HandOn;
  if (!isGather && !isHandOn && one.kind != Collective::AllReduce)
    return Status::error(Code::BadFile, "kernel '%s' is of unknown kind %d",
                         kernel.name.c_str(), static_cast<int>(one.kind));
  if (kernel.argCount < 2 || !kernel.code.empty())
    return Status::error(Code::BadFile,
                         "kernel '%s' has %" PRIu32
                         " arguments and code for %zu targets; expected two "
                         "arguments and no code",
                         kernel.name.c_str(), kernel.argCount,
                         kernel.code.size());
  if (isHandOn &&
      (one.from == one.to || one.from >= ranks.count || one.to >= ranks.count))
    return Status::error(Code::BadFile,
                         "kernel '%s' hands on from rank %" PRIu32
                         " to rank %" PRIu32 "; expected two of %" PRIu32
                         " ranks",
                         kernel.name.c_str(), one.from, one.to, ranks.count);
  size_t expected = isGather ? ranks.count : 0;
  if (one.columns.size() != expected)
    return Status::error(Code::BadFile,
                         "kernel '%s' has columns of %zu ranks; expected %zu",
                         kernel.name.c_str(), one.columns.size(), expected);
  for (int64_t columns : one.columns)
    if (columns <= 0 || columns > INT32_MAX)
      return Status::error(Code::BadFile,
                           "kernel '%s' has %" PRId64
                           " columns of a rank; expected 1 to %d",
                           kernel.name.c_str(), columns, INT32_MAX);
  return {};
}

/// The arguments that the runtime reads and writes itself.
static Status verifyArguments(const ModuleSpec &spec,
                              const CommandSpec &command) {
  for (size_t i = 0; i < 2; ++i) {
    const ArgSpec &arg = command.args[i];
    if (arg.buffer == kNone || arg.value != kNone ||
        spec.buffers[arg.buffer].type != ElementType::F32)
      return Status::error(Code::BadFile,
                           "'%s' has no whole buffer of f32 as argument %zu",
                           command.label.c_str(), i);
  }
  BufferKind written = spec.buffers[command.args[1].buffer].kind;
  if (written == BufferKind::Weight || written == BufferKind::Input)
    return Status::error(Code::BadFile, "'%s' writes what is only read",
                         command.label.c_str());
  return {};
}

/// What an entry does together with the other ranks, in order.
static Status findCollectives(const ModuleSpec &spec, const RankSpec &ranks,
                              const EntrySpec &entry,
                              std::vector<const CollectiveSpec *> &all) {
  for (const CommandSpec &command : entry.commands) {
    const CollectiveSpec *one = ranks.find(command.kernel);
    if (!one && spec.kernels[command.kernel].code.empty())
      return Status::error(Code::BadFile, "kernel '%s' has no code",
                           spec.kernels[command.kernel].name.c_str());
    if (!one)
      continue;
    GIST_TRY(verifyArguments(spec, command));
    all.push_back(one);
  }
  return {};
}

Status gist::verifyRanks(const ModuleSpec &spec, const RankSpec &ranks) {
  if (ranks.count == 0 || ranks.count > kMaxRanks)
    return Status::error(Code::BadFile,
                         "the module is for %" PRIu32
                         " ranks; expected 1 to %" PRIu32,
                         ranks.count, kMaxRanks);
  bool isNamed = std::find(spec.requirements.begin(), spec.requirements.end(),
                           kRanksRequirement) != spec.requirements.end();
  bool isOne = ranks.count == 1;
  if (isNamed == isOne || (isOne && !ranks.collectives.empty()) ||
      ranks.targets.size() != (isOne ? 0 : spec.targets.size()))
    return Status::error(Code::BadFile,
                         "what the module says of %" PRIu32
                         " ranks does not agree with its targets and "
                         "requirements",
                         ranks.count);
  for (uint32_t rank : ranks.targets)
    if (rank >= ranks.count)
      return Status::error(
          Code::BadFile, "rank %" PRIu32 " does not exist; there are %" PRIu32,
          rank, ranks.count);
  for (size_t i = 0; i < ranks.collectives.size(); ++i) {
    GIST_TRY(verifyCollective(spec, ranks, ranks.collectives[i]));
    if (i > 0 && ranks.collectives[i - 1].kernel >= ranks.collectives[i].kernel)
      return Status::error(
          Code::BadFile,
          "the collectives are not in the order of their kernels");
  }
  // Ranks that did not do the same, in the same order, would deadlock. Devices
  // may differ, but all ranks use one kind.
  std::map<std::pair<std::string, std::string>,
           std::vector<const CollectiveSpec *>>
      first;
  for (const EntrySpec &entry : spec.entries) {
    std::vector<const CollectiveSpec *> own;
    GIST_TRY(findCollectives(spec, ranks, entry, own)
                 .in("entry '" + entry.name + "'"));
    if (isOne)
      continue;
    if (entry.target == kNone)
      return Status::error(Code::BadFile,
                           "entry '%s' is for all targets, and so for all "
                           "ranks; expected one entry for each rank",
                           entry.name.c_str());
    auto [at, isFirst] =
        first.try_emplace({entry.name, spec.targets[entry.target].device}, own);
    bool isSame = at->second.size() == own.size();
    for (size_t i = 0; isSame && i < own.size(); ++i)
      isSame = own[i]->isSame(*at->second[i]);
    if (!isSame)
      return Status::error(
          Code::BadFile,
          "the ranks of entry '%s' have different collectives; "
          "expected the same in the same order",
          entry.name.c_str());
  }
  return {};
}
