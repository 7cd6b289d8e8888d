//===- RandomGraph.h - random graphs of elementwise primitives --*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Graphs of whatever elementwise primitives there are samples of, of operands
// that lie anywhere; any of their values are results. If wanted, one or two
// sums of values are results, too. Or one value is a product, which the others
// go on with.
//===----------------------------------------------------------------------===//
#ifndef AICF_UNITTESTS_COMMON_RANDOMGRAPH_H
#define AICF_UNITTESTS_COMMON_RANDOMGRAPH_H

#include "aicf/OpCall.h"
#include "unittests/Common/GraphBuilder.h"

#include <algorithm>
#include <random>

namespace aicf::test {

/// The rows of elementwise primitives on tensors of one shape.
inline const std::vector<const KindRow *> &elementwiseRows() {
  static const std::vector<const KindRow *> rows = [] {
    std::vector<const KindRow *> all;
    for (const KindRow &row : sampleCallRows()) {
      Sample sample = row.make(3, 4);
      if (mayBeInGraph(row.kind) && row.kind != OpKind::CopySaved &&
          sample.ins[0].rank == 2)
        all.push_back(&row);
    }
    return all;
  }();
  return rows;
}

/// One graph of numbers of `dtype`, and of what comes of them.
class RandomGraph {
public:
  RandomGraph(DType dtype, std::mt19937 &random, bool hasSums = false,
              bool hasProduct = false)
      : dtype(dtype), random(random), hasSums(hasSums) {
    if (hasProduct) {
      addProduct();
      return;
    }
    size_t rank = hasSums ? 1 + random() % 4 : random() % 5;
    for (size_t i = 0; i < rank; ++i)
      shape.push_back(1 + int64_t(random() % (rank == 1 ? 20000 : 24)));
    // Rows and columns of whole vectors, and sums of several chunks.
    if (hasSums && random() % 2)
      shape.back() *= 8;
    if (hasSums && random() % 3 == 0)
      shape[random() % rank] *= 1 + int64_t(random() % 200);
    while (TensorDesc(dtype, shape).elements() > 200000)
      shape[random() % rank] = 1;
  }

  /// It may have too few or too many primitives for a graph.
  Sample make() {
    for (size_t wanted = 2 + random() % 30; made.size() < wanted;)
      addPrimitive();
    std::vector<Value> results;
    for (size_t i = 0; i < made.size(); ++i)
      if (mustBeResult[i] || (!isRead[i] && results.size() < 6) ||
          (random() % 6 == 0 && results.size() < 4))
        results.push_back(made[i]);
    if (hasSums)
      addSums(results);
    return graph.finish(results);
  }

private:
  using Value = GraphBuilder::Value;

