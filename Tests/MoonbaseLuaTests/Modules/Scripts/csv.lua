local csv = require "moonbase.csv"

-- A text and its fields, without header; false stands for no value.
local texts = {
  { "a,b\r\n1,2\r\n", { { "a", "b" }, { "1", "2" } } }, { "a,b\n1,2", { { "a", "b" }, { "1", "2" } } },
  { "a\rb\r", { { "a" }, { "b" } } }, { "", {} }, { "\n\n", {} }, { "a,,c", { { "a", false, "c" } } },
  { 'a,"",c', { { "a", "", "c" } } }, { ",", { { false, false } } }, { '""', { { "" } } },
  { '"a,b","c\nd","e""f"', { { "a,b", "c\nd", 'e"f' } } }, { '"a\r\nb"\r\nc', { { "a\r\nb" }, { "c" } } },
  { '""""', { { '"' } } }, { '""""""', { { '""' } } }, { " a , b ", { { " a ", " b " } } },
  { "a\n\nb", { { "a" }, { "b" } } }, { "é,€\n", { { "é", "€" } } }, { "a,\n", { { "a", false } } },
  { "\xEF\xBB\xBFa,b", { { "a", "b" } } }, { 'a,"b"\n', { { "a", "b" } } }, { "'a,b'", { { "'a", "b'" } } },
}

local wrong = {
  { 'a,"b', "line 1: a quote is opened and not closed" }, { 'a\nb,"c\nd', "line 2: a quote is opened" },
  { 'a,b"c', "line 1: a quote within a field" }, { '"a"b,c', "must follow the closing quote" },
  { '1\n"a" ,b', "line 2: a separator or a line end" }, { '"a\nb""\n"x,1', "line 3: a separator" },
}

local function plain(rows)
  for _, row in ipairs(rows) do
    for index = 1, row.n do if row[index] == nil then row[index] = false end end
    row.n = nil
  end
  return rows
end

-- A source that returns a text in pieces of a size.
local function pieces(text, size)
  local at = 1
  return function()
    if at > #text then return nil end
    local piece = text:sub(at, at + size - 1)
    at = at + size
    return piece
  end
end

