/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the loader and the names of the libraries from the program headers and the
 * dynamic section of an ELF file (see elf(5)):
 *
 *   PT_INTERP  -> loader
 *   PT_DYNAMIC -> DT_STRTAB, an address, which PT_LOAD maps to a position in the file
 *              -> DT_NEEDED, positions in the string table
 *
 * Only the section of the dynamic symbols says how many there are. A program without one may
 * start others. */
#include "linkage.h"

#include <elf.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Functions of MPI that the recorder does not know. If one of them waits, the time in it
 * counts as computation, and the rank that waits is taken for the one that works. So the
 * command warns before the program runs. */

#define CALL(name, ...) #name,
#define POLL CALL
#define LARGE(name, ...) #name, #name "_c",
static const char *const recorded[] = {
#include "intercept/mpi_calls.h"
};

/* How the names of functions begin, behind "MPI_", that neither communicate nor wait. */
static const char local[] =
    "Type_ Info_ Group_ T_ Op_ Attr_ Keyval_ Errhandler_ Status_ Error_ Pack Unpack "
    "Graph_ Graphdims_ Cart_ Cartdim_ Topo_ Dims_ Session_ Grequest_ Aint_ Get_ "
    "Add_error_ Remove_error_ Comm_get_ Comm_set_ Win_get_ Win_set_ File_get_ "
    "File_set_errhandler Comm_compare Comm_group Comm_rank Comm_size Comm_remote_ "
    "Comm_test_ Comm_create_ Comm_free_ Comm_delete_ Comm_call_ Win_create_ "
    "Win_free_ Win_delete_ Win_call_ Win_attach Win_detach Win_shared_ "
    "Dist_graph_neighbors Request_ Message_ Abort Alloc_mem Free_mem Address "
    "Buffer_ Cancel Close_port Open_port Finalized Is_thread_main Query_thread "
    "Pcontrol Pready Psend_ Precv_ Publish_ Unpublish_ Lookup_ Reduce_local "
    "Register_ Test_cancelled Wtick Wtime File_call_ File_create_ File_delete "
    "File_seek File_c2f File_f2c Comm_c2f Comm_f2c Win_c2f Win_f2c DUP_FN NULL_ "
    "CONVERSION_ COMM_ TYPE_ WIN_ F_ F08_ UNWEIGHTED WEIGHTS_EMPTY Init";

/* Whether a name is that of a function of MPI which may wait, and is not recorded. */
static int is_unknown_mpi(const char *name) {
  static const char start[] = "_init"; /* so ends a call that MPI_Start starts later */
  size_t length = strlen(name);
  if (strncmp(name, "MPI_", strlen("MPI_")) != 0) return 0;
  if (length > sizeof start && strcmp(name + length - strlen(start), start) == 0)
    return 0;
  for (size_t i = 0; i < sizeof recorded / sizeof *recorded; i++) {
    if (strcmp(name, recorded[i]) == 0) return 0;
  }
  for (const char *word = local; *word; word += strspn(word, " ")) {
    size_t bytes = strcspn(word, " ");
    if (strncmp(name + strlen("MPI_"), word, bytes) == 0) return 0;
    word += bytes;
  }
  return 1;
}

enum { LONGEST_DYNAMIC = 1 << 20, LONGEST_STRINGS = 1 << 28, LONGEST_NAME = 256 };

static int read_at(int file, void *buffer, size_t bytes, uint64_t offset) {
  return offset <= INT64_MAX &&
         pread(file, buffer, bytes, (off_t)offset) == (ssize_t)bytes;
}

/* The position in the file of an address; 0 if no segment holds it. */
static uint64_t position_of(const Elf64_Phdr *segment, int segments, uint64_t address) {
  for (int i = 0; i < segments; i++) {
    if (segment[i].p_type == PT_LOAD && address >= segment[i].p_vaddr &&
        address - segment[i].p_vaddr < segment[i].p_filesz) {
      return address - segment[i].p_vaddr + segment[i].p_offset;
    }
  }
  return 0;
}

/* Writes the names of the needed libraries into an open stream. */
static void print_needed(int file, const Elf64_Dyn *entry, size_t entries,
                         uint64_t strings, FILE *out) {
  for (size_t i = 0; i < entries && entry[i].d_tag != DT_NULL; i++) {
    char name[LONGEST_NAME];
    if (entry[i].d_tag != DT_NEEDED || strings + entry[i].d_un.d_val > INT64_MAX)
      continue;
    ssize_t length =
        pread(file, name, sizeof name, (off_t)(strings + entry[i].d_un.d_val));
    if (length <= 0 || !memchr(name, '\0', (size_t)length)) continue;
    fprintf(out, "%s\n", name);
  }
}

/* A part of a file; NULL: it cannot be read. */
static void *read_part(int file, uint64_t offset, uint64_t bytes) {
  char *part = bytes < LONGEST_STRINGS ? malloc((size_t)bytes + 1) : NULL;
  if (part && read_at(file, part, (size_t)bytes, offset)) {
    part[bytes] = '\0';
    return part;
  }
  free(part);
  return NULL;
}

static void append(char *text, size_t bytes, const char *between, const char *word) {
  size_t length = strlen(text);
  (void)snprintf(text + length, bytes - length, "%s%s", length ? between : "", word);
}

