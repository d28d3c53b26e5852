/* The interface file: exposed states, arrays and dependencies of a model.
 *
 * resources/interface.lwi consists of little-endian 32-bit words: the magic; the independent coordinates and the
 * independent speeds of minimal states, as indices into the fields q and u (both empty: all states are exposed); the
 * arrays, each as value reference and number of elements; all value references that occur as knowns; for each output,
 * derivative and event indicator its value reference and those of its knowns. Every list begins with its length and is
 * in ascending order. */
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
  const uint32_t *
      *unknown; /* rows of value reference, count or FMU_ALL_KNOWNS, and the value references of the knowns */
  uint32_t *words;
} fmu_interface;

#define FMU_ALL_KNOWNS UINT32_MAX

/* Reads the bytes and checks them against the sizes of the model. Returns NULL, or an error message. `reals`: size of
 * the block; `reference_end`: the first value reference that does not exist. */
const char *fmu_interface_read(fmu_interface *interface, const unsigned char *bytes, size_t size, uint32_t nq,
                               uint32_t nu, uint32_t reals, uint32_t reference_end);
void fmu_interface_free(fmu_interface *interface);

/* Number of scalars of a variable. */
uint32_t fmu_array_size(const fmu_interface *interface, uint32_t reference);
/* Finds the knowns of an unknown; returns 0 if there is no such unknown. */
int fmu_find_dependencies(const fmu_interface *interface, uint32_t unknown, fmu_list *knowns);
#endif
