-- JSON and CSV forms of the values for which Lua has no type.
local json, csv = require "moonbase.json", require "moonbase.csv"

local born = moonbase.date.parse "2001-01-01T12:30:00Z"
local price = moonbase.decimal "12.50"
local badge = moonbase.uuid "6BA7B810-9DAD-11D1-80B4-00C04FD430C8"
local page = moonbase.uri "https://example.org/a?b=c"

return {
  ["null is the host's null"] = function(t)
    t.equal(json.null == moonbase.null, true)
    t.equal(json.encode { a = moonbase.null }, '{"a":null}')
    t.equal(json.decode "[null]"[1] == moonbase.null, true)
  end,
  ["dates, decimals, UUIDs and URIs as text"] = function(t)
    t.equal(json.encode { born, price, badge, page },
      '["2001-01-01T12:30:00.000Z","12.5","6BA7B810-9DAD-11D1-80B4-00C04FD430C8","https://example.org/a?b=c"]')
    t.equal(csv.encode { { born, price, moonbase.null, badge } },
      "2001-01-01T12:30:00.000Z,12.5,,6BA7B810-9DAD-11D1-80B4-00C04FD430C8\r\n")
    t.equal(moonbase.date.parse(json.decode(json.encode { born })[1]) == born, true)
  end,
  ["other userdata has no form"] = function(t)
    t.raises("no form for a progress", json.encode, { moonbase.progress(1, "x") })
    t.raises("no form for a progress", csv.encode, { { moonbase.progress(1, "x") } })
  end,
}
