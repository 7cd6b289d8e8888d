//===- CallView.h - a call seen through its record --------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// What everybody holds who looks at a call: its body and one thing for each of
// its values (their types, their memory, their numbers). And the bases of the
// views in OpViews.h, which name operands, results and fields of one primitive,
// and the nodes of a pattern. A call keeps its lists to itself and befriends
// these: whoever wants an operand asks for it by name.
//===----------------------------------------------------------------------===//
#ifndef AICF_LIB_OPS_CALLVIEW_H
#define AICF_LIB_OPS_CALLVIEW_H

#include "lib/Ops/Fields.h"
#include "lib/Ops/Patterns.h"

namespace aicf {

template <typename Call> class CallView;
template <typename Call> class PatternView;
template <typename Call> class GraphView;

/// Where a primitive is in a body: its position, and the number of the first
/// value that it makes.
struct PrimitivePosition {
  size_t primitive;
  uint32_t firstResult;
};

/// A body and one T for each of its values, in the order of their numbers.
/// Refers to both. What isAbsent() says of a T decides whether it is there.
template <typename T> class BodyCall {
public:
  BodyCall(const Body &body, Span<T> values) : body(&body), values(values) {}

protected:
  template <typename> friend class CallView;
  template <typename> friend class PatternView;
  template <typename> friend class GraphView;

  const Primitive &primitiveAt(PrimitivePosition at) const {
    return body->primitives[at.primitive];
  }
  const T *optionalIn(PrimitivePosition at, size_t slot) const {
    int32_t value = primitiveAt(at).operands[slot];
    return value == kAbsentValue || isAbsent(values[size_t(value)])
               ? nullptr
               : &values[size_t(value)];
  }
  const T &in(PrimitivePosition at, size_t slot) const {
    return values[size_t(primitiveAt(at).operands[slot])];
  }
  T *optionalOut(PrimitivePosition at, size_t slot) const {
    T &value = out(at, slot);
    return isAbsent(value) ? nullptr : &value;
  }
  T &out(PrimitivePosition at, size_t slot) const {
    return values[at.firstResult + slot];
  }
  PrimitivePosition firstPrimitive() const { return {0, body->numOperands}; }

  const Body *body;
  Span<T> values;
};

/// One primitive of a call, which must outlive its views. What kind the
/// primitive is, the caller knows. `Call` is a BodyCall, or gives something
/// else for a slot than its values.
template <typename Call> class CallView {
public:
  CallView(const Call &call) : CallView(call, call.firstPrimitive()) {}
  CallView(const Call &call, PrimitivePosition at) : viewed(&call), at(at) {}
  /// The call's own members.
  const Call *operator->() const { return viewed; }

protected:
  size_t numIns() const { return viewed->primitiveAt(at).operands.size(); }
  decltype(auto) inAt(size_t slot) const { return viewed->in(at, slot); }
  decltype(auto) outAt(size_t slot) const { return viewed->out(at, slot); }
  /// A pointer, or another thing that is false where nothing stands.
  auto optionalInAt(size_t slot) const { return viewed->optionalIn(at, slot); }
  auto optionalOutAt(size_t slot) const {
    return viewed->optionalOut(at, slot);
  }
  template <typename Attrs> Attrs decode() const {
    return decodeAttrs<Attrs>(viewed->primitiveAt(at).attrs);
  }

private:
  const Call *viewed;
  PrimitivePosition at;
};

/// A call whose body matches a pattern.
template <typename Call> class PatternView {
public:
  PatternView(const Call &call, const PatternInfo &pattern)
      : viewed(&call), form(*formOf(pattern, *call.body)) {}
  const Call *operator->() const { return viewed; }
  size_t numGroups() const { return form.numGroups; }

protected:
  template <typename View> View node(size_t e, size_t group = 0) const {
    return View(*viewed, {form.primitiveAt(e, group),
                          form.firstResultOf(*viewed->body, e, group)});
  }
  template <typename View>
  std::optional<View> optionalNode(size_t e, size_t group = 0) const {
    if (form.primitiveOf[e] < 0)
      return std::nullopt;
    return node<View>(e, group);
  }

private:
  const Call *viewed;
  PatternForm form;
};

/// A call whose body is a graph of elementwise primitives: by numbers, because
/// no node of it has a name.
template <typename Call> class GraphView {
public:
  GraphView(const Call &call) : viewed(&call) {}
  const Call *operator->() const { return viewed; }
  const Body &body() const { return *viewed->body; }
  /// One for each value of the body. Those that exist inside only have a type.
  auto values() const { return viewed->values; }

private:
  const Call *viewed;
};

} // namespace aicf

#endif // AICF_LIB_OPS_CALLVIEW_H
