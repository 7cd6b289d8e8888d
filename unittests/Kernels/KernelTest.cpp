//===- KernelTest.cpp - every kernel against the f64 reference ------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// One table: a row a kind and variant, which makes calls of several sizes. Each
// call runs through op_call in every float type and with every kernel that
// takes it, is compared with the reference, runs twice with the same bits (on
// the CPU with 1 and 2 threads), and in place where the op allows it. The
// device is the CPU, or with AICF_TEST_DEVICE=cuda the GPU.
//===----------------------------------------------------------------------===//

#include "aicf/Device.h"
#include "kernels/reference/Reference.h"
#include "lib/Base/Element.h"
#include "lib/Ops/KernelTable.h"
#include "unittests/Common/SharedOperands.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <random>
#include <set>

using namespace aicf;
using namespace aicf::test;

namespace {

const std::vector<KindRow> &kRows = allCallRows();

/// A tensor in memory and as reference values.
struct Operand {
  std::vector<uint8_t> bytes;
  reference::Tensor reference;
  TensorView view() { return {bytes.data(), reference.desc}; }
};

double load(const Operand &o, size_t i) {
  DType dtype = o.reference.desc.dtype;
  return loadElement(dtype, o.bytes.data() + i * sizeOf(dtype));
}

void store(Operand &o, size_t i, double value) {
  DType dtype = o.reference.desc.dtype;
  storeElement(dtype, o.bytes.data() + i * sizeOf(dtype), value);
}

/// Random values; second moments, rstd, steps and flags must not be negative.
Operand makeOperand(TensorDesc desc, std::mt19937 &random, bool isPositive) {
  Operand o;
  o.reference.desc = desc;
  if (desc.isAbsent)
    return o;
  o.bytes.resize(desc.spanBytes(), 0xcd);
  std::normal_distribution<double> normal;
  for (size_t i = 0; i < size_t(desc.elements()); ++i) {
    // Exact zeros too: relu_bwd's border.
    double value = random() % 7 == 0 ? 0 : normal(random);
    if (isPositive || !isFloat(desc.dtype))
      value = std::fabs(value) + 0.1;
    if (!isFloat(desc.dtype))
      value = double(int(value * 3));
    if (desc.dtype == DType::I64)
      value += 1;
    store(o, i, value);
    o.reference.values.push_back(load(o, i)); // as rounded
  }
  return o;
}

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

/// Second moments, what divides, and what multiplies a step.
bool isPositive(OpKind kind, std::string_view operand) {
  for (const char *name : {"v", "bc", "lr", "inv_scale", "rstd", "norm"})
    if (operand == name)
      return true;
  return kind == OpKind::Reciprocal;
}

/// Labels are classes, every fourth is to be ignored.
void makeLabels(Operand &labels, int64_t numClasses) {
  for (size_t i = 0; i < labels.reference.values.size(); ++i) {
    int64_t label = int64_t(labels.reference.values[i]) % numClasses;
    store(labels, i, i % 4 == 3 ? -100 : double(label));
    labels.reference.values[i] = load(labels, i);
  }
}

/// `sample` is what makeSample() gave for `row`. `allPositive`: an operand that
/// must not be negative may stand at another slot, too.
Case makeCase(const KindRow &row, Sample sample, uint32_t seed,
              bool allPositive = false) {
  OpKind kind = row.kind;
  std::mt19937 random(seed);
  Case c;
  c.attrs = sample.attrs;
  c.body = sample.body;
  for (size_t i = 0; i < sample.ins.size(); ++i) {
    std::string_view name = operandName(sample, i);
    Operand o = makeOperand(sample.ins[i], random,
                            allPositive || isPositive(kind, name));
    if (name == "labels") {
      const TensorDesc &logits = sample.in("logits");
      makeLabels(o, logits.dims[logits.rank - 1]);
    }
    // Keeps f16 gradients out of the subnormal numbers.
    if (name == "loss_scale" && !sample.ins[i].isAbsent) {
      store(o, 0, 1024);
      o.reference.values = {1024};
    }
    c.ins.push_back(o);
  }
  for (const TensorDesc &desc : sample.outs)
    c.outs.push_back(makeOperand(desc, random, false));
  std::vector<reference::Tensor> ins, outs;
  for (Operand &o : c.ins)
    ins.push_back(o.reference);
  for (Operand &o : c.outs)
    outs.push_back(o.reference);
  if (c.body)
    reference::run(*c.body, ins, outs);
  else
    reference::run(kind, ins, outs, c.attrs);
  for (size_t i = 0; i < outs.size(); ++i)
    c.outs[i].reference = outs[i];
  return c;
}

/// The device under test.
std::shared_ptr<Device> makeDevice(int numThreads = 1) {
  const char *name = std::getenv("AICF_TEST_DEVICE");
  if (!name || std::string_view(name) == "cpu")
    return createCPUDevice({numThreads});
  static StatusOr<std::shared_ptr<Device>> device = createCUDADevice();
  EXPECT_TRUE(device.ok()) << device.status().toString();
  return device.ok() ? *device : nullptr;
}

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
            std::string_view kid = "auto") {
  auto device = makeDevice(numThreads);
  OnDevice memory(*device, c);
  AICF_RETURN_IF_ERROR(memory.run(kind, kid));
  memory.fetch();
  return {};
}

/// Kernels of the device that take the case.
std::vector<const KernelRow *> kernelsTaking(OpKind kind, Case &c) {
  std::vector<const KernelRow *> rows;
  StatusOr<TypedBody> typed = typedBodyOf(c.sample(kind));
  if (!typed.ok())
    return rows;
  for (const KernelRow &row :
       kernelsFor(makeDevice()->kind(), typed->pattern()))
    if (row.accepts(*typed))
      rows.push_back(&row);
  return rows;
}

double toleranceOf(const KindRow &row, const KernelRow &kernel, DType dtype) {
  if (kernel.math == Math::TF32)
    return 1e-3;
  switch (dtype) {
  case DType::F64:
    return 1e-12;
  case DType::F16:
    return 4e-3;
  case DType::BF16:
    return 2e-2;
  default:
    return row.tolerance;
  }
}

double relativeError(const Operand &o, const std::vector<uint8_t> &bytes) {
  double difference = 0, norm = 0;
  Operand actual{bytes, o.reference};
  for (size_t i = 0; i < o.reference.values.size(); ++i) {
    difference += std::pow(load(actual, i) - o.reference.values[i], 2);
    norm += std::pow(o.reference.values[i], 2);
  }
  return std::sqrt(difference) / std::max(std::sqrt(norm), 1e-30);
}

/// The same call by its body.
Case withBody(OpKind kind, const Case &c) {
  if (c.body)
    return c;
  Case dense;
  dense.body = toCall(c.sample(kind)).body;
  for (auto [from, to] :
       {std::pair(&c.ins, &dense.ins), std::pair(&c.outs, &dense.outs)})
    for (const Operand &o : *from)
      if (!o.reference.desc.isAbsent)
        to->push_back(o);
  return dense;
}

