//===- Engine.cpp - One thread that computes for all ----------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/serving/Engine.h"
#include "tools/running/Embedding.h"

#include <algorithm>
#include <cmath>

using namespace gist;
using namespace gist::serve;

static double secondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

bool Ticket::wait(Event &event, std::chrono::milliseconds patience) {
  std::unique_lock lock(mutex);
  if (!arrived.wait_for(lock, patience, [&] { return !events.empty(); }))
    return false;
  event = std::move(events.front());
  events.pop_front();
  return true;
}

void Ticket::push(Event event) {
  {
    std::lock_guard lock(mutex);
    events.push_back(std::move(event));
  }
  arrived.notify_one();
}

Engine::Engine(std::vector<std::unique_ptr<Model>> models, Limits limits,
               Metrics &metrics)
    : served(std::move(models)), limits(limits), metrics(metrics),
      lanes(served.size()), thread([this] { work(); }) {}

Engine::~Engine() {
  stopAll();
  {
    std::lock_guard lock(mutex);
    ending = true;
  }
  news.notify_one();
  thread.join();
}

Admission Engine::submit(Job job, std::shared_ptr<Ticket> &ticket) {
  std::vector<Job> jobs;
  jobs.push_back(std::move(job));
  return submit(std::move(jobs), ticket);
}

Admission Engine::submit(std::vector<Job> jobs,
                         std::shared_ptr<Ticket> &ticket) {
  auto made = std::make_shared<Ticket>();
  {
    std::lock_guard lock(mutex);
    if (draining)
      return Admission::Draining;
    // A request of many texts may exceed the limit by itself, but not together
    // with others.
    if (waitingCount > 0 && waitingCount + jobs.size() > limits.waiting) {
      metrics.count(Metrics::Counter::Refused);
      return Admission::Full;
    }
    for (size_t i = 0; i < jobs.size(); ++i)
      arrived.push_back({std::move(jobs[i]), made, i, Clock::now()});
    unfinished += jobs.size();
    waitingCount += jobs.size();
  }
  news.notify_one();
  ticket = std::move(made);
  return Admission::Accepted;
}

int Engine::retryAfter() const {
  double running = std::max<double>(1, static_cast<double>(runningCount));
  double wait = meanSeconds * static_cast<double>(waitingCount) / running;
  return static_cast<int>(std::clamp(std::ceil(wait), 1.0, 60.0));
}

void Engine::stopAll() {
  {
    std::lock_guard lock(mutex);
    draining = true;
    stopping = true;
  }
  news.notify_one();
}

/// Moves what arrived to the models' queues; waits for it when there is nothing
/// else to do. False at the end.
bool Engine::takeNew() {
  std::unique_lock lock(mutex);
  news.wait(lock, [&] { return unfinished > 0 || ending; });
  if (ending && unfinished == 0)
    return false;
  for (Entry &entry : arrived) {
    Lane &lane = lanes[entry.job.model];
    std::string client = entry.job.client;
    lane.waiting.push(client, std::move(entry));
    // The new job at the front may fit where the earlier one did not.
    lane.mayAdmit = true;
  }
  arrived.clear();
  return true;
}

void Engine::work() {
  while (takeNew()) {
    for (size_t i = 0; i < served.size(); ++i) {
      if (stopping)
        failAll(*served[i], lanes[i], Failure::Stopped,
                "the server was stopped before the answer was complete");
      else
        step(*served[i], lanes[i]);
    }
    publish();
  }
}

void Engine::publish() {
  double bytes = 0;
  size_t waiting = 0, running = 0;
  for (size_t i = 0; i < served.size(); ++i) {
    waiting += lanes[i].waiting.size();
    running += lanes[i].running.size() + (lanes[i].embedding ? 1 : 0);
    if (served[i]->pool)
      bytes += static_cast<double>(served[i]->pool->counters().stateBytes);
  }
  runningCount = running;
  metrics.set(Metrics::Level::Waiting, static_cast<double>(waiting));
  metrics.set(Metrics::Level::Running, static_cast<double>(running));
  metrics.set(Metrics::Level::StateBytes, bytes);
}

