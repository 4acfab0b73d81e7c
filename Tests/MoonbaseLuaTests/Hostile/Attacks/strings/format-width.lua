-- CVE-2024-31449: widths and precisions that are too large.
--! ends: lua.runtime
string.format("%1000d", 1)
