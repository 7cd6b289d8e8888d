//===- BodiesTest.cpp - which bodies are which pattern --------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// The normal form of bodies is tested by the loader's corpus.
//===----------------------------------------------------------------------===//

#include "aicf/OpCall.h"
#include "lib/Ops/BodyRules.h"
#include "lib/Ops/Graphs.h"
#include "lib/Ops/TypedBody.h"
#include "unittests/Common/SharedOperands.h"

#include <gtest/gtest.h>

using namespace aicf;
using namespace aicf::test;

namespace {

/// The first row of a pattern whose body has a primitive of the kind.
std::shared_ptr<Body> bodyOf(PatternId pattern, OpKind kind) {
  for (const KindRow &row : allCallRows()) {
    DType dtype = row.usualType();
    Sample sample = makeSample(row, 6, 5, dtype);
    if (!sample.body || factsOf(*sample.body).pattern != pattern)
      continue;
    for (const Primitive &primitive : sample.body->primitives)
      if (primitive.kind == kind)
        return std::make_shared<Body>(*sample.body);
  }
  return nullptr;
}

TEST(Bodies, AreTheirPattern) {
  size_t several = 0;
  for (const KindRow &row : allCallRows()) {
    DType dtype = row.usualType();
    Sample call = toCall(makeSample(row, 6, 5, dtype));
    ASSERT_TRUE(checkForm(*call.body).ok()) << row.name;
    std::optional<PatternId> pattern = factsOf(*call.body).pattern;
    ASSERT_TRUE(pattern.has_value()) << row.name;
    EXPECT_EQ(row.name.rfind(nameOfPattern(*pattern), 0), 0u)
        << row.name << " is taken for " << nameOfPattern(*pattern);
    several += call.body->primitives.size() > 1;
  }
  EXPECT_GT(several, 2 * allPatterns().size());
}

/// Whoever reads a kept result elsewhere would find nothing.
TEST(Bodies, OfAPatternGiveWhatItKeeps) {
  for (auto [pattern, kind] :
       {std::pair(patterns::ReluBwdReduce, OpKind::ReluBwd),
        {patterns::AdamUpdate, OpKind::Cast},
        {patterns::SgdUpdate, OpKind::Cast},
        {patterns::MomentumUpdate, OpKind::Cast}}) {
    auto body = bodyOf(pattern, kind);
    ASSERT_TRUE(body) << nameOfPattern(pattern);
    body->results.erase(body->results.begin());
    EXPECT_TRUE(checkForm(*body).ok()) << checkForm(*body).toString();
    EXPECT_NE(factsOf(*body).pattern, pattern) << nameOfPattern(pattern);
  }
}

/// One update with a momentum and one without are not a call of either family.
TEST(Bodies, OfAPatternHaveTheOperandsItNames) {
  auto body = bodyOf(patterns::SgdUpdate, OpKind::SgdStep);
  ASSERT_TRUE(body && body->primitives.size() > 1);
  Primitive &last =
      *std::find_if(body->primitives.rbegin(), body->primitives.rend(),
                    [](const Primitive &primitive) {
                      return primitive.kind == OpKind::SgdStep;
                    });
  // p, g, lr, m, inv_scale, ok: m becomes the call's last operand.
  ASSERT_EQ(last.operands[3], kAbsentValue);
  uint32_t fresh = body->numOperands;
  for (Primitive &primitive : body->primitives)
    for (int32_t &value : primitive.operands)
      value += value >= int32_t(fresh);
  for (uint32_t &value : body->results)
    ++value;
  last.operands[3] = int32_t(fresh);
  body->numOperands = fresh + 1;
  body->results.push_back(uint32_t(body->numValues()) - 1);
  if (body->primitives.back().kind == OpKind::SgdStep) {
    EXPECT_TRUE(checkForm(*body).ok()) << checkForm(*body).toString();
  }
  EXPECT_FALSE(factsOf(*body).pattern);
}

/// A result may overwrite a value that two slots read only if it might
/// overwrite what either of them read when it was another value.
TEST(Bodies, OfAPatternOverwriteNothingThatIsReadElsewhere) {
  size_t kept = 0, lost = 0;
  for (const KindRow &row : allCallRows())
    for (const Sample &sample : samplesForSharing(row, row.usualType())) {
      BodyFacts apart = factsOf(*sample.body);
      for (const SharedSample &shared : withSharedOperands(sample)) {
        const Body &body = *shared.sample.body;
        ASSERT_TRUE(checkForm(body).ok()) << row.name;
        BodyFacts facts = factsOf(body);
        ASSERT_EQ(facts.pattern, apart.pattern) << row.name;
        for (size_t r = 0; r < body.results.size(); ++r)
          for (uint32_t i = 0; i < shared.numberOf.size(); ++i) {
            bool isShared = i == shared.first || i == shared.second;
            bool may = isShared ? apart.mayShareStorage(r, shared.first) &&
                                      apart.mayShareStorage(r, shared.second)
                                : apart.mayShareStorage(r, i);
            EXPECT_EQ(facts.mayShareStorage(r, shared.numberOf[i]), may)
                << row.name << ": operands " << shared.first << " and "
                << shared.second << " are one, result " << r << ", operand "
                << i;
            kept += isShared && may;
            lost += isShared && !may && apart.mayShareStorage(r, i);
          }
      }
    }
  EXPECT_GT(kept, 20u);
  EXPECT_GT(lost, 200u);
}

/// Only slots that the pattern binds read what the body makes: a kernel has no
/// memory for it.
TEST(Bodies, OfAPatternReadNothingElseInside) {
  size_t refused = 0;
  for (const KindRow &row : allCallRows())
    for (const Sample &sample : samplesForSharing(row, row.usualType()))
      for (const Body &body : withReadsInside(*sample.body)) {
        // A graph has all that it makes in registers.
        const std::optional<PatternId> pattern = factsOf(body).pattern;
        EXPECT_TRUE(!pattern || patternOf(*pattern)->graph)
            << row.name << ": " << nameOfPattern(*pattern);
        refused += !pattern;
      }
  EXPECT_GT(refused, 200u);
}

/// Slots that the pattern binds, or that its groups share, read one value.
TEST(Bodies, OfAPatternReadWhatItBinds) {
  size_t refused = 0;
  for (const KindRow &row : allCallRows())
    for (const Sample &sample : samplesForSharing(row, row.usualType()))
      for (const Body &body : withOperandsApart(*sample.body)) {
        EXPECT_NE(factsOf(body).pattern, factsOf(*sample.body).pattern)
            << row.name;
        ++refused;
      }
  EXPECT_GT(refused, 200u);
}

/// A batch has whole groups, and each is of the same kinds.
TEST(Bodies, OfABatchRepeatTheFirstGroup) {
  size_t batches = 0;
  for (const KindRow &row : allCallRows()) {
    Sample sample = toCall(makeSample(row, 3, 4, row.usualType()));
    const PatternInfo *pattern =
        patternOf(factsOf(*sample.body).pattern.value_or(0));
    auto form = pattern ? formOf(*pattern, *sample.body) : std::nullopt;
    if (!form || form->numGroups < 2 || form->stride < 2)
      continue;
    ++batches;
    Body cut = *sample.body, other = *sample.body;
    cut.primitives.pop_back();
    EXPECT_FALSE(formOf(*pattern, cut)) << row.name;
    other.primitives.back().kind = OpKind::Relu;
    EXPECT_FALSE(formOf(*pattern, other)) << row.name;
  }
  EXPECT_GT(batches, 0u);
}

/// Two nodes of one kind are told apart by their names, and by what they read:
/// y = (a b) c.
TEST(Bodies, APatternMayHaveTwoNodesOfOneKind) {
  const NodeInfo nodes[] = {{"first", OpKind::Gemm, false},
                            {"relu", OpKind::Relu, true},
                            {"second", OpKind::Gemm, false}};
  const BindingInfo bindings[] = {{{2, 0}, {0, 0}, true}};
  PatternInfo pattern{};
  pattern.name = "two_products";
  pattern.nodes = {nodes, 3};
  pattern.bindings = {bindings, 1};
  Body body;
  body.numOperands = 3;
  body.primitives.resize(2);
  for (Primitive &primitive : body.primitives) {
    primitive.kind = OpKind::Gemm;
    primitive.attrs.resize(8);
  }
  body.primitives[0].operands = {0, 1};
  body.primitives[1].operands = {3, 2};
  body.results = {4};
  auto form = formOf(pattern, body);
  ASSERT_TRUE(form);
  EXPECT_EQ(form->primitiveOf[0], 0);
  EXPECT_EQ(form->primitiveOf[1], -1);
  EXPECT_EQ(form->primitiveOf[2], 1);
  EXPECT_TRUE(matches(pattern, body));
  body.primitives[1].operands = {2, 3}; // the pattern binds the other factor
  EXPECT_FALSE(matches(pattern, body));
}

TEST(Bodies, OperandsAndResultsAreCounted) {
  Sample call = toCall(makeSample(sampleCallRow("add"), 3, 4, DType::F32));
  EXPECT_TRUE(describeValues(*call.body, call.ins, call.outs).ok());
  auto message = [&](size_t ins, size_t outs) {
    std::vector<TensorDesc> in = call.ins, out = call.outs;
    in.resize(ins, call.ins[0]);
    out.resize(outs, call.outs[0]);
    return describeValues(*call.body, in, out).status().message();
  };
  EXPECT_EQ(message(1, 1), "got 1 operands and 1 results for a body that takes "
                           "2 and gives 1");
  EXPECT_EQ(message(3, 1), "got 3 operands and 1 results for a body that takes "
                           "2 and gives 1");
  EXPECT_EQ(message(2, 2), "got 2 operands and 2 results for a body that takes "
                           "2 and gives 1");
}

/// A body of two primitives; the fields of the first are 0.
Body chainOf(OpKind first, std::vector<int32_t> operands, OpKind second) {
  Body body;
  std::vector<uint8_t> zeros(infoOf(first).attrBytes);
  body.numOperands = uint32_t(operands.size());
  body.primitives = {{first, zeros, operands},
                     {second, {}, {int32_t(body.numOperands)}}};
  body.results = {body.firstResultOf(1)};
  return body;
}

TEST(Bodies, SayHowManyOperandsAPrimitiveTakes) {
  Body relu = chainOf(OpKind::Relu, {0, 1}, OpKind::Relu);
  EXPECT_EQ(checkForm(relu).message(),
            "primitive 0 (relu): got 2 operands, expected 1");
  Body finite = chainOf(OpKind::AllFinite, {}, OpKind::Relu);
  EXPECT_EQ(checkForm(finite).message(),
            "primitive 0 (all_finite): got 0 operands, expected 1 or more");
}

TEST(Bodies, NameAnOperandAfterItsFirstSlot) {
  Body gemm = chainOf(OpKind::Gemm, {0, 1}, OpKind::Relu);
  EXPECT_EQ(describeOperand(gemm, 0), "operand 0 (a)");
  EXPECT_EQ(describeOperand(gemm, 1), "operand 1 (b)");
}

/// The type of a value inside of a body follows from those before it, or the
/// body is refused.
TEST(Bodies, HoldNoValueWithoutAType) {
  auto message = [](const Body &body, std::vector<TensorDesc> ins) {
    TensorDesc out(DType::F32, {2, 3, 3});
    return describeValues(body, ins, {&out, 1}).status().message();
  };
  TensorDesc a(DType::F32, {2, 3, 3});
  EXPECT_EQ(message(chainOf(OpKind::BatchedGemm, {0, 1}, OpKind::Relu), {a, a}),
            "primitive 0 (batched_gemm): its result c must be a result of the "
            "call: nothing else gives its type");
  // A momentum that is absent has no successor.
  Body step;
  step.numOperands = 3;
  step.primitives = {
      {OpKind::SgdStep, encodeAttrs(SgdStepAttrs{}), {0, 1, 2, -1, -1, -1}},
      {OpKind::Relu, {}, {4}}};
  step.results = {3, 5};
  std::vector<TensorDesc> ins = {a, a, {DType::F32, {}}}, outs = {a, a};
  EXPECT_EQ(describeValues(step, ins, outs).status().message(),
            "relu: operand 0 (x) is absent");
}

TEST(Bodies, OfNoPatternAreNoCalls) {
  TensorDesc x(DType::F32, {3});
  auto body = std::make_shared<Body>(chainOf(OpKind::Relu, {0}, OpKind::Relu));
  body->primitives[1] = {OpKind::Cumsum, encodeAttrs(CumsumAttrs{0, 0}), {1}};
  ASSERT_TRUE(checkForm(*body).ok());
  EXPECT_EQ(TypedBody::create(body, {&x, 1}, {&x, 1}).status().message(),
            "no kernel family takes relu, cumsum in one call");
}

/// `count` primitives, each of which adds an operand of its own.
Body sumOf(size_t count) {
  Body body;
  body.numOperands = uint32_t(count) + 1;
  for (int32_t i = 0; i < int32_t(count); ++i)
    body.primitives.push_back(
        {OpKind::Add,
         {},
         {i == 0 ? 0 : int32_t(body.numOperands) + i - 1, i + 1}});
  body.results = {body.numValues() - 1};
  return body;
}

TEST(Bodies, OfAGraphKeepToItsLimits) {
  const GraphInfo &graph = *patternOf(patterns::PointwiseGraph)->graph;
  auto isGraph = [](const Body &body) {
    EXPECT_TRUE(checkForm(body).ok()) << checkForm(body).toString();
    return factsOf(body).pattern == patterns::PointwiseGraph;
  };
  EXPECT_TRUE(isGraph(sumOf(graph.maxOperands - 1)));
  EXPECT_FALSE(isGraph(sumOf(graph.maxOperands)));
  auto chain = [](size_t count) {
    Body body;
    body.numOperands = 1;
    for (size_t i = 0; i < count; ++i)
      body.primitives.push_back({OpKind::Relu, {}, {int32_t(i)}});
    body.results = {uint32_t(count)};
    return body;
  };
  EXPECT_TRUE(isGraph(chain(graph.maxPrimitives)));
  EXPECT_FALSE(isGraph(chain(graph.maxPrimitives + 1)));
  Body results = chain(graph.maxResults + 1);
  results.results.clear();
  for (uint32_t i = 2; i <= graph.maxResults + 1; ++i)
    results.results.push_back(i);
  EXPECT_TRUE(isGraph(results));
  results.results.insert(results.results.begin(), 1);
  EXPECT_FALSE(isGraph(results));
}

/// One graph is one body: another order of the same primitives is none.
TEST(Bodies, OfAGraphStandInOneOrder) {
  // relu(x) * tanh(x).
  Body body;
  body.numOperands = 1;
  body.primitives = {{OpKind::Relu, {}, {0}},
                     {OpKind::Tanh, {}, {0}},
                     {OpKind::Mul, {}, {1, 2}}};
  body.results = {3};
  EXPECT_EQ(factsOf(body).pattern, patterns::PointwiseGraph);
  Body other = body;
  std::swap(other.primitives[0], other.primitives[1]);
  other.primitives[2].operands = {2, 1};
  ASSERT_TRUE(checkForm(other).ok());
  EXPECT_FALSE(factsOf(other).pattern);
  GraphForm ordered = inGraphOrder(other);
  EXPECT_EQ(ordered.body, body);
  EXPECT_EQ(ordered.primitives, (std::vector<size_t>{1, 0, 2}));
}

/// A kernel reads a bias as a view that repeats it: as one view.
TEST(Bodies, OfAGraphRepeatAnOperandInOneWay) {
  auto bias = [](int64_t axis, std::vector<int32_t> operands) {
    return Primitive{OpKind::BiasAdd, encodeAttrs(BiasAddAttrs{axis}),
                     std::move(operands)};
  };
  auto isGraph = [](uint32_t numOperands, std::vector<Primitive> primitives) {
    Body body;
    body.numOperands = numOperands;
    body.primitives = std::move(primitives);
    body.results = {body.numValues() - 1};
    EXPECT_TRUE(checkForm(body).ok()) << checkForm(body).toString();
    return factsOf(body).pattern == patterns::PointwiseGraph;
  };
  EXPECT_TRUE(isGraph(2, {bias(0, {0, 1}), bias(0, {2, 1})}));
  EXPECT_FALSE(isGraph(2, {bias(0, {0, 1}), bias(1, {2, 1})}));
  // Another slot reads it as it is, before and after.
  EXPECT_FALSE(isGraph(2, {bias(0, {0, 1}), {OpKind::Add, {}, {2, 1}}}));
  EXPECT_FALSE(isGraph(2, {{OpKind::Add, {}, {0, 1}}, bias(0, {2, 1})}));
  // It has no memory.
  EXPECT_FALSE(isGraph(2, {{OpKind::Relu, {}, {0}}, bias(0, {1, 2})}));
}

/// The sums of a graph are results that nothing inside reads.
TEST(Bodies, OfAGraphEndWithItsSums) {
  const GraphInfo &graph = *patternOf(patterns::PointwiseSums)->graph;
  const Primitive relu{OpKind::Relu, {}, {0}};
  auto sumOf = [](int32_t value) {
    return Primitive{
        OpKind::ReduceSum, encodeAttrs(ReduceSumAttrs{0}), {value}};
  };
  auto patternOfBody = [](std::vector<Primitive> primitives,
                          std::vector<uint32_t> results) {
    Body body;
    body.numOperands = 1;
    body.primitives = std::move(primitives);
    body.results = std::move(results);
    EXPECT_TRUE(checkForm(body).ok()) << checkForm(body).toString();
    return factsOf(body);
  };
  ASSERT_EQ(graph.maxSums, 2u);
  const BodyFacts facts = patternOfBody({relu, sumOf(1), sumOf(0)}, {1, 2, 3});
  EXPECT_EQ(facts.pattern, patterns::PointwiseSums);
  // A sum is written when all is read, and other blocks read on.
  EXPECT_EQ(facts.ties, (std::vector<std::vector<uint32_t>>{{0}, {}, {}}));
  EXPECT_FALSE(
      patternOfBody({relu, sumOf(1), sumOf(0), sumOf(1)}, {2, 3, 4}).pattern);
  EXPECT_FALSE(patternOfBody({relu, sumOf(1), sumOf(2)}, {3}).pattern);
}

/// The facts of a body in normal form.
BodyFacts factsFor(uint32_t numOperands, std::vector<Primitive> primitives,
                   std::vector<uint32_t> results) {
  Body body;
  body.numOperands = numOperands;
  body.primitives = std::move(primitives);
  body.results = std::move(results);
  EXPECT_TRUE(checkForm(body).ok()) << checkForm(body).toString();
  return factsOf(body);
}

/// A product is the first of a graph: it multiplies what is in memory.
TEST(Bodies, OfAGraphGoOnWithOneProduct) {
  auto gemm = [](int32_t a, int32_t b) {
    return Primitive{OpKind::Gemm, encodeAttrs(GemmAttrs{0, 1}), {a, b}};
  };
  const Primitive add{OpKind::Add, {}, {3, 2}};
  const BodyFacts facts =
      factsFor(3, {gemm(0, 1), add, {OpKind::Tanh, {}, {4}}}, {3, 5});
  EXPECT_EQ(facts.pattern, patterns::ProductGraph);
  // Other blocks read the factors on.
  EXPECT_EQ(facts.ties, (std::vector<std::vector<uint32_t>>{{2}, {2}}));
  // The square of a matrix has one factor.
  EXPECT_EQ(factsFor(1, {gemm(0, 0), {OpKind::Tanh, {}, {1}}}, {2}).pattern,
            patterns::ProductGraph);
  // Two products, or one that nothing goes on with.
  EXPECT_FALSE(
      factsFor(4, {gemm(0, 1), gemm(2, 3), {OpKind::Add, {}, {4, 5}}}, {6})
          .pattern);
  EXPECT_FALSE(
      factsFor(3, {gemm(0, 1), {OpKind::Tanh, {}, {2}}}, {3, 4}).pattern);
  // A factor that is made inside, or that an element is read of, too.
  EXPECT_FALSE(
      factsFor(2, {{OpKind::Tanh, {}, {0}}, gemm(2, 1), {OpKind::Exp, {}, {3}}},
               {4})
          .pattern);
  EXPECT_FALSE(
      factsFor(2, {gemm(0, 1), {OpKind::Add, {}, {2, 0}}}, {3}).pattern);
  // What is reduced of it.
  EXPECT_FALSE(
      factsFor(2,
               {gemm(0, 1),
                {OpKind::Tanh, {}, {2}},
                {OpKind::ReduceSum, encodeAttrs(ReduceSumAttrs{0}), {3}}},
               {4})
          .pattern);
}

Primitive sumAlong(int64_t axis, int32_t value) {
  return {OpKind::ReduceSum, encodeAttrs(ReduceSumAttrs{axis}), {value}};
}
Primitive repeatAlong(int64_t axis, int32_t value) {
  return {OpKind::Expand, encodeAttrs(ExpandAttrs{axis}), {value}};
}

/// A value is a whole tensor, or what is left of one.
TEST(Bodies, OfAGraphReduceInside) {
  auto factsFor = [](std::vector<Primitive> primitives,
                     std::vector<uint32_t> results, uint32_t numOperands = 2) {
    return ::factsFor(numOperands, std::move(primitives), std::move(results));
  };
  const Primitive sum = sumAlong(1, 0);
  // x * repeat(sum(x) + b), and what is left.
  const BodyFacts facts = factsFor({sum,
                                    {OpKind::Add, {}, {2, 1}},
                                    repeatAlong(1, 3),
                                    {OpKind::Mul, {}, {0, 4}}},
                                   {3, 5});
  EXPECT_EQ(facts.pattern, patterns::ReductionGraph);
  // Threads read what is left for longer than one of them takes to write it.
  EXPECT_EQ(facts.ties, (std::vector<std::vector<uint32_t>>{{}, {0}}));
  EXPECT_EQ(factsFor({sum, {OpKind::Relu, {}, {1}}}, {2}, 1).pattern,
            patterns::ReductionGraph);
  // Both of it.
  EXPECT_FALSE(factsFor({sum, {OpKind::Add, {}, {1, 0}}}, {2}, 1).pattern);
  EXPECT_FALSE(factsFor({sum, sumAlong(1, 1)}, {2}, 1).pattern);
  EXPECT_FALSE(
      factsFor({sum, repeatAlong(1, 1), repeatAlong(1, 2)}, {3}, 1).pattern);
  // Neither: nothing says what operand 1 is.
  EXPECT_FALSE(
      factsFor({sum, {OpKind::Relu, {}, {2}}, {OpKind::Relu, {}, {1}}}, {3, 4})
          .pattern);
  // Repeats nothing that is reduced.
  EXPECT_FALSE(
      factsFor({repeatAlong(1, 0), {OpKind::Relu, {}, {1}}}, {2}, 1).pattern);
  auto withSums = [&](size_t count) {
    std::vector<Primitive> primitives = {sum};
    std::vector<uint32_t> results = {1};
    for (size_t i = 1; i < count; ++i) {
      primitives.push_back(repeatAlong(1, int32_t(primitives.size())));
      primitives.push_back(sumAlong(1, int32_t(primitives.size())));
    }
    results[0] = uint32_t(primitives.size());
    return factsFor(primitives, results, 1).pattern;
  };
  const size_t most = patternOf(patterns::ReductionGraph)->graph->maxReductions;
  EXPECT_EQ(withSums(most), patterns::ReductionGraph);
  EXPECT_FALSE(withSums(most + 1));
}

/// y = x * repeat(sum of x along `summed`, along `repeated`), x of `shape`.
StatusOr<TypedBody> scaledBySum(const TensorDesc &x, int64_t summed,
                                int64_t repeated) {
  auto body = std::make_shared<Body>();
  body->numOperands = 1;
  body->primitives = {
      sumAlong(summed, 0), repeatAlong(repeated, 1), {OpKind::Mul, {}, {0, 2}}};
  body->results = {3};
  return TypedBody::create(body, {&x, 1}, {&x, 1});
}

/// What is repeated has the shape of what was reduced along the same dimension.
TEST(Bodies, OfAGraphRepeatWhatTheyReduce) {
  const TensorDesc x(DType::F32, {64, 64, 512});
  StatusOr<TypedBody> typed = scaledBySum(x, 1, 1);
  ASSERT_TRUE(typed.ok()) << typed.status().toString();
  EXPECT_EQ(typed->values()[1], TensorDesc(DType::F32, {64, 512}));
  EXPECT_EQ(typed->values()[2], x);
  EXPECT_NE(selectKernel(DeviceKind::CUDA, *typed), nullptr);
  EXPECT_EQ(scaledBySum(x, 1, 0).status().message(),
            "primitive 1 (expand): its result y must be a result of the call: "
            "nothing else gives its type");
  EXPECT_EQ(scaledBySum(x, 3, 3).status().message(),
            "primitive 0 (reduce_sum): its result y must be a result of the "
            "call: nothing else gives its type");
}

/// A group has all that is reduced together: there must be groups for all of a
/// card, or little to do.
TEST(Bodies, OfAGraphReduceNoMoreThanAGroupCan) {
  auto chosen = [](std::initializer_list<int64_t> shape, int64_t axis) {
    StatusOr<TypedBody> typed =
        scaledBySum(TensorDesc(DType::F32, shape), axis, axis);
    EXPECT_TRUE(typed.ok()) << typed.status().toString();
    return selectKernel(DeviceKind::CUDA, *typed) != nullptr;
  };
  EXPECT_TRUE(chosen({3, 16384}, 1));
  EXPECT_FALSE(chosen({3, 16388}, 1));
  EXPECT_TRUE(chosen({132, 1 << 18}, 1));
  EXPECT_FALSE(chosen({131, 1 << 18}, 1));
  EXPECT_FALSE(chosen({132, (1 << 18) + 4}, 1));
  EXPECT_TRUE(chosen({512, 1024}, 0));
  EXPECT_TRUE(chosen({8192, 4096}, 0));
  EXPECT_FALSE(chosen({8192, 512}, 0));
  EXPECT_FALSE(chosen({16, 1}, 1));
  // As many reductions as there may be, two for each softmax, and one more.
  auto softmaxes = [](size_t count) {
    auto body = std::make_shared<Body>();
    body->numOperands = 1;
    for (size_t i = 0; i < count; ++i)
      body->primitives.push_back({OpKind::Softmax, {}, {int32_t(i)}});
    body->results = {uint32_t(count)};
    TensorDesc desc(DType::F64, {512, 16});
    StatusOr<TypedBody> typed = TypedBody::create(body, {&desc, 1}, {&desc, 1});
    EXPECT_TRUE(typed.ok()) << typed.status().toString();
    return selectKernel(DeviceKind::CUDA, *typed) != nullptr;
  };
  EXPECT_TRUE(softmaxes(4));
  EXPECT_FALSE(softmaxes(5));
  // What is reduced differs.
  auto body = std::make_shared<Body>();
  body->numOperands = 1;
  body->primitives = {sumAlong(1, 0), repeatAlong(1, 1), sumAlong(0, 2)};
  body->results = {3};
  TensorDesc x(DType::F32, {64, 512}), y(DType::F32, {512});
  StatusOr<TypedBody> typed = TypedBody::create(body, {&x, 1}, {&y, 1});
  ASSERT_TRUE(typed.ok()) << typed.status().toString();
  EXPECT_EQ(selectKernel(DeviceKind::CUDA, *typed), nullptr);
}

/// What the sums of one graph have in common.
TEST(Bodies, OfAGraphSumWhatGoesTogether) {
  auto chosen = [](OpKind kind, int64_t first, int64_t second, TensorDesc y,
                   TensorDesc z, DType other = DType::F32) {
    Body body;
    body.numOperands = 2;
    body.primitives = {
        {OpKind::Relu, {}, {0}},
        {OpKind::ReduceSum, encodeAttrs(ReduceSumAttrs{first}), {2}},
        {kind, encodeAttrs(ReduceSumAttrs{second}), {1}}};
    body.results = {3, 4};
    TensorDesc ins[] = {{DType::F32, {4, 6}}, {other, {4, 6}}};
    TensorDesc outs[] = {y, z};
    StatusOr<TypedBody> typed =
        TypedBody::create(std::make_shared<Body>(body), {ins, 2}, {outs, 2});
    EXPECT_TRUE(typed.ok()) << typed.status().toString();
    return selectKernel(DeviceKind::CUDA, *typed);
  };
  const TensorDesc columns(DType::F32, {6}), rows(DType::F32, {4});
  const OpKind sum = OpKind::ReduceSum;
  EXPECT_NE(chosen(sum, 0, 0, columns, columns), nullptr);
  EXPECT_NE(chosen(OpKind::ReduceMean, 0, 0, columns, {DType::F32, {1, 6}}),
            nullptr);
  EXPECT_EQ(chosen(sum, 0, 1, columns, rows), nullptr);
  EXPECT_EQ(chosen(sum, 0, 0, columns, {DType::F64, {6}}, DType::F64), nullptr);
  EXPECT_EQ(
      chosen(sum, 0, 0, columns, TensorDesc::strided(DType::F32, {6}, {2})),
      nullptr);
}

/// A kernel counts the elements of a sum in 32 bits.
TEST(Bodies, OfAGraphSumNoMoreThanAKernelCounts) {
  auto body = std::make_shared<Body>();
  body->numOperands = 1;
  body->primitives = {{OpKind::Exp, {}, {0}},
                      {OpKind::ReduceSum, encodeAttrs(ReduceSumAttrs{1}), {1}}};
  body->results = {2};
  auto chosen = [&](int64_t size) {
    TensorDesc x(DType::BF16, {size >> 8, 1 << 8, 2}), y(DType::BF16, {2});
    StatusOr<TypedBody> typed = TypedBody::create(body, {&x, 1}, {&y, 1});
    EXPECT_TRUE(typed.ok()) << typed.status().toString();
    return selectKernel(DeviceKind::CUDA, *typed);
  };
  EXPECT_NE(chosen(int64_t(1) << 31), nullptr);
  EXPECT_EQ(chosen(int64_t(1) << 32), nullptr);
}

/// Parts of a graph that share no value have no rule in common.
TEST(Bodies, OfAGraphAreOfOneShape) {
  Body body;
  body.numOperands = 2;
  body.primitives = {{OpKind::Relu, {}, {0}}, {OpKind::Tanh, {}, {1}}};
  body.results = {2, 3};
  auto shared = std::make_shared<Body>(body);
  auto chosen = [&](int64_t first, int64_t second) {
    TensorDesc descs[] = {{DType::F32, {first}}, {DType::F32, {second}}};
    StatusOr<TypedBody> typed =
        TypedBody::create(shared, {descs, 2}, {descs, 2});
    EXPECT_TRUE(typed.ok()) << typed.status().toString();
    return selectKernel(DeviceKind::CPU, *typed);
  };
  EXPECT_NE(chosen(3, 3), nullptr);
  EXPECT_EQ(chosen(3, 4), nullptr);
}

/// Optional nodes at the end of a pattern may be absent.
TEST(Bodies, MayEndBeforeTheirPattern) {
  auto body = bodyOf(patterns::GemmBias, OpKind::Relu);
  ASSERT_TRUE(body);
  body->primitives.pop_back(); // the vector keeps its capacity
  --body->results[0];
  EXPECT_TRUE(checkForm(*body).ok()) << checkForm(*body).toString();
  EXPECT_EQ(factsOf(*body).pattern, patterns::GemmBias);
}

/// A result that is tied to an operand would be tied to nothing without it.
TEST(Bodies, OfAPatternHaveTheOperandsThatItTies) {
  for (const PatternInfo &pattern : allPatterns())
    for (const PatternTieInfo &tie : pattern.ties) {
      const NodeInfo &node = pattern.nodes[tie.operand.node];
      bool isThere = infoOf(node.kind).operands[tie.operand.slot].presence !=
                     Presence::Optional;
      if (pattern.batch)
        for (const PresenceInfo &p : pattern.batch->presences)
          isThere |= p.isThere && p.operand == tie.operand;
      EXPECT_TRUE(isThere && !node.isOptional) << pattern.name;
    }
}

/// TypedBody::stored() looks there for it.
TEST(Bodies, KeepZerosInColumnsByTheFirstField) {
  size_t found = 0;
  for (uint16_t k = 0; k < kNumOpKinds; ++k)
    if (const OpInfo &info = infoOf(OpKind(k));
        info.keepsZeros == KeepsZeros::InColumns) {
      ++found;
      ASSERT_GT(info.numFields, 0u) << info.name;
      EXPECT_EQ(info.fields[0].name, "axis") << info.name;
    }
  EXPECT_GT(found, 0u);
}

/// Of untrusted plans: sizes are multiplied all over.
TEST(Bodies, HoldNoValueThatIsTooLarge) {
  GemmAttrs gemm{};
  ReduceSumAttrs sum{};
  Body body;
  body.numOperands = 2;
  body.primitives = {{OpKind::Gemm, encodeAttrs(gemm), {0, 1}},
                     {OpKind::ReduceSum, encodeAttrs(sum), {2}}};
  body.results = {3};
  const int64_t most = INT32_MAX;
  std::vector<TensorDesc> ins = {{DType::F32, {most, 1}},
                                 {DType::F32, {1, most}}};
  std::vector<TensorDesc> outs = {{DType::F32, {most}}};
  EXPECT_EQ(
      describeValues(body, ins, outs).status().message(),
      "gemm: result 0 would be 2147483647x2147483647xf32, expected a rank up "
      "to 8, dimensions up to 2147483647 and up to 70368744177664 bytes");
}

} // namespace