void Engine::step(Model &model, Lane &lane) {
  dropOver(model, lane);
  if (lane.mayAdmit)
    admit(model, lane);
  if (lane.embedding)
    embedNext(model, lane);
  if (!lane.running.empty())
    runPool(model, lane);
}

void Engine::tell(const Entry &entry, Event event) {
  event.job = entry.number;
  entry.ticket->push(std::move(event));
}

/// The last event of a job.
void Engine::finish(Entry &entry, Event event) {
  event.finished = true;
  double seconds = secondsSince(entry.submitted);
  metrics.observe(Metrics::Time::Request, seconds);
  if (event.failure == Failure::None)
    meanSeconds = 0.9 * meanSeconds + 0.1 * seconds;
  if (event.failure == Failure::TimedOut)
    metrics.count(Metrics::Counter::TimedOut);
  // Before the event, so that its receiver finds the engine idle.
  --unfinished;
  tell(entry, std::move(event));
}

/// Whether the job was cancelled or its time is up; if so, finishes it.
bool Engine::isOver(Entry &entry, Clock::time_point now) {
  Event event;
  if (entry.ticket->isCancelled()) {
    metrics.count(Metrics::Counter::Cancelled);
    event.reason = FinishReason::Cancelled;
  } else if (now >= entry.job.deadline) {
    event.failure = Failure::TimedOut;
    event.why = "the answer took longer than this server allows";
  } else {
    return false;
  }
  finish(entry, std::move(event));
  return true;
}

void Engine::dropOver(Model &model, Lane &lane) {
  Clock::time_point now = Clock::now();
  size_t before = lane.waiting.size();
  lane.waiting.removeIf([&](Entry &entry) { return isOver(entry, now); });
  waitingCount -= before - lane.waiting.size();
  // The job at the front may have been removed.
  if (before != lane.waiting.size())
    lane.mayAdmit = true;
  if (lane.embedding && isOver(*lane.embedding, now)) {
    lane.embedding.reset();
    lane.mayAdmit = true;
  }
  for (auto at = lane.running.begin(); at != lane.running.end();) {
    if (!isOver(at->second.entry, now)) {
      ++at;
      continue;
    }
    model.pool->remove(at->first);
    at = lane.running.erase(at);
    lane.mayAdmit = true;
  }
}

/// Lets in what there is room for, in the order of the queue.
void Engine::admit(Model &model, Lane &lane) {
  lane.mayAdmit = false;
  while (!lane.waiting.empty()) {
    Entry &front = lane.waiting.front();
    if (!front.job.texts.empty()) {
      if (lane.embedding)
        return;
      lane.embedding = lane.waiting.pop();
      lane.nextText = 0;
      --waitingCount;
      continue;
    }
    PoolRequest request = front.job.request;
    request.stopTokens.insert(request.stopTokens.end(), model.endTokens.begin(),
                              model.endTokens.end());
    request.sampler.endTokens = request.stopTokens;
    SequenceId id = 0;
    Status status = model.pool->add(std::move(request), id);
    // Where others run there will be room when they have finished.
    if (status.code == Code::OutOfMemory && !lane.running.empty())
      return;
    Entry entry = lane.waiting.pop();
    --waitingCount;
    if (!status.ok()) {
      Event event;
      event.failure = Failure::Rejected;
      event.why = status.text;
      finish(entry, std::move(event));
      continue;
    }
    Answer answer(model.tokenizer, entry.job.stops, entry.job.continuesText);
    lane.running.emplace(id, Running{std::move(entry), std::move(answer), {}});
  }
}

void Engine::embedNext(Model &model, Lane &lane) {
  Entry &entry = *lane.embedding;
  const std::vector<int32_t> &text = entry.job.texts[lane.nextText];
  Event event;
  int32_t adapter = entry.job.request.adapter;
  Status status = model.encoder->setAdapter(
      adapter == 0 ? "" : model.adapters[static_cast<size_t>(adapter) - 1]);
  if (status.ok())
    status = model.encoder->embed(text, event.embedding);
  if (!status.ok()) {
    event = {};
    event.failure = Failure::Broken;
    event.why = status.text;
  } else {
    run::normalize(event.embedding);
    metrics.count(Metrics::Counter::PromptTokens, text.size());
  }
  bool isLast = ++lane.nextText == entry.job.texts.size();
  if (!isLast && status.ok()) {
    tell(entry, std::move(event));
    return;
  }
  finish(entry, std::move(event));
  lane.embedding.reset();
  lane.mayAdmit = true;
}