class KernelTest : public testing::TestWithParam<size_t> {};

TEST_P(KernelTest, AgreesWithReferenceForEveryShape) {
  const KindRow &row = kRows[GetParam()];
  const std::pair<int64_t, int64_t> shapes[] = {
      {1, 1},    {1, 7},     {7, 1},    {3, 5},    {64, 16},
      {127, 33}, {128, 128}, {129, 65}, {300, 401}};
  size_t kernels = 0;
  for (DType dtype : {DType::F32, DType::F64, DType::F16, DType::BF16}) {
    if (!row.takes(dtype))
      continue;
    for (auto [m, n] : shapes) {
      const Case fresh =
          makeCase(row, makeSample(row, m, n, dtype), uint32_t(m * 1000 + n));
      Case c = fresh;
      for (const KernelRow *kernel : kernelsTaking(row.kind, c)) {
        ++kernels;
        c = fresh;
        Status status = call(row.kind, c, 1, kernel->kid);
        // A library may have nothing for a shape: such rows are by name only.
        if (status.code() == StatusCode::NotImplemented &&
            kernel->selection == Selection::Pinned)
          continue;
        ASSERT_TRUE(status.ok()) << status.toString();
        double tolerance = toleranceOf(row, *kernel, dtype);
        for (Operand &o : c.outs)
          EXPECT_LE(relativeError(o, o.bytes), tolerance)
              << row.name << " " << kernel->kid << " " << m << "x" << n;
        Case again = fresh;
        ASSERT_TRUE(call(row.kind, again, 2, kernel->kid).ok());
        for (size_t i = 0; i < c.outs.size(); ++i)
          EXPECT_EQ(c.outs[i].bytes, again.outs[i].bytes)
              << row.name << " " << kernel->kid << ": two runs differ";
      }
    }
  }
  // Calls of several primitives have kernels on CUDA only: the compiler does
  // not fuse elsewhere.
  if (kernels == 0) {
    EXPECT_EQ(makeDevice()->kind(), DeviceKind::CPU);
    GTEST_SKIP() << "no kernel on this device";
  }
}

/// Every tie of the ABI: the result written over the operand has the same bits.
TEST_P(KernelTest, WorksInPlace) {
  const KindRow &row = kRows[GetParam()];
  DType dtype = row.usualType();
  const Sample sample = makeSample(row, 65, 130, dtype);
  const Case fresh = makeCase(row, sample, 5);
  Case apart = withBody(row.kind, fresh);
  if (kernelsTaking(row.kind, apart).empty())
    GTEST_SKIP() << "no kernel on this device";
  ASSERT_TRUE(call(row.kind, apart, 2).ok());
  // A case without absent operands: ties are of what is there.
  const Case dense = withBody(row.kind, fresh);
  BodyFacts facts = factsOf(*dense.body);
  for (size_t result = 0; result < dense.outs.size(); ++result)
    for (uint32_t operand : facts.ties[result]) {
      if (dense.outs[result].reference.desc !=
          dense.ins[operand].reference.desc)
        continue;
      Case c = dense;
      auto device = makeDevice(2);
      OnDevice memory(*device, c);
      memory.outs[result] = memory.ins[operand];
      Status status = memory.run(row.kind);
      ASSERT_TRUE(status.ok()) << status.toString();
      EXPECT_EQ(memory.download(memory.ins[operand]), apart.outs[result].bytes)
          << row.name << " result " << result << " on operand " << operand;
    }
}

/// A case with results over operands: the bits must be those of `apart`.
/// `overwritten`: the operand for each result, or -1.
void expectSameInPlace(const KindRow &row, const Case &fresh, const Case &apart,
                       const std::vector<int> &overwritten,
                       const std::string &where) {
  Case c = fresh;
  auto device = makeDevice(2);
  OnDevice memory(*device, c);
  for (size_t r = 0; r < overwritten.size(); ++r)
    if (overwritten[r] >= 0)
      memory.outs[r] = memory.ins[size_t(overwritten[r])];
  Status status = memory.run(row.kind);
  ASSERT_TRUE(status.ok()) << status.toString();
  for (size_t r = 0; r < overwritten.size(); ++r)
    EXPECT_EQ(memory.download(memory.outs[r]), apart.outs[r].bytes)
        << where << ": result " << r << " on operand " << overwritten[r];
}

/// Two operands that are one value: the reference's values, and the same bits
/// where results overwrite operands, each alone and as many as can be at once.
TEST_P(KernelTest, MayReadOneValueTwice) {
  const KindRow &row = kRows[GetParam()];
  size_t ran = 0;
  for (const Sample &sample : samplesForSharing(row, row.usualType()))
    for (const SharedSample &shared : withSharedOperands(sample)) {
      const Case fresh = makeCase(row, shared.sample, 5, true);
      Case apart = fresh;
      std::vector<const KernelRow *> kernels = kernelsTaking(row.kind, apart);
      if (kernels.empty())
        continue;
      ++ran;
      std::string where = row.name + ", operands " +
                          std::to_string(shared.first) + " and " +
                          std::to_string(shared.second);
      ASSERT_TRUE(call(row.kind, apart, 2).ok()) << where;
      double tolerance = toleranceOf(row, *kernels.front(), row.usualType());
      for (Operand &o : apart.outs)
        EXPECT_LE(relativeError(o, o.bytes), 4 * tolerance) << where;
      BodyFacts facts = factsOf(*fresh.body);
      std::vector<int> all(fresh.outs.size(), -1);
      for (size_t r = 0; r < all.size(); ++r)
        for (uint32_t operand : facts.ties[r]) {
          if (fresh.outs[r].reference.desc != fresh.ins[operand].reference.desc)
            continue;
          std::vector<int> one(all.size(), -1);
          one[r] = int(operand);
          expectSameInPlace(row, fresh, apart, one, where);
          if (all[r] < 0 &&
              std::find(all.begin(), all.end(), int(operand)) == all.end())
            all[r] = int(operand);
        }
      expectSameInPlace(row, fresh, apart, all, where);
    }
  if (ran == 0)
    GTEST_SKIP() << "one primitive, or no kernel on this device";
}

/// A slot that reads a value of the body has no memory to read from.
TEST_P(KernelTest, RefusesOtherReadsInside) {
  const KindRow &row = kRows[GetParam()];
  size_t refused = 0;
  for (const Sample &sample : samplesForSharing(row, row.usualType()))
    for (const Body &body : withReadsInside(*sample.body)) {
      std::vector<TensorView> ins, outs;
      std::vector<uint8_t> memory(1 << 16);
      for (size_t i = 0; i < body.numOperands; ++i)
        ins.push_back({memory.data(), sample.ins[i]});
      for (const TensorDesc &desc : sample.outs)
        outs.push_back({memory.data(), desc});
      EXPECT_FALSE(resolve(*makeDevice(), {std::make_shared<Body>(body), ins,
                                           outs, "auto", TensorView()})
                       .ok())
          << row.name;
      ++refused;
    }
  if (refused == 0)
    GTEST_SKIP() << "one primitive, or its operands are the first's";
}

