local geometry = require "moonbase.geometry"
local Point, Size, Rect, Range = geometry.Point, geometry.Size, geometry.Rect, geometry.Range

-- As NSStringFromPoint, NSStringFromRect, NSStringFromRange write them.
local texts = {
  { Point.new(0, 0), "{0, 0}" }, { Point.new(1.5, -2), "{1.5, -2}" },
  { Point.new(0.1, 1 / 3), "{0.10000000000000001, 0.33333333333333331}" },
  { Point.new(1e20, 1e-7), "{1e+20, 9.9999999999999995e-08}" },
  { Point.new(-0.0, 123456789), "{0, 123456789}" }, { Size.new(10, 20.25), "{10, 20.25}" },
  { Rect.new(1, 2, 3, 4), "{{1, 2}, {3, 4}}" }, { Rect.new(-1.5, 0, 1e100, 2), "{{-1.5, 0}, {1e+100, 2}}" },
  { Rect.new(math.huge, math.huge, 0, 0), "{{inf, inf}, {0, 0}}" }, { Range.new(3, 5), "{3, 5}" },
  { Range.new(0, math.maxinteger), "{0, 9223372036854775807}" },
}

local wrong = {
  { Point, { "", "{1}", "{1,2", "1, 2", "{1, 2} x", "{a, b}", "{1, 2, 3}", "{0x10, 1}", "{nan, 1}", "{1e999, 0}",
    "{{1, 2}, {3, 4}}", "{1 2}", "{1., .}", string.rep("{", 10000), "{" .. string.rep("1", 10000) .. "x, 1}" } },
  { Size, { "", "{1;2}", "{, }" } },
  { Rect, { "", "{1, 2}", "{{1, 2}, {3}}", "{{1, 2} {3, 4}}", "{{1, 2}, {3, 4}", "{{{1, 2}, {3, 4}}}" } },
  { Range, { "", "{1}", "{-1, 2}", "{1.5, 2}", "{1, 99999999999999999999}" } },
}

