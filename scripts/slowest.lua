-- The twenty suites that took most of the tests' time, from event streams of Swift's test runner.
--
--   lua5.4 scripts/slowest.lua EVENTS...
--
-- The time of a suite is the sum of its cases. Cases run in parallel with each other and with other programs, so the
-- shares matter, not the seconds.

-- The fields of a line that the table needs. A line is a JSON object, in which these fields have a fixed form.
local function event(line)
  local kind, test = line:match('"kind":"(testCase%a+)"'), line:match('"testID":"([^"]+)"')
  if not kind or not test then return end
  local case = line:match('"_testCase":{"displayName":.-,"id":"(.-)"}') or ""
  return kind, test, test .. case, tonumber(line:match('"absolute":([%d.eE+-]+)'))
end

-- A case during which so many others ended has waited for a thread, since only a few cases run at a time.
local most_beside = 100

local started, totals, cases = {}, {}, {}
local first, last, waiting = math.huge, 0, 0
for _, path in ipairs(arg) do
  local file = assert(io.open(path))
  local ended, ended_before = 0, {}
  for line in file:lines() do
    local kind, test, case, instant = event(line)
    if instant then first, last = math.min(first, instant), math.max(last, instant) end
    if kind == "testCaseStarted" then
      started[case], ended_before[case] = instant, ended
    elseif kind == "testCaseEnded" and started[case] and ended - ended_before[case] > most_beside then
      waiting = waiting + 1
    elseif kind == "testCaseEnded" and started[case] then
      ended = ended + 1
      -- A test's name has its module, suites, function and place.
      local suite = (test:match("^(%w+%.[^/]+)/") or test):gsub("\\$", "")
      totals[suite] = (totals[suite] or 0) + instant - started[case]
      cases[suite] = (cases[suite] or 0) + 1
    end
  end
  file:close()
end

local names, whole = {}, 0
for name, seconds in pairs(totals) do
  names[#names + 1], whole = name, whole + seconds
end
table.sort(names, function(a, b) return totals[a] > totals[b] or totals[a] == totals[b] and a < b end)
if whole > 0 then
  print(("Slowest suites: %d suites ran %.0f s of cases in %.0f s"):format(#names, whole, last - first))
  if waiting > 0 then print(("%d cases that waited for a thread are not counted"):format(waiting)) end
  for place = 1, math.min(20, #names) do
    local name = names[place]
    print(("%7.1f s %5.1f %%  %s (%d cases)"):format(totals[name], 100 * totals[name] / whole, name, cases[name]))
  end
end