local function collect(...)
  local rows = {}
  for row in csv.rows(...) do rows[#rows + 1] = row end
  return rows
end

return {
  ["fields, quotes and line ends"] = function(t)
    for _, pair in ipairs(texts) do
      t.equal(plain(csv.decode(pair[1], { header = false })), pair[2], pair[1])
    end
  end,
  ["pieces of any size give the same rows"] = function(t)
    for _, pair in ipairs(texts) do
      for size = 1, 5 do
        t.equal(plain(collect(pieces(pair[1], size), { header = false })), pair[2], size .. ": " .. pair[1])
      end
    end
  end,
  ["windows of a long text give the same rows"] = function(t)
    local parts = {}
    for index = 1, 20000 do
      parts[index] = index .. ',"line\r\n' .. index .. '",' .. string.rep("x", index % 7) .. "\r\n"
    end
    local text, count = table.concat(parts), 0
    for row, line in csv.rows(pieces(text, 1000), { header = false }) do
      count = count + 1
      if row[1] ~= tostring(count) or row[2] ~= "line\r\n" .. count or line ~= 2 * count - 1 then
        error("row " .. count .. " is wrong")
      end
    end
    t.equal(count, 20000)
  end,
  ["what is wrong is told with its line"] = function(t)
    for _, pair in ipairs(wrong) do
      t.faults(pair[2], csv.decode, pair[1], { header = false })
      t.raises(pair[2], collect, pieces(pair[1], 3), { header = false })
    end
  end,
  ["rows by column name"] = function(t)
    t.equal(csv.decode "name,age\nScarlet,32\nBlue,\n", { { name = "Scarlet", age = "32" }, { name = "Blue" } })
    t.equal(csv.decode("1,2\n3,4", { header = { "a", "b" } }), { { a = "1", b = "2" }, { a = "3", b = "4" } })
    t.equal(csv.decode "name,age\n", {})
    t.equal(csv.decode "", {})
  end,
  ["headers are checked"] = function(t)
    t.faults('line 1: two columns are named "a"', csv.decode, "a,b,a\n1,2,3")
    t.faults("column 2 has no name", csv.decode, "a,,c\n")
    t.faults("column 1 has no name", csv.decode, '"",c\n')
    t.raises("two columns", csv.rows, "x", { header = { "a", "a" } })
    local faults = 0
    t.equal(csv.decode("a,a\n1,2\n", { on_fault = function() faults = faults + 1 end }), {})
    t.equal(faults, 1)
  end,
  ["rows of another width"] = function(t)
    t.faults("line 3: 1 field where 2 are expected", csv.decode, "a,b\n1,2\n3\n")
    t.faults("line 2: 3 fields where 2 are expected", csv.decode, "a,b\n1,2,3\n")
    t.equal(csv.decode("a,b\n1\n1,2,3\n", { ragged = true }), { { a = "1" }, { a = "1", b = "2" } })
  end,
  ["faulty rows can be passed over"] = function(t)
    local lines, names = {}, {}
    local text = 'name,age\nA,1\nB\n"C"x,3\nD,4\nE,"5\n'
    for row in csv.rows(text, { on_fault = function(fault) lines[#lines + 1] = fault.line end }) do
      names[#names + 1] = row.name
    end
    t.equal(names, { "A", "D" })
    t.equal(lines, { 3, 4, 6 })
  end,
  ["rows know the line they begin in"] = function(t)
    local lines = {}
    for _, line in csv.rows 'a\n"1\n2"\n\n3\n' do lines[#lines + 1] = line end
    t.equal(lines, { 2, 4, 5 })
  end,
  ["a single column has rows without a value"] = function(t)
    t.equal(csv.decode "a\n1\n\n3\n", { { a = "1" }, {}, { a = "3" } })
  end,
  ["other separators, quotes and nulls"] = function(t)
    t.equal(csv.decode("a;b\n'x;y';NULL\n", { separator = ";", quote = "'", null = "NULL" }), { { a = "x;y" } })
    t.equal(csv.decode("a\tb\n1\t\n", { separator = "\t" }), { { a = "1" } })
    t.equal(csv.decode("a^b\n1^%2\n", { separator = "^" }), { { a = "1", b = "%2" } })
    t.equal(csv.decode("a]b\n1]%x%%y%\n", { separator = "]", quote = "%" }), { { a = "1", b = "x%y" } })
    t.equal(csv.decode('a,b\n,""\n', { null = "-" }), { { a = "", b = "" } })
    t.raises("one character", csv.rows, "", { separator = ",," })
    t.raises("the same", csv.rows, "", { separator = '"' })
    t.raises("has no option 'seperator'", csv.rows, "", { seperator = ";" })
    t.raises("expected, got no value", csv.rows)
  end,
  ["written rows read as they were"] = function(t)
    local rows = {
      { name = "Scarlet", note = 'say "hi"', size = "1,5" }, { name = "two\nlines", note = "", size = " x " },
      { name = "none" },
    }
    local text = csv.encode(rows, { columns = { "name", "note", "size" } })
    t.equal(text, 'name,note,size\r\nScarlet,"say ""hi""","1,5"\r\n"two\nlines",""," x "\r\nnone,,\r\n')
    t.equal(csv.decode(text), rows)
  end,
  ["values in their text forms"] = function(t)
    t.raises("the row has 'b', which is no column", csv.encode, { { a = 1 }, { b = 1 } })
    t.equal(csv.encode { { 1, 1.5, 2.0, true, "x", n = 6 } }, "1,1.5,2.0,true,x,\r\n")
    t.equal(csv.encode({ { b = 1, a = 2 } }, { newline = "\n" }), "a,b\n2,1\n")
    t.equal(csv.encode({ { a = "NULL" }, {} }, { null = "NULL", newline = "\n" }), 'a\n"NULL"\nNULL\n')
    t.equal(csv.encode({}, { columns = { "a", "b" } }), "a,b\r\n")
    t.equal(csv.encode({ { a = 1 } }, { header = false }), "1\r\n")
    t.equal(csv.encode({ { 1, 2 } }, { columns = { "x", "y" }, separator = ";", newline = "\n" }), "x;y\n1;2\n")
    t.raises("a: CSV has no form for a table", csv.encode, { { a = {} } })
    t.raises("CSV has no form for NaN", csv.encode, { { 0 / 0 } })
    t.raises("the row has 'b', which is no column", csv.encode, { { a = 1 }, { b = 2 } })
    t.raises("one character", csv.encode, {}, { separator = "" })
  end,
  ["a writer writes as rows come"] = function(t)
    local parts = {}
    local writer = csv.writer(function(text) parts[#parts + 1] = text end, { columns = { "a" }, newline = "\n" })
    writer:row({ a = 1 }):row({ a = 2 })
    t.equal(parts, { "a\n", "1\n", "2\n" })
    t.raises("table expected, got number", writer.row, writer, 1)
    t.raises("expected, got no value", csv.writer)
  end,
  ["hostile texts take linear time"] = function(t)
    t.faults("not closed", csv.decode, '"' .. string.rep('""', 100000), { header = false })
    t.equal(#csv.decode(string.rep(",", 50000), { header = false }), 1)
    t.faults("not closed", csv.decode, string.rep('"a""', 1) .. string.rep("x\n", 100000))
    local count = 0
    for _ in csv.rows(string.rep('"a"b\n', 20000), { header = false, on_fault = function() count = count + 1 end }) do
    end
    t.equal(count, 20000)
    t.equal(#collect(pieces('"' .. string.rep("x\n", 200000) .. '"', 4096), { header = false }), 1)
  end,
  ["rows without a header go on as JSON"] = function(t)
    local json = require "moonbase.json"
    t.equal(json.encode(csv.decode("1,,x\n,,\n", { header = false })), '[["1",null,"x"],[null,null,null]]')
  end,
  ["a missing file is told of"] = function(t)
    t.raises("'rows' (text, open file or iterator of pieces expected, got no value: x: No such file)",
      csv.rows, nil, "x: No such file")
    t.raises("got no value)", csv.rows)
  end,
}