/// One by one on the device: the primitives of a body, each by the kernel that
/// is taken for it. Operands of all values of the body.
std::vector<Operand> runApart(const Case &c) {
  const Body &body = *c.body;
  std::vector<TensorDesc> ins, outs;
  for (const Operand &o : c.ins)
    ins.push_back(o.reference.desc);
  for (const Operand &o : c.outs)
    outs.push_back(o.reference.desc);
  StatusOr<std::vector<TensorDesc>> types = describeValues(body, ins, outs);
  EXPECT_TRUE(types.ok()) << types.status().toString();
  std::vector<Operand> values = c.ins;
  for (const BodyStep &step : body.steps) {
    Case one;
    one.attrs = step.attrs;
    for (int32_t value : step.operands) {
      one.ins.emplace_back();
      if (value == kAbsentValue)
        one.ins.back().reference.desc = TensorDesc::absent();
      else
        one.ins.back() = values[size_t(value)];
    }
    for (uint32_t i = 0; i < step.numResults(); ++i) {
      one.outs.emplace_back();
      one.outs.back().reference.desc = (*types)[values.size() + i];
      one.outs.back().bytes.resize(one.outs.back().reference.desc.spanBytes());
    }
    Status status = call(step.kind, one, 1);
    EXPECT_TRUE(status.ok()) << status.toString();
    values.insert(values.end(), one.outs.begin(), one.outs.end());
  }
  return values;
}

/// Values that are made element by element, from such values only: a tie says
/// that element i of a result needs only element i of the operand.
std::vector<bool> elementwiseValues(const Body &body) {
  std::vector<bool> is(body.numOperands, true);
  for (const BodyStep &step : body.steps) {
    const OpInfo &info = infoOf(step.kind);
    bool areOperands = true;
    for (int32_t value : step.operands)
      areOperands &= value == kAbsentValue || is[size_t(value)];
    for (uint32_t r = 0; r < step.numResults(); ++r) {
      bool isTied = step.kind == OpKind::Cast;
      for (size_t i = 0; i < info.numTies; ++i)
        isTied |= info.ties[i].result == r;
      is.push_back(areOperands && isTied);
    }
  }
  return is;
}

/// What is fused decides nothing: values inside a body are not rounded, but in
/// f32 and f64 there is nothing to round, and nothing is contracted
/// (docs/Rationale.md, "Numbers in a body").
TEST_P(KernelTest, HasTheBitsOfItsPrimitives) {
  const KindRow &row = kRows[GetParam()];
  size_t compared = 0;
  for (DType dtype : {DType::F32, DType::F64, DType::BF16}) {
    // What is 16 bits wide is rounded between primitives, unless a cast says
    // so.
    if (!row.takes(dtype) || (sizeOf(dtype) == 2 && !row.isMixed))
      continue;
    Sample sample = makeSample(row, 65, 130, dtype);
    if (!sample.body)
      GTEST_SKIP() << "one primitive";
    const Case fresh = makeCase(row, sample, 7);
    std::vector<bool> isElementwise = elementwiseValues(*fresh.body);
    if (std::none_of(fresh.body->results.begin(), fresh.body->results.end(),
                     [&](uint32_t value) { return isElementwise[value]; }))
      GTEST_SKIP() << "products and sums only";
    Case any = fresh;
    std::vector<const KernelRow *> all = kernelsTaking(row.kind, any);
    std::vector<Operand> values;
    if (!all.empty())
      values = runApart(fresh);
    for (const KernelRow *kernel : all) {
      Case c = fresh;
      ASSERT_TRUE(call(row.kind, c, 1, kernel->kid).ok());
      for (size_t r = 0; r < c.outs.size(); ++r) {
        uint32_t value = fresh.body->results[r];
        compared += isElementwise[value];
        if (isElementwise[value]) {
          EXPECT_EQ(c.outs[r].bytes, values[value].bytes)
              << kernel->kid << ", result " << r;
        }
      }
    }
  }
  if (compared == 0)
    GTEST_SKIP() << "no kernel on this device";
}

/// Moves the rows of dense bytes to where `desc` has them, or back; pads are
/// zeros.
std::vector<uint8_t> moveRows(const std::vector<uint8_t> &bytes,
                              const TensorDesc &from, const TensorDesc &to) {
  std::vector<uint8_t> moved(to.spanBytes());
  size_t element = sizeOf(to.dtype), width = size_t(to.width()) * element;
  for (size_t row = 0; row < size_t(to.rows()); ++row)
    std::copy_n(&bytes[row * size_t(from.pitch()) * element], width,
                &moved[row * size_t(to.pitch()) * element]);
  return moved;
}

/// The case with some of its tensors padded, all that can be or a random part.
Case withPads(const Case &fresh, uint32_t seed) {
  std::mt19937 random(seed);
  Case c = fresh;
  for (auto *operands : {&c.ins, &c.outs})
    for (Operand &o : *operands) {
      TensorDesc desc = o.reference.desc;
      desc.layout = Layout::Padded;
      if (desc.isAbsent || !isLegalLayout(desc) || (seed && random() % 2))
        continue;
      o.bytes = moveRows(o.bytes, o.reference.desc, desc);
      o.reference.desc = desc;
    }
  for (Operand &o : c.outs) // pads are the kernel's to write
    std::fill(o.bytes.begin(), o.bytes.end(), 0xff);
  return c;
}

/// The values of a result, and zeros in its pads.
void expectPads(const Operand &o, std::string_view kid, double tolerance) {
  const TensorDesc &desc = o.reference.desc;
  if (desc.isAbsent)
    return;
  std::vector<uint8_t> dense = moveRows(o.bytes, desc, desc.dense());
  EXPECT_LE(relativeError(o, dense), tolerance) << kid << desc.toString();
  std::vector<uint8_t> expected = moveRows(dense, desc.dense(), desc);
  auto number = [](const std::vector<uint8_t> &bytes, size_t i) {
    return bytes[2 * i] | bytes[2 * i + 1] << 8;
  };
  for (size_t i = 0; 2 * i < expected.size(); ++i) {
    int found = number(o.bytes, i); // -0 is a zero too
    ASSERT_TRUE(found == number(expected, i) || (found & 0x7fff) == 0)
        << kid << " leaves something in the pads of " << desc.toString();
  }
}

