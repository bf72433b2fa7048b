/* SPDX-License-Identifier: BSD-3-Clause */
/* How the detector of periods in values behaves on streams that are not perfect, over
 * seeded families of them: is the period found, how late, for how much of the time, and
 * is one reported that is none? The streams are made here, so that the truth is known:
 * a pattern of 5 to 45 samples, half of them uniform in [0, 1), half smooth with an
 * amplitude of 1, repeated for 2000 samples after 150 of noise.
 *
 * A report is true within one sample of the period, as noise moves the lowest point of
 * a valley. A detector is late by the samples from the start of the repetition to the
 * first true report. */
#include <tsanom/dpd.h>

#include "../report.h"
#include "support/random.h"
#include "table.h"

namespace {

enum { TRIALS = 400, PROLOGUE = 150, REPETITION = 2000, APERIODIC = 4000 };

struct Stream {
  std::vector<double> value;
  size_t period = 0; /* 0: aperiodic */
};

/* What is done to a repeated pattern. */
struct Faults {
  double noise = 0;     /* standard deviation of what is added to each sample */
  double jitter = 0;    /* chance that an iteration is a sample longer or shorter */
  double outliers = 0;  /* chance that a sample is 5 higher or lower */
  double drift = 0;     /* of the mean, an iteration */
  double amplitude = 1; /* at the end, growing evenly from 1 */
  double jump = 0;      /* of the mean, in the middle */
};

/* The sum of twelve uniform numbers, less 6: nearly normal, of variance 1. */
double normal(uint64_t *seed) {
  double sum = -6;
  for (int k = 0; k < 12; k++) sum += random_unit(seed);
  return sum;
}

std::vector<double> uniform_pattern(size_t period, uint64_t *seed) {
  std::vector<double> pattern(period);
  for (double &x : pattern) x = random_unit(seed);
  return pattern;
}

/* The fundamental and two harmonics. */
std::vector<double> smooth_pattern(size_t period, uint64_t *seed) {
  std::vector<double> pattern(period);
  double second = random_unit(seed) / 2, third = random_unit(seed) / 2;
  for (size_t i = 0; i < period; i++) {
    double phase = 2 * M_PI * (double)i / (double)period;
    pattern[i] = std::sin(phase) + second * std::sin(2 * phase + 1) +
                 third * std::sin(3 * phase + 2);
  }
  return pattern;
}

Stream repeated(const Faults &faults, uint64_t *seed) {
  Stream stream;
  stream.period = random_between(seed, 5, 45);
  std::vector<double> pattern = random_bits(seed) % 2
                                    ? uniform_pattern(stream.period, seed)
                                    : smooth_pattern(stream.period, seed);
  for (int i = 0; i < PROLOGUE; i++) stream.value.push_back(random_unit(seed));
  for (size_t k = 0; stream.value.size() < PROLOGUE + REPETITION; k++) {
    double share = (double)(stream.value.size() - PROLOGUE) / REPETITION;
    double mean = faults.drift * (double)k + (share >= 0.5 ? faults.jump : 0);
    double amplitude = 1 + (faults.amplitude - 1) * share;
    size_t length = stream.period;
    if (random_unit(seed) < faults.jitter) length += random_bits(seed) % 2 ? 1 : -1;
    for (size_t i = 0; i < length; i++) {
      double x = mean + amplitude * pattern[i % stream.period];
      if (faults.noise > 0) x += faults.noise * normal(seed);
      if (random_unit(seed) < faults.outliers) x += random_bits(seed) % 2 ? 5 : -5;
      stream.value.push_back(x);
    }
  }
  return stream;
}

/* x[t] = memory x[t-1] + noise: white noise for 0, a random walk for 1. */
Stream autoregressive(double memory, uint64_t *seed) {
  Stream stream;
  double x = 0;
  for (int i = 0; i < APERIODIC; i++) {
    stream.value.push_back(x = memory * x + normal(seed));
  }
  return stream;
}

/* One value, but for a pulse of height 1 now and then. */
Stream pulses(uint64_t *seed) {
  Stream stream;
  for (int i = 0; i < APERIODIC; i++) {
    stream.value.push_back(random_unit(seed) < 0.05 ? 1 : 0);
  }
  return stream;
}

struct Family {
  const char *name;
  Faults faults;
  Stream (*aperiodic)(uint64_t *seed); /* instead */
};

std::vector<Family> all_families() {
  std::vector<Family> families;
  auto add = [&](const char *name, double Faults::*fault, double size) {
    Faults faults;
    if (fault) faults.*fault = size;
    families.push_back({name, faults, nullptr});
  };
  add("perfect", nullptr, 0);
  add("noise of sd 0.05", &Faults::noise, 0.05);
  add("noise of sd 0.1", &Faults::noise, 0.1);
  add("noise of sd 0.2", &Faults::noise, 0.2);
  add("1 in 10 periods a sample off", &Faults::jitter, 0.1);
  add("1 in 2 periods a sample off", &Faults::jitter, 0.5);
  add("1 % outliers", &Faults::outliers, 0.01);
  add("5 % outliers", &Faults::outliers, 0.05);
  add("mean drifts 0.02 a period", &Faults::drift, 0.02);
  add("mean drifts 0.1 a period", &Faults::drift, 0.1);
  add("mean jumps by 3", &Faults::jump, 3);
  add("amplitude grows to 3", &Faults::amplitude, 3);
  add("amplitude falls to 0.2", &Faults::amplitude, 0.2);
  families.push_back(
      {"white noise", {}, [](uint64_t *s) { return autoregressive(0, s); }});
  families.push_back(
      {"correlated noise, 0.9", {}, [](uint64_t *s) { return autoregressive(0.9, s); }});
  families.push_back(
      {"random walk", {}, [](uint64_t *s) { return autoregressive(1, s); }});
  families.push_back({"random pulses", {}, pulses});
  return families;
}

struct Detector {
  const char *name;
  size_t window;
  int32_t adapt;
  double depth, significance;
};

const Detector detectors[] = {
    {"N = M = 100", 100, 0, 0.5, 0},
    {"N = M = 100, depth 0.7", 100, 0, 0.7, 0},
    {"N = 400, M = 100", 400, 0, 0.5, 0},
    {"N = 400, M = 100, adapt", 400, 1, 0.5, 0},
    {"N = 400, M = 100, significance", 400, 0, 0.5, 0.01},
};

std::vector<size_t> ask(const Detector &detector, const Stream &stream) {
  tsanom_dpd_value_options options;
  tsanom_dpd_value_options_init(&options, sizeof options);
  options.window = detector.window;
  options.max_period = 100;
  options.adapt = detector.adapt;
  options.depth = detector.depth;
  options.significance = detector.significance;
  tsanom_dpd_value *object = nullptr;
  check(tsanom_dpd_value_create(&options, nullptr, &object) == TSANOM_OK);
  std::vector<size_t> period(stream.value.size());
  size_t done = 0;
  tsanom_dpd_value_push_many(object, stream.value.data(), period.size(), period.data(),
                             nullptr, &done);
  check(done == period.size(), "number of samples");
  tsanom_dpd_value_destroy(object);
  return period;
}

/* Over the streams of a family. */
struct Tally {
  size_t streams = 0, detected = 0, alarmed = 0;
  size_t samples = 0, false_samples = 0;
  size_t periodic = 0, held = 0; /* samples of repetitions; with the true period */
  std::vector<double> delay;     /* in samples */
};

void tally_stream(Tally &tally, const Stream &stream, const std::vector<size_t> &report) {
  size_t held = 0, wrong = 0;
  for (size_t i = 0; i < report.size(); i++) {
    if (!report[i]) continue;
    size_t high = std::max(report[i], stream.period);
    size_t low = std::min(report[i], stream.period);
    if (!stream.period || i < PROLOGUE || high - low > 1) {
      wrong++;
    } else if (held++ == 0) {
      tally.delay.push_back((double)(i + 1 - PROLOGUE));
    }
  }
  tally.streams++;
  tally.samples += report.size();
  tally.false_samples += wrong;
  tally.alarmed += wrong > 0;
  tally.detected += held > 0;
  tally.held += held;
  tally.periodic += report.size() - PROLOGUE;
}

void add_row(Table &table, const Family &family, const Detector &detector) {
  Tally tally;
  uint64_t seed = 1;
  for (int trial = 0; trial < TRIALS; trial++) {
    Stream stream =
        family.aperiodic ? family.aperiodic(&seed) : repeated(family.faults, &seed);
    tally_stream(tally, stream, ask(detector, stream));
  }
  size_t periodic = family.aperiodic ? 0 : tally.periodic;
  table.add({family.name, detector.name,
             percent(tally.detected, periodic ? tally.streams : 0),
             percent(tally.held, periodic), quantile(tally.delay, 0.5, 0),
             quantile(tally.delay, 0.95, 0), percent(tally.alarmed, tally.streams),
             percent(tally.false_samples, tally.samples)});
}

}  // namespace

int main(int argc, char **argv) {
  bool json = json_wanted(argc, argv, "Detection of periods in imperfect values.");
  Table table({"streams", "detector", "found %", "held %", "late, median", "late, 95 %",
               "false %", "false time %"});
  for (const Family &family : all_families()) {
    for (const Detector &detector : detectors) add_row(table, family, detector);
  }
  table.print(json);
  return 0;
}
