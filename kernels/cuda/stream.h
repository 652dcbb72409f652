#pragma once

#include <utility>

#include <cuda_runtime_api.h>

namespace cornerturn::cuda {

enum class Priority { normal, high };

/// A stream that does not wait for the default stream. Throws CudaError.
class Stream {
 public:
  Stream() = default;
  explicit Stream(Priority priority);
  Stream(Stream&& other) noexcept : stream_(std::exchange(other.stream_, nullptr)) {}
  Stream& operator=(Stream&& other) noexcept {
    std::swap(stream_, other.stream_);
    return *this;
  }
  ~Stream();

  cudaStream_t get() const { return stream_; }
  void synchronize() const;

 private:
  cudaStream_t stream_ = nullptr;
};

/// Blocks the calling thread until the stream has done its work. Throws CudaError.
void synchronize_stream(cudaStream_t stream);

/// A moment in a stream. Throws CudaError.
class Event {
 public:
  enum class Kind { order, timing };
  Event() = default;
  explicit Event(Kind kind);
  Event(Event&& other) noexcept : event_(std::exchange(other.event_, nullptr)) {}
  Event& operator=(Event&& other) noexcept {
    std::swap(event_, other.event_);
    return *this;
  }
  ~Event();

  cudaEvent_t get() const { return event_; }
  void record(cudaStream_t stream) const;
  /// Later work of the stream waits for this moment.
  void hold_back(cudaStream_t stream) const;
  bool has_passed() const;
  /// Blocks the calling thread: looks often for a short while, because most waits are short, then sleeps.
  void wait() const;
  /// Seconds from `start` to this one; both of kind timing and passed.
  double seconds_since(const Event& start) const;

 private:
  cudaEvent_t event_ = nullptr;
};

/// A captured sequence of work, launched as one. Throws CudaError.
class Graph {
 public:
  Graph() = default;
  Graph(Graph&& other) noexcept : exec_(std::exchange(other.exec_, nullptr)) {}
  Graph& operator=(Graph&& other) noexcept {
    std::swap(exec_, other.exec_);
    return *this;
  }
  ~Graph();

  /// Captures what `body` enqueues into the stream.
  template <typename Body> static Graph capture(cudaStream_t stream, Body&& body) {
    begin_capture(stream);
    try {
      body();
    } catch (...) {
      abandon_capture(stream);
      throw;
    }
    return end_capture(stream);
  }
  explicit operator bool() const { return exec_ != nullptr; }
  void launch(cudaStream_t stream) const;

 private:
  static void begin_capture(cudaStream_t stream);
  static void abandon_capture(cudaStream_t stream) noexcept;
  static Graph end_capture(cudaStream_t stream);
  cudaGraphExec_t exec_ = nullptr;
};

}  // namespace cornerturn::cuda
