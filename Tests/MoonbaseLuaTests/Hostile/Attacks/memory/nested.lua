-- A table in a table in a table.
--! ends: lua.limit.memory
--! with: instructions=1M
local t = {}
while true do t = { t } end
