#ifndef YARDSTICK_OPEN_H
#define YARDSTICK_OPEN_H

#include <sqlite3.h>
#include <stdint.h>

/* The file with the settings of a Core Data store (WAL, pages of 4096 bytes); NULL after a message. */
sqlite3 *yardstick_open(const char *path);

/* The table of a Core Data store, in its column order, and the statements that fill and read it. */
extern const char *const yardstick_schema, *const yardstick_insertion, *const yardstick_selection;

int yardstick_run(sqlite3 *database, const char *sql);

/* Says what went wrong, closes the file and returns -1. */
int64_t yardstick_fail(sqlite3 *database);

#endif
