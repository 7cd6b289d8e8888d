//===- KernelCase.h - a call with data, on a device -------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Operands in memory beside their f64 reference, and a call of them on the
// device under test: the CPU, or with AICF_TEST_DEVICE=cuda the GPU.
//===----------------------------------------------------------------------===//
#ifndef AICF_UNITTESTS_KERNELS_KERNELCASE_H
#define AICF_UNITTESTS_KERNELS_KERNELCASE_H

#include "aicf/Device.h"
#include "aicf/OpCall.h"
#include "kernels/reference/Reference.h"
#include "unittests/Common/SampleCalls.h"

#include <gtest/gtest.h>

#include <random>

namespace aicf::test {

/// A tensor in memory and as reference values.
struct Operand {
  std::vector<uint8_t> bytes;
  reference::Tensor reference;
  TensorView view() { return {bytes.data(), reference.desc}; }
};

double load(const Operand &o, size_t i);
void store(Operand &o, size_t i, double value);
Operand operandOf(DType dtype, std::vector<int64_t> shape,
                  const std::vector<double> &values);
/// Random values; second moments, rstd, steps and flags must not be negative.
Operand makeOperand(TensorDesc desc, std::mt19937 &random, bool isPositive);

struct Case {
  std::vector<Operand> ins, outs;
  std::vector<uint8_t> attrs;
  std::shared_ptr<const Body> body = nullptr; ///< null for one primitive

  Sample sample(OpKind kind) const {
    Sample s;
    for (const Operand &o : ins)
      s.ins.push_back(o.reference.desc);
    for (const Operand &o : outs)
      s.outs.push_back(o.reference.desc);
    s.attrs = attrs;
    s.kind = kind;
    s.body = body;
    return s;
  }
};

/// `sample` is what makeSample() gave for `row`. `allPositive`: an operand that
/// must not be negative may stand at another slot, too.
Case makeCase(const KindRow &row, Sample sample, uint32_t seed,
              bool allPositive = false);
/// The same call by its body.
Case withBody(OpKind kind, const Case &c);

/// The types of all values of a case's body.
std::vector<TensorDesc> valueTypes(const Case &c);

/// The device under test.
std::shared_ptr<Device> makeDevice(int numThreads = 1);

/// Operands in device memory: each its own allocation, so that a memory checker
/// sees every byte beyond.
class OnDevice {
public:
  OnDevice(Device &device, Case &c) : device(device), c(c) {
    auto made = device.createStream();
    EXPECT_TRUE(made.ok()) << made.status().toString();
    stream = std::move(*made);
    for (auto [from, to] : {std::pair(&c.ins, &ins), std::pair(&c.outs, &outs)})
      for (Operand &o : *from)
        to->push_back(o.reference.desc.isAbsent
                          ? TensorView()
                          : TensorView{upload(o.bytes), o.reference.desc});
  }
  ~OnDevice() {
    for (void *memory : allocations)
      device.deallocate(memory);
  }
  /// Gives the kernel `workspace`, or as much as it asks for.
  Status run(OpKind kind, std::string_view kid = "auto",
             std::optional<TensorView> workspace = {}) {
    StatusOr<TypedBody> typed = typedBodyOf(c.sample(kind));
    AICF_RETURN_IF_ERROR(typed.status());
    const KernelRow *row = kid == "auto" ? selectKernel(device.kind(), *typed)
                                         : findKernel(device.kind(), kid);
    uint64_t bytes = row ? row->workspaceBytes(*typed) : 0;
    if (!workspace && bytes)
      workspace = {upload(std::vector<uint8_t>(bytes, 0xff)),
                   TensorDesc(DType::I32, {int64_t(bytes / 4)})};
    Status status = enqueue(kind, kid, workspace.value_or(TensorView()));
    return status.ok() ? stream->synchronize() : status;
  }
  Status enqueue(OpKind kind, std::string_view kid, TensorView workspace) {
    if (!c.body)
      return opCall(device, kind, ins, outs, infoOf(kind).schema, c.attrs,
                    *stream, kid, workspace);
    AICF_ASSIGN_OR_RETURN(ResolvedCall call,
                          resolve(device, {c.body, ins, outs, kid, workspace}));
    return launch(call, *stream);
  }
  void *upload(const std::vector<uint8_t> &bytes) {
    auto memory = device.allocate(bytes.size());
    EXPECT_TRUE(memory.ok()) << memory.status().toString();
    allocations.push_back(*memory);
    Status copied =
        device.copyToDevice(*stream, *memory, bytes.data(), bytes.size());
    EXPECT_TRUE(copied.ok()) << copied.toString();
    return *memory;
  }
  std::vector<uint8_t> download(const TensorView &view) {
    std::vector<uint8_t> bytes(view.desc.spanBytes());
    Status copied =
        device.copyToHost(*stream, bytes.data(), view.start(), bytes.size());
    EXPECT_TRUE(copied.ok()) << copied.toString();
    return bytes;
  }
  /// The results' bytes replace the case's.
  void fetch() {
    for (size_t i = 0; i < outs.size(); ++i)
      if (!isAbsent(outs[i]))
        c.outs[i].bytes = download(outs[i]);
  }

  Device &device;
  Case &c;
  std::unique_ptr<Stream> stream;
  std::vector<TensorView> ins, outs;

private:
  std::vector<void *> allocations;
};

/// Runs a case and leaves the results in it.
Status call(OpKind kind, Case &c, int numThreads,
            std::string_view kid = "auto");
/// The first result of a call, and that the reference has the same.
std::vector<double> resultOf(OpKind kind, Case c);

/// Kernels of the device that take the case.
std::vector<const KernelRow *> kernelsTaking(OpKind kind, Case &c);
double toleranceOf(const KindRow &row, const KernelRow &kernel, DType dtype);
/// ||bytes - reference|| / ||reference||.
double relativeError(const Operand &o, const std::vector<uint8_t> &bytes);

} // namespace aicf::test

#endif // AICF_UNITTESTS_KERNELS_KERNELCASE_H
