//===- FakeGpu.c - A GPU driver that tests can look into ------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/unit/FakeGpu.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef GIST_FAKE_HIP
#define NAME(hip, cuda) hip
#else
#define NAME(hip, cuda) cuda
#endif
#define API __attribute__((visibility("default")))

typedef void *Handle;
typedef uint64_t Address;
enum {
  Success = 0,
  InvalidValue = 1,
  OutOfMemory = 2,
  NoDevice = 100,
  InvalidContext = 201,
  InvalidImage = 200,
  NotFound = 500,
  LaunchFailure = 719
};

//===----------------------------------------------------------------------===//
// Settings and counters
//===----------------------------------------------------------------------===//

typedef struct {
  const char *name;
  long initial, value;
} Number;

enum {
  Version,
  Cards,
  Memory,
  Capability,
  Gfx,
  Lds,
  FailInit,
  FailLoad,
  FailUpload,
  FailLaunch,
  FailGraph,
  FailRun,
  FailEdge,
  FaultCall,
  FaultAllocation,
  FaultStays,
  SettingCount
};
static Number settings[SettingCount] = {
    {"version", NAME(60000000, 12040), 0},
    {"cards", 1, 0},
    {"memory", 1l << 30, 0},
    {"capability", 90, 0},
    {"gfx", 0x942, 0},
    {"lds", NAME(65536, 232448), 0},
    {"fail_init", 0, 0},
    {"fail_load", 0, 0},
    {"fail_upload", 0, 0},
    {"fail_launch", 0, 0},
    {"fail_graph", 0, 0},
    {"fail_run", 0, 0},
    {"fail_edge", 0, 0},
    {"fault_call", 0, 0},
    {"fault_allocation", 0, 0},
    {"fault_stays", 0, 0},
};

enum {
  Allocations,
  Streams,
  Events,
  Modules,
  Graphs,
  Executables,
  Contexts,
  Uploads,
  UploadBytes,
  Launches,
  Nodes,
  Edges,
  Roots,
  GraphLaunches,
  Kernels,
  BigShared,
  Overlaps,
  Calls,
  MemoryCalls,
  Faults,
  CounterCount,
  FirstDone = Uploads
};
static Number counters[CounterCount] = {
    {"allocations", 0, 0},  {"streams", 0, 0},        {"events", 0, 0},
    {"modules", 0, 0},      {"graphs", 0, 0},         {"executables", 0, 0},
    {"contexts", 0, 0},     {"uploads", 0, 0},        {"upload_bytes", 0, 0},
    {"launches", 0, 0},     {"nodes", 0, 0},          {"edges", 0, 0},
    {"roots", 0, 0},        {"graph_launches", 0, 0}, {"kernels", 0, 0},
    {"big_shared", 0, 0},   {"overlaps", 0, 0},       {"calls", 0, 0},
    {"memory_calls", 0, 0}, {"faults", 0, 0},
};

static int failed; ///< sticky, as on a card

/// Counts a call, and says whether it is the one that must fail, or one after
/// it where faults stay. 0 asks for none.
static int isFault(int counter, int setting) {
  long number = ++counters[counter].value, wanted = settings[setting].value;
  int fault = wanted != 0 && (number == wanted ||
                              (number > wanted && settings[FaultStays].value));
  counters[Faults].value += fault;
  return fault;
}
/// Every function of the driver begins with this.
#define CALL()                                                                 \
  do {                                                                         \
    if (isFault(Calls, FaultCall))                                             \
      return LaunchFailure;                                                    \
  } while (0)
/// What gives something back does so even where it reports an error, as
/// drivers do: the error is one of earlier work.
#define CALL_LAST() int fault = isFault(Calls, FaultCall) ? LaunchFailure : 0

//===----------------------------------------------------------------------===//
// Objects that a driver that no longer answers cannot give back
//===----------------------------------------------------------------------===//

typedef struct Object {
  struct Object *next, **link;
  _Alignas(16) unsigned char bytes[];
} Object;
static Object *objects;
static void forgetMemory(void);

static void *makeObject(size_t size) {
  Object *object = calloc(1, sizeof(Object) + size);
  object->next = objects;
  object->link = &objects;
  if (objects)
    objects->link = &object->next;
  objects = object;
  return object->bytes;
}
static void freeObject(void *bytes) {
  Object *object = (Object *)((unsigned char *)bytes - offsetof(Object, bytes));
  *object->link = object->next;
  if (object->next)
    object->next->link = object->link;
  free(object);
}

