---@meta
-- Import maps: files for `moonbase import --map`.

---Receives the columns that have a value. Returns a table of columns or properties, false to skip the row, nil and a
---reason to reject it, or nothing to use the table unchanged.
---@alias moonbase.RowFunction fun(row: table<string, any>): (table<string, any>|false|nil, string?)

---@class moonbase.ImportMap
---@field columns? table<string, string|false> properties, or paths like `department.name`, by columns; or false
---@field row? moonbase.RowFunction changes, passes over or rejects a row
