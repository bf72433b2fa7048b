/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/state.h"

#include <string.h>

#include "core/checksum.h"
#include "core/exec.h"
#include "core/fault.h"

typedef struct {
  uint64_t kind;
  uint64_t version;
  uint64_t bytes; /* of the fields */
} header;

/* Increase it when the fields of a state change. */
enum { VERSION = 3 };

void tsn_state_field(tsn_state *state, void *field, size_t bytes) {
  state->used += bytes;
  if (state->to) {
    memcpy(state->to, field, bytes);
    state->to += bytes;
  } else if (state->from && !state->damaged && bytes <= state->left) {
    memcpy(field, state->from, bytes);
    state->from += bytes;
    state->left -= bytes;
  } else if (state->from) {
    memset(field, 0, bytes);
    state->damaged = true;
  }
}

tsanom_status tsn_state_save(uint64_t kind, tsn_state_exchange *exchange, void *object,
                             void *memory, size_t capacity, size_t *bytes) {
  tsn_state counted = {.to = NULL};
  exchange(&counted, object);
  uint64_t checksum;
  *bytes = sizeof(header) + counted.used + sizeof checksum;
  if (*bytes > capacity) return TSANOM_PARTIAL;
  header head = {.kind = kind, .version = VERSION, .bytes = counted.used};
  memcpy(memory, &head, sizeof head);
  tsn_state state = {.to = (unsigned char *)memory + sizeof head};
  exchange(&state, object);
  checksum = tsn_checksum(memory, sizeof head + counted.used);
  memcpy(state.to, &checksum, sizeof checksum);
  return TSANOM_OK;
}

/* A state of another byte order has another kind. */
static tsanom_status open_checked(uint64_t kind, const void *memory, size_t bytes,
                                  const tsanom_exec *exec, tsn_state *state) {
  const unsigned char *from = memory;
  header head;
  uint64_t checksum;
  const size_t around = sizeof head + sizeof checksum;
  if (!memory) return tsn_reject(exec, TSANOM_E_NULL, "state");
  if (bytes < around) return tsn_reject(exec, TSANOM_E_FORMAT, "state");
  memcpy(&head, from, sizeof head);
  if (head.kind != kind || head.bytes != bytes - around) {
    return tsn_reject(exec, TSANOM_E_FORMAT, "state");
  }
  memcpy(&checksum, from + bytes - sizeof checksum, sizeof checksum);
  if (checksum != tsn_checksum(from, bytes - sizeof checksum)) {
    return tsn_reject(exec, TSANOM_E_FORMAT, "state");
  }
  if (head.version != VERSION) return tsn_reject(exec, TSANOM_E_VERSION, "state");
  *state = (tsn_state){.from = from + sizeof head, .left = bytes - around};
  return TSANOM_OK;
}

tsanom_status tsn_state_open(uint64_t kind, const void *memory, size_t bytes,
                             const tsanom_exec *caller, const void *place,
                             const char *name, tsanom_exec *exec, tsn_state *state) {
  tsanom_status status = tsn_exec_read(exec, caller);
  if (status < 0) return status;
  if (!place) return tsn_reject(exec, TSANOM_E_NULL, name);
  return open_checked(kind, memory, bytes, exec, state);
}

bool tsn_state_complete(const tsn_state *state) {
  return !state->damaged && state->left == 0;
}

tsanom_status tsn_state_not_made(const tsanom_exec *exec, tsanom_status status) {
  bool missing = status == TSANOM_E_MEMORY || status == TSANOM_E_WORKSPACE;
  return missing ? status : tsn_reject(exec, TSANOM_E_FORMAT, "state");
}

tsanom_status tsn_state_close(bool valid, const tsanom_exec *exec,
                              const tsn_object *owner) {
  if (valid) return TSANOM_OK;
  tsn_object_release(owner);
  return tsn_reject(exec, TSANOM_E_FORMAT, "state");
}