API int gistFakeSet(const char *name, long value) {
  for (int i = 0; i < SettingCount; ++i)
    if (strcmp(settings[i].name, name) == 0) {
      settings[i].value = value;
      return 1;
    }
  return 0;
}

API long gistFakeCount(const char *name) {
  for (int i = 0; i < CounterCount; ++i)
    if (strcmp(counters[i].name, name) == 0)
      return counters[i].value;
  return -1;
}

/// Forgets what was made and not given back, and the counts of it.
API void gistFakeForget(void) {
  while (objects)
    freeObject(objects->bytes);
  forgetMemory();
  for (int i = 0; i < FirstDone; ++i)
    counters[i].value = 0;
}

__attribute__((constructor)) API void gistFakeReset(void) {
  failed = 0;
  for (int i = 0; i < SettingCount; ++i)
    settings[i].value = settings[i].initial;
  for (int i = FirstDone; i < CounterCount; ++i)
    counters[i].value = 0;
  const char *text = getenv("GIST_FAKE_GPU");
  while (text && *text) {
    char name[32];
    long value = 0;
    int length = 0;
    if (sscanf(text, "%31[a-z_]=%li%n", name, &value, &length) != 2 ||
        !gistFakeSet(name, value)) {
      fprintf(stderr, "GIST_FAKE_GPU: cannot read '%s'\n", text);
      abort();
    }
    text += length;
    text += *text == ',';
  }
}

//===----------------------------------------------------------------------===//
// Kernels: those of the CPU, with numbers fetched from their addresses
//===----------------------------------------------------------------------===//

typedef void (*Body)(const uint64_t *, int64_t, int64_t, int64_t);
void tiny_embed(const uint64_t *, int64_t, int64_t, int64_t);
void tiny_append(const uint64_t *, int64_t, int64_t, int64_t);
void tiny_mean(const uint64_t *, int64_t, int64_t, int64_t);
void tiny_logits(const uint64_t *, int64_t, int64_t, int64_t);
void tiny_count(const uint64_t *, int64_t, int64_t, int64_t);

typedef struct {
  const char *name;
  Body body;
  unsigned argCount;
  unsigned numbers; ///< bit i: argument i is the address of a number
} Function;
static const Function functions[] = {
    {"tiny_embed", tiny_embed, 4, 1u << 3},
    {"tiny_append", tiny_append, 3, 1u << 2},
    {"tiny_mean", tiny_mean, 4, 1u << 2 | 1u << 3},
    {"tiny_logits", tiny_logits, 5, 1u << 3 | 1u << 4},
    {"tiny_count", tiny_count, 2, 1u << 0},
};
enum { MaxArgs = 8 };

typedef struct {
  const Function *function;
  unsigned grid[3];
  uint64_t args[MaxArgs];
} Launch;

static Launch makeLaunch(const Function *function, unsigned x, unsigned y,
                         unsigned z, void **params) {
  Launch launch = {function, {x, y, z}, {0}};
  for (unsigned i = 0; i < function->argCount; ++i)
    memcpy(&launch.args[i], params[i], sizeof(uint64_t));
  return launch;
}

static void runKernel(const Launch *launch) {
  ++counters[Kernels].value;
  if (settings[FailRun].value)
    failed = 1;
  if (failed)
    return;
  uint64_t slots[MaxArgs];
  for (unsigned i = 0; i < launch->function->argCount; ++i) {
    slots[i] = launch->args[i];
    if (launch->function->numbers >> i & 1)
      memcpy(&slots[i], (const void *)launch->args[i], sizeof(uint64_t));
  }
  for (unsigned z = 0; z < launch->grid[2]; ++z)
    for (unsigned y = 0; y < launch->grid[1]; ++y)
      for (unsigned x = 0; x < launch->grid[0]; ++x)
        launch->function->body(slots, x, y, z);
}

//===----------------------------------------------------------------------===//
// Cards
//===----------------------------------------------------------------------===//

