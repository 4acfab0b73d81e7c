-- Texts of tables: each table gets a number that must be released with it.
--! ends: lua.limit.memory lua.limit.instructions
while true do tostring({}) end
