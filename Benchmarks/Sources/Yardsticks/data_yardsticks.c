#define _DEFAULT_SOURCE 1 /* timegm */
#include "yardsticks.h"
#include "open.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { column_count = 5, seconds_before_2001 = 978307200 };

/* A field of a line; its bytes are in the line, which loses the quotes. */
struct field {
  char *text;
  int length;
};

/* Takes a line apart; 0 where it has another number of fields. */
static int split(char *line, struct field *fields) {
  int count = 0;
  for (char *at = line;; at++) {
    if (count == column_count) return 0;
    struct field *field = &fields[count++];
    field->text = at;
    if (*at == '"') {
      char *end = ++field->text;
      for (at++; *at != '\0' && (*at != '"' || at[1] == '"'); at++) {
        *end++ = *at;
        if (*at == '"') at++;
      }
      if (*at != '"') return 0;
      at++;
      field->length = (int)(end - field->text);
    } else {
      while (*at != ',' && *at != '\n' && *at != '\0') at++;
      field->length = (int)(at - field->text);
    }
    if (*at != ',') return count == column_count;
  }
}

/* Seconds since 2001 of `2001-02-03T04:05:06Z`. */
static int parse_date(const char *text, double *seconds) {
  struct tm date = {0};
  if (sscanf(text, "%4d-%2d-%2dT%2d:%2d:%2dZ", &date.tm_year, &date.tm_mon, &date.tm_mday, &date.tm_hour, &date.tm_min,
             &date.tm_sec) != 6)
    return 0;
  date.tm_year -= 1900;
  date.tm_mon -= 1;
  *seconds = (double)(timegm(&date) - seconds_before_2001);
  return 1;
}

static int insert_line(sqlite3_stmt *statement, char *line, int64_t key) {
  struct field fields[column_count];
  double born, height;
  char *end;
  if (!split(line, fields)) return 0;
  int64_t age = strtoll(fields[2].text, &end, 10);
  if (end != fields[2].text + fields[2].length || age < 0 || age > 150) return 0;
  height = strtod(fields[4].text, &end);
  if (end != fields[4].text + fields[4].length || !parse_date(fields[3].text, &born)) return 0;
  sqlite3_bind_int64(statement, 1, key);
  sqlite3_bind_int64(statement, 2, age);
  sqlite3_bind_double(statement, 3, born);
  sqlite3_bind_double(statement, 4, height);
  sqlite3_bind_text(statement, 5, fields[0].text, fields[0].length, SQLITE_STATIC);
  sqlite3_bind_text(statement, 6, fields[1].text, fields[1].length, SQLITE_STATIC);
  int status = sqlite3_step(statement);
  sqlite3_reset(statement);
  return status == SQLITE_DONE;
}

int64_t yardstick_import(const char *path, const char *csv) {
  sqlite3 *database = yardstick_open(path);
  sqlite3_stmt *statement = NULL;
  FILE *file = fopen(csv, "r");
  char *line = NULL;
  size_t capacity = 0;
  int64_t count = 0;
  if (database == NULL || file == NULL) return -1;
  if (!yardstick_run(database, yardstick_schema) || !yardstick_run(database, "BEGIN IMMEDIATE") ||
      sqlite3_prepare_v2(database, yardstick_insertion, -1, &statement, NULL))
    return yardstick_fail(database);
  if (getline(&line, &capacity, file) < 0) return -1;
  while (getline(&line, &capacity, file) > 0)
    if (!insert_line(statement, line, ++count)) return yardstick_fail(database);
  free(line);
  fclose(file);
  sqlite3_finalize(statement);
  if (!yardstick_run(database, "COMMIT")) return yardstick_fail(database);
  sqlite3_close(database);
  return count;
}

/* A text in quotes, with what JSON does not take as it is escaped. */
static void put_text(FILE *file, const unsigned char *text, int length) {
  putc_unlocked('"', file);
  for (int index = 0; index < length; index++) {
    unsigned char byte = text[index];
    if (byte < 0x20) {
      fprintf(file, "\\u%04x", byte);
    } else {
      if (byte == '"' || byte == '\\') putc_unlocked('\\', file);
      putc_unlocked(byte, file);
    }
  }
  putc_unlocked('"', file);
}

static void put_row(FILE *file, sqlite3_stmt *statement, const char *prefix) {
  double born = sqlite3_column_double(statement, 3);
  time_t seconds = (time_t)born + seconds_before_2001;
  int milliseconds = (int)((born - (double)(time_t)born) * 1000 + 0.5);
  struct tm date;
  gmtime_r(&seconds, &date);
  fprintf(file, "{\"_id\": \"%s%lld\", \"age\": %lld, ", prefix, (long long)sqlite3_column_int64(statement, 0),
          (long long)sqlite3_column_int64(statement, 2));
  fprintf(file, "\"born\": \"%04d-%02d-%02dT%02d:%02d:%02d.%03dZ\", \"firstName\": ", date.tm_year + 1900, date.tm_mon + 1,
          date.tm_mday, date.tm_hour, date.tm_min, date.tm_sec, milliseconds);
  put_text(file, sqlite3_column_text(statement, 5), sqlite3_column_bytes(statement, 5));
  fprintf(file, ", \"height\": %.15g, \"lastName\": ", sqlite3_column_double(statement, 4));
  put_text(file, sqlite3_column_text(statement, 6), sqlite3_column_bytes(statement, 6));
  fputs("}\n", file);
}

/* The store of an import has no colours. */
static const char *const selection =
    "SELECT Z_PK, Z_OPT, ZAGE, ZBORN, ZHEIGHT, ZFIRSTNAME, ZLASTNAME FROM ZPERSON";

int64_t yardstick_export(const char *path, const char *output, const char *prefix) {
  sqlite3 *database = yardstick_open(path);
  sqlite3_stmt *statement = NULL;
  FILE *file = fopen(output, "w");
  int status;
  if (database == NULL || file == NULL) return -1;
  if (sqlite3_prepare_v2(database, selection, -1, &statement, NULL)) return yardstick_fail(database);
  while ((status = sqlite3_step(statement)) == SQLITE_ROW) put_row(file, statement, prefix);
  sqlite3_finalize(statement);
  if (status != SQLITE_DONE) return yardstick_fail(database);
  int64_t size = ftell(file);
  if (fclose(file) != 0) return -1;
  sqlite3_close(database);
  return size;
}
