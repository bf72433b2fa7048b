/* SPDX-License-Identifier: BSD-3-Clause */
/* Places whose module has a build ID, and an ELF file with one: the module is the recorded
 * one if and only if the file is intact and the digits are those of its note.
 *
 *   byte 0   length of the ID; byte 1: what is damaged of the file, and how
 *   then     the ID; bytes of the file to change; for each place its identity and address
 *
 * addr2line is not found, so that names are addresses. */
#include "recorded_run.h"
#include "runs/module.h"

enum { LONGEST_ID = 64, PLACES = 6, EACH = 4 };

typedef struct {
  ElfW(Ehdr) head;
  ElfW(Shdr) section[2];
  ElfW(Nhdr) note;
  char owner[4];
  unsigned char id[LONGEST_ID];
} elf_file;

static char module_path[PATH];

static void make_run(void) {
  record_whole("regions");
  if (setenv("PATH", folder, 1) != 0) abort();
  (void)snprintf(module_path, PATH, "%s/module", folder);
}

static size_t take_byte(const uint8_t **data, size_t *size) {
  if (!*size) return 0;
  (*size)--;
  return *(*data)++;
}

static void make_elf(elf_file *elf, size_t length) {
  *elf = (elf_file){.note = {4, (unsigned)length, 3}, .owner = "GNU"};
  memcpy(elf->head.e_ident, ELFMAG, SELFMAG);
  elf->head.e_ident[EI_CLASS] = ELFCLASS64;
  elf->head.e_ident[EI_DATA] = ELFDATA2LSB;
  elf->head.e_shentsize = sizeof(ElfW(Shdr));
  elf->head.e_shnum = 2;
  elf->head.e_shoff = offsetof(elf_file, section);
  elf->section[1].sh_type = SHT_NOTE;
  elf->section[1].sh_offset = offsetof(elf_file, note);
  elf->section[1].sh_size = sizeof elf->note + sizeof elf->owner + length;
}

/* The digits of the ID; how: 1 the last byte less, 2 another digit, 3 one digit more, 4 no
 * digit, 5 twice as many, 0 and above these itself. */
static void put_digits(char *text, const elf_file *elf, size_t length, size_t how) {
  size_t used = 0, shown = how == 1 && length ? length - 1 : length;
  for (size_t i = 0; i < shown; i++)
    used += (size_t)sprintf(text + used, "%02x", elf->id[i]);
  if (how == 2 && used) text[used - 1] = text[used - 1] == '0' ? '1' : '0';
  if (how == 3) used += (size_t)sprintf(text + used, "a");
  if (how == 4 && used) text[used / 2] = 'g';
  if (how == 5) {
    memcpy(text + used, text, used);
    used *= 2;
  }
  text[used] = '\0';
}

static void check_identity(const char *identity, bool is_intact, bool is_same) {
  tsn_module module;
  if (!tsn_module_open(&module, module_path)) {
    if (is_intact) abort();
    return;
  }
  bool found = tsn_module_is(&module, identity);
  if (is_intact && found != is_same) abort();
  tsn_module_close(&module);
}

static void look(int32_t salvage) {
  tsanom_runs_options options;
  tsanom_runs_info info;
  tsanom_runs *run = NULL;
  tsanom_runs_options_init(&options, sizeof options);
  options.salvage = salvage;
  info = (tsanom_runs_info){.struct_size = sizeof info};
  if (tsanom_runs_open(folder, &options, NULL, &run) != TSANOM_OK) abort();
  tsanom_runs_describe(run, &info);
  if (info.places > PLACES) abort();
  for (size_t i = 0; i < info.places; i++) {
    const char *name = NULL;
    if (tsanom_runs_place_name(run, i, NULL, &name) != TSANOM_OK) abort();
    if (strncmp(name, "module+0x", 9) != 0) abort();
  }
  tsanom_runs_destroy(run);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (!*folder) make_run();
  elf_file elf;
  size_t length = take_byte(&data, &size) % (LONGEST_ID + 1);
  size_t damages = take_byte(&data, &size) % 4;
  make_elf(&elf, length);
  for (size_t i = 0; i < length; i++) elf.id[i] = (unsigned char)take_byte(&data, &size);
  unsigned char bytes[sizeof elf];
  memcpy(bytes, &elf, sizeof elf);
  for (size_t i = 0; i < damages; i++) {
    size_t at = take_byte(&data, &size) | take_byte(&data, &size) << 8;
    bytes[at % sizeof bytes] ^= (unsigned char)take_byte(&data, &size);
  }
  bool is_intact = memcmp(bytes, &elf, sizeof elf) == 0;
  write_file("module", bytes, sizeof bytes);

  char table[PLACES * (PATH + 600) + 32], digits[4 * LONGEST_ID + 8], identity[300];
  size_t used = (size_t)sprintf(table, "tsanom places 3\n"), count = size / EACH;
  for (size_t i = 0; i < count && i < PLACES; i++, data += EACH) {
    size_t how = data[0] % 8;
    put_digits(digits, &elf, length, how);
    (void)sprintf(identity, "build-id:%s", digits);
    check_identity(identity, is_intact, length && (how == 0 || how > 5));
    used += (size_t)sprintf(table + used, "%zu\t%c%c\t%x\t%s\t%s\n", i, "rs"[data[1] & 1],
                            "fc"[data[1] >> 1 & 1], data[2] | 1u, identity, module_path);
  }
  write_file("regions/places.tsv", table, used);
  for (int32_t salvage = 0; salvage < 2; salvage++) look(salvage);
  return 0;
}