return {
  ["Foundation's text forms"] = function(t)
    for _, pair in ipairs(texts) do
      t.equal(tostring(pair[1]), pair[2])
      t.equal(getmetatable(pair[1]).parse(pair[2]) == pair[1], true, pair[2])
    end
  end,
  ["white space is free, and so are other forms of numbers"] = function(t)
    t.equal(Rect.parse " { {1,2} ,{ 3.0 , 4e0 } } " == Rect.new(1, 2, 3, 4), true)
    t.equal(Point.parse "{+1, -.5}" == Point.new(1, -0.5), true)
    t.equal(Rect.parse "{{1.0, 2.5}, {3.0, 4.0}}" == Rect.new(1, 2.5, 3, 4), true, "as Linux writes it")
  end,
  ["what is none"] = function(t)
    for _, pair in ipairs(wrong) do
      for _, text in ipairs(pair[2]) do t.faults("is expected", pair[1].parse, text) end
    end
    t.raises("string expected, got number", Rect.parse, 1)
    t.raises("bad argument #2 to 'Point.new' (number expected, got no value)", Point.new, 1)
    t.raises("got NaN", Size.new, 0 / 0, 1)
    t.raises("at least 0", Range.new, -1, 2)
    t.raises("at least 0", Range.new, 1.5, 2)
  end,
  ["coordinates are floats, places integers"] = function(t)
    t.equal(Point.new(1, 2).x, 1.0)
    t.equal(Range.new(1.0, 2).location, 1)
  end,
  ["arithmetic and equality"] = function(t)
    t.equal(tostring(Point.new(1, 2) + Point.new(3, 4)), "{4, 6}")
    t.equal(tostring(Point.new(1, 2) - Point.new(3, 4)), "{-2, -2}")
    t.equal(tostring(2 * Point.new(1, 2)), "{2, 4}")
    t.equal(tostring(Size.new(1, 2) * 3), "{3, 6}")
    t.equal(tostring(-Point.new(1, 0)), "{-1, 0}")
    t.equal(Point.new(0, 0):distance(Point.new(3, 4)), 5.0)
    t.equal(Point.new(1, 2) == Point.new(1, 2), true)
    t.equal(Rect.new(1, 2, 3, 4) == Rect.new(Point.new(1, 2), Size.new(3, 4)), true)
    t.equal(Range.new(1, 2) == Range.new(1, 3), false)
  end,
  ["wrong operands and arguments are named"] = function(t)
    t.raises("'+' of a Point takes another Point, not a number", function() return Point.new(1, 2) + 1 end)
    t.raises("'-' of a Point takes another Point, not a Size", function() return Point.new(1, 2) - Size.new(1, 2) end)
    t.raises("'*' of a Size takes a number, not a Size", function() return Size.new(1, 2) * Size.new(1, 2) end)
    t.raises("'distance' (Point expected, got a string)", function() Point.new(1, 2):distance "x" end)
    t.raises("(Point or Rect expected, got no value)", function() Rect.new(1, 2, 3, 4):contains() end)
    t.raises("(Range expected, got a table)", function() Range.new(1, 2):union {} end)
  end,
  ["values have no other fields"] = function(t)
    local p = Point.new(1, 2)
    p.x = 3.0
    t.equal({ p.x, p.z }, { 3.0, nil })
    t.raises("a Point has no field 'z'", function() p.z = 5 end)
    t.raises("a Rect has no field 'w'", function() Rect.new(1, 2, 3, 4).w = 5 end)
  end,
  ["rectangles"] = function(t)
    local r = Rect.new(0, 0, 10, 20)
    t.equal({ r:contains(Point.new(0, 0)), r:contains(Point.new(10, 5)), r:contains(Rect.new(1, 1, 9, 19)),
      r:contains(Rect.new(1, 1, 10, 1)) }, { true, false, true, false })
    t.equal(tostring(r:intersection(Rect.new(5, 5, 10, 10))), "{{5, 5}, {5, 10}}")
    t.equal(r:intersection(Rect.new(10, 0, 1, 1)), nil)
    t.equal(tostring(r:union(Rect.new(-5, 5, 1, 1))), "{{-5, 0}, {15, 20}}")
    t.equal(r:union(Rect.new(50, 50, 0, 0)) == r, true)
    t.equal(tostring(r:inset(1, 2)) .. tostring(r:offset(1, 2)), "{{1, 2}, {8, 16}}{{1, 2}, {10, 20}}")
    t.equal(tostring(r:center()) .. tostring(r:origin()) .. tostring(r:size()), "{5, 10}{0, 0}{10, 20}")
    t.equal({ r:area(), r:is_empty(), Rect.new(0, 0, 0, 5):is_empty() }, { 200.0, false, true })
    t.equal(Rect.new(0, 0, -5, 5):area(), 0.0)
  end,
  ["ranges"] = function(t)
    t.raises("ends beyond the greatest integer", Range.new, math.maxinteger, math.maxinteger)
    t.faults("is no range", Range.parse, "{9223372036854775807, 1}")
    t.equal(Range.new(math.maxinteger, 0):stop(), math.maxinteger)
    local r = Range.new(2, 3)
    t.equal({ r:stop(), r:contains(4), r:contains(5), r:of "abcdefgh" }, { 5, true, false, "cde" })
    t.equal(tostring(r:intersection(Range.new(4, 9))) .. tostring(r:union(Range.new(7, 1))), "{4, 1}{2, 6}")
    t.equal(r:intersection(Range.new(5, 1)), nil)
  end,
  ["tables become values"] = function(t)
    t.equal(tostring(Point.from_tree { x = 1, y = 2 }), "{1, 2}")
    t.equal(tostring(geometry.Size.from_tree { width = 1, height = 2 }), "{1, 2}")
    t.equal(tostring(Rect.from_tree { x = 1, y = 2, width = 3, height = 4 }), "{{1, 2}, {3, 4}}")
    t.equal(tostring(Range.from_tree { location = 1, length = 2 }), "{1, 2}")
    t.faults("needs a number under 'y', not no value", Point.from_tree, { x = 1 })
    t.faults("needs a number under 'width', not a string", geometry.Size.from_tree, { width = "1", height = 2 })
    t.faults("integer", Range.from_tree, { location = 1.5, length = 2 })
  end,
  ["classes cannot be changed"] = function(t)
    t.raises("frozen", function() geometry.Point.new = nil end)
    t.raises("frozen", function() getmetatable(Point.new(1, 2)).__eq = nil end)
    t.raises("frozen", function() Rect.__index.parse = nil end)
    t.raises("frozen", function() rawset(geometry, "Point", 1) end)
    t.equal(getmetatable(Point.new(1, 2)) == Point, true)
  end,
}
