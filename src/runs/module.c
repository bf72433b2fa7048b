/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads section headers and symbol tables of ELF files (see elf(5)). The path comes from
 * a file of the run, so nothing in it is trusted: every read is checked by its size,
 * offsets are added with overflow checks, and tables are read in blocks of fixed size.
 *
 *   header ──e_shoff──▶ section headers ─┬─ SHT_NOTE     the build ID
 *                                        ├─ SHT_SYMTAB   all symbols; absent if stripped
 *                                        └─ SHT_DYNSYM   symbols of the interface
 *
 * addr2line names an address without line information after the nearest symbol before
 * it, however far that is. In a stripped library, which keeps only the symbols of its
 * interface, this is the wrong function most of the time. So the address must lie within
 * [value, value + size) of a function symbol.
 *
 * Time is proportional to the section headers and symbols, for each address. */
#include "runs/module.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { BLOCK = 256, LONGEST_NOTES = 4096, LONGEST_BUILD_ID = 64 };

/* All of `count` bytes at the offset, or false. */
static bool read_at(const tsn_module *module, uint64_t offset, void *bytes,
                    size_t count) {
  return offset <= INT64_MAX &&
         tsn_source_read(&module->source, offset, bytes, count) == TSANOM_OK;
}

bool tsn_module_open(tsn_module *module, const char *path) {
  const unsigned char class = sizeof(ElfW(Addr)) == 8 ? ELFCLASS64 : ELFCLASS32;
  const unsigned char order =
      __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB;
  *module = (tsn_module){.source.file = -1};
  int length = snprintf(module->source.path, sizeof module->source.path, "%s", path);
  if (length < 0 || (size_t)length >= sizeof module->source.path) return false;
  if (tsn_source_open(&module->source) != TSANOM_OK) return false;
  if (read_at(module, 0, &module->head, sizeof module->head) &&
      memcmp(module->head.e_ident, ELFMAG, SELFMAG) == 0 &&
      module->head.e_ident[EI_CLASS] == class && module->head.e_ident[EI_DATA] == order &&
      module->head.e_shentsize == sizeof(ElfW(Shdr))) {
    return true;
  }
  tsn_source_close(&module->source);
  return false;
}

void tsn_module_close(tsn_module *module) {
  tsn_source_close(&module->source);
}

/* A section header. False ends a loop over sections: those behind it cannot be read
 * either. */
static bool section_at(const tsn_module *module, unsigned index, ElfW(Shdr) * section) {
  uint64_t offset = 0;
  return !__builtin_add_overflow((uint64_t)module->head.e_shoff,
                                 (uint64_t)index * sizeof *section, &offset) &&
         read_at(module, offset, section, sizeof *section);
}

/* The note that contains a build ID, as bytes of the file: the 4 bytes of owner need no
 * padding, so the struct has none. */
typedef struct {
  ElfW(Nhdr) head;
  char owner[4];
  unsigned char id[LONGEST_BUILD_ID];
} build_note;

/* The note that the file must contain for its build ID to have these digits. */
static bool parse_build_id(const char *digits, build_note *note) {
  size_t bytes = strlen(digits) / 2;
  if (bytes == 0 || bytes > LONGEST_BUILD_ID || digits[2 * bytes]) return false;
  *note = (build_note){{4, (unsigned)bytes, NT_GNU_BUILD_ID}, "GNU", {0}};
  for (size_t i = 0; i < bytes; i++) {
    char pair[] = {digits[2 * i], digits[2 * i + 1], '\0'}, *end;
    note->id[i] = (unsigned char)strtoul(pair, &end, 16);
    if (*end) return false;
  }
  return true;
}

/* Whether a note section contains this build ID. The bytes of the whole note are
 * searched for, which includes type and owner: a match by chance is as improbable as
 * equal IDs. */
static bool has_build_id(const tsn_module *module, const char *digits) {
  build_note note;
  unsigned char notes[LONGEST_NOTES];
  ElfW(Shdr) section;
  if (!parse_build_id(digits, &note)) return false;
  size_t bytes = offsetof(build_note, id) + note.head.n_descsz;
  for (unsigned i = 0; i < module->head.e_shnum; i++) {
    if (!section_at(module, i, &section)) return false;
    if (section.sh_type == SHT_NOTE && section.sh_size <= sizeof notes &&
        read_at(module, section.sh_offset, notes, (size_t)section.sh_size) &&
        memmem(notes, (size_t)section.sh_size, &note, bytes)) {
      return true;
    }
  }
  return false;
}

/* Identities as tools/intercept/modules.c writes them: "build-id:" and digits, "file:"
 * and device, inode and time of change, or "-". The second form is only as good as the
 * file system's times. */
bool tsn_module_is(const tsn_module *module, const char *identity) {
  static const char of_contents[] = "build-id:";
  char text[128];
  struct stat about;
  if (strcmp(identity, "-") == 0) return true;
  if (strncmp(identity, of_contents, sizeof of_contents - 1) == 0) {
    return has_build_id(module, identity + sizeof of_contents - 1);
  }
  if (fstat(module->source.file, &about) != 0) return false;
  (void)snprintf(text, sizeof text, "file:%jx:%jx:%jd.%09ld", (uintmax_t)about.st_dev,
                 (uintmax_t)about.st_ino, (intmax_t)about.st_mtim.tv_sec,
                 about.st_mtim.tv_nsec);
  return strcmp(identity, text) == 0;
}

static bool covers(const ElfW(Sym) * symbol, uint64_t address) {
  unsigned type = symbol->st_info & 0xf;
  return (type == STT_FUNC || type == STT_GNU_IFUNC) && symbol->st_shndx != SHN_UNDEF &&
         address >= symbol->st_value && address - symbol->st_value < symbol->st_size;
}

/* Symbols are not sorted, so all of a table are compared. */
static bool table_covers(const tsn_module *module, const ElfW(Shdr) * table,
                         uint64_t address) {
  ElfW(Sym) symbol[BLOCK];
  uint64_t count = table->sh_size / sizeof *symbol;
  for (uint64_t begin = 0; begin < count; begin += BLOCK) {
    size_t block = count - begin < BLOCK ? (size_t)(count - begin) : BLOCK;
    size_t bytes = block * sizeof *symbol;
    uint64_t at = table->sh_offset + begin * sizeof *symbol;
    /* A hole, which no linker leaves, could have terabytes. */
    if (at > INT64_MAX - bytes ||
        tsn_source_next_data(&module->source, at) >= at + bytes ||
        !read_at(module, at, symbol, bytes)) {
      return false;
    }
    for (size_t i = 0; i < block; i++) {
      if (covers(&symbol[i], address)) return true;
    }
  }
  return false;
}

/* A file has at most one table of either type. */
static bool type_covers(const tsn_module *module, unsigned type, uint64_t address) {
  ElfW(Shdr) section;
  for (unsigned i = 0; i < module->head.e_shnum; i++) {
    if (!section_at(module, i, &section)) return false;
    if (section.sh_type == type) return table_covers(module, &section, address);
  }
  return false;
}

bool tsn_module_covers(const tsn_module *module, uint64_t address) {
  return type_covers(module, SHT_SYMTAB, address) ||
         type_covers(module, SHT_DYNSYM, address);
}
