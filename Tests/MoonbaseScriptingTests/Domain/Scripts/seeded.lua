-- What random scripts share: numbers that a seed repeats on every machine, and choices by them.
local seeded = {}
local state = 1

-- Begins anew.
function seeded.begin(seed) state = seed end

-- A number from 1 to a bound.
function seeded.random(bound)
  state = (state * 6364136223846793005 + 1442695040888963407) & 0x7fffffffffffffff
  return (state >> 33) % bound + 1
end

-- An element of a list.
function seeded.any(list) return list[seeded.random(#list)] end

return seeded
