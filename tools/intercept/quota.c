/* SPDX-License-Identifier: BSD-3-Clause */
/* How many records a process may write, by --max-size, and how many of them may be events
 * before these are added up, by --profile. The records of all threads count. A thread
 * takes GRANT of them at once, so that it seldom meets the others. */
#include <stdatomic.h>

#include "asked.h"
#include "environment.h"
#include "intercept.h"
#include "profile.h"
#include "record/regions.h"

enum { RECORD_BYTES = 16, GRANT = 256 };

/* 0: any number. */
static uint64_t most_records, most_events;
static _Atomic uint64_t granted;

void icp_quota_start(void) {
  most_records = icp_asked.max_size / RECORD_BYTES;
  most_events = icp_asked.events / RECORD_BYTES;
}

/* A further thread takes 15 KiB besides: a page in each of its two streams, and the rows
 * of its heartbeats. With --profile this is taken from the events. A quarter of these
 * remains, in which iterations are found. */
void icp_quota_share(int threads) {
  const uint64_t all = ENVIRONMENT_EVENTS_PROFILE / RECORD_BYTES, most = all / 4 * 3;
  const uint64_t taken = (uint64_t)(threads - 1) * (15 << 10) / RECORD_BYTES;
  if (most_events == all) most_events -= taken < most ? taken : most;
}

/* 3/8 of the bytes of the events, up to 8 MiB: with --profile 96 samples. */
int32_t icp_quota_vitals(void) {
  enum { SAMPLE_BYTES = 128, MOST = 1 << 16 };
  uint64_t samples = most_events * RECORD_BYTES * 3 / 8 / SAMPLE_BYTES;
  return samples < MOST ? (int32_t)samples : MOST;
}

/* Where --max-size is not reached. */
static void grant(uint64_t records) {
  static atomic_flag has_reported = ATOMIC_FLAG_INIT;
  icp_me.quota = GRANT - 1;
  if (!most_events || records <= most_events) return;
  icp_me.stays = icp_me.is_over;
  icp_me.is_over = true;
  if (most_events <= ENVIRONMENT_EVENTS_PROFILE / RECORD_BYTES ||
      atomic_flag_test_and_set(&has_reported))
    return;
  ICP_REPORT(0,
             "%llu KiB of events are written; from now on events are added up, as with "
             "--profile (--events keeps all)",
             (unsigned long long)(most_events * RECORD_BYTES >> 10));
}

bool icp_take_quota(void) {
  if (!most_records && !most_events) {
    icp_me.quota = UINT32_MAX;
    return true;
  }
  uint64_t records = atomic_fetch_add(&granted, GRANT) + GRANT;
  if (!most_records || records <= most_records) {
    grant(records);
    return true;
  }
  if (icp_end_recording()) {
    ICP_REPORT(
        0, "the records that --max-size allows are written; the rest is not recorded");
  }
  return false;
}

/* Of a thread that stays in its regions: they end here as far as the events are
 * concerned, and go on in the totals. A call of MPI around them ends soon. */
static void start_inside(void) {
  if (icp_me.open > ICP_DEPTH_MOST ||
      (icp_me.open && icp_place_is_call(icp_me.own->place[0])))
    return;
  icp_me.profiles = icp_profile_start(icp_me.state.number, icp_me.watched,
                                      icp_me.own->place, icp_me.open);
  icp_me.is_over = icp_me.profiles;
  icp_me.stays = false;
  for (uint32_t i = icp_me.open; icp_me.profiles && i-- > 0;) {
    (void)tsanom_record_region(
        icp_set.record, (int32_t)icp_me.state.number,
        icp_event(TSN_REGIONS_END, icp_me.own->place[i], icp_me.state.team));
  }
}

/* Events are added up from the end of a region on that is in no other one, and from that
 * of a call, where there are calls: a computation before a call of MPI is either all in
 * events or all in totals. A thread that has written a whole GRANT without such an end
 * does not wait for it. The ends of worksharing constructs have no totals. */
bool icp_record_total(uint32_t kind, uint32_t place) {
  if (icp_me.is_lost) return true;
  if (icp_me.stays) start_inside();
  bool has_total = kind != TSN_REGIONS_SHARE && kind != TSN_REGIONS_WORK;
  if (icp_me.profiles) {
    if (kind != TSN_REGIONS_WORK) icp_profile_event(kind, place);
    return true;
  }
  if (!has_total) return true;
  if (kind == TSN_REGIONS_END && icp_me.open == 1 &&
      (!icp_me.calls || icp_place_is_call(place))) {
    icp_me.profiles =
        icp_profile_start(icp_me.state.number, icp_me.watched, icp_me.own->place, 0);
    icp_me.is_over = icp_me.profiles;
  }
  return false;
}

bool icp_beat_total(bool anew) {
  if (icp_me.is_lost) return true;
  if (icp_me.stays) start_inside();
  return icp_me.profiles && icp_profile_beat(anew);
}
