//===- CpuProgram.cpp - a graph as a list of small kernels ----------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// GraphCompiler makes the steps; CpuRun.cpp runs them. Registers are given out
// by a linear scan (Poletto and Sarkar, "Linear Scan Register Allocation",
// 1999) over steps that are a straight line.
//===----------------------------------------------------------------------===//

#include "kernels/graph/CpuProgram.h"
#include "kernels/cpu/RowSum.h"
#include "kernels/cpu/Stream.h"
#include "lib/Ops/Fields.h"
#include "lib/Ops/Graphs.h"
#include "lib/Ops/RuleCall.h"

#include <algorithm>
#include <cstring>
#include <optional>

namespace aicf::cpu {

/// Rows of a piece, if there is room: sums of short rows go side by side.
static int64_t rowsTogether(int64_t width) { return width < kLongRow ? 8 : 1; }

/// True if every piece of so many elements is the same: all elements are one in
/// memory, or so many rows that are one. Blocks are multiples of a piece.
static bool isInvariant(const TensorDesc &desc, int64_t piece) {
  const Walk walk(desc);
  if (desc.layout != Layout::Strided || walk.strides[0] != 0)
    return false;
  return walk.rank == 1 || (walk.rank == 2 && piece % walk.dims[1] == 0);
}

static bool hasReductions(const Body &body) {
  return std::any_of(body.primitives.begin(), body.primitives.end(),
                     [](const Primitive &p) { return !mayBeInGraph(p.kind); });
}

/// Makes the steps of a program.
class GraphCompiler {
public:
  using Place = GraphProgram::Place;
  using Step = GraphProgram::Step;

  GraphCompiler(const Body &body, Span<const TensorView> values,
                const GraphProgram::Cut &cut)
      : body(body), values(values), cut(cut), width(cut.width),
        maxPiece(cut.piece), extents(graphExtents(body)),
        forms(body.numValues()), rootOf(body.numValues()),
        isResult(body.numValues()), lastRead(body.numOperands) {
    for (uint32_t result : body.results)
      isResult[result] = true;
    for (uint32_t value = 0; value < rootOf.size(); ++value)
      rootOf[value] = value;
    for (size_t p = 0; p < body.primitives.size(); ++p) {
      const Primitive &primitive = body.primitives[p];
      if (isAlias(p))
        rootOf[valueOf(p)] = rootOf[size_t(primitive.operands[0])];
      for (int32_t operand : primitive.operands)
        if (uint32_t root = rootOf[size_t(operand)]; root < body.numOperands)
          lastRead[root] = p;
    }
  }

  Status run(GraphProgram &program) {
    for (size_t p = 0; p < body.primitives.size(); ++p) {
      AICF_RETURN_IF_ERROR(compute(p));
      uint32_t value = valueOf(p);
      if (isResult[value] && !isStored(value)) {
        if (mayWriteBehind(value, p)) {
          AICF_RETURN_IF_ERROR(store(value));
          continue;
        }
        AICF_RETURN_IF_ERROR(takeFromOperand(value));
        late.push_back(value);
      }
    }
    for (uint32_t value : late)
      AICF_RETURN_IF_ERROR(store(value));
    return finish(program);
  }

private:
  /// What a value is in, as far as it is anywhere yet.
  struct Forms {
    std::optional<Place> raw, wide;
  };

  const TensorDesc &descOf(uint32_t value) const { return values[value].desc; }
  Place::Form formOf(uint32_t value) const {
    return extents[value] == Extent::Whole ? Place::Flat : Place::Left;
  }
  /// A copy computes nothing: it is its operand. So is a cast to the type that
  /// is there.
  bool isAlias(size_t p) const {
    const Primitive &primitive = body.primitives[p];
    if (isCopy(primitive.kind))
      return true;
    return elementwiseKind(primitive.kind) == OpKind::Cast &&
           descOf(uint32_t(primitive.operands[0])).dtype ==
               descOf(valueOf(p)).dtype;
  }
  /// Each primitive makes one value.
  uint32_t valueOf(size_t primitive) const {
    return body.numOperands + uint32_t(primitive);
  }
  Place newRegister(DType dtype, Place::Form form, bool lasts = false) {
    lastsOf.push_back(lasts);
    return {Place::Register, uint32_t(lastsOf.size() - 1), dtype, form};
  }
  /// What `step` makes for all pieces stands in front.
  void add(Step step, bool lasts) {
    (lasts ? invariant : steps).push_back(std::move(step));
  }
  bool lasts(const Place &place) const {
    return place.kind == Place::Register && lastsOf[place.number];
  }

