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

#include "aicf/Runtime/Device.h"
#include "aicf/Support/Element.h"
#include "kernels/reference/Reference.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>
#include <set>

using namespace aicf;

namespace {

/// One call without data. Float operands are described as F32 here and become
/// the dtype under test.
struct Sample {
  std::vector<TensorDesc> ins, outs;
  std::vector<uint8_t> attrs;
};

struct KindRow {
  const char *name;
  OpKind kind;
  /// Makes the call for a leading size m and a width n.
  std::function<Sample(int64_t m, int64_t n)> make;
  /// Relative error ||a-ref||/||ref|| allowed in f32; other types: toleranceOf.
  double tolerance = 1e-5;
  /// Operands described as F16 become the 16-bit type under test, those
  /// described as F32 stay.
  bool isMixed = false;
};

TensorDesc f(std::vector<int64_t> shape) { return {DType::F32, shape}; }
TensorDesc half(std::vector<int64_t> shape) { return {DType::F16, shape}; }
TensorDesc i32() { return {DType::I32, {}}; }

template <typename T> std::vector<uint8_t> blob(T attrs) {
  return encodeAttrs(attrs);
}

Sample gemm(int64_t m, int64_t n, int transA, int transB) {
  int64_t k = (m + n) / 2 + 1;
  return {{transA ? f({k, m}) : f({m, k}), transB ? f({n, k}) : f({k, n})},
          {f({m, n})},
          blob(GemmAttrs{transA, transB})};
}

Sample optimizer(OpKind kind, int64_t m, int64_t n, bool hasMoment,
                 bool hasOptional) {
  TensorDesc p = f({m, n});
  Sample s;
  if (kind == OpKind::AdamStep) {
    s = {{p, p, p, p, f({2}), f({})},
         {p, p, p},
         blob(AdamStepAttrs{0.9, 0.999, 1e-8, 0.01})};
  } else {
    s = {{p, p, f({})}, {p}, blob(SgdStepAttrs{hasMoment ? 0.9 : 0, 0.1, 0})};
    if (hasMoment) {
      s.ins.push_back(p);
      s.outs.push_back(p);
      s.attrs = blob(SgdStepAttrs{0.9, 0.1, 1});
    }
  }
  if (hasOptional) {
    s.ins.push_back(f({}));
    s.ins.push_back(i32());
  }
  return s;
}

/// A multi-tensor update of three parameters of different shapes.
Sample update(OpKind kind, int64_t m, int64_t n, bool hasOptional,
              bool isMixed) {
  const TensorDesc shapes[3] = {f({m, n}), f({n}), f({3, m, n})};
  Sample s;
  bool isAdam = kind == OpKind::AdamUpdate;
  size_t states = isAdam ? 2 : kind == OpKind::MomentumUpdate ? 1 : 0;
  for (const TensorDesc &p : shapes) {
    TensorDesc g = p;
    if (isMixed)
      g.dtype = DType::F16;
    s.ins.insert(s.ins.end(), {p, g});
    s.ins.insert(s.ins.end(), states, p);
    s.outs.insert(s.outs.end(), 1 + states, p);
  }
  if (isAdam)
    s.ins.push_back(f({2}));
  s.ins.push_back(f({}));
  if (hasOptional)
    s.ins.insert(s.ins.end(), {f({}), i32()});
  if (isMixed)
    for (TensorDesc p : shapes) {
      p.dtype = DType::F16;
      s.outs.push_back(p);
    }
  s.attrs = isAdam   ? blob(AdamUpdateAttrs{0.9, 0.999, 1e-8, 0.01, 3})
            : states ? blob(MomentumUpdateAttrs{0.9, 0.1, 1, 3})
                     : blob(SgdUpdateAttrs{0.1, 3});
  return s;
}

template <typename Attrs> Sample fusedGemm(int64_t m, int64_t n, Attrs attrs) {
  Sample s = gemm(m, n, attrs.transA, attrs.transB);
  s.attrs = blob(attrs);
  return s;
}
Sample gemmBias(int64_t m, int64_t n, int transA, int transB, int relu) {
  Sample s = fusedGemm(m, n, GemmBiasAttrs{transA, transB, relu});
  s.ins.push_back(f({n}));
  return s;
}
Sample gemmReluBwd(int64_t m, int64_t n, int transA, int transB) {
  Sample s = fusedGemm(m, n, GemmReluBwdAttrs{transA, transB});
  s.ins.push_back(f({m, n}));
  return s;
}
Sample gemmReduce(int64_t m, int64_t n, int transA, int transB) {
  Sample s = fusedGemm(m, n, GemmReduceAttrs{transA, transB});
  s.outs.push_back(f({m}));
  return s;
}

const KindRow kRows[] = {
    {"gemm NN", OpKind::Gemm, [](auto m, auto n) { return gemm(m, n, 0, 0); }},
    {"gemm NT", OpKind::Gemm, [](auto m, auto n) { return gemm(m, n, 0, 1); }},
    {"gemm TN", OpKind::Gemm, [](auto m, auto n) { return gemm(m, n, 1, 0); }},
    {"gemm TT", OpKind::Gemm, [](auto m, auto n) { return gemm(m, n, 1, 1); }},
    {"bias_add last", OpKind::BiasAdd,
     [](auto m, auto n) {
       return Sample{{f({m, n}), f({n})}, {f({m, n})}, blob(BiasAddAttrs{-1})};
     }},
    {"bias_add first", OpKind::BiasAdd,
     [](auto m, auto n) {
       return Sample{{f({m, n}), f({m})}, {f({m, n})}, blob(BiasAddAttrs{0})};
     }},
    {"bias_add middle", OpKind::BiasAdd,
     [](auto m, auto n) {
       return Sample{
           {f({2, m, n}), f({m})}, {f({2, m, n})}, blob(BiasAddAttrs{1})};
     }},
    {"relu", OpKind::Relu,
     [](auto m, auto n) { return Sample{{f({m, n})}, {f({m, n})}, {}}; }},
    {"relu_bwd", OpKind::ReluBwd,
     [](auto m, auto n) {
       return Sample{{f({m, n}), f({m, n})}, {f({m, n})}, {}};
     }},
    {"add", OpKind::Add,
     [](auto m, auto n) {
       return Sample{{f({m, n}), f({m, n})}, {f({m, n})}, {}};
     }},
    {"copy", OpKind::Copy,
     [](auto m, auto n) { return Sample{{f({m, n})}, {f({m, n})}, {}}; }},
    {"copy_saved", OpKind::CopySaved,
     [](auto m, auto n) { return Sample{{f({m, n})}, {f({m, n})}, {}}; }},
    {"mse_loss", OpKind::MseLoss,
     [](auto m, auto n) {
       return Sample{{f({m, n}), f({m, n})}, {f({})}, {}};
     }},
    {"mse_grad", OpKind::MseGrad,
     [](auto m, auto n) {
       return Sample{
           {f({m, n}), f({m, n})}, {f({m, n})}, blob(MseGradAttrs{0.25})};
     }},
    {"mse_grad scaled", OpKind::MseGrad,
     [](auto m, auto n) {
       return Sample{{f({m, n}), f({m, n}), f({})},
                     {f({m, n})},
                     blob(MseGradAttrs{2.0 / double(m * n)})};
     }},
    {"reduce_sum 0", OpKind::ReduceSum,
     [](auto m, auto n) {
       return Sample{{f({m, n})}, {f({n})}, blob(ReduceSumAttrs{0})};
     }},
    {"reduce_sum 1", OpKind::ReduceSum,
     [](auto m, auto n) {
       return Sample{{f({m, n})}, {f({m, 1})}, blob(ReduceSumAttrs{1})};
     }},
    {"reduce_sum middle", OpKind::ReduceSum,
     [](auto m, auto n) {
       return Sample{{f({3, m, n})}, {f({3, n})}, blob(ReduceSumAttrs{1})};
     }},
    {"layer_norm", OpKind::LayerNorm,
     [](auto m, auto n) {
       return Sample{{f({m, n}), f({n}), f({n})},
                     {f({m, n}), f({m}), f({m})},
                     blob(LayerNormAttrs{1e-5})};
     },
     1e-4},
    {"layer_norm rank 1", OpKind::LayerNorm,
     [](auto, auto n) {
       return Sample{{f({n}), f({n}), f({n})},
                     {f({n}), f({}), f({})},
                     blob(LayerNormAttrs{1e-5})};
     },
     1e-4},
    {"layer_norm_bwd", OpKind::LayerNormBwd,
     [](auto m, auto n) {
       return Sample{{f({m, n}), f({m, n}), f({n}), f({m}), f({m})},
                     {f({m, n}), f({n}), f({n})},
                     {}};
     },
     1e-4},
    {"all_finite", OpKind::AllFinite,
     [](auto m, auto n) { return Sample{{f({m, n}), f({n})}, {i32()}, {}}; }},
    {"loss_scale_update", OpKind::LossScaleUpdate,
     [](auto m, auto) {
       return Sample{{f({}), i32(), i32()},
                     {f({}), i32()},
                     blob(LossScaleUpdateAttrs{2, 0.5, m})};
     }},
    {"step_inc", OpKind::StepInc,
     [](auto, auto) {
       return Sample{{{DType::I64, {}}}, {{DType::I64, {}}}, {}};
     }},
    {"step_inc i32 ok", OpKind::StepInc,
     [](auto, auto) { return Sample{{i32(), i32()}, {i32()}, {}}; }},
    {"bias_corr", OpKind::BiasCorr,
     [](auto, auto) {
       return Sample{
           {{DType::I64, {}}}, {f({2})}, blob(BiasCorrAttrs{0.9, 0.999})};
     }},
    {"bias_corr i32", OpKind::BiasCorr,
     [](auto, auto) {
       return Sample{{i32()}, {f({2})}, blob(BiasCorrAttrs{0.9, 0.999})};
     }},
    {"adam_step", OpKind::AdamStep,
     [](auto m, auto n) {
       return optimizer(OpKind::AdamStep, m, n, true, false);
     }},
    {"adam_step gated", OpKind::AdamStep,
     [](auto m, auto n) {
       return optimizer(OpKind::AdamStep, m, n, true, true);
     }},
    {"sgd_step", OpKind::SgdStep,
     [](auto m, auto n) {
       return optimizer(OpKind::SgdStep, m, n, false, false);
     }},
    {"sgd_step nesterov gated", OpKind::SgdStep,
     [](auto m, auto n) {
       return optimizer(OpKind::SgdStep, m, n, true, true);
     }},
    {"gemm to f32", OpKind::Gemm,
     [](auto m, auto n) {
       Sample s = gemm(m, n, 1, 0);
       s.ins[0].dtype = s.ins[1].dtype = DType::F16;
       return s;
     },
     1e-5, true},
    {"gemm_bias NT", OpKind::GemmBias,
     [](auto m, auto n) { return gemmBias(m, n, 0, 1, 0); }},
    {"gemm_bias relu NT", OpKind::GemmBias,
     [](auto m, auto n) { return gemmBias(m, n, 0, 1, 1); }},
    {"gemm_bias relu TN", OpKind::GemmBias,
     [](auto m, auto n) { return gemmBias(m, n, 1, 0, 1); }},
    {"gemm_relu_bwd NN", OpKind::GemmReluBwd,
     [](auto m, auto n) { return gemmReluBwd(m, n, 0, 0); }},
    {"gemm_relu_bwd TT", OpKind::GemmReluBwd,
     [](auto m, auto n) { return gemmReluBwd(m, n, 1, 1); }},
    {"gemm_reduce TN", OpKind::GemmReduce,
     [](auto m, auto n) { return gemmReduce(m, n, 1, 0); }},
    {"gemm_reduce NT", OpKind::GemmReduce,
     [](auto m, auto n) { return gemmReduce(m, n, 0, 1); }},
    {"relu_bwd_reduce", OpKind::ReluBwdReduce,
     [](auto m, auto n) {
       return Sample{{f({m, n}), f({m, n})}, {f({m, n}), f({n})}, {}};
     }},
    {"mse_loss_grad", OpKind::MseLossGrad,
     [](auto m, auto n) {
       return Sample{{f({m, n}), f({m, n})},
                     {f({}), f({m, n})},
                     blob(MseLossGradAttrs{0.25})};
     }},
    {"mse_loss_grad scaled", OpKind::MseLossGrad,
     [](auto m, auto n) {
       return Sample{{half({m, n}), f({m, n}), f({})},
                     {f({}), half({m, n})},
                     blob(MseLossGradAttrs{2.0 / double(m * n)})};
     },
     1e-5, true},
    {"mse_loss mixed", OpKind::MseLoss,
     [](auto m, auto n) {
       return Sample{{half({m, n}), f({m, n})}, {f({})}, {}};
     },
     1e-5, true},
    {"mse_grad mixed", OpKind::MseGrad,
     [](auto m, auto n) {
       return Sample{{half({m, n}), f({m, n}), f({})},
                     {half({m, n})},
                     blob(MseGradAttrs{0.25})};
     },
     1e-5, true},
    {"adam_step mixed", OpKind::AdamStep,
     [](auto m, auto n) {
       Sample s = optimizer(OpKind::AdamStep, m, n, true, true);
       s.ins[1].dtype = DType::F16;
       return s;
     },
     1e-5, true},
    {"sgd_step mixed", OpKind::SgdStep,
     [](auto m, auto n) {
       Sample s = optimizer(OpKind::SgdStep, m, n, true, false);
       s.ins[1].dtype = DType::F16;
       return s;
     },
     1e-5, true},
    {"adam_update", OpKind::AdamUpdate,
     [](auto m, auto n) {
       return update(OpKind::AdamUpdate, m, n, false, false);
     }},
    {"adam_update mixed gated", OpKind::AdamUpdate,
     [](auto m, auto n) {
       return update(OpKind::AdamUpdate, m, n, true, true);
     },
     1e-5, true},
    {"sgd_update", OpKind::SgdUpdate,
     [](auto m, auto n) {
       return update(OpKind::SgdUpdate, m, n, true, false);
     }},
    {"sgd_update mixed", OpKind::SgdUpdate,
     [](auto m, auto n) {
       return update(OpKind::SgdUpdate, m, n, false, true);
     },
     1e-5, true},
    {"momentum_update", OpKind::MomentumUpdate,
     [](auto m, auto n) {
       return update(OpKind::MomentumUpdate, m, n, false, false);
     }},
    {"momentum_update mixed gated", OpKind::MomentumUpdate,
     [](auto m, auto n) {
       return update(OpKind::MomentumUpdate, m, n, true, true);
     },
     1e-5, true},
    {"reciprocal", OpKind::Reciprocal,
     [](auto m, auto n) { return Sample{{f({m, n})}, {f({m, n})}, {}}; }},
    {"gather_rows", OpKind::GatherRows,
     [](auto m, auto n) {
       return Sample{{f({m, n}), {DType::I32, {2 * m}}}, {f({2 * m, n})}, {}};
     }},
    {"gather_rows i64", OpKind::GatherRows,
     [](auto m, auto n) {
       return Sample{{f({m, 3, n}), {DType::I64, {5}}}, {f({5, 3, n})}, {}};
     }},
    {"shuffle", OpKind::Shuffle,
     [](auto m, auto n) {
       return Sample{
           {{DType::I64, {}}}, {{DType::I32, {m}}}, blob(ShuffleAttrs{n, 7})};
     }},
    {"shuffle i32", OpKind::Shuffle,
     [](auto m, auto n) {
       return Sample{
           {i32()}, {{DType::I64, {m}}}, blob(ShuffleAttrs{m * n, 0})};
     }},
    {"record", OpKind::Record,
     [](auto m, auto n) {
       return Sample{{f({m, n}), f({n}), i32()}, {f({m, n})}, {}};
     }},
    {"record scalar", OpKind::Record,
     [](auto m, auto) {
       return Sample{{f({m}), f({}), {DType::I64, {}}}, {f({m})}, {}};
     }},
};

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
  o.bytes.resize(desc.numBytes(), 0xcd);
  std::normal_distribution<double> normal;
  for (size_t i = 0; i < size_t(desc.numElements()); ++i) {
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
};

/// Second moments and rstd.
bool isPositive(OpKind kind, size_t operand) {
  if (kind == OpKind::AdamUpdate) // v of the three groups, bc, lr, inv_scale
    return operand % 4 == 3 || operand >= 12;
  return (kind == OpKind::AdamStep && operand >= 3) ||
         (kind == OpKind::LayerNormBwd && operand == 4) ||
         kind == OpKind::Reciprocal;
}

Case makeCase(const KindRow &row, const Sample &sample, DType dtype,
              uint32_t seed) {
  OpKind kind = row.kind;
  std::mt19937 random(seed);
  auto typed = [&](TensorDesc desc) {
    if (isFloat(desc.dtype) && (!row.isMixed || desc.dtype == DType::F16))
      desc.dtype = dtype;
    return desc;
  };
  Case c;
  c.attrs = sample.attrs;
  for (size_t i = 0; i < sample.ins.size(); ++i)
    c.ins.push_back(
        makeOperand(typed(sample.ins[i]), random, isPositive(kind, i)));
  for (const TensorDesc &desc : sample.outs)
    c.outs.push_back(makeOperand(typed(desc), random, false));
  std::vector<reference::Tensor> ins, outs;
  for (Operand &o : c.ins)
    ins.push_back(o.reference);
  for (Operand &o : c.outs)
    outs.push_back(o.reference);
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
        to->push_back({upload(o.bytes), o.reference.desc});
  }
  ~OnDevice() {
    for (void *memory : allocations)
      device.deallocate(memory);
  }
  Status run(OpKind kind, std::string_view kid = "auto") {
    std::vector<TensorDesc> in, out;
    for (Operand &o : c.ins)
      in.push_back(o.reference.desc);
    for (Operand &o : c.outs)
      out.push_back(o.reference.desc);
    const KernelRow *row = kid == "auto"
                               ? selectKernel(device.kind(), kind, in, out)
                               : findKernel(device.kind(), kid);
    TensorView workspace;
    if (uint64_t bytes = row ? row->workspaceBytes(in, out) : 0)
      workspace = {upload(std::vector<uint8_t>(bytes, 0xff)),
                   TensorDesc(DType::I32, {int64_t(bytes / 4)})};
    Status status = op_call(device, kind, ins, outs, infoOf(kind).schema,
                            c.attrs, *stream, kid, workspace);
    return status.ok() ? stream->synchronize() : status;
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
    std::vector<uint8_t> bytes(view.desc.numBytes());
    Status copied =
        device.copyToHost(*stream, bytes.data(), view.data, bytes.size());
    EXPECT_TRUE(copied.ok()) << copied.toString();
    return bytes;
  }
  /// The results' bytes replace the case's.
  void fetch() {
    for (size_t i = 0; i < outs.size(); ++i)
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
std::vector<const KernelRow *> kernelsFor(OpKind kind, Case &c) {
  std::vector<TensorDesc> ins, outs;
  for (Operand &o : c.ins)
    ins.push_back(o.reference.desc);
  for (Operand &o : c.outs)
    outs.push_back(o.reference.desc);
  std::vector<const KernelRow *> rows;
  for (const KernelRow &row : kernelTable())
    if (row.device == makeDevice()->kind() && row.hostScalars == 0 &&
        row.accepts(kind, ins, outs))
      rows.push_back(&row);
  return rows;
}

double toleranceOf(const KindRow &row, const KernelRow &kernel, DType dtype) {
  if (kernel.kid.find("tf32") != std::string_view::npos)
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

class KernelTest : public testing::TestWithParam<size_t> {};

TEST_P(KernelTest, AgreesWithReferenceForEveryShape) {
  const KindRow &row = kRows[GetParam()];
  const std::pair<int64_t, int64_t> shapes[] = {
      {1, 1},    {1, 7},     {7, 1},    {3, 5},    {64, 16},
      {127, 33}, {128, 128}, {129, 65}, {300, 401}};
  size_t kernels = 0;
  for (DType dtype : {DType::F32, DType::F64, DType::F16, DType::BF16}) {
    if (row.isMixed && sizeOf(dtype) != 2)
      continue;
    for (auto [m, n] : shapes) {
      const Case fresh =
          makeCase(row, row.make(m, n), dtype, uint32_t(m * 1000 + n));
      Case c = fresh;
      for (const KernelRow *kernel : kernelsFor(row.kind, c)) {
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
  // Fused kinds have kernels on CUDA only: the compiler does not fuse
  // elsewhere.
  if (kernels == 0) {
    EXPECT_EQ(makeDevice()->kind(), DeviceKind::CPU);
    GTEST_SKIP() << "no kernel on this device";
  }
}

/// Every tie of the ABI: the result written over the operand has the same bits.
TEST_P(KernelTest, WorksInPlace) {
  const KindRow &row = kRows[GetParam()];
  DType dtype = row.isMixed ? DType::BF16 : DType::F32;
  const Case fresh = makeCase(row, row.make(65, 130), dtype, 5);
  Case apart = fresh;
  if (kernelsFor(row.kind, apart).empty())
    GTEST_SKIP() << "no kernel on this device";
  ASSERT_TRUE(call(row.kind, apart, 2).ok());
  for (size_t result = 0; result < fresh.outs.size(); ++result)
    for (size_t operand = 0; operand < fresh.ins.size(); ++operand) {
      if (!mayShareStorage(row.kind, result, operand) ||
          fresh.outs[result].reference.desc !=
              fresh.ins[operand].reference.desc)
        continue;
      Case c = fresh;
      auto device = makeDevice(2);
      OnDevice memory(*device, c);
      memory.outs[result] = memory.ins[operand];
      Status status = memory.run(row.kind);
      ASSERT_TRUE(status.ok()) << status.toString();
      EXPECT_EQ(memory.download(memory.ins[operand]), apart.outs[result].bytes)
          << row.name << " result " << result << " on operand " << operand;
    }
}

/// Every error code of op_call, from a legal call with one thing wrong.
TEST_P(KernelTest, RefusesWrongCalls) {
  const KindRow &row = kRows[GetParam()];
  const OpInfo &info = infoOf(row.kind);
  Case c =
      makeCase(row, row.make(3, 5), row.isMixed ? DType::F16 : DType::F32, 1);
  if (kernelsFor(row.kind, c).empty())
    GTEST_SKIP() << "no kernel on this device";
  auto device = makeDevice();
  OnDevice memory(*device, c);
  std::vector<TensorView> ins = memory.ins, outs = memory.outs;
  auto *stream = &memory.stream;
  auto code = [&](std::vector<TensorView> i, std::vector<TensorView> o,
                  uint32_t schema, std::vector<uint8_t> attrs,
                  std::string_view kid = "auto") {
    Status status =
        op_call(*device, row.kind, i, o, schema, attrs, **stream, kid);
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
    std::vector<TensorView> views = outs;
    change(views.back());
    return code(ins, views, info.schema, c.attrs);
  };
  EXPECT_EQ(changed([](TensorView &v) { v.data = nullptr; }),
            StatusCode::InvalidArgument);
  EXPECT_EQ(
      changed([](TensorView &v) { v.data = static_cast<char *>(v.data) + 1; }),
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
                         testing::Range<size_t>(0, std::size(kRows)), rowName);

TEST(Kernels, TableCoversEveryKind) {
  std::set<OpKind> kinds = {OpKind::Cast}; // has its own test
  for (const KindRow &row : kRows)
    kinds.insert(row.kind);
  EXPECT_EQ(kinds.size(), kNumOpKinds);
}

TEST(Kernels, CastsRoundToNearest) {
  for (const KernelRow &row : kernelTable()) {
    if (row.kind != OpKind::Cast || row.device != makeDevice()->kind())
      continue;
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
  ASSERT_TRUE(
      op_call(*device, OpKind::Relu, {in}, {out}, 0, {}, **stream).ok());
  EXPECT_TRUE(std::isnan(y[0]));
  EXPECT_EQ(y[1], 0);
  EXPECT_EQ(y[2], INFINITY);
  int32_t ok = 7;
  TensorView flag{&ok, TensorDesc(DType::I32, {})};
  ASSERT_TRUE(
      op_call(*device, OpKind::AllFinite, {in}, {flag}, 0, {}, **stream).ok());
  EXPECT_EQ(ok, 0);
  x[0] = x[1] = x[2] = 1;
  ASSERT_TRUE(
      op_call(*device, OpKind::AllFinite, {in}, {flag}, 0, {}, **stream).ok());
  EXPECT_EQ(ok, 1);
}

TEST(Kernels, RefusesIllegalAliasing) {
  auto device = createCPUDevice({1});
  auto stream = device->createStream();
  std::vector<float> m(64);
  TensorDesc desc(DType::F32, {4, 4});
  TensorView a{m.data(), desc}, shifted{m.data() + 4, desc};
  auto attrs = blob(GemmAttrs{0, 0});
  EXPECT_EQ(
      op_call(*device, OpKind::Gemm, {a, a}, {a}, 0, attrs, **stream).code(),
      StatusCode::InvalidArgument);
  EXPECT_EQ(
      op_call(*device, OpKind::Relu, {a}, {shifted}, 0, {}, **stream).code(),
      StatusCode::InvalidArgument);
}

TEST(Kernels, RefusesBadWorkspaces) {
  auto device = createCPUDevice({1});
  auto stream = device->createStream();
  alignas(kTensorAlignment) float m[256] = {};
  TensorDesc desc(DType::F32, {4});
  TensorView in{m, desc}, out{m + 64, desc};
  auto code = [&](float *workspace) {
    return op_call(*device, OpKind::Relu, {in}, {out}, 0, {}, **stream, "auto",
                   {workspace, desc})
        .code();
  };
  EXPECT_EQ(code(m + 128), StatusCode::Ok);
  EXPECT_EQ(code(m + 129), StatusCode::Misaligned);
  EXPECT_EQ(code(m), StatusCode::InvalidArgument) << "operand 0";
  EXPECT_EQ(code(m + 64), StatusCode::InvalidArgument) << "result 0";
}

TEST(Kernels, HostScalarKernelReadsAtResolve) {
  auto device = createCPUDevice({1});
  auto stream = device->createStream();
  float p = 1, g = 1, lr = 0.5f, out = 0;
  TensorDesc scalar(DType::F32, {});
  std::vector<TensorView> ins = {{&p, scalar}, {&g, scalar}, {&lr, scalar}};
  std::vector<TensorView> outs = {{&out, scalar}};
  auto attrs = blob(SgdStepAttrs{0, 0, 0});
  auto resolved = resolve(*device, {OpKind::SgdStep, ins, outs, fourcc("SGDM"),
                                    attrs, "sgd_step_f32_hostlr_v0"});
  ASSERT_TRUE(resolved.ok()) << resolved.status().toString();
  lr = 100; // frozen: this is why plans may not use it
  ASSERT_TRUE(launch(*resolved, **stream).ok());
  EXPECT_EQ(out, 0.5f);
}

TEST(Graphs, CaptureUserCalls) {
  auto device = createCPUDevice({1});
  auto stream = graph_stream(*device);
  ASSERT_TRUE(stream.ok());
  float x = -3, y = 9;
  TensorDesc scalar(DType::F32, {});
  TensorView in{&x, scalar}, out{&y, scalar};
  ASSERT_TRUE(graph_begin(**stream).ok());
  EXPECT_EQ(graph_begin(**stream).code(), StatusCode::FailedState);
  ASSERT_TRUE(
      op_call(*device, OpKind::Relu, {in}, {out}, 0, {}, **stream).ok());
  EXPECT_EQ(y, 9) << "captured, not run";
  EXPECT_EQ((*stream)->synchronize().code(), StatusCode::FailedState);
  auto graph = graph_end(**stream);
  ASSERT_TRUE(graph.ok());
  EXPECT_EQ(graph_end(**stream).status().code(), StatusCode::FailedState);
  EXPECT_EQ((*graph)->numNodes(), 1u);
  ASSERT_TRUE(graph_launch(**graph, **stream).ok());
  EXPECT_EQ(y, 0);
  graph_reset(*graph);
  graph_reset(*graph);
  EXPECT_EQ(graph->get(), nullptr);
}

} // namespace
