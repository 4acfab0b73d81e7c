#include "yardsticks.h"
#include "open.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static int insert_row(sqlite3_stmt *statement, int64_t row) {
  char first[32], last[32];
  double color[4] = {(double)(row % 256) / 255, 0.5, 0.25, 1};
  int first_length = snprintf(first, sizeof first, "First%lld", (long long)(row % 1000));
  int last_length = snprintf(last, sizeof last, "Last%lld", (long long)row);
  sqlite3_bind_int64(statement, 1, row + 1);
  sqlite3_bind_int64(statement, 2, row % 100);
  sqlite3_bind_double(statement, 3, (double)row * 60);
  sqlite3_bind_double(statement, 4, 1.5 + (double)(row % 50) / 100);
  sqlite3_bind_text(statement, 5, first, first_length, SQLITE_STATIC);
  sqlite3_bind_text(statement, 6, last, last_length, SQLITE_STATIC);
  sqlite3_bind_blob(statement, 7, color, sizeof color, SQLITE_STATIC);
  int status = sqlite3_step(statement);
  sqlite3_reset(statement);
  return status == SQLITE_DONE;
}

int64_t yardstick_insert(const char *path, int64_t count) {
  sqlite3 *database = yardstick_open(path);
  sqlite3_stmt *statement = NULL;
  int64_t sum = 0;
  if (database == NULL) return -1;
  if (!yardstick_run(database, yardstick_schema) || !yardstick_run(database, "BEGIN IMMEDIATE") ||
      sqlite3_prepare_v2(database, yardstick_insertion, -1, &statement, NULL))
    return yardstick_fail(database);
  for (int64_t row = 0; row < count; row++) {
    if (!insert_row(statement, row)) return yardstick_fail(database);
    sum += row % 100;
  }
  sqlite3_finalize(statement);
  if (!yardstick_run(database, "COMMIT")) return yardstick_fail(database);
  sqlite3_close(database);
  return sum;
}

/* Opens a database with a statement that reads it; NULL, and the reason is printed, where that fails. */
static sqlite3 *open_reader(const char *path, const char *sql, sqlite3_stmt **statement) {
  sqlite3 *database = yardstick_open(path);
  if (database != NULL && sqlite3_prepare_v2(database, sql, -1, statement, NULL) != SQLITE_OK) {
    yardstick_fail(database);
    return NULL;
  }
  return database;
}

/* The result, if the last step went to the end of the rows. */
static int64_t close_reader(sqlite3 *database, sqlite3_stmt *statement, int status, int64_t result) {
  sqlite3_finalize(statement);
  if (status != SQLITE_DONE) return yardstick_fail(database);
  sqlite3_close(database);
  return result;
}

int64_t yardstick_fetch(const char *path) {
  sqlite3_stmt *statement = NULL;
  sqlite3 *database = open_reader(path, yardstick_selection, &statement);
  int64_t sum = 0;
  int status;
  if (database == NULL) return -1;
  volatile double kept = 0; /* what is read must be used */
  while ((status = sqlite3_step(statement)) == SQLITE_ROW) {
    sum += sqlite3_column_int64(statement, 2);
    kept = kept + sqlite3_column_double(statement, 3) + sqlite3_column_double(statement, 4);
    for (int column = 5; column < 7; column++) {
      if (sqlite3_column_text(statement, column) == NULL) return yardstick_fail(database);
      sum += sqlite3_column_bytes(statement, column);
    }
    if (sqlite3_column_blob(statement, 7) == NULL) return yardstick_fail(database);
    sum += sqlite3_column_bytes(statement, 7);
  }
  return close_reader(database, statement, status, sum);
}

int64_t yardstick_fetch_keys(const char *path) {
  sqlite3_stmt *statement = NULL;
  sqlite3 *database = open_reader(path, "SELECT Z_PK FROM ZPERSON", &statement);
  int64_t count = 0;
  int status;
  if (database == NULL) return -1;
  volatile int64_t kept = 0; /* what is read must be used */
  while ((status = sqlite3_step(statement)) == SQLITE_ROW) {
    kept = kept + sqlite3_column_int64(statement, 0);
    count++;
  }
  return close_reader(database, statement, status, count);
}

