#include "interface_file.h"

#include <stdlib.h>
#include <string.h>

static const unsigned char magic[8] = {'L', 'W', 'F', 'M', 'U', 'I', '0', '1'};
enum { WORD = 4 };

static uint32_t read_word(const unsigned char *b) {
  return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

/* ---- a cursor over the words ---------------------------------------------------------------------------- */

typedef struct cursor {
  const uint32_t *at, *end;
  const char *error; /* NULL: nothing so far */
} cursor;

static uint32_t next_word(cursor *c) {
  if (c->at < c->end) return *c->at++;
  c->error = "it is truncated";
  return 0;
}

static int is_ascending(const uint32_t *words, uint32_t n, uint32_t stride) {
  for (uint32_t i = 1; i < n; i++)
    if (words[(size_t)i * stride] <= words[(size_t)(i - 1) * stride]) return 0;
  return 1;
}

/* A list of `n` entries of `stride` words, of which the first is below `limit`. */
static fmu_list next_entries(cursor *c, uint32_t n, uint32_t stride, uint32_t limit) {
  const fmu_list list = {c->at, n};
  if (n > (size_t)(c->end - c->at) / stride) {
    c->error = "it is truncated";
    return (fmu_list){NULL, 0};
  }
  c->at += (size_t)n * stride;
  if (!is_ascending(list.items, n, stride)) c->error = "a list is not in order";
  else if (n && list.items[(size_t)(n - 1) * stride] >= limit) c->error = "a reference lies beyond the model";
  return list;
}

static fmu_list next_list(cursor *c, uint32_t stride, uint32_t limit) {
  const uint32_t n = next_word(c);
  return next_entries(c, n, stride, limit);
}

/* ---- reading ---------------------------------------------------------------------------------------------- */

static void check_arrays(cursor *c, const fmu_interface *interface, uint32_t reals) {
  uint32_t free_from = 0;
  for (uint32_t i = 0; i < interface->arrays.n && !c->error; i++) {
    const uint32_t first = interface->arrays.items[2 * i], n = interface->arrays.items[2 * i + 1];
    if (first < free_from || n == 0 || n > reals || first > reals - n) c->error = "an array lies beyond the model";
    free_from = first + n;
  }
}

static void read_unknowns(cursor *c, fmu_interface *interface, uint32_t reference_end) {
  const uint32_t n = next_word(c);
  if (n > (size_t)(c->end - c->at) / 2) c->error = "it is truncated";
  if (c->error) return;
  interface->unknown = malloc(((size_t)n + 1) * sizeof *interface->unknown);
  if (!interface->unknown) c->error = "out of memory";
  for (uint32_t i = 0; i < n && !c->error; i++) {
    const uint32_t *row = c->at;
    const uint32_t reference = next_word(c), count = next_word(c);
    if (reference >= reference_end) c->error = "a reference lies beyond the model";
    else if (i && reference <= interface->unknown[i - 1][0]) c->error = "a list is not in order";
    else if (count != FMU_ALL_KNOWNS) next_entries(c, count, 1, reference_end);
    interface->unknown[i] = row;
    interface->n_unknowns = i + 1;
  }
}

const char *fmu_interface_read(fmu_interface *interface, const unsigned char *bytes, size_t size, uint32_t nq,
                               uint32_t nu, uint32_t reals, uint32_t reference_end) {
  memset(interface, 0, sizeof *interface);
  if (size < sizeof magic || memcmp(bytes, magic, sizeof magic) != 0)
    return "it describes no interface of this version";
  if (size % WORD != 0) return "it is truncated";
  const size_t n = (size - sizeof magic) / WORD;
  interface->words = malloc((n + 1) * sizeof *interface->words);
  if (!interface->words) return "out of memory";
  for (size_t i = 0; i < n; i++) interface->words[i] = read_word(bytes + sizeof magic + WORD * i);
  cursor c = {interface->words, interface->words + n, NULL};
  interface->q = next_list(&c, 1, nq);
  interface->u = next_list(&c, 1, nu);
  interface->arrays = next_list(&c, 2, reals);
  check_arrays(&c, interface, reals);
  interface->knowns = next_list(&c, 1, reference_end);
  if (!c.error) read_unknowns(&c, interface, reference_end);
  if (!c.error && c.at != c.end) c.error = "something follows its end";
  return c.error;
}

void fmu_interface_free(fmu_interface *interface) {
  free((void *)interface->unknown);
  free(interface->words);
}

/* ---- looking up ------------------------------------------------------------------------------------------- */

uint32_t fmu_array_size(const fmu_interface *interface, uint32_t reference) {
  uint32_t low = 0, high = interface->arrays.n;
  while (low < high) {
    const uint32_t middle = low + (high - low) / 2, first = interface->arrays.items[2 * (size_t)middle];
    if (first == reference) return interface->arrays.items[2 * (size_t)middle + 1];
    if (first < reference) low = middle + 1;
    else high = middle;
  }
  return 1;
}

int fmu_find_dependencies(const fmu_interface *interface, uint32_t unknown, fmu_list *knowns) {
  uint32_t low = 0, high = interface->n_unknowns;
  while (low < high) {
    const uint32_t middle = low + (high - low) / 2, *row = interface->unknown[middle];
    if (row[0] == unknown) {
      *knowns = row[1] == FMU_ALL_KNOWNS ? interface->knowns : (fmu_list){row + 2, row[1]};
      return 1;
    }
    if (row[0] < unknown) low = middle + 1;
    else high = middle;
  }
  return 0;
}
