/* What an importer is shown of a model: which of its states, which variables are arrays, what depends on what.
 *
 * resources/interface.lwi, in little-endian words of 32 bits: the magic; independent coordinates, independent speeds, as
 * indices into the fields q and u, of minimal states (of both none: full states); arrays, each a value reference and the
 * number of its elements; the references of all that dependencies name; and for each output, derivative and event indicator
 * its reference and those it depends on. Every list begins with its length and is in ascending order. */
#ifndef LINKWORK_INTERFACE_FILE_H
#define LINKWORK_INTERFACE_FILE_H
#include <stddef.h>
#include <stdint.h>

typedef struct fmu_list {
  const uint32_t *items;
  uint32_t n;
} fmu_list;

typedef struct fmu_interface {
  fmu_list q, u;
  fmu_list arrays; /* n pairs */
  fmu_list knowns;
  uint32_t n_unknowns;
  const uint32_t **unknown; /* each a row: reference, FMU_ALL_KNOWNS or a number, and as many references */
  uint32_t *words;
} fmu_interface;

#define FMU_ALL_KNOWNS UINT32_MAX

/* Reads the bytes and checks them against a model's sizes; returns NULL, or what is wrong. `reals`: of the block; `behind`:
 * first reference that stands for nothing. */
const char *fmu_interface_read(fmu_interface *interface, const unsigned char *bytes, size_t size, uint32_t nq,
                               uint32_t nu, uint32_t reals, uint32_t reference_end);
void fmu_interface_free(fmu_interface *interface);

/* How many numbers a reference stands for. */
uint32_t fmu_array_size(const fmu_interface *interface, uint32_t reference);
/* What an unknown depends on; 0: it is none. */
int fmu_find_dependencies(const fmu_interface *interface, uint32_t unknown, fmu_list *knowns);
#endif