API int NAME(hipRuntimeGetVersion, cuDriverGetVersion)(int *version) {
  CALL();
  *version = (int)settings[Version].value;
  return Success;
}
API int NAME(hipInit, cuInit)(unsigned flags) {
  CALL();
  if (settings[FailInit].value)
    return (int)settings[FailInit].value;
  // CUDA says so here, HIP when it is asked for the number.
  if (NAME(0, 1) && settings[Cards].value == 0)
    return NoDevice;
  return flags == 0 ? Success : InvalidValue;
}
API int NAME(hipGetDeviceCount, cuDeviceGetCount)(int *count) {
  CALL();
  *count = (int)settings[Cards].value;
  return *count ? Success : NoDevice;
}
API int NAME(hipDeviceGetName, cuDeviceGetName)(char *name, int length,
                                                int device) {
  CALL();
  snprintf(name, (size_t)length, "Fake card %d", device);
  return Success;
}
API int NAME(hipDeviceGetAttribute,
             cuDeviceGetAttribute)(int *value, int number, int device) {
  CALL();
  (void)device;
  switch (number) {
  case NAME(63, 16):
    *value = 4;
    return Success;
  case NAME(74, 97):
    *value = (int)settings[Lds].value;
    return Success;
  case NAME(-1, 75):
    *value = (int)settings[Capability].value / 10;
    return Success;
  case NAME(-2, 76):
    *value = (int)settings[Capability].value % 10;
    return Success;
  default:
    return InvalidValue;
  }
}

#ifdef GIST_FAKE_HIP
API int hipSetDevice(int device) {
  CALL();
  return device < settings[Cards].value ? Success : 101;
}
static int current(void) { return 1; }
API const char *hipGetErrorName(int error) {
  return error == OutOfMemory ? "hipErrorOutOfMemory" : "hipErrorFake";
}
API const char *hipGetErrorString(int error) {
  return error == OutOfMemory ? "out of memory" : "something is wrong";
}
/// The name of the architecture where some version of the struct may have it.
API int hipGetDevicePropertiesR0600(void *properties, int device) {
  CALL();
  (void)device;
  memset(properties, 0, 1472);
  snprintf(properties, 256, "gfx is no prefix of an architecture here");
  if (settings[Gfx].value)
    snprintf((char *)properties + 1160, 256, "gfx%lx:sramecc+:xnack-",
             (unsigned long)settings[Gfx].value);
  return Success;
}
#else
static _Thread_local Handle currentContext;
API int cuDevicePrimaryCtxRetain(Handle *context, int device) {
  CALL();
  ++counters[Contexts].value;
  *context = (char *)counters + device + 1;
  return Success;
}
API int cuDevicePrimaryCtxRelease_v2(int device) {
  CALL_LAST();
  (void)device;
  --counters[Contexts].value;
  return fault;
}
API int cuCtxSetCurrent(Handle context) {
  CALL();
  currentContext = context;
  return Success;
}
static int current(void) { return currentContext != NULL; }
API int cuGetErrorName(int error, const char **text) {
  *text = error == OutOfMemory ? "CUDA_ERROR_OUT_OF_MEMORY" : "CUDA_ERROR_FAKE";
  return Success;
}
API int cuGetErrorString(int error, const char **text) {
  *text = error == OutOfMemory ? "out of memory" : "something is wrong";
  return Success;
}
#endif

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

typedef struct Block {
  struct Block *next;
  size_t size;
  _Alignas(64) unsigned char bytes[];
} Block;
static Block *blocks;
static size_t used;

static void forgetMemory(void) {
  while (blocks) {
    Block *block = blocks;
    blocks = block->next;
    free(block);
  }
  used = 0;
}

static int isInside(Address address, size_t size) {
  for (const Block *block = blocks; block; block = block->next)
    if (address >= (Address)block->bytes && size <= block->size &&
        address - (Address)block->bytes <= block->size - size)
      return 1;
  return 0;
}

API int NAME(hipMemGetInfo, cuMemGetInfo_v2)(size_t *free, size_t *total) {
  CALL();
  if (!current())
    return InvalidContext;
  *total = (size_t)settings[Memory].value;
  *free = *total > used ? *total - used : 0;
  return Success;
}
API int NAME(hipMalloc, cuMemAlloc_v2)(Address *address, size_t size) {
  CALL();
  if (!current())
    return InvalidContext;
  if (size == 0)
    return InvalidValue;
  if (used + size > (size_t)settings[Memory].value ||
      isFault(MemoryCalls, FaultAllocation))
    return OutOfMemory;
  size_t bytes = (sizeof(Block) + size + 63) / 64 * 64;
  Block *block = aligned_alloc(64, bytes);
  block->next = blocks;
  block->size = size;
  memset(block->bytes, 0xcb, size);
  blocks = block;
  used += size;
  ++counters[Allocations].value;
  *address = (Address)block->bytes;
  return Success;
}
API int NAME(hipFree, cuMemFree_v2)(Address address) {
  CALL_LAST();
  for (Block **link = &blocks; *link; link = &(*link)->next)
    if ((Address)(*link)->bytes == address) {
      Block *block = *link;
      *link = block->next;
      used -= block->size;
      --counters[Allocations].value;
      free(block);
      return fault;
    }
  return InvalidValue;
}