/* What is known by the names of the symbols that the program imports: whether one loads a
 * library, or starts a program or process; functions of MPI. */
static void note_import(const Elf64_Sym *symbol, const char *name, program_link *link) {
  enum { LOADING = 2 };
  static const char *const functions[] = {
      "dlopen",  "dlmopen", "execv",  "execve",      "execvp",
      "execvpe", "execl",   "execlp", "posix_spawn", "posix_spawnp",
      "system",  "popen",   "fork",   "vfork",       "daemon"};
  if (symbol->st_shndx != SHN_UNDEF) return;
  for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
    *(i < LOADING ? &link->may_load : &link->may_start) |= !strcmp(name, functions[i]);
  }
  if (is_unknown_mpi(name)) {
    append(link->unknown_mpi, sizeof link->unknown_mpi, ", ", name);
  }
}

/* Reads the symbols that the loader sees. Returns whether there is a table of them. */
static int read_symbols(int file, const Elf64_Ehdr *head, program_link *found) {
  uint64_t sections = head->e_shentsize == sizeof(Elf64_Shdr) ? head->e_shnum : 0;
  Elf64_Shdr *section = read_part(file, head->e_shoff, sections * sizeof *section);
  uint64_t at = 0;
  while (section && at < sections && section[at].sh_type != SHT_DYNSYM) at++;
  int is_found = section && at < sections && section[at].sh_link < sections;
  const Elf64_Shdr *strings = is_found ? &section[section[at].sh_link] : NULL;
  Elf64_Sym *symbol =
      is_found ? read_part(file, section[at].sh_offset, section[at].sh_size) : NULL;
  char *name = is_found ? read_part(file, strings->sh_offset, strings->sh_size) : NULL;
  for (uint64_t i = 0; symbol && name && i < section[at].sh_size / sizeof *symbol; i++) {
    if (symbol[i].st_name < strings->sh_size) {
      note_import(&symbol[i], name + symbol[i].st_name, found);
    }
  }
  is_found = symbol && name;
  free(name);
  free(symbol);
  free(section);
  return is_found;
}

/* The names of the needed libraries. Entries of the dynamic section end at DT_NULL. */
static void read_dynamic(int file, const Elf64_Phdr *segment, int segments,
                         const Elf64_Phdr *dynamic, program_link *found) {
  if (dynamic->p_filesz > LONGEST_DYNAMIC) return;
  size_t entries = (size_t)dynamic->p_filesz / sizeof(Elf64_Dyn), bytes = 0;
  Elf64_Dyn *entry = malloc(entries * sizeof *entry + 1);
  uint64_t strings = 0;
  if (entry && read_at(file, entry, entries * sizeof *entry, dynamic->p_offset)) {
    for (size_t i = 0; i < entries && entry[i].d_tag != DT_NULL; i++) {
      if (entry[i].d_tag == DT_STRTAB)
        strings = position_of(segment, segments, entry[i].d_un.d_ptr);
    }
    FILE *out = strings ? open_memstream(&found->needed, &bytes) : NULL;
    if (out) {
      print_needed(file, entry, entries, strings, out);
      fclose(out);
    }
  }
  free(entry);
}

/* A program with PT_INTERP is linked dynamically; its content is the path of the loader.
 */
static void read_segments(int file, const Elf64_Phdr *segment, int segments,
                          program_link *found) {
  for (int i = 0; i < segments; i++) {
    size_t bytes = (size_t)segment[i].p_filesz;
    if (segment[i].p_type == PT_INTERP && bytes < sizeof found->loader &&
        read_at(file, found->loader, bytes, segment[i].p_offset)) {
      found->loader[bytes] = '\0';
      found->linkage = LINKAGE_DYNAMIC;
    }
    if (segment[i].p_type == PT_DYNAMIC && !found->needed)
      read_dynamic(file, segment, segments, &segment[i], found);
  }
}

static int is_elf64(const Elf64_Ehdr *head) {
  return memcmp(head->e_ident, ELFMAG, SELFMAG) == 0 &&
         head->e_ident[EI_CLASS] == ELFCLASS64;
}

/* LINKAGE_UNKNOWN for what is not an ELF file, such as a script: its interpreter may use
 * OpenMP. */
void read_link(const char *path, program_link *found) {
  Elf64_Ehdr head;
  *found = (program_link){.linkage = LINKAGE_UNKNOWN};
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return;
  if (read_at(file, &head, EI_NIDENT, 0) && memcmp(head.e_ident, ELFMAG, SELFMAG) == 0 &&
      head.e_ident[EI_CLASS] == ELFCLASS32) {
    found->linkage = LINKAGE_32_BIT;
  }
  if (read_at(file, &head, sizeof head, 0) && is_elf64(&head) &&
      head.e_phentsize == sizeof(Elf64_Phdr)) {
    size_t bytes = head.e_phnum * sizeof(Elf64_Phdr);
    Elf64_Phdr *segment = malloc(bytes + 1);
    found->linkage = LINKAGE_STATIC;
    if (segment && read_at(file, segment, bytes, head.e_phoff))
      read_segments(file, segment, head.e_phnum, found);
    if (!read_symbols(file, &head, found)) found->may_start = 1;
    free(segment);
  }
  close(file);
}
