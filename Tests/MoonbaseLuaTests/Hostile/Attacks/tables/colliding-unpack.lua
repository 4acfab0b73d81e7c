-- Missing elements are searched among all keys of the table, which have one hash.
--! ends: lua.limit.deadline
--! with: instructions=0 deadline=3 memory=64M
--! not in standard: the same function as in pure, and it takes seconds
--! not in compat: the same function as in pure, and it takes seconds
--! not in trusted: trusted has the system library's function, a loop in C that looks at no hook
local keys = {}
for i = 1, 2 ^ 15 do keys[-i * 32767] = true end
table.unpack(keys, 1, 990000)
