#ifndef MBL_HOST_H
#define MBL_HOST_H

#include "MBLTypes.h"

// MARK: The stack

lua_State *_Nonnull mbl_thread(MBLState *_Nonnull state);
int32_t mbl_top(MBLState *_Nonnull state);
void mbl_set_top(MBLState *_Nonnull state, int32_t top);
void mbl_get(lua_State *_Nonnull thread, int32_t index, MBLValue *_Nonnull value);
bool mbl_to_integer(lua_State *_Nonnull thread, int32_t index, int64_t *_Nonnull value);
bool mbl_to_number(lua_State *_Nonnull thread, int32_t index, double *_Nonnull value);
bool mbl_to_boolean(lua_State *_Nonnull thread, int32_t index);
bool mbl_is_none_or_nil(lua_State *_Nonnull thread, int32_t index);
const char *_Nonnull mbl_type_name(lua_State *_Nonnull thread, int32_t index);
const void *_Nullable mbl_pointer(lua_State *_Nonnull thread, int32_t index);
bool mbl_raw_equal(MBLState *_Nonnull state, int32_t first, int32_t second);
MBLStatus mbl_push(MBLState *_Nonnull state, const MBLValue *_Nonnull value);
// Pushes the text of the value at `index`: of a number, or by __tostring; else nil. Where __tostring fails, its error and a status.
MBLStatus mbl_to_text(MBLState *_Nonnull state, int32_t index);

// MARK: References

// Keeps the value at `index`, and gives the number under which it is kept.
MBLStatus mbl_reference(MBLState *_Nonnull state, int32_t index, int32_t *_Nonnull reference);
bool mbl_push_reference(MBLState *_Nonnull state, int32_t reference);

// MARK: Tables (raw unless said otherwise)

MBLStatus mbl_table_new(MBLState *_Nonnull state, int32_t arrayCount, int32_t hashCount);
MBLStatus mbl_table_get(MBLState *_Nonnull state, int32_t table, const MBLValue *_Nonnull key, bool raw);
MBLStatus mbl_table_set(MBLState *_Nonnull state, int32_t table, const MBLValue *_Nonnull key,
                        const MBLValue *_Nonnull value, bool raw);
// Sets the element at an index to a new table: each value under the key at its place in the list `keys`. Nil values leave
// their keys out.
MBLStatus mbl_table_set_row(MBLState *_Nonnull state, int32_t table, int64_t index, int32_t keys,
                            const MBLValue *_Nonnull values, int32_t count);
uint64_t mbl_table_length(MBLState *_Nonnull state, int32_t table);
// How many keys a table has.
MBLStatus mbl_table_size(MBLState *_Nonnull state, int32_t table, uint64_t *_Nonnull size);
// Pushes an element of the table on the top; false, and nothing pushed, where it is nil.
bool mbl_push_element(MBLState *_Nonnull state, int64_t index);
// Replaces the key on the top by the next key and value; false at the end (and on a key that is gone: *ok is false).
bool mbl_table_next(MBLState *_Nonnull state, int32_t table, bool *_Nonnull ok);
// Takes a key of the table at an index from the stack and pushes the last of up to `most` keys after it, nil at the end, and then
// their values. `slots` gets each key's slot in the type; a key that has none gets -1 and is the last.
MBLStatus mbl_table_slots(MBLState *_Nonnull state, int32_t table, const MBLType *_Nonnull type, int32_t *_Nonnull slots,
                          int32_t most, int32_t *_Nonnull count);
// A negative reference takes the metatable away.
MBLStatus mbl_table_set_metatable(MBLState *_Nonnull state, int32_t table, int32_t metatable);
bool mbl_table_metatable(MBLState *_Nonnull state, int32_t index);
// The address of the metatable of a referenced table, and that of the table itself; NULL where there is none.
// Addresses are compared, never read.
const void *_Nullable mbl_metatable_address(MBLState *_Nonnull state, int32_t table);
const void *_Nullable mbl_table_address(MBLState *_Nonnull state, int32_t table);
// Marks a table as a list, so that an empty list is told from an empty map.
MBLStatus mbl_mark_list(MBLState *_Nonnull state, int32_t table);
bool mbl_is_list(lua_State *_Nonnull thread, int32_t index);

