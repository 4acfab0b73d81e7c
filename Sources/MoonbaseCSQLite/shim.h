#include <sqlite3.h>

// Doors to sqlite3_db_config, whose arguments vary and so cannot be called from Swift.

static inline int moonbase_leave_log(sqlite3 *connection, int leaves) {
  return sqlite3_db_config(connection, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, leaves, (int *)0);
}

/// Lets triggers and views of the file call each function that does not forbid it.
static inline void moonbase_trust_schema(sqlite3 *connection) {
  sqlite3_db_config(connection, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 1, (int *)0);
}

/// Lets triggers, views and the schema of the file call only functions that allow it, and keeps the file from being
/// damaged by SQL.
static inline void moonbase_distrust_schema(sqlite3 *connection) {
  sqlite3_db_config(connection, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, (int *)0);
  sqlite3_db_config(connection, SQLITE_DBCONFIG_DEFENSIVE, 1, (int *)0);
}