  /// True if nothing behind primitive `p` reads memory that result `value`
  /// takes.
  bool mayWriteBehind(uint32_t value, size_t p) const {
    for (uint32_t operand = 0; operand < body.numOperands; ++operand)
      if (lastRead[operand] > p && shareBytes(values[operand], values[value]))
        return false;
    return true;
  }
  /// Where primitive `p` puts what it makes: where the result lies, if nothing
  /// is in the way.
  Place placeFor(size_t p, DType dtype, bool lasts) {
    uint32_t value = valueOf(p);
    bool isThere = isResult[value] && descOf(value).isDense() &&
                   descOf(value).dtype == dtype && mayWriteBehind(value, p) &&
                   !streams(value);
    return isThere
               ? Place{Place::Tensor, value, dtype, formOf(value)}
               : newRegister(dtype, formOf(value), lasts && !isResult[value]);
  }
  bool streams(uint32_t value) const {
    return isResult[value] && goesPastCaches(values[value], {}) &&
           std::none_of(values.begin(), values.begin() + body.numOperands,
                        [&](const TensorView &operand) {
                          return shareBytes(operand, values[value]);
                        });
  }
  bool isStored(uint32_t value) const {
    const Forms &at = forms[value];
    return at.raw && at.raw->kind == Place::Tensor && at.raw->number == value;
  }

  StatusOr<Place> rawOf(uint32_t value) {
    value = rootOf[value];
    Forms &at = forms[value];
    const TensorDesc &desc = descOf(value);
    if (!at.raw && desc.isDense()) {
      at.raw = Place{Place::Tensor, value, desc.dtype, formOf(value)};
    } else if (!at.raw) {
      at.raw =
          newRegister(desc.dtype, formOf(value), isInvariant(desc, maxPiece));
      add(move(Step::Gather, *at.raw, value), isInvariant(desc, maxPiece));
    }
    return *at.raw;
  }
  StatusOr<Place> wideOf(uint32_t value) {
    value = rootOf[value];
    if (forms[value].wide)
      return *forms[value].wide;
    AICF_ASSIGN_OR_RETURN(Place raw, rawOf(value));
    Place wide = raw;
    if (raw.dtype != rules::wide(raw.dtype)) {
      wide = newRegister(rules::wide(raw.dtype), raw.form, lasts(raw));
      AICF_RETURN_IF_ERROR(cast(raw, wide));
    }
    forms[value].wide = wide;
    return wide;
  }
  Step move(Step::Kind kind, Place piece, uint32_t tensor) const {
    Step step;
    step.kind = kind;
    step.piece = piece;
    step.tensor = tensor;
    step.walk = Walk(descOf(tensor));
    return step;
  }

  Status cast(Place from, Place to) {
    return call(OpKind::Cast, {}, {from}, to, lasts(to));
  }
  static bool countsLike(const Place &a, const Place &b) {
    auto isWhole = [](Place::Form form) {
      return form == Place::Flat || form == Place::Rows;
    };
    return a.form != Place::One &&
           (a.form == b.form || (isWhole(a.form) && isWhole(b.form)));
  }
  /// The kernel that a call of the one primitive would get.
  Status call(OpKind kind, Span<const uint8_t> attrs,
              const std::vector<Place> &ins, Place out, bool isInvariant) {
    std::vector<TensorDesc> types;
    for (Place in : ins)
      types.push_back(GraphProgram::descOf(in, maxPiece, width));
    TensorDesc result = GraphProgram::descOf(out, maxPiece, width);
    AICF_ASSIGN_OR_RETURN(TypedBody typed,
                          TypedBody::create(kind, attrs, types, {&result, 1}));
    const KernelRow *row = selectKernel(DeviceKind::CPU, typed);
    Step step;
    step.function = row ? findFunction(row->kid) : nullptr;
    if (!step.function)
      return makeError(StatusCode::NotImplemented, nameOf(kind),
                       ": no kernel on ", nameOf(DeviceKind::CPU), " for ",
                       typed.operand(0).toString(), " -> ",
                       typed.result(0).toString());
    step.body = typed.sharedBody();
    // As many elements of each.
    if (std::all_of(ins.begin(), ins.end(),
                    [&](const Place &in) { return countsLike(in, out); }))
      step.elements = findElementsFunction(row->kid);
    step.firstView = uint32_t(views.size());
    step.numViews = uint32_t(ins.size() + 1);
    views.insert(views.end(), ins.begin(), ins.end());
    views.push_back(out);
    isPlain.resize(views.size(), step.elements != nullptr);
    add(std::move(step), isInvariant);
    return {};
  }

