//===- aicf_step.cpp - a plan under a benchmark's command -----------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// aicf-step [cuda | cpu [THREADS]] holds an executor and obeys lines on
// standard input, so that a script can interleave it with other programs:
//   load FILE.plan TUNE    an executor; prints prepare seconds
//   write NAME FILE        a tensor's raw bytes
//   read NAME FILE
//   fill                   zeros to every input, 0.001 to every hyper
//   run N                  N eager steps of the first entry
//   replay N               N graph launches of it
//   unroll K N             N launches of K steps each
//   entries A B N          N times entry A, then entry B, each a graph
//   time N [K]             microseconds a step of N launches of K steps (1),
//                          waited for at the end
//   calls N                microseconds a launch of one step that is waited for
//                          and whose loss is read, as a training loop does it
//   trace FILE             microseconds a kernel of one eager step (JSON)
//   stats                  graph nodes, bytes
// Every answer is one line; an error starts with "error:".
//===----------------------------------------------------------------------===//

#include "aicf/Executor.h"
#include "lib/Base/File.h"

#include <chrono>
#include <cstdlib>
#include <iostream>
#include <sstream>

using namespace aicf;

namespace {

using Clock = std::chrono::steady_clock;

double secondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

struct Session {
  bool onCPU = false;
  int threads = 0; // 0: all cores
  std::shared_ptr<Device> device;
  std::shared_ptr<const Plan> plan;
  std::unique_ptr<Executor> executor;

  Status load(std::istream &in, std::ostream &out) {
    std::string path, tune;
    in >> path >> tune;
    executor.reset();
    CUDADeviceOptions options;
    auto tuning = parseEnum<Tuning>(tune, kNumTunings);
    if (!tuning)
      return makeError(StatusCode::InvalidArgument, "tuning is '", tune, "'");
    options.tuning = *tuning;
    auto start = Clock::now();
    if (onCPU)
      device = createCPUDevice({threads});
    else {
      AICF_ASSIGN_OR_RETURN(device, createCUDADevice(options));
    }
    double deviceSeconds = secondsSince(start);
    start = Clock::now();
    AICF_ASSIGN_OR_RETURN(Plan loaded, Plan::load(path));
    plan = std::make_shared<const Plan>(std::move(loaded));
    AICF_ASSIGN_OR_RETURN(executor, Executor::create(plan, device));
    AICF_RETURN_IF_ERROR(executor->prepare());
    AICF_RETURN_IF_ERROR(executor->sync());
    out << "device_s " << deviceSeconds << " prepare_s " << secondsSince(start);
    return {};
  }
  const std::string &entry() const { return plan->entries.front().name; }

