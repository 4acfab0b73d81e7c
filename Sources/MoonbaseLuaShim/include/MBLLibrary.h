#ifndef MBL_LIBRARY_H
#define MBL_LIBRARY_H

#include "MBLTypes.h"

// A new table with the globals of one script.
MBLStatus mbl_environment_new(MBLState *_Nonnull state);
// A new table with the globals of an extension, which has no files; tables with the proxies of classes, by their
// tables, and with its own classes.
MBLStatus mbl_scope_new(MBLState *_Nonnull state, int32_t proxies, int32_t own);
// The table that environments are copied from; in preset `trusted` the globals themselves.
MBLStatus mbl_globals(MBLState *_Nonnull state);
// Puts the table behind a proxy on the top in its place.
void mbl_thaw_top(MBLState *_Nonnull state);
// A proxy of a table that scripts can read and not change.
MBLStatus mbl_table_freeze(MBLState *_Nonnull state, int32_t table);
// A metatable for frozen values with an error text for changes, and a proxy of a list or map with such a metatable.
MBLStatus mbl_value_metatable(MBLState *_Nonnull state, const MBLValue *_Nonnull refusal);
MBLStatus mbl_value_freeze(MBLState *_Nonnull state, int32_t table, int32_t metatable);

#endif