/// Any mix of dense and padded tensors that a row takes: the same values, and
/// zeros in the pads of the results.
TEST_P(KernelTest, TakesPaddedTensors) {
  const KindRow &row = kRows[GetParam()];
  const std::pair<int64_t, int64_t> shapes[] = {{3, 5}, {64, 16}, {128, 65}};
  size_t ran = 0, asked = 0;
  for (DType dtype : {DType::F16, DType::BF16})
    for (auto [m, n] : shapes)
      for (uint32_t seed = 0; row.takes(dtype) && seed < 4; ++seed) {
        Case fresh =
            withPads(makeCase(row, makeSample(row, m, n, dtype), 11), seed);
        StatusOr<TypedBody> typed = typedBodyOf(fresh.sample(row.kind));
        asked +=
            typed.ok() && !fresh.body && !typed->isDense() && typed->stored();
        for (const KernelRow *kernel : kernelsTaking(row.kind, fresh)) {
          Case c = fresh;
          Status status = call(row.kind, c, 2, kernel->kid);
          if (status.code() == StatusCode::NotImplemented &&
              kernel->selection == Selection::Pinned)
            continue;
          ASSERT_TRUE(status.ok()) << kernel->kid << ": " << status.toString();
          ran += !typed->isDense();
          for (Operand &o : c.outs)
            expectPads(o, kernel->kid, toleranceOf(row, *kernel, dtype));
        }
      }
  EXPECT_TRUE(ran > 0 || asked == 0);
  if (ran == 0)
    GTEST_SKIP() << "no kernel on this device, or none takes pads";
}

/// A kernel that gets less memory than it asked for is slower, not wrong: the
/// loader does not compare sizes.
TEST_P(KernelTest, KeepsToItsWorkspace) {
  const KindRow &row = kRows[GetParam()];
  constexpr size_t kRoom = size_t(1) << 20;
  PatternId pattern =
      typedBodyOf(makeSample(row, 3, 4, row.usualType()))->pattern();
  auto takesOne = [&](const KernelRow &kernel) {
    return kernel.pattern == pattern && kernel.workspaceCap != 0 &&
           kernel.provider == KernelProvider::Own;
  };
  Span<const KernelRow> all = kernelsOn(makeDevice()->kind());
  if (std::none_of(all.begin(), all.end(), takesOne))
    GTEST_SKIP() << "no kernel of ours with a workspace on this device";
  for (auto [m, n] : {std::pair<int64_t, int64_t>{300, 401}, {40000, 3}}) {
    const Case fresh = makeCase(row, makeSample(row, m, n, DType::F32), 3);
    Case c = fresh;
    for (const KernelRow *kernel : kernelsTaking(row.kind, c))
      for (int64_t bytes : {0, 4, 256}) {
        if (!takesOne(*kernel))
          continue;
        c = fresh;
        auto device = makeDevice();
        OnDevice memory(*device, c);
        void *room = memory.upload(std::vector<uint8_t>(kRoom, 0xa5));
        TensorView workspace;
        if (bytes)
          workspace = {room, TensorDesc(DType::I32, {bytes / 4})};
        Status status = memory.run(row.kind, kernel->kid, workspace);
        ASSERT_TRUE(status.ok()) << status.toString();
        memory.fetch();
        for (Operand &o : c.outs)
          EXPECT_LE(relativeError(o, o.bytes), row.tolerance)
              << kernel->kid << " with " << bytes << " bytes";
        std::vector<uint8_t> after = memory.download(
            {room, TensorDesc(DType::I32, {int64_t(kRoom / 4)})});
        after.erase(after.begin(), after.begin() + bytes);
        EXPECT_TRUE(std::all_of(after.begin(), after.end(),
                                [](uint8_t b) { return b == 0xa5; }))
            << kernel->kid << " writes beyond " << bytes << " bytes";
      }
  }
}

/// Every error code of op_call, from a legal call with one thing wrong.
TEST_P(KernelTest, RefusesWrongCalls) {
  const KindRow &row = kRows[GetParam()];
  const OpInfo &info = infoOf(row.kind);
  DType dtype = row.usualType();
  if (makeSample(row, 3, 5, dtype).body)
    GTEST_SKIP() << "op_call is of one primitive";
  Case c = makeCase(row, makeSample(row, 3, 5, dtype), 1);
  if (kernelsTaking(row.kind, c).empty())
    GTEST_SKIP() << "no kernel on this device";
  auto device = makeDevice();
  OnDevice memory(*device, c);
  std::vector<TensorView> ins = memory.ins, outs = memory.outs;
  auto *stream = &memory.stream;
  auto code = [&](std::vector<TensorView> i, std::vector<TensorView> o,
                  uint32_t schema, std::vector<uint8_t> attrs,
                  std::string_view kid = "auto") {
    Status status =
        opCall(*device, row.kind, i, o, schema, attrs, **stream, kid);
    EXPECT_NE(status.message().find(info.name), std::string::npos)
        << status.message();
    return status.code();
  };
  EXPECT_EQ(code(ins, outs, info.schema + 1, c.attrs), StatusCode::BadSchema);
  std::vector<uint8_t> longer = c.attrs;
  longer.push_back(0);
  EXPECT_EQ(code(ins, outs, info.schema, longer), StatusCode::BadAttrSize);
  EXPECT_EQ(code({}, outs, info.schema, c.attrs), StatusCode::InvalidArgument);
  EXPECT_EQ(code(ins, {}, info.schema, c.attrs), StatusCode::InvalidArgument);
  EXPECT_EQ(code(ins, outs, info.schema, c.attrs, "relu_f99_v0"),
            StatusCode::InvalidArgument);
  auto changed = [&](auto change) {
    std::vector<TensorView> views = outs; // the last that is there
    change(*std::find_if_not(views.rbegin(), views.rend(),
                             [](const TensorView &v) { return isAbsent(v); }));
    return code(ins, views, info.schema, c.attrs);
  };
  EXPECT_EQ(changed([](TensorView &v) { v = {nullptr, v.desc}; }),
            StatusCode::InvalidArgument);
  EXPECT_EQ(changed([](TensorView &v) { v = {v.dense<char>() + 1, v.desc}; }),
            StatusCode::Misaligned);
  EXPECT_EQ(changed([](TensorView &v) { v.desc.dims[v.desc.rank++] = 2; }),
            StatusCode::ShapeMismatch);
  EXPECT_EQ(changed([](TensorView &v) {
              v.desc.rank = 1;
              v.desc.dims[0] = 0;
            }),
            StatusCode::ShapeMismatch);
  DType wrong = isFloat(outs.back().desc.dtype) ? DType::I32 : DType::F64;
  if (row.kind == OpKind::Copy || row.kind == OpKind::CopySaved ||
      row.kind == OpKind::StepInc)
    wrong = DType::BF16;
  EXPECT_EQ(changed([&](TensorView &v) { v.desc.dtype = wrong; }),
            StatusCode::DTypeMismatch);
}

std::string rowName(const testing::TestParamInfo<size_t> &info) {
  std::string name = kRows[info.param].name;
  for (char &ch : name)
    if (!std::isalnum(static_cast<unsigned char>(ch)))
      ch = '_';
  return name;
}
INSTANTIATE_TEST_SUITE_P(All, KernelTest,
                         testing::Range<size_t>(0, kRows.size()), rowName);

