//===- SchemaLists.cpp - Arrays and objects of a schema -------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/grammar/JsonTexts.h"
#include "runtime/grammar/SchemaReader.h"
#include "runtime/support/Json.h"

using namespace gist;

using Json = nlohmann::ordered_json;
using Id = Grammar::Id;

Status SchemaReader::addArray(const Json &schema, const std::string &where,
                              Id &result) {
  uint32_t least = 0, most = Grammar::kUnbounded;
  GIST_TRY(readRange(schema, "Items", where, least, most));
  auto unique = schema.find("uniqueItems");
  if (unique != schema.end() && *unique != Json(false))
    return refuseSchema(where, "'uniqueItems' is not supported");
  auto items = schema.find("items"), prefix = schema.find("prefixItems");
  const Json *rest = items != schema.end() ? &*items : nullptr;
  const Json *first = prefix != schema.end() ? &*prefix : nullptr;
  if (first && !first->is_array())
    return refuseSchema(where, "'prefixItems' is %.64s; expected a list",
                        describeJson(*first).c_str());
  // What older schemas call the first items.
  if (!first && rest && rest->is_array())
    std::swap(first, rest);

  std::vector<Id> parts;
  size_t fixed = first ? std::min<size_t>(first->size(), most) : 0;
  for (size_t i = 0; i < fixed; ++i) {
    if (i > 0)
      parts.push_back(comma());
    GIST_TRY(add((*first)[i], where + "/prefixItems/" + std::to_string(i),
                 parts.emplace_back()));
  }
  auto taken = static_cast<uint32_t>(fixed);
  least = least > taken ? least - taken : 0;
  most = most == Grammar::kUnbounded ? most : most - taken;
  // Nothing follows first items unless the schema speaks of it.
  bool isClosed = rest ? *rest == Json(false) : first != nullptr && least == 0;
  if (isClosed && least > 0)
    return refuseSchema(where,
                        "'minItems' asks for more items than there can be");
  if (!isClosed && most > 0) {
    Id item = 0;
    GIST_TRY(addValue(rest, where + "/items", item));
    item = grammar.call(ruleOf(item));
    Id next = grammar.sequence({comma(), item});
    if (fixed > 0) {
      parts.push_back(grammar.repeat(next, least, most));
    } else {
      uint32_t others = most == Grammar::kUnbounded ? most : most - 1;
      Id some = grammar.sequence(
          {item, grammar.repeat(next, least > 0 ? least - 1 : 0, others)});
      parts.push_back(least > 0 ? some : grammar.optional(some));
    }
  }
  parts.push_back(space());
  result = wrap("[", grammar.sequence(std::move(parts)), "]");
  return {};
}

Status SchemaReader::readMembers(const Json &schema, const std::string &where,
                                 Members &members) {
  auto properties = schema.find("properties");
  bool hasList = properties != schema.end();
  if (hasList && !properties->is_object())
    return refuseSchema(where, "'properties' is %.64s; expected an object",
                        describeJson(*properties).c_str());
  if (hasList)
    for (const auto &[name, value] : properties->items())
      members.listed.push_back({name, &value});
  auto others = schema.find("additionalProperties");
  if (others == schema.end())
    members.hasOthers = !hasList;
  else if (*others != Json(false)) {
    members.hasOthers = true;
    if (*others != Json(true))
      members.others = &*others;
  }
  bool mayAdd = others == schema.end() || members.hasOthers;

  auto required = schema.find("required");
  if (required == schema.end())
    return {};
  if (!required->is_array())
    return refuseSchema(where, "'required' is %.64s; expected a list",
                        describeJson(*required).c_str());
  std::map<std::string_view, size_t> places;
  for (size_t i = 0; i < members.listed.size(); ++i)
    places.emplace(members.listed[i].name, i);
  // Views into the list stay valid only where names do not move.
  std::vector<std::string> added;
  for (const Json &name : *required) {
    if (!name.is_string())
      return refuseSchema(where, "'required' has %.64s; expected names",
                          describeJson(name).c_str());
    auto at = places.find(name.get_ref<const std::string &>());
    if (at != places.end())
      members.listed[at->second].isRequired = true;
    else if (!containsName(added, name.get_ref<const std::string &>()))
      added.push_back(name.get<std::string>());
  }
  if (!added.empty() && !mayAdd)
    return refuseSchema(
        where, "'%.64s' is required, but 'additionalProperties' forbids it",
        added[0].c_str());
  for (std::string &name : added)
    members.listed.push_back({std::move(name), members.others, true});
  return {};
}

