//===- CudaReductions.cpp - a graph's kernel with reductions inside -------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// A group of threads has a row, or some columns (GroupPlan in Schedule.h). It
// goes through them in phases. In each, its threads add what the phase reduces,
// and sum it up together (Groups.cu); the last one writes what is whole:
//
//   phase 0   loads, elementwise -> partial sums --group--> what is left
//   phase 1   elementwise, with what is left repeated -> partial sums ...
//   last      elementwise -> stores
//
// Where a thread has few vectors, a value stays in registers from phase to
// phase. Else the phases are loops over a few vectors at a time. What the first
// one loads, it keeps in shared memory for as many turns of
// the loop as there is room. The others take it from there, or load it again
// from a cache, and compute again what they need. A thread keeps what itself
// reads, so nobody waits for that. Loads of all vectors of a turn stand in
// front of what is computed. All threads of a group compute the values behind a
// reduction redundantly. All stores are in the last phase, behind all loads of
// the same elements.
//===----------------------------------------------------------------------===//

#include "kernels/graph/CudaReductions.h"
#include "kernels/graph/CudaScalars.h"

#include <cstring>
#include <iterator>

namespace aicf::cuda {

//===----------------------------------------------------------------------===//
// Phases
//===----------------------------------------------------------------------===//

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

/// True if every thread has all the vectors of each turn.
bool ReductionsWriter::areAllThere() const {
  return plan.size % (plan.step() * plan.turnsAtATime()) == 0 &&
         plan.inner % (plan.inner == 1 ? 1 : plan.across * plan.vector) == 0 &&
         plan.groups() % (plan.threads / (plan.across * plan.along)) == 0;
}

/// Goes to vector `k` of those that a thread has at a time, the first of them
/// at `at` along what is reduced.
void ReductionsWriter::beginVector(size_t k, const std::string &at) {
  const std::string own = wideRegister(), first = wideRegister();
  line("add.u64 ", own, ", ", at, ", ", text(int64_t(k) * plan.step()));
  if (!areAllThere()) {
    all[k].isThere = predicate();
    line("setp.lt.u64 ", all[k].isThere, ", ", own, ", ", text(plan.size));
    line("and.pred ", all[k].isThere, ", ", all[k].isThere, ", ", exists);
  }
  line("mad.lo.u64 ", first, ", ", own, ", ", text(plan.inner), ", ", base);
  all[k].elements.first = first;
  all[k].along = own;
}

/// Moves to such a vector. A row, or a column, is one of a matrix.
void ReductionsWriter::goTo(const Turn &one) {
  if (plan.inner == 1)
    writer.goTo(writer.firstElement(), outerIndex, one.along, plan.size);
  else if (plan.outer == 1)
    writer.goTo(writer.firstElement(), one.along, firstColumn, plan.inner);
  else
    writer.goTo(writer.firstElement());
}

/// Goes through as many vectors as a thread has at a time. Where each is there,
/// nothing branches, and what is computed of them goes side by side.
Status ReductionsWriter::turns(size_t number, const std::string &at) {
  writer.setLanes(plan.vector);
  auto ofEach = [&](const auto &use) -> Status {
    for (size_t k = 0; k < all.size(); ++k) {
      const bool isFresh = all[k].elements.first.empty();
      if (isFresh)
        beginVector(k, at);
      const std::string end = all[k].isThere.empty() ? "" : label();
      if (!end.empty())
        line("@!", all[k].isThere, " bra ", end);
      writer.exchange(all[k].elements);
      if (isFresh)
        goTo(all[k]);
      AICF_RETURN_IF_ERROR(use(k));
      writer.exchange(all[k].elements);
      if (!end.empty())
        writer.text(end + ":\n");
    }
    return {};
  };
  AICF_RETURN_IF_ERROR(ofEach([&](size_t k) {
    beginLoads(number, k);
    return Status();
  }));
  return ofEach([&](size_t k) {
    keepLoaded(number, k);
    return turn(number);
  });
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

/// Goes to the slots of the thread's first vectors.
void ReductionsWriter::beginSlots() {
  if (keptTurns == 0)
    return;
  const std::string thread = word();
  keptBase = wideRegister();
  slot = wideRegister();
  if (keptTurns < plan.turns())
    hasSlot = predicate();
  line("mov.u64 ", keptBase, ", ", kKeptMemory);
  line("mov.u32 ", thread, ", %tid.x");
  line("cvt.u64.u32 ", slot, ", ", thread);
}

/// All turns of a phase whose elements do not stay in registers.
Status ReductionsWriter::loop(size_t number) {
  const std::string again = label(), at = wideRegister(), more = predicate();
  line("mov.b64 ", at, ", ", along);
  beginSlots();
  writer.text(again + ":\n");
  if (!hasSlot.empty()) // the same for all threads: `at` begins below a step
    line("setp.lt.u64 ", hasSlot, ", ", at, ", ",
         text(keptTurns * plan.step()));
  for (Turn &turn : all)
    turn = {{}, writer.noElements(), {}};
  AICF_RETURN_IF_ERROR(turns(number, at));
  line("add.u64 ", at, ", ", at, ", ", text(int64_t(all.size()) * plan.step()));
  if (keptTurns > 0)
    line("add.u64 ", slot, ", ", slot, ", ",
         text(int64_t(all.size()) * plan.threads));
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

/// Blocks of a multiprocessor that the registers of a thread must leave room
/// for. With two large ones, a thread has 64 registers. Measured on an H200:
/// that makes loops over rows up to 1.15 times as fast, also where shared
/// memory has room for one block, since the assembler orders the loads in
/// another way. It costs up to a third where the elements at hand take more
/// than half of them, and in loops over four tensors, whose values are put
/// aside. Long bodies, which were not measured, may have more.
int64_t ReductionsWriter::blocksTogether() {
  constexpr int64_t kFewFunctions = 16, kFewTensors = 3;
  writer.setLanes(plan.vector);
  if (plan.threads < GroupPlan::kMostThreads ||
      families::functionsOf(graph) > kFewFunctions)
    return 1;
  int64_t registers = 0; // of what a thread loads at a time
  int64_t tensors =
      std::count_if(body.results.begin(), body.results.end(),
                    [&](uint32_t result) { return isWhole(result); });
  for (uint32_t i = 0; i < body.numOperands; ++i)
    if (isWhole(i) && writer.mayBeKept(i)) {
      ++tensors;
      registers += plan.vector * plan.turnsAtATime() *
                   (sizeOf(graph.types[i].dtype) == 8 ? 2 : 1);
    }
  const bool isLoopOverRows = plan.inner == 1 && !plan.staysInRegisters();
  return registers <= 32 || (isLoopOverRows && tensors <= kFewTensors) ? 2 : 1;
}

StatusOr<GraphKernel> ReductionsWriter::run() {
  for (size_t phase : phaseOf)
    lastPhase = std::max(lastPhase, phase);
  partial.resize(graph.types.size());
  for (int64_t k = 0; k < plan.turnsAtATime(); ++k)
    all.push_back({{}, writer.noElements(), {}});
  writer.setParameter(kAddresses);
  writer.setLanes(plan.vector);
  planKept();
  findPlace();
  for (size_t number = 0; number <= lastPhase; ++number)
    AICF_RETURN_IF_ERROR(phase(number));
  AICF_RETURN_IF_ERROR(storeLeft());
  return kernelOf(writer, writer.takeCode(), numPredicates, plan.threads,
                  plan.blocks(), blocksTogether(), keptBytes);
}

StatusOr<GraphKernel> writeReductionsKernel(const Body &body,
                                            Span<const TensorView> values,
                                            const DeviceLimits &limits) {
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
  return ReductionsWriter(*graph, own, *plan, limits).run();
}

} // namespace aicf::cuda
