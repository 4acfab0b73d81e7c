#include "open.h"

#include <stdio.h>

const char *const yardstick_schema =
    "CREATE TABLE ZPERSON (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZAGE INTEGER, ZBORN TIMESTAMP,"
    " ZHEIGHT FLOAT, ZFIRSTNAME VARCHAR, ZLASTNAME VARCHAR, ZCOLOR BLOB)";
const char *const yardstick_insertion = "INSERT INTO ZPERSON VALUES (?, 1, 1, ?, ?, ?, ?, ?, ?)";
const char *const yardstick_selection =
    "SELECT Z_PK, Z_OPT, ZAGE, ZBORN, ZHEIGHT, ZFIRSTNAME, ZLASTNAME, ZCOLOR FROM ZPERSON";

sqlite3 *yardstick_open(const char *path) {
  sqlite3 *database = NULL;
  if (sqlite3_open(path, &database) != SQLITE_OK ||
      !yardstick_run(database, "PRAGMA page_size = 4096; PRAGMA auto_vacuum = 2; PRAGMA journal_mode = WAL;"
                               "PRAGMA synchronous = NORMAL")) {
    yardstick_fail(database);
    return NULL;
  }
  return database;
}

int yardstick_run(sqlite3 *database, const char *sql) {
  return sqlite3_exec(database, sql, NULL, NULL, NULL) == SQLITE_OK;
}

int64_t yardstick_fail(sqlite3 *database) {
  fprintf(stderr, "yardstick: %s\n", sqlite3_errmsg(database));
  sqlite3_close_v2(database);
  return -1;
}
