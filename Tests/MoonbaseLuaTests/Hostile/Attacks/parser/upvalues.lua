-- More upvalues than a function may have.
--! ends: lua.runtime lua.stack
local names = {}
for i = 1, 150 do names[i] = "a" .. i .. "_" end
local list = table.concat(names, ",")
assert(load("local " .. list .. " return function() local " .. list:gsub("_", "b") .. " return function() return "
  .. list:gsub(",", "+") .. "+" .. list:gsub("_", "b"):gsub(",", "+") .. " end end"))
