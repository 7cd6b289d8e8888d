//===- Interpreter.cpp - runs a plan in f64, without kernels --------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Interpreter/Interpreter.h"
#include "lib/Schedule/HappensBefore.h"

#include "kernels/reference/Reference.h"
#include "lib/Base/Element.h"
#include "lib/Base/Runs.h"
#include "lib/Ops/CallView.h"
#include "lib/Ops/Graphs.h"
#include "lib/Ops/Patterns.h"
#include "lib/Runtime/IO/Initializers.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>

namespace aicf {

/// What a byte of memory holds that nobody has written. Each byte has a number,
/// and a tensor uses that of each element's first byte.
static constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();

Interpreter::Interpreter(std::shared_ptr<const Plan> plan,
                         InterpreterOptions options)
    : plan(std::move(plan)), options(options),
      random(options.orderSeed.value_or(0)) {
  const Plan &p = *this->plan;
  persistent.assign(p.persistentBytes, kNothing);
  isPersistentWritten.resize(p.buffers.size());
  for (uint32_t i = 0; i < p.buffers.size(); ++i)
    if (p.buffers[i].derivedFrom >= 0)
      derivedStates[uint32_t(p.buffers[i].derivedFrom)].push_back(i);
  for (const PlanEntry &entry : p.entries)
    entries.push_back({Memory(entry.ioBytes, kNothing),
                       Memory(entry.tempBytes, kNothing),
                       std::vector<bool>(entry.buffers.size()),
                       {},
                       {}});
  for (size_t e = 0; e < entries.size(); ++e)
    findAccesses(e);
  for (uint32_t i = 0; i < p.buffers.size(); ++i) {
    TensorInfo t = p.tensor({}, i);
    bool isConstant = t.role == Role::Constant;
    if ((t.init == InitKind::None && !isConstant) || t.isDerived())
      continue;
    std::vector<uint8_t> bytes =
        isConstant ? p.buffers[i].data.bytes : initialValue(t, options.seed);
    std::vector<double> values;
    for (size_t at = 0; at < bytes.size(); at += sizeOf(t.desc.dtype))
      values.push_back(loadElement(t.desc.dtype, bytes.data() + at));
    store({0, i}, values);
    setWritten(0, i);
  }
}

StatusOr<Interpreter::ValueRef>
Interpreter::locate(std::string_view entry, std::string_view name) const {
  for (uint32_t i = 0; entry.empty() && i < plan->buffers.size(); ++i)
    if (plan->buffers[i].name == name)
      return ValueRef{0, i};
  for (size_t e = 0; e < entries.size(); ++e) {
    const PlanEntry &candidate = plan->entries[e];
    for (size_t i = 0; candidate.name == entry && i < candidate.buffers.size();
         ++i)
      if (candidate.buffers[i].name == name &&
          segmentOf(candidate.buffers[i].role) == Segment::IO)
        return ValueRef{e, uint32_t(plan->buffers.size() + i)};
  }
  return makeError(StatusCode::InvalidArgument, "no tensor named \"", name,
                   "\"", entry.empty() ? "" : " in entry ", entry);
}

Interpreter::Memory &Interpreter::memoryOf(size_t entry, Segment segment) {
  switch (segment) {
  case Segment::Persistent:
    return persistent;
  case Segment::IO:
    return entries[entry].io;
  case Segment::Temp:
    break;
  }
  return entries[entry].temp;
}

double *Interpreter::slotOf(ValueRef at) {
  const PlanBuffer &buffer = bufferOf(at);
  return memoryOf(at.entry, segmentOf(buffer.role)).data() +
         (buffer.offset + value(at).byteOffset);
}

std::vector<double> Interpreter::load(ValueRef at) const {
  const TensorDesc &desc = value(at).desc;
  const size_t elementBytes = sizeOf(desc.dtype);
  const double *memory = const_cast<Interpreter *>(this)->slotOf(at);
  std::vector<double> values(size_t(desc.elements()));
  forEachRun(desc, [&](int64_t first, int64_t start, int64_t count) {
    for (int64_t i = 0; i < count; ++i)
      values[size_t(first + i)] = memory[size_t(start + i) * elementBytes];
  });
  return values;
}

void Interpreter::store(ValueRef at, const std::vector<double> &values) {
  const TensorDesc &desc = value(at).desc;
  const size_t elementBytes = sizeOf(desc.dtype);
  bool isRounded = options.roundToDType && isFloat(desc.dtype);
  double *memory = slotOf(at);
  forEachRun(desc, [&](int64_t first, int64_t start, int64_t count) {
    for (int64_t i = 0; i < count; ++i) {
      double value = values[size_t(first + i)];
      // Integers wrap around; results of i64 beyond 2^53 are not known here.
      if (desc.dtype == DType::I32)
        value = int32_t(int64_t(value));
      uint8_t bytes[8];
      if (isRounded) {
        storeElement(desc.dtype, bytes, value);
        value = loadElement(desc.dtype, bytes);
      }
      double *slot = memory + size_t(start + i) * elementBytes;
      *slot = value;
      std::fill(slot + 1, slot + elementBytes, kNothing);
    }
  });
}

bool Interpreter::isWritten(size_t entry, uint32_t buffer) const {
  return buffer < isPersistentWritten.size()
             ? isPersistentWritten[buffer]
             : entries[entry].isWritten[buffer - isPersistentWritten.size()];
}

void Interpreter::setWritten(size_t entry, uint32_t buffer) {
  if (buffer >= isPersistentWritten.size()) {
    entries[entry].isWritten[buffer - isPersistentWritten.size()] = true;
    return;
  }
  isPersistentWritten[buffer] = true;
  refreshDerived(buffer);
}

void Interpreter::refreshDerived(uint32_t source) {
  auto of = derivedStates.find(source);
  if (of == derivedStates.end())
    return;
  for (uint32_t state : of->second) {
    store({0, state}, load({0, source}));
    isPersistentWritten[state] = true;
  }
}

StatusOr<TensorInfo> Interpreter::find(std::string_view entry,
                                       std::string_view name) const {
  AICF_ASSIGN_OR_RETURN(ValueRef at, locate(entry, name));
  return plan->tensor(plan->entries[at.entry], at.number);
}

Status Interpreter::write(std::string_view entry, std::string_view name,
                          Span<const double> values) {
  AICF_ASSIGN_OR_RETURN(ValueRef at, locate(entry, name));
  const TensorDesc &desc = value(at).desc;
  if (values.size() != size_t(desc.elements()))
    return makeError(StatusCode::InvalidArgument, "\"", name, "\" is ",
                     desc.toString(), ", got ", values.size(), " values");
  const PlanBuffer &buffer = bufferOf(at);
  bool isDerived = buffer.derivedFrom >= 0;
  if (buffer.role == Role::Output || buffer.role == Role::Constant || isDerived)
    return makeError(StatusCode::InvalidArgument, "\"", name, "\" is ",
                     isDerived                     ? "derived"
                     : buffer.role == Role::Output ? "an output"
                                                   : "a constant",
                     ": it cannot be written");
  store(at, std::vector<double>(values.begin(), values.end()));
  setWritten(at.entry, at.number);
  return {};
}

StatusOr<std::vector<double>> Interpreter::read(std::string_view entry,
                                                std::string_view name) const {
  AICF_ASSIGN_OR_RETURN(ValueRef at, locate(entry, name));
  if (!isWritten(at.entry, at.number))
    return makeError(StatusCode::NotInitialized, "\"", name,
                     "\" has no value yet");
  return load(at);
}

/// The calls [first, end), each after those that it must wait for: the next one
/// of a random stream whose events are there.
std::vector<size_t> Interpreter::orderOf(const PlanEntry &entry, size_t first,
                                         size_t end) {
  std::vector<size_t> order(end - first);
  for (size_t i = 0; i < order.size(); ++i)
    order[i] = first + i;
  if (!options.orderSeed)
    return order;
  std::vector<std::vector<size_t>> streams(HappensBefore::kMaxStreams);
  for (size_t i = end; i-- > first;)
    streams[entry.calls[i].stream].push_back(i); // the next one is at the back
  std::set<int64_t> events;
  for (size_t &next : order) {
    std::vector<uint32_t> ready;
    for (uint32_t s = 0; s < streams.size(); ++s) {
      if (streams[s].empty())
        continue;
      const auto &waits = entry.calls[streams[s].back()].waits;
      if (std::all_of(waits.begin(), waits.end(),
                      [&](int64_t event) { return events.count(event) > 0; }))
        ready.push_back(s);
    }
    // Never empty: a verified plan signals every event before its waits.
    uint32_t stream = ready[random() % ready.size()];
    next = streams[stream].back();
    streams[stream].pop_back();
    const auto &signals = entry.calls[next].signals;
    events.insert(signals.begin(), signals.end());
  }
  return order;
}

/// The bytes of buffers that some calls have written, one by one.
namespace {
class WrittenBytes {
public:
  WrittenBytes(const Plan &plan, const PlanEntry &entry)
      : plan(plan), entry(entry) {}
  void add(uint32_t value) {
    std::vector<bool> &bytes = of(value);
    forEachByte(value, [&](size_t byte) { bytes[byte] = true; });
  }
  bool has(uint32_t value) {
    std::vector<bool> &bytes = of(value);
    bool all = true;
    forEachByte(value, [&](size_t byte) { all = all && bytes[byte]; });
    return all;
  }
  /// The buffers of which every byte is written.
  std::vector<uint32_t> whole() const {
    std::vector<uint32_t> numbers;
    for (const auto &[buffer, bytes] : written)
      if (std::find(bytes.begin(), bytes.end(), false) == bytes.end())
        numbers.push_back(buffer);
    return numbers;
  }

private:
  std::vector<bool> &of(uint32_t value) {
    uint32_t buffer = plan.value(entry, value).buffer;
    std::vector<bool> &bytes = written[buffer];
    bytes.resize(plan.buffer(entry, buffer).bytes);
    return bytes;
  }
  /// Pads included: kernels write zeros there.
  template <typename Function>
  void forEachByte(uint32_t value, Function function) {
    const PlanValue &v = plan.value(entry, value);
    forEachRun(v.desc.layout == Layout::Padded ? v.desc.stored() : v.desc,
               [&](int64_t, int64_t start, int64_t count) {
                 const size_t element = sizeOf(v.desc.dtype);
                 for (size_t b = 0; b < size_t(count) * element; ++b)
                   function(v.byteOffset + size_t(start) * element + b);
               });
  }