  Status write(std::istream &in) {
    std::string name, path;
    in >> name >> path;
    AICF_ASSIGN_OR_RETURN(std::vector<uint8_t> bytes, readFile(path));
    return executor->write(name, bytes.data(), bytes.size());
  }
  Status read(std::istream &in) {
    std::string name, path;
    in >> name >> path;
    AICF_ASSIGN_OR_RETURN(TensorInfo tensor, executor->find(name));
    std::vector<uint8_t> bytes(tensor.desc.spanBytes());
    AICF_RETURN_IF_ERROR(executor->read(name, bytes.data(), bytes.size()));
    return writeFileAtomically(path, bytes);
  }
  Status fill() {
    const float rate = 0.001f;
    for (const TensorInfo &t : plan->tensors())
      if (t.role == Role::Hyper)
        AICF_RETURN_IF_ERROR(executor->write(t.name, &rate, sizeof(rate)));
    for (const TensorInfo &t : plan->tensors(plan->entries.front())) {
      std::vector<uint8_t> zeros(t.desc.spanBytes());
      if (t.role == Role::Input)
        AICF_RETURN_IF_ERROR(executor->write(entry() + "/" + t.name,
                                             zeros.data(), zeros.size()));
    }
    return {};
  }
  Status steps(const std::string &how, std::istream &in) {
    uint64_t n = 0, k = 1;
    std::string a = entry(), b;
    if (how == "unroll")
      in >> k;
    if (how == "entries")
      in >> a >> b;
    in >> n;
    for (uint64_t i = 0; i < n; ++i) {
      AICF_RETURN_IF_ERROR(how == "run"
                               ? executor->run(a)
                               : executor->run(GraphKey{a, uint32_t(k)}));
      if (!b.empty())
        AICF_RETURN_IF_ERROR(executor->run(GraphKey{b, 1}));
    }
    return executor->sync();
  }
  Status time(std::istream &in, std::ostream &out) {
    uint64_t n = 0, k = 0;
    in >> n >> k; // k stays 0 where there is none
    GraphKey key{entry(), uint32_t(k ? k : 1)};
    AICF_RETURN_IF_ERROR(executor->run(key));
    AICF_RETURN_IF_ERROR(executor->sync());
    auto start = Clock::now();
    for (uint64_t i = 0; i < n; ++i)
      AICF_RETURN_IF_ERROR(executor->run(key));
    AICF_RETURN_IF_ERROR(executor->sync());
    out << secondsSince(start) * 1e6 / double(n) / double(key.steps);
    return {};
  }
  Status calls(std::istream &in, std::ostream &out) {
    uint64_t n = 0;
    in >> n;
    GraphKey key{entry(), 1};
    auto start = Clock::now();
    for (uint64_t i = 0; i < n; ++i) {
      float loss = 0;
      AICF_RETURN_IF_ERROR(executor->run(key));
      AICF_RETURN_IF_ERROR(executor->read("loss", &loss, sizeof(loss)));
    }
    out << secondsSince(start) * 1e6 / double(n);
    return {};
  }
  Status trace(std::istream &in) {
    std::string path;
    in >> path;
    AICF_RETURN_IF_ERROR(executor->enableTrace(true));
    for (int i = 0; i < 5; ++i)
      AICF_RETURN_IF_ERROR(executor->run(entry()));
    AICF_RETURN_IF_ERROR(executor->enableTrace(false));
    std::string json =
        traceToProfileJson(executor->trace(), device->description());
    return writeFileAtomically(
        path, {reinterpret_cast<const uint8_t *>(json.data()), json.size()});
  }
  Status stats(std::ostream &out) {
    ExecutorStatistics s = executor->statistics();
    out << "nodes " << s.graphNodes << " persistent " << s.persistentBytes
        << " io " << s.ioBytes << " temp " << s.tempBytes << " free "
        << device->freeBytes();
    return {};
  }

  Status obey(const std::string &line, std::ostream &out) {
    std::istringstream in(line);
    std::string verb;
    in >> verb;
    if (verb == "load")
      return load(in, out);
    if (!executor)
      return makeError(StatusCode::FailedState, "load a plan first");
    if (verb == "write")
      return write(in);
    if (verb == "read")
      return read(in);
    if (verb == "fill")
      return fill();
    if (verb == "run" || verb == "replay" || verb == "unroll" ||
        verb == "entries")
      return steps(verb, in);
    if (verb == "time")
      return time(in, out);
    if (verb == "calls")
      return calls(in, out);
    if (verb == "trace")
      return trace(in);
    if (verb == "stats")
      return stats(out);
    return makeError(StatusCode::InvalidArgument, "unknown verb '", verb, "'");
  }
};

} // namespace

int main(int argc, char **argv) {
  Session session;
  session.onCPU = argc > 1 && std::string_view(argv[1]) == "cpu";
  session.threads = argc > 2 ? std::atoi(argv[2]) : 0;
  for (std::string line; std::getline(std::cin, line);) {
    std::ostringstream out;
    Status status = session.obey(line, out);
    if (status.ok())
      std::cout << "ok " << out.str() << std::endl;
    else
      std::cout << "error: " << status.toString() << std::endl;
  }
  return 0;
}
