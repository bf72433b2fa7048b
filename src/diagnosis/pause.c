/* SPDX-License-Identifier: BSD-3-Clause */
/* Which of the threads that paused or became silent at the same time made the others
 * wait:
 *
 *   thread 0   |   |   |                  |   |     beats before a barrier, and waits
 *   thread 1   |   |               |   |   |        paused first: the cause
 *
 * A thread that slept until another one would wake it, by most samples of its gap, waited
 * for one that something else blocked, or that ran. Where the samples do
 * not tell, gaps that began
 * within half of an interval of each other have no order, as where threads beat behind
 * their barriers. Of these, a thread that used its processor meanwhile waited for one
 * that was blocked. If the first thread had no processor, nothing hangs. */
#include <math.h>

#include "diagnosis/causes.h"

typedef struct {
  const tsanom_hsa_run *run;
  tsanom_hsa_signs *signs;
  tsanom_hsa_cause *cause;
  size_t count;
} pauses;

static bool overlap(const double a[2], const double b[2]) {
  return a[0] <= b[1] && b[0] <= a[1];
}

static bool is_pause(const tsanom_hsa_cause *c) {
  return c->cause == TSANOM_HSA_HANG && c->detail == TSANOM_HSA_DETAIL_PAUSED;
}

static bool is_silence(const tsanom_hsa_cause *c) {
  return c->cause == TSANOM_HSA_HANG && c->detail != TSANOM_HSA_DETAIL_PAUSED;
}

static bool is_blocked(const tsanom_hsa_cause *c) {
  return is_pause(c) && c->sign == TSANOM_HSA_SIGN_BLOCKED_GAP;
}

/* Samples of a thread in a gap: in which it slept until another one would wake it;
 * something else blocked it; it ran or was ready; and all of them. */
typedef struct {
  size_t asleep, blocked, active, samples;
} stay;

static stay stay_between(const tsanom_hsa_series *s, double begin, double end) {
  stay found = {0, 0, 0, 0};
  for (size_t i = 0; i < s->vital_count; i++) {
    const tsanom_hsa_vital *v = &s->vital[i];
    if (!(v->time > begin && v->time < end)) continue;
    found.asleep += v->waits == TSANOM_HSA_WAITS_THREAD;
    found.blocked += tsn_hsa_blocks_alone(v);
    found.active += v->state == 'R';
    found.samples++;
  }
  return found;
}

/* Of the thread of a cause, which may run for a part of its gap. A watch has no times of
 * beats, and has hangs of its own. */
static stay stay_of(const pauses *p, const tsanom_hsa_cause *c) {
  const tsanom_hsa_series *s = &p->run->threads[c->thread];
  double begin = c->number[0];
  if (is_silence(c)) begin = s->time && s->beats ? s->time[s->beats - 1] : INFINITY;
  return stay_between(s, begin, c->number[1]);
}

static bool slept_for_thread(const pauses *p, const tsanom_hsa_cause *c) {
  stay found = stay_of(p, c);
  return found.asleep > found.blocked;
}

/* Whether something other than a thread made it pause: it was blocked, or it ran. */
static bool paused_by_itself(const pauses *p, const tsanom_hsa_cause *c) {
  stay found = stay_of(p, c);
  bool ran = found.samples && found.active == found.samples;
  return ran || found.blocked > found.asleep;
}

/* Of the threads that hang at the same time, those that slept for another one wait, if
 * something else blocked one, or one ran, as in an endless loop. */
static void settle_sleepers(pauses *p) {
  for (size_t i = 0; i < p->count; i++) {
    tsanom_hsa_cause *c = &p->cause[i];
    bool waits = false;
    if (c->cause != TSANOM_HSA_HANG || !slept_for_thread(p, c)) continue;
    for (size_t k = 0; k < p->count && !waits; k++) {
      const tsanom_hsa_cause *other = &p->cause[k];
      waits = other->cause == TSANOM_HSA_HANG && is_pause(other) == is_pause(c) &&
              overlap(other->number, c->number) && paused_by_itself(p, other);
    }
    if (waits) c->cause = TSANOM_HSA_WAITING;
  }
}

/* The cause of a kind that began first; NULL: there is none. */
static const tsanom_hsa_cause *first_of(const pauses *p,
                                        bool (*is_kind)(const tsanom_hsa_cause *)) {
  const tsanom_hsa_cause *first = NULL;
  for (size_t i = 0; i < p->count; i++) {
    const tsanom_hsa_cause *c = &p->cause[i];
    if (is_kind(c) && (!first || c->number[0] < first->number[0])) first = c;
  }
  return first;
}

/* When an earlier gap than this one began. */
static double earlier_than(const pauses *p, const tsanom_hsa_cause *c) {
  return c->number[0] - 0.5 * p->signs[c->thread].value[TSANOM_HSA_SIGN_INTERVAL];
}

/* The first of all does not wait for a blocked thread that began later, as one that
 * writes and computes in its pause. */