  const Plan &plan;
  const PlanEntry &entry;
  std::map<uint32_t, std::vector<bool>> written; ///< by buffer
};
} // namespace

void Interpreter::findAccesses(size_t entry) {
  const PlanEntry &e = plan->entries[entry];
  WrittenBytes written(*plan, e);
  std::set<uint32_t> read;
  for (const PlanCall &call : e.calls) {
    for (uint32_t in : call.ins) {
      Role role = plan->bufferOf(e, in).role;
      bool isOutside =
          role == Role::Input || segmentOf(role) == Segment::Persistent;
      if (isOutside && !written.has(in))
        read.insert(plan->value(e, in).buffer);
    }
    for (uint32_t out : call.outs)
      written.add(out);
  }
  entries[entry].read.assign(read.begin(), read.end());
  entries[entry].written = written.whole();
}

/// Whatever a run reads before it writes all of it has a value.
Status Interpreter::checkInputs(size_t entry) const {
  const PlanEntry &e = plan->entries[entry];
  for (uint32_t buffer : entries[entry].read)
    if (!isWritten(entry, buffer)) {
      const PlanBuffer &b = plan->buffer(e, buffer);
      return makeError(StatusCode::NotInitialized, "entry ", e.name, ": ",
                       nameOf(b.role), " \"", b.name, "\" was never written");
    }
  return {};
}

/// True if the kernel has read what stands at `read` before it overwrites it
/// with value `result` of the body: the record, or the pattern, ties the two.
static bool isReadInTime(const Body &body, uint32_t result,
                         reference::BodySlot read) {
  auto [maker, of] = body.makerOf(result);
  const Primitive &primitive = body.primitives[read.primitive];
  if (body.primitives.size() == 1)
    return CallSlots::of(infoOf(primitive.kind), primitive.operands.size())
        ->mayShareStorage(of, read.slot);
  const PatternInfo *pattern = patternOf(factsOf(body).pattern.value_or(0));
  if (pattern && pattern->graph) {
    const std::vector<Extent> extents = graphExtents(body);
    const auto operand =
        size_t(body.primitives[read.primitive].operands[read.slot]);
    return extents[result] == Extent::Whole &&
           extents[operand] == Extent::Whole;
  }
  auto form = pattern ? formOf(*pattern, body) : std::nullopt;
  if (!form || maker / form->stride != read.primitive / form->stride)
    return false;
  auto isAt = [&](NodeSlot where, size_t at, size_t slot) {
    return form->primitiveOf[where.node] == int8_t(at % form->stride) &&
           where.slot == slot;
  };
  for (const PatternTieInfo &tie : pattern->ties) {
    if (!isAt(tie.result, maker, of))
      continue;
    if (isAt(tie.operand, read.primitive, read.slot))
      return true;
    for (const BindingInfo &b : pattern->bindings)
      if (!b.isResult && b.to == tie.operand &&
          isAt(b.operand, read.primitive, read.slot))
        return true;
  }
  return false;
}

/// Results are overwritten before operands are read: what a kernel in where may
/// read too late is lost.
static std::vector<reference::BodySlot>
lostReads(const Plan &plan, size_t entry, const PlanCall &call) {
  std::vector<reference::BodySlot> lost;
  auto startOf = [&](uint32_t number) {
    const PlanValue &v = plan.value(plan.entries[entry], number);
    return std::pair(v.buffer, v.byteOffset);
  };
  auto isSameOrder = [&](uint32_t a, uint32_t b) {
    return plan.value(plan.entries[entry], a).desc ==
           plan.value(plan.entries[entry], b).desc;
  };
  const Body &body = *call.body;
  for (size_t r = 0; r < call.outs.size(); ++r)
    for (size_t i = 0; i < call.ins.size(); ++i)
      for (size_t primitive = 0;
           startOf(call.ins[i]) == startOf(call.outs[r]) &&
           primitive < body.primitives.size();
           ++primitive)
        for (size_t slot = 0; slot < body.primitives[primitive].operands.size();
             ++slot)
          if (body.primitives[primitive].operands[slot] == int32_t(i) &&
              (!isSameOrder(call.ins[i], call.outs[r]) ||
               !isReadInTime(body, body.results[r], {primitive, slot})))
            lost.push_back({primitive, slot});
  return lost;
}

void Interpreter::runCall(size_t entry, const PlanCall &call) {
  std::vector<reference::Tensor> ins, outs;
  for (uint32_t in : call.ins)
    ins.push_back({value({entry, in}).desc, load({entry, in})});
  for (uint32_t out : call.outs) {
    const TensorDesc &desc = value({entry, out}).desc;
    outs.push_back(
        {desc, std::vector<double>(size_t(desc.elements()), kNothing)});
  }
  reference::run(*call.body, ins, outs, lostReads(*plan, entry, call));
  if (call.workspace >= 0) { // scribbled on
    const PlanBuffer &buffer =
        plan->buffer(plan->entries[entry], uint32_t(call.workspace));
    double *slots = memoryOf(entry, Segment::Temp).data();
    std::fill(slots + buffer.offset,
              slots + (buffer.offset + buffer.bytes), kNothing);
  }
  for (size_t i = 0; i < outs.size(); ++i)
    store({entry, call.outs[i]}, outs[i].values);
}

Status Interpreter::run(std::string_view entry) {
  size_t index = 0;
  while (index < plan->entries.size() && plan->entries[index].name != entry)
    ++index;
  if (index == plan->entries.size())
    return makeError(StatusCode::InvalidArgument, "the plan has no entry \"",
                     entry, "\"");
  AICF_RETURN_IF_ERROR(checkInputs(index));
  const PlanEntry &e = plan->entries[index];
  size_t first = 0;
  for (const PlanPart &part : e.runs()) {
    for (uint32_t time = 0; time < part.times; ++time) {
      std::fill(entries[index].temp.begin(), entries[index].temp.end(),
                kNothing); // no temp lives on into another run
      for (size_t i : orderOf(e, first, first + part.numCalls))
        runCall(index, e.calls[i]);
    }
    first += part.numCalls;
  }
  for (uint32_t buffer : entries[index].written)
    if (buffer < isPersistentWritten.size())
      isPersistentWritten[buffer] = true; // and its derived states by calls
    else
      setWritten(index, buffer);
  return {};
}

} // namespace aicf
