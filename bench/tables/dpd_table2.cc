/* SPDX-License-Identifier: BSD-3-Clause */
/* The periodicity paper's table 2: the periods of nested loops, all found in one pass
 * over each stream. The recorded streams of tests/data follow, whose periods their
 * README states. Ends with 1 if a period is missing or one too many. With --stream NAME,
 * prints the events of that stream instead. */
#include <tsanom/dpd.h>

#include <fstream>

#include "dpd_streams.h"
#include "table.h"

namespace {

struct Found {
  size_t period, level;
  uint64_t first; /* event of the first loop of this period */
  uint64_t found; /* event that completed it */
  uint64_t loops;
};

struct Stream {
  std::string name;
  std::vector<uint64_t> event;
  std::vector<size_t> periods; /* the true ones */
};

std::vector<uint64_t> recorded(const char *name, size_t times = 1) {
  std::ifstream file(std::string(TSANOM_TEST_DATA "/streams/") + name);
  std::vector<uint64_t> event;
  for (uint64_t token; file >> token;) event.push_back(token);
  size_t once = event.size();
  event.resize(once * times);
  for (size_t i = once; i < event.size(); i++) event[i] = event[i - once];
  return event;
}

std::vector<Stream> all_streams() {
  std::vector<Stream> streams;
  for (const SpecStream &spec : spec_streams()) {
    streams.push_back({spec.name, events_of(spec), spec.periods});
  }
  streams.push_back({"NPB CG W", recorded("npb30c.cg.W.t2.txt"), {1, 29}});
  streams.push_back({"NPB MG W", recorded("npb34f.mg.W.t2.txt"), {2, 6, 52}});
  streams.push_back({"LULESH", recorded("lulesh.s10.txt", 100), {1, 2, 12, 14, 26, 491}});
  return streams;
}

/* Remember where the first loop of each period was found. */
void note_loops(const tsanom_dpd_nest *nest, std::vector<Found> &found) {
  tsanom_dpd_loop loop[64];
  size_t count = 0;
  tsanom_dpd_nest_loops(nest, loop, 64, &count);
  for (size_t i = 0; i < count; i++) {
    auto known = std::find_if(found.begin(), found.end(),
                              [&](const Found &f) { return f.period == loop[i].period; });
    if (known != found.end()) continue;
    found.push_back({loop[i].period, 0, loop[i].first, loop[i].found, 0});
  }
}

std::vector<Found> periods_of(const std::vector<uint64_t> &event) {
  std::vector<Found> found;
  tsanom_dpd_nest *nest = nullptr;
  if (tsanom_dpd_nest_create(nullptr, nullptr, &nest) < 0) std::abort();
  for (uint64_t e : event) {
    int32_t changed = 0;
    tsanom_dpd_nest_push(nest, e, &changed);
    if (changed) note_loops(nest, found);
  }
  tsanom_dpd_period period[64];
  size_t count = 0;
  tsanom_dpd_nest_periods(nest, period, 64, &count);
  for (Found &f : found) {
    for (size_t k = 0; k < count; k++) {
      if (period[k].period != f.period) continue;
      f.level = period[k].level;
      f.loops = period[k].loops;
    }
  }
  tsanom_dpd_nest_destroy(nest);
  std::sort(found.begin(), found.end(),
            [](const Found &a, const Found &b) { return a.period < b.period; });
  return found;
}

/* Add the rows of a stream; whether its periods are the true ones. */
bool add_rows(Table &table, const Stream &stream) {
  std::vector<Found> found = periods_of(stream.event);
  std::vector<size_t> all = stream.periods;
  for (const Found &f : found) all.push_back(f.period);
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  for (size_t period : all) {
    bool is_true = std::count(stream.periods.begin(), stream.periods.end(), period) > 0;
    auto f = std::find_if(found.begin(), found.end(),
                          [&](const Found &one) { return one.period == period; });
    std::vector<Cell> row = {stream.name, stream.event.size()};
    row.push_back(is_true ? Cell(period) : Cell("none"));
    if (f == found.end()) {
      for (const char *missing : {"none", "", "", "", ""}) row.push_back(missing);
    } else {
      double iterations = (double)(f->found + 1 - f->first) / (double)period;
      for (uint64_t number : {(uint64_t)period, (uint64_t)f->level, f->loops, f->first}) {
        row.push_back((size_t)number);
      }
      row.push_back(Cell(iterations, 1));
    }
    table.add(row);
  }
  return all.size() == stream.periods.size() && found.size() == all.size();
}

/* The events of a stream, one per line; the exit status. */
int print_events(const char *name) {
  for (const Stream &stream : all_streams()) {
    if (stream.name != name) continue;
    for (uint64_t e : stream.event) std::printf("%llu\n", (unsigned long long)e);
    return 0;
  }
  std::fprintf(stderr, "dpd_table2: no stream '%s'\n", name);
  return 2;
}

}  // namespace

int main(int argc, char **argv) {
  if (argc == 3 && std::strcmp(argv[1], "--stream") == 0) return print_events(argv[2]);
  bool json = json_wanted(argc, argv, "Periods of nested loops, true and found.");
  Table table({"stream", "events", "period", "found", "level", "loops", "first event",
               "iterations until found"});
  bool good = true;
  for (const Stream &stream : all_streams()) good &= add_rows(table, stream);
  table.print(json);
  return good ? 0 : 1;
}
