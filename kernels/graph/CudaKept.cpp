//===- CudaKept.cpp - where a group of threads has its elements -----------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Which elements a thread has, and what of them stays in shared memory.
//===----------------------------------------------------------------------===//

#include "kernels/graph/CudaReductions.h"

namespace aicf::cuda {

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
  firstColumn = wideColumn;
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
  outerIndex = wideOuter;
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

/// The whole values that a phase adds or stores.
std::vector<uint32_t> ReductionsWriter::wantedIn(size_t phase) const {
  std::vector<uint32_t> wanted;
  for (uint32_t sum : sumsOf(phase))
    wanted.push_back(uint32_t(makerOf(sum).operands[0]));
  if (phase == lastPhase)
    std::copy_if(body.results.begin(), body.results.end(),
                 std::back_inserter(wanted),
                 [&](uint32_t result) { return isWhole(result); });
  return wanted;
}

/// Adds a whole value, and the values that it is computed of, to `isSeen`.
void ReductionsWriter::findOperandsOf(uint32_t value,
                                      std::vector<bool> &isSeen) const {
  if (isSeen[value] || !isWhole(value) || !writer.lanesOf(value).empty())
    return;
  isSeen[value] = true;
  if (value >= body.numOperands && !isRepeated(value))
    for (int32_t operand : makerOf(value).operands)
      findOperandsOf(uint32_t(operand), isSeen);
}

/// Begins to load all operands that a phase needs of one vector.
void ReductionsWriter::beginLoads(size_t number, size_t vector) {
  std::vector<bool> isSeen(graph.types.size());
  for (uint32_t value : wantedIn(number))
    findOperandsOf(value, isSeen);
  for (uint32_t operand = 0; operand < body.numOperands; ++operand)
    if (isSeen[operand]) {
      if (isKept(operand) && kept[operand].phase < number)
        writer.beginLoadKept(operand, slotOf(operand, vector));
      else
        writer.beginLoad(operand);
    }
}

//===----------------------------------------------------------------------===//
// What stays in shared memory
//===----------------------------------------------------------------------===//

/// The shared memory that the sums of a group take (Groups.cu).
int64_t ReductionsWriter::groupBytes() const {
  if (plan.across * plan.along <= 32)
    return 0;
  std::set<std::pair<DType, bool>> kinds;
  for (size_t p = 0; p < body.primitives.size(); ++p)
    if (graph.isReduction(p))
      kinds.insert({reducedIn(valueOf(p)), graph.steps[p] == RowStep::Max});
  int64_t bytes = 0;
  for (const auto &[type, isMax] : kinds)
    bytes += int64_t(sizeOf(type)) * groupNumbers(plan.across, plan.along);
  return bytes;
}

/// Decides what is kept. Bits do not depend on it.
void ReductionsWriter::planKept() {
  kept.resize(body.numOperands);
  if (plan.staysInRegisters())
    return;
  std::vector<size_t> numPhases(body.numOperands);
  for (size_t number = lastPhase + 1; number-- > 0;) {
    std::vector<bool> isSeen(graph.types.size());
    for (uint32_t value : wantedIn(number))
      findOperandsOf(value, isSeen);
    for (uint32_t i = 0; i < body.numOperands; ++i)
      if (isSeen[i]) {
        kept[i].phase = number;
        ++numPhases[i];
      }
  }
  int64_t bytes = 0; // of all that a thread keeps of a turn
  for (uint32_t i = 0; i < body.numOperands; ++i)
    if (numPhases[i] > 1 && writer.mayBeKept(i)) {
      kept[i].bytes = plan.vector * int64_t(sizeOf(graph.types[i].dtype));
      bytes += kept[i].bytes;
    }
  if (bytes == 0)
    return;
  keptTurns =
      families::keptTurns(plan, bytes, groupBytes(), limits.sharedBytesOfBlock);
  for (Kept &one : kept) {
    one.start = keptBytes;
    keptBytes += one.bytes * plan.threads * keptTurns;
  }
  if (keptTurns == 0)
    kept.assign(kept.size(), {});
}

/// Where an operand's vector number `vector` of this turn is kept.
ElementWriter::Slot ReductionsWriter::slotOf(uint32_t operand, size_t vector) {
  const Kept &one = kept[operand];
  const std::string address = wideRegister();
  line("mad.lo.u64 ", address, ", ", slot, ", ", text(one.bytes), ", ",
       keptBase);
  line("add.u64 ", address, ", ", address, ", ",
       text(one.start + int64_t(vector) * plan.threads * one.bytes));
  return {address, hasSlot};
}

/// Keeps what the phase has loaded of one vector, and others will read.
void ReductionsWriter::keepLoaded(size_t number, size_t vector) {
  for (uint32_t operand = 0; operand < body.numOperands; ++operand)
    if (isKept(operand) && kept[operand].phase == number)
      writer.keep(operand, slotOf(operand, vector));
}

} // namespace aicf::cuda
