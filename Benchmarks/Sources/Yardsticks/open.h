#ifndef YARDSTICK_OPEN_H
#define YARDSTICK_OPEN_H

#include <sqlite3.h>
#include <stdint.h>

/* The file with the settings of a Core Data store (WAL, pages of 4096 bytes); NULL after a message. */
sqlite3 *yardstick_open(const char *path);

int yardstick_run(sqlite3 *database, const char *sql);

/* Says what went wrong, closes the file and returns -1. */
int64_t yardstick_fail(sqlite3 *database);

#endif
