#ifndef YARDSTICKS_H
#define YARDSTICKS_H

#include <stdint.h>

/* Plain, single-threaded C on the SQLite and Lua APIs: what Moonbase is measured against. Each works on the table that
   a Core Data store has for the entity Person of the benchmarks, each returns an answer that the other side must give
   too, or -1 with a message on standard error. */

/* Inserts `count` rows in one transaction into a new file; the answer is the sum of the ages. */
int64_t yardstick_insert(const char *path, int64_t count);

/* Selects every row and reads every column; the answer is the sum of the ages and of the lengths of texts and blobs. */
int64_t yardstick_fetch(const char *path);

/* Selects every key and nothing else; the answer is the number of rows. */
int64_t yardstick_fetch_keys(const char *path);

/* Selects rows one by one by their keys, with one statement: `count` of them, the first and then each `stride` keys
   further, around the end; the answer is the sum of the ages. */
int64_t yardstick_fetch_by_key(const char *path, int64_t count, int64_t stride);

/* Runs one statement in a transaction; the answer is the rows it changed. */
int64_t yardstick_execute(const char *path, const char *sql);

/* Runs a query; the answer is the integer in its first row. */
int64_t yardstick_value(const char *path, const char *sql);

/* Opens a database so many times, each time reading all of sqlite_master and of Z_METADATA; the answer is the count. */
int64_t yardstick_opens(const char *path, int64_t count);

/* Selects all owners with their children in one join; the answer is the sum of the children's ages and of the lengths of
   their names. */
int64_t yardstick_join(const char *path);

/* `script` gets a count, a function that inserts a row from a table of its columns, and one that makes a date of
   seconds. All is one transaction into a new file. The answer is the integer it returns. */
int64_t yardstick_script_inserts(const char *path, const char *script, int64_t count);

/* `script` gets an iterator over the rows, each a userdata whose fields are read from the statement as they are asked for
   until the next row; the answer is the integer it returns. */
int64_t yardstick_script_walks(const char *path, const char *script);

/* One UPDATE whose new value comes from a Lua function registered as an SQL function; the answer is the rows changed. */
int64_t yardstick_transform(const char *path, const char *script);

/* Runs a query in which the function that `script` returns is `transform`, of one integer; the answer is the integer in its first row. */
int64_t yardstick_select_by_function(const char *path, const char *script, const char *sql);

/* A loop of select, call of the Lua function and update, in one transaction; the answer is the rows changed. */
int64_t yardstick_transform_loop(const char *path, const char *script);

/* Sums the first double of every colour, times 1000, rounded: tells whether a transform did its work. */
int64_t yardstick_colors(const char *path);

/* `script` gets a function of one integer and a count; the answer is the integer it returns. */
int64_t yardstick_lua_calls_host(const char *script, int64_t count);

/* `script` gets an object with a field `age` (which is 7) and a count; the answer is the integer it returns. */
int64_t yardstick_lua_reads_property(const char *script, int64_t count);

/* Calls the function that `script` returns with (i, 2) for each i below `count`; the answer is the sum of the results. */
int64_t yardstick_host_calls_lua(const char *script, int64_t count);

/* `script` gets a count; with `step` above 0 under a count hook that does nothing, every so many instructions. */
int64_t yardstick_lua_runs(const char *script, int64_t count, int step);

/* Makes states with all libraries, one after another; the answer is the count. */
int64_t yardstick_new_states(int64_t count);

/* Loads a Lua expression so many times, without running it; the answer is the count. */
int64_t yardstick_lua_loads(const char *expression, int64_t count);

/* Reads an XML file into a tree; the answer is how many elements of the name stand in its root. */
int64_t yardstick_xml_reads(const char *path, const char *element);

/* Reads a csv file with the columns firstName, lastName, age, born and height, in which fields may stand in quotes, and inserts its
   rows in one transaction into a new file; the answer is the number of rows. */
int64_t yardstick_import(const char *path, const char *csv);

/* Writes every row as a line of JSON, as `moonbase export` does, whose URIs begin with `prefix`; the answer is the number of bytes. */
int64_t yardstick_export(const char *path, const char *output, const char *prefix);

/* Starts a program without input or output and waits for it; the answer is its exit status. */
int64_t yardstick_spawn(const char *const *arguments);

/* The same with its output in a file and standard error thrown away; `peak` is the most memory that it held, in bytes. */
int64_t yardstick_spawn_quietly(const char *const *arguments, const char *output, int64_t *peak);

/* The yardsticks of libpq are there if the benchmarks are built with MOONBASE_POSTGRESQL=1. Runs statements on a server, whose address is libpq's; 0, or -1. */
int64_t yardstick_pg_execute(const char *server, const char *sql);

/* Makes a schema with the table, and inserts rows in one transaction, 4,096 in a statement with unnest and binary
   arrays; the answer is the sum of the ages. */
int64_t yardstick_pg_insert(const char *server, const char *schema, int64_t count);

/* Selects all rows in binary form into an array of structs with copies of texts and blobs; the answer is that of
   `yardstick_fetch`. */
int64_t yardstick_pg_fetch(const char *server, const char *schema);

/* Reads all rows through a cursor, 1,000 at once, and keeps none; the answer is that of `yardstick_fetch`. */
int64_t yardstick_pg_walk(const char *server, const char *schema);

#endif
