-- Brings people.sqlite up to date from people.csv (email,name,age,department), and puts rows aside that are wrong:
--
--   scripts/moonbase run --store people.sqlite --model lua/examples/people/model.lua \
--     lua/examples/people/import.lua people.csv
local csv, import = require "moonbase.csv", require "moonbase.import"

local path = arg[1]
local rows = csv.rows(assert(io.open(path)))
local rejects = import.rejects(rows, path .. ".rejects.csv")
local progress = moonbase.progress(nil, "rows")
local report = import.run(moonbase.context, rows, function(row)
  local person = { email = row.email or moonbase.null, name = row.name, age = tonumber(row.age) or row.age }
  if row.department then
    person.department = moonbase.context:upsert("Department", { "name" }, { name = row.department })
  end
  moonbase.context:upsert("Person", { "email" }, person)
end, { rejects = rejects, progress = progress })
progress:finish()
rejects:close()
print(report.rows .. " rows, " .. report.rejected .. " rejected")
os.exit(report.rejected > 0 and 4 or 0)
