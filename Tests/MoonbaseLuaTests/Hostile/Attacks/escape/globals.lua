-- Globals are the script's own: changes are invisible to other scripts.
--! ends: lua.ok
--! not in trusted: trusted has one script's world only
local mine = _G
for name in pairs(mine) do mine[name] = nil end
_ENV = nil
