-- Missing modules are required without end.
--! ends: lua.limit.instructions
--! with: instructions=20000
--! timed
while true do pcall(require, "nothing") end