  Status compute(size_t p) {
    const Primitive &primitive = body.primitives[p];
    uint32_t value = valueOf(p);
    if (isAlias(p))
      return {};
    const OpKind kind = elementwiseKind(primitive.kind);
    if (kind == OpKind::Cast)
      return computeCast(p);
    if (cut.order != GraphProgram::Order::Elements &&
        infoOf(primitive.kind).isSum())
      return addUp(p);
    std::vector<Place> ins;
    bool areInvariant = !knowsNumbers(kind);
    for (size_t slot = 0; slot < primitive.operands.size(); ++slot) {
      auto operand = uint32_t(primitive.operands[slot]);
      if (knowsNumbers(kind) && slot == spreadOf(kind)->operand) {
        ins.push_back(
            {Place::Tensor, operand, descOf(operand).dtype, Place::One});
        continue;
      }
      AICF_ASSIGN_OR_RETURN(Place in, wideOf(operand));
      ins.push_back(in);
      areInvariant &= lasts(in);
    }
    const DType dtype = descOf(value).dtype;
    Place made = placeFor(p, dtype, areInvariant), out = made;
    if (dtype != rules::wide(dtype))
      out = newRegister(rules::wide(dtype), made.form); // until it is rounded
    forms[value].raw = made;
    std::vector<uint8_t> attrs =
        kind == primitive.kind ? primitive.attrs : std::vector<uint8_t>();
    Place result = out;
    seeRows(primitive, ins, result, attrs);
    AICF_RETURN_IF_ERROR(call(kind, attrs, ins, result, lasts(made)));
    return dtype == out.dtype ? Status() : cast(out, made);
  }
  /// What is defined by rows sees rows. They are all that it reduces, or
  /// repeats.
  static void seeRows(const Primitive &primitive, std::vector<Place> &ins,
                      Place &out, std::vector<uint8_t> &attrs) {
    const OpInfo &info = infoOf(primitive.kind);
    if (!info.isSum() && !isRepeat(primitive.kind) &&
        !isRowwise(primitive.kind))
      return;
    for (Place &in : ins)
      in.form = in.form == Place::Flat ? Place::Rows : in.form;
    out.form = out.form == Place::Flat ? Place::Rows : out.form;
    if (!isRowwise(primitive.kind))
      encodeField(info.fields[0], int64_t(1), attrs);
  }
  /// From what would be stored to what would be stored.
  Status computeCast(size_t p) {
    uint32_t from = rootOf[size_t(body.primitives[p].operands[0])];
    uint32_t value = valueOf(p);
    AICF_ASSIGN_OR_RETURN(Place in, rawOf(from));
    Place out = placeFor(p, descOf(value).dtype, lasts(in));
    forms[value].raw = out;
    return cast(in, out);
  }
  /// A sum over many pieces, stored behind the last of them.
  Status addUp(size_t p) {
    const Primitive &primitive = body.primitives[p];
    const uint32_t value = valueOf(p);
    Step step;
    step.kind = Step::AddUp;
    AICF_ASSIGN_OR_RETURN(step.piece, wideOf(uint32_t(primitive.operands[0])));
    step.tensor = uint32_t(sums.size());
    add(step, false);
    GraphProgram::Sum sum{value, 1};
    if (infoOf(primitive.kind).reduction == Reduction::Mean)
      sum.divisor = double(descOf(uint32_t(primitive.operands[0])).elements() /
                           descOf(value).elements());
    sums.push_back(sum);
    forms[value].raw =
        Place{Place::Tensor, value, descOf(value).dtype, Place::Left};
    return {};
  }
  /// A copy that is stored later: by then another result may lie over what it
  /// copies.
  Status takeFromOperand(uint32_t value) {
    AICF_ASSIGN_OR_RETURN(Place raw, rawOf(rootOf[value]));
    if (raw.kind != Place::Tensor || raw.number >= body.numOperands)
      return {};
    Place taken = newRegister(raw.dtype, raw.form);
    add(move(Step::Gather, taken, raw.number), false);
    rootOf[value] = value;
    forms[value].raw = taken;
    return {};
  }
  /// Puts a result where it belongs.
  Status store(uint32_t value) {
    AICF_ASSIGN_OR_RETURN(Place raw, rawOf(value));
    Step step = move(Step::Scatter, raw, value);
    step.streams = streams(value);
    add(std::move(step), false);
    return {};
  }

