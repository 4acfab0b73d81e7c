#ifdef POSTGRESQL
#include "yardsticks.h"

#include <libpq-fe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The rows of a statement with unnest, and of a page of a cursor. */
enum { CHUNK = 4096, PAGE = 1000, COLUMNS = 9 };

static int64_t fail(PGconn *connection) {
  fprintf(stderr, "%s\n", PQerrorMessage(connection));
  PQfinish(connection);
  return -1;
}

static int run(PGconn *connection, const char *sql) {
  PGresult *result = PQexec(connection, sql);
  ExecStatusType status = PQresultStatus(result);
  PQclear(result);
  return status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK;
}

static PGconn *open_schema(const char *server, const char *schema) {
  char sql[256];
  PGconn *connection = PQconnectdb(server);
  snprintf(sql, sizeof sql, "SET search_path TO \"%s\"; SET client_min_messages TO warning", schema);
  if (PQstatus(connection) == CONNECTION_OK && run(connection, sql)) return connection;
  fail(connection);
  return NULL;
}

int64_t yardstick_pg_execute(const char *server, const char *sql) {
  PGconn *connection = PQconnectdb(server);
  if (PQstatus(connection) != CONNECTION_OK || !run(connection, "SET client_min_messages TO warning") ||
      !run(connection, sql))
    return fail(connection);
  PQfinish(connection);
  return 0;
}

/* An array of PostgreSQL in its binary form. */
struct array {
  unsigned char *bytes;
  size_t length, capacity;
  int32_t count;
};

static void put(struct array *array, const void *bytes, size_t length) {
  if (array->length + length > array->capacity) {
    array->capacity = (array->length + length) * 2;
    array->bytes = realloc(array->bytes, array->capacity);
  }
  memcpy(array->bytes + array->length, bytes, length);
  array->length += length;
}

static void put32(struct array *array, uint32_t number) {
  unsigned char bytes[4] = {number >> 24, number >> 16, number >> 8, number};
  put(array, bytes, 4);
}

static void put64(struct array *array, uint64_t number) {
  put32(array, (uint32_t)(number >> 32));
  put32(array, (uint32_t)number);
}

static void begin(struct array *array, uint32_t type) {
  array->length = 0;
  array->count = 0;
  put32(array, 1);
  put32(array, 0);
  put32(array, type);
  put32(array, 0);
  put32(array, 1);
}

static void put_integer(struct array *array, int64_t number) {
  put32(array, 8);
  put64(array, (uint64_t)number);
  array->count++;
}

static void put_double(struct array *array, double number) {
  uint64_t bits;
  memcpy(&bits, &number, 8);
  put_integer(array, (int64_t)bits);
}

static void put_bytes(struct array *array, const void *bytes, size_t length) {
  put32(array, (uint32_t)length);
  put(array, bytes, length);
  array->count++;
}

static const Oid types[COLUMNS] = {20, 20, 20, 20, 701, 701, 25, 25, 17};
static const Oid arrays[COLUMNS] = {1016, 1016, 1016, 1016, 1022, 1022, 1009, 1009, 1001};

static int insert_chunk(PGconn *connection, struct array columns[COLUMNS], int64_t first, int64_t end) {
  const char *values[COLUMNS];
  int lengths[COLUMNS], formats[COLUMNS];
  for (int column = 0; column < COLUMNS; column++) begin(&columns[column], types[column]);
  for (int64_t row = first; row < end; row++) {
    char name[32];
    double color[4] = {(double)(row % 256) / 255, 0.5, 0.25, 1};
    put_integer(&columns[0], row + 1);
    put_integer(&columns[1], 1);
    put_integer(&columns[2], 1);
    put_integer(&columns[3], row % 100);
    put_double(&columns[4], (double)row * 60);
    put_double(&columns[5], 1.5 + (double)(row % 50) / 100);
    put_bytes(&columns[6], name, (size_t)snprintf(name, sizeof name, "First%lld", (long long)(row % 1000)));
    put_bytes(&columns[7], name, (size_t)snprintf(name, sizeof name, "Last%lld", (long long)row));
    put_bytes(&columns[8], color, sizeof color);
  }
  for (int column = 0; column < COLUMNS; column++) {
    uint32_t count = (uint32_t)columns[column].count;
    unsigned char bytes[4] = {count >> 24, count >> 16, count >> 8, count};
    memcpy(columns[column].bytes + 12, bytes, 4);
    values[column] = (const char *)columns[column].bytes;
    lengths[column] = (int)columns[column].length;
    formats[column] = 1;
  }
  PGresult *result = PQexecPrepared(connection, "insert", COLUMNS, values, lengths, formats, 1);
  int status = PQresultStatus(result) == PGRES_COMMAND_OK;
  PQclear(result);
  return status;
}

