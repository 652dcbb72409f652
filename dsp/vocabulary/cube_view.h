#pragma once

#include <cstddef>
#include <span>

#include "dsp/vocabulary/contract.h"

namespace cornerturn {

/// View of a C-order matrix: (line, element), elements contiguous, lines `line_stride` apart. Owns nothing.
template <typename T> class MatrixView {
 public:
  MatrixView() = default;
  MatrixView(T* data, std::size_t line_count, std::size_t element_count, std::size_t line_stride = 0)
      : data_(data), lines_(line_count), elements_(element_count), stride_(line_stride ? line_stride : element_count) {}

  std::size_t line_count() const { return lines_; }
  std::size_t element_count() const { return elements_; }
  std::span<T> line(std::size_t index) const { return {data_ + index * stride_, elements_}; }
  T& operator()(std::size_t line, std::size_t element) const { return data_[line * stride_ + element]; }
  T* data() const { return data_; }

 private:
  T* data_ = nullptr;
  std::size_t lines_ = 0;
  std::size_t elements_ = 0;
  std::size_t stride_ = 0;
};

/// View of a dense C-order cube (outer, middle, inner), inner contiguous. The two orders used by the chain:
/// before the corner turn (channel, pulse, gate), after it (gate, channel, pulse). Owns nothing.
template <typename T> class CubeView {
 public:
  CubeView() = default;
  CubeView(T* data, std::size_t outer, std::size_t middle, std::size_t inner)
      : data_(data), outer_(outer), middle_(middle), inner_(inner) {}

  std::size_t outer_count() const { return outer_; }
  std::size_t middle_count() const { return middle_; }
  std::size_t inner_count() const { return inner_; }
  std::size_t size() const { return outer_ * middle_ * inner_; }
  T* data() const { return data_; }
  std::span<T> line(std::size_t outer, std::size_t middle) const {
    return {data_ + (outer * middle_ + middle) * inner_, inner_};
  }
  MatrixView<T> matrix(std::size_t outer) const { return {data_ + outer * middle_ * inner_, middle_, inner_}; }
  T& operator()(std::size_t outer, std::size_t middle, std::size_t inner) const {
    return data_[(outer * middle_ + middle) * inner_ + inner];
  }

 private:
  T* data_ = nullptr;
  std::size_t outer_ = 0;
  std::size_t middle_ = 0;
  std::size_t inner_ = 0;
};

}  // namespace cornerturn
