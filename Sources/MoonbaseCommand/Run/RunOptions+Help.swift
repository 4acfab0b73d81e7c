extension RunOptions {
  static let helpText = """
    USAGE: moonbase run [options] [-e CODE]... [SCRIPT [ARG...]]

    Runs Lua over a store. SCRIPT may be '-' for standard input; all pieces share one environment. The script finds its
    arguments in `arg`, and in `moonbase.context` a context, if a store, a model or an extension is given
    (without --store in memory).

    Files: a script may read below its own folder and the current one, and write below the current one. `require` finds
    modules beside the script and in the folders that --allow lets it read. Preset pure has no files, trusted all.

    OPTIONS:
      -e CODE                   run this piece of Lua
    \(StoreOption.all.map { $0.helpLines() }.joined(separator: "\n"))
      --strict                  refuse a save where a value that was read has been changed in place
      --save-order ORDER        guide (default): rules, then will_save; framework: will_save, then rules
      --sandbox PRESET          pure, standard (default), compat or trusted
      --allow GRANT             read=PATH, write=PATH or env=NAME; repeatable
      --no-files                no files at all
      --limit-instructions N    end the script after so many Lua instructions
      --limit-source BYTES      take no larger source (default: 1 MiB; none in trusted)
      --limit-memory BYTES      ... when it holds more memory; 64M and 1G will do
      --limit-time SECONDS      ... when it takes longer
      --quiet                   no word but errors on standard error
      -h, --help                this text
    """
}
