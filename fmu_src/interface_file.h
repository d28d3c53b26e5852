/* The interface file: exposed states, variables and dependencies of a model.
 *
 * resources/interface.lwi consists of little-endian 32-bit words: the magic; the sizes from which the nominal values
 * follow, as 64-bit numbers of displacements, their rates and angular rates; the independent coordinates and the
 * independent speeds of minimal states, as indices into the fields q and u (both empty: all states are exposed); the
 * variables of the value references 1, 2, ... in FMI 3.0, each as offset into the block and number of elements (none in
 * FMI 2.0: a value reference is an offset); all value references that occur as knowns; for each output, derivative and
 * event indicator its value reference and those of its knowns. Every list begins with its length; all but that of the
 * variables are in ascending order. The last character of the magic is 4, or 5 if the FMU has DAE mode: the residuals
 * are then among the unknowns. */
#ifndef LINKWORK_INTERFACE_FILE_H
#define LINKWORK_INTERFACE_FILE_H
#include <stddef.h>
#include <stdint.h>

#include "linkwork.h"

typedef struct fmu_list {
  const uint32_t *items;
  uint32_t n;
} fmu_list;

typedef struct fmu_interface {
  lw_motion_sizes sizes;
  fmu_list q, u;
  fmu_list variables; /* n pairs, or none */
  fmu_list knowns;
  uint32_t n_unknowns;
  const uint32_t *
      *unknown; /* rows of value reference, count or FMU_ALL_KNOWNS, and the value references of the knowns */
  uint32_t *words;
  int dae; /* the FMU has DAE mode */
} fmu_interface;

#define FMU_ALL_KNOWNS UINT32_MAX

/* Reads the bytes and checks them against the sizes of the model. Returns NULL, or an error message. `reals`: size of
 * the block; `end`: the first offset that does not exist, `n_dae` offsets later with DAE mode. */
const char *fmu_interface_read(fmu_interface *interface, const unsigned char *bytes, size_t size, uint32_t nq,
                               uint32_t nu, uint32_t reals, uint32_t end, uint32_t n_dae);
void fmu_interface_free(fmu_interface *interface);

/* The scalars of a variable: `n` of them from offset `first`; n = 0: there is no such variable. Without a table every
 * number is an offset, whether it exists or not. */
typedef struct fmu_scalars {
  uint32_t first, n;
} fmu_scalars;

static inline fmu_scalars fmu_find_scalars(const fmu_interface *interface, uint32_t reference) {
  if (!interface->variables.n) return (fmu_scalars){reference, 1};
  if (reference == 0 || reference > interface->variables.n) return (fmu_scalars){0, 0};
  const uint32_t *variable = interface->variables.items + 2 * (size_t)(reference - 1);
  return (fmu_scalars){variable[0], variable[1]};
}

/* The value reference of a scalar, for messages; 0: the model description does not list it. */
uint32_t fmu_find_reference(const fmu_interface *interface, uint32_t offset);
/* Finds the knowns of an unknown; returns 0 if there is no such unknown. */
int fmu_find_dependencies(const fmu_interface *interface, uint32_t unknown, fmu_list *knowns);
#endif
