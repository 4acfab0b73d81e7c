-- The extension for random edits with derived attributes: on demand, pre-calculated, stored and pure.
local names = require "names"
local label, joined = names.label, names.joined

return { name = "x", entities = {
  Person = { derived = {
    label = { type = "string", inputs = { "name", "age" }, get = label },
    pure = { type = "string", inputs = { "name" }, pure = true, get = function(name) return name and name .. "!" end },
    early = { type = "string", inputs = { "name", "age" }, read = "pre_calculated", get = label },
    place = { type = "string", get = function(p) return p.team and (p.team.title or "untitled") or "nowhere" end },
    crowd = { type = "string", get = function(p) return names.of(p.friends) end },
    chain = { type = "string", inputs = { "label", "place" }, get = function(a, b) return a .. "@" .. b end },
    own = { stored = true, inputs = { "name", "age" }, get = label },
    saved = { stored = true, inputs = { "name", "age", "team.title" }, object = true,
      get = function(name, age, title, person)
        return label(name, age) .. "/" .. (person.team and (title or "untitled") or "nowhere")
      end },
  } },
  Team = { derived = {
    roll = { type = "string", get = function(t) return names.of(t.members) end },
    total = { type = "integer64", inputs = { "members.@sum.age" }, get = function(sum) return sum or 0 end },
    deep = { type = "string", get = function(t)
      local list = {}
      for member in t.members:each() do list[#list + 1] = member.label end
      return joined(list)
    end },
    saved = { stored = true, inputs = { "members.@sum.age", "members.name" }, object = true,
      get = function(sum, _, team) return names.of(team.members) .. "/" .. (sum or 0) end },
  } },
} }
