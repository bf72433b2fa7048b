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

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <spawn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runs/checked_json.h"
#include "runs/places.h"

/* Names of places by addr2line, which is run once for all places of a module: it prints
 * each address, and two lines for each of its frames, the function and FILE:LINE, with
 * question marks for what it does not know. Where functions are inlined, the first frame
 * is that of the innermost:
 *
 *   addr2line -a -i -f -C -e MODULE 0x1a40 0x1b07 ...
 *   0x0000000000001a40
 *   count()                     inlined in
 *   /home/user/graph.h:194
 *   main.omp_fn.0
 *   /home/user/heat.c:12
 *
 * The function is the outermost: a reader knows it, and not the helpers of a library that
 * came from a header. But main() with all that was inlined in it says nothing. The line of
 * a call is that of the innermost frame, unless that is in a header: two calls in one function
 * are two places. So a name depends on nothing but the code.
 *
 * A name is used if the file is still that which was recorded, and the address has a
 * line or lies within a symbol.
 *
 * A program of its own, because a reader of debugging information (DWARF) is large, and
 * a crash on a hostile file then ends the child only. It is started without a shell, so
 * that no character of a path has a meaning; its answers are read as text and not
 * trusted to be complete or UTF-8.
 *
 * A place that gets no name this way is "module+0xADDRESS". */

/* A file of a few bytes can state tables of gigabytes. Debugging information may be
 * compressed, and what is read of it is kept several times. */
static void limit_child(pid_t child, uint64_t stored) {
  enum { SECONDS = 60 };
  rlim_t bytes = ((rlim_t)256 << 20) + 16 * (rlim_t)stored;
  (void)prlimit(child, RLIMIT_AS, &(struct rlimit){bytes, bytes}, NULL);
  (void)prlimit(child, RLIMIT_CPU, &(struct rlimit){SECONDS, SECONDS}, NULL);
}

/* Start a program without a shell; what it prints is a stream. NULL: it did not start.
 * The pipe is close-on-exec, so that the child has its output only. */
static FILE *start(char *const arguments[], uint64_t stored, pid_t *child) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC)) return NULL;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  int error = posix_spawnp(child, arguments[0], &actions, NULL, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  (void)close(ends[1]);
  if (!error) limit_child(*child, stored);
  FILE *printed = error ? NULL : fdopen(ends[0], "r");
  if (!printed) (void)close(ends[0]);
  return printed;
}

/* Control characters can be commands to a terminal. */
static bool is_plain(const char *text) {
  for (const char *c = text; *c; c++) {
    if (((unsigned char)*c < 0x20 && *c != '\t') || *c == 0x7f) return false;
  }
  return tsn_json_is_text(text);
}

/* The address of a call's last byte, or of a function's first. A call is known by where
 * it returns to, which may belong to the next line or, behind a call that does not
 * return, to the next function. */
static uint64_t address_of(const tsn_place *place) {
  return place->about.address - (place->about.is_call ? 1 : 0);
}

typedef struct {
  char *text; /* by getline() */
  size_t size;
} line;

typedef struct {
  line function, place;
} frame;

static bool read_line(FILE *printed, line *l) {
  return getline(&l->text, &l->size, printed) > 0;
}

static void swap_lines(line *a, line *b) {
  line other = *a;
  *a = *b;
  *b = other;
}

/* FILE:LINE in a file that others include: of C++ also one without an ending. */
static bool is_of_header(const char *place) {
  const char *slash = strrchr(place, '/'), *name = slash ? slash + 1 : place;
  const char *dot = strrchr(name, '.');
  return !dot || dot[1] == 'h' || dot[1] == 'H' || strncmp(dot, ".i", 2) == 0 ||
         strncmp(dot, ".tcc", 4) == 0 || strncmp(dot, ".tpp", 4) == 0;
}

static bool is_main(const char *function) {
  return strcmp(function, "main\n") == 0 || strcmp(function, "MAIN__\n") == 0;
}

/* What all frames of an address say, into *site. *next is the line behind them, the next
 * address; false: there is none. */
static bool read_frames(FILE *printed, bool is_call, frame *site, frame *next) {
  bool has_line = false, goes_on;
  size_t count = 0;
  while ((goes_on = read_line(printed, &next->function)) &&
         strncmp(next->function.text, "0x", 2) != 0) {
    if (!read_line(printed, &next->place)) return false;
    if (!count || !is_main(next->function.text)) {
      swap_lines(&site->function, &next->function);
    }
    if (!has_line) {
      swap_lines(&site->place, &next->place);
      has_line = is_call && !is_of_header(site->place.text);
    }
    count++;
  }
  if (!count && site->function.text) site->function.text[0] = '\0';
  return goes_on;
}

/* "function (file.c:12)", or the function alone where there is no line but a symbol that
 * covers the address; NULL: unknown. Cuts the lines. */
