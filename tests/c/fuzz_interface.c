/* libFuzzer: the reader of resources/interface.lwi on any bytes, and look-ups in every accepted file. */
#include <stdlib.h>
#include <string.h>

#include "interface_file.h"

enum { NQ = 4, NU = 3, REALS = 300, END = 310, MAGIC = 8 };

static void use(const fmu_interface *interface) {
  const uint32_t listed = interface->variables.n, reference_end = listed ? listed + 1 : END;
  for (uint32_t reference = 0; reference <= reference_end; reference++) {
    fmu_list knowns = {NULL, 0};
    const fmu_scalars scalars = fmu_find_scalars(interface, reference);
    if (listed && (reference == 0 || reference > listed) != (scalars.n == 0)) abort();
    if (listed && scalars.n && scalars.first + scalars.n > (scalars.n > 1 ? REALS : END)) abort();
    if (listed && scalars.n && !fmu_find_reference(interface, scalars.first + scalars.n - 1)) abort();
    if (!fmu_find_dependencies(interface, reference, &knowns)) continue;
    for (uint32_t i = 0; i < knowns.n; i++)
      if (knowns.items[i] >= reference_end) abort();
  }
  for (uint32_t i = 0; i < interface->q.n; i++)
    if (interface->q.items[i] >= NQ) abort();
  for (uint32_t i = 0; i < interface->u.n; i++)
    if (interface->u.items[i] >= NU) abort();
}

/* Adds a missing magic, which random bytes would hardly contain; that of either version counts. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  unsigned char *given = malloc(size + MAGIC);
  if (!given) return 0;
  memcpy(given, "LWFMUI04", MAGIC);
  if (size) memcpy(given + MAGIC, bytes, size);
  const size_t skipped = size >= MAGIC && memcmp(bytes, given, MAGIC - 1) == 0 ? MAGIC : 0;
  fmu_interface interface;
  const char *wrong = fmu_interface_read(&interface, given + skipped, size + MAGIC - skipped, NQ, NU, REALS, END, 0);
  if (!wrong) use(&interface);
  fmu_interface_free(&interface);
  free(given);
  return 0;
}
