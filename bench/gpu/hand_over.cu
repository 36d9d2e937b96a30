// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What it takes to hand a row from one step of a token to the next: by launches
// that overlap, as modules for sm_90 have them, or by barriers of all
// workgroups in one persistent kernel. A step has no weights: each workgroup
// reads the whole row, adds it up and writes its part of the next one. What is
// left is the wait.
//
//   nvcc -O3 -arch=sm_90 -o hand_over bench/gpu/hand_over.cu && ./hand_over

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <vector>

static constexpr int kRow = 576, kThreads = 512, kSteps = 93, kRounds = 200;

static void check(cudaError_t error) {
  if (error == cudaSuccess)
    return;
  std::fprintf(stderr, "error: %s\n", cudaGetErrorString(error));
  std::exit(1);
}

/// Reads the row, adds it up over the workgroup, and writes this workgroup's
/// part of the next row.
__device__ void step(const float *from, float *to) {
  __shared__ float sums[kThreads / 32];
  float sum = 0;
  // Past the first level cache: other compute units have written it.
  for (int i = threadIdx.x; i < kRow; i += kThreads)
    sum += __ldcg(from + i);
  for (int mask = 16; mask > 0; mask /= 2)
    sum += __shfl_xor_sync(~0u, sum, mask);
  if (threadIdx.x % 32 == 0)
    sums[threadIdx.x / 32] = sum;
  __syncthreads();
  int own = (kRow + gridDim.x - 1) / gridDim.x;
  int column = blockIdx.x * own + threadIdx.x;
  if (threadIdx.x < own && column < kRow) {
    float all = 0;
    for (float each : sums)
      all += each;
    to[column] = all / kRow + 1;
  }
}

/// One step of a chain of launches: it starts while the one before it runs, and
/// waits for that one's writes.
__global__ void launched(const float *from, float *to) {
  asm volatile("griddepcontrol.launch_dependents;");
  asm volatile("griddepcontrol.wait;" ::: "memory");
  step(from, to);
}

/// All steps, with a barrier of all workgroups after each. `arrived` counts up
/// from zero.
__global__ void persistent(float *rows, unsigned *arrived) {
  for (int i = 0; i < kSteps; ++i) {
    step(rows + i % 2 * kRow, rows + (i + 1) % 2 * kRow);
    __syncthreads();
    if (threadIdx.x == 0) {
      unsigned goal = (i + 1) * gridDim.x, seen;
      asm volatile("red.release.gpu.global.add.u32 [%0], 1;" ::"l"(arrived)
                   : "memory");
      do
        asm volatile("ld.acquire.gpu.global.u32 %0, [%1];"
                     : "=r"(seen)
                     : "l"(arrived)
                     : "memory");
      while (seen < goal);
    }
    __syncthreads();
  }
}

/// Microseconds of a step: the median of kRounds launches of `graph`.
static float time(cudaGraphExec_t graph, cudaStream_t stream) {
  cudaEvent_t begin, end;
  check(cudaEventCreate(&begin));
  check(cudaEventCreate(&end));
  std::vector<float> times;
  for (int round = 0; round < kRounds; ++round) {
    check(cudaEventRecord(begin, stream));
    check(cudaGraphLaunch(graph, stream));
    check(cudaEventRecord(end, stream));
    check(cudaEventSynchronize(end));
    float ms;
    check(cudaEventElapsedTime(&ms, begin, end));
    times.push_back(1000 * ms / kSteps);
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

template <typename Record>
static cudaGraphExec_t record(cudaStream_t stream, Record record) {
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  record();
  check(cudaStreamEndCapture(stream, &graph));
  check(cudaGraphInstantiate(&exec, graph, 0));
  return exec;
}

int main() {
  cudaStream_t stream;
  check(cudaStreamCreate(&stream));
  float *rows;
  unsigned *arrived;
  check(cudaMalloc(&rows, 2 * kRow * sizeof(float)));
  check(cudaMalloc(&arrived, sizeof(unsigned)));
  std::printf("workgroups  launches, us a step  one kernel, us a step\n");
  for (int workgroups : {24, 48, 96, 132}) {
    float results[2][kRow];
    auto chain = record(stream, [&] {
      check(cudaMemsetAsync(rows, 0, 2 * kRow * sizeof(float), stream));
      for (int i = 0; i < kSteps; ++i) {
        cudaLaunchAttribute overlap = {};
        overlap.id = cudaLaunchAttributeProgrammaticStreamSerialization;
        overlap.val.programmaticStreamSerializationAllowed = 1;
        cudaLaunchConfig_t config = {};
        config.gridDim = dim3(workgroups);
        config.blockDim = dim3(kThreads);
        config.stream = stream;
        config.attrs = &overlap;
        config.numAttrs = i > 0;
        check(cudaLaunchKernelEx(&config, launched,
                                 (const float *)(rows + i % 2 * kRow),
                                 rows + (i + 1) % 2 * kRow));
      }
    });
    auto whole = record(stream, [&] {
      check(cudaMemsetAsync(rows, 0, 2 * kRow * sizeof(float), stream));
      check(cudaMemsetAsync(arrived, 0, sizeof(unsigned), stream));
      persistent<<<workgroups, kThreads, 0, stream>>>(rows, arrived);
    });
    float times[2];
    cudaGraphExec_t forms[] = {chain, whole};
    for (int form : {0, 1}) {
      times[form] = time(forms[form], stream);
      check(cudaMemcpy(results[form], rows + kSteps % 2 * kRow,
                       kRow * sizeof(float), cudaMemcpyDeviceToHost));
    }
    // Both have computed the same row, or the times mean nothing.
    for (int i = 0; i < kRow; ++i)
      if (results[0][i] != results[1][i] || results[0][i] == 0) {
        std::fprintf(
            stderr,
            "error: column %d is %g and %g; both forms must give one number\n",
            i, results[0][i], results[1][i]);
        return 1;
      }
    std::printf("%10d %20.2f %22.2f\n", workgroups, times[0], times[1]);
  }
  return 0;
}
