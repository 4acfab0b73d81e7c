#ifndef MOONBASE_LUA_LIBRARY_H
#define MOONBASE_LUA_LIBRARY_H

#include <lualib.h>

#include "MBLLibrary.h"
#include "host/host.h"

// Lua's libraries for scripts: sandboxed, charged, frozen.

extern const char mbl_key_base, mbl_key_frozen, mbl_key_clock;

// `next` over the table behind a proxy, the upvalue.
int mbl_frozen_next(lua_State *L);

// Pushes the table from which scopes' environments are copied. In preset `trusted` this differs from the table for
// scripts.
void mbl_push_sandbox(lua_State *L);
// Opens the libraries of the state's preset.
void mbl_open_libraries(lua_State *L);
// Each changes or makes the library on the top.
int mbl_open_coroutine(lua_State *L);
int mbl_open_debug(lua_State *L);
int mbl_open_utf8(lua_State *L);
void mbl_open_strings(lua_State *L);
int mbl_format(lua_State *L);
void mbl_open_tables(lua_State *L);
void mbl_open_patterns(lua_State *L);

// Replaces functions of the library on the top by wrappers, which have the originals as upvalues.
void mbl_cover(lua_State *L, const luaL_Reg *entries);
// Calls Lua's own function wrapped by a replacement, its upvalue. It runs in the same frame, so that messages show its
// name.
static inline int mbl_call_original(lua_State *L) { return lua_tocfunction(L, lua_upvalueindex(1))(L); }

// MARK: Functions of the base library

int mbl_tostring(lua_State *L);
int mbl_tonumber(lua_State *L);
int mbl_print(lua_State *L);
int mbl_collectgarbage(lua_State *L);
int mbl_randomseed(lua_State *L);
int mbl_os_exit(lua_State *L);
int mbl_pcall(lua_State *L);
int mbl_xpcall(lua_State *L);
int mbl_rawget(lua_State *L);
int mbl_rawlen(lua_State *L);
int mbl_rawset(lua_State *L);
int mbl_next(lua_State *L);
int mbl_setmetatable(lua_State *L);
int mbl_load_text(lua_State *L);
int mbl_ordered_pairs(lua_State *L);
int mbl_ordered_next(lua_State *L);
int mbl_table_sort(lua_State *L);
// Receives warnings, for lua_setwarnf.
void mbl_warn(void *state, const char *text, int more);

// After a parser error, with its message on the top: reports that calls used up the C stack, unless the source itself
// did.
void mbl_tell_overflow(lua_State *L);

// MARK: For each other

int mbl_freeze_top(lua_State *L);
void mbl_push_walk(lua_State *L, int place);
// The first occurrence of the `count` bytes at `wanted`, or NULL.
const char *mbl_find_bytes(const char *s, size_t length, const char *wanted, size_t count);

// MARK: Coroutines, for the host too

int mbl_coroutine_create(lua_State *L);
int mbl_coroutine_close(lua_State *L);
// "running", "suspended", "normal" or "dead", as seen from L.
const char *mbl_coroutine_status(lua_State *L, lua_State *co);
// Whether it can be resumed; otherwise pushes the reason.
bool mbl_coroutine_check(lua_State *L, lua_State *co);
// Resumes with the arguments on the top of L. Returns the number of results moved to L, or -1 with an error value on L.
int mbl_coroutine_resume(lua_State *L, lua_State *co, int arguments);

#endif
