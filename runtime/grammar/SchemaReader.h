//===- SchemaReader.h - Reads a JSON schema into a grammar ------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_RUNTIME_GRAMMAR_SCHEMAREADER_H
#define GIST_RUNTIME_GRAMMAR_SCHEMAREADER_H

#include "runtime/grammar/JsonGrammar.h"
#include "runtime/support/Status.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace gist {

/// Reads one document; each kind of value has a file.
class SchemaReader : private JsonGrammar {
public:
  using Json = nlohmann::ordered_json;

  SchemaReader(const Json &document, Grammar &grammar)
      : JsonGrammar(grammar), document(document) {}

  Status read(Id &result);

private:
  // Each appends an expression for `schema`, which is at `where`.
  Status add(const Json &schema, const std::string &where, Id &result);
  Status addWhole(const Json &schema, std::string_view keyword,
                  const std::string &where, Id &result);
  Status addChoice(const Json &list, const std::string &where, Id &result);
  Status addEnum(const Json &schema, const Json &values,
                 const std::string &where, Id &result);
  Status addReference(const Json &value, const std::string &where, Id &result);
  Status addType(const Json &schema, std::string_view type,
                 const std::string &where, Id &result);
  Status addText(const Json &schema, const std::string &where, Id &result);
  Status addNumber(const Json &schema, bool isInteger, const std::string &where,
                   Id &result);
  Status addArray(const Json &schema, const std::string &where, Id &result);
  Status addObject(const Json &schema, const std::string &where, Id &result);

  struct Member {
    std::string name;
    const Json *schema = nullptr; ///< null: any value
    bool isRequired = false;
  };
  struct Members {
    std::vector<Member> listed;
    bool hasOthers = false;
    const Json *others = nullptr; ///< their schema; null: any value
    uint32_t mostOthers = Grammar::kUnbounded;
    bool mayBeEmpty = true;
  };
  Status readMembers(const Json &schema, const std::string &where,
                     Members &members);
  Status limitMembers(const Json &schema, const std::string &where,
                      Members &members);
  Status addValue(const Json *schema, const std::string &where, Id &result);
  Id addMembers(const Members &members, const std::vector<Id> &rules, Id other);

  Status checkKeywords(const Json &schema, const std::string &where,
                       std::string_view &whole) const;
  Status readCount(const Json &schema, const char *name,
                   const std::string &where, uint32_t &value) const;
  /// The keywords "min…" and "max…" of `what`, such as "Items".
  Status readRange(const Json &schema, const std::string &what,
                   const std::string &where, uint32_t &least,
                   uint32_t &most) const;

  const Json &document;
  /// Rules of what references point to, and those that are to be read yet.
  std::map<const Json *, Id> references;
  struct Waiting {
    const Json *schema;
    std::string where;
    Id rule;
  };
  std::deque<Waiting> waiting;
};

/// The error of a schema at `where`.
[[gnu::format(printf, 2, 3)]] Status refuseSchema(const std::string &where,
                                                  const char *format, ...);

/// Whether a list has a name.
template <typename List>
bool containsName(const List &list, std::string_view name) {
  return std::find(std::begin(list), std::end(list), name) != std::end(list);
}

} // namespace gist

#endif // GIST_RUNTIME_GRAMMAR_SCHEMAREADER_H
