// The frame's own cost per operation, measured where it runs: part of every sample.
#pragma once

namespace krepro {

/// Cost of one Histogram::record() in ns (median of short batches, some 100 us in total).
[[nodiscard]] double record_cost_ns();

}  // namespace krepro