TEST(Kernels, TableCoversEveryKind) {
  std::set<OpKind> kinds;
  for (const KindRow &row : kRows)
    kinds.insert(row.kind);
  for (uint16_t kind = 0; kind < kNumOpKinds; ++kind)
    EXPECT_EQ(kinds.count(OpKind(kind)), isKnown(OpKind(kind))) << kind;
}

TEST(Kernels, TableCoversEveryPattern) {
  std::set<PatternId> patterns;
  for (const KindRow &row : kRows) {
    DType dtype = row.usualType();
    patterns.insert(typedBodyOf(makeSample(row, 3, 4, dtype))->pattern());
  }
  for (size_t i = 0; i < allPatterns().size(); ++i)
    EXPECT_TRUE(patterns.count(PatternId(kNumOpKinds + i)))
        << allPatterns()[i].name;
}

TEST(Kernels, CastsRoundToNearest) {
  for (const KernelRow &row :
       kernelsFor(makeDevice()->kind(), patterns::Cast)) {
    std::mt19937 random(3);
    Case c;
    c.ins.push_back(makeOperand(TensorDesc(row.in0, {129, 8}), random, false));
    c.outs.push_back(
        makeOperand(TensorDesc(row.out0, {129, 8}), random, false));
    ASSERT_TRUE(call(OpKind::Cast, c, 2, row.kid).ok()) << row.kid;
    for (size_t i = 0; i < 129 * 8; ++i) {
      Operand expected = c.outs[0];
      store(expected, i, c.ins[0].reference.values[i]);
      ASSERT_EQ(load(c.outs[0], i), load(expected, i)) << row.kid << " " << i;
    }
  }
}

TEST(Kernels, NonFiniteValues) {
  auto device = createCPUDevice({2});
  auto stream = device->createStream();
  float x[3] = {NAN, -INFINITY, INFINITY}, y[3];
  TensorDesc desc(DType::F32, {3});
  TensorView in{x, desc}, out{y, desc};
  ASSERT_TRUE(opCall(*device, OpKind::Relu, {in}, {out}, 0, {}, **stream).ok());
  EXPECT_TRUE(std::isnan(y[0]));
  EXPECT_EQ(y[1], 0);
  EXPECT_EQ(y[2], INFINITY);
  int32_t ok = 7;
  TensorView flag{&ok, TensorDesc(DType::I32, {})};
  ASSERT_TRUE(
      opCall(*device, OpKind::AllFinite, {in}, {flag}, 0, {}, **stream).ok());
  EXPECT_EQ(ok, 0);
  x[0] = x[1] = x[2] = 1;
  ASSERT_TRUE(
      opCall(*device, OpKind::AllFinite, {in}, {flag}, 0, {}, **stream).ok());
  EXPECT_EQ(ok, 1);
}

/// The scale comes back from wherever it was, and 1/scale is finite.
TEST(Kernels, LossScaleStaysInRange) {
  struct Row {
    float scale;
    int32_t ok;
    float expected;
  };
  const Row rows[] = {{0x1p-24f, 0, 0x1p-24f}, {0x1p-23f, 0, 0x1p-24f},
                      {0, 1, 0x1p-24f},        {-4, 0, 0x1p-24f},
                      {NAN, 0, 0x1p-24f},      {NAN, 1, 0x1p-24f},
                      {INFINITY, 0, 0x1p126f}, {INFINITY, 1, 0x1p126f},
                      {0x1p126f, 1, 0x1p126f}, {65536, 0, 32768},
                      {65536, 1, 131072},      {0x1p-24f, 1, 0x1p-23f}};
  for (const Row &row : rows) {
    Case c;
    for (double v : {double(row.scale), 0.0, double(row.ok)}) {
      DType dtype = c.ins.empty() ? DType::F32 : DType::I32;
      Operand o;
      o.reference.desc = TensorDesc(dtype, {});
      o.bytes.resize(4);
      store(o, 0, v);
      o.reference.values = {v};
      c.ins.push_back(o);
    }
    c.outs = {c.ins[0], c.ins[1]};
    c.attrs = encodeAttrs(LossScaleUpdateAttrs{2, 0.5, 1});
    ASSERT_TRUE(call(OpKind::LossScaleUpdate, c, 1).ok());
    EXPECT_EQ(load(c.outs[0], 0), row.expected) << row.scale << " " << row.ok;
    std::vector<reference::Tensor> ins,
        outs = {c.outs[0].reference, c.outs[1].reference};
    for (Operand &o : c.ins)
      ins.push_back(o.reference);
    reference::run(OpKind::LossScaleUpdate, ins, outs, c.attrs);
    EXPECT_EQ(outs[0].values[0], row.expected) << row.scale << " " << row.ok;
  }
}

/// A counter stays at the largest number of its type: it does not wrap.
TEST(Kernels, StepIncSaturates) {
  auto device = makeDevice();
  auto next = [&](auto start, int calls) {
    using Int = decltype(start);
    Case c;
    Operand o;
    o.reference.desc =
        TensorDesc(sizeof(Int) == 4 ? DType::I32 : DType::I64, {});
    o.bytes.resize(sizeof(Int));
    std::memcpy(o.bytes.data(), &start, sizeof(Int));
    Operand ok;
    ok.reference.desc = TensorDesc::absent();
    c.outs = {o};
    c.ins = {o, ok};
    for (int i = 0; i < calls; ++i) {
      EXPECT_TRUE(call(OpKind::StepInc, c, 1).ok());
      c.ins[0].bytes = c.outs[0].bytes;
    }
    std::memcpy(&start, c.outs[0].bytes.data(), sizeof(Int));
    return start;
  };
  EXPECT_EQ(next(INT32_MAX - 1, 1), INT32_MAX);
  EXPECT_EQ(next(INT32_MAX - 1, 3), INT32_MAX);
  EXPECT_EQ(next(INT64_MAX - 1, 1), INT64_MAX);
  EXPECT_EQ(next(INT64_MAX, 2), INT64_MAX);
  EXPECT_EQ(next(int32_t(-1), 1), 0);
}

/// 0.25 * (3e38 - -3e38) is 1.5e38: no reason to overflow.
TEST(Kernels, MseGradDoesNotOverflowEarly) {
  size_t kernels = 0;
  for (const KindRow &row : kRows) {
    Sample sample = makeSample(row, 1, 4, DType::F32);
    PatternId pattern = typedBodyOf(sample)->pattern();
    if (pattern != patterns::MseGrad && pattern != patterns::MseLossGrad)
      continue;
    Case fresh = withBody(row.kind, makeCase(row, sample, 1));
    for (Operand &o : fresh.ins)
      for (size_t i = 0; i < size_t(o.reference.desc.elements()); ++i)
        store(o, i, &o == &fresh.ins[0] ? 3e38 : -3e38);
    auto body = std::make_shared<Body>(*fresh.body);
    body->steps.back().attrs = encodeAttrs(MseGradAttrs{0.25});
    fresh.body = body;
    if (fresh.ins.size() > 2) // a loss scale
      store(fresh.ins[2], 0, 1);
    for (const KernelRow *kernel : kernelsTaking(row.kind, fresh)) {
      Case c = fresh;
      Status status = call(row.kind, c, 1, kernel->kid);
      ASSERT_TRUE(status.ok()) << status.toString();
      ++kernels;
      for (size_t i = 0; i < 4; ++i)
        EXPECT_NEAR(load(c.outs.back(), i), 1.5e38, 1e32) << kernel->kid;
    }
  }
  EXPECT_GT(kernels, 0u);
}

