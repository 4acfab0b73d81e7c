-- Writes a row for each value that a save changes.
local function text(value) return value ~= nil and value ~= moonbase.null and tostring(value) or nil end

return {
  name = "audit",
  entities = {
    Person = {
      will_save = function(person)
        if person:is_inserted() or person:is_deleted() then return end
        local before = person:committed_values()
        for property, value in pairs(person:changed_values()) do
          person:context():insert("Change", {
            date = moonbase.date.now(), object = person.name,
            property = property, old = text(before[property]), new = text(value),
          })
        end
      end,
    },
  },
}