int64_t yardstick_fetch_by_key(const char *path, int64_t count, int64_t stride) {
  sqlite3_stmt *statement = NULL;
  sqlite3 *database = open_reader(
      path, "SELECT Z_OPT, ZAGE, ZBORN, ZHEIGHT, ZFIRSTNAME, ZLASTNAME, ZCOLOR FROM ZPERSON WHERE Z_PK = ?", &statement);
  int64_t sum = 0;
  if (database == NULL) return -1;
  for (int64_t index = 0; index < count; index++) {
    sqlite3_bind_int64(statement, 1, index * stride % count + 1);
    if (sqlite3_step(statement) != SQLITE_ROW) return yardstick_fail(database);
    sum += sqlite3_column_int64(statement, 1);
    sqlite3_reset(statement);
  }
  return close_reader(database, statement, SQLITE_DONE, sum);
}

int64_t yardstick_execute(const char *path, const char *sql) {
  sqlite3 *database = yardstick_open(path);
  if (database == NULL) return -1;
  if (!yardstick_run(database, "BEGIN IMMEDIATE") || !yardstick_run(database, sql)) return yardstick_fail(database);
  int64_t changes = sqlite3_changes64(database);
  if (!yardstick_run(database, "COMMIT")) return yardstick_fail(database);
  sqlite3_close(database);
  return changes;
}

int64_t yardstick_value(const char *path, const char *sql) {
  sqlite3_stmt *statement = NULL;
  sqlite3 *database = open_reader(path, sql, &statement);
  if (database == NULL) return -1;
  if (sqlite3_step(statement) != SQLITE_ROW) return yardstick_fail(database);
  int64_t value = sqlite3_column_int64(statement, 0);
  return close_reader(database, statement, sqlite3_step(statement), value);
}

/* Reads every column of every row of a query. */
static int read_all(sqlite3 *database, const char *sql) {
  sqlite3_stmt *statement = NULL;
  int status;
  volatile int64_t kept = 0; /* what is read must be used */
  if (sqlite3_prepare_v2(database, sql, -1, &statement, NULL) != SQLITE_OK) return 0;
  while ((status = sqlite3_step(statement)) == SQLITE_ROW)
    for (int column = 0; column < sqlite3_column_count(statement); column++)
      if (sqlite3_column_text(statement, column) != NULL) kept = kept + sqlite3_column_bytes(statement, column);
  sqlite3_finalize(statement);
  return status == SQLITE_DONE;
}

int64_t yardstick_opens(const char *path, int64_t count) {
  for (int64_t index = 0; index < count; index++) {
    sqlite3 *database = NULL;
    if (sqlite3_open(path, &database) != SQLITE_OK || !read_all(database, "SELECT * FROM sqlite_master") ||
        !read_all(database, "SELECT * FROM Z_METADATA"))
      return yardstick_fail(database);
    sqlite3_close(database);
  }
  return count;
}

int64_t yardstick_join(const char *path) {
  sqlite3_stmt *statement = NULL;
  sqlite3 *database = open_reader(
      path,
      "SELECT o.Z_PK, o.ZNAME, c.Z_PK, c.Z_OPT, c.ZAGE, c.ZNAME FROM ZOWNER o JOIN ZCHILD c ON c.ZOWNER = o.Z_PK",
      &statement);
  int64_t sum = 0;
  int status;
  if (database == NULL) return -1;
  while ((status = sqlite3_step(statement)) == SQLITE_ROW) {
    if (sqlite3_column_text(statement, 5) == NULL) return yardstick_fail(database);
    sum += sqlite3_column_int64(statement, 4) + sqlite3_column_bytes(statement, 5);
  }
  return close_reader(database, statement, status, sum);
}

int64_t yardstick_colors(const char *path) {
  sqlite3_stmt *statement = NULL;
  sqlite3 *database = open_reader(path, "SELECT ZCOLOR FROM ZPERSON", &statement);
  double sum = 0;
  int status;
  if (database == NULL) return -1;
  while ((status = sqlite3_step(statement)) == SQLITE_ROW) {
    double color[4];
    if (sqlite3_column_bytes(statement, 0) != sizeof color) return yardstick_fail(database);
    memcpy(color, sqlite3_column_blob(statement, 0), sizeof color);
    sum += color[0];
  }
  return close_reader(database, statement, status, llround(sum * 1000));
}
