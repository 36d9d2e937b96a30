//===- Gguf.cpp - Reads GGUF files ----------------------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// GGUF, versions 2 and 3, little-endian: a header, metadata as typed key and
// value, a table of tensors, then their data at aligned offsets. The file is
// not trusted: all sizes are compared with what is left of it before anything
// is allocated.
//
//===----------------------------------------------------------------------===//

#include "passes/Import/Files/Gguf.h"

#include "runtime/support/FileKind.h"

#include <bit>
#include <limits>

using namespace gist;

/// Bytes of a value of fixed size; 0 for strings, arrays and unknown types.
static uint64_t sizeOf(GgufType type) {
  switch (type) {
  case GgufType::UInt8:
  case GgufType::Int8:
  case GgufType::Bool:
    return 1;
  case GgufType::UInt16:
  case GgufType::Int16:
    return 2;
  case GgufType::UInt32:
  case GgufType::Int32:
  case GgufType::Float32:
    return 4;
  case GgufType::UInt64:
  case GgufType::Int64:
  case GgufType::Float64:
    return 8;
  case GgufType::String:
  case GgufType::Array:
    break;
  }
  return 0;
}

//===----------------------------------------------------------------------===//
// Values, already verified
//===----------------------------------------------------------------------===//

/// Values in the file are not aligned.
template <typename T> static T load(const uint8_t *data) {
  T value;
  std::memcpy(&value, data, sizeof(T));
  return value;
}

/// Nothing for what does not fit 63 bits.
static std::optional<int64_t> loadInteger(GgufType type, const uint8_t *data) {
  switch (type) {
  case GgufType::UInt8:
  case GgufType::Bool:
    return load<uint8_t>(data);
  case GgufType::Int8:
    return load<int8_t>(data);
  case GgufType::UInt16:
    return load<uint16_t>(data);
  case GgufType::Int16:
    return load<int16_t>(data);
  case GgufType::UInt32:
    return load<uint32_t>(data);
  case GgufType::Int32:
    return load<int32_t>(data);
  case GgufType::Int64:
    return load<int64_t>(data);
  case GgufType::UInt64:
    if (auto value = load<uint64_t>(data);
        value <= uint64_t(std::numeric_limits<int64_t>::max()))
      return static_cast<int64_t>(value);
    return std::nullopt;
  default:
    return std::nullopt;
  }
}

static std::optional<double> loadNumber(GgufType type, const uint8_t *data) {
  if (type == GgufType::Float32)
    return load<float>(data);
  if (type == GgufType::Float64)
    return load<double>(data);
  if (std::optional<int64_t> integer = loadInteger(type, data))
    return static_cast<double>(*integer);
  return std::nullopt;
}

/// Applies `loader` to every element of an array of values of fixed size.
template <typename T, typename Loader>
static std::optional<std::vector<T>> loadArray(const GgufValue &value,
                                               Loader loader) {
  uint64_t size = sizeOf(value.elementType);
  if (value.type != GgufType::Array || size == 0)
    return std::nullopt;
  std::vector<T> result;
  // The elements are in the file, so the count is bounded by its size.
  result.reserve(value.count);
  for (uint64_t i = 0; i < value.count; ++i) {
    std::optional<T> element =
        loader(value.elementType, value.content.data + i * size);
    if (!element)
      return std::nullopt;
    result.push_back(*element);
  }
  return result;
}

std::optional<int64_t> GgufValue::integer() const {
  return loadInteger(type, content.data);
}

std::optional<double> GgufValue::number() const {
  return loadNumber(type, content.data);
}

std::optional<std::string_view> GgufValue::string() const {
  if (type != GgufType::String)
    return std::nullopt;
  return content.text();
}

std::optional<std::vector<int64_t>> GgufValue::integers() const {
  return loadArray<int64_t>(*this, loadInteger);
}

std::optional<std::vector<double>> GgufValue::numbers() const {
  return loadArray<double>(*this, loadNumber);
}

