extension ScriptTests {
  /// Makes the argument of tests, given a function that compares a text with its snapshot. The chunk returns the table
  /// `t` with `equal`, `fails` and `snapshot`. Used by `moonbase test`.
  static let tools = """
    local compare = ...

    \(SameValues.definition)

    local function shown(value, depth)
      if type(value) == "string" then return ("%q"):format(value) end
      if type(value) ~= "table" or getmetatable(value) or depth > 8 then return tostring(value) end
      local keys, parts = {}, {}
      for key in next, value do if math.type(key) ~= "integer" or key < 1 or key > #value then keys[#keys + 1] = key end end
      table.sort(keys, function(a, b) return tostring(a) < tostring(b) end)
      for _, element in ipairs(value) do parts[#parts + 1] = shown(element, depth + 1) end
      for _, key in ipairs(keys) do
        local name = type(key) == "string" and key:match("^[%a_][%w_]*$") or "[" .. shown(key, depth + 1) .. "]"
        parts[#parts + 1] = name .. " = " .. shown(value[key], depth + 1)
      end
      return #parts == 0 and "{}" or "{ " .. table.concat(parts, ", ") .. " }"
    end

    local function is_plain(value) return type(value) == "table" and not getmetatable(value) end

    -- The places in which tables differ, each a line.
    local function differences(value, expected, path, lines)
      if same(value, expected) or #lines > 10 then return lines end
      if not (is_plain(value) and is_plain(expected)) then
        lines[#lines + 1] = #lines == 10 and "  and more" or
          ("  %s: %s, expected %s"):format(path:gsub("^%.", ""), shown(value, 1), shown(expected, 1))
        return lines
      end
      local keys, seen = {}, {}
      for _, side in ipairs { value, expected } do
        for key in next, side do if not seen[key] then seen[key] = true keys[#keys + 1] = key end end
      end
      table.sort(keys, function(a, b)
        if math.type(a) and math.type(b) then return a < b end
        return tostring(a) < tostring(b)
      end)
      for _, key in ipairs(keys) do
        local name = type(key) == "string" and key:match("^[%a_][%w_]*$")
        differences(value[key], expected[key], path .. (name and "." .. name or "[" .. shown(key, 1) .. "]"), lines)
      end
      return lines
    end

    local t = {}

    function t.equal(value, expected, message)
      if same(value, expected) then return end
      local left, right = shown(value, 1), shown(expected, 1)
      local text = left .. " is not " .. right
      if left == right then text = text .. ": the types or digits that are not shown differ" end
      if #text > 60 and is_plain(value) and is_plain(expected) then
        text = "the tables differ:\\n" .. table.concat(differences(value, expected, "", {}), "\\n")
      end
      error(message and message .. ": " .. text or text, 2)
    end

    function t.fails(body, code)
      local results = table.pack(pcall(body))
      local err = results[2]
      if results[1] then
        if results.n < 3 or err ~= nil then
          error("it does not fail: where a call returns nil and an error, let the function return them", 2)
        end
        err = results[3]
      end
      if type(code) == "string" then
        if not tostring(err):find(code, 1, true) then error("it fails with " .. tostring(err), 2) end
      elseif code then
        local there, found = pcall(function() return err.code end)
        if not there or found ~= code then
          error("it fails with " .. (there and "code " .. tostring(found) .. ": " or "") .. tostring(err), 2)
        end
      end
      tostring(err)
      return err
    end

    function t.snapshot(value)
      local problem = compare(shown(value, 1))
      if problem then error(problem, 2) end
    end

    return t
    """
}
