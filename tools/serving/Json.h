//===- Json.h - Untrusted JSON ----------------------------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What clients send is untrusted. Nothing here throws, and everything that a
// field can get wrong is one sentence that names the field.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TOOLS_SERVING_JSON_H
#define GIST_TOOLS_SERVING_JSON_H

#include "tools/serving/ApiError.h"

#include "nlohmann/json.hpp"

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace gist::serve {

/// Fields in the order in which they were written: answers are also read by
/// users.
using Json = nlohmann::ordered_json;

/// Reads one value and nothing after it. On error `result` is left as it was.
ApiError parseJson(std::string_view text, Json &result);

/// The text of a value; what is not UTF-8 in it becomes U+FFFD.
std::string writeJson(const Json &value);

/// The fields of an object, each of which is asked for once. The first error is
/// kept; later reads find nothing. A field that is null counts as absent, as
/// clients mean it.
class Fields {
public:
  /// `object` outlives this. `where` stands in front of names in errors.
  explicit Fields(const Json &object, std::string where = {});

  /// The value of a field, or null.
  const Json *find(std::string_view name);

  std::optional<bool> boolean(std::string_view name);
  std::optional<int64_t> integer(std::string_view name, int64_t least,
                                 int64_t most);
  std::optional<double> number(std::string_view name, double least,
                               double most);
  std::optional<std::string> text(std::string_view name);

  /// Fields that change nothing in the answer.
  void ignore(std::initializer_list<std::string_view> names);
  /// Those of them that are there.
  const std::vector<std::string> &ignored() const { return without; }
  /// A field that would change the answer in a way that this server cannot;
  /// `neutral` is the value that changes nothing, besides null.
  void refuse(std::string_view name, const char *why, const Json &neutral = {});

  void fail(ApiError error);
  bool failed() const { return !first.ok(); }

  /// The first error; a field that was not read is one.
  ApiError finish();

private:
  std::string fullName(std::string_view name) const;
  void failType(std::string_view name, const char *expected, const Json &found);

  const Json &object;
  std::string where;
  std::set<std::string, std::less<>> asked;
  std::vector<std::string> without;
  ApiError first;
};

} // namespace gist::serve

#endif // GIST_TOOLS_SERVING_JSON_H
