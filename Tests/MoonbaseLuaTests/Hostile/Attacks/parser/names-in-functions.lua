-- Names that are looked up in sixty functions of two hundred variables each.
--! ends: lua.ok
--! with: instructions=10M memory=64M
--! not in trusted: trusted has the system library's load
local names = {}
for i = 1, 190 do names[i] = "v" .. i end
local open = "return function() local " .. table.concat(names, ",") .. " "
assert(not load(open:rep(60) .. "return {" .. ("x,"):rep(400000) .. "}" .. (" end"):rep(60)))