int64_t yardstick_pg_insert(const char *server, const char *schema, int64_t count) {
  char sql[512];
  struct array columns[COLUMNS] = {0};
  int64_t sum = 0;
  PGconn *connection = open_schema(server, schema);
  if (connection == NULL) return -1;
  snprintf(sql, sizeof sql,
           "CREATE SCHEMA \"%s\"; CREATE TABLE zperson (z_pk bigint PRIMARY KEY, z_ent bigint, z_opt bigint, zage bigint, "
           "zborn double precision, zheight double precision, zfirstname text COLLATE \"C\", zlastname text COLLATE \"C\", "
           "zcolor bytea)",
           schema);
  if (!run(connection, sql) || !run(connection, "BEGIN")) return fail(connection);
  PGresult *prepared = PQprepare(
      connection, "insert",
      "INSERT INTO zperson (z_pk, z_ent, z_opt, zage, zborn, zheight, zfirstname, zlastname, zcolor) "
      "SELECT * FROM unnest($1, $2, $3, $4, $5, $6, $7, $8, $9)",
      COLUMNS, arrays);
  int isPrepared = PQresultStatus(prepared) == PGRES_COMMAND_OK;
  PQclear(prepared);
  if (!isPrepared) return fail(connection);
  for (int64_t first = 0; first < count; first += CHUNK) {
    int64_t end = first + CHUNK < count ? first + CHUNK : count;
    if (!insert_chunk(connection, columns, first, end)) return fail(connection);
  }
  for (int64_t row = 0; row < count; row++) sum += row % 100;
  if (!run(connection, "COMMIT")) return fail(connection);
  for (int column = 0; column < COLUMNS; column++) free(columns[column].bytes);
  PQfinish(connection);
  return sum;
}

/* A row as a C program keeps it. */
struct person {
  int64_t key, age;
  double born, height;
  char *first, *last, *color;
  int first_length, last_length, color_length;
};

static uint64_t number(const PGresult *result, int row, int column) {
  const unsigned char *bytes = (const unsigned char *)PQgetvalue(result, row, column);
  uint64_t number = 0;
  for (int index = 0; index < 8; index++) number = number << 8 | bytes[index];
  return number;
}

static double real(const PGresult *result, int row, int column) {
  uint64_t bits = number(result, row, column);
  double value;
  memcpy(&value, &bits, 8);
  return value;
}

static char *copy(const PGresult *result, int row, int column, int *length) {
  *length = PQgetlength(result, row, column);
  char *bytes = malloc((size_t)*length + 1);
  memcpy(bytes, PQgetvalue(result, row, column), (size_t)*length + 1);
  return bytes;
}

#define SELECTION "SELECT z_pk, z_opt, zage, zborn, zheight, zfirstname, zlastname, zcolor FROM zperson ORDER BY z_pk"

int64_t yardstick_pg_fetch(const char *server, const char *schema) {
  PGconn *connection = open_schema(server, schema);
  if (connection == NULL) return -1;
  PGresult *result = PQexecParams(connection, SELECTION, 0, NULL, NULL, NULL, NULL, 1);
  if (PQresultStatus(result) != PGRES_TUPLES_OK) return fail(connection);
  int count = PQntuples(result);
  struct person *people = malloc(sizeof(struct person) * (size_t)(count + 1));
  for (int row = 0; row < count; row++) {
    struct person *person = &people[row];
    person->key = (int64_t)number(result, row, 0);
    person->age = (int64_t)number(result, row, 2);
    person->born = real(result, row, 3);
    person->height = real(result, row, 4);
    person->first = copy(result, row, 5, &person->first_length);
    person->last = copy(result, row, 6, &person->last_length);
    person->color = copy(result, row, 7, &person->color_length);
  }
  PQclear(result);
  int64_t sum = 0;
  double kept = 0;
  for (int row = 0; row < count; row++) {
    struct person *person = &people[row];
    sum += person->age + person->first_length + person->last_length + person->color_length;
    kept += person->born + person->height;
    free(person->first);
    free(person->last);
    free(person->color);
  }
  free(people);
  PQfinish(connection);
  return kept == kept ? sum : -1;
}

int64_t yardstick_pg_walk(const char *server, const char *schema) {
  PGconn *connection = open_schema(server, schema);
  int64_t sum = 0;
  double kept = 0;
  int count = PAGE;
  char fetch[64];
  if (connection == NULL) return -1;
  snprintf(fetch, sizeof fetch, "FETCH FORWARD %d FROM c", PAGE);
  if (!run(connection, "BEGIN READ ONLY") || !run(connection, "DECLARE c NO SCROLL CURSOR FOR " SELECTION))
    return fail(connection);
  while (count == PAGE) {
    PGresult *result = PQexecParams(connection, fetch, 0, NULL, NULL, NULL, NULL, 1);
    if (PQresultStatus(result) != PGRES_TUPLES_OK) return fail(connection);
    count = PQntuples(result);
    for (int row = 0; row < count; row++) {
      sum += (int64_t)number(result, row, 2) + PQgetlength(result, row, 5) + PQgetlength(result, row, 6) +
             PQgetlength(result, row, 7);
      kept += real(result, row, 3) + real(result, row, 4);
    }
    PQclear(result);
  }
  if (!run(connection, "COMMIT")) return fail(connection);
  PQfinish(connection);
  return kept == kept ? sum : -1;
}

#endif
