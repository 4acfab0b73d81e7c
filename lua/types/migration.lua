---@meta
-- Migration scripts: files for `moonbase migrate --mapping`.

---Called for each object once all new objects are made; returns false to omit the new object.
---@alias moonbase.MigrationFunction
---| fun(old: moonbase.Object, new: moonbase.Object, migration: moonbase.Migration): boolean?

---Functions by the name of an entity of the older model, or of two entities, as in `NoteToMemo`.
---@alias moonbase.MigrationScript table<string, moonbase.MigrationFunction>

---The objects that an old one became, all or the first; of one mapping, if that is named.
---@alias moonbase.Became fun(self: moonbase.Migration, old: moonbase.Object, mapping?: string): moonbase.Object[]
---@alias moonbase.BecameFirst fun(self: moonbase.Migration, old: moonbase.Object, mapping?: string): moonbase.Object?

---@class moonbase.Migration
---@field source_context moonbase.Context the old objects, for reading only
---@field destination_context moonbase.Context the new objects
---@field destination moonbase.BecameFirst the first object that an old one became
---@field destinations moonbase.Became all objects that an old one became
