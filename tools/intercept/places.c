/* SPDX-License-Identifier: BSD-3-Clause */
/* Three tables:
 *
 *   icp_slots   address -> number; lookups take no lock
 *   known       number -> module and address as linked
 *   places.tsv  the same on disk
 *
 * A library can be unloaded, and another be loaded at its address. So dlclose() empties
 * the slots of the code that is gone (record.c calls icp_places_forget_unloaded()). Code
 * that comes back has its old number, wherever it is loaded: it is found in `known` by
 * module and linked address.
 *
 *   slot.address   0 ──add──▶ address ──unloaded──▶ EMPTIED ──add──▶ another address
 *                  ends a search                    does not
 *
 * A slot never becomes 0 again: an address may lie behind it, where a search that ended
 * here would not find it.
 *
 * Threads race in three ways. Two that add one address: the lock decides, and the second
 * finds the first's. One that looks up while another adds: it sees the address after the
 * number, or not at all, and then waits for the lock. One that looks up while another
 * unloads the code: it is not in that code.
 *
 * The first region of a place takes about 3 us more than later ones, a dlclose() 20 us
 * instead of 12 (AMD Zen 3). */
#include "places.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "modules.h"
#include "record/inside.h"
#include "record/regions.h"
#include "runtime.h"
#include "section.h"
#include "thread.h"

enum { EMPTIED = 1 }; /* no address of code; ends no search */

icp_slot icp_slots[ICP_SLOTS];

typedef struct {
  uintptr_t address; /* 0: unloaded; always of calls of MPI */
  uintptr_t base, linked;
  uint64_t module; /* its hash */
  /* Of a call of MPI; a function of NULL: it is none. */
  const char *function;
  uint32_t communicator;
} known_place;

static known_place known[TSN_REGIONS_PLACES_MAX];
static _Atomic uint32_t used;
/* Never held while the loader is called: a constructor that opens a region, and so needs
 * this lock, runs under the loader's. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* The place that is expected. */
_Atomic uint32_t icp_expected_place = ICP_NO_PLACE;
static char expected_module[256];
static uintptr_t expected_address;

void icp_places_expect(const char *text) {
  const char *plus = strrchr(text, '+');
  if (!plus || (size_t)(plus - text) >= sizeof expected_module) return;
  memcpy(expected_module, text, (size_t)(plus - text));
  expected_address = (uintptr_t)strtoull(plus + 1, NULL, 16);
}

/* `module`: the identity and path of a module. */
static bool is_expected(uintptr_t linked, const char *module) {
  const char *slash = strrchr(module, '/');
  return *expected_module && linked == expected_address && slash &&
         strcmp(slash + 1, expected_module) == 0;
}

static const char name[] = "places.tsv";
static tsn_file file = {.descriptor = -1};
static off_t length; /* this process alone writes */

/* A full disk, or a limit: the reader gives the place no name. */
static int append(const char *text, size_t bytes) {
  int error = tsn_record_use_file(icp_set.record, &file, name);
  if (!error) error = tsn_file_write(&file, text, bytes, length);
  if (!error) length += (off_t)bytes;
  tsn_record_settle(icp_set.record, &file);
  return error;
}

/* The slot of an address, or that to which it may be added. There always is one: slots
 * are twice as many as places. */
static icp_slot *find(uintptr_t address) {
  icp_slot *vacant = NULL;
  uint32_t at = icp_slot_of(address);
  for (int i = 0; i < ICP_SLOTS; i++, at = (at + 1) % ICP_SLOTS) {
    uintptr_t there = atomic_load_explicit(&icp_slots[at].address, memory_order_acquire);
    if (there == address) return &icp_slots[at];
    if (!vacant && there <= EMPTIED) vacant = &icp_slots[at];
    if (there == 0) break;
  }
  return vacant;
}

/* Of an earlier run of this process, or of the one that it is a fork of. */
static void forget_all(void) {
  pthread_mutex_lock(&lock);
  uint32_t count = atomic_exchange(&used, 0);
  for (uint32_t number = 0; number < count; number++) {
    if (known[number].address) {
      atomic_store(&find(known[number].address)->address, EMPTIED);
    }
    known[number] = (known_place){.address = 0};
  }
  length = 0;
  pthread_mutex_unlock(&lock);
}

int icp_places_start(void) {
  static const char head[] = "tsanom places 3\n";
  forget_all();
  int error = tsn_record_create_file(icp_set.record, &file, name);
  return error ? error : append(head, sizeof head - 1);
}

/* One line, by one write: a process that is killed leaves whole lines. `kind`: letters
 * of formats.md. The lock is held, which protects the buffer. */
static void write_line(uint32_t number, const known_place *place, const char kind[3],
                       const char *module) {
  static char line[ICP_IDENTITY + PATH_MAX + 128];
  int written = snprintf(line, sizeof line, "%" PRIu32 "\t%s\t%" PRIxPTR "\t%s", number,
                         kind, place->linked, module);
  if (written < 0 || (size_t)written >= sizeof line) return;
  size_t rest = sizeof line - (size_t)written;
  int more = place->function ? snprintf(line + written, rest, "\t%s\t%" PRIu32 "\n",
                                        place->function, place->communicator)
                             : snprintf(line + written, rest, "\n");
  if (more < 0 || (size_t)more >= rest) return;
  (void)append(line, (size_t)written + (size_t)more);
}

