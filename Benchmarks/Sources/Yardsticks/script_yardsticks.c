#include "yardsticks.h"
#include "open.h"

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>
#include <stdio.h>

/* Lua over SQLite as a C program would have it: a function that inserts tables, and rows as userdata. */

typedef struct Work {
  sqlite3 *database;
  sqlite3_stmt *statement;
  lua_State *state;
  int64_t row; /* how many rows were inserted or read */
} Work;

static int64_t end(Work *work, int64_t answer) {
  if (work->state != NULL) lua_close(work->state);
  sqlite3_finalize(work->statement);
  sqlite3_close(work->database);
  return answer;
}

static int64_t fail(Work *work) {
  if (work->state != NULL && lua_gettop(work->state) > 0) {
    const char *message = lua_tostring(work->state, -1);
    if (message != NULL) fprintf(stderr, "yardstick: %s\n", message);
  }
  if (work->database != NULL) fprintf(stderr, "yardstick: %s\n", sqlite3_errmsg(work->database));
  return end(work, -1);
}

/* Opens the file and a state, with `script` loaded in it. */
static int begin(Work *work, const char *path, const char *script) {
  *work = (Work){.database = yardstick_open(path), .state = luaL_newstate()};
  if (work->database == NULL || work->state == NULL) return 0;
  luaL_openlibs(work->state);
  return luaL_loadstring(work->state, script) == LUA_OK;
}

/* What is kept by the first upvalue of the running function. */
static Work *work_of(lua_State *state) { return lua_touserdata(state, lua_upvalueindex(1)); }

static void bind_number(lua_State *state, sqlite3_stmt *statement, int column, const char *field) {
  lua_getfield(state, 1, field);
  if (lua_isinteger(state, -1)) {
    sqlite3_bind_int64(statement, column, lua_tointeger(state, -1));
  } else {
    sqlite3_bind_double(statement, column, luaL_checknumber(state, -1));
  }
  lua_pop(state, 1);
}

/* Leaves the string on the stack, which keeps it until the statement has run. */
static void bind_string(lua_State *state, sqlite3_stmt *statement, int column, const char *field, int isBlob) {
  size_t length;
  lua_getfield(state, 1, field);
  const char *bytes = luaL_checklstring(state, -1, &length);
  if (isBlob) {
    sqlite3_bind_blob(statement, column, bytes, (int)length, SQLITE_STATIC);
  } else {
    sqlite3_bind_text(statement, column, bytes, (int)length, SQLITE_STATIC);
  }
}

static int insert_table(lua_State *state) {
  Work *work = work_of(state);
  sqlite3_stmt *statement = work->statement;
  luaL_checktype(state, 1, LUA_TTABLE);
  sqlite3_bind_int64(statement, 1, ++work->row);
  bind_number(state, statement, 2, "age");
  bind_number(state, statement, 3, "born");
  bind_number(state, statement, 4, "height");
  bind_string(state, statement, 5, "firstName", 0);
  bind_string(state, statement, 6, "lastName", 0);
  bind_string(state, statement, 7, "color", 1);
  int status = sqlite3_step(statement);
  sqlite3_reset(statement);
  return status == SQLITE_DONE ? 0 : luaL_error(state, "the row was not inserted");
}

/* A date is its seconds here. */
static int make_date(lua_State *state) {
  luaL_checknumber(state, 1);
  lua_settop(state, 1);
  return 1;
}

int64_t yardstick_script_inserts(const char *path, const char *script, int64_t count) {
  Work work;
  if (!begin(&work, path, script) || !yardstick_run(work.database, yardstick_schema) ||
      !yardstick_run(work.database, "BEGIN IMMEDIATE") ||
      sqlite3_prepare_v2(work.database, yardstick_insertion, -1, &work.statement, NULL))
    return fail(&work);
  lua_pushinteger(work.state, count);
  lua_pushlightuserdata(work.state, &work);
  lua_pushcclosure(work.state, insert_table, 1);
  lua_pushcfunction(work.state, make_date);
  if (lua_pcall(work.state, 3, 1, 0)) return fail(&work);
  int64_t answer = lua_tointeger(work.state, -1);
  if (!yardstick_run(work.database, "COMMIT")) return fail(&work);
  return end(&work, answer);
}

static const char row_key = 0;

typedef struct Row {
  int64_t number;
} Row;

/* The upvalues: the work, and a table of columns by field. */
static int row_field(lua_State *state) {
  Work *work = work_of(state);
  Row *row = lua_touserdata(state, 1);
  if (row == NULL || !lua_getmetatable(state, 1)) return luaL_error(state, "not a row");
  lua_rawgetp(state, LUA_REGISTRYINDEX, &row_key);
  if (!lua_rawequal(state, -1, -2)) return luaL_error(state, "not a row");
  if (row->number != work->row) return luaL_error(state, "the row is no longer there");
  lua_pushvalue(state, 2);
  if (lua_rawget(state, lua_upvalueindex(2)) != LUA_TNUMBER) return luaL_error(state, "no such field");
  int column = (int)lua_tointeger(state, -1);
  switch (sqlite3_column_type(work->statement, column)) {
    case SQLITE_INTEGER: lua_pushinteger(state, sqlite3_column_int64(work->statement, column)); break;
    case SQLITE_FLOAT: lua_pushnumber(state, sqlite3_column_double(work->statement, column)); break;
    case SQLITE_NULL: lua_pushnil(state); break;
    default: {
      const char *bytes = sqlite3_column_blob(work->statement, column);
      lua_pushlstring(state, bytes, (size_t)sqlite3_column_bytes(work->statement, column));
    }
  }
  return 1;
}

static int next_row(lua_State *state) {
  Work *work = work_of(state);
  int status = sqlite3_step(work->statement);
  if (status == SQLITE_DONE) return 0;
  if (status != SQLITE_ROW) return luaL_error(state, "%s", sqlite3_errmsg(work->database));
  Row *row = lua_newuserdatauv(state, sizeof(Row), 0);
  row->number = ++work->row;
  lua_rawgetp(state, LUA_REGISTRYINDEX, &row_key);
  lua_setmetatable(state, -2);
  return 1;
}

static void make_row_type(Work *work) {
  static const char *const fields[] = {"age", "born", "height", "firstName", "lastName", "color"};
  lua_newtable(work->state);
  lua_pushlightuserdata(work->state, work);
  lua_newtable(work->state);
  for (int index = 0; index < 6; index++) {
    lua_pushinteger(work->state, index + 2);
    lua_setfield(work->state, -2, fields[index]);
  }
  lua_pushcclosure(work->state, row_field, 2);
  lua_setfield(work->state, -2, "__index");
  lua_rawsetp(work->state, LUA_REGISTRYINDEX, &row_key);
}

int64_t yardstick_script_walks(const char *path, const char *script) {
  Work work;
  if (!begin(&work, path, script) ||
      sqlite3_prepare_v2(work.database, yardstick_selection, -1, &work.statement, NULL))
    return fail(&work);
  make_row_type(&work);
  lua_pushlightuserdata(work.state, &work);
  lua_pushcclosure(work.state, next_row, 1);
  if (lua_pcall(work.state, 1, 1, 0)) return fail(&work);
  return end(&work, lua_tointeger(work.state, -1));
}
