-- The parser keeps the numbers of a source in a table, and runs no hook.
--! ends: lua.limit.instructions
--! with: instructions=20M memory=64M
local all = {}
for i = 1, 2 ^ 16 + 100 do all[i] = i * 131071 end
load("return {" .. table.concat(all, ",") .. "}")
