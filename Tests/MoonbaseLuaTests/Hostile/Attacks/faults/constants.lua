-- Operands after 256 constants (wrong code before 5.4.5): the process must survive, whatever the result.
--! ends: lua.ok
local t = {}
for i = 1, 300 do t[i] = "local k" .. i % 150 .. " = " .. i .. ".5" end
local source = "local x = 1 do " .. table.concat(t, " ", 1, 150) .. " end return x & (2 or 3), x + (2 or 3), x .. ('a' or 'b')"
pcall(assert(load(source)))
pcall(assert(load("return _ENV[1 < 2], _ENV[not nil]")))