//===----------------------------------------------------------------------===//
// Streams: work is done when it is waited for
//===----------------------------------------------------------------------===//

typedef struct Node {
  struct Node *next; ///< the one that was added before
  Launch launch;
  size_t afterCount;
  struct Node **after;
  int done;
} Node;
typedef struct {
  Node *last;
} Graph;

typedef struct Work {
  struct Work *next;
  enum { Copy, Fill, Run, RunGraph, Mark } kind;
  void *to;
  const void *from;
  size_t size;
  int value;
  Launch launch;
  Graph *graph;
  long *event;
  unsigned char staged[]; ///< what was copied from the host
} Work;
typedef struct {
  Work *first, **end;
} Stream;

static Work *push(Stream *stream, size_t staged) {
  Work *work = makeObject(sizeof(Work) + staged);
  *stream->end = work;
  stream->end = &work->next;
  return work;
}

/// Runs what may run, the latest first, until nothing is left.
static void runGraph(Graph *graph) {
  for (Node *node = graph->last; node; node = node->next)
    node->done = 0;
  for (Node *node = graph->last; node;) {
    int ready = !node->done;
    for (size_t i = 0; i < node->afterCount; ++i)
      ready = ready && node->after[i]->done;
    if (ready) {
      runKernel(&node->launch);
      node->done = 1;
    }
    node = ready ? graph->last : node->next;
  }
}

static long ticks; ///< the fake's clock: one per finished piece of work

static void runWork(Work *work) {
  ++ticks;
  switch (work->kind) {
  case Copy:
    memcpy(work->to, work->from, work->size);
    break;
  case Fill:
    memset(work->to, work->value, work->size);
    break;
  case Run:
    runKernel(&work->launch);
    break;
  case RunGraph:
    runGraph(work->graph);
    break;
  case Mark:
    *work->event = ticks;
    break;
  }
}

API int NAME(hipStreamCreateWithFlags, cuStreamCreate)(Handle *result,
                                                       unsigned flags) {
  CALL();
  if (!current() || flags != 1)
    return InvalidContext;
  Stream *stream = makeObject(sizeof(Stream));
  stream->end = &stream->first;
  ++counters[Streams].value;
  *result = stream;
  return Success;
}
static int drain(Stream *stream, int isLost) {
  while (stream->first) {
    Work *work = stream->first;
    stream->first = work->next;
    if (!failed && !isLost)
      runWork(work);
    freeObject(work);
  }
  stream->end = &stream->first;
  return failed ? LaunchFailure : Success;
}
API int NAME(hipStreamSynchronize, cuStreamSynchronize)(Handle handle) {
  CALL();
  return current() ? drain(handle, 0) : InvalidContext;
}
API int NAME(hipStreamDestroy, cuStreamDestroy_v2)(Handle handle) {
  CALL_LAST();
  // A driver that no longer answers does not run what waits either.
  drain(handle, fault);
  --counters[Streams].value;
  freeObject(handle);
  return fault;
}

API int NAME(hipMemcpyHtoDAsync,
             cuMemcpyHtoDAsync_v2)(Address to, const void *from, size_t size,
                                   Handle stream) {
  CALL();
  if (!current() || !isInside(to, size) || settings[FailUpload].value)
    return InvalidValue;
  ++counters[Uploads].value;
  counters[UploadBytes].value += (long)size;
  // Pageable memory is copied before the call returns.
  Work *work = push(stream, size);
  work->kind = Copy;
  work->to = (void *)to;
  work->from = memcpy(work->staged, from, size);
  work->size = size;
  return Success;
}
API int NAME(hipMemcpyDtoHAsync, cuMemcpyDtoHAsync_v2)(void *to, Address from,
                                                       size_t size,
                                                       Handle stream) {
  CALL();
  if (!current() || !isInside(from, size))
    return InvalidValue;
  Work *work = push(stream, 0);
  work->kind = Copy;
  work->to = to;
  work->from = (const void *)from;
  work->size = size;
  return Success;
}
API int NAME(hipMemcpyDtoDAsync, cuMemcpyDtoDAsync_v2)(Address to, Address from,
                                                       size_t size,
                                                       Handle stream) {
  CALL();
  if (!current() || !isInside(to, size) || !isInside(from, size))
    return InvalidValue;
  Work *work = push(stream, 0);
  work->kind = Copy;
  work->to = (void *)to;
  work->from = (const void *)from;
  work->size = size;
  return Success;
}
API int NAME(hipMemsetD8Async, cuMemsetD8Async)(Address to, unsigned char value,
                                                size_t size, Handle stream) {
  CALL();
  if (!current() || !isInside(to, size))
    return InvalidValue;
  Work *work = push(stream, 0);
  work->kind = Fill;
  work->to = (void *)to;
  work->value = value;
  work->size = size;
  return Success;
}

