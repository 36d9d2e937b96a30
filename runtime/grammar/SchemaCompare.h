//===- SchemaCompare.h - What two schemas have in common --------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_RUNTIME_GRAMMAR_SCHEMACOMPARE_H
#define GIST_RUNTIME_GRAMMAR_SCHEMACOMPARE_H

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace gist {

/// What `#`, `#/$defs/NAME` and the like point to; null: nothing.
const nlohmann::ordered_json *
findReference(const nlohmann::ordered_json &document, const std::string &path);

/// Whether a value is of the `type` of a schema, which may have none.
bool hasJsonType(const nlohmann::ordered_json &value,
                 const nlohmann::ordered_json &schema);

/// Values of a 'oneOf' are valid for one schema alone, which a grammar cannot
/// look at. So two of them must have nothing in common: a sentence about the
/// first two that may, or an empty text.
std::string findOverlap(const nlohmann::ordered_json &document,
                        const nlohmann::ordered_json &schemas);

} // namespace gist

#endif // GIST_RUNTIME_GRAMMAR_SCHEMACOMPARE_H
