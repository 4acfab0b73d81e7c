local color = require "moonbase.color"
local Color = color.Color

local texts = {
  { "#1e90ff", "#1e90ff" }, { "#1E90FF", "#1e90ff" }, { "#fff", "#ffffff" }, { "#f008", "#ff000088" },
  { "#11223344", "#11223344" }, { "red", "#ff0000" }, { "RebeccaPurple", "#663399" }, { "grey", "#808080" },
  { "rgb(255, 0, 128)", "#ff0080" }, { "rgb(100%,0%,50%)", "#ff0080" }, { "rgba(0,0,0,0.5)", "#00000080" },
  { "rgb(1 2 3 / 50%)", "#01020380" }, { "hsl(120, 100%, 25%)", "#008000" }, { "hsla(0,100%,50%,1)", "#ff0000" },
  { "transparent", "#00000000" }, { "hsl(210deg 100% 56%)", "#1f8fff" }, { "RGB(999,0,0)", "#ff0000" },
}
local wrong = { "", "#", "#12", "#12345", "#1e90fg", "#c8a2zz", "rot", "rgb(1,2)", "rgb(1,2,3,4,5)", "rgb(a,b,c)",
  "hsl(x,1%,1%)", "rgb(1,2,3", "rgb 1 2 3", "#1e90ff ", string.rep("#", 100000),
  "rgb(" .. string.rep("1,", 90000) .. ")" }

return {
  ["text forms"] = function(t)
    for _, pair in ipairs(texts) do t.equal(tostring(color.parse(pair[1])), pair[2], pair[1]) end
    for _, text in ipairs(wrong) do t.faults("is no colour", color.parse, text) end
  end,
  ["parts"] = function(t)
    local c = color.new(1, 0.5, 0)
    t.equal({ c.r, c.g, c.b, c.a }, { 1.0, 0.5, 0.0, 1.0 })
    t.raises("bad argument #1 to 'new' (number from 0 to 1 expected, got 2)", color.new, 2, 0, 0)
    t.raises("got no value", color.new, 1, 1)
    t.raises("from 0 to 1 expected, got NaN", color.new, 0 / 0, 0, 0)
    t.equal(color.new(1, 0, 0) == color.parse "red", true)
    t.equal(color.new(1, 0, 0) == color.new(1, 0, 0, 0.5), false)
    t.equal(c:with_alpha(0).a, 0.0)
  end,
  ["bytes"] = function(t)
    local c = color.new(0.1, 0.2, 0.3, 0.4)
    t.equal(c:pack(), string.pack("<dddd", 0.1, 0.2, 0.3, 0.4))
    t.equal(color.unpack(c:pack()) == c, true)
    t.faults("32 bytes", color.unpack, "x")
    for _, wrong_part in ipairs { 0 / 0, 1 / 0, -0.1, 1.1 } do
      t.faults("a part of a colour is 0 to 1", color.unpack, string.pack("<dddd", wrong_part, 0, 0, 1))
      t.faults("a part of a colour is 0 to 1", color.unpack, string.pack("<dddd", 0, 0, 0, wrong_part))
    end
    t.faults("not NaN", color.unpack, string.pack("<dddd", 0 / 0, 0, 0, 1))
  end,
  ["what the eye sees"] = function(t)
    local black, white = color.parse "black", color.parse "white"
    t.equal({ black:luminance(), white:luminance() }, { 0.0, 1.0 })
    t.close(black:contrast(white), 21)
    t.close(color.parse("#1e90ff"):luminance(), 0.27442, 1e-4)
    t.equal({ color.parse("lime"):to_hsl() }, { 120.0, 1.0, 0.5 })
    t.equal({ color.parse("grey"):to_hsl() }, { 0.0, 0.0, 128 / 255 })
    t.equal(tostring(black:mix(white)), "#808080")
    t.equal(tostring(color.hsl(240, 1, 0.5)), "#0000ff")
    t.equal(tostring(color.hsl(-120, 1, 0.5)), "#0000ff")
  end,
  ["the class cannot be changed"] = function(t)
    t.raises("frozen", function() Color.parse = nil end)
    t.equal(getmetatable(color.new(0, 0, 0)) == Color, true)
  end,
}
