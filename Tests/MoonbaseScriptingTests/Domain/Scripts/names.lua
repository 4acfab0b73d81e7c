-- luacheck: globals moonbase
-- Names of people and lists of people, for an extension and for the script that recomputes its values.
local names = {}

function names.label(name, age) return (name or "-") .. ":" .. (age or 0) end

-- The names of a list in order.
function names.joined(list)
  local sorted = {}
  for i = 1, #list do sorted[i] = list[i] == moonbase.null and "-" or list[i] or "-" end
  table.sort(sorted)
  return table.concat(sorted, ",")
end

function names.of(members)
  local list = {}
  for member in members:each() do list[#list + 1] = member.name or "-" end
  return names.joined(list)
end

return names
