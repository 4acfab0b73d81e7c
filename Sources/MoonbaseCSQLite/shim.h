#include <sqlite3.h>

/// A door to sqlite3_db_config, whose arguments vary and so cannot be called from Swift.
static inline int moonbase_leave_log(sqlite3 *connection, int leaves) {
  return sqlite3_db_config(connection, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, leaves, (int *)0);
}
