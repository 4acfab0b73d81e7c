-- Texts of tables: each gets a number that must go with it.
--! ends: lua.limit.memory lua.limit.instructions
while true do tostring({}) end
