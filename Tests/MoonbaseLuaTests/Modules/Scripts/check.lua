-- Helpers of the module tests. Given the cases of a file, runs them and returns a text for each failure.

local t = {}

local function show(value, depth)
  if type(value) == "string" then return string.format("%q", value) end
  if type(value) ~= "table" or getmetatable(value) or (depth or 0) > 4 then return tostring(value) end
  local parts = {}
  for key, element in pairs(value) do parts[#parts + 1] = show(key, 5) .. "=" .. show(element, (depth or 0) + 1) end
  table.sort(parts)
  return "{" .. table.concat(parts, ", ") .. "}"
end

local function same(one, other)
  if math.type(one) ~= math.type(other) then return false end
  if one == other then return one ~= 0 or math.type(one) ~= "float" or 1 / one == 1 / other end
  if type(one) ~= "table" or type(other) ~= "table" or getmetatable(one) ~= getmetatable(other) then return false end
  for key, value in pairs(one) do if not same(value, other[key]) then return false end end
  for key in pairs(other) do if one[key] == nil then return false end end
  return true
end

--- Expects equal values: tables by content, integers and floats distinct.
function t.equal(got, expected, what)
  if not same(got, expected) then
    error((what and what .. ": " or "") .. "got " .. show(got) .. ", expected " .. show(expected), 2)
  end
end

function t.close(got, expected, epsilon)
  if not (math.abs(got - expected) <= (epsilon or 1e-9)) then
    error("got " .. show(got) .. ", expected about " .. show(expected), 2)
  end
end

--- Expects the call to raise a value whose text contains `part`.
function t.raises(part, f, ...)
  local ok, problem = pcall(f, ...)
  if ok then error("nothing was raised, expected " .. show(part), 2) end
  if not tostring(problem):find(part, 1, true) then
    error("raised " .. show(tostring(problem)) .. ", expected " .. show(part), 2)
  end
end

--- Expects the call to return nil and a fault whose text contains `part`.
function t.faults(part, f, ...)
  local value, fault = f(...)
  if value ~= nil then error("gave " .. show(value) .. ", expected the fault " .. show(part), 2) end
  if not require "moonbase.fault".is(fault) then error("gave no fault but " .. show(fault), 2) end
  if not tostring(fault):find(part, 1, true) then
    error("gave the fault " .. show(tostring(fault)) .. ", expected " .. show(part), 2)
  end
end

return function(cases)
  local failures, count = {}, 0
  for name, case in pairs(cases) do
    count = count + 1
    local ok, problem = pcall(case, t)
    if not ok then failures[#failures + 1] = name .. ": " .. tostring(problem) end
  end
  table.sort(failures)
  return count, table.unpack(failures)
end
