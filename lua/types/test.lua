---@meta
-- The table that a test file returns. With `---@type moonbase.Tests` above the table, an editor checks it.

---@alias moonbase.Tests table<string, fun(t: moonbase.Test)>

---The argument of a test. Each test has its own context over an empty store in memory.
---@class moonbase.Test
---@field context moonbase.Context of the test alone
---@field equal fun(value: any, expected: any, message?: string) fails unless both are the same, tables with all within
---@field fails fun(body: function, code?: integer|string): any fails unless `body` raises, or returns nil and an error
---@field snapshot fun(value: any) fails unless the value equals that of the test's first run
