//===- HipStream.cpp - Streams, events, graphs ----------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Streams, events and graphs. Work runs when it is submitted, one piece after
// the other, so events and waits between streams are always satisfied. They
// matter only while a capture draws streams together.
//
//===----------------------------------------------------------------------===//

#include "tools/simulator/Hip.h"

#include <algorithm>
#include <chrono>

using namespace gist::sim;

static HipStream &orDefault(HipStream *stream) {
  return stream ? *stream : hipState().defaultStream;
}

/// Work that is captured reports its errors when the graph is launched.
hipError_t gist::sim::submit(HipStream *stream,
                             std::function<hipError_t()> work) {
  std::lock_guard lock(hipState().mutex);
  HipStream &target = orDefault(stream);
  if (!target.capture)
    return work();
  target.capture->push_back(std::move(work));
  return hipSuccess;
}

//===----------------------------------------------------------------------===//
// Streams
//===----------------------------------------------------------------------===//

GIST_HIP_API hipError_t hipStreamCreateWithFlags(HipStream **stream, unsigned) {
  if (!stream)
    return fail(hipErrorInvalidValue);
  std::lock_guard lock(hipState().mutex);
  *stream = new HipStream;
  hipState().streams.push_back(*stream);
  return hipSuccess;
}
GIST_HIP_API hipError_t hipStreamCreate(HipStream **stream) {
  return hipStreamCreateWithFlags(stream, 0);
}
/// The default stream is not in the list and cannot be destroyed.
GIST_HIP_API hipError_t hipStreamDestroy(HipStream *stream) {
  std::lock_guard lock(hipState().mutex);
  auto &streams = hipState().streams;
  auto it = std::find(streams.begin(), streams.end(), stream);
  if (it == streams.end())
    return fail(hipErrorInvalidHandle);
  // Nothing can be pending: work was done when it was submitted.
  streams.erase(it);
  delete stream;
  return hipSuccess;
}
GIST_HIP_API hipError_t hipStreamSynchronize(HipStream *stream) {
  {
    std::lock_guard lock(hipState().mutex);
    if (orDefault(stream).capture)
      return fail(hipErrorStreamCaptureUnsupported);
  }
  return synchronize();
}

//===----------------------------------------------------------------------===//
// Events. Times are the host's, unrelated to a card's.
//===----------------------------------------------------------------------===//

static double milliseconds() {
  return std::chrono::duration<double, std::milli>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

GIST_HIP_API hipError_t hipEventCreateWithFlags(HipEvent **event, unsigned) {
  if (!event)
    return fail(hipErrorInvalidValue);
  *event = new HipEvent;
  return hipSuccess;
}
GIST_HIP_API hipError_t hipEventDestroy(HipEvent *event) {
  if (!event)
    return fail(hipErrorInvalidHandle);
  delete event;
  return hipSuccess;
}
GIST_HIP_API hipError_t hipEventRecord(HipEvent *event, HipStream *stream) {
  if (!event)
    return fail(hipErrorInvalidHandle);
  std::lock_guard lock(hipState().mutex);
  HipStream &source = orDefault(stream);
  // An event recorded outside of a capture forgets one that it was in.
  event->capture = source.capture;
  if (!source.capture) {
    event->milliseconds = milliseconds();
    event->recorded = true;
  }
  return hipSuccess;
}
GIST_HIP_API hipError_t hipStreamWaitEvent(HipStream *stream, HipEvent *event,
                                           unsigned) {
  if (!event)
    return fail(hipErrorInvalidHandle);
  std::lock_guard lock(hipState().mutex);
  // Waiting for captured work draws a stream into the capture: a fork. A wait
  // of a stream that is in it already is a join, which the order implies.
  if (std::shared_ptr<HipGraph> capture = event->capture.lock()) {
    HipStream &target = orDefault(stream);
    if (target.capture && target.capture != capture)
      return fail(hipErrorStreamCaptureUnsupported);
    target.capture = capture;
  }
  return hipSuccess;
}
GIST_HIP_API hipError_t hipEventElapsedTime(float *result, HipEvent *start,
                                            HipEvent *stop) {
  if (!result || !start || !stop || !start->recorded || !stop->recorded)
    return fail(hipErrorInvalidHandle);
  *result = static_cast<float>(stop->milliseconds - start->milliseconds);
  return hipSuccess;
}

//===----------------------------------------------------------------------===//
// Graphs
//===----------------------------------------------------------------------===//

GIST_HIP_API hipError_t hipStreamBeginCapture(HipStream *stream, int) {
  // The default stream cannot be captured, on a card neither.
  if (!stream)
    return fail(hipErrorStreamCaptureUnsupported);
  std::lock_guard lock(hipState().mutex);
  if (stream->capture)
    return fail(hipErrorIllegalState);
  stream->capture = std::make_shared<HipGraph>();
  stream->isOrigin = true;
  return hipSuccess;
}
GIST_HIP_API hipError_t hipStreamEndCapture(HipStream *stream,
                                            HipGraph **graph) {
  if (!stream || !graph)
    return fail(hipErrorInvalidValue);
  std::lock_guard lock(hipState().mutex);
  if (!stream->capture || !stream->isOrigin)
    return fail(hipErrorStreamCaptureUnmatched);
  // The streams that joined leave with the one that began.
  std::shared_ptr<HipGraph> capture = stream->capture;
  for (HipStream *other : hipState().streams)
    if (other->capture == capture)
      other->capture.reset();
  stream->isOrigin = false;
  // The work moves out. Events keep weak pointers, which then find nothing.
  *graph = new HipGraph(std::move(*capture));
  return hipSuccess;
}
GIST_HIP_API hipError_t hipGraphCreate(HipGraph **graph, unsigned flags) {
  if (!graph || flags)
    return fail(hipErrorInvalidValue);
  *graph = new HipGraph;
  return hipSuccess;
}
GIST_HIP_API hipError_t hipGraphInstantiate(HipGraph **executable,
                                            HipGraph *graph, void **, char *,
                                            size_t) {
  if (!executable || !graph)
    return fail(hipErrorInvalidValue);
  // A copy: the graph may be changed or destroyed after this.
  *executable = new HipGraph(*graph);
  return hipSuccess;
}
GIST_HIP_API hipError_t hipGraphInstantiateWithFlags(HipGraph **executable,
                                                     HipGraph *graph,
                                                     unsigned long long) {
  return hipGraphInstantiate(executable, graph, nullptr, nullptr, 0);
}
GIST_HIP_API hipError_t hipGraphLaunch(HipGraph *executable,
                                       HipStream *stream) {
  if (!executable)
    return fail(hipErrorInvalidHandle);
  // By pointer: it must live until the graph that captured it has run.
  return submit(stream, [executable]() {
    // The first failure ends the graph.
    for (const std::function<hipError_t()> &work : *executable)
      if (hipError_t error = work())
        return error;
    return hipSuccess;
  });
}
GIST_HIP_API hipError_t hipGraphExecDestroy(HipGraph *executable) {
  delete executable;
  return hipSuccess;
}
GIST_HIP_API hipError_t hipGraphDestroy(HipGraph *graph) {
  delete graph;
  return hipSuccess;
}
