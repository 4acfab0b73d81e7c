#ifndef MBL_LIBRARY_H
#define MBL_LIBRARY_H

#include "MBLTypes.h"

// A new table with the globals of one script.
MBLStatus mbl_environment_new(MBLState *_Nonnull state);
// The table that environments are copied from; in preset `trusted` the globals themselves.
MBLStatus mbl_globals(MBLState *_Nonnull state);
// A proxy of a table that scripts can read and not change.
MBLStatus mbl_table_freeze(MBLState *_Nonnull state, int32_t table);

#endif
