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

/// What waits, client by client. Clients take turns, and what one client sent
/// keeps its order: who sends a thousand requests delays their own and nobody
/// else's by more than one. The front stays the front until it is taken, so
/// that what is large is not passed by for ever.
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

  /// Takes out what `isOver` says; it is asked once for each.
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
