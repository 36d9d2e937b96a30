//===- Safetensors.cpp - Reads safetensors files --------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// safetensors: eight bytes with the length of a JSON header, the header, then
// data at offsets that count from the header's end. The header is untrusted.
//
//===----------------------------------------------------------------------===//

#include "passes/Import/Files/Safetensors.h"

#include "runtime/support/FileKind.h"
#include "runtime/support/Json.h"

#include "nlohmann/json.hpp"

#include <optional>
#include <string>
#include <vector>

using namespace gist;
using nlohmann::json;

namespace {
/// Builds a JSON value, and drops what is nested deeper than `maxDepth`, so
/// that an adversary cannot turn one byte of text into a tree of containers.
/// The library's own filter looks at all entries of an object when one is
/// complete: 100,000 tensors took minutes.
class ObjectReader final : public json::json_sax_t {
public:
  explicit ObjectReader(size_t maxDepth) : maxDepth(maxDepth) {}

  json root;
  std::optional<std::string> duplicate; ///< a name of the outermost object

  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(int64_t value) override { return add(value); }
  bool number_unsigned(uint64_t value) override { return add(value); }
  bool number_float(double value, const std::string &) override {
    return add(value);
  }
  bool string(std::string &value) override { return add(std::move(value)); }
  bool binary(json::binary_t &) override { return false; }
  bool start_object(size_t) override { return open(json::object()); }
  bool start_array(size_t) override { return open(json::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(std::string &name) override {
    if (isDropping())
      return true;
    if (containers.size() == 1 && containers[0]->contains(name))
      duplicate = name;
    lastKey = std::move(name);
    return true;
  }
  bool parse_error(size_t, const std::string &,
                   const json::exception &) override {
    return false;
  }

private:
  bool isDropping() const { return dropped != 0; }
  json *place(json value) {
    if (containers.empty())
      return &(root = std::move(value));
    json &parent = *containers.back();
    if (parent.is_array()) {
      parent.push_back(std::move(value));
      return &parent.back();
    }
    return &(parent[lastKey] = std::move(value));
  }
  bool add(json value) {
    if (!isDropping())
      place(std::move(value));
    return true;
  }
  bool open(json empty) {
    if (isDropping() || containers.size() == maxDepth)
      ++dropped;
    else
      containers.push_back(place(std::move(empty)));
    return true;
  }
  bool close() {
    if (isDropping())
      --dropped;
    else
      containers.pop_back();
    return true;
  }

  size_t maxDepth;
  // Those that are not complete. They do not move: a list grows only when what
  // is in it is complete.
  std::vector<json *> containers;
  size_t dropped = 0; ///< nesting depth inside a skipped value
  std::string lastKey;
};
} // namespace

/// Parses `text` as a JSON object. Refuses a name that appears twice in the
/// outermost object.
static Status parseObject(Bytes text, size_t maxDepth, const char *what,
                          json &out) {
  std::string_view view = text.text();
  ObjectReader reader(maxDepth);
  if (!json::sax_parse(view.begin(), view.end(), &reader) ||
      !reader.root.is_object())
    return Status::error(Code::BadFile, "%s is not a JSON object", what);
  if (reader.duplicate)
    return Status::error(Code::BadFile, "%s: %s appears twice", what,
                         inQuotes(*reader.duplicate).c_str());
  out = std::move(reader.root);
  return {};
}

/// The value of `key` when it is an array of integers that are not negative.
static std::optional<std::vector<int64_t>> integers(const json &object,
                                                    const char *key) {
  auto found = object.find(key);
  if (found == object.end() || !found->is_array())
    return std::nullopt;
  std::vector<int64_t> result;
  for (const json &element : *found) {
    // As the reference reader, which refuses 8.0.
    std::optional<uint64_t> integer = bitsOf(element);
    if (!integer || *integer > uint64_t(INT64_MAX))
      return std::nullopt;
    result.push_back(static_cast<int64_t>(*integer));
  }
  return result;
}

static std::optional<WeightFormat> formatOfDtype(std::string_view dtype) {
  if (dtype == "F32")
    return WeightFormat::F32;
  if (dtype == "F16")
    return WeightFormat::F16;
  if (dtype == "BF16")
    return WeightFormat::BF16;
  return std::nullopt;
}

/// Reads one entry of the header; `skipReason` is set if no weight has its
/// type, and `isBytes` if it is bytes, which are then in `tensor`.
static Status readEntry(const json &entry, Bytes data, StoredTensor &tensor,
                        std::string &skipReason, bool &isBytes) {
  if (!entry.is_object() || !entry.contains("dtype") ||
      !entry["dtype"].is_string())
    return Status::error(Code::BadFile, "the header has no dtype");
  auto dtype = entry["dtype"].get<std::string>();
  std::optional<WeightFormat> format = formatOfDtype(dtype);
  if (!format) {
    skipReason = "element type " + inQuotes(dtype) +
                 " is not supported; supported are F32, F16 and BF16";
    isBytes = dtype == "U8";
    if (!isBytes)
      return {};
  }
  auto shape = integers(entry, "shape");
  auto offsets = integers(entry, "data_offsets");
  if (!shape || shape->size() > 8)
    return Status::error(Code::BadFile, "the header has no valid shape");
  if (!offsets || offsets->size() != 2 || (*offsets)[0] > (*offsets)[1])
    return Status::error(Code::BadFile, "the header has no valid data_offsets");

  // Bytes count as F32 to compute the size, which is divided below.
  tensor.format = format.value_or(WeightFormat::F32);
  tensor.shape = std::move(*shape);
  uint64_t begin = static_cast<uint64_t>((*offsets)[0]);
  uint64_t length = static_cast<uint64_t>((*offsets)[1]) - begin;
  uint64_t expected = 0;
  GIST_TRY(storedBytes(tensor.format, tensor.shape, expected));
  if (isBytes)
    expected /= sizeof(float);
  if (length != expected)
    return Status::error(
        Code::BadFile, "it has %" PRIu64 " bytes, but %s of %s takes %" PRIu64,
        length, shapeText(tensor.shape).c_str(), dtype.c_str(), expected);
  tensor.fileOffset = begin; // The caller adds where the data begins.
  return data.slice(begin, length, "content", tensor.content);
}

/// Shared bytes would be legal to read, but no writer makes them: they show a
/// damaged header.
static Status
checkOverlaps(const std::map<std::string, StoredTensor, std::less<>> &tensors) {
  std::vector<std::pair<const StoredTensor *, const std::string *>> order;
  order.reserve(tensors.size());
  for (const auto &[name, tensor] : tensors)
    order.emplace_back(&tensor, &name);
  std::sort(order.begin(), order.end(), [](const auto &a, const auto &b) {
    return a.first->fileOffset < b.first->fileOffset;
  });
  for (size_t i = 1; i < order.size(); ++i) {
    const StoredTensor &previous = *order[i - 1].first;
    if (order[i].first->fileOffset <
        previous.fileOffset + previous.content.size)
      return Status::error(Code::BadFile, "tensors %s and %s overlap",
                           inQuotes(*order[i - 1].second).c_str(),
                           inQuotes(*order[i].second).c_str());
  }
  return {};
}

Status gist::readSafetensors(Bytes file, SafetensorsFile &out) {
  Cursor cursor(file);
  uint64_t headerLength = 0;
  Bytes header, data;
  if (const char *kind = explainKind(file))
    return Status::error(Code::BadFile, "%s", kind);
  GIST_TRY(cursor.read("header length", headerLength));
  // The limit of the reference reader.
  constexpr uint64_t kMaxHeader = 100'000'000;
  if (headerLength > kMaxHeader)
    return Status::error(Code::BadFile,
                         "not a safetensors file: its header has %" PRIu64
                         " bytes; at most %" PRIu64 " are allowed",
                         headerLength, kMaxHeader);
  GIST_TRY(cursor.take(headerLength, "header", header));
  uint64_t dataBegin = cursor.offset();
  GIST_TRY(cursor.take(cursor.left(), "tensor data", data));

  json entries;
  // Entries are objects with arrays inside, so three levels are enough.
  GIST_TRY(parseObject(header, /*maxDepth=*/3, "the header", entries));
  SafetensorsFile result;
  for (const auto &[name, entry] : entries.items()) {
    if (name == "__metadata__")
      continue;
    StoredTensor tensor;
    std::string skipReason;
    bool isBytes = false;
    GIST_TRY(readEntry(entry, data, tensor, skipReason, isBytes)
                 .in("tensor " + inQuotes(name)));
    if (isBytes)
      result.bytes[name] = {tensor.shape, tensor.content};
    if (!skipReason.empty()) {
      result.skipped[name] = skipReason;
      continue;
    }
    tensor.fileOffset += dataBegin;
    result.tensors.emplace(name, std::move(tensor));
  }
  GIST_TRY(checkOverlaps(result.tensors));
  out = std::move(result);
  return {};
}

Status
gist::readSafetensorsIndex(Bytes text,
                           std::map<std::string, std::string> &fileOfTensor) {
  json index;
  GIST_TRY(parseObject(text, /*maxDepth=*/2, "the index", index));
  auto map = index.find("weight_map");
  if (map == index.end() || !map->is_object())
    return Status::error(Code::BadFile, "the index has no weight_map");
  std::map<std::string, std::string> result;
  for (const auto &[name, value] : map->items()) {
    if (!value.is_string())
      return Status::error(Code::BadFile, "tensor %s: the file is not a name",
                           inQuotes(name).c_str());
    auto fileName = value.get<std::string>();
    // The files lie beside the index; a path could lead anywhere.
    if (fileName.empty() || fileName.front() == '.' ||
        fileName.find_first_of(std::string_view("/\\\0", 3)) !=
            std::string::npos)
      return Status::error(Code::BadFile, "tensor %s: %s is not a file name",
                           inQuotes(name).c_str(), inQuotes(fileName).c_str());
    result[name] = std::move(fileName);
  }
  fileOfTensor = std::move(result);
  return {};
}