std::optional<std::vector<std::string_view>> GgufValue::strings() const {
  if (type != GgufType::Array || elementType != GgufType::String)
    return std::nullopt;
  std::vector<std::string_view> result;
  result.reserve(count);
  Cursor cursor(content);
  for (uint64_t i = 0; i < count; ++i) {
    uint64_t length = 0;
    Bytes text;
    if (!cursor.read("string length", length).ok() ||
        !cursor.take(length, "string", text).ok())
      return std::nullopt; // Cannot be: the strings were walked on reading.
    result.push_back(text.text());
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

static Status readString(Cursor &cursor, const char *what, Bytes &out) {
  uint64_t length = 0;
  GIST_TRY(cursor.read(what, length));
  return cursor.take(length, what, out);
}

/// Walks the elements of an array. Arrays in arrays are legal, but no key in
/// use has them, so a few levels are enough to skip them safely.
/// Leaves the cursor behind the array. The elements are verified now and read
/// on demand later.
static Status skipElements(Cursor &cursor, GgufType type, uint64_t count,
                           int levels) {
  Bytes ignored;
  if (uint64_t size = sizeOf(type)) {
    if (count > cursor.left() / size)
      return Status::error(
          Code::BadFile, "%" PRIu64 " elements do not fit in the file", count);
    return cursor.take(count * size, "array", ignored);
  }
  if (type != GgufType::String && type != GgufType::Array)
    return Status::error(Code::BadFile,
                         "%" PRIu32 " is not a known type of values",
                         static_cast<uint32_t>(type));
  if (levels == 0)
    return Status::error(Code::BadFile, "arrays are nested too deeply");
  // Each element takes eight bytes or more, so the walk ends with the file.
  for (uint64_t i = 0; i < count; ++i) {
    if (type == GgufType::String) {
      GIST_TRY(readString(cursor, "string", ignored));
      continue;
    }
    GgufType innerType{};
    uint64_t innerCount = 0;
    GIST_TRY(cursor.read("array type", innerType));
    GIST_TRY(cursor.read("array length", innerCount));
    GIST_TRY(skipElements(cursor, innerType, innerCount, levels - 1));
  }
  return {};
}

static Status readValue(Bytes file, Cursor &cursor, GgufValue &value) {
  GIST_TRY(cursor.read("value type", value.type));
  if (value.type == GgufType::String)
    return readString(cursor, "string", value.content);
  if (uint64_t size = sizeOf(value.type))
    return cursor.take(size, "value", value.content);
  // An unknown type is given to skipElements, which refuses it.
  value.elementType = value.type;
  if (value.type == GgufType::Array) {
    GIST_TRY(cursor.read("array type", value.elementType));
    GIST_TRY(cursor.read("array length", value.count));
  }
  uint64_t begin = cursor.offset();
  GIST_TRY(skipElements(cursor, value.elementType, value.count, /*levels=*/4));
  return file.slice(begin, cursor.offset() - begin, "array", value.content);
}

/// Reads a tensor's entry; `offset` is relative to the data that follows.
static Status readTensorEntry(Cursor &cursor, StoredTensor &tensor,
                              uint64_t &offset) {
  uint32_t rank = 0, ggmlType = 0;
  GIST_TRY(cursor.read("number of dimensions", rank));
  if (rank > 4)
    return Status::error(Code::BadFile,
                         "it has %" PRIu32 " dimensions; at most 4 are allowed",
                         rank);
  tensor.shape.resize(rank);
  for (uint32_t i = 0; i < rank; ++i) // The file has the innermost first.
    GIST_TRY(cursor.read("dimension", tensor.shape[rank - 1 - i]));
  GIST_TRY(cursor.read("tensor type", ggmlType));
  GIST_TRY(cursor.read("tensor offset", offset));
  return formatOfGgmlType(ggmlType, tensor.format);
}

static Status readAlignment(const GgufFile &file, uint64_t &alignment) {
  // The format's default.
  alignment = 32;
  auto found = file.metadata.find("general.alignment");
  if (found == file.metadata.end())
    return {};
  std::optional<int64_t> value = found->second.integer();
  if (!value || *value < 1 || *value > (1 << 20) ||
      !std::has_single_bit(static_cast<uint64_t>(*value)))
    return Status::error(Code::BadFile,
                         "general.alignment is not a power of two up to 2^20");
  alignment = static_cast<uint64_t>(*value);
  return {};
}

/// Resolves the tensors' offsets in the data that starts at the next aligned
/// byte, and refuses tensors that share bytes.
static Status locateTensors(Bytes file, uint64_t tableEnd, GgufFile &out,
                            const std::map<std::string, uint64_t> &offsets) {
  uint64_t alignment = 0;
  GIST_TRY(readAlignment(out, alignment));
  // Both terms are below 2^63: the first is within the file.
  uint64_t dataBegin = (tableEnd + alignment - 1) / alignment * alignment;
  std::map<uint64_t, const std::string *> byOffset;
  for (auto &[name, tensor] : out.tensors) {
    uint64_t offset = offsets.at(name), bytes = 0;
    GIST_TRY(storedBytes(tensor.format, tensor.shape, bytes)
                 .in("tensor " + inQuotes(name)));
    if (offset % alignment != 0)
      return Status::error(Code::BadFile,
                           "tensor %s: offset %" PRIu64
                           " is not aligned to %" PRIu64,
                           inQuotes(name).c_str(), offset, alignment);
    Bytes data;
    GIST_TRY(file.slice(dataBegin, file.size - std::min(file.size, dataBegin),
                        "tensor data", data));
    GIST_TRY(data.slice(offset, bytes, "content", tensor.content)
                 .in("tensor " + inQuotes(name)));
    tensor.fileOffset = dataBegin + offset;
    // Two tensors at one offset share bytes, unless they are empty, which
    // storedBytes refuses.
    if (auto [other, isNew] = byOffset.try_emplace(offset, &name); !isNew)
      return Status::error(Code::BadFile, "tensors %s and %s overlap",
                           inQuotes(*other->second).c_str(),
                           inQuotes(name).c_str());
  }
  const std::string *previous = nullptr;
  uint64_t end = 0;
  for (auto [offset, name] : byOffset) {
    if (offset < end)
      return Status::error(Code::BadFile, "tensors %s and %s overlap",
                           inQuotes(*previous).c_str(),
                           inQuotes(*name).c_str());
    end = offset + out.tensors.find(*name)->second.content.size;
    previous = name;
  }
  return {};
}

Status gist::readGguf(Bytes file, GgufFile &out,
                      const std::function<Status(const GgufFile &)> &accept) {
  Cursor cursor(file);
  uint32_t magic = 0;
  GgufFile result;
  uint64_t tensorCount = 0, valueCount = 0;
  Status header = cursor.read("file header", magic);
  constexpr uint32_t kMagic = 0x46554747; // "GGUF"
  if (const char *kind = magic == kMagic ? nullptr : explainKind(file))
    return Status::error(Code::BadFile, "%s", kind);
  GIST_TRY(std::move(header));
  if (magic != kMagic)
    return Status::error(Code::BadFile, "not a GGUF file");
  GIST_TRY(cursor.read("version", result.version));
  // A small version number in the other byte order has zeros in its low half.
  if (result.version != 2 && result.version != 3)
    return Status::error(Code::Unsupported, "%s",
                         (result.version & 0xffff) == 0
                             ? "the GGUF file is big-endian"
                             : ("GGUF version " +
                                std::to_string(result.version) +
                                "; supported are 2 and 3")
                                   .c_str());
  GIST_TRY(cursor.read("number of tensors", tensorCount));
  GIST_TRY(cursor.read("number of values", valueCount));

  for (uint64_t i = 0; i < valueCount; ++i) {
    Bytes key;
    GgufValue value;
    GIST_TRY(readString(cursor, "key of the metadata", key));
    GIST_TRY(readValue(file, cursor, value).in("key " + inQuotes(key.text())));
    if (!result.metadata.try_emplace(std::string(key.text()), value).second)
      return Status::error(Code::BadFile, "key %s appears twice",
                           inQuotes(key.text()).c_str());
  }

  if (accept)
    GIST_TRY(accept(result));

  std::map<std::string, uint64_t> offsets;
  for (uint64_t i = 0; i < tensorCount; ++i) {
    Bytes name;
    StoredTensor tensor;
    uint64_t offset = 0;
    GIST_TRY(readString(cursor, "tensor name", name));
    GIST_TRY(readTensorEntry(cursor, tensor, offset)
                 .in("tensor " + inQuotes(name.text())));
    std::string key(name.text());
    offsets[key] = offset;
    if (!result.tensors.try_emplace(key, std::move(tensor)).second)
      return Status::error(Code::BadFile, "tensor %s appears twice",
                           inQuotes(key).c_str());
  }
  GIST_TRY(locateTensors(file, cursor.offset(), result, offsets));
  out = std::move(result);
  return {};
}
