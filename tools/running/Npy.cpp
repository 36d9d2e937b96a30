//===- Npy.cpp - Arrays in NumPy's file format ----------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// NumPy's .npy format, version 1 to 3: magic, version, size of the header, a
// Python dictionary as text, then the elements.
//
//===----------------------------------------------------------------------===//

#include "tools/running/Npy.h"

#include "runtime/support/AtomicFile.h"
#include "runtime/support/Checked.h"
#include "runtime/support/MappedFile.h"
#include "runtime/support/TextBytes.h"

#include <cstdlib>

using namespace gist;
using namespace gist::run;

namespace {
struct TypeName {
  ElementType type;
  const char *text;
};
} // namespace

/// The first name of a type is the one that is written.
static constexpr TypeName kTypes[] = {
    {ElementType::F32, "<f4"},  {ElementType::F16, "<f2"},
    {ElementType::BF16, "<u2"}, {ElementType::I8, "|i1"},
    {ElementType::I16, "<i2"},  {ElementType::I32, "<i4"},
    {ElementType::I64, "<i8"},  {ElementType::Byte, "|u1"}};

static constexpr std::string_view kMagic = "\x93NUMPY";

/// The text of a value in the header's dictionary: 'descr': '<f4', ...
/// The header is written by numpy in one form; a full parser of Python is not
/// needed. Whatever does not fit gives an empty text, which no check accepts.
static std::string_view valueOf(std::string_view header, std::string_view key) {
  size_t at = header.find("'" + std::string(key) + "'");
  if (at == std::string_view::npos)
    return {};
  at = header.find(':', at);
  if (at == std::string_view::npos)
    return {};
  at = header.find_first_not_of(' ', at + 1);
  if (at == std::string_view::npos)
    return {};
  // A tuple, a string, or a bare word such as False.
  size_t end = header[at] == '('    ? header.find(')', at)
               : header[at] == '\'' ? header.find('\'', at + 1)
                                    : header.find_first_of(",}", at) - 1;
  return header.substr(at, end == std::string_view::npos ? end : end - at + 1);
}

static Status parseShape(std::string_view text, std::vector<int64_t> &shape) {
  if (!text.starts_with('(') ||
      text.find_first_not_of("0123456789, ()") != std::string_view::npos)
    return Status::error(Code::BadFile, "'%.*s' is not a shape",
                         static_cast<int>(text.size()), text.data());
  for (size_t at = 0;;) {
    at = text.find_first_of("0123456789", at);
    if (at == std::string_view::npos)
      return {};
    size_t end = text.find_first_not_of("0123456789", at);
    std::string number(text.substr(at, end - at));
    // Twelve digits are more than any file has, and fit 64 bits.
    if (number.size() > 12)
      return Status::error(Code::BadFile, "the array has a dimension of %s",
                           number.c_str());
    shape.push_back(std::strtoll(number.c_str(), nullptr, 10));
    at = end;
  }
}

Status run::parseNpy(Bytes file, Array &array) {
  Cursor cursor(file);
  Bytes magic, header;
  GIST_TRY(cursor.take(kMagic.size(), "magic", magic));
  if (magic.text() != kMagic)
    return Status::error(Code::BadFile, "the file is not a .npy file");
  uint8_t major = 0, minor = 0;
  GIST_TRY(cursor.read("version", major));
  GIST_TRY(cursor.read("version", minor));
  uint32_t size = 0;
  // Version 1 has 16 bits for the size, later ones 32.
  if (major == 1) {
    uint16_t small = 0;
    GIST_TRY(cursor.read("header size", small));
    size = small;
  } else {
    GIST_TRY(cursor.read("header size", size));
  }
  GIST_TRY(cursor.take(size, "header", header));
  std::string_view type = valueOf(header.text(), "descr");
  const TypeName *found = nullptr;
  for (const TypeName &candidate : kTypes)
    if (type == "'" + std::string(candidate.text) + "'")
      found = &candidate;
  if (!found)
    return Status::error(
        Code::Unsupported,
        "the elements have the type %.*s, which is not supported",
        static_cast<int>(type.size()), type.data());
  if (valueOf(header.text(), "fortran_order") != "False")
    return Status::error(Code::Unsupported, "the array is not in C order");
  Array result;
  result.type = found->type;
  GIST_TRY(parseShape(valueOf(header.text(), "shape"), result.shape));
  uint64_t bytes = elementSize(result.type);
  for (int64_t dim : result.shape)
    // The product could wrap to a small number that the file would satisfy.
    if (mulOverflows(bytes, static_cast<uint64_t>(dim), bytes))
      return Status::error(Code::BadFile, "the shape is too large");
  Bytes content;
  GIST_TRY(cursor.take(bytes, "elements", content));
  result.bytes.assign(content.data, content.data + content.size);
  array = std::move(result);
  return {};
}

Status run::readNpy(const std::string &path, Array &array) {
  std::unique_ptr<MappedFile> file;
  GIST_TRY(MappedFile::open(path, file).in(path));
  return parseNpy(file->bytes(), array).in(path);
}

Status run::writeNpy(const std::string &path, const Array &array) {
  const char *type = "";
  for (const TypeName &candidate : kTypes)
    if (candidate.type == array.type)
      type = candidate.text;
  std::string shape;
  for (int64_t dim : array.shape)
    shape += std::to_string(dim) + ", ";
  std::string header = "{'descr': '" + std::string(type) +
                       "', 'fortran_order': False, 'shape': (" + shape + "), }";
  // Magic, version and size are 10 bytes; elements start at a multiple of 64.
  // One less than to the multiple: the newline that ends a header is part of
  // it.
  size_t padding = 63 - (10 + header.size()) % 64;
  header += std::string(padding, ' ') + "\n";
  auto size = static_cast<uint16_t>(header.size());
  std::string start(kMagic);
  start += '\x01';
  start += '\0';
  start += static_cast<char>(size & 0xff);
  start += static_cast<char>(size >> 8);
  start += header;
  // Written whole or not at all.
  AtomicFile file;
  GIST_TRY(file.open(path));
  GIST_TRY(file.write(bytesOf(start)));
  GIST_TRY(file.write({array.bytes.data(), array.bytes.size()}));
  return file.commit();
}
