#include <stdlib.h>
#include <string.h>

#include "limits/limits.h"

// Records executable and executed lines of chunks that the host loads. A state without coverage has no line hook.

// The greatest line number that is recorded.
#define MOST_LINES (1 << 20)
#define MOST_FILES 4096

static MBLCoveredFile *file_named(MBLState *S, const char *name) {
  for (int32_t i = 0; i < S->coverage.count; i++) {
    if (strcmp(S->coverage.files[i].name, name) == 0) return &S->coverage.files[i];
  }
  return NULL;
}

static MBLCoveredFile *add_file(MBLState *S, const char *name) {
  MBLCoveredFile *known = file_named(S, name);
  if (known != NULL) return known;
  int capacity = S->coverage.capacity;
  MBLCoveredFile *files = S->coverage.files;
  if (S->coverage.count == capacity) {
    capacity = capacity == 0 ? 8 : capacity * 2;
    files = capacity <= MOST_FILES ? realloc(files, sizeof(MBLCoveredFile) * (size_t)capacity) : NULL;
  }
  char *copy = files != NULL ? strdup(name) : NULL;
  if (files != NULL) {
    S->coverage.files = files;
    S->coverage.capacity = capacity;
  }
  if (copy == NULL) {
    S->coverage.isShort = true;
    return NULL;
  }
  files[S->coverage.count] = (MBLCoveredFile){copy, NULL, 0};
  return &files[S->coverage.count++];
}

static void mark(MBLState *S, MBLCoveredFile *file, lua_Integer line, uint8_t bits) {
  if (line < 1 || line > MOST_LINES) return;
  if (line >= file->count) {
    int32_t count = (int32_t)line + 1 + file->count;
    uint8_t *lines = realloc(file->lines, (size_t)count);
    if (lines == NULL) {
      S->coverage.isShort = true;
      return;
    }
    memset(lines + file->count, 0, (size_t)(count - file->count));
    file->lines = lines;
    file->count = count;
  }
  file->lines[line] |= bits;
}

// Pops the table of lines. The last line of a multi-line function contains the implicit return instruction: counted as
// executable, it would be reported as missed in nearly every function.
static void take_lines(MBLState *S, lua_State *L, const lua_Debug *function) {
  MBLCoveredFile *file = lua_type(L, -1) == LUA_TTABLE ? file_named(S, function->source) : NULL;
  int end = function->what[0] == 'L' && function->lastlinedefined > function->linedefined ? function->lastlinedefined : 0;
  if (file != NULL) {
    for (lua_pushnil(L); lua_next(L, -2); lua_settop(L, -2)) {
      lua_Integer line = lua_tointegerx(L, -2, NULL);
      if (line != end) mark(S, file, line, MBL_LINE_CAN_RUN);
    }
  }
  lua_settop(L, -2);
}

// Pops a function.
static void take_function(MBLState *S, lua_State *L) {
  lua_Debug function;
  lua_getinfo(L, ">SL", &function);
  take_lines(S, L, &function);
}

void mbl_coverage_load(MBLState *S, lua_State *L) {
  if (!S->coverage.isOn) return;
  lua_Debug function;
  lua_pushvalue(L, -1);
  lua_getinfo(L, ">S", &function);
  if (function.source[0] != '@' || add_file(S, function.source) == NULL) return;
  lua_pushvalue(L, -1);
  take_function(S, L);
}

void mbl_coverage_line(MBLState *S, lua_State *L, lua_Debug *event) {
  lua_getinfo(L, "S", event);
  MBLCoveredFile *file = file_named(S, event->source);
  int line = event->currentline;
  if (file == NULL || (line > 0 && line < file->count && file->lines[line] & MBL_LINE_RAN)) return;
  mark(S, file, line, MBL_LINE_CAN_RUN | MBL_LINE_RAN);
  if (!lua_checkstack(L, 8)) return;
  lua_getinfo(L, "L", event);
  take_lines(S, L, event);
}

// MARK: Functions that were not called

// Pops a value and adds it to the values to inspect, if it is new. The seen values are at 1, the values to inspect at
// 2.
static void note(lua_State *L, lua_Integer *count) {
  int type = lua_type(L, -1);
  bool holds = type == LUA_TTABLE || type == LUA_TFUNCTION || type == LUA_TUSERDATA;
  if (holds) {
    lua_pushvalue(L, -1);
    holds = lua_rawget(L, 1) == LUA_TNIL;
    lua_settop(L, -2);
  }
  if (!holds) {
    lua_settop(L, -2);
    return;
  }
  lua_pushvalue(L, -1);
  lua_pushboolean(L, 1);
  lua_rawset(L, 1);
  lua_rawseti(L, 2, ++*count);
}

// Adds the contents of the value at 3.
static void note_contents(MBLState *S, lua_State *L, lua_Integer *count) {
  if (lua_getmetatable(L, 3)) note(L, count);
  switch (lua_type(L, 3)) {
    case LUA_TTABLE:
      for (lua_pushnil(L); lua_next(L, 3);) {
        note(L, count);
        lua_pushvalue(L, -1);
        note(L, count);
      }
      break;
    case LUA_TFUNCTION:
      for (int i = 1; lua_getupvalue(L, 3, i) != NULL; i++) note(L, count);
      if (lua_iscfunction(L, 3)) break;
      lua_pushvalue(L, 3);
      take_function(S, L);
      break;
    default:
      for (int i = 1; lua_getiuservalue(L, 3, i) != LUA_TNONE; i++) note(L, count);
      break;
  }
}

// Lua knows the lines of an existing function, but not those of functions that it would make. So all reachable values
// are searched.
static int walk(lua_State *L) {
  lua_Integer count = 0;
  lua_createtable(L, 0, 0);
  lua_createtable(L, 0, 0);
  lua_pushvalue(L, LUA_REGISTRYINDEX);
  note(L, &count);
  for (lua_Integer i = 1; i <= count; i++) {
    lua_rawgeti(L, 2, i);
    note_contents(mbl_of(L), L, &count);
    lua_settop(L, 2);
    lua_pushnil(L);
    lua_rawseti(L, 2, i);
  }
  return 0;
}

// MARK: The host's side

void mbl_coverage_begin(MBLState *S) {
  S->coverage.isOn = true;
  mbl_install_hook(S, S->main);
}

bool mbl_coverage_finish(MBLState *S) {
  lua_State *L = S->running;
  MBLLimits limits = S->limits;
  S->limits = (MBLLimits){0};
  mbl_set_ceilings(S);
  // Finalizers are script code, and no run is in progress to limit them.
  int wasOn = lua_gc(L, LUA_GCISRUNNING);
  lua_gc(L, LUA_GCSTOP);
  bool isDone = lua_checkstack(L, 8);
  if (isDone) {
    lua_pushcfunction(L, walk);
    isDone = lua_pcall(L, 0, 0, 0) == LUA_OK;
    if (!isDone) lua_settop(L, -2);
  }
  if (wasOn) lua_gc(L, LUA_GCRESTART);
  S->limits = limits;
  mbl_set_ceilings(S);
  return isDone && !S->coverage.isShort;
}

int32_t mbl_coverage_count(MBLState *S) { return S->coverage.count; }
MBLCoveredFile mbl_coverage_file(MBLState *S, int32_t index) { return S->coverage.files[index]; }

void mbl_coverage_free(MBLState *S) {
  for (int32_t i = 0; i < S->coverage.count; i++) {
    free(S->coverage.files[i].name);
    free(S->coverage.files[i].lines);
  }
  free(S->coverage.files);
}
