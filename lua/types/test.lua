---@meta
-- What files of tests return. With `---@type moonbase.Tests` above it an editor checks one.

---@alias moonbase.Tests table<string, fun(t: moonbase.Test)>

---The argument of a test. Each test has a context of its own, over an empty store in memory.
---@class moonbase.Test
---@field context moonbase.Context of the test alone
---@field equal fun(value: any, expected: any, message?: string) fails unless both are the same, tables with all within
---@field fails fun(body: function, code?: integer|string): any fails unless `body` raises, or returns nil and an error
---@field snapshot fun(value: any) fails unless the value is as it was when the test ran first
