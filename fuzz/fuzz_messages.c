/* SPDX-License-Identifier: BSD-3-Clause */
/* The page of messages of a run: the input is XORed onto an empty page. It is rejected with
 * a message, or at most 16 messages are there, the latest last, without commands to a
 * terminal. */
#include "recorded_run.h"

static void write_page(const uint8_t *data, size_t size) {
  tsn_message_page page = {.version = TSN_FORMAT_VERSION, .bytes = sizeof page};
  memcpy(page.magic, TSN_MESSAGES_MAGIC, sizeof page.magic);
  unsigned char bytes[sizeof page];
  memcpy(bytes, &page, sizeof page);
  size_t cut = size ? *data++ : 0;
  if (size) size--;
  take(&data, &size, bytes, sizeof bytes);
  write_file(TSN_MESSAGES_FILE, bytes, cut > 250 ? sizeof bytes - cut : sizeof bytes);
}

static void check(const tsanom_runs_message *message, size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (!message[i].number || (i && message[i].number < message[i - 1].number)) abort();
    size_t length = strnlen(message[i].text, sizeof message[i].text);
    if (length == sizeof message[i].text) abort();
    for (size_t c = 0; c < length; c++) {
      unsigned char byte = (unsigned char)message[i].text[c];
      if (byte < ' ' || byte == 0x7F) abort();
    }
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (!*folder) record_whole("");
  write_page(data, size);
  tsanom_fault fault;
  tsanom_exec exec = exec_reporting(&fault);
  tsanom_runs_message message[TSN_MESSAGES], few[3];
  size_t count = 0, all = 0;
  tsanom_status status =
      tsanom_runs_messages(folder, &exec, message, TSN_MESSAGES, &count);
  if (status < 0) {
    if (!*fault.text || !*fault.file) abort();
    return 0;
  }
  if (status != TSANOM_OK || count > TSN_MESSAGES) abort();
  check(message, count);
  status = tsanom_runs_messages(folder, NULL, few, 3, &all);
  if (all != count || status != (count > 3 ? TSANOM_PARTIAL : TSANOM_OK)) abort();
  size_t shown = count < 3 ? count : 3;
  for (size_t i = 0; i < shown; i++) {
    if (few[i].number != message[count - shown + i].number) abort();
  }
  return 0;
}
