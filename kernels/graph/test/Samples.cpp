//===- Samples.cpp - legal calls of the family ----------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// A dozen graphs as models have them, and graphs with sums. Their bits are
// goldens.
//===----------------------------------------------------------------------===//

#include "aicf/OpCall.h"
#include "unittests/Common/GraphBuilder.h"

namespace aicf::test {

/// The family adds no primitive.
std::vector<KindRow> graphSamples() { return {}; }

namespace {

using Value = GraphBuilder::Value;

/// A row whose sample `make(graph, x, y)` finishes; x and y are MxN.
template <typename Make>
KindRow rowOf(std::string name, Make make,
              std::string pattern = "pointwise_graph ") {
  auto sample = [make](int64_t m, int64_t n) {
    GraphBuilder graph;
    Value x = graph.operand(f({m, n})), y = graph.operand(f({m, n}));
    return graph.finish(make(graph, x, y));
  };
  OpKind first = sample(3, 4).body->primitives.front().kind;
  return KindRow{pattern + name, first, sample};
}
std::vector<Value> swish(GraphBuilder &g, Value x, Value y) {
  Value gate = g.add(OpKind::Mul, {x, g.add(OpKind::Sigmoid, {x})});
  return {g.add(OpKind::Mul, {gate, y})};
}
/// Both are read again in the backward pass.
std::vector<Value> keptGelu(GraphBuilder &g, Value x, Value y) {
  Value sum = g.add(OpKind::Add, {x, y});
  return {sum, g.add(OpKind::Gelu, {sum}, encodeAttrs(GeluAttrs{0}))};
}
std::vector<Value> residual(GraphBuilder &g, Value x, Value y) {
  Value scaled = g.add(OpKind::Scale, {y}, encodeAttrs(ScaleAttrs{0.5}));
  return {g.add(OpKind::Relu, {g.add(OpKind::Add, {x, scaled})})};
}
/// w - rate * y / (sqrt(|x|) + eps).
std::vector<Value> update(GraphBuilder &g, Value x, Value y) {
  Value root = g.add(OpKind::Sqrt, {g.add(OpKind::Abs, {x})});
  Value step =
      g.add(OpKind::Div, {y, g.add(OpKind::AddScalar, {root},
                                   encodeAttrs(AddScalarAttrs{0.125}))});
  Value scaled = g.add(OpKind::Mul, {g.operand(g.descOf(x)), step});
  return {g.add(OpKind::Sub, {g.operand(g.descOf(x)), scaled})};
}
/// A mask that is a result, and what it chooses.
std::vector<Value> masked(GraphBuilder &g, Value x, Value y) {
  Value mask = g.add(OpKind::Less, {x, y});
  return {mask, g.add(OpKind::Where, {mask, g.add(OpKind::Neg, {x}), y})};
}
std::vector<Value> bothMasks(GraphBuilder &g, Value x, Value y) {
  Value both =
      g.add(OpKind::LogicalAnd,
            {g.add(OpKind::LessScalar, {x}, encodeAttrs(LessScalarAttrs{0.5})),
             g.add(OpKind::GreaterScalar, {y},
                   encodeAttrs(GreaterScalarAttrs{-0.5}))});
  return {
      g.add(OpKind::MaskedFill, {x, both}, encodeAttrs(MaskedFillAttrs{2, 0}))};
}
/// The sum is read twice, and the first result by the second.
std::vector<Value> diamond(GraphBuilder &g, Value x, Value y) {
  Value sum = g.add(OpKind::Add, {x, y});
  Value product = g.add(
      OpKind::Mul, {g.add(OpKind::Tanh, {sum}), g.add(OpKind::Square, {sum})});
  return {product, g.add(OpKind::Sub, {product, x})};
}
std::vector<Value> backward(GraphBuilder &g, Value x, Value y) {
  Value dy = g.add(OpKind::TanhBwd, {x, y});
  return {g.add(OpKind::Maximum, {dy, g.add(OpKind::Silu, {y})})};
}
std::vector<Value> copied(GraphBuilder &g, Value x, Value y) {
  return {g.add(OpKind::Copy, {x}),
          g.add(OpKind::Exp, {g.add(OpKind::Neg, {y})})};
}
/// Two masks of one counter.
std::vector<Value> dropouts(GraphBuilder &g, Value x, Value y) {
  Value step = g.operand({DType::I32, {}});
  Value sum = g.add(OpKind::Add, {g.add(OpKind::Dropout, {x, step},
                                        encodeAttrs(DropoutAttrs{0.25, 7})),
                                  y});
  return {g.add(OpKind::Dropout, {g.add(OpKind::Relu, {sum}), step},
                encodeAttrs(DropoutAttrs{0.5, 8}))};
}
/// Makes as many primitives as there can be.
std::vector<Value> longest(GraphBuilder &g, Value x, Value y) {
  Value last = x;
  for (int i = 0; i < 32; ++i)
    last = i % 2 ? g.add(OpKind::Scale, {last}, encodeAttrs(ScaleAttrs{0.5}))
                 : g.add(OpKind::Add, {last, y});
  return {last};
}
/// So long that it calls functions, but not those that clamp: they have two
/// constants of 64 bits.
std::vector<Value> clamped(GraphBuilder &g, Value x, Value y) {
  Value last = g.add(OpKind::Abs, {x});
  for (int i = 0; i < 28; ++i)
    last = g.add(OpKind::PowScalar, {last},
                 encodeAttrs(PowScalarAttrs{i % 2 ? 2.0 : 0.5}));
  auto clamp = [&](Value dy) {
    return g.add(OpKind::ClampBwd, {dy, x},
                 encodeAttrs(ClampBwdAttrs{-0.5, 0.75}));
  };
  return {clamp(last), clamp(y)};
}

Value sumOf(GraphBuilder &g, Value x, int64_t axis,
            std::vector<int64_t> shape) {
  return g.add(OpKind::ReduceSum, {x}, encodeAttrs(ReduceSumAttrs{axis}),
               TensorDesc(g.descOf(x).dtype, shape));
}
/// The gradients of a bias and of what it was added to, behind a gelu.
std::vector<Value> biasGradient(GraphBuilder &g, Value x, Value y) {
  Value dx = g.add(OpKind::GeluBwd, {x, y}, encodeAttrs(GeluBwdAttrs{0}));
  return {dx, sumOf(g, dx, 0, {g.descOf(x).dims[1]})};
}
/// The gradients of a norm's gamma and beta.
std::vector<Value> normGradients(GraphBuilder &g, Value x, Value y) {
  const int64_t columns = g.descOf(x).dims[1];
  return {sumOf(g, g.add(OpKind::Mul, {x, y}), 0, {columns}),
          sumOf(g, x, 0, {columns})};
}
/// The denominators of a softmax.
std::vector<Value> rowSums(GraphBuilder &g, Value x, Value y) {
  Value powers = g.add(OpKind::Exp, {g.add(OpKind::Minimum, {x, y})});
  return {powers, sumOf(g, powers, 1, {g.descOf(x).dims[0], 1})};
}
/// The mean of squared differences.
std::vector<Value> loss(GraphBuilder &g, Value x, Value y) {
  Value squares = g.add(OpKind::Square, {g.add(OpKind::Sub, {x, y})});
  return {g.add(OpKind::ReduceMean, {squares}, encodeAttrs(ReduceMeanAttrs{1}),
                TensorDesc(g.descOf(x).dtype, {}))};
}

Value leftOf(GraphBuilder &g, OpKind kind, Value x, int64_t axis) {
  const TensorDesc &whole = g.descOf(x);
  return g.add(kind, {x}, encodeAttrs(ReduceMeanAttrs{axis}),
               TensorDesc(whole.dtype, {whole.dims[1 - axis]}));
}
Value repeated(GraphBuilder &g, Value left, int64_t axis, Value like) {
  return g.add(OpKind::Expand, {left}, encodeAttrs(ExpandAttrs{axis}),
               g.descOf(like).dense());
}
/// 1 / sqrt(mean of squares + eps).
Value scaleOf(GraphBuilder &g, Value x, int64_t axis) {
  Value mean = leftOf(g, OpKind::ReduceMean, g.add(OpKind::Square, {x}), axis);
  return g.add(OpKind::Rsqrt, {g.add(OpKind::AddScalar, {mean},
                                     encodeAttrs(AddScalarAttrs{0.25}))});
}
std::vector<Value> rmsNorm(GraphBuilder &g, Value x, Value y) {
  Value sum = g.add(OpKind::Add, {x, y}), scale = scaleOf(g, sum, 1);
  return {sum, scale, g.add(OpKind::Mul, {sum, repeated(g, scale, 1, x)})};
}
std::vector<Value> batchNorm(GraphBuilder &g, Value x, Value y) {
  Value mean = leftOf(g, OpKind::ReduceMean, x, 0);
  Value distance = g.add(OpKind::Sub, {x, repeated(g, mean, 0, x)});
  Value scale = repeated(g, scaleOf(g, distance, 0), 0, x);
  return {mean, g.add(OpKind::Add, {g.add(OpKind::Mul, {distance, scale}), y})};
}
/// The gradient of a norm: two sums that do not wait for each other.
std::vector<Value> normBackward(GraphBuilder &g, Value x, Value y) {
  Value a = leftOf(g, OpKind::ReduceMean, x, 1);
  Value b = leftOf(g, OpKind::ReduceMean, g.add(OpKind::Mul, {x, y}), 1);
  Value less = g.add(OpKind::Sub, {x, repeated(g, a, 1, x)});
  return {g.add(OpKind::Sub,
                {less, g.add(OpKind::Mul, {y, repeated(g, b, 1, x)})})};
}
/// A softmax of scaled numbers, and its gradient.
std::vector<Value> scaledSoftmax(GraphBuilder &g, Value x, Value y) {
  Value scaled = g.add(OpKind::Scale, {x}, encodeAttrs(ScaleAttrs{0.5}));
  Value p = g.add(OpKind::Softmax, {scaled});
  // Where a row is one number, the gradient is 0 but for its rounding.
  return {p, g.add(OpKind::Add, {g.add(OpKind::SoftmaxBwd, {y, p}), x})};
}
/// The weights of attention.
std::vector<Value> droppedSoftmax(GraphBuilder &g, Value x, Value y) {
  Value p = g.add(OpKind::Softmax, {g.add(OpKind::Add, {x, y})});
  return {p, g.add(OpKind::Dropout, {p, g.operand({DType::I64, {}})},
                   encodeAttrs(DropoutAttrs{0.25, 7}))};
}
std::vector<Value> logSoftmaxes(GraphBuilder &g, Value x, Value y) {
  Value p = g.add(OpKind::LogSoftmax, {g.add(OpKind::Add, {x, y})});
  return {g.add(OpKind::LogSoftmaxBwd, {y, p})};
}

/// [M,48] times [N,48] transposed, MxN as `like`.
Value productLike(GraphBuilder &g, Value like, bool transA = false) {
  const TensorDesc c = g.descOf(like);
  constexpr int64_t kDepth = 48;
  const int64_t rows = c.dims[0], columns = c.dims[1];
  Value a = g.operand(transA ? f({kDepth, rows}) : f({rows, kDepth}));
  Value b = g.operand(f({columns, kDepth}));
  return g.add(OpKind::Gemm, {a, b}, encodeAttrs(GemmAttrs{transA, 1}),
               TensorDesc(c.dtype, {rows, columns}));
}
/// A layer with an activation that no library knows.
std::vector<Value> tanhLayer(GraphBuilder &g, Value x, Value) {
  Value c = productLike(g, x);
  Value sum = g.add(OpKind::BiasAdd, {c, g.operand(f({g.descOf(c).dims[1]}))},
                    encodeAttrs(BiasAddAttrs{-1}));
  return {g.add(OpKind::Tanh, {sum})};
}
/// The gradient of a layer's operand, which is a silu of x.
std::vector<Value> siluGradient(GraphBuilder &g, Value x, Value) {
  return {g.add(OpKind::SiluBwd, {productLike(g, x), x})};
}
/// What is kept, and a product of transposed matrices that is read twice.
std::vector<Value> residualLayer(GraphBuilder &g, Value x, Value y) {
  Value c = productLike(g, x, /*transA=*/true);
  Value sum = g.add(OpKind::Add, {c, x});
  return {c, sum, g.add(OpKind::Mul, {g.add(OpKind::Maximum, {sum, y}), c})};
}

} // namespace

std::vector<KindRow> graphRows() {
  std::vector<KindRow> rows = {
      rowOf("swish", swish),       rowOf("gelu kept", keptGelu),
      rowOf("residual", residual), rowOf("update", update),
      rowOf("masked", masked),     rowOf("both masks", bothMasks),
      rowOf("diamond", diamond),   rowOf("backward", backward),
      rowOf("copied", copied),     rowOf("longest", longest),
      rowOf("dropouts", dropouts), rowOf("clamped", clamped)};
  const std::string sums = "pointwise_sums ";
  rows.push_back(rowOf("bias gradient", biasGradient, sums));
  rows.push_back(rowOf("norm gradients", normGradients, sums));
  rows.push_back(rowOf("row sums", rowSums, sums));
  rows.push_back(rowOf("loss", loss, sums));
  const std::string product = "product_graph ";
  rows.push_back(rowOf("tanh layer", tanhLayer, product));
  rows.push_back(rowOf("silu gradient", siluGradient, product));
  rows.push_back(rowOf("residual layer", residualLayer, product));
  const std::string inside = "reduction_graph ";
  rows.push_back(rowOf("rms norm", rmsNorm, inside));
  rows.push_back(rowOf("batch norm", batchNorm, inside));
  rows.push_back(rowOf("norm backward", normBackward, inside));
  rows.push_back(rowOf("scaled softmax", scaledSoftmax, inside));
  rows.push_back(rowOf("log softmaxes", logSoftmaxes, inside));
  rows.push_back(rowOf("dropped softmax", droppedSoftmax, inside));
  for (KindRow &row : rows) // 16 bits are too few for its differences
    row.isWide =
        row.name == "pointwise_graph update" ||
        row.name == "pointwise_graph clamped" || row.name.rfind(inside, 0) == 0;
  // The 16-bit copy of a parameter.
  KindRow cast = rowOf("cast", [](GraphBuilder &g, Value x, Value y) {
    Value next = g.add(OpKind::Sub, {x, y});
    TensorDesc narrow = g.descOf(next);
    narrow.dtype = DType::F16;
    return std::vector<Value>{next, g.add(OpKind::Cast, {next}, {}, narrow)};
  });
  rows.push_back(cast.mixed());
  KindRow inner = rowOf("casts inside", [](GraphBuilder &g, Value x, Value y) {
    Value narrow = g.add(OpKind::ToBf16, {g.add(OpKind::Mul, {x, y})});
    Value back = g.add(OpKind::ToF32, {g.add(OpKind::Relu, {narrow})});
    Value sum = g.add(OpKind::Add, {back, x});
    TensorDesc half = g.descOf(sum);
    half.dtype = DType::F16;
    return std::vector<Value>{sum, g.add(OpKind::Cast, {sum}, {}, half)};
  });
  rows.push_back(inner.mixed());
  auto integers = [](int64_t m, int64_t n) {
    GraphBuilder g;
    Value x = g.operand({DType::I32, {m, n}}),
          y = g.operand({DType::I32, {m, n}});
    Value sum = g.add(OpKind::Add, {x, y});
    return g.finish(
        {g.add(OpKind::Mul, {sum, y}), g.add(OpKind::Equal, {sum, x})});
  };
  rows.push_back(
      KindRow{"pointwise_graph integers", OpKind::Add, integers}.wide());
  return rows;
}

} // namespace aicf::test
