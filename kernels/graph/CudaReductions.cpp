//===- CudaReductions.cpp - a graph's kernel with reductions inside -------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// A group of threads has a row, or some columns (GroupPlan in Family.h). It
// goes through them in phases. In each, its threads add what the phase reduces,
// and sum it up together (Groups.cu); the last one writes what is whole:
//
//   phase 0   loads, elementwise -> partial sums --group--> what is left
//   phase 1   elementwise, with what is left repeated -> partial sums ...
//   last      elementwise -> stores
//
// Where a thread has few vectors, a value stays in registers from phase to
// phase. Else the phases are loops over a few vectors at a time, and each loads
// and computes again what it needs: the second time from a cache. Loads of all
// these vectors stand in front of what is computed. What is left, every thread
// of the group computes for itself. All stores are in the last phase, behind
// all loads of the same elements.
//===----------------------------------------------------------------------===//

#include "kernels/graph/CudaElements.h"
#include "kernels/graph/CudaProgram.h"
#include "kernels/graph/CudaScalars.h"
#include "kernels/graph/Family.h"

#include <cstring>

namespace aicf::cuda {
namespace {

using families::GroupPlan;
using rules::wide;

class ReductionsWriter {
public:
  /// `values` by the graph's numbers.
  ReductionsWriter(const RowGraph &graph, Span<const TensorView> values,
                   const GroupPlan &plan)
      : graph(graph), body(graph.body), plan(plan),
        writer(graph.body, values, graph.extents), phaseOf(graph.types.size()) {
    for (size_t p = 0; p < body.primitives.size(); ++p)
      for (int32_t operand : body.primitives[p].operands)
        phaseOf[valueOf(p)] =
            std::max(phaseOf[valueOf(p)],
                     phaseOf[size_t(operand)] + (graph.isReduction(p) ? 1 : 0));
  }
  StatusOr<GraphKernel> run();

private:
  uint32_t valueOf(size_t primitive) const { return graph.valueOf(primitive); }
  const Primitive &makerOf(uint32_t value) const {
    return body.primitives[value - body.numOperands];
  }
  RowStep stepOf(uint32_t value) const {
    return graph.steps[value - body.numOperands];
  }
  bool isRepeated(uint32_t value) const {
    return value >= body.numOperands && stepOf(value) == RowStep::Repeat;
  }
  bool isWhole(uint32_t value) const {
    return graph.extents[value] == Extent::Whole;
  }
  DType typeOf(uint32_t value) const { return graph.types[value].dtype; }
  DType reducedIn(uint32_t value) const {
    return wide(typeOf(uint32_t(makerOf(value).operands[0])));
  }
  /// Elements of what is left that a thread knows.
  int64_t numLeft() const { return plan.inner == 1 ? 1 : plan.vector; }

  template <typename... Args> void line(const Args &...args) {
    writer.line(args...);
  }
  static std::string text(int64_t n) { return std::to_string(n); }
  std::string wideRegister() { return writer.newRegister(true); }
  std::string word() { return writer.newRegister(false); }
  std::string predicate() { return "%aq" + text(numPredicates++); }
  std::string label() { return "$A" + text(numLabels++); }

  void findPlace();
  std::vector<uint32_t> sumsOf(size_t phase) const;
  void beginSums(const std::vector<uint32_t> &sums);
  Status phase(size_t number);
  Status loop(size_t number);
  Status turns(size_t number, const std::string &at);
  Status turn(size_t number);
  void beginLoads(uint32_t value, std::vector<bool> &isSeen);
  Status need(uint32_t value);
  Status addTo(uint32_t sum);
  Status addUp(const std::vector<std::string *> &terms, DType type, bool isMax);
  Status sumUp(const std::vector<uint32_t> &sums);
  Status finish(uint32_t sum);
  Status computeLeft(size_t phase);
  Status storeLeft();

  const RowGraph &graph;
  const Body &body;
  const GroupPlan plan;
  ElementWriter writer;
  /// The phase in which a value can be computed: a sum behind that of what it
  /// adds.
  std::vector<size_t> phaseOf;
  size_t lastPhase = 0;
  size_t numPredicates = 0, numLabels = 0;

