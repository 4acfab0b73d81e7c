---@meta
-- The table that an extension file returns. With `---@type moonbase.Extension` above the table, an editor checks it.

---@class moonbase.Extension
---@field name string of the extension
---@field version? string a semantic version: "1", "1.2", "1.2.3"
---@field requires? moonbase.Requires what must be there for the file to load
---@field classes? table<string, moonbase.ValueClass> by name: metatables of values
---@field transformers? table<string, moonbase.Transformer> by name
---@field value_classes? table<string, table<string, string>> class names by entity and attribute
---@field entities? table<string, moonbase.EntityExtension> by name
---@field messages? table<string, table<string, string>> by language: messages of rules and what stands for them
---@field on_reload? fun(old?: moonbase.Extension) a hook behind a reload, with the former extension

---A range of versions is a version ("1.2": 1.2 or later, before 2), or several conditions (">=1.2 <2").
---@class moonbase.Requires
---@field moonbase? string a range of versions
---@field extensions? table<integer|string, string> names, or ranges of versions by name
---@field model? table<string, string> by entity: the hash of its version, or at least its first 8 digits

---The metatable of the values, with functions that Moonbase calls. A class with `is` needs no metatable.
---@class moonbase.ValueClass
---@field is? fun(value: any): boolean? whether a value is of the class
---@field text? fun(value: any): string the text that commands print, and that files have
---@field parse? fun(text: string): any, string? the value of a text, or nil and a reason
---@field to_tree? fun(value: any): table the value as a plain table
---@field from_tree? fun(tree: table): any, string? the value of a plain table, or nil and a reason
---@field swift? string the name of a type in Swift

---Neither function is called with nil.
---@class moonbase.Transformer
---@field class? string assignments of another class are refused
---@field transform fun(value: any): string makes the stored text or bytes
---@field examples? { [1]: any, [2]: any }[] values and their bytes: both functions are tried with them at load
---@field reverse? fun(bytes: string): any without it the transformer goes one way and serves transient attributes only

---@class moonbase.RuleMessage
---@field [1] string the end of a sentence about the value
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
---@field normalize? table<string, fun(value: any, object: moonbase.Object): any> before the rules; not called for nil
---@field validate? table<string, moonbase.Rule> by property or path ("department.budget"); not called for nil
---@field validate_for_insert? moonbase.ObjectRule rules over several properties, of new objects
---@field validate_for_update? moonbase.ObjectRule the same, of changed objects
---@field validate_for_delete? moonbase.ObjectRule the same, of objects that are deleted
---@field derived? table<string, moonbase.Derived> by attribute
---@field methods? table<string, fun(object: moonbase.Object, ...: any): any> called as `object:NAME(...)`
---@field awake_from_insert? moonbase.Hook after an object is made
---@field awake_from_fetch? moonbase.Hook after its values were read
---@field awake_from_snapshot? moonbase.SnapshotHook after a rollback, a refresh or an undo replaced its values
---@field will_save? moonbase.Hook before the store writes the object
---@field did_save? moonbase.Hook for deleted objects too, which still have their values
---@field prepare_for_deletion? moonbase.Hook when it is deleted
---@field will_turn_into_fault? moonbase.Hook before its values are given up
---@field did_turn_into_fault? moonbase.Hook after its values were given up

---@class moonbase.Derived
---@field type? string needed with `pure` where the model has no such attribute
---@field inputs? string[] key paths, whose values are the arguments of `get`; a to-many relationship gives a list
---@field object? boolean gives `get` the object behind its inputs
---@field pure? boolean depends on its inputs only: may run inside SQLite
---@field strict? boolean nil as soon as an input is nil
---@field stored? boolean keeps a persistent attribute current at each save
---@field get? fun(...: any): any computes the value of the inputs
---@field set? fun(value: any, object: moonbase.Object) takes an assigned value
---@field shadow? string the persistent attribute behind this one
---@field transformer? string between the value and its shadow
---@field read? "on_demand"|"pre_calculated" when `get` is called
---@field write? "immediate"|"delayed" when `set` is called
