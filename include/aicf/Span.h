//===- Span.h - a pointer and a count ---------------------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// What std::span gives in C++20, as far as the runtime (C++17) uses it.
//===----------------------------------------------------------------------===//
#ifndef AICF_SPAN_H
#define AICF_SPAN_H

#include <cstddef>
#include <initializer_list>
#include <type_traits>
#include <vector>

namespace aicf {

template <typename T> class Span {
public:
  using Value = std::remove_const_t<T>;
  constexpr Span() = default;
  constexpr Span(T *data, size_t size) : first(data), count(size) {}
  Span(std::vector<Value> &v) : first(v.data()), count(v.size()) {}
  template <typename U = T, typename = std::enable_if_t<std::is_const_v<U>>>
  Span(const std::vector<Value> &v) : first(v.data()), count(v.size()) {}
  /// Only for arguments: the list dies at the end of the full expression.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Winit-list-lifetime"
#endif
  template <typename U = T, typename = std::enable_if_t<std::is_const_v<U>>>
  constexpr Span(std::initializer_list<Value> list)
      : first(list.begin()), count(list.size()) {}
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

  constexpr T *data() const { return first; }
  constexpr size_t size() const { return count; }
  constexpr bool empty() const { return count == 0; }
  constexpr T &operator[](size_t i) const { return first[i]; }
  constexpr T *begin() const { return first; }
  constexpr T *end() const { return first + count; }

private:
  T *first = nullptr;
  size_t count = 0;
};

} // namespace aicf

#endif // AICF_SPAN_H
