---@meta
-- Import maps: files that `moonbase import --map` runs.

---Gets the columns that have a value. Returns a table of columns or properties, false to pass the row over, nil and a
---reason to reject it, nothing for the table as it is.
---@alias moonbase.RowFunction fun(row: table<string, any>): (table<string, any>|false|nil, string?)

---@class moonbase.ImportMap
---@field columns? table<string, string> properties, or paths like `department.name`, by names of columns
---@field row? moonbase.RowFunction changes, passes over or rejects a row
