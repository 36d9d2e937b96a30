//===- Adapters.cpp - Adapters that tokens choose -------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/session/Adapters.h"

#include "runtime/module/Properties.h"
#include "runtime/session/CheckTokens.h"

#include <algorithm>
#include <cinttypes>

using namespace gist;

static constexpr int32_t kTokenMask = (1 << kAdapterShift) - 1;

std::vector<std::string> gist::adapterNames(const ModelInfo &model) {
  std::vector<std::string> names;
  auto found = model.properties.find(kAdaptersProperty);
  if (found == model.properties.end())
    return names;
  std::string_view rest = found->second;
  while (!rest.empty()) {
    size_t end = std::min(rest.find(' '), rest.size());
    if (end != 0)
      names.emplace_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return names;
}

Status gist::findAdapter(const ModelInfo &model, std::string_view name,
                         int32_t &number) {
  std::vector<std::string> names = adapterNames(model);
  auto found = std::find(names.begin(), names.end(), name);
  if (name.empty() || found != names.end()) {
    number = name.empty() ? 0 : static_cast<int32_t>(found - names.begin()) + 1;
    return {};
  }
  std::string known;
  for (const std::string &each : names)
    known += (known.empty() ? "" : ", ") + each;
  return Status::error(
      Code::NotFound, "the module has no adapter '%.*s'; it has %s",
      static_cast<int>(name.size()), name.data(),
      known.empty() ? "none ('gist-compile --adapter')" : known.c_str());
}

Status gist::checkAdapter(const ModelInfo &model, int32_t number) {
  size_t count = adapterNames(model).size();
  if (number < 0 || static_cast<size_t>(number) > count)
    return Status::error(Code::BadArgument,
                         "adapter %" PRId32 " was asked for, but the module "
                         "has %zu",
                         number, count);
  return {};
}

int32_t gist::withAdapter(int32_t token, int32_t adapter) {
  return token |
         static_cast<int32_t>(static_cast<uint32_t>(adapter) << kAdapterShift);
}

int32_t gist::tokenOf(int32_t number) { return number & kTokenMask; }

int32_t gist::adapterOf(int32_t number) { return number >> kAdapterShift; }

Status gist::checkNumbers(std::span<const int32_t> numbers,
                          const ModelInfo &model) {
  auto count = static_cast<int32_t>(adapterNames(model).size());
  if (count == 0)
    return checkTokens(numbers, model.vocabSize);
  for (int32_t number : numbers) {
    // A negative number has a negative adapter.
    if (adapterOf(number) < 0 || adapterOf(number) > count)
      return checkAdapter(model, adapterOf(number));
    int32_t token = tokenOf(number);
    GIST_TRY(checkTokens({&token, 1}, model.vocabSize));
  }
  return {};
}