  Status finish(GraphProgram &program) {
    const auto like =
        uint32_t(std::find(extents.begin(), extents.end(), Extent::Whole) -
                 extents.begin());
    program.elements = descOf(like).elements();
    program.cut = cut;
    program.sums = std::move(sums);
    program.numInvariant = invariant.size();
    program.steps = std::move(invariant);
    program.steps.insert(program.steps.end(),
                         std::make_move_iterator(steps.begin()),
                         std::make_move_iterator(steps.end()));
    program.views = std::move(views);
    program.isPlain = std::move(isPlain);
    program.streams =
        std::any_of(program.steps.begin(), program.steps.end(),
                    [](const Step &step) { return step.streams; });
    const size_t numRegisters = assignRegisters(program);
    const size_t elementBytes = widestElement(program);
    int64_t &piece = program.cut.piece;
    auto bytes = [&] { return numRegisters * elementBytes * size_t(piece); };
    auto shorten = [&](int64_t least, size_t mostBytes) {
      while (piece > least && bytes() > mostBytes)
        piece = std::max(piece / 2 / width * width, least);
    };
    // Of short rows, so many that sums of them go side by side.
    shorten(std::max(kMinPiece / width, rowsTogether(width)) * width,
            kRegisterBytes);
    shorten(width, kMaxRegisterBytes);
    program.registerBytes = elementBytes * size_t(piece);
    program.numRegisters = numRegisters;
    for (uint32_t v = 0; v < program.views.size(); ++v)
      if (const Place &place = program.views[v];
          place.kind == Place::Tensor && place.form != Place::One)
        program.moving.push_back(v);
    findFetched(program);
    if (bytes() > kMaxRegisterBytes || program.views.size() > kMaxViews)
      return makeError(StatusCode::NotImplemented, "a graph of ",
                       body.primitives.size(), " primitives needs ",
                       numRegisters, " registers and ", program.views.size(),
                       " views, more than the CPU's kernel has");
    return {};
  }

  /// What is read in large pieces of its own, a processor fetches by itself. Smaller
  /// tensors lie in its nearest cache.
  void findFetched(GraphProgram &program) const {
    if (program.cut.piece != kElementsPiece)
      return;
    for (uint32_t i = 0; i < body.numOperands; ++i)
      if (const TensorDesc &desc = descOf(i);
          extents[i] == Extent::Whole && desc.isDense() &&
          int64_t(desc.spanBytes()) >= kFetchedBytes)
        program.fetched.push_back({i, int64_t(sizeOf(desc.dtype))});
  }
  /// Bytes of an element of the widest type that is in a register.
  static size_t widestElement(const GraphProgram &program) {
    size_t bytes = 1;
    for (const Place &view : program.views)
      bytes = std::max<size_t>(bytes, sizeOf(view.dtype));
    for (const Step &step : program.steps)
      bytes = std::max<size_t>(bytes, sizeOf(step.piece.dtype));
    return bytes;
  }
  /// Calls `visit` for each place that a step names; the last is written, but
  /// for what only reads a piece.
  template <typename Visit>
  static void forEachPlace(GraphProgram &program, Step &step, Visit visit) {
    for (size_t v = 0; v < step.numViews; ++v)
      visit(program.views[step.firstView + v]);
    if (step.kind != Step::Kernel)
      visit(step.piece);
  }
  /// Gives each value the number of a register that is free from its first step
  /// to its last one; returns how many there are.
  size_t assignRegisters(GraphProgram &program) const {
    std::vector<size_t> lastStep(lastsOf.size());
    for (size_t s = 0; s < program.steps.size(); ++s)
      forEachPlace(program, program.steps[s], [&](Place &place) {
        if (place.kind == Place::Register)
          lastStep[place.number] =
              lastsOf[place.number] ? program.steps.size() : s;
      });
    std::vector<uint32_t> free;
    std::vector<std::optional<uint32_t>> assigned(lastsOf.size());
    uint32_t numRegisters = 0;
    for (size_t s = 0; s < program.steps.size(); ++s) {
      std::vector<uint32_t> ending;
      forEachPlace(program, program.steps[s], [&](Place &place) {
        if (place.kind != Place::Register)
          return;
        std::optional<uint32_t> &number = assigned[place.number];
        if (!number && free.empty())
          free.push_back(numRegisters++);
        if (!number) {
          number = free.back();
          free.pop_back();
        }
        if (lastStep[place.number] == s)
          ending.push_back(*number);
        place.number = *number;
      });
      // A value that a step reads at two slots ends once.
      std::sort(ending.begin(), ending.end());
      ending.erase(std::unique(ending.begin(), ending.end()), ending.end());
      free.insert(free.end(), ending.begin(), ending.end());
    }
    return numRegisters;
  }

