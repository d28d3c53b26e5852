/* libFuzzer: the reader of resources/interface.lwi on any bytes, and looking things up in whatever it accepts. */
#include <stdlib.h>
#include <string.h>

#include "interface_file.h"

enum { NQ = 4, NU = 3, REALS = 300, REFERENCE_END = 310, MAGIC = 8 };

static void use(const fmu_interface *interface) {
  for (uint32_t reference = 0; reference <= REFERENCE_END; reference++) {
    fmu_list knowns = {NULL, 0};
    const uint32_t elements = fmu_array_size(interface, reference);
    if (elements == 0 || (elements > 1 && reference + elements > REALS)) abort();
    if (!fmu_find_dependencies(interface, reference, &knowns)) continue;
    for (uint32_t i = 0; i < knowns.n; i++)
      if (knowns.items[i] >= REFERENCE_END) abort();
  }
  for (uint32_t i = 0; i < interface->q.n; i++)
    if (interface->q.items[i] >= NQ) abort();
  for (uint32_t i = 0; i < interface->u.n; i++)
    if (interface->u.items[i] >= NU) abort();
}

/* With the magic in front where it is missing, which random bytes would hardly find. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  unsigned char *given = malloc(size + MAGIC);
  if (!given) return 0;
  memcpy(given, "LWFMUI01", MAGIC);
  if (size) memcpy(given + MAGIC, bytes, size);
  const size_t skipped = size >= MAGIC && memcmp(bytes, given, MAGIC) == 0 ? MAGIC : 0;
  fmu_interface interface;
  const char *wrong =
      fmu_interface_read(&interface, given + skipped, size + MAGIC - skipped, NQ, NU, REALS, REFERENCE_END);
  if (!wrong) use(&interface);
  fmu_interface_free(&interface);
  free(given);
  return 0;
}
