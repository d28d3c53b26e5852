/* Reads the interface file. It may be damaged: every word is checked before anything relies on it. */
#include "interface_file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const unsigned char magic[7] = {'L', 'W', 'F', 'M', 'U', 'I', '0'};
enum { WORD = 4, VERSION = sizeof magic, HEAD = VERSION + 1 };

static uint32_t read_word(const unsigned char *b) {
  return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

/* ---- a cursor over the words ---------------------------------------------------------------------------- */

typedef struct cursor {
  const uint32_t *at, *end;
  const char *error; /* NULL: no error */
} cursor;

static uint32_t next_word(cursor *c) {
  if (c->at < c->end) return *c->at++;
  c->error = "it is truncated";
  return 0;
}

/* A positive 64-bit number, the word of the lower bits first. */
static double next_size(cursor *c) {
  const uint64_t low = next_word(c), bits = low | (uint64_t)next_word(c) << 32;
  double size;
  memcpy(&size, &bits, sizeof size);
  if (!(size > 0 && isfinite(size)) && !c->error) c->error = "a nominal size is not a positive number";
  return size;
}

static int is_ascending(const fmu_list *list) {
  for (uint32_t i = 1; i < list->n; i++)
    if (list->items[i] <= list->items[i - 1]) return 0;
  return 1;
}

/* A list of `n` ascending words below `limit`. */
static fmu_list next_words(cursor *c, uint32_t n, uint32_t limit) {
  const fmu_list list = {c->at, n};
  if (n > (size_t)(c->end - c->at)) {
    c->error = "it is truncated";
    return (fmu_list){NULL, 0};
  }
  c->at += n;
  if (!is_ascending(&list)) c->error = "a list is not in ascending order";
  else if (n && list.items[n - 1] >= limit) c->error = "a value reference is outside the model";
  return list;
}

static fmu_list next_list(cursor *c, uint32_t limit) {
  const uint32_t n = next_word(c);
  return next_words(c, n, limit);
}

/* ---- reading ---------------------------------------------------------------------------------------------- */

/* Variables behind the block are scalars. */
static void read_variables(cursor *c, fmu_interface *interface, uint32_t reals, uint32_t end) {
  const uint32_t n = next_word(c);
  if (n > (size_t)(c->end - c->at) / 2) c->error = "it is truncated";
  if (c->error) return;
  interface->variables = (fmu_list){c->at, n};
  c->at += 2 * (size_t)n;
  for (uint32_t i = 0; i < n && !c->error; i++) {
    const uint32_t *variable = interface->variables.items + 2 * (size_t)i;
    const int in_block = variable[1] && variable[1] <= reals && variable[0] <= reals - variable[1];
    if (!in_block && !(variable[1] == 1 && variable[0] < end)) c->error = "a variable is outside the model";
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
    if (reference >= reference_end) c->error = "a value reference is outside the model";
    else if (i && reference <= interface->unknown[i - 1][0]) c->error = "a list is not in ascending order";
    else if (count != FMU_ALL_KNOWNS) next_words(c, count, reference_end);
    interface->unknown[i] = row;
    interface->n_unknowns = i + 1;
  }
}

const char *fmu_interface_read(fmu_interface *interface, const unsigned char *bytes, size_t size, uint32_t nq,
                               uint32_t nu, uint32_t reals, uint32_t end, uint32_t n_dae) {
  memset(interface, 0, sizeof *interface);
  if (size < HEAD || memcmp(bytes, magic, sizeof magic) != 0 || (bytes[VERSION] != '4' && bytes[VERSION] != '5'))
    return "it is not an interface file of this version";
  if (size % WORD != 0) return "it is truncated";
  const size_t n = (size - HEAD) / WORD;
  interface->dae = bytes[VERSION] == '5';
  if (interface->dae) end += n_dae;
  interface->words = malloc((n + 1) * sizeof *interface->words);
  if (!interface->words) return "out of memory";
  for (size_t i = 0; i < n; i++) interface->words[i] = read_word(bytes + HEAD + WORD * i);
  cursor c = {interface->words, interface->words + n, NULL};
  interface->sizes.length = next_size(&c);
  interface->sizes.speed = next_size(&c);
  interface->sizes.rate = next_size(&c);
  interface->q = next_list(&c, nq);
  interface->u = next_list(&c, nu);
  read_variables(&c, interface, reals, end);
  const uint32_t reference_end = interface->variables.n ? interface->variables.n + 1 : end;
  interface->knowns = next_list(&c, reference_end);
  if (!c.error) read_unknowns(&c, interface, reference_end);
  if (!c.error && c.at != c.end) c.error = "data follow its end";
  return c.error;
}

void fmu_interface_free(fmu_interface *interface) {
  free((void *)interface->unknown);
  free(interface->words);
}

/* ---- looking up ------------------------------------------------------------------------------------------- */

uint32_t fmu_find_reference(const fmu_interface *interface, uint32_t offset) {
  if (!interface->variables.n) return offset;
  for (uint32_t reference = 1; reference <= interface->variables.n; reference++) {
    const fmu_scalars scalars = fmu_find_scalars(interface, reference);
    if (offset >= scalars.first && offset - scalars.first < scalars.n) return reference;
  }
  return 0;
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
