---@meta
-- The table that an extension file returns. With `---@type moonbase.Extension` above the table, an editor checks it.

---@class moonbase.Extension
---@field name string
---@field version? string a semantic version: "1", "1.2", "1.2.3"
---@field requires? moonbase.Requires
---@field classes? table<string, table> metatables, or `{ is = function(value) ... end }`; `parse`, `from_tree`
---@field transformers? table<string, moonbase.Transformer>
---@field value_classes? table<string, table<string, string>> class names by entity and attribute
---@field entities? table<string, moonbase.EntityExtension>
---@field messages? table<string, table<string, string>> by language: messages of rules and their translations
---@field on_reload? fun(old?: moonbase.Extension) a hook after a reload, with the former extension

---A range of versions is a version ("1.2": 1.2 or later, before 2), or several conditions (">=1.2 <2").
---@class moonbase.Requires
---@field moonbase? string a range of versions
---@field extensions? table<integer|string, string> names, or ranges of versions by name
---@field model? table<string, string> by entity: the hash of its version, or at least its first 8 digits

---Neither function is called with nil.
---@class moonbase.Transformer
---@field class? string assignments of another class are refused
---@field transform fun(value: any): string
---@field examples? { [1]: any, [2]: any }[] values and their bytes, with which both functions are tested at load
---@field reverse? fun(bytes: string): any without it the transformer serves transient attributes only

---@class moonbase.RuleMessage
---@field [1] string
---@field key? string the property to blame
---@field code? integer the error's code; default 1550
---@field severity? "failure"|"warning" a warning fails no save and is in `context.validation_warnings`
---@field values? table<string, any> values for `{name}` in the message, beside `{value}`, `{old}`, `{key}`

---The reason of a rule's call: the object is saved for the first time, or again, or `object:validate` proposes a value.
---@alias moonbase.Why "insert"|"update"|"assignment"

---@alias moonbase.Said string|moonbase.RuleMessage|nil

---Returns true, or false or nil with a message and optionally the property to blame. Returning nothing is an error.
---`old` is the value that was last saved or read.
---@alias moonbase.Rule fun(v: any, o: moonbase.Object, old: any, why: moonbase.Why): boolean?, moonbase.Said, string?
---@alias moonbase.ObjectRule fun(object: moonbase.Object): (boolean|nil), (string|moonbase.RuleMessage)?, string?
---@alias moonbase.Hook fun(object: moonbase.Object)
---@alias moonbase.SnapshotEvent "undo_insertion"|"undo_deletion"|"undo_update"|"rollback"|"refresh"|"merge_policy"
---@alias moonbase.SnapshotHook fun(object: moonbase.Object, events: table<moonbase.SnapshotEvent, boolean>)

---@class moonbase.EntityExtension
---@field normalize? table<string, fun(value: any, object: moonbase.Object): any> before the rules; returns the value
---@field validate? table<string, moonbase.Rule> by property or path ("department.budget"); not called for nil
---@field validate_for_insert? moonbase.ObjectRule
---@field validate_for_update? moonbase.ObjectRule
---@field validate_for_delete? moonbase.ObjectRule
---@field derived? table<string, moonbase.Derived>
---@field methods? table<string, fun(object: moonbase.Object, ...: any): any> called as `object:NAME(...)`
---@field awake_from_insert? moonbase.Hook
---@field awake_from_fetch? moonbase.Hook
---@field awake_from_snapshot? moonbase.SnapshotHook after a rollback, a refresh or an undo replaced the values
---@field will_save? moonbase.Hook
---@field did_save? moonbase.Hook for deleted objects too, which still have their values
---@field prepare_for_deletion? moonbase.Hook
---@field will_turn_into_fault? moonbase.Hook
---@field did_turn_into_fault? moonbase.Hook

---@class moonbase.Derived
---@field type? string needed for sort, predicate and editor if the model lacks the attribute
---@field inputs? string[] key paths; `get` receives their values (also objects and lists) in this order
---@field object? boolean passes the object to `get` after the inputs
---@field pure? boolean the result depends on the inputs only: `get` may run inside SQLite
---@field strict? boolean nil if any input is nil
---@field stored? boolean updates a persistent attribute at each save
---@field get? fun(...: any): any
---@field set? fun(value: any, object: moonbase.Object)
---@field shadow? string the persistent attribute that stores the value
---@field transformer? string
---@field read? "on_demand"|"pre_calculated"
---@field write? "immediate"|"delayed"