API int NAME(hipEventCreateWithFlags, cuEventCreate)(Handle *event,
                                                     unsigned flags) {
  CALL();
  ++counters[Events].value;
  *event = makeObject(sizeof(long));
  return flags == 0 ? Success : InvalidValue;
}
API int NAME(hipEventDestroy, cuEventDestroy_v2)(Handle event) {
  CALL_LAST();
  --counters[Events].value;
  freeObject(event);
  return fault;
}
API int NAME(hipEventRecord, cuEventRecord)(Handle event, Handle stream) {
  CALL();
  Work *work = push(stream, 0);
  work->kind = Mark;
  work->event = event;
  return Success;
}
/// A millisecond per piece of work.
API int NAME(hipEventElapsedTime, cuEventElapsedTime)(float *result,
                                                      Handle from, Handle to) {
  CALL();
  if (*(long *)from == 0 || *(long *)to == 0)
    return InvalidValue;
  *result = (float)(*(long *)to - *(long *)from);
  return Success;
}

//===----------------------------------------------------------------------===//
// Code
//===----------------------------------------------------------------------===//

static int loadModule(Handle *module, const char *image) {
  if (!current())
    return InvalidContext;
  if (strncmp(image, GIST_FAKE_CODE, strlen(GIST_FAKE_CODE)) != 0 ||
      settings[FailLoad].value)
    return InvalidImage;
  ++counters[Modules].value;
  *module = makeObject(1);
  return Success;
}
#ifdef GIST_FAKE_HIP
API int hipModuleLoadData(Handle *module, const void *image) {
  CALL();
  return loadModule(module, image);
}
#else
API int cuModuleLoadDataEx(Handle *module, const void *image, unsigned count,
                           int *options, void **values) {
  CALL();
  int error = loadModule(module, image);
  for (unsigned i = 0; error && i + 1 < count; ++i)
    if (options[i] == 5 && options[i + 1] == 6)
      snprintf(values[i], (size_t)values[i + 1],
               "line 7: no such instruction\nfatal: giving up\n");
  return error;
}
API int cuFuncSetAttribute(Handle function, int attribute, int value) {
  CALL();
  if (!function || attribute != 8 || value <= 48 << 10)
    return InvalidValue;
  ++counters[BigShared].value;
  return Success;
}
#endif
API int NAME(hipModuleUnload, cuModuleUnload)(Handle module) {
  CALL_LAST();
  --counters[Modules].value;
  freeObject(module);
  return fault;
}
API int NAME(hipModuleGetFunction, cuModuleGetFunction)(Handle *result,
                                                        Handle module,
                                                        const char *name) {
  CALL();
  (void)module;
  for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); ++i)
    if (strcmp(functions[i].name, name) == 0) {
      *result = (Handle)&functions[i];
      return Success;
    }
  return NotFound;
}
API int NAME(hipModuleLaunchKernel,
             cuLaunchKernel)(Handle function, unsigned gridX, unsigned gridY,
                             unsigned gridZ, unsigned blockX, unsigned blockY,
                             unsigned blockZ, unsigned shared, Handle stream,
                             void **params, void **extra) {
  CALL();
  if (!current() || !gridX || !gridY || !gridZ || !blockX || !blockY ||
      !blockZ || shared > settings[Lds].value || extra ||
      settings[FailLaunch].value)
    return InvalidValue;
  ++counters[Launches].value;
  Work *work = push(stream, 0);
  work->kind = Run;
  work->launch = makeLaunch(function, gridX, gridY, gridZ, params);
  return Success;
}

//===----------------------------------------------------------------------===//
// Graphs
//===----------------------------------------------------------------------===//

API int NAME(hipGraphCreate, cuGraphCreate)(Handle *graph, unsigned flags) {
  CALL();
  if (!current() || flags)
    return InvalidValue;
  ++counters[Graphs].value;
  *graph = makeObject(sizeof(Graph));
  return Success;
}

