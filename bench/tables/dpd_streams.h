/* SPDX-License-Identifier: BSD-3-Clause */
/* Streams of the kind, the length and the periods of the five SPECfp95 programs in
 * the periodicity paper's tables 2 and 3; the paper's own traces are not public. */
#ifndef TSANOM_BENCH_DPD_STREAMS_H
#define TSANOM_BENCH_DPD_STREAMS_H

#include <cstddef>
#include <cstdint>
#include <vector>

struct SpecStream {
  const char *name;
  size_t length;
  std::vector<size_t> periods; /* table 2, innermost first */
  double milliseconds;         /* an element, table 3 */
};

inline std::vector<SpecStream> spec_streams() {
  return {{"tomcatv", 3750, {5}, 0.004},
          {"swim", 5402, {6}, 0.004},
          {"apsi", 5762, {6}, 0.004},
          {"hydro2d", 53814, {1, 24, 269}, 0.112},
          {"turb3d", 1580, {12, 142}, 0.108}};
}

/* The event at `place` of an iteration of the `level`-th period, counted from 0. Half
 * of it are iterations of the period inside; of the other events no two are alike. */
inline uint64_t spec_event(const std::vector<size_t> &periods, size_t level,
                           size_t place) {
  if (level > 0) {
    size_t inner = periods[level - 1], looped = periods[level] / 2 / inner * inner;
    if (place < looped) return spec_event(periods, level - 1, place % inner);
  }
  return 1000 * (level + 1) + place;
}

/* A prologue of events that never come again, then whole outer iterations. */
inline std::vector<uint64_t> events_of(const SpecStream &stream) {
  size_t outer = stream.periods.back(), prologue = stream.length % outer;
  std::vector<uint64_t> event(stream.length);
  for (size_t i = 0; i < stream.length; i++) {
    event[i] = i < prologue ? 100000 + i
                            : spec_event(stream.periods, stream.periods.size() - 1,
                                         (i - prologue) % outer);
  }
  return event;
}

#endif