  // Registers: where the thread's first elements begin, and what is left of
  // them, in 64 bits; where along what is reduced it begins.
  std::string base, left, along;
  /// Predicates: it is of a group, and stores what is left of it.
  std::string exists, storesLeft;
  /// The vectors of a thread at a time, and a predicate each: it is there.
  struct Turn {
    std::string isThere;
    ElementWriter::Elements elements;
  };
  std::vector<Turn> all;
  std::vector<std::vector<std::string>> partial; ///< by value: of each sum
};

/// Who the thread is. One beyond the last group is where the last group is, but
/// has no elements.
void ReductionsWriter::findPlace() {
  const int64_t threads = plan.across * plan.along;
  const std::string block = word(), thread = word(), inGroup = word(),
                    group = word();
  exists = predicate();
  line("mov.u32 ", block, ", %ctaid.x");
  line("mov.u32 ", thread, ", %tid.x");
  line("div.u32 ", group, ", ", thread, ", ", text(threads));
  line("rem.u32 ", inGroup, ", ", thread, ", ", text(threads));
  line("mad.lo.u32 ", group, ", ", block, ", ", text(plan.threads / threads),
       ", ", group);
  line("setp.lt.u32 ", exists, ", ", group, ", ", text(plan.groups()));
  line("min.u32 ", group, ", ", group, ", ", text(plan.groups() - 1));
  const std::string outer = word(), strip = word(), column = word(),
                    first = word();
  line("div.u32 ", outer, ", ", group, ", ", text(plan.strips()));
  line("rem.u32 ", strip, ", ", group, ", ", text(plan.strips()));
  line("rem.u32 ", column, ", ", inGroup, ", ", text(plan.across));
  line("div.u32 ", first, ", ", inGroup, ", ", text(plan.across));
  std::string isFirst = predicate();
  line("setp.eq.u32 ", isFirst, ", ", first, ", 0");
  base = wideRegister();
  left = wideRegister();
  along = wideRegister();
  const std::string wideColumn = wideRegister();
  line("mad.lo.u32 ", column, ", ", strip, ", ", text(plan.across), ", ",
       column);
  line("mul.wide.u32 ", wideColumn, ", ", column, ", ",
       text(plan.inner == 1 ? 0 : plan.vector));
  const std::string hasColumn = predicate();
  line("setp.lt.u64 ", hasColumn, ", ", wideColumn, ", ", text(plan.inner));
  line("and.pred ", exists, ", ", exists, ", ", hasColumn);
  line("min.u64 ", wideColumn, ", ", wideColumn, ", ",
       text(std::max<int64_t>(plan.inner - plan.vector, 0)));
  const std::string wideOuter = wideRegister();
  line("cvt.u64.u32 ", wideOuter, ", ", outer);
  line("mad.lo.u64 ", base, ", ", wideOuter, ", ", text(plan.size * plan.inner),
       ", ", wideColumn);
  line("mad.lo.u64 ", left, ", ", wideOuter, ", ", text(plan.inner), ", ",
       wideColumn);
  line("mul.wide.u32 ", along, ", ", first, ", ",
       text(plan.inner == 1 ? plan.vector : 1));
  storesLeft = predicate();
  line("and.pred ", storesLeft, ", ", isFirst, ", ", exists);
}

/// Begins to load all operands that a whole value needs.
void ReductionsWriter::beginLoads(uint32_t value, std::vector<bool> &isSeen) {
  if (isSeen[value] || !isWhole(value) || !writer.lanesOf(value).empty())
    return;
  isSeen[value] = true;
  if (value < body.numOperands)
    return writer.beginLoad(value);
  if (!isRepeated(value))
    for (int32_t operand : makerOf(value).operands)
      beginLoads(uint32_t(operand), isSeen);
}

/// Loads or computes a whole value, and all that it needs, unless it is there.
Status ReductionsWriter::need(uint32_t value) {
  if (!writer.lanesOf(value).empty())
    return {};
  if (value < body.numOperands)
    return writer.loadOperand(value);
  if (isRepeated(value)) {
    writer.repeat(value, uint32_t(makerOf(value).operands[0]));
    return {};
  }
  for (int32_t operand : makerOf(value).operands)
    AICF_RETURN_IF_ERROR(need(uint32_t(operand)));
  return writer.computePrimitive(value - body.numOperands);
}

/// Adds the elements at hand to the thread's partial sums.
Status ReductionsWriter::addTo(uint32_t sum) {
  const auto summand = uint32_t(makerOf(sum).operands[0]);
  AICF_RETURN_IF_ERROR(need(summand));
  const std::string type(nameOf(reducedIn(sum)));
  const bool is64Bits = sizeOf(reducedIn(sum)) == 8;
  std::vector<std::string> &sums = partial[sum];
  for (size_t k = 0; k < size_t(plan.vector); ++k) {
    const std::string &mine = sums[k % sums.size()];
    AICF_ASSIGN_OR_RETURN(
        std::string added,
        writer.call((stepOf(sum) == RowStep::Max ? "maximum_" : "add_") + type,
                    {mine, writer.lanesOf(summand)[k]}, is64Bits));
    line(is64Bits ? "mov.b64 " : "mov.b32 ", mine, ", ", added);
  }
  return {};
}

/// The sums of a phase.
std::vector<uint32_t> ReductionsWriter::sumsOf(size_t phase) const {
  std::vector<uint32_t> sums;
  for (size_t p = 0; p < body.primitives.size(); ++p)
    if (graph.isReduction(p) && phaseOf[valueOf(p)] == phase + 1)
      sums.push_back(valueOf(p));
  return sums;
}

/// The elements at hand: adds them where `number` is a phase of sums, stores
/// results in the last one.
Status ReductionsWriter::turn(size_t number) {
  for (uint32_t sum : sumsOf(number))
    AICF_RETURN_IF_ERROR(addTo(sum));
  if (number != lastPhase)
    return {};
  for (uint32_t result : body.results)
    if (isWhole(result)) {
      AICF_RETURN_IF_ERROR(need(result));
    }
  for (uint32_t result : body.results)
    if (isWhole(result)) {
      AICF_RETURN_IF_ERROR(writer.storeResult(result));
    }
  return {};
}

/// Goes through as many vectors as a thread has at a time, the first of them at
/// `at` along what is reduced.
Status ReductionsWriter::turns(size_t number, const std::string &at) {
  std::vector<uint32_t> wanted;
  for (uint32_t sum : sumsOf(number))
    wanted.push_back(uint32_t(makerOf(sum).operands[0]));
  if (number == lastPhase)
    wanted.insert(wanted.end(), body.results.begin(), body.results.end());
  writer.setLanes(plan.vector);
  for (size_t k = 0; k < all.size(); ++k) {
    const std::string end = label();
    const bool isFresh = all[k].isThere.empty();
    if (isFresh) {
      const std::string own = wideRegister();
      all[k].isThere = predicate();
      line("add.u64 ", own, ", ", at, ", ", text(int64_t(k) * plan.step()));
      line("setp.lt.u64 ", all[k].isThere, ", ", own, ", ", text(plan.size));
      line("and.pred ", all[k].isThere, ", ", all[k].isThere, ", ", exists);
      line("mad.lo.u64 ", own, ", ", own, ", ", text(plan.inner), ", ", base);
      all[k].elements.first = own;
    }
    line("@!", all[k].isThere, " bra ", end);
    writer.exchange(all[k].elements);
    if (isFresh)
      writer.goTo(writer.firstElement());
    std::vector<bool> isSeen(graph.types.size());
    for (uint32_t value : wanted)
      beginLoads(value, isSeen);
    writer.exchange(all[k].elements);
    writer.text(end + ":\n");
  }
  for (Turn &one : all) {
    const std::string end = label();
    line("@!", one.isThere, " bra ", end);
    writer.exchange(one.elements);
    AICF_RETURN_IF_ERROR(turn(number));
    writer.exchange(one.elements);
    writer.text(end + ":\n");
  }
  return {};
}

/// Makes sums of the group of `terms`, which every thread of it has, as
/// Groups.cu says.
Status ReductionsWriter::addUp(const std::vector<std::string *> &terms,
                               DType type, bool isMax) {
  const std::string group = (isMax ? "max_" : "sum_") +
                            std::string(nameOf(type)) + "_" +
                            text(plan.across) + "_" + text(plan.along);
  const bool is64Bits = sizeOf(type) == 8;
  auto literal = [&](int64_t n) {
    std::string to = word();
    line("mov.b32 ", to, ", ", text(n));
    return to;
  };
  for (size_t k = 0; k < terms.size(); ++k) {
    AICF_ASSIGN_OR_RETURN(
        *terms[k], writer.call("group_put_" + group,
                               {literal(int64_t(k)), *terms[k]}, is64Bits));
  }
  if (plan.across * plan.along <= 32)
    return {};
  line("bar.sync 0");
  AICF_RETURN_IF_ERROR(writer
                           .call("group_gather_" + group,
                                 {literal(int64_t(terms.size()))}, false)
                           .status());
  line("bar.sync 0");
  for (size_t k = 0; k < terms.size(); ++k) {
    AICF_ASSIGN_OR_RETURN(
        *terms[k],
        writer.call("group_get_" + group, {literal(int64_t(k))}, is64Bits));
  }
  return {};
}

/// What the threads of a group have added for `sums` is put together, as many
/// at a time as there is memory for.
Status ReductionsWriter::sumUp(const std::vector<uint32_t> &sums) {
  std::vector<std::string *> batch;
  DType type{};
  bool isMax = false;
  auto flush = [&]() -> Status {
    AICF_RETURN_IF_ERROR(batch.empty() ? Status() : addUp(batch, type, isMax));
    batch.clear();
    return {};
  };
  for (uint32_t sum : sums)
    for (std::string &mine : partial[sum]) {
      const bool isAlike = type == reducedIn(sum) &&
                           isMax == (stepOf(sum) == RowStep::Max);
      if (!isAlike || batch.size() == size_t(kSumsOfGroup)) {
        AICF_RETURN_IF_ERROR(flush());
      }
      type = reducedIn(sum);
      isMax = stepOf(sum) == RowStep::Max;
      batch.push_back(&mine);
    }
  AICF_RETURN_IF_ERROR(flush());
  for (uint32_t sum : sums)
    AICF_RETURN_IF_ERROR(finish(sum));
  return {};
}

/// A sum is divided for a mean, and rounded to its type.
Status ReductionsWriter::finish(uint32_t sum) {
  const DType type = reducedIn(sum);
  ElementWriter::Lanes totals;
  for (std::string total : partial[sum]) {
    if (stepOf(sum) == RowStep::Mean) {
      const double count = double(plan.size);
      uint64_t bits;
      std::memcpy(&bits, &count, sizeof(bits));
      const std::string divisor = wideRegister();
      line("mov.b64 ", divisor, ", ", std::to_string(bits));
      AICF_ASSIGN_OR_RETURN(
          total, writer.call("div_scalar_" + std::string(nameOf(type)),
                             {divisor, total}, sizeOf(type) == 8));
    }
    totals.push_back(total);
  }
  writer.setLanes(numLeft());
  AICF_ASSIGN_OR_RETURN(totals, writer.convert(totals, type, typeOf(sum)));
  AICF_ASSIGN_OR_RETURN(totals,
                        writer.convert(totals, typeOf(sum), wide(typeOf(sum))));
  writer.setLanesOf(sum, std::move(totals));
  return {};
}

/// What is left, as far as the phases up to `phase` know it.
Status ReductionsWriter::computeLeft(size_t phase) {
  writer.setLanes(numLeft());
  writer.goToReduced(left);
  for (size_t p = 0; p < body.primitives.size(); ++p) {
    const uint32_t value = valueOf(p);
    if (isWhole(value) || graph.isReduction(p) || phaseOf[value] > phase ||
        !writer.lanesOf(value).empty())
      continue;
    for (int32_t operand : body.primitives[p].operands)
      if (writer.lanesOf(uint32_t(operand)).empty()) {
        AICF_RETURN_IF_ERROR(writer.loadOperand(uint32_t(operand)));
      }
    AICF_RETURN_IF_ERROR(writer.computePrimitive(p));
  }
  // What nothing computes with, but repeats.
  for (size_t p = 0; p < body.primitives.size(); ++p)
    if (auto value = uint32_t(body.primitives[p].operands[0]);
        isRepeated(valueOf(p)) && value < body.numOperands &&
        writer.lanesOf(value).empty()) {
      AICF_RETURN_IF_ERROR(writer.loadOperand(value));
    }
  return {};
}

void ReductionsWriter::beginSums(const std::vector<uint32_t> &sums) {
  for (uint32_t sum : sums)
    for (int64_t k = 0; k < numLeft(); ++k) {
      const bool is64Bits = sizeOf(reducedIn(sum)) == 8;
      partial[sum].push_back(writer.newRegister(is64Bits));
      const char *least = is64Bits ? "0xfff0000000000000" : "0xff800000";
      line(is64Bits ? "mov.b64 " : "mov.b32 ", partial[sum].back(), ", ",
           stepOf(sum) == RowStep::Max ? least : "0"); // -infinity
    }
}

/// All turns of a phase whose elements do not stay in registers.
Status ReductionsWriter::loop(size_t number) {
  const std::string again = label(), at = wideRegister(), more = predicate();
  line("mov.b64 ", at, ", ", along);
  writer.text(again + ":\n");
  for (Turn &turn : all)
    turn = {{}, writer.noElements()};
  AICF_RETURN_IF_ERROR(turns(number, at));
  line("add.u64 ", at, ", ", at, ", ", text(int64_t(all.size()) * plan.step()));
  line("setp.lt.u64 ", more, ", ", at, ", ", text(plan.size));
  line("@", more, " bra ", again);
  return {};
}

/// All turns of a phase, and what comes of its sums.
Status ReductionsWriter::phase(size_t number) {
  AICF_RETURN_IF_ERROR(computeLeft(number));
  const std::vector<uint32_t> sums = sumsOf(number);
  if (sums.empty() && number != lastPhase)
    return {};
  beginSums(sums);
  AICF_RETURN_IF_ERROR(plan.staysInRegisters() ? turns(number, along)
                                               : loop(number));
  return sumUp(sums);
}

Status ReductionsWriter::storeLeft() {
  const std::string end = label();
  line("@!", storesLeft, " bra ", end);
  writer.setLanes(numLeft());
  writer.goToReduced(left);
  for (uint32_t result : body.results)
    if (!isWhole(result)) {
      AICF_RETURN_IF_ERROR(writer.storeResult(result));
    }
  writer.text(end + ":\n");
  return {};
}

StatusOr<GraphKernel> ReductionsWriter::run() {
  for (size_t phase : phaseOf)
    lastPhase = std::max(lastPhase, phase);
  partial.resize(graph.types.size());
  for (int64_t k = 0; k < plan.turnsAtATime(); ++k)
    all.push_back({{}, writer.noElements()});
  writer.setParameter(kAddresses);
  findPlace();
  for (size_t number = 0; number <= lastPhase; ++number)
    AICF_RETURN_IF_ERROR(phase(number));
  AICF_RETURN_IF_ERROR(storeLeft());
  return kernelOf(writer, writer.takeCode(), numPredicates, plan.threads,
                  plan.blocks());
}

} // namespace

StatusOr<GraphKernel> writeReductionsKernel(const Body &body,
                                            Span<const TensorView> values) {
  std::vector<TensorDesc> types;
  for (const TensorView &value : values)
    types.push_back(value.desc);
  const std::optional<RowGraph> graph = rowGraphOf(body, types);
  const std::optional<GroupPlan> plan = families::groupPlan(graph);
  if (!plan)
    return makeError(StatusCode::NotImplemented,
                     "the reductions of a graph do not go together");
  std::vector<TensorView> own;
  for (const TensorDesc &type : graph->types)
    own.push_back({nullptr, type});
  for (uint32_t i = 0; i < body.numOperands; ++i)
    own[i] = {values[i].start(), graph->types[i]};
  for (size_t r = 0; r < body.results.size(); ++r) {
    const uint32_t value = graph->body.results[r];
    own[value] = {values[body.results[r]].start(), graph->types[value]};
  }
  return ReductionsWriter(*graph, own, *plan).run();
}

} // namespace aicf::cuda
