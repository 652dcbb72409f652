#include "kernels/cuda/stream.h"

#include <chrono>
#include <thread>

#include "kernels/cuda/call_counts.h"
#include "kernels/cuda/cuda_error.h"

namespace cornerturn::cuda {

Stream::Stream(Priority priority) {
  int lowest = 0;
  int highest = 0;
  check(cudaDeviceGetStreamPriorityRange(&lowest, &highest), "cudaDeviceGetStreamPriorityRange");
  check(cudaStreamCreateWithPriority(&stream_, cudaStreamNonBlocking, priority == Priority::high ? highest : lowest),
        "cudaStreamCreateWithPriority");
}

Stream::~Stream() {
  if (stream_ != nullptr) cudaStreamDestroy(stream_);
}

void Stream::synchronize() const { synchronize_stream(stream_); }

void synchronize_stream(cudaStream_t stream) {
  count_call(CountedCall::synchronisation);
  check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
}

Event::Event(Kind kind) {
  const unsigned flags = cudaEventBlockingSync | (kind == Kind::order ? cudaEventDisableTiming : 0U);
  check(cudaEventCreateWithFlags(&event_, flags), "cudaEventCreateWithFlags");
}

Event::~Event() {
  if (event_ != nullptr) cudaEventDestroy(event_);
}

void Event::record(cudaStream_t stream) const { check(cudaEventRecord(event_, stream), "cudaEventRecord"); }

void Event::hold_back(cudaStream_t stream) const { check(cudaStreamWaitEvent(stream, event_), "cudaStreamWaitEvent"); }

bool Event::has_passed() const {
  const cudaError_t code = cudaEventQuery(event_);
  if (code == cudaErrorNotReady) return false;
  check(code, "cudaEventQuery");
  return true;
}

void Event::wait() const {
  count_call(CountedCall::synchronisation);
  constexpr std::chrono::microseconds kShort(200);
  const auto end = std::chrono::steady_clock::now() + kShort;
  do {
    if (has_passed()) return;
    std::this_thread::yield();
  } while (std::chrono::steady_clock::now() < end);
  check(cudaEventSynchronize(event_), "cudaEventSynchronize");
}

double Event::seconds_since(const Event& start) const {
  float milliseconds = 0.0F;
  check(cudaEventElapsedTime(&milliseconds, start.event_, event_), "cudaEventElapsedTime");
  return 1e-3 * static_cast<double>(milliseconds);
}

Graph::~Graph() {
  if (exec_ != nullptr) cudaGraphExecDestroy(exec_);
}

void Graph::begin_capture(cudaStream_t stream) {
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "cudaStreamBeginCapture");
}

void Graph::abandon_capture(cudaStream_t stream) noexcept {
  cudaGraph_t graph = nullptr;
  cudaStreamEndCapture(stream, &graph);
  if (graph != nullptr) cudaGraphDestroy(graph);
  cudaGetLastError();
}

Graph Graph::end_capture(cudaStream_t stream) {
  count_call(CountedCall::graph);
  cudaGraph_t graph = nullptr;
  check(cudaStreamEndCapture(stream, &graph), "cudaStreamEndCapture");
  Graph result;
  const cudaError_t code = cudaGraphInstantiate(&result.exec_, graph, 0);
  cudaGraphDestroy(graph);
  check(code, "cudaGraphInstantiate");
  return result;
}

void Graph::launch(cudaStream_t stream) const { check(cudaGraphLaunch(exec_, stream), "cudaGraphLaunch"); }

}  // namespace cornerturn::cuda
