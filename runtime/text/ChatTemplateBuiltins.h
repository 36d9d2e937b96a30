//===- ChatTemplateBuiltins.h - Filters, tests and methods ------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What templates can call: each as in Jinja, or refused by name.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_RUNTIME_TEXT_CHATTEMPLATEBUILTINS_H
#define GIST_RUNTIME_TEXT_CHATTEMPLATEBUILTINS_H

#include "runtime/support/Status.h"
#include "runtime/text/ChatTemplateCosts.h"
#include "runtime/text/ChatTemplateValue.h"

#include <string>
#include <string_view>

namespace gist::chat {

struct Arguments {
  List positional;
  Dict named;

  /// The argument at a place or of a name, or null.
  const Value *get(size_t place, std::string_view name) const;
};

// All of these charge for what they do.

/// input | name(args)
Status callFilter(const std::string &name, const Value &input,
                  const Arguments &args, Budget &budget, Value &out);

/// input is name(args)
Status callTest(const std::string &name, const Value &input,
                const Arguments &args, Budget &budget, bool &out);

/// object.name(args)
Status callMethod(const Value &object, const std::string &name,
                  const Arguments &args, Budget &budget, Value &out);
/// True if values of this kind have such a method.
bool hasMethod(const Value &object, std::string_view name);

/// The items that a loop goes over: of a list, the keys of a dictionary, the
/// characters of a string, nothing for undefined.
Status iterate(const Value &value, Budget &budget, List &items);

/// container[key]; undefined if it has no such item.
Status getItem(const Value &container, const Value &key, Budget &budget,
               Value &out);

/// value in container
Status contains(const Value &container, const Value &value, Budget &budget,
                bool &out);

/// value[start:stop:step]; none where left out.
Status slice(const Value &value, const Value &start, const Value &stop,
             const Value &step, Budget &budget, Value &out);

} // namespace gist::chat

#endif // GIST_RUNTIME_TEXT_CHATTEMPLATEBUILTINS_H
