/*===- FakeNccl.c - Notes what is asked of NCCL or RCCL
--------------------===*\
|*
|* Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
|*
|*===----------------------------------------------------------------------===*|
|*
|* The functions that runtime/ranks/CardRanks.cpp uses, with the types of
nccl.h.
|* They move nothing. A communicator is its rank; calls are noted by rank.
|*
\*===----------------------------------------------------------------------===*/

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  char internal[128];
} ncclUniqueId;
typedef struct Comm {
  int rank;
} Comm;

/* By rank; a test reads and clears it. */
enum { kRanks = 8, kLogBytes = 4096 };
static char logs[kRanks][kLogBytes];
static _Thread_local int grouped = -1; /* rank of the group that is open */

const char *fakeNcclLog(int rank) { return logs[rank]; }

static void note(int rank, const char *text) {
  strncat(logs[rank], text, kLogBytes - strlen(logs[rank]) - 1);
}

int ncclGetUniqueId(ncclUniqueId *id) {
  memset(id->internal, 7, sizeof id->internal);
  return 0;
}

int ncclCommInitRank(void **comm, int count, ncclUniqueId id, int rank) {
  /* Passed by value, the same on all ranks. */
  for (size_t i = 0; i < sizeof id.internal; ++i)
    if (id.internal[i] != 7)
      return 4; /* ncclInvalidArgument */
  if (rank < 0 || rank >= count || count > kRanks)
    return 4;
  Comm *made = malloc(sizeof *made);
  made->rank = rank;
  logs[rank][0] = '\0';
  char text[64];
  snprintf(text, sizeof text, "init %d of %d;", rank, count);
  note(rank, text);
  *comm = made;
  return 0;
}

int ncclCommDestroy(void *comm) {
  note(((Comm *)comm)->rank, "destroy;");
  free(comm);
  return 0;
}

int ncclCommAbort(void *comm) {
  note(((Comm *)comm)->rank, "abort;");
  free(comm);
  return 0;
}

int ncclAllReduce(const void *from, void *to, size_t count, int type, int op,
                  void *comm, void *stream) {
  char text[128];
  snprintf(text, sizeof text, "sum %zu of type %d by %d from %p to %p in %p;",
           count, type, op, from, to, stream);
  note(((Comm *)comm)->rank, text);
  return 0;
}

int ncclBroadcast(const void *from, void *to, size_t count, int type, int root,
                  void *comm, void *stream) {
  char text[128];
  int rank = ((Comm *)comm)->rank;
  snprintf(text, sizeof text, "%s%zu of type %d of %d from %p to %p in %p;",
           grouped == 0 ? "grouped " : "", count, type, root, from, to, stream);
  note(rank, text);
  return 0;
}

int ncclGroupStart(void) {
  grouped = 0;
  return 0;
}
int ncclGroupEnd(void) {
  grouped = -1;
  return 0;
}
const char *ncclGetErrorString(int code) {
  return code == 4 ? "invalid argument" : "unknown";
}
