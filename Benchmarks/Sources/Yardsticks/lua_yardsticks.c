#include "yardsticks.h"
#include "open.h"

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>
#include <stdio.h>

/* A state whose stack holds, at 1, the function that `script` returns; NULL after a message. */
static lua_State *load_function(const char *script) {
  lua_State *state = luaL_newstate();
  if (state == NULL) return NULL;
  luaL_openlibs(state);
  if (luaL_loadstring(state, script) || lua_pcall(state, 0, 1, 0)) {
    fprintf(stderr, "yardstick: %s\n", lua_tostring(state, -1));
    lua_close(state);
    return NULL;
  }
  return state;
}

static void sql_transform(sqlite3_context *context, int count, sqlite3_value **values) {
  lua_State *state = sqlite3_user_data(context);
  size_t length;
  (void)count;
  lua_pushvalue(state, 1);
  lua_pushlstring(state, sqlite3_value_blob(values[0]), (size_t)sqlite3_value_bytes(values[0]));
  if (lua_pcall(state, 1, 1, 0)) {
    sqlite3_result_error(context, lua_tostring(state, -1), -1);
  } else {
    const char *bytes = lua_tolstring(state, -1, &length);
    sqlite3_result_blob(context, bytes, (int)length, SQLITE_TRANSIENT);
  }
  lua_settop(state, 1);
}

int64_t yardstick_transform(const char *path, const char *script) {
  lua_State *state = load_function(script);
  sqlite3 *database = yardstick_open(path);
  int64_t changed;
  if (state == NULL || database == NULL) return -1;
  if (sqlite3_create_function_v2(database, "transform", 1, SQLITE_UTF8 | SQLITE_DETERMINISTIC, state, sql_transform,
                                 NULL, NULL, NULL) ||
      !yardstick_run(database, "UPDATE ZPERSON SET ZCOLOR = transform(ZCOLOR), Z_OPT = Z_OPT + 1"))
    return yardstick_fail(database);
  changed = sqlite3_changes64(database);
  sqlite3_close(database);
  lua_close(state);
  return changed;
}

static void sql_integer(sqlite3_context *context, int count, sqlite3_value **values) {
  lua_State *state = sqlite3_user_data(context);
  (void)count;
  lua_pushvalue(state, 1);
  lua_pushinteger(state, sqlite3_value_int64(values[0]));
  if (lua_pcall(state, 1, 1, 0)) {
    sqlite3_result_error(context, lua_tostring(state, -1), -1);
  } else {
    sqlite3_result_int64(context, lua_tointeger(state, -1));
  }
  lua_settop(state, 1);
}

int64_t yardstick_select_by_function(const char *path, const char *script, const char *sql) {
  lua_State *state = load_function(script);
  sqlite3 *database = yardstick_open(path);
  sqlite3_stmt *statement = NULL;
  if (state == NULL || database == NULL) return -1;
  if (sqlite3_create_function_v2(database, "transform", 1, SQLITE_UTF8 | SQLITE_DETERMINISTIC, state, sql_integer, NULL,
                                 NULL, NULL) ||
      sqlite3_prepare_v2(database, sql, -1, &statement, NULL) || sqlite3_step(statement) != SQLITE_ROW)
    return yardstick_fail(database);
  int64_t answer = sqlite3_column_int64(statement, 0);
  sqlite3_finalize(statement);
  sqlite3_close(database);
  lua_close(state);
  return answer;
}

static int transform_row(lua_State *state, sqlite3_stmt *row, sqlite3_stmt *update) {
  size_t length;
  lua_pushvalue(state, 1);
  lua_pushlstring(state, sqlite3_column_blob(row, 1), (size_t)sqlite3_column_bytes(row, 1));
  if (lua_pcall(state, 1, 1, 0)) return 0;
  const char *bytes = lua_tolstring(state, -1, &length);
  sqlite3_bind_blob(update, 1, bytes, (int)length, SQLITE_STATIC);
  sqlite3_bind_int64(update, 2, sqlite3_column_int64(row, 0));
  int status = sqlite3_step(update);
  sqlite3_reset(update);
  lua_settop(state, 1);
  return status == SQLITE_DONE;
}

int64_t yardstick_transform_loop(const char *path, const char *script) {
  lua_State *state = load_function(script);
  sqlite3 *database = yardstick_open(path);
  sqlite3_stmt *row = NULL, *update = NULL;
  int64_t changed = 0;
  if (state == NULL || database == NULL) return -1;
  if (!yardstick_run(database, "BEGIN IMMEDIATE") ||
      sqlite3_prepare_v2(database, "SELECT Z_PK, ZCOLOR FROM ZPERSON", -1, &row, NULL) ||
      sqlite3_prepare_v2(database, "UPDATE ZPERSON SET ZCOLOR = ?, Z_OPT = Z_OPT + 1 WHERE Z_PK = ?", -1, &update,
                         NULL))
    return yardstick_fail(database);
  while (sqlite3_step(row) == SQLITE_ROW) {
    if (!transform_row(state, row, update)) return yardstick_fail(database);
    changed++;
  }
  sqlite3_finalize(row);
  sqlite3_finalize(update);
  if (!yardstick_run(database, "COMMIT")) return yardstick_fail(database);
  sqlite3_close(database);
  lua_close(state);
  return changed;
}
