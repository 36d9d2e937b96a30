//===- JsonSchema.h - JSON of a schema, as a grammar ------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What matches the grammar is JSON that the schema accepts. Not all that it
// accepts matches: members come in the order in which the schema has them,
// white space is short, numbers have a bounded number of digits, and members
// that it neither names nor speaks of are left out. A keyword that cannot be
// kept is refused, with one sentence that says where it is.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_RUNTIME_GRAMMAR_JSONSCHEMA_H
#define GIST_RUNTIME_GRAMMAR_JSONSCHEMA_H

#include "runtime/grammar/Grammar.h"

#include <nlohmann/json_fwd.hpp>

namespace gist {

/// Alternatives of a 'oneOf': each is compared with each.
constexpr size_t kMaxOneOf = 256;

/// Appends an expression for values of a schema; `schema` was parsed by
/// parseJson, which bounds its depth.
Status addJsonSchema(const nlohmann::ordered_json &schema, Grammar &grammar,
                     Grammar::Id &result);

/// A grammar for values of a schema. On error `result` is left as it was.
Status readJsonSchema(const nlohmann::ordered_json &schema, Grammar &result);
/// The same of a text.
Status parseJsonSchema(std::string_view text, Grammar &result);

/// A grammar for any object.
Grammar anyJsonObject();

} // namespace gist

#endif // GIST_RUNTIME_GRAMMAR_JSONSCHEMA_H