  /// A small product of matrices whose rows are apart, or of a batch of rows.
  void addProduct() {
    const bool hasBatch = random() % 3 == 0;
    const bool transA = !hasBatch && random() % 2, transB = random() % 2;
    // Of whole vectors, every second time.
    auto size = [&](int64_t most) {
      const auto any = 1 + int64_t(random() % uint32_t(most));
      return random() % 2 ? any : (any + 3) / 4 * 4;
    };
    if (hasBatch)
      shape = {size(6)};
    // The kernels with large tiles are for more of those than a card has
    // multiprocessors.
    const bool isLarge = !hasBatch && random() % 3 == 0;
    const int64_t more = isLarge ? 360 : 0;
    shape.push_back(more + size(hasBatch ? 40 : isLarge ? 50 : 200));
    shape.push_back(more + size(isLarge ? 50 : 200));
    const int64_t depth = size(isLarge ? 80 : 150),
                  rows = shape[shape.size() - 2];
    std::vector<int64_t> a =
        hasBatch ? std::vector{shape[0]} : std::vector<int64_t>();
    a.insert(a.end(), {transA ? depth : rows, transA ? rows : depth});
    Value left = graph.operand(rowsApart(a));
    Value right = graph.operand(rowsApart(
        {transB ? shape.back() : depth, transB ? depth : shape.back()}));
    made.push_back(graph.add(OpKind::Gemm, {left, right},
                             encodeAttrs(GemmAttrs{transA, transB}),
                             TensorDesc(dtype, shape)));
    isRead.push_back(false);
    mustBeResult.push_back(false);
  }
  TensorDesc rowsApart(const std::vector<int64_t> &dims) {
    int64_t next = dims.back() + int64_t(random() % 3) * 2;
    std::vector<int64_t> strides(dims.size(), 1);
    for (size_t i = dims.size() - 1; i-- > 0; next *= dims[i])
      strides[i] = next;
    return TensorDesc::strided(dtype, dims, strides);
  }
  void addPrimitive() {
    const KindRow &row =
        *elementwiseRows()[random() % elementwiseRows().size()];
    Sample sample = makeSample(row, 3, 4, dtype);
    bool isCast = row.kind == OpKind::Cast;
    if (!row.takes(dtype) || (isCast && numCasts == 2))
      return;
    std::vector<Value> ins;
    const SpreadInfo *spread = spreadOf(row.kind);
    if (spread && (shape.empty() || operands.size() > 12))
      return;
    for (const TensorDesc &desc : sample.ins) {
      if (!spread || ins.size() != spread->operand) {
        ins.push_back(anyOf(desc.dtype));
        continue;
      }
      if (!spread->hasAxis()) {
        ins.push_back(graph.operand(desc));
        continue;
      }
      const size_t axis = random() % shape.size();
      sample.attrs = encodeAttrs(BiasAddAttrs{int64_t(axis)});
      ins.push_back(graph.operand({desc.dtype, {shape[axis]}}));
    }
    TensorDesc result(sample.outs[0].dtype, shape);
    made.push_back(graph.add(row.kind, ins, sample.attrs, result));
    isRead.push_back(false);
    mustBeResult.push_back(isCast); // nothing else gives its type
    numCasts += isCast;
  }
  /// Sums over one dimension, or over all up to one, of values of one type.
  void addSums(std::vector<Value> &results) {
    const size_t axis = random() % shape.size(), form = random() % 3;
    std::vector<int64_t> sums = shape;
    if (form == 0)
      sums[axis] = 1;
    else
      sums.erase(sums.begin() + (form == 1 ? int64_t(axis) : 0),
                 sums.begin() + int64_t(axis) + 1);
    for (size_t count = 1 + random() % 2; count > 0; --count) {
      const bool isMean = random() % 2;
      results.push_back(graph.add(
          isMean ? OpKind::ReduceMean : OpKind::ReduceSum, {anyOf(dtype)},
          isMean ? encodeAttrs(ReduceMeanAttrs{int64_t(axis)})
                 : encodeAttrs(ReduceSumAttrs{int64_t(axis)}),
          TensorDesc(dtype, sums)));
    }
  }
  /// A value that is there, or a new operand.
  Value anyOf(DType wanted) {
    for (int tries = 0; tries < 4 && !made.empty(); ++tries)
      if (size_t i = random() % made.size();
          graph.descOf(made[i]).dtype == wanted) {
        isRead[i] = true;
        return made[i];
      }
    for (Value operand : operands)
      if (graph.descOf(operand).dtype == wanted &&
          (operands.size() >= 13 || random() % 2))
        return operand;
    operands.push_back(graph.operand(layoutOf(wanted)));
    return operands.back();
  }
  /// Dense, spread over dimensions, or with gaps and dimensions in any order.
  TensorDesc layoutOf(DType dtype) {
    TensorDesc dense(dtype, shape);
    if (random() % 2)
      return dense;
    std::vector<size_t> order(shape.size());
    for (size_t i = 0; i < order.size(); ++i)
      order[i] = i;
    if (random() % 3 == 0)
      std::shuffle(order.begin(), order.end(), random);
    std::vector<int64_t> strides(shape.size());
    int64_t next = 1;
    bool isScalar = random() % 8 == 0;
    for (size_t i = order.size(); i-- > 0;) {
      bool isSpread = isScalar || random() % 3 == 0;
      strides[order[i]] = isSpread ? 0 : next;
      next *= isSpread ? 1 : shape[order[i]];
      next += random() % 4 == 0;
    }
    return TensorDesc::strided(dtype, shape, strides);
  }

  DType dtype;
  std::mt19937 &random;
  bool hasSums;
  std::vector<int64_t> shape;
  GraphBuilder graph;
  std::vector<Value> operands, made;
  std::vector<bool> isRead, mustBeResult;
  int numCasts = 0;
};

} // namespace aicf::test

#endif // AICF_UNITTESTS_COMMON_RANDOMGRAPH_H
