-- Each element is searched among all keys of another table, which have one hash.
--! ends: lua.limit.deadline
--! with: instructions=0 deadline=1 memory=128M
--! not in trusted: trusted has the system library's function, a loop in C that looks at no hook
local letters, keys = {}, {}
for i = 1, 2 ^ 21 do letters[i] = "x" end
for i = 1, 2 ^ 14 do keys[-i * 16383] = true end
table.concat(setmetatable(keys, { __index = letters }), "", 1, 2 ^ 21)
