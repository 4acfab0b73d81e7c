#ifndef MBL_LIBRARY_H
#define MBL_LIBRARY_H

#include "MBLTypes.h"

// A new table with the globals of a script.
MBLStatus mbl_environment_new(MBLState *_Nonnull state);
// A new table with the globals of an extension, without files. `proxies` maps the tables of classes to their proxies,
// `own` holds the extension's classes.
MBLStatus mbl_scope_new(MBLState *_Nonnull state, int32_t proxies, int32_t own);
// The table from which environments are copied; in preset `trusted` the globals themselves.
MBLStatus mbl_globals(MBLState *_Nonnull state);
// Replaces a proxy on the top by the table behind it.
void mbl_thaw_top(MBLState *_Nonnull state);
// A read-only proxy of a table for scripts.
MBLStatus mbl_table_freeze(MBLState *_Nonnull state, int32_t table);
// A metatable for frozen values with an error text for changes, and a proxy of a list or map with this metatable.
MBLStatus mbl_value_metatable(MBLState *_Nonnull state, const MBLValue *_Nonnull refusal);
MBLStatus mbl_value_freeze(MBLState *_Nonnull state, int32_t table, int32_t metatable);

#endif