  const Body &body;
  Span<const TensorView> values;
  const GraphProgram::Cut cut;
  const int64_t width, maxPiece; ///< of the cut
  const std::vector<Extent> extents;
  std::vector<Forms> forms; ///< of each value that is not a copy
  std::vector<uint32_t> rootOf;
  std::vector<bool> isResult;
  std::vector<size_t> lastRead; ///< primitive, of each operand
  std::vector<Step> invariant, steps;
  std::vector<Place> views;
  std::vector<bool> isPlain;
  std::vector<bool> lastsOf; ///< of each register: for all pieces
  std::vector<uint32_t> late;
  std::vector<GraphProgram::Sum> sums;
};

/// A piece of so many elements as a kernel sees it.
TensorDesc GraphProgram::descOf(Place place, int64_t elements, int64_t width) {
  switch (place.form) {
  case Place::Flat:
    break;
  case Place::Rows:
    return {place.dtype, {elements / width, width}};
  case Place::Left:
    return {place.dtype, {elements / width}};
  case Place::One:
    return {place.dtype, {}};
  }
  return {place.dtype, {elements}};
}

StatusOr<GraphProgram::Cut> GraphProgram::cutOf(const Body &body,
                                                Span<const TensorView> values) {
  if (!hasReductions(body)) {
    Cut cut;
    cut.piece = kElementsPiece;
    return cut;
  }
  std::vector<TensorDesc> types;
  for (const TensorView &value : values)
    types.push_back(value.desc);
  if (auto row = families::cpuRowOf(body, types))
    return Cut{Order::Elements, *row,
               std::max(kMaxPiece / *row, rowsTogether(*row)) * *row};
  const auto plan =
      reducesInside(body) ? std::nullopt : families::sumsPlan(body, types);
  if (!plan)
    return makeError(StatusCode::NotImplemented,
                     "the reductions of a graph do not go together");
  Cut cut{Order::LongRows, kRowLanes,  kElementsPiece,
          plan->outer,     plan->size, plan->inner};
  if (plan->inner == 1)
    return cut;
  const auto numSums =
      std::count_if(body.primitives.begin(), body.primitives.end(),
                    [](const Primitive &p) { return infoOf(p.kind).isSum(); });
  const int64_t columns = kMostColumns / numSums;
  cut.order = Order::Columns;
  cut.width = plan->inner <= columns ? plan->inner : 1;
  cut.piece =
      plan->inner <= columns ? kMaxPiece / plan->inner * plan->inner : columns;
  return cut;
}

StatusOr<std::shared_ptr<const CpuPrepared>>
GraphProgram::create(const Body &body, Span<const TensorView> values) {
  const std::vector<TensorView> seen = graphTensors(body, values);
  AICF_ASSIGN_OR_RETURN(Cut cut, cutOf(body, seen));
  // What all pieces share takes registers, and these decide how long a piece
  // is.
  std::shared_ptr<GraphProgram> program;
  do {
    cut.piece = program ? program->cut.piece : cut.piece;
    program = std::make_shared<GraphProgram>();
    AICF_RETURN_IF_ERROR(GraphCompiler(body, seen, cut).run(*program));
  } while (program->cut.piece < cut.piece);
  return std::shared_ptr<const CpuPrepared>(std::move(program));
}

} // namespace aicf::cpu
