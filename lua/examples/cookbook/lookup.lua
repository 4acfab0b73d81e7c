-- Takes the city of each postcode from a table.
local csv = require "moonbase.csv"

local cities = {}
for row in csv.rows(assert(io.open("postcodes.csv"))) do cities[row.postcode] = row.city end

return function(person)
  person.city = cities[person.postcode] or error("there is no postcode " .. tostring(person.postcode))
end