/// What PyTorch does: a mean over no row is NaN, rows that are ignored have no
/// gradient. A label that is not a class must not read beyond the logits.
TEST(Kernels, CrossEntropyOfLabelsThatAreNotClasses) {
  const KindRow &loss = sampleCallRow("softmax_cross_entropy"),
                &grad = sampleCallRow("softmax_cross_entropy_grad");
  struct Row {
    std::vector<int32_t> labels;
    bool isLossFinite;
  };
  const Row rows[] = {{{1, 0, 2}, true},          {{1, -100, -100}, true},
                      {{1, 9, 2}, false},         {{1, -1, 2}, false},
                      {{INT32_MAX, 0, 1}, false}, {{0, 1, INT32_MIN}, false},
                      {{-100, -100, -100}, false}};
  for (const Row &row : rows)
    for (const KindRow *kind : {&loss, &grad})
      // A warp's row, and a block's.
      for (int64_t n : {9, 1500}) {
        Case c = makeCase(*kind, makeSample(*kind, 3, n - 8, DType::F32), 1);
        std::vector<int32_t> labels = row.labels;
        for (int32_t &label : labels)
          label = label == 9 ? int32_t(n) : label; // the first that is none
        std::memcpy(c.ins[1].bytes.data(), labels.data(), 12);
        ASSERT_TRUE(call(kind->kind, c, 1).ok());
        if (kind == &loss) {
          EXPECT_EQ(std::isfinite(load(c.outs[0], 0)), row.isLossFinite);
          continue;
        }
        for (int64_t r = 0; r < 3; ++r)
          for (int64_t j = 0; j < n; ++j) {
            double d = load(c.outs[0], size_t(r * n + j));
            bool isClass = labels[size_t(r)] >= 0 && labels[size_t(r)] < n;
            if (labels[size_t(r)] == -100)
              ASSERT_EQ(d, 0) << r << " " << j;
            else
              ASSERT_EQ(std::isfinite(d), isClass) << r << " " << j;
          }
      }
}

/// Large equal logits have a loss of log 2 and a gradient that sums to 0, and a
/// masked class (-inf) counts for nothing.
void checkLargeAndMaskedLogits(int64_t width) {
  const KindRow &loss = sampleCallRow("softmax_cross_entropy"),
                &grad = sampleCallRow("softmax_cross_entropy_grad");
  for (const KindRow *kind : {&loss, &grad}) {
    Case c = makeCase(*kind, makeSample(*kind, 2, width - 8, DType::F32), 1);
    const size_t n = size_t(c.ins[0].reference.desc.dims[1]);
    c.attrs = encodeAttrs(SoftmaxCrossEntropyAttrs{0, -100});
    for (size_t r = 0; r < 2; ++r)
      for (size_t j = 0; j < n; ++j) {
        double logit = j < 2 ? 1e8 : -INFINITY;
        store(c.ins[0], r * n + j, logit);
        c.ins[0].reference.values[r * n + j] = logit;
      }
    for (size_t r = 0; r < 2; ++r) {
      store(c.ins[1], r, double(r));
      c.ins[1].reference.values[r] = double(r);
    }
    ASSERT_TRUE(call(kind->kind, c, 1).ok());
    std::vector<reference::Tensor> ins, outs = {c.outs[0].reference};
    for (Operand &o : c.ins)
      ins.push_back(o.reference);
    reference::run(kind->kind, ins, outs, c.attrs);
    if (kind == &loss) {
      EXPECT_NEAR(load(c.outs[0], 0), std::log(2.0), 1e-6);
      EXPECT_NEAR(outs[0].values[0], std::log(2.0), 1e-12);
      continue;
    }
    double scale =
        c.ins[2].reference.desc.isAbsent ? 1 : c.ins[2].reference.values[0];
    for (size_t i = 0; i < 2 * n; ++i) {
      double expected = i % n > 1 ? 0 : i % n == i / n ? -0.25 : 0.25;
      EXPECT_NEAR(load(c.outs[0], i), scale * expected, scale * 1e-6) << i;
      EXPECT_NEAR(outs[0].values[i], scale * expected, scale * 1e-12) << i;
    }
  }
}

TEST(Kernels, CrossEntropyOfLargeAndMaskedLogits) {
  checkLargeAndMaskedLogits(9);    // a warp's row on CUDA
  checkLargeAndMaskedLogits(2000); // a block's
}

/// The slope of the tanh is infinite where tanh' is 0. Without tanh infinity
/// times a density of 0 is NaN, as the record says.
TEST(Kernels, GeluBwdOfLargeNumbers) {
  const double large[] = {1e20, -1e20, INFINITY, -INFINITY};
  for (const char *name : {"gelu_bwd tanh", "gelu_bwd erf"}) {
    const KindRow &kind = sampleCallRow(name);
    Case c = makeCase(kind, makeSample(kind, 1, 4, DType::F32), 1);
    bool approximate = std::string_view(name) == "gelu_bwd tanh";
    std::vector<reference::Tensor> ins, outs = {c.outs[0].reference};
    for (Operand &o : c.ins) {
      for (size_t i = 0; i < 4; ++i) {
        store(o, i, &o == &c.ins[0] ? 1 : large[i]);
        o.reference.values[i] = load(o, i);
      }
      ins.push_back(o.reference);
    }
    ASSERT_TRUE(call(kind.kind, c, 1).ok());
    reference::run(kind.kind, ins, outs, c.attrs);
    for (size_t i = 0; i < 4; ++i) {
      double expected = !approximate && i > 1 ? NAN : i % 2 == 0 ? 1 : 0;
      for (double actual : {load(c.outs[0], i), outs[0].values[i]})
        EXPECT_TRUE(actual == expected ||
                    (std::isnan(actual) && std::isnan(expected)))
            << name << " of " << large[i] << " is " << actual;
    }
  }
}

Operand operandOf(DType dtype, std::vector<int64_t> shape,
                  const std::vector<double> &values) {
  Operand o;
  o.reference.desc = TensorDesc(dtype, shape);
  o.reference.values = values;
  o.bytes.resize(o.reference.desc.spanBytes());
  for (size_t i = 0; i < values.size(); ++i)
    store(o, i, values[i]);
  return o;
}