/* The number of an unloaded place that is loaded again, or of a call of MPI that is
 * known; `used`: it is new. A linear search, which only the first region of a place
 * meets. */
static uint32_t returning(const known_place *place) {
  uint32_t number = 0, count = atomic_load(&used);
  for (; number < count; number++) {
    const known_place *k = &known[number];
    if (!k->address && k->module == place->module && k->linked == place->linked &&
        k->function == place->function && k->communicator == place->communicator) {
      break;
    }
  }
  return number;
}

/* The number of a place in `known`. The line is written before the number is published:
 * an event never names a place that the file lacks, unless the disk is full. */
static uint32_t know_locked(const known_place *place, const char kind[3],
                            const icp_module *module) {
  uint32_t number = returning(place);
  if (number == TSN_REGIONS_PLACES_MAX - 1) return number;
  known[number] = *place;
  if (number == atomic_load(&used)) {
    write_line(number, place, kind, module->text);
    if (is_expected(place->linked, module->text)) {
      atomic_store(&icp_expected_place, number);
    }
    atomic_store(&used, number + 1);
  }
  return number;
}

static uint32_t add_locked(uintptr_t address, int kind, bool is_call,
                           const icp_module *module) {
  char letter = kind == TSN_REGIONS_BEGIN  ? 'r'
                : kind == TSN_REGIONS_TASK ? 't'
                : kind == ICP_PLACE_THREAD ? 'h'
                                           : 's';
  const char letters[3] = {letter, is_call ? 'c' : 'f'};
  icp_slot *slot = find(address);
  if (atomic_load_explicit(&slot->address, memory_order_relaxed) == address) {
    return slot->number;
  }
  const known_place place = {.address = address,
                             .base = module->base,
                             .linked = address - module->base,
                             .module = module->hash};
  uint32_t number = know_locked(&place, letters, module);
  if (number == TSN_REGIONS_PLACES_MAX - 1) return number;
  slot->number = number;
  atomic_store_explicit(&slot->address, address, memory_order_release);
  return number;
}

typedef struct {
  uintptr_t address;
  int kind;
  bool is_call;
  const char *function; /* of MPI */
  uint32_t communicator, number;
} request;

/* The loader is asked before the lock is taken; that another thread may add the place
 * meanwhile is found under the lock. */
static void serve(void *argument) {
  request *r = argument;
  icp_module module;
  icp_module_at(r->address, &module);
  pthread_mutex_lock(&lock);
  r->number = add_locked(r->address, r->kind, r->is_call, &module);
  pthread_mutex_unlock(&lock);
}

static uint32_t add(uintptr_t address, int kind, bool is_call) {
  request r = {.address = address, .kind = kind, .is_call = is_call};
  if (atomic_load(&used) == TSN_REGIONS_PLACES_MAX - 1) return atomic_load(&used);
  icp_section(serve, &r);
  return r.number;
}

uint32_t icp_place_elsewhere(uintptr_t address, int kind, bool is_call) {
  const icp_slot *slot = find(address);
  bool found = atomic_load_explicit(&slot->address, memory_order_relaxed) == address;
  return found ? slot->number : add(address, kind, is_call);
}

/* Functions are known by the address of their names, of which each has one. */
static void serve_call(void *argument) {
  request *r = argument;
  icp_module module;
  icp_module_at(r->address, &module);
  const known_place place = {.linked = r->address - module.base,
                             .module = module.hash,
                             .function = r->function,
                             .communicator = r->communicator};
  pthread_mutex_lock(&lock);
  r->number = know_locked(&place, "mc", &module);
  pthread_mutex_unlock(&lock);
}

uint32_t icp_place_of_call(uintptr_t address, const char *function,
                           uint32_t communicator) {
  request r = {.address = address, .function = function, .communicator = communicator};
  icp_section(serve_call, &r);
  return r.number;
}

bool icp_place_is_call(uint32_t number) {
  return known[number].function != NULL;
}

/* Empty the slot of an address, if it still is that of this number. */
static void forget(uint32_t number, uintptr_t address) {
  pthread_mutex_lock(&lock);
  icp_slot *slot = find(address);
  if (known[number].address == address && slot->number == number) {
    atomic_store_explicit(&slot->address, EMPTIED, memory_order_release);
    known[number].address = 0;
    atomic_store(&icp_place_runtime[number], 0); /* it may come back with another one */
  }
  pthread_mutex_unlock(&lock);
}

/* A place is gone if its address has no module now, or another one, or the same at
 * another base. */
static void forget_unloaded(void *unused) {
  icp_module now;
  known_place last = {.address = 0};
  bool is_gone = false;
  (void)unused;
  for (uint32_t number = 0; number < atomic_load(&used); number++) {
    pthread_mutex_lock(&lock);
    known_place place = known[number];
    pthread_mutex_unlock(&lock);
    if (!place.address) continue;
    /* Most places share a module with the one before. */
    if (!last.address || place.base != last.base || place.module != last.module) {
      icp_module_at(place.address, &now);
      is_gone = now.base != place.base || now.hash != place.module;
      last = place;
    }
    if (is_gone) forget(number, place.address);
  }
}

void icp_places_forget_unloaded(void) {
  icp_section(forget_unloaded, NULL);
}
