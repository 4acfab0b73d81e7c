-- coroutine.resume turns errors into results.
--! ends: lua.limit.instructions
--! timed
while true do coroutine.resume(coroutine.create(function() while true do end end)) end
