//===- Trials.cpp - What was measured so far ------------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/planning/Trials.h"

#include "runtime/support/AtomicFile.h"
#include "runtime/support/Hash.h"
#include "runtime/support/Json.h"
#include "tools/running/Options.h"

#include "nlohmann/json.hpp"

#include <cinttypes>
#include <filesystem>

using namespace gist;
using namespace gist::plan;
using SortedJson = nlohmann::json;

/// Losses, work, and the clusters of all heads.
static bool readResult(const SortedJson &json, WindowResult &result) {
  auto readNumbers = [](const SortedJson &list, std::vector<double> &numbers) {
    if (!list.is_array())
      return false;
    for (const SortedJson &number : list) {
      if (!number.is_number())
        return false;
      numbers.push_back(number.get<double>());
    }
    return true;
  };
  if (!json.is_array() || json.size() != 3 || !json[1].is_number())
    return false;
  result.work = json[1].get<double>();
  return readNumbers(json[0], result.losses) &&
         readNumbers(json[2], result.clusters);
}

Status Trials::open(const std::string &path, const std::string &module) {
  file = path;
  identity = module;
  // The first run has no file.
  if (!std::filesystem::is_regular_file(path))
    return {};
  std::string text;
  GIST_TRY(run::readText(path, text));
  SortedJson json;
  // Another file of this name must not be overwritten.
  if (!parseJsonObject(text, json).ok() || !json.contains("gist_trials"))
    return Status::error(Code::BadFile,
                         "%s: the file is in the way of what is measured; "
                         "rename or remove it",
                         path.c_str());
  // Measurements of another module do not apply to this one.
  if (json["gist_trials"] != 2 ||
      json.value("module", SortedJson()) != identity ||
      !json.contains("windows") || !json["windows"].is_object())
    return {};
  for (const auto &[name, numbers] : json["windows"].items())
    if (WindowResult result; readResult(numbers, result))
      results[name] = std::move(result);
  return {};
}

std::string Trials::nameOf(const std::string &text,
                           std::span<const int32_t> tokens, char kind) {
  char name[40];
  std::snprintf(
      name, sizeof name, "%016" PRIx64 "-%016" PRIx64 "%c",
      hashBytes({reinterpret_cast<const uint8_t *>(text.data()), text.size()}),
      hashBytes({reinterpret_cast<const uint8_t *>(tokens.data()),
                 tokens.size_bytes()}),
      kind);
  return name;
}

bool Trials::find(const std::string &name, WindowResult &result) const {
  std::lock_guard<std::mutex> lock(mutex);
  auto found = results.find(name);
  if (found == results.end())
    return false;
  result = found->second;
  return true;
}

Status Trials::add(const std::string &name, const WindowResult &result) {
  std::lock_guard<std::mutex> lock(mutex);
  results[name] = result;
  // A killed run loses little, and writing takes little of the time.
  std::chrono::duration<double> since =
      std::chrono::steady_clock::now() - written;
  return since.count() > 10 ? writeLocked() : Status();
}

Status Trials::write() {
  std::lock_guard<std::mutex> lock(mutex);
  return writeLocked();
}

/// Numbers are printed with all their digits, so that they are the same when
/// they are read.
Status Trials::writeLocked() {
  SortedJson windows = SortedJson::object();
  for (const auto &[name, result] : results) {
    windows[name] = {result.losses, result.work, result.clusters};
  }
  SortedJson json = {{"gist_trials", 2},
                     {"module", identity},
                     {"windows", std::move(windows)}};
  GIST_TRY(writeWhole(file, json.dump() + "\n"));
  written = std::chrono::steady_clock::now();
  return {};
}

void Trials::remove() {
  std::error_code ignored;
  std::filesystem::remove(file, ignored);
}
