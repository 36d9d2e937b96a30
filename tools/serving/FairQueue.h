//===- FairQueue.h - Clients take turns -------------------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TOOLS_SERVING_FAIRQUEUE_H
#define GIST_TOOLS_SERVING_FAIRQUEUE_H

#include <deque>
#include <list>
#include <string>
#include <utility>

namespace gist::serve {

/// A queue in which clients take turns. The items of one client keep their
/// order: a client that sends a thousand requests delays its own, and those of
/// another client by at most one. The front stays the front until it is taken,
/// so that a large item is not overtaken for ever.
template <typename Item> class FairQueue {
public:
  void push(const std::string &client, Item item) {
    ++count;
    for (auto &[name, items] : clients)
      if (name == client) {
        items.push_back(std::move(item));
        return;
      }
    clients.emplace_back(client, std::deque<Item>());
    clients.back().second.push_back(std::move(item));
  }

  bool empty() const { return count == 0; }
  size_t size() const { return count; }

  Item &front() { return clients.front().second.front(); }

  /// Takes the front; its client goes to the end.
  Item pop() {
    Item item = std::move(front());
    clients.front().second.pop_front();
    --count;
    if (clients.front().second.empty())
      clients.pop_front();
    else
      clients.splice(clients.end(), clients, clients.begin());
    return item;
  }

  /// Removes the items for which `isOver` is true; calls it once for each item.
  template <typename Predicate> void removeIf(Predicate isOver) {
    for (auto client = clients.begin(); client != clients.end();) {
      count -= std::erase_if(client->second, isOver);
      client =
          client->second.empty() ? clients.erase(client) : std::next(client);
    }
  }

private:
  std::list<std::pair<std::string, std::deque<Item>>> clients;
  size_t count = 0;
};

} // namespace gist::serve

#endif // GIST_TOOLS_SERVING_FAIRQUEUE_H