static bool waited(const pauses *p, const tsanom_hsa_cause *c,
                   const tsanom_hsa_cause *first, const tsanom_hsa_cause *blocked) {
  if (!first || !overlap(c->number, first->number)) return false;
  if (first->number[0] < earlier_than(p, c)) return true;
  return blocked && is_pause(c) && !is_blocked(c) &&
         c->number[0] >= earlier_than(p, blocked) && overlap(c->number, blocked->number);
}

/* Whether the thread that paused first waited for one that had no processor in its own
 * longest gap, or for most of the time: `gap` is the one that this explains. */
static bool lacked_processor(const pauses *p, const tsanom_hsa_cause *first,
                             double gap[2]) {
  for (size_t t = 0; t < p->run->thread_count; t++) {
    const tsanom_hsa_series *s = &p->run->threads[t];
    double length = p->signs[t].value[TSANOM_HSA_SIGN_GAP];
    bool hangs = p->signs[t].reserved[0] >> TSANOM_HSA_HANG & 1;
    if (hangs) continue;
    if (tsn_hsa_wait_share(s, first->number) >= 0.5) {
      gap[0] = first->number[0];
      gap[1] = first->number[1];
      return true;
    }
    if (!(length >= 0.5 * first->value)) continue;
    tsn_hsa_find_gap(s, TSANOM_HSA_SIGN_GAP, gap);
    if (overlap(gap, first->number) && gap[0] < earlier_than(p, first) &&
        tsn_hsa_wait_in_gap(s) >= 0.5 * length) {
      return true;
    }
  }
  return false;
}

static void drop_pauses(pauses *p, const double gap[2]) {
  size_t kept = 0;
  for (size_t i = 0; i < p->count; i++) {
    if (is_pause(&p->cause[i]) && overlap(p->cause[i].number, gap)) {
      p->signs[p->cause[i].thread].reserved[0] &= ~(UINT64_C(1) << TSANOM_HSA_HANG);
    } else {
      p->cause[kept++] = p->cause[i];
    }
  }
  p->count = kept;
}

/* Whether a thread that slept for another one had one to wait for that did not pause, and
 * ran or was ready to. */
static bool awaited_active(const pauses *p, const tsanom_hsa_cause *c) {
  if (!is_pause(c) || !slept_for_thread(p, c)) return false;
  for (size_t t = 0; t < p->run->thread_count; t++) {
    stay other = stay_between(&p->run->threads[t], c->number[0], c->number[1]);
    bool hangs = p->signs[t].reserved[0] >> TSANOM_HSA_HANG & 1;
    if (!hangs && !other.blocked && other.active > other.asleep) return true;
  }
  return false;
}

/* Such a pause is explained by the work of the other thread, or by what took its
 * processor. */
static void drop_awaiting(pauses *p) {
  size_t kept = 0;
  for (size_t i = 0; i < p->count; i++) {
    const tsanom_hsa_cause c = p->cause[i];
    if (awaited_active(p, &c)) {
      p->signs[c.thread].reserved[0] &= ~(UINT64_C(1) << TSANOM_HSA_HANG);
    } else {
      p->cause[kept++] = c;
    }
  }
  p->count = kept;
}

/* The gaps of silent threads were ordered by their length: they end now. A watch has no
 * times of beats, and has hangs of its own. */
static void set_beginnings(pauses *p) {
  for (size_t i = 0; i < p->count; i++) {
    tsanom_hsa_cause *c = &p->cause[i];
    if (c->sign != TSANOM_HSA_SIGN_SILENCE) continue;
    const tsanom_hsa_series *s = &p->run->threads[c->thread];
    c->number[0] = s->time && s->beats ? s->time[s->beats - 1] : NAN;
  }
}

size_t tsn_hsa_settle_pauses(const tsanom_hsa_run *run, tsanom_hsa_signs *signs,
                             tsanom_hsa_cause *cause, size_t count) {
  pauses p = {run, signs, cause, count};
  double gap[2];
  const tsanom_hsa_cause *paused = first_of(&p, is_pause);
  if (paused && lacked_processor(&p, paused, gap)) drop_pauses(&p, gap);
  settle_sleepers(&p);
  drop_awaiting(&p);
  /* Copies, since the causes change. */
  tsanom_hsa_cause leader[3];
  const tsanom_hsa_cause *first[3] = {first_of(&p, is_pause), first_of(&p, is_blocked),
                                      first_of(&p, is_silence)};
  for (int i = 0; i < 3; i++) {
    if (!first[i]) continue;
    leader[i] = *first[i];
    first[i] = &leader[i];
  }
  for (size_t i = 0; i < p.count; i++) {
    tsanom_hsa_cause *c = &p.cause[i];
    bool waits = (is_pause(c) && waited(&p, c, first[0], first[1])) ||
                 (is_silence(c) && waited(&p, c, first[2], NULL));
    if (waits) c->cause = TSANOM_HSA_WAITING;
  }
  set_beginnings(&p);
  return p.count;
}
