/* SPDX-License-Identifier: BSD-3-Clause */
/* Which thread is watched for iterations: at first the one that opens the first region. It
 * may only have been a warm-up, and sleep or end, while another thread runs the main loop.
 *
 *   the watched thread        visits odd, is `owner` me?  region   visits even
 *   another one that opens    `visits` stays even and the same: REGIONS times, for a PAUSE
 *   an outermost region       owner = me; a SETTLE later still even: it is watched
 *                                                        odd:        owner = the one before
 *
 * Only the watched thread writes icp_watched, but for `owner`. The one before shows that it
 * is in a region before it reads `owner`. So whoever takes its place sees either that, or
 * that it will find the new owner, as soon as the processor has made its store visible, which
 * takes less than a microsecond: no fence burdens each region for what is needed once a run.
 *
 * Once iterations were found, they are left after a second only. In a program that calls MPI
 * iterations are those of the calls too: there the watched thread must have ended. */
#include "asked.h"
#include "intercept.h"
#include "now.h"

enum { REGIONS = 16, PAUSE = 2000000, LONG_PAUSE = 1000000000, SETTLE = 1000000 };

static bool take(const char *why) {
  static atomic_flag has_reported = ATOMIC_FLAG_INIT;
  if (icp_iteration()) icp_watched.of_regions.restarts = true;
  icp_me.own->before_me = NULL;
  icp_me.watched = true;
  if (why && !atomic_flag_test_and_set(&has_reported)) {
    ICP_REPORT(0,
               "iterations are looked for in another thread than the first that opened a "
               "region, which %s",
               why);
  }
  return icp_watch_begins();
}

bool icp_watch_moves(void) {
  icp_own *own = icp_me.own;
  icp_thread *owner = atomic_load(&icp_watched.owner), *nobody = NULL;
  if (!owner) {
    return atomic_compare_exchange_strong(&icp_watched.owner, &nobody, &icp_me) &&
           take("has ended");
  }
  if (icp_watched.has_calls || icp_me.is_lost) return false;
  uint32_t visits = atomic_load(&icp_watched.visits);
  bool is_mine = owner == &icp_me;
  if (is_mine && !own->before_me) return take(NULL); /* another one gave it back */
  if (visits & 1 || visits != own->visits) {
    if (is_mine) atomic_store(&icp_watched.owner, own->before_me);
    own->before_me = NULL;
    own->visits = visits;
    own->alone = 0;
    own->since = icp_now();
    return false;
  }
  if (++own->alone < REGIONS) return false;
  uint64_t pause = icp_now() - own->since;
  if (is_mine) return pause >= SETTLE && take("opens none any more");
  if (pause < (icp_iteration() ? LONG_PAUSE : PAUSE)) return false;
  own->before_me = owner;
  own->since += pause;
  (void)atomic_compare_exchange_strong(&icp_watched.owner, &owner, &icp_me);
  return false;
}

void icp_watch_ends(void) {
  icp_thread *me = &icp_me;
  (void)atomic_compare_exchange_strong(&icp_watched.owner, &me, NULL);
}
