//===- RandomReductions.h - random graphs with reductions -------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Graphs with sums and means inside, over one dimension or over the first ones,
// of whole tensors that lie anywhere. Every sum is a result: whoever compares
// knows what the others were computed of.
//===----------------------------------------------------------------------===//
#ifndef AICF_UNITTESTS_COMMON_RANDOMREDUCTIONS_H
#define AICF_UNITTESTS_COMMON_RANDOMREDUCTIONS_H

#include "unittests/Common/RandomGraph.h"

namespace aicf::test {

class RandomReductions {
public:
  RandomReductions(DType dtype, std::mt19937 &random)
      : dtype(dtype), random(random) {
    const size_t rank = 1 + random() % 4;
    axis = random() % rank;
    for (size_t i = 0; i < rank; ++i)
      shape.push_back(1 + int64_t(random() % 30));
    if (random() % 2)
      shape.back() *= 8;
    shape[axis] += 1 + int64_t(random() % 2 ? random() % 3000 : 0);
    for (size_t i = 0; TensorDesc(dtype, shape).elements() > 200000; ++i)
      shape[i % rank] = std::max<int64_t>(2, shape[i % rank] / 2);
    left = shape;
    const size_t form = random() % 3;
    if (form == 0)
      left[axis] = 1;
    else
      left.erase(left.begin() + (form == 1 ? int64_t(axis) : 0),
                 left.begin() + int64_t(axis) + 1);
  }

  /// It may have too few or too many primitives for a graph.
  Sample make() {
    whole.push_back(wholeOperand());
    for (size_t wanted = 4 + random() % 20; numMade < wanted;)
      addOne();
    if (reduced.empty())
      addReduction();
    // What nothing says the shape of, is added to what is reduced.
    const std::vector<Value> values = whole;
    for (size_t i = 0; i < values.size(); ++i)
      if (!isRead(values[i]))
        keep(graph.add(OpKind::Add,
                       {values[i], repeat(reduced[i % reduced.size()])}, {},
                       TensorDesc(dtype, shape)));
    for (Value value : reduced)
      if (!isRead(value) && !isResult(value) && results.size() < 8)
        keep(value);
    return graph.finish(results);
  }

private:
  using Value = GraphBuilder::Value;

  static uint32_t keyOf(Value value) {
    return 2 * value.number + (value.isOperand ? 1 : 0);
  }
  bool isRead(Value value) const {
    return std::find(read.begin(), read.end(), keyOf(value)) != read.end();
  }
  bool isResult(Value value) const {
    return std::any_of(results.begin(), results.end(), [&](Value result) {
      return keyOf(result) == keyOf(value);
    });
  }
  Value anyOf(const std::vector<Value> &pool) {
    Value value = pool[random() % pool.size()];
    read.push_back(keyOf(value));
    return value;
  }
  void keep(Value value) {
    results.push_back(value);
    read.push_back(keyOf(value));
  }
  Value wholeOperand() {
    ++numOperands;
    TensorDesc dense(dtype, shape);
    if (random() % 2)
      return graph.operand(dense);
    std::vector<int64_t> strides(shape.size());
    int64_t next = 1;
    for (size_t i = shape.size(); i-- > 0;) {
      const bool repeats = random() % 3 == 0;
      strides[i] = repeats ? 0 : next;
      next *= repeats ? 1 : shape[i];
      next += random() % 4 == 0;
    }
    return graph.operand(TensorDesc::strided(dtype, shape, strides));
  }
  void addOne() {
    const uint32_t choice = random() % 8;
    if (choice == 0 && numReductions < 5)
      return addReduction();
    if (choice == 1 && !reduced.empty()) {
      whole.push_back(repeat(anyOf(reduced)));
      return;
    }
    if (choice == 2 && !reduced.empty())
      return addElementwise(reduced, left);
    addElementwise(whole, shape);
  }
  void addReduction() {
    const bool isMean = random() % 2;
    reduced.push_back(graph.add(
        isMean ? OpKind::ReduceMean : OpKind::ReduceSum, {anyOf(whole)},
        isMean ? encodeAttrs(ReduceMeanAttrs{int64_t(axis)})
               : encodeAttrs(ReduceSumAttrs{int64_t(axis)}),
        TensorDesc(dtype, left)));
    results.push_back(reduced.back());
    ++numReductions;
    ++numMade;
  }
  Value repeat(Value value) {
    ++numMade;
    read.push_back(keyOf(value));
    return graph.add(OpKind::Expand, {value},
                     encodeAttrs(ExpandAttrs{int64_t(axis)}),
                     TensorDesc(dtype, shape));
  }
  /// Of numbers of one type.
  void addElementwise(std::vector<Value> &pool,
                      const std::vector<int64_t> &of) {
    const KindRow &row =
        *elementwiseRows()[random() % elementwiseRows().size()];
    Sample sample = makeSample(row, 3, 4, dtype);
    auto isOther = [&](const TensorDesc &desc) { return desc.dtype != dtype; };
    if (row.kind != OpKind::Cast && elementwiseKind(row.kind) == OpKind::Cast)
      return addCasts(pool, of, sample);
    if (const SpreadInfo *spread = spreadOf(row.kind);
        spread && !spread->hasAxis() && &pool == &whole && numOperands < 10)
      return addDropout(sample);
    if (!row.takes(dtype) || spreadOf(row.kind) ||
        std::any_of(sample.ins.begin(), sample.ins.end(), isOther) ||
        isOther(sample.outs[0]))
      return;
    std::vector<Value> ins;
    for (size_t i = 0; i < sample.ins.size(); ++i) {
      const bool isFresh = i > 0 && numOperands < 10 && random() % 3 == 0;
      if (!isFresh) {
        ins.push_back(anyOf(pool));
      } else if (&pool == &whole) {
        ins.push_back(wholeOperand());
      } else {
        ++numOperands;
        ins.push_back(graph.operand(TensorDesc(dtype, left)));
      }
    }
    pool.push_back(
        graph.add(row.kind, ins, sample.attrs, TensorDesc(dtype, of)));
    ++numMade;
  }

  /// To another type and back.
  void addCasts(std::vector<Value> &pool, const std::vector<int64_t> &of,
                const Sample &sample) {
    if (sample.ins[0].dtype != dtype)
      return;
    const DType other = sample.outs[0].dtype;
    const Value there =
        graph.add(sample.kind, {anyOf(pool)}, {}, TensorDesc(other, of));
    pool.push_back(
        graph.add(*conversionTo(dtype), {there}, {}, TensorDesc(dtype, of)));
    numMade += 2;
  }
  void addDropout(const Sample &sample) {
    ++numOperands;
    const Value x = anyOf(whole), step = graph.operand(sample.ins[1]);
    whole.push_back(graph.add(sample.kind, {x, step}, sample.attrs,
                              TensorDesc(dtype, shape)));
    ++numMade;
  }

  DType dtype;
  std::mt19937 &random;
  std::vector<int64_t> shape, left;
  size_t axis;
  GraphBuilder graph;
  std::vector<Value> whole, reduced, results;
  std::vector<uint32_t> read;
  size_t numMade = 0, numOperands = 0, numReductions = 0;
};

} // namespace aicf::test

#endif // AICF_UNITTESTS_COMMON_RANDOMREDUCTIONS_H