static const char *compose(tsn_pool *pool, const tsn_module *module, uint64_t address,
                           char *function, char *place) {
  function[strcspn(function, "\n")] = '\0';
  char *more = strstr(place, " (discriminator");
  place[more ? (size_t)(more - place) : strcspn(place, "\n")] = '\0';
  if (function[0] == '?' || function[0] == '\0') return NULL;
  const char *file = strrchr(place, '/');
  file = file ? file + 1 : place;
  if (!is_plain(function) || !is_plain(file)) return NULL;
  if (!strchr(file, '?')) return tsn_pool_print(pool, "%s (%s)", function, file);
  return tsn_module_covers(module, address) ? tsn_pool_copy(pool, function) : NULL;
}

/* The places of one module that addr2line is asked for, in the order of their numbers.
 * The answers are matched by this order. */
static bool is_unnamed(const tsn_place *place, const tsn_place *wanted) {
  return !place->name && tsn_places_share_module(place, wanted);
}

/* Give a place its name, by the name of its address; false: out of memory. */
static bool set_name(tsn_places *places, tsn_place *place, const char *site) {
  place->site = site;
  place->name = place->about.call
                    ? tsn_pool_print(&places->pool, "%s in %s", place->about.call, site)
                    : site;
  return place->name != NULL;
}

/* Places for which an answer is missing stay without a name. */
static void read_names(tsn_places *places, const tsn_place *wanted,
                       const tsn_module *module, FILE *printed) {
  frame f = {0}, next = {0};
  bool goes_on = read_line(printed, &next.function);
  for (size_t i = 0; i < places->count && goes_on; i++) {
    tsn_place *place = tsn_places_at(places, i);
    if (!is_unnamed(place, wanted)) continue;
    goes_on = read_frames(printed, place->about.is_call, &f, &next);
    if (!f.function.text || !f.place.text) continue;
    const char *site =
        compose(&places->pool, module, address_of(place), f.function.text, f.place.text);
    if (site) (void)set_name(places, place, site);
  }
  free(f.function.text);
  free(f.place.text);
  free(next.function.text);
  free(next.place.text);
}

/* Name all places of a module, as far as addr2line knows them. At most 8192 addresses of
 * 20 bytes: below the limit of arguments. */
static void run_addr2line(tsn_places *places, const tsn_place *wanted,
                          const tsn_module *module) {
  enum { OPTIONS = 5, ADDRESS = 20 };
  char tool[] = "addr2line", frames[] = "-aif", demangle[] = "-C", of[] = "-e";
  char **argument = calloc(OPTIONS + places->count + 1, sizeof *argument);
  char *address = calloc(places->count, ADDRESS), *file = strdup(wanted->about.module);
  if (argument && address && file) {
    char *const first[OPTIONS] = {tool, frames, demangle, of, file};
    memcpy(argument, first, sizeof first);
    size_t used = OPTIONS;
    for (size_t i = 0; i < places->count; i++) {
      const tsn_place *place = tsn_places_at(places, i);
      if (!is_unnamed(place, wanted)) continue;
      char *text = address + i * ADDRESS;
      (void)snprintf(text, ADDRESS, "0x%" PRIx64, address_of(place));
      argument[used++] = text;
    }
    pid_t child = 0;
    FILE *printed = start(argument, module->source.stored, &child);
    if (printed) {
      read_names(places, wanted, module, printed);
      (void)fclose(printed);
    }
    while (child > 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR) continue;
  }
  free(file);
  free(address);
  free(argument);
}

/* addr2line opens the file by its path, so its identity is verified first. */
static void look_up(tsn_places *places, const tsn_place *wanted) {
  tsn_module module;
  if (!tsn_module_open(&module, wanted->about.module)) return;
  if (tsn_module_is(&module, wanted->identity)) run_addr2line(places, wanted, &module);
  tsn_module_close(&module);
}

/* "module+0xADDRESS", without the directories of the module. */
static const char *plain_name(tsn_pool *pool, const tsn_place *place) {
  const char *base = strrchr(place->about.module, '/');
  base = base ? base + 1 : place->about.module;
  if (!is_plain(base)) base = "?";
  return tsn_pool_print(pool, "%s+0x%" PRIx64, base, address_of(place));
}

/* Names all places of the module, so that the next of them costs nothing. *wanted stays
 * where it is: nothing is added to the array here. */
const char *tsn_places_name(tsn_places *places, size_t index, bool symbols) {
  const tsn_place *wanted = tsn_places_at(places, index);
  if (wanted->name) return wanted->name;
  if (symbols) look_up(places, wanted);
  for (size_t i = 0; i < places->count; i++) {
    tsn_place *place = tsn_places_at(places, i);
    if (!is_unnamed(place, wanted)) continue;
    const char *site = plain_name(&places->pool, place);
    if (!site || !set_name(places, place, site)) return NULL;
  }
  return wanted->name;
}

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
