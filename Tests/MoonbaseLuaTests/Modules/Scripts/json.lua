local json = require "moonbase.json"
local null = json.null

-- Pairs of a text and a value, converted both ways.
local pairs_of = {
  { "null", null }, { "true", true }, { "false", false }, { "0", 0 }, { "-1", -1 }, { "-0.0", -0.0 },
  { "9223372036854775807", math.maxinteger }, { "-9223372036854775808", math.mininteger },
  { "9007199254740993", 9007199254740993 }, { "1.0", 1.0 }, { "0.1", 0.1 }, { "1e+300", 1e300 },
  { "0.30000000000000004", 0.1 + 0.2 }, { "4.94065645841247e-324", 5e-324 }, { '""', "" }, { '"a"', "a" },
  { '"é€𝄞"', "é€𝄞" },
  { '"\\"\\\\\\b\\f\\n\\r\\t"', '"\\\b\f\n\r\t' }, { '"\\u0000\\u001f"', "\0\31" }, { '"\127"', "\127" },
  { "[]", {} }, { "{}", {} }, { "[1,2,3]", { 1, 2, 3 } }, { "[null]", { null } }, { "[[],{}]", { {}, {} } },
  { '{"a":1,"b":[true,null]}', { a = 1, b = { true, null } } }, { '{"":0}', { [""] = 0 } },
  { '{"1":1}', { ["1"] = 1 } }, { '[[[[1]]]]', { { { { 1 } } } } }, { '{"é":"ü"}', { ["é"] = "ü" } },
}

-- Further texts and their values.
local readings = {
  { " \t\r\n1 \n", 1 }, { "-0", -0.0 }, { "1E2", 100.0 }, { "1e-2", 0.01 }, { "1.5e+3", 1500.0 },
  { '"\\u0041\\u00e9\\u20AC"', "Aé€" }, { '"\\ud834\\udd1e"', "𝄞" }, { '"\\/"', "/" }, { "\xEF\xBB\xBF[1]", { 1 } },
  { '{ "a" : [ 1 , 2 ] }', { a = { 1, 2 } } }, { '"x\\u0000y"', "x\0y" },
}

-- Invalid texts and their errors.
local wrong = {
  { "", "line 1, column 1: a value is expected, the text ends" }, { "  ", "column 3: a value is expected" },
  { "nul", "a value is expected, found 'n'" }, { "True", "found 'T'" }, { "nullx", "nothing may follow the value" },
  { "1 2", "column 3: nothing may follow the value, found '2'" },
  { "[1,]", "column 4: a value is expected, found ']'" },
  { "[1 2]", "',' or ']' is expected, found '2'" }, { "[1", "',' or ']' is expected, the text ends" },
  { "{a:1}", "a name in quotes is expected, found 'a'" }, { '{"a" 1}', "':' is expected, found '1'" },
  { '{"a":1,}', "a name in quotes is expected, found '}'" }, { '{"a":1', "',' or '}' is expected, the text ends" },
  { '{"a":1,"a":2}', 'column 8: the name "a" comes twice' }, { "{1:2}", "a name in quotes" },
  { "01", "a number does not begin with 0" }, { "-01", "a number does not begin with 0" },
  { "-", "a digit is missing" },
  { "1.", "a digit is missing after '.'" }, { ".5", "a value is expected, found '.'" }, { "1e", "no digit" },
  { "+1", "found '+'" }, { "0x10", "nothing may follow" }, { "NaN", "found 'N'" }, { "Infinity", "found 'I'" },
  { "1e400", "too large" }, { "-1e400", "too large" }, { "9223372036854775808", "does not fit 64 bits" },
  { "-9223372036854775809", "does not fit 64 bits" }, { '"abc', "the string does not end" },
  { '"a\nb"', "character 10 must be escaped" }, { '"\\x"', "'\\' is followed by none of" },
  { '"\\u12g4"', "four hexadecimal digits" }, { '"\\u12', "four hexadecimal digits" },
  { '"\\ud834"', "its second half is missing" }, { '"\\udd1e"', "its first half is missing" },
  { '"\\ud834\\u0041"', "its second half is missing" }, { '"\\', "is followed by none of" },
  { "[\n1,\n  x]", "line 3, column 3: a value is expected, found 'x'" }, { '["é", x]', "line 1, column 7" },
  { "\"\xFF\"", "the text is not UTF-8" }, { "\"\xED\xA0\x80\"", "the text is not UTF-8" },
  { "[1]\0", "nothing may follow the value, found character 0" }, { "'a'", "found '''" }, { "// c\n1", "found '/'" },
  { "]", "found ']'" }, { ",", "found ','" }, { "{", "a name in quotes is expected, the text ends" },
  { string.rep("[", 513) .. string.rep("]", 513), "more than 512 levels" },
  { string.rep("[", 100000), "more than 512 levels" }, { string.rep('{"a":', 600), "more than 512 levels" },
}

