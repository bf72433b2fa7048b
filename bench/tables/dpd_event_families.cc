/* SPDX-License-Identifier: BSD-3-Clause */
/* How the detectors of periods in events behave on streams that are not perfect, over
 * seeded families of them: is the period found, how late, for how much of the time, and
 * is one reported that is none? The streams are made here, so that the truth is known:
 * a pattern of 3 to 100 events, no two alike, repeated 60 times after a prologue.
 *
 * A detector is late by the events from the start of a repetition to the first at
 * which it reports the period, in periods. */
#include <tsanom/dpd.h>

#include "../report.h"
#include "support/random.h"
#include "table.h"

namespace {

enum { TRIALS = 400, ITERATIONS = 60, PROLOGUE = 150 };

struct Stream {
  std::vector<uint64_t> event;
  size_t period = 0;          /* 0: aperiodic */
  std::vector<size_t> starts; /* where the repetition begins, and begins again */
};

uint64_t fresh_event(uint64_t *seed) {
  return 1000 + random_bits(seed) / 2;
}

void add_noise(Stream &stream, size_t events, uint64_t *seed) {
  for (size_t i = 0; i < events; i++) stream.event.push_back(fresh_event(seed));
}

/* What happens to an event of the pattern, each with a probability. */
struct Faults {
  double missing, inserted, replaced;
};

/* Repeat the pattern 0, 1, ..., period - 1 from `place` on; faults are given an
 * iteration. */
void add_pattern(Stream &stream, size_t events, size_t place, const Faults &faults,
                 uint64_t *seed) {
  double each = 1 / (double)stream.period;
  stream.starts.push_back(stream.event.size());
  for (size_t i = 0; i < events; i++) {
    double chance = random_unit(seed);
    if ((chance -= faults.missing * each) < 0) continue;
    if ((chance -= faults.replaced * each) < 0) {
      stream.event.push_back(fresh_event(seed));
      continue;
    }
    if ((chance -= faults.inserted * each) < 0) add_noise(stream, 1, seed);
    stream.event.push_back((place + i) % stream.period);
  }
}

Stream repeated(const Faults &faults, uint64_t *seed) {
  Stream stream;
  stream.period = random_between(seed, 3, 100);
  add_noise(stream, PROLOGUE, seed);
  add_pattern(stream, ITERATIONS * stream.period, 0, faults, seed);
  return stream;
}

/* Three repetitions with 1 to 50 other events between them, each from another place of
 * the pattern on. */
Stream broken(uint64_t *seed) {
  Stream stream;
  stream.period = random_between(seed, 3, 100);
  add_noise(stream, PROLOGUE, seed);
  for (int part = 0; part < 3; part++) {
    add_pattern(stream, ITERATIONS / 3 * stream.period,
                random_between(seed, 0, stream.period - 1), {0, 0, 0}, seed);
    add_noise(stream, random_between(seed, 1, 50), seed);
  }
  return stream;
}

/* Independent events of `kinds` kinds; with 0, all are different. */
Stream aperiodic(size_t kinds, uint64_t *seed) {
  Stream stream;
  for (size_t i = 0; i < 6000; i++) {
    stream.event.push_back(kinds ? random_bits(seed) % kinds : fresh_event(seed));
  }
  return stream;
}

/* The Thue-Morse sequence from a place on, in which nothing comes three times in a row
 * (A. Thue, 1906). */
Stream thue_morse(uint64_t *seed) {
  Stream stream;
  uint64_t from = random_bits(seed) >> 8;
  for (uint64_t i = from; i < from + 6000; i++) {
    stream.event.push_back((uint64_t)__builtin_parityll(i));
  }
  return stream;
}

struct Family {
  const char *name;
  Stream (*make)(uint64_t *seed);
};

const Family families[] = {
    {"perfect",
     [](uint64_t *s) {
       return repeated({0, 0, 0}, s);
     }},
    {"1 missing in 20 periods",
     [](uint64_t *s) {
       return repeated({0.05, 0, 0}, s);
     }},
    {"1 missing in 5 periods",
     [](uint64_t *s) {
       return repeated({0.2, 0, 0}, s);
     }},
    {"1 missing in 2 periods",
     [](uint64_t *s) {
       return repeated({0.5, 0, 0}, s);
     }},
    {"1 inserted in 20 periods",
     [](uint64_t *s) {
       return repeated({0, 0.05, 0}, s);
     }},
    {"1 inserted in 5 periods",
     [](uint64_t *s) {
       return repeated({0, 0.2, 0}, s);
     }},
    {"1 inserted in 2 periods",
     [](uint64_t *s) {
       return repeated({0, 0.5, 0}, s);
     }},
    {"1 replaced in 5 periods",
     [](uint64_t *s) {
       return repeated({0, 0, 0.2}, s);
     }},
    {"breaks", broken},
    {"no two alike", [](uint64_t *s) { return aperiodic(0, s); }},
    {"random, 10 kinds", [](uint64_t *s) { return aperiodic(10, s); }},
    {"random, 2 kinds", [](uint64_t *s) { return aperiodic(2, s); }},
    {"Thue-Morse", thue_morse},
};

/* What a detector reports after each event. */
struct Answer {
  bool is_true, is_false; /* reports the period; one that is none */
};

std::vector<Answer> ask_event(const Stream &stream, size_t window, int32_t adapt) {
  tsanom_dpd_event_options options;
  tsanom_dpd_event_options_init(&options, sizeof options);
  options.window = window;
  options.adapt = adapt;
  tsanom_dpd_event *detector = nullptr;
  check(tsanom_dpd_event_create(&options, nullptr, &detector) == TSANOM_OK);
  std::vector<size_t> period(stream.event.size());
  tsanom_dpd_event_push_many(detector, stream.event.data(), stream.event.size(),
                             period.data(), nullptr);
  tsanom_dpd_event_destroy(detector);
  std::vector<Answer> answer;
  for (size_t p : period)
    answer.push_back({p && p == stream.period, p && p != stream.period});
  return answer;
}

std::vector<Answer> ask_nest(const Stream &stream, size_t repeats, size_t least_events) {
  tsanom_dpd_nest_options options;
  tsanom_dpd_nest_options_init(&options, sizeof options);
  options.repeats = repeats;
  options.least_events = least_events;
  tsanom_dpd_nest *nest = nullptr;
  check(tsanom_dpd_nest_create(&options, nullptr, &nest) == TSANOM_OK);
  std::vector<Answer> answer;
  for (uint64_t event : stream.event) {
    tsanom_dpd_loop loop[64];
    size_t count = 0;
    Answer now = {false, false};
    tsanom_dpd_nest_push(nest, event, nullptr);
    tsanom_dpd_nest_loops(nest, loop, 64, &count);
    for (size_t i = 0; i < count; i++) {
      (loop[i].period == stream.period ? now.is_true : now.is_false) = true;
    }
    answer.push_back(now);
  }
  tsanom_dpd_nest_destroy(nest);
  return answer;
}

struct Detector {
  const char *name;
  std::vector<Answer> (*ask)(const Stream &stream);
};

const Detector detectors[] = {
    {"event, N = 100", [](const Stream &s) { return ask_event(s, 100, 0); }},
    {"event, N = 400, adapt", [](const Stream &s) { return ask_event(s, 400, 1); }},
    {"nest", [](const Stream &s) { return ask_nest(s, 3, 8); }},
    {"nest, 5 times, 24 events", [](const Stream &s) { return ask_nest(s, 5, 24); }},
};

/* Over the streams of a family. */
struct Tally {
  size_t repetitions = 0, detected = 0; /* and in how many of them the period was */
  size_t periodic = 0, held = 0;        /* events of repetitions; with the period */
  size_t alarmed = 0;                   /* streams in which a false one was reported */
  size_t events = 0, false_events = 0;
  std::vector<double> delay; /* in periods */
};

void tally_repetition(Tally &tally, const Stream &stream,
                      const std::vector<Answer> &answer, size_t part) {
  size_t first = stream.starts[part];
  size_t end = part + 1 < stream.starts.size() ? stream.starts[part + 1] : answer.size();
  size_t found = first;
  while (found < end && !answer[found].is_true) found++;
  tally.repetitions++;
  tally.periodic += end - first;
  for (size_t i = first; i < end; i++) tally.held += answer[i].is_true;
  if (found == end) return;
  tally.detected++;
  tally.delay.push_back((double)(found + 1 - first) / (double)stream.period);
}

void tally_stream(Tally &tally, const Stream &stream, const std::vector<Answer> &answer) {
  for (size_t k = 0; k < stream.starts.size(); k++) {
    tally_repetition(tally, stream, answer, k);
  }
  size_t wrong = 0;
  for (const Answer &a : answer) wrong += a.is_false;
  tally.alarmed += wrong > 0;
  tally.false_events += wrong;
  tally.events += answer.size();
}

void add_row(Table &table, const Family &family, const Detector &detector) {
  Tally tally;
  uint64_t seed = 1;
  for (int trial = 0; trial < TRIALS; trial++) {
    Stream stream = family.make(&seed);
    tally_stream(tally, stream, detector.ask(stream));
  }
  table.add({family.name, detector.name, percent(tally.detected, tally.repetitions),
             percent(tally.held, tally.periodic), quantile(tally.delay, 0.5, 1),
             quantile(tally.delay, 0.95, 1), percent(tally.alarmed, TRIALS),
             percent(tally.false_events, tally.events)});
}

}  // namespace

int main(int argc, char **argv) {
  bool json = json_wanted(argc, argv, "Detection of periods in imperfect events.");
  Table table({"streams", "detector", "found %", "held %", "late, median", "late, 95 %",
               "false %", "false time %"});
  for (const Family &family : families) {
    for (const Detector &detector : detectors) add_row(table, family, detector);
  }
  table.print(json);
  return 0;
}
