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
// Pushes the text of the value at `index`: of a number, or by __tostring; else nil. If __tostring fails, pushes its
// error and returns a status.
MBLStatus mbl_to_text(MBLState *_Nonnull state, int32_t index);

// MARK: References

// Retains the value at `index` and returns its reference number.
MBLStatus mbl_reference(MBLState *_Nonnull state, int32_t index, int32_t *_Nonnull reference);
bool mbl_push_reference(MBLState *_Nonnull state, int32_t reference);

// MARK: Tables (raw unless said otherwise)

MBLStatus mbl_table_new(MBLState *_Nonnull state, int32_t arrayCount, int32_t hashCount);
MBLStatus mbl_table_get(MBLState *_Nonnull state, int32_t table, const MBLValue *_Nonnull key, bool raw);
MBLStatus mbl_table_set(MBLState *_Nonnull state, int32_t table, const MBLValue *_Nonnull key,
                        const MBLValue *_Nonnull value, bool raw);
// Sets the element at an index to a new table, with each value under the key at its position in the list `keys`. Keys
// with nil values are omitted.
MBLStatus mbl_table_set_row(MBLState *_Nonnull state, int32_t table, int64_t index, int32_t keys,
                            const MBLValue *_Nonnull values, int32_t count);
uint64_t mbl_table_length(MBLState *_Nonnull state, int32_t table);
// The number of keys of a table.
MBLStatus mbl_table_size(MBLState *_Nonnull state, int32_t table, uint64_t *_Nonnull size);
// Pushes an element of the table on the top. Returns false, without pushing, if it is nil.
bool mbl_push_element(MBLState *_Nonnull state, int64_t index);
// Replaces the key on the top by the next key and value. Returns false at the end, and for a missing key (*ok is
// false).
bool mbl_table_next(MBLState *_Nonnull state, int32_t table, bool *_Nonnull ok);
// Pops a key of the table at an index. Pushes the last of up to `most` keys after it, or nil at the end, followed by
// their values. `slots` receives each key's slot in the type; a key without a slot gets -1 and is the last.
MBLStatus mbl_table_slots(MBLState *_Nonnull state, int32_t table, const MBLType *_Nonnull type, int32_t *_Nonnull slots,
                          int32_t most, int32_t *_Nonnull count);
// A negative reference removes the metatable.
MBLStatus mbl_table_set_metatable(MBLState *_Nonnull state, int32_t table, int32_t metatable);
bool mbl_table_metatable(MBLState *_Nonnull state, int32_t index);
// The address of a referenced table's metatable, and that of the table itself; NULL if there is none. For comparison
// only.
const void *_Nullable mbl_metatable_address(MBLState *_Nonnull state, int32_t table);
const void *_Nullable mbl_table_address(MBLState *_Nonnull state, int32_t table);
// Marks a table as a list, to distinguish an empty list from an empty map.
MBLStatus mbl_mark_list(MBLState *_Nonnull state, int32_t table);
bool mbl_is_list(lua_State *_Nonnull thread, int32_t index);

// MARK: Functions of the host

// Allows boolean and text properties with these names, separated by spaces, to be called as methods.
MBLStatus mbl_call_properties(MBLState *_Nonnull state, const char *_Nonnull names);
// `weight`: the bytes that the function retains.
MBLStatus mbl_function_new(MBLState *_Nonnull state, void *_Nonnull function, int64_t weight);
// Sets the last result of a call. Strings are copied, objects are retained until pushed.
void mbl_frame_return(MBLFrame *_Nonnull frame, const MBLValue *_Nonnull value);
// Pushes the waiting result of the frame.
MBLStatus mbl_frame_flush(MBLFrame *_Nonnull frame);
// Pushes the environment of the script whose function was called. Returns false, without pushing, for the shared
// environment.
bool mbl_frame_environment(MBLFrame *_Nonnull frame);

// MARK: Objects of the host

MBLType *_Nullable mbl_type_new(MBLState *_Nonnull state, void *_Nonnull type, const char *_Nonnull name, bool interned);
// A type of inline values with this size in bytes, at most MBL_INLINE_WORDS words.
MBLType *_Nullable mbl_inline_type_new(MBLState *_Nonnull state, void *_Nonnull type, const char *_Nonnull name, int32_t size);
MBLStatus mbl_type_add_slot(MBLType *_Nonnull type, const char *_Nonnull key, size_t length, int32_t slot);
MBLStatus mbl_type_add_method(MBLType *_Nonnull type, const char *_Nonnull key, size_t length, void *_Nonnull function);
MBLStatus mbl_type_add_operator(MBLType *_Nonnull type, const char *_Nonnull name, void *_Nonnull function);
// Reads properties directly. Returns 0 for success, 1 after an error, and -1 to leave the property to the type.
typedef int32_t (*MBLReader)(void *_Nonnull object, int32_t slot, void *_Nonnull frame, void *_Nullable context);
void mbl_type_set_reader(MBLType *_Nonnull type, MBLReader _Nullable reader, void *_Nullable context);
void *_Nonnull mbl_type_owner(const MBLType *_Nonnull type);
// Ends the handle of an interned object. Returns false if Lua has none.
bool mbl_object_kill(MBLState *_Nonnull state, const void *_Nonnull object);
// Handles of scoped objects made between these two calls end with the second.
uint64_t mbl_scope_begin(MBLState *_Nonnull state);
void mbl_scope_end(MBLState *_Nonnull state, uint64_t scope);

// MARK: Errors of the host

// Stores a retained error, which is raised after the Swift frame has returned.
void mbl_fail(MBLState *_Nonnull state, void *_Nonnull error, int64_t weight);
void mbl_fail_text(MBLState *_Nonnull state, const char *_Nullable bytes, size_t length);
void mbl_fail_value(MBLState *_Nonnull state, int32_t reference, void *_Nullable error, int64_t weight);
// The Swift error behind the Lua error value at `index`; NULL if there is none.
void *_Nullable mbl_crossed_error(MBLState *_Nonnull state, int32_t index);

// MARK: Places in scripts

// "script.lua:12: " for an active call; empty if Lua knows no line.
void mbl_where(lua_State *_Nonnull thread, int32_t level, char *_Nonnull buffer, size_t capacity);
// The place of the call to blame for a mistake, ignoring shipped modules.
void mbl_blame(lua_State *_Nonnull thread, char *_Nonnull buffer, size_t capacity);
// The name under which the running function was called.
void mbl_function_name(lua_State *_Nonnull thread, char *_Nonnull buffer, size_t capacity, bool *_Nonnull isMethod);
// The place of a function's definition, as "script.lua:12"; empty for other functions than Lua's.
void mbl_function_place(MBLState *_Nonnull state, int32_t function, char *_Nonnull buffer, size_t capacity);
// The number of declared parameters; INT32_MAX for a variadic function.
int32_t mbl_function_parameters(MBLState *_Nonnull state, int32_t function);

#endif