static void freeNodes(Node *node) {
  while (node) {
    Node *next = node->next;
    freeObject(node->after);
    freeObject(node);
    node = next;
  }
}
API int NAME(hipGraphDestroy, cuGraphDestroy)(Handle graph) {
  CALL_LAST();
  --counters[Graphs].value;
  freeNodes(((Graph *)graph)->last);
  freeObject(graph);
  return fault;
}

/// The drivers' structs, as their headers have them.
typedef struct {
#ifdef GIST_FAKE_HIP
  unsigned blockDimX, blockDimY, blockDimZ;
  void **extra;
  Handle func;
  unsigned gridDimX, gridDimY, gridDimZ;
  void **kernelParams;
  unsigned sharedMemBytes;
#else
  Handle func;
  unsigned gridDimX, gridDimY, gridDimZ;
  unsigned blockDimX, blockDimY, blockDimZ;
  unsigned sharedMemBytes;
  void **kernelParams;
  void **extra;
#endif
} NodeParams;

API int NAME(hipGraphAddKernelNode,
             cuGraphAddKernelNode)(Handle *result, Handle handle,
                                   const Handle *after, size_t afterCount,
                                   const void *parameters) {
  CALL();
  const NodeParams *params = parameters;
  Graph *graph = handle;
  if (!params->gridDimX || !params->gridDimY || !params->gridDimZ ||
      !params->blockDimX || !params->blockDimY || !params->blockDimZ ||
      params->sharedMemBytes > settings[Lds].value || params->extra)
    return InvalidValue;
  for (size_t i = 0; i < afterCount; ++i)
    for (size_t j = 0; j < i; ++j)
      if (after[i] == after[j])
        return InvalidValue; // CUDA takes each dependency once
  ++counters[Nodes].value;
  counters[Edges].value += (long)afterCount;
  counters[Roots].value += afterCount == 0;
  Node *node = makeObject(sizeof(Node));
  node->next = graph->last;
  node->launch = makeLaunch(params->func, params->gridDimX, params->gridDimY,
                            params->gridDimZ, params->kernelParams);
  node->afterCount = afterCount;
  node->after = makeObject((afterCount + 1) * sizeof(Node *));
  if (afterCount)
    memcpy(node->after, after, afterCount * sizeof(Node *));
  graph->last = node;
  *result = node;
  return Success;
}
#ifndef GIST_FAKE_HIP
/// As CUDA's header has it. Ports: 0 is a kernel's end, 1 its own signal.
typedef struct {
  unsigned char fromPort, toPort, type, reserved[5];
} EdgeData;

/// One edge to a node without edges. The fake runs the nodes of an edge one
/// after the other whatever its type: kernels here do not wait themselves.
API int cuGraphAddDependencies_v2(Handle graph, const Handle *from,
                                  const Handle *to, const EdgeData *edges,
                                  size_t count) {
  CALL();
  Node *node = count == 1 ? *to : NULL;
  if (!graph || !node || node->afterCount || settings[FailEdge].value ||
      edges->fromPort != 1 || edges->toPort != 0 || edges->type != 1)
    return InvalidValue;
  for (size_t i = 0; i < sizeof(edges->reserved); ++i)
    if (edges->reserved[i])
      return InvalidValue;
  node->after[node->afterCount++] = *from;
  ++counters[Edges].value;
  ++counters[Overlaps].value;
  --counters[Roots].value;
  return Success;
}
#endif
API int NAME(hipGraphInstantiateWithFlags,
             cuGraphInstantiateWithFlags)(Handle *executable, Handle handle,
                                          unsigned long long flags) {
  CALL();
  if (flags || settings[FailGraph].value)
    return InvalidValue;
  // The nodes move over; the graph is destroyed empty.
  Graph *graph = handle, *copy = makeObject(sizeof(Graph));
  copy->last = graph->last;
  graph->last = NULL;
  ++counters[Executables].value;
  *executable = copy;
  return Success;
}
API int NAME(hipGraphLaunch, cuGraphLaunch)(Handle executable, Handle stream) {
  CALL();
  if (!current())
    return InvalidContext;
  ++counters[GraphLaunches].value;
  Work *work = push(stream, 0);
  work->kind = RunGraph;
  work->graph = executable;
  return Success;
}
API int NAME(hipGraphExecDestroy, cuGraphExecDestroy)(Handle executable) {
  CALL_LAST();
  --counters[Executables].value;
  freeNodes(((Graph *)executable)->last);
  freeObject(executable);
  return fault;
}
