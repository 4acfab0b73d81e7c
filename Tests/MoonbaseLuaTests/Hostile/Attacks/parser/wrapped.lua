-- CVE-2022-24736: a source that tries to close a function around it.
--! ends: lua.syntax
end error('outside') function f()
