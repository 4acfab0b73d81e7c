-- Imports the packages that are installed on a Debian system:
--
--   fields='${Package}\t${Version}\t${Architecture}\t${Section}\t${Maintainer}\t${Installed-Size}\n'
--   (printf 'Package\tVersion\tArchitecture\tSection\tMaintainer\tSize\n'; dpkg-query -W -f="$fields") |
--     scripts/moonbase import Package - --format tsv --create-missing --upsert name \
--       --store installed.sqlite --model lua/examples/packages/model.lua \
--       --extension lua/examples/packages/extension.lua --map lua/examples/packages/map.lua
--
-- Run again, it brings the store up to date. Rows without a version go to stdin.rejects.tsv.
return {
  columns = {
    Package = "name", Version = "version", Architecture = "architecture", Section = "section.name",
    Maintainer = "maintainer.name", Size = "installedSize",
  },
  row = function(row)
    -- "Captain Scarlet <scarlet@example.org>"
    row.Maintainer = row.Maintainer and row.Maintainer:gsub("%s*<.*$", "")
    return row
  end,
}