local unwritable = {
  { 0 / 0, "NaN" }, { 1 / 0, "infinity" }, { -1 / 0, "infinity" }, { print, "no form for a function" },
  { { 1, nil, 3 }, "holes" }, { { 1, a = 2 }, "neither a list nor an object" }, { { [2] = 1 }, "holes" },
  { { [true] = 1 }, "a key is a boolean" }, { { [1.5] = 1 }, "a key is a number" }, { "\xFF", "not UTF-8" },
  { { a = { b = { "x", 0 / 0 } } }, "a.b.2: JSON has no NaN" }, { coroutine.create(print), "thread" },
}

return {
  ["text and value give each other"] = function(t)
    for _, pair in ipairs(pairs_of) do
      t.equal(json.encode(json.decode(pair[1])), pair[1], "through " .. pair[1])
      t.equal(json.decode(pair[1]), pair[2], pair[1])
    end
  end,
  ["what else is JSON is read"] = function(t)
    for _, pair in ipairs(readings) do t.equal(json.decode(pair[1]), pair[2], pair[1]) end
  end,
  ["what is no JSON is refused with its place"] = function(t)
    for _, pair in ipairs(wrong) do t.faults(pair[2], json.decode, pair[1]) end
  end,
  ["what has no form is not written"] = function(t)
    for _, pair in ipairs(unwritable) do t.raises(pair[2], json.encode, pair[1]) end
    local loop = {}
    loop.a = { loop }
    t.raises("a.1: a table contains itself", json.encode, loop)
    local deep = {}
    for _ = 1, 600 do deep = { deep } end
    t.raises("more than 512 levels", json.encode, deep)
  end,
  ["a table used twice is no cycle"] = function(t)
    local shared = { 1 }
    t.equal(json.encode { shared, shared }, "[[1],[1]]")
  end,
  ["names come in order"] = function(t)
    t.equal(json.encode { b = 1, a = 2, c = { z = 1, y = 2 } }, '{"a":2,"b":1,"c":{"y":2,"z":1}}')
  end,
  ["empty lists stay lists"] = function(t)
    t.equal(json.encode(json.list {}), "[]")
    t.equal(json.encode {}, "{}")
    t.equal(json.encode(json.decode('{"a":[],"b":{}}')), '{"a":[],"b":{}}')
    t.equal(json.is_list(json.decode "[]"), true)
    t.equal(json.is_list(json.decode "{}"), false)
    local grown = json.decode "[]"
    grown[1] = 1
    t.equal(json.encode(grown), "[1]")
  end,
  ["indentation"] = function(t)
    t.equal(json.encode({ a = { 1, 2 }, b = {} }, { indent = 2 }), '{\n  "a": [\n    1,\n    2\n  ],\n  "b": {}\n}')
    t.equal(json.encode({ 1 }, { indent = "\t" }), "[\n\t1\n]")
    t.raises("white space", json.encode, 1, { indent = "x" })
    t.raises("0 to 16", json.encode, 1, { indent = 100 })
  end,
  ["big integers as asked"] = function(t)
    t.equal(json.decode("18446744073709551615", { big = "number" }), 18446744073709551615.0)
    t.equal(json.decode("18446744073709551615", { big = "text" }), "18446744073709551615")
    t.faults("64 bits", json.decode, "1" .. string.rep("0", 400), { big = "number" })
    t.raises("option 'big'", json.decode, "1", { big = "nothing" })
  end,
  ["options are checked"] = function(t)
    t.raises("has no option 'max_dept'", json.decode, "1", { max_dept = 1 })
    t.raises("option 'max_depth' is an integer, not a string", json.decode, "1", { max_depth = "1" })
    t.raises("'max_depth' is an integer, not 1000000000, which is a float", json.decode, "1", { max_depth = 1e9 })
    t.raises("1 to 10000", json.decode, "1", { max_depth = 1000000 })
    t.faults("more than 2 levels", json.decode, "[[[1]]]", { max_depth = 2 })
    t.raises("bad argument #1 to 'decode' (string expected, got no value)", json.decode)
    t.raises("bad argument #1 to 'decode' (string expected, got table)", json.decode, {})
  end,
  ["lists may say their length in n"] = function(t)
    t.equal(json.encode(table.pack(1, nil, 3, nil)), "[1,null,3,null]")
    t.equal(json.encode { n = 2 }, '{"n":2}')
    t.raises("neither a list nor an object", json.encode, { 1, 2, n = 1 })
    t.raises("neither a list nor an object", json.encode, { 1, 2, n = 2, m = 1 })
    t.raises("neither a list nor an object", json.encode, { 1, n = 1.5 })
  end,
  ["long paths are shortened"] = function(t)
    local deep = {}
    local top = deep
    for _ = 1, 600 do
      deep.name = {}
      deep = deep.name
    end
    t.raises("cannot encode as JSON: name.name.name.name … name.name.name: more than 512 levels", json.encode, top)
  end,
  ["a missing file is told of"] = function(t)
    t.raises("'lines' (text, open file or iterator of lines expected, got no value: x: No such file)",
      json.lines, nil, "x: No such file")
  end,
  ["a metatable may say what to write"] = function(t)
    local class = { __tojson = function(self) return { kind = "point", at = { self.x, self.y } } end }
    t.equal(json.encode { setmetatable({ x = 1, y = 2 }, class) }, '[{"at":[1,2],"kind":"point"}]')
    local endless = {}
    endless.__tojson = function() return setmetatable({}, endless) end
    t.raises("more than 512 levels", json.encode, setmetatable({}, endless))
    local own = { __tojson = function(self) return self end }
    t.raises("gives the table itself", json.encode, setmetatable({}, own))
    local failing = { __tojson = function() error "no" end }
    t.raises("no", json.encode, setmetatable({}, failing))
  end,
  ["tables with __pairs are walked by it"] = function(t)
    local proxy = setmetatable({}, {
      __index = { a = 1 }, __pairs = function() return next, { a = 1 }, nil end, __len = function() return 0 end,
    })
    t.equal(json.encode(proxy), '{"a":1}')
  end,
  ["lines of a text"] = function(t)
    local seen = {}
    for value, line in json.lines('{"a":1}\n\n[2]\r\n3') do seen[#seen + 1] = { value, line } end
    t.equal(seen, { { { a = 1 }, 1 }, { { 2 }, 3 }, { 3, 4 } })
  end,
  ["a faulty line is raised or handed over"] = function(t)
    t.raises("line 2, column 1: a value is expected", function() for _ in json.lines("1\nx\n3") do end end)
    local seen, faults = {}, {}
    for value in json.lines("1\nx\n3", nil, function(fault) faults[#faults + 1] = fault.line end) do
      seen[#seen + 1] = value
    end
    t.equal(seen, { 1, 3 })
    t.equal(faults, { 2 })
  end,
  ["lines of an iterator"] = function(t)
    local lines, at = { "1", "2" }, 0
    local sum = 0
    for value in json.lines(function() at = at + 1 return lines[at] end) do sum = sum + value end
    t.equal(sum, 3)
  end,
  ["long texts take linear time"] = function(t)
    local many = {}
    for index = 1, 20000 do many[index] = index end
    t.equal(#json.decode(json.encode(many)), 20000)
    t.equal(#json.decode('"' .. string.rep("\\n", 50000) .. '"'), 50000)
    t.faults("the string does not end", json.decode, '"' .. string.rep("a", 200000))
    t.faults("expected", json.decode, string.rep(" ", 200000))
    t.faults("does not fit", json.decode, string.rep("1", 200000))
  end,
}