// MARK: Functions of the host

// Lets properties of these names, divided by spaces, be called as methods where they are booleans or texts.
MBLStatus mbl_call_properties(MBLState *_Nonnull state, const char *_Nonnull names);
// `weight`: the bytes that the function keeps alive.
MBLStatus mbl_function_new(MBLState *_Nonnull state, void *_Nonnull function, int64_t weight);
// Sets the last result of a call; strings are copied, objects retained until pushed.
void mbl_frame_return(MBLFrame *_Nonnull frame, const MBLValue *_Nonnull value);
// Pushes the result that waits in the frame.
MBLStatus mbl_frame_flush(MBLFrame *_Nonnull frame);
// Pushes the environment of the script whose function was called; false, and nothing pushed, where it is that of all scripts.
bool mbl_frame_environment(MBLFrame *_Nonnull frame);

// MARK: Objects of the host

MBLType *_Nullable mbl_type_new(MBLState *_Nonnull state, void *_Nonnull type, const char *_Nonnull name, bool interned);
// The type of values that lie in their userdata: of so many bytes, at most MBL_INLINE_WORDS words.
MBLType *_Nullable mbl_inline_type_new(MBLState *_Nonnull state, void *_Nonnull type, const char *_Nonnull name, int32_t size);
MBLStatus mbl_type_add_slot(MBLType *_Nonnull type, const char *_Nonnull key, size_t length, int32_t slot);
MBLStatus mbl_type_add_method(MBLType *_Nonnull type, const char *_Nonnull key, size_t length, void *_Nonnull function);
MBLStatus mbl_type_add_operator(MBLType *_Nonnull type, const char *_Nonnull name, void *_Nonnull function);
// Reads properties past the type. Gives 0, 1 after an error, and -1 to leave the property to the type.
typedef int32_t (*MBLReader)(void *_Nonnull object, int32_t slot, void *_Nonnull frame, void *_Nullable context);
void mbl_type_set_reader(MBLType *_Nonnull type, MBLReader _Nullable reader, void *_Nullable context);
void *_Nonnull mbl_type_owner(const MBLType *_Nonnull type);
// Makes the handle of an interned object dead; false where Lua has none.
bool mbl_object_kill(MBLState *_Nonnull state, const void *_Nonnull object);
// Handles of scoped objects that are made between these two are dead after.
uint64_t mbl_scope_begin(MBLState *_Nonnull state);
void mbl_scope_end(MBLState *_Nonnull state, uint64_t scope);

// MARK: Errors of the host

// Hands over an error (retained) that is raised when the Swift frame has gone.
void mbl_fail(MBLState *_Nonnull state, void *_Nonnull error, int64_t weight);
void mbl_fail_text(MBLState *_Nonnull state, const char *_Nullable bytes, size_t length);
void mbl_fail_value(MBLState *_Nonnull state, int32_t reference, void *_Nullable error, int64_t weight);
// The Swift error behind the Lua error value at `index`, if one crossed.
void *_Nullable mbl_crossed_error(MBLState *_Nonnull state, int32_t index);

// MARK: Places in scripts

// "script.lua:12: " of a call under way; empty where Lua knows no line.
void mbl_where(lua_State *_Nonnull thread, int32_t level, char *_Nonnull buffer, size_t capacity);
// The same for the call that a mistake is to be sought in: past the modules on board.
void mbl_blame(lua_State *_Nonnull thread, char *_Nonnull buffer, size_t capacity);
// What the running function was called by.
void mbl_function_name(lua_State *_Nonnull thread, char *_Nonnull buffer, size_t capacity, bool *_Nonnull isMethod);
// Where a function is defined, as "script.lua:12"; empty for what is no Lua function.
void mbl_function_place(MBLState *_Nonnull state, int32_t function, char *_Nonnull buffer, size_t capacity);
// How many arguments a function names; INT32_MAX where it takes any number.
int32_t mbl_function_parameters(MBLState *_Nonnull state, int32_t function);

#endif
