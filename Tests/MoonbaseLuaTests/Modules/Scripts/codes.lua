local base64, hex = require "moonbase.base64", require "moonbase.hex"

-- The vectors of RFC 4648, and others.
local base64_vectors = {
  { "", "" }, { "f", "Zg==" }, { "fo", "Zm8=" }, { "foo", "Zm9v" }, { "foob", "Zm9vYg==" }, { "fooba", "Zm9vYmE=" },
  { "foobar", "Zm9vYmFy" }, { "\0", "AA==" }, { "\255\254\253", "//79" }, { "\251\239\190", "++++" },
}
local base64_wrong = {
  { "Zg=", "no multiple of 4" }, { "Zg", "no multiple of 4" }, { "Z===", "no letter" }, { "====", "no letter" },
  { "Zm 8=", 'byte 3: " "' }, { "Zm9v\n", "byte 5" }, { "Zm9\n", "no letter" }, { "Zm-_", 'byte 3: "-"' },
  { "Y Q==", 'byte 2: " "' }, { "\xFF", "byte 1" }, { "Zm9vé", "byte 5" },
  { "Zh==", "bits that stand for nothing" }, { "Zm9=", "bits that stand for nothing" }, { "=Zg=", 'byte 1: "="' },
  { "Zg==Zg==", 'byte 3: "="' }, { "Zm9vé7=", "no letter" },
}

local all = {}
for code = 0, 255 do all[#all + 1] = string.char(code) end
all = table.concat(all)

return {
  ["base64 there and back"] = function(t)
    for _, pair in ipairs(base64_vectors) do
      t.equal(base64.encode(pair[1]), pair[2])
      t.equal(base64.decode(pair[2]), pair[1])
    end
    for length = 0, 256 do
      local bytes = all:sub(1, length)
      t.equal(base64.decode(base64.encode(bytes)), bytes)
      t.equal(base64.decode(base64.encode(bytes, { url = true }), { url = true }), bytes)
    end
  end,
  ["base64 for URLs"] = function(t)
    t.equal(base64.encode("\255\254\253\251", { url = true }), "__79-w")
    t.equal(base64.encode("f", { url = true, padding = true }), "Zg==")
    t.equal(base64.encode("f", { padding = false }), "Zg")
    t.equal(base64.decode("Zg", { padding = false }), "f")
    t.faults("no letter", base64.decode, "//79", { url = true })
    t.faults("left over", base64.decode, "Z", { url = true })
  end,
  ["no base64"] = function(t)
    for _, pair in ipairs(base64_wrong) do t.faults(pair[2], base64.decode, pair[1]) end
    t.raises("string expected", base64.encode, 1)
    t.raises("has no option", base64.encode, "", { uri = true })
  end,
  ["hex there and back"] = function(t)
    t.equal(hex.encode "\0\1\127\255", "00017fff")
    t.equal(hex.encode("\xAB\xCD", { upper = true }), "ABCD")
    t.equal(hex.decode "00017FfF", "\0\1\127\255")
    t.equal(hex.decode(hex.encode(all)), all)
    t.equal(hex.decode "", "")
  end,
  ["no hex"] = function(t)
    t.faults("byte 3: a single digit", hex.decode, "abc")
    t.faults('byte 2: "g"', hex.decode, "ag")
    t.faults("no hexadecimal digit", hex.decode, "0x")
    t.faults("no hexadecimal digit", hex.decode, "ab cd")
    t.raises("string expected", hex.decode)
  end,
  ["long ones take linear time"] = function(t)
    local long = all:rep(1000)
    t.equal(base64.decode(base64.encode(long)), long)
    t.equal(hex.decode(hex.encode(long)), long)
  end,
}
