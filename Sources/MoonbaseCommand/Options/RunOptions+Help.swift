extension RunOptions {
  /// The help of `moonbase run`. The options of the common table follow the text that is written by
  /// hand.
  static let helpText = """
    USAGE: moonbase run [options] [-e CODE]... [SCRIPT [ARG...]]

    Runs Lua over a store. SCRIPT may be '-' for standard input; all pieces share one environment. The script finds its
    arguments in `arg`, and in `moonbase.context` a context, if a store, a model or an extension is given
    (without --store in memory).

    Files: a script may read below its own folder and the current one, and write below the current one. `require` finds
    modules beside the script and in the folders that --allow lets it read. Preset pure has no files, trusted all.

    OPTIONS:
      -e CODE                   run this piece of Lua
      --watch                   reload extensions while the script runs, and run it again whenever a file changes
    \(CommandOption.all.map { $0.helpLines() }.joined(separator: "\n"))
      -h, --help                this text
    """
}