/// The first result of a call, and that the reference has the same.
std::vector<double> resultOf(OpKind kind, Case c) {
  EXPECT_TRUE(call(kind, c, 1).ok());
  std::vector<reference::Tensor> ins, outs;
  for (Operand &o : c.ins)
    ins.push_back(o.reference);
  for (Operand &o : c.outs)
    outs.push_back(o.reference);
  reference::run(kind, ins, outs, c.attrs);
  std::vector<double> values;
  for (size_t i = 0; i < c.outs[0].reference.values.size(); ++i) {
    values.push_back(load(c.outs[0], i));
    double expected = outs[0].values[i];
    EXPECT_TRUE((std::isnan(expected) && std::isnan(values[i])) ||
                expected == values[i] ||
                std::fabs(expected - values[i]) <= 1e-5 * std::fabs(expected))
        << nameOf(kind) << " " << i << ": " << values[i] << ", " << expected;
  }
  return values;
}

/// Known answers of Random123 for Philox4x32-10: what is kept follows from
/// them.
TEST(Kernels, DropoutDrawsPhilox) {
  struct Answer {
    int64_t step, seed;
    uint32_t words[4];
  };
  const Answer answers[] = {
      {0, 0, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
  };
  for (const Answer &answer : answers)
    for (double p : {0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9}) {
      Case c;
      c.ins = {operandOf(DType::F32, {4}, {1, 1, 1, 1}),
               operandOf(DType::I64, {}, {double(answer.step)})};
      c.outs = {operandOf(DType::F32, {4}, {0, 0, 0, 0})};
      c.attrs = encodeAttrs(DropoutAttrs{p, answer.seed});
      std::vector<double> y = resultOf(OpKind::Dropout, c);
      for (size_t i = 0; i < 4; ++i)
        EXPECT_EQ(y[i] != 0, answer.words[i] >= p * 0x1p32) << p << " " << i;
    }
}

/// As many as p says are dropped, others by every step and seed, the rest
/// scaled so that the mean stays.
TEST(Kernels, DropoutIsFair) {
  const size_t n = 20000;
  std::vector<std::vector<double>> masks;
  for (auto [step, seed] : {std::pair(1, 1), {2, 1}, {1, 2}, {-1, 1}}) {
    Case c;
    c.ins = {operandOf(DType::F32, {int64_t(n)}, std::vector<double>(n, 1)),
             operandOf(DType::I32, {}, {double(step)})};
    c.outs = {operandOf(DType::F32, {int64_t(n)}, std::vector<double>(n))};
    c.attrs = encodeAttrs(DropoutAttrs{0.25, seed});
    std::vector<double> y = resultOf(OpKind::Dropout, c);
    double kept = 0;
    for (double value : y)
      kept += value != 0;
    EXPECT_NEAR(kept / double(n), 0.75, 0.015); // 5 standard deviations
    for (const std::vector<double> &other : masks) {
      double same = 0;
      for (size_t i = 0; i < n; ++i)
        same += (y[i] != 0) == (other[i] != 0);
      EXPECT_NEAR(same / double(n), 0.75 * 0.75 + 0.25 * 0.25, 0.02);
    }
    masks.push_back(y);
  }
  Case all;
  all.ins = {operandOf(DType::F32, {3}, {1, -2, NAN}),
             operandOf(DType::I32, {}, {9})};
  all.outs = {operandOf(DType::F32, {3}, {0, 0, 0})};
  all.attrs = encodeAttrs(DropoutAttrs{0, 3});
  std::vector<double> y = resultOf(OpKind::Dropout, all);
  EXPECT_EQ(y[0], 1);
  EXPECT_EQ(y[1], -2);
  EXPECT_TRUE(std::isnan(y[2]));
}

/// The first of equals; NaN is the largest; in rows of every length.
TEST(Kernels, ArgmaxOfEqualsAndNaN) {
  for (size_t n : {5, 70, 3000}) {
    std::vector<double> x(4 * n, -INFINITY);
    x[1] = x[3] = 7;
    x[n + 2] = 1;
    x[n + 3] = x[n + 4] = NAN;
    x[2 * n + n - 1] = -3;
    Case c;
    c.ins = {operandOf(DType::F32, {4, int64_t(n)}, x)};
    c.outs = {operandOf(DType::I32, {4}, {9, 9, 9, 9})};
    EXPECT_EQ(resultOf(OpKind::Argmax, c),
              (std::vector<double>{1, 3, double(n - 1), 0}));
  }
}

TEST(Kernels, SoftmaxOfLargeAndMaskedElements) {
  for (size_t n : {4, 40, 2000}) {
    std::vector<double> x(2 * n, -INFINITY);
    x[0] = x[1] = 1e30; // one half each
    x[n] = x[n + 1] = x[n + 2] = x[n + 3] = -1e30;
    Case c;
    c.ins = {operandOf(DType::F32, {2, int64_t(n)}, x)};
    c.outs = {
        operandOf(DType::F32, {2, int64_t(n)}, std::vector<double>(2 * n, 9))};
    std::vector<double> y = resultOf(OpKind::Softmax, c);
    for (size_t i = 0; i < 2 * n; ++i)
      EXPECT_NEAR(y[i], i < 2 ? 0.5 : i >= n && i < n + 4 ? 0.25 : 0, 1e-6);
  }
}

/// Of sure and right answers nothing, of sure and wrong ones the logit.
TEST(Kernels, BceOfLargeLogits) {
  Case c;
  c.ins = {operandOf(DType::F32, {4}, {1e4, -1e4, 1e4, -1e4}),
           operandOf(DType::F32, {4}, {1, 0, 0, 1})};
  c.outs = {operandOf(DType::F32, {}, {0})};
  EXPECT_EQ(resultOf(OpKind::BceWithLogits, c)[0], 5e3);
  c.outs = {operandOf(DType::F32, {4}, {9, 9, 9, 9})};
  c.attrs = encodeAttrs(BceWithLogitsGradAttrs{1});
  c.ins.push_back(Operand());
  c.ins[2].reference.desc = TensorDesc::absent();
  EXPECT_EQ(resultOf(OpKind::BceWithLogitsGrad, c),
            (std::vector<double>{0, 0, 1, -1}));
}

/// A difference of 0 has no direction, NaN has none either and says so.
TEST(Kernels, SignsOfZeroAndNaN) {
  Operand none;
  none.reference.desc = TensorDesc::absent();
  Case l1;
  l1.ins = {operandOf(DType::F32, {4}, {2, 1, 0, NAN}),
            operandOf(DType::F32, {4}, {1, 1, 1, 1}), none};
  l1.outs = {operandOf(DType::F32, {4}, {9, 9, 9, 9})};
  l1.attrs = encodeAttrs(L1GradAttrs{0.5});
  std::vector<double> d = resultOf(OpKind::L1Grad, l1);
  EXPECT_EQ(std::vector<double>(d.begin(), d.begin() + 3),
            (std::vector<double>{0.5, 0, -0.5}));
  EXPECT_TRUE(std::isnan(d[3]));
  Case lion;
  Operand zero = operandOf(DType::F32, {4}, {0, 0, 0, 0});
  lion.ins = {operandOf(DType::F32, {4}, {1, 1, 1, 1}),
              operandOf(DType::F32, {4}, {3, 0, -1e-30, NAN}),
              zero,
              operandOf(DType::F32, {}, {0.25}),
              none,
              none};
  lion.outs = {zero, zero};
  lion.attrs = encodeAttrs(LionStepAttrs{0.9, 0.99, 0});
  std::vector<double> p = resultOf(OpKind::LionStep, lion);
  EXPECT_EQ(std::vector<double>(p.begin(), p.begin() + 3),
            (std::vector<double>{0.75, 1, 1.25}));
  EXPECT_TRUE(std::isnan(p[3]));
}

/// Below the limit gradients stay what they are; NaN stays NaN.
TEST(Kernels, ClipFactorAtTheLimit) {
  auto factor = [](double norm, double inverse, double most) {
    Case c;
    c.ins = {operandOf(DType::F32, {}, {norm}),
             operandOf(DType::F32, {}, {inverse})};
    c.outs = {operandOf(DType::F32, {}, {9})};
    c.attrs = encodeAttrs(ClipFactorAttrs{most});
    return resultOf(OpKind::ClipFactor, c)[0];
  };
  EXPECT_EQ(factor(0.5, 1, 1), 1);
  EXPECT_EQ(factor(0, 0.125, 1), 0.125);
  EXPECT_NEAR(factor(4, 1, 1), 0.25, 1e-6);
  EXPECT_NEAR(factor(64, 0.125, 2), 0.125 * 0.25, 1e-6);
  EXPECT_EQ(factor(INFINITY, 1, 1), 0);
  EXPECT_TRUE(std::isnan(factor(NAN, 1, 1)));
}

/// More operands than one launch takes, with every size of workspace; calls
/// check(result, bytes of workspace).
template <typename Check>
void runOnManyOperands(OpKind kind, Operand result,
                       const std::vector<double> &third, Check check) {
  for (int64_t bytes : {0, 4, 8, 16, 256, 8192}) {
    Case c;
    for (double last : third)
      c.ins.push_back(operandOf(DType::F32, {3}, {1, 1, last}));
    c.outs.push_back(result);
    auto device = makeDevice();
    OnDevice memory(*device, c);
    TensorView workspace;
    if (bytes)
      workspace = {memory.upload(std::vector<uint8_t>(size_t(bytes))),
                   TensorDesc(DType::I32, {bytes / 4})};
    Status status = memory.run(kind, "auto", workspace);
    ASSERT_TRUE(status.ok()) << status.toString();
    memory.fetch();
    check(load(c.outs[0], 0), bytes);
  }
}

TEST(Kernels, AllFiniteOfManyOperands) {
  for (int bad : {-1, 0, 299}) {
    std::vector<double> third(300, 1);
    if (bad >= 0)
      third[size_t(bad)] = INFINITY;
    runOnManyOperands(OpKind::AllFinite, operandOf(DType::I32, {}, {9}), third,
                      [&](double ok, int64_t bytes) {
                        EXPECT_EQ(ok, bad < 0) << bytes << " bytes, " << bad;
                      });
  }
}

TEST(Kernels, GlobalNormOfManyOperands) {
  std::vector<double> third(600, 1);
  third[300] = 3;  // 9
  third[599] = -5; // 25
  runOnManyOperands(OpKind::GlobalNorm, operandOf(DType::F32, {}, {9}), third,
                    [&](double norm, int64_t bytes) {
                      EXPECT_NEAR(norm, std::sqrt(1798.0 + 9 + 25), 1e-5)
                          << bytes << " bytes";
                    });
}

/// Squares that f32 does not hold.
TEST(Kernels, GlobalNormOfLargeAndSmallNumbers) {
  for (double size : {1e30, 1e-30}) {
    Case c;
    c.ins = {operandOf(DType::F32, {2}, {3 * size, 0}),
             operandOf(DType::F32, {1}, {-4 * size})};
    c.outs = {operandOf(DType::F32, {}, {9})};
    EXPECT_NEAR(resultOf(OpKind::GlobalNorm, c)[0] / size, 5, 1e-5);
  }
}

TEST(Kernels, RefusesIllegalAliasing) {
  auto device = createCPUDevice({1});
  auto stream = device->createStream();
  std::vector<float> m(64);
  TensorDesc desc(DType::F32, {4, 4});
  TensorView a{m.data(), desc}, shifted{m.data() + 4, desc};
  auto attrs = encodeAttrs(GemmAttrs{0, 0});
  EXPECT_EQ(
      opCall(*device, OpKind::Gemm, {a, a}, {a}, 0, attrs, **stream).code(),
      StatusCode::InvalidArgument);
  EXPECT_EQ(
      opCall(*device, OpKind::Relu, {a}, {shifted}, 0, {}, **stream).code(),
      StatusCode::InvalidArgument);
}

TEST(Kernels, RefusesBadWorkspaces) {
  auto device = createCPUDevice({1});
  auto stream = device->createStream();
  alignas(kTensorAlignment) float m[256] = {};
  TensorDesc desc(DType::F32, {4});
  TensorView in{m, desc}, out{m + 64, desc};
  auto code = [&](float *workspace) {
    return opCall(*device, OpKind::Relu, {in}, {out}, 0, {}, **stream, "auto",
                  {workspace, desc})
        .code();
  };
  EXPECT_EQ(code(m + 128), StatusCode::Ok);
  EXPECT_EQ(code(m + 129), StatusCode::Misaligned);
  EXPECT_EQ(code(m), StatusCode::InvalidArgument) << "operand 0";
  EXPECT_EQ(code(m + 64), StatusCode::InvalidArgument) << "result 0";
}

TEST(Graphs, CaptureUserCalls) {
  auto device = createCPUDevice({1});
  auto stream = device->createStream();
  ASSERT_TRUE(stream.ok());
  float x = -3, y = 9;
  TensorDesc scalar(DType::F32, {});
  TensorView in{&x, scalar}, out{&y, scalar};
  ASSERT_TRUE((*stream)->beginCapture().ok());
  EXPECT_EQ((*stream)->beginCapture().code(), StatusCode::FailedState);
  ASSERT_TRUE(opCall(*device, OpKind::Relu, {in}, {out}, 0, {}, **stream).ok());
  EXPECT_EQ(y, 9) << "captured, not run";
  EXPECT_EQ((*stream)->synchronize().code(), StatusCode::FailedState);
  auto graph = (*stream)->endCapture();
  ASSERT_TRUE(graph.ok());
  EXPECT_EQ((*stream)->endCapture().status().code(), StatusCode::FailedState);
  EXPECT_EQ((*graph)->numNodes(), 1u);
  ASSERT_TRUE((*stream)->launch(**graph).ok());
  EXPECT_EQ(y, 0);
  (*graph).reset();
  (*graph).reset();
  EXPECT_EQ(graph->get(), nullptr);
}

} // namespace
