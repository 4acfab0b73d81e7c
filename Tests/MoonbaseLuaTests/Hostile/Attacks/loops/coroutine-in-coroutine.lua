-- A loop some coroutines down.
--! ends: lua.limit.instructions
--! timed
local function down(n) if n == 0 then while true do end end coroutine.wrap(down)(n - 1) end
down(50)
