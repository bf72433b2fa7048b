/* SPDX-License-Identifier: BSD-3-Clause */
/* Saved objects: a header, the options, the fields that the object's type exchanges, and a
 * checksum of all. One function walks the fields to measure, to save and to restore. */
#include <string.h>

#include "core/checksum.h"
#include "core/exec.h"
#include "core/fault.h"
#include "core/state.h"

typedef struct {
  uint64_t kind; /* a state of another byte order has another one */
  uint64_t version;
  uint64_t bytes; /* of options and fields */
} header;

enum {
  VERSION = 4, /* increase it when the fields of a state change */
  AROUND = sizeof(header) + sizeof(uint64_t)
};

/* NULL: objects of this type cannot be saved. */
static const tsn_saved *type_of(const void *object) {
  return ((const tsn_object *)object)->saved;
}

static void *options_of(void *object) {
  return (unsigned char *)object + type_of(object)->options;
}

static size_t count_bytes(void *object) {
  tsn_state counted = {.to = NULL};
  tsn_state_exchange(&counted, object);
  return AROUND + type_of(object)->options_bytes + counted.used;
}

/* Write the state, of `bytes` as counted. */
static void write_state(void *object, unsigned char *memory, size_t bytes) {
  const tsn_saved *type = type_of(object);
  header head = {.kind = type->kind, .version = VERSION, .bytes = bytes - AROUND};
  tsn_state state = {.to = memory};
  tsn_state_field(&state, &head, sizeof head);
  tsn_state_field(&state, options_of(object), type->options_bytes);
  tsn_state_exchange(&state, object);
  uint64_t checksum = tsn_checksum(memory, bytes - sizeof checksum);
  tsn_state_field(&state, &checksum, sizeof checksum);
}

/* Read the fields of a checked state. Returns whether they are valid. */
static bool read_state(void *object, const unsigned char *memory, size_t bytes) {
  size_t before = sizeof(header) + type_of(object)->options_bytes;
  tsn_state state = {.from = memory + before, .left = bytes - before - sizeof(uint64_t)};
  tsn_state_exchange(&state, object);
  return !state.damaged && state.left == 0 && tsn_state_resume(object);
}

/* Saving only reads the object: a type has one function for both directions, which is why
 * that takes objects that are not const. */
tsanom_status tsanom_save(const void *object, void *state, size_t capacity,
                          size_t *bytes) {
  if (!object || !bytes || (!state && capacity)) return TSANOM_E_NULL;
  if (!type_of(object)) return TSANOM_E_STATE;
  void *read_only = (void *)object;
  *bytes = count_bytes(read_only);
  if (*bytes > capacity) return TSANOM_PARTIAL;
  write_state(read_only, state, *bytes);
  return TSANOM_OK;
}

typedef struct {
  tsanom_exec exec;
  void *object;
  const unsigned char *state;
  size_t bytes;
  void *before; /* the block of the object */
} restoration;

static void layout(tsn_arena *arena, void *context) {
  restoration *r = context;
  r->before = tsn_arena_take(arena, ((const tsn_object *)r->object)->bytes, 1);
}

static tsanom_status check(void *context) {
  const restoration *r = context;
  const tsn_saved *type = type_of(r->object);
  header head;
  uint64_t checksum;
  if (!r->state) return tsn_reject_null(&r->exec, "state", r->bytes);
  if (r->bytes < AROUND + type->options_bytes) {
    return tsn_reject_is(&r->exec, TSANOM_E_FORMAT, "state", TSANOM_NONE,
                         "of %zu bytes; at least %zu are expected", r->bytes,
                         AROUND + type->options_bytes);
  }
  memcpy(&head, r->state, sizeof head);
  if (head.kind != type->kind) {
    return tsn_reject_text(&r->exec, TSANOM_E_FORMAT, "state", TSANOM_NONE,
                           "it was not saved from an object of this type");
  }
  if (head.bytes != r->bytes - AROUND) {
    return tsn_reject_is(&r->exec, TSANOM_E_FORMAT, "state", TSANOM_NONE,
                         "of %zu bytes; %llu are expected", r->bytes,
                         (unsigned long long)head.bytes + AROUND);
  }
  memcpy(&checksum, r->state + r->bytes - sizeof checksum, sizeof checksum);
  if (checksum != tsn_checksum(r->state, r->bytes - sizeof checksum)) {
    return tsn_reject_text(&r->exec, TSANOM_E_FORMAT, "state", TSANOM_NONE,
                           "the %zu bytes are not those that were saved", r->bytes);
  }
  if (head.version != VERSION) {
    return tsn_reject_text(&r->exec, TSANOM_E_VERSION, "state", TSANOM_NONE,
                           "its version is %llu; %d is expected",
                           (unsigned long long)head.version, VERSION);
  }
  if (memcmp(r->state + sizeof head, options_of(r->object), type->options_bytes) != 0) {
    return tsn_reject_text(&r->exec, TSANOM_E_OPTION, "state", TSANOM_NONE,
                           "it was saved from an object with other options");
  }
  return TSANOM_OK;
}

/* A state that nobody saved, but whose checksum is right, is only known when it has been
 * read: then the object, which is one block, gets its bytes back. */
static tsanom_status body(void *context) {
  const restoration *r = context;
  const tsn_object owner = *(const tsn_object *)r->object;
  memcpy(r->before, owner.block, owner.bytes);
  if (read_state(r->object, r->state, r->bytes)) return TSANOM_OK;
  memcpy(owner.block, r->before, owner.bytes);
  return tsn_reject_text(&r->exec, TSANOM_E_FORMAT, "state", TSANOM_NONE,
                         "a field has a value that no object has");
}

tsanom_status tsanom_restore(void *object, const void *state, size_t state_bytes,
                             const tsanom_exec *exec) {
  restoration r = {.object = object, .state = state, .bytes = state_bytes};
  tsanom_status status = tsn_exec_read(&r.exec, exec);
  if (status < 0) return status;
  if ((status = tsn_require(&r.exec, object, "object")) < 0) return status;
  if (!type_of(object)) {
    return tsn_reject_text(&r.exec, TSANOM_E_STATE, "object", TSANOM_NONE,
                           "objects of its type cannot be saved");
  }
  return tsn_workspace_run(&r.exec, layout, check, body, &r);
}
