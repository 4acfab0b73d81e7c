#ifndef MOONBASE_LUA_TABLE_GROWTH_H
#define MOONBASE_LUA_TABLE_GROWTH_H

#include "state.h"

// The least size of hash parts that are tracked. Smaller parts take a few milliseconds to grow at worst.
#define MBL_LEAST_PART ((size_t)24 << 12)

bool mbl_part_reserve(MBLState *S, size_t size);
void mbl_part_add(MBLState *S, const void *block, size_t size);
void mbl_part_remove(MBLState *S, const void *block, size_t size);
// Whether the run ends because a table's growth would take too long. Considers requests for hash parts only.
bool mbl_growth_is_refused(MBLState *S, size_t size);

#endif
