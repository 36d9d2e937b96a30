//===- SchemaTexts.cpp - Texts and numbers of a schema --------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/grammar/JsonNumbers.h"
#include "runtime/grammar/JsonTexts.h"
#include "runtime/grammar/SchemaReader.h"
#include "runtime/support/Json.h"

using namespace gist;

using Json = nlohmann::ordered_json;
using Id = Grammar::Id;

/// Formats of texts as regular expressions, which are no wider than the format.
static constexpr std::pair<std::string_view, std::string_view> kFormats[] = {
    {"date",
     "^\\d{4}-((0[13578]|1[02])-(0[1-9]|[12]\\d|3[01])|(0[469]|11)-(0[1-9]|[12]"
     "\\d|30)|02-(0[1-9]|1\\d|2[0-8]))$"},
    {"time",
     "^([01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d(\\.\\d{1,6})?(Z|[+-]([01]\\d|2[0-3])"
     ":[0-5]\\d)$"},
    {"date-time",
     "^\\d{4}-((0[13578]|1[02])-(0[1-9]|[12]\\d|3[01])|(0[469]|11)-(0[1-9]|[12]"
     "\\d|30)|02-(0[1-9]|1\\d|2[0-8]))T([01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d(\\."
     "\\d{1,6})?(Z|[+-]([01]\\d|2[0-3]):[0-5]\\d)$"},
    {"uuid",
     "^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]"
     "{12}$"},
    {"ipv4",
     "^((25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)\\.){3}(25[0-5]|2[0-4]\\d|1\\d\\d|"
     "[1-9]?\\d)$"},
    {"email",
     "^[A-Za-z0-9_+-]+(\\.[A-Za-z0-9_+-]+)*@[A-Za-z0-9]([A-Za-z0-9-]{0,30}"
     "[A-Za-z0-9])?(\\.[A-Za-z0-9]([A-Za-z0-9-]{0,30}[A-Za-z0-9])?)+$"}};

Status SchemaReader::addText(const Json &schema, const std::string &where,
                             Id &result) {
  uint32_t least = 0, most = Grammar::kUnbounded;
  GIST_TRY(readRange(schema, "Length", where, least, most));
  bool hasLength = least > 0 || most != Grammar::kUnbounded;
  auto pattern = schema.find("pattern"), format = schema.find("format");
  bool hasPattern = pattern != schema.end(), hasFormat = format != schema.end();
  if (hasPattern + hasFormat + hasLength > 1)
    return refuseSchema(where,
                        "of 'pattern', 'format' and the lengths of a string "
                        "only one is supported at a time");
  if (!hasPattern && !hasFormat) {
    result = hasLength
                 ? quoted(grammar.repeat(anyJsonChar(grammar), least, most))
                 : anyText();
    return {};
  }
  const Json &value = hasPattern ? *pattern : *format;
  if (!value.is_string())
    return refuseSchema(where, "'%s' is %.64s; expected a text",
                        hasPattern ? "pattern" : "format",
                        describeJson(value).c_str());
  std::string regex = value.get<std::string>();
  if (hasFormat) {
    const auto *known =
        std::find_if(std::begin(kFormats), std::end(kFormats),
                     [&](const auto &each) { return each.first == regex; });
    if (known == std::end(kFormats))
      return refuseSchema(where,
                          "the format '%.64s' is not supported; date, time, "
                          "date-time, uuid, ipv4 and email are",
                          regex.c_str());
    regex = known->second;
  }
  Id inside = 0;
  GIST_TRY(parseRegex(regex, grammar, inside)
               .in("at '" + where.substr(0, 200) + "': 'pattern'"));
  result = quoted(inside);
  return {};
}

Status SchemaReader::addNumber(const Json &schema, bool isInteger,
                               const std::string &where, Id &result) {
  NumberRange range;
  range.isInteger = isInteger;
  for (const char *name : {"minimum", "exclusiveMinimum", "maximum",
                           "exclusiveMaximum", "multipleOf"}) {
    auto at = schema.find(name);
    if (at == schema.end())
      continue;
    if (!at->is_number())
      return refuseSchema(where, "'%s' is %.64s; expected a number", name,
                          describeJson(*at).c_str());
    std::string_view keyword = name;
    NumberBound bound{at->get<double>(), keyword.starts_with("exclusive")};
    if (keyword == "multipleOf") {
      if (!isInteger || bound.value != 1)
        return refuseSchema(where,
                            "'multipleOf' is supported for integers and 1 "
                            "alone");
      continue;
    }
    bool isLeast = keyword.ends_with("inimum");
    std::optional<NumberBound> &end = isLeast ? range.least : range.most;
    // Of two bounds the narrower one counts.
    bool isNarrower = !end || (isLeast ? bound.value >= end->value
                                       : bound.value <= end->value);
    if (isNarrower)
      end = bound;
  }
  Status status = numbersOf(grammar, range, result);
  return status.ok()
             ? status
             : std::move(status).in("at '" + where.substr(0, 200) + "'");
}