/// Names may come twice, which counts as once: so at least two members of
/// which names are not given cannot be asked for.
Status SchemaReader::limitMembers(const Json &schema, const std::string &where,
                                  Members &members) {
  uint32_t least = 0, most = Grammar::kUnbounded;
  GIST_TRY(readCount(schema, "minProperties", where, least));
  GIST_TRY(readCount(schema, "maxProperties", where, most));
  auto listed = static_cast<uint32_t>(members.listed.size());
  auto required = static_cast<uint32_t>(
      std::count_if(members.listed.begin(), members.listed.end(),
                    [](const Member &member) { return member.isRequired; }));
  if (least > std::max<uint32_t>(required, 1))
    return refuseSchema(where,
                        "'minProperties' is supported up to 1, or the number "
                        "of required members");
  if (listed > most)
    return refuseSchema(where,
                        "'maxProperties' is supported from the number of "
                        "members in 'properties' on");
  if (most != Grammar::kUnbounded)
    members.mostOthers = most - listed;
  members.hasOthers = members.hasOthers && members.mostOthers > 0;
  members.mayBeEmpty = least == 0;
  if (!members.mayBeEmpty && listed == 0 && !members.hasOthers)
    return refuseSchema(where,
                        "'minProperties' asks for members that there cannot "
                        "be");
  return {};
}

/// Members in their order. A rule for each says what may follow it: each of
/// those that come later, with a comma in front.
Id SchemaReader::addMembers(const Members &members,
                            const std::vector<Id> &rules, Id other) {
  size_t count = rules.size();
  std::vector<Id> after(count + 1);
  Id others = grammar.literal(""), firstOther = others;
  if (members.hasOthers) {
    Id next = grammar.sequence({comma(), other});
    others = grammar.repeat(next, 0, members.mostOthers);
    uint32_t more = members.mostOthers == Grammar::kUnbounded
                        ? members.mostOthers
                        : members.mostOthers - 1;
    firstOther = grammar.sequence({other, grammar.repeat(next, 0, more)});
  }
  after[count] = ruleOf(others);
  for (size_t i = count; i-- > 0;) {
    Id next = grammar.sequence({comma(), grammar.call(rules[i])});
    if (!members.listed[i].isRequired)
      next = grammar.optional(next);
    after[i] = ruleOf(grammar.sequence({next, grammar.call(after[i + 1])}));
  }
  std::vector<Id> ways;
  bool hasRequired = false;
  for (size_t i = 0; i < count && !hasRequired; ++i) {
    ways.push_back(
        grammar.sequence({grammar.call(rules[i]), grammar.call(after[i + 1])}));
    hasRequired = members.listed[i].isRequired;
  }
  if (!hasRequired && members.hasOthers)
    ways.push_back(firstOther);
  Id some = grammar.sequence({grammar.choice(std::move(ways)), space()});
  return hasRequired || !members.mayBeEmpty ? some : grammar.optional(some);
}

Status SchemaReader::addObject(const Json &schema, const std::string &where,
                               Id &result) {
  Members members;
  GIST_TRY(readMembers(schema, where, members));
  GIST_TRY(limitMembers(schema, where, members));
  std::vector<std::string> names;
  std::vector<Id> rules;
  for (const Member &member : members.listed) {
    Id value = 0;
    GIST_TRY(
        addValue(member.schema, where + "/properties/" + member.name, value));
    rules.push_back(ruleOf(grammar.sequence(
        {literalOf(Json(member.name)), grammar.literal(":"), space(), value})));
    names.push_back(member.name);
  }
  Id other = 0;
  if (members.hasOthers) {
    Id value = 0;
    GIST_TRY(addValue(members.others, where + "/additionalProperties", value));
    Id name = names.empty() ? anyText() : quoted(otherJsonText(grammar, names));
    other = grammar.call(
        ruleOf(grammar.sequence({name, grammar.literal(":"), space(), value})));
  }
  result = wrap("{", addMembers(members, rules, other), "}");
  return {};
}
