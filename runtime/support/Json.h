//===- Json.h - JSON from strangers, parsed and read ------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The one place that parses JSON (test/check-json.sh), and that makes numbers
// of it. The JSON library copies and writes values by recursion, so the depth
// is looked at before anything is parsed; and it silently converts 2e85 to an
// integer, which is undefined behaviour, so its conversions are not used.
//
// `Json` is nlohmann::json or nlohmann::ordered_json, which keeps the order of
// members. Nothing here throws except std::bad_alloc.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_RUNTIME_SUPPORT_JSON_H
#define GIST_RUNTIME_SUPPORT_JSON_H

#include "runtime/support/Status.h"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gist {

/// Lists and objects inside one another; requests and plan files need fewer.
constexpr size_t kMaxJsonDepth = 32;

/// One value and nothing after it. On error `result` is left as it was.
template <typename Json>
Status parseJson(std::string_view text, Json &result,
                 size_t maxDepth = kMaxJsonDepth);
/// The same, and the value is an object.
template <typename Json>
Status parseJsonObject(std::string_view text, Json &result);

/// The value, if it is an integer of 64 bits: 16.0 is one too, 2e85 is not.
template <typename Json> std::optional<int64_t> integerOf(const Json &value);
/// The same of all 64 bits: seeds and hashes.
template <typename Json> std::optional<uint64_t> bitsOf(const Json &value);

/// How a sentence names what was found: numbers, true, false and null as they
/// are written, of other values their kind.
template <typename Json> std::string describeJson(const Json &value);

//===----------------------------------------------------------------------===//
// The members of an object, which must be there. Each error says what was found
// and what was expected: "'tokens' is 2e+85; expected an integer from 4 to 9".
//===----------------------------------------------------------------------===//

/// Points `member` to any value.
template <typename Json>
Status findMember(const Json &object, const char *name, const char *expected,
                  const Json *&member);
/// Points `list` to a list.
template <typename Json>
Status findList(const Json &object, const char *name, const Json *&list);

template <typename Json>
Status readInteger(const Json &object, const char *name, int64_t least,
                   int64_t most, int64_t &value);
/// The place of something in a list of `count`.
template <typename Json>
Status readIndex(const Json &object, const char *name, size_t count,
                 size_t &value);
template <typename Json>
Status readNumber(const Json &object, const char *name, double least,
                  double most, double &value);
template <typename Json>
Status readText(const Json &object, const char *name, std::string &value);
/// A list of `count` numbers.
template <typename Json>
Status readNumbers(const Json &object, const char *name, size_t count,
                   double least, double most, std::vector<double> &values);

} // namespace gist

#endif // GIST_RUNTIME_SUPPORT_JSON_H