void Engine::runPool(Model &model, Lane &lane) {
  PoolCounters before = model.pool->counters();
  std::vector<PoolEvent> events;
  Clock::time_point start = Clock::now();
  Status status = model.pool->step(events);
  metrics.observe(Metrics::Time::Step, secondsSince(start));
  PoolCounters after = model.pool->counters();
  metrics.count(Metrics::Counter::PromptTokens,
                after.promptTokens - before.promptTokens);
  metrics.count(Metrics::Counter::PrefixTokens,
                after.prefixTokens - before.prefixTokens);
  metrics.count(Metrics::Counter::WrittenTokens,
                after.writtenTokens - before.writtenTokens);
  metrics.count(Metrics::Counter::DraftedTokens,
                after.draftedTokens - before.draftedTokens);
  metrics.count(Metrics::Counter::AcceptedTokens,
                after.acceptedTokens - before.acceptedTokens);
  if (!status.ok()) {
    metrics.count(Metrics::Counter::DeviceErrors);
    failAll(model, lane, Failure::Broken, status.text);
    return;
  }
  for (PoolEvent &event : events)
    handle(model, lane, event);
}

/// Turns what a step did for a sequence into an event of its job.
void Engine::handle(Model &model, Lane &lane, PoolEvent &step) {
  auto at = lane.running.find(step.id);
  if (at == lane.running.end())
    return;
  Running &running = at->second;
  Event event;
  event.prompt = std::move(step.prompt);
  event.token = step.token;
  event.logprobs = std::move(step.logprobs);
  event.reason = step.reason;
  event.isEnd =
      step.token >= 0 && step.reason == FinishReason::EndToken && step.finished;
  bool isOver = step.finished;
  if (step.token >= 0) {
    Clock::time_point now = Clock::now();
    if (running.lastToken)
      metrics.observe(Metrics::Time::BetweenTokens,
                      secondsSince(*running.lastToken));
    else
      metrics.observe(Metrics::Time::FirstToken,
                      secondsSince(running.entry.submitted));
    running.lastToken = now;
    if (!event.isEnd)
      event.text = running.answer.push(step.token);
    if (running.answer.stopped()) {
      event.reason = FinishReason::StopString;
      // Tokens after the stop text are not wanted.
      if (!isOver)
        model.pool->remove(step.id);
      isOver = true;
    }
  }
  if (!step.status.ok()) {
    // A grammar that cannot be followed is the request's own.
    event.failure = step.status.code == Code::Unsupported ? Failure::Rejected
                                                          : Failure::Broken;
    event.why = step.status.text;
  }
  if (!isOver) {
    tell(running.entry, std::move(event));
    return;
  }
  event.text += running.answer.finish();
  if (running.answer.stopped())
    event.reason = FinishReason::StopString;
  finish(running.entry, std::move(event));
  lane.running.erase(at);
  lane.mayAdmit = true;
}

void Engine::failAll(Model &model, Lane &lane, Failure failure,
                     const std::string &why) {
  auto fail = [&](Entry &entry) {
    Event event;
    event.failure = failure;
    event.why = why;
    finish(entry, std::move(event));
  };
  for (auto &[id, running] : lane.running) {
    model.pool->remove(id);
    fail(running.entry);
  }
  lane.running.clear();
  lane.mayAdmit = true;
  // After a failure the device may still serve waiting jobs.
  if (failure != Failure::Stopped)
    return;
  if (lane.embedding)
    fail(*lane.embedding);
  lane.embedding.reset();
  while (!lane.waiting.empty()) {
    Entry entry = lane.waiting.pop();
    --waitingCount;
    fail(entry);
  }
}
