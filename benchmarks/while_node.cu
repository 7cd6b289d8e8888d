//===- while_node.cu - three ways to replay many steps --------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Microseconds a step of a chain of small kernels (their number is the
// argument), 1,000 steps: one step a graph launch; ten steps unrolled in one
// graph; a conditional while node whose body is one step. The results are
// compared first. It measures what CUDA charges, and runs no plan.
//===----------------------------------------------------------------------===//

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <vector>

#define CHECK(call)                                                            \
  do {                                                                         \
    if (cudaError_t e = (call)) {                                              \
      std::fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(e));          \
      std::exit(3);                                                            \
    }                                                                          \
  } while (0)

constexpr int kElements = 4096, kThreads = 256, kSteps = 1000, kUnrolled = 10;
constexpr int kWindows = 9;

__global__ void update(float *x, float b) {
  int i = blockIdx.x * kThreads + threadIdx.x;
  x[i] = x[i] * 0.999f + b;
}

__global__ void countDown(int *left, cudaGraphConditionalHandle handle) {
  cudaGraphSetConditional(handle, --*left > 0);
}

__global__ void setCount(int *left) { *left = kSteps; }

static void step(float *x, int kernels, cudaStream_t stream) {
  for (int i = 0; i < kernels; ++i)
    update<<<kElements / kThreads, kThreads, 0, stream>>>(x, 0.001f * i);
}

static cudaGraphExec_t unrolled(float *x, int kernels, int steps,
                                cudaStream_t stream) {
  cudaGraph_t graph;
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  for (int i = 0; i < steps; ++i)
    step(x, kernels, stream);
  CHECK(cudaStreamEndCapture(stream, &graph));
  cudaGraphExec_t exec;
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  return exec;
}

static cudaGraphExec_t whileNode(float *x, int kernels, int *left,
                                 cudaStream_t stream) {
  cudaGraph_t graph;
  CHECK(cudaGraphCreate(&graph, 0));
  cudaGraphConditionalHandle handle;
  CHECK(cudaGraphConditionalHandleCreate(&handle, graph, 1,
                                         cudaGraphCondAssignDefault));
  CHECK(cudaStreamBeginCaptureToGraph(stream, graph, nullptr, nullptr, 0,
                                      cudaStreamCaptureModeThreadLocal));
  setCount<<<1, 1, 0, stream>>>(left);
  CHECK(cudaStreamEndCapture(stream, &graph));
  size_t count = 1;
  cudaGraphNode_t first, loop;
  CHECK(cudaGraphGetNodes(graph, &first, &count));
  cudaGraphNodeParams params = {};
  params.type = cudaGraphNodeTypeConditional;
  params.conditional.handle = handle;
  params.conditional.type = cudaGraphCondTypeWhile;
  params.conditional.size = 1;
  CHECK(cudaGraphAddNode(&loop, graph, &first, nullptr, 1, &params));
  cudaGraph_t body = params.conditional.phGraph_out[0];
  CHECK(cudaStreamBeginCaptureToGraph(stream, body, nullptr, nullptr, 0,
                                      cudaStreamCaptureModeThreadLocal));
  step(x, kernels, stream);
  countDown<<<1, 1, 0, stream>>>(left, handle);
  CHECK(cudaStreamEndCapture(stream, &body));
  cudaGraphExec_t exec;
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  return exec;
}

int main(int argc, char **argv) {
  int kernels = argc > 1 ? std::atoi(argv[1]) : 9;
  if (kernels < 1) {
    std::fprintf(stderr, "usage: while_node [KERNELS a step, at least 1]\n");
    return 2;
  }
  cudaStream_t stream;
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  float *x;
  int *left;
  CHECK(cudaMalloc(&x, kElements * sizeof(float)));
  CHECK(cudaMalloc(&left, sizeof(int)));
  struct Way {
    const char *name;
    cudaGraphExec_t graph;
    int launches; ///< of kSteps steps
    std::vector<double> micros;
    float result;
  };
  Way ways[] = {
      {"one step a launch", unrolled(x, kernels, 1, stream), kSteps, {}, 0},
      {"ten steps a launch",
       unrolled(x, kernels, kUnrolled, stream),
       kSteps / kUnrolled,
       {},
       0},
      {"while node", whileNode(x, kernels, left, stream), 1, {}, 0}};
  cudaEvent_t start, stop;
  CHECK(cudaEventCreate(&start));
  CHECK(cudaEventCreate(&stop));
  for (int window = 0; window <= kWindows; ++window) // the first one warms up
    for (Way &way : ways) {
      CHECK(cudaMemsetAsync(x, 0, kElements * sizeof(float), stream));
      CHECK(cudaEventRecord(start, stream));
      for (int i = 0; i < way.launches; ++i)
        CHECK(cudaGraphLaunch(way.graph, stream));
      CHECK(cudaEventRecord(stop, stream));
      CHECK(cudaEventSynchronize(stop));
      float milliseconds;
      CHECK(cudaEventElapsedTime(&milliseconds, start, stop));
      if (window > 0)
        way.micros.push_back(milliseconds * 1000 / kSteps);
      CHECK(cudaMemcpy(&way.result, x, sizeof(float), cudaMemcpyDeviceToHost));
      if (way.result != ways[0].result) {
        std::fprintf(stderr, "%s: %g, expected %g\n", way.name, way.result,
                     ways[0].result);
        return 1;
      }
    }
  for (Way &way : ways) {
    std::sort(way.micros.begin(), way.micros.end());
    std::printf("%d kernels a step, %-18s %6.2f µs a step (%.2f..%.2f)\n",
                kernels, way.name, way.micros[kWindows / 2], way.micros[0],
                way.micros.back());
  }
  return 0;
}
