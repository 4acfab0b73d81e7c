extension RunOptions {
  static let helpText = """
    USAGE: moonbase run [options] [-e CODE]... [SCRIPT [ARG...]]

    Runs Lua over a store. SCRIPT may be '-' for standard input; all pieces share one environment. The script finds its
    arguments in `arg`, and in `moonbase.context` a context, if a store, a model or an extension is given.

    OPTIONS:
      -e CODE                   run this piece of Lua
      --store [CONFIG=]PATH     the SQLite store (default: in memory); repeatable, with the model's configuration that
                                each store holds
      --read-only               change nothing in the store
      --model PATH              the model (default: the one that the store keeps)
      --extension PATH          load an extension; repeatable, dependencies in any order
      --strict                  refuse a save where a value that was read has been changed in place
      --save-order ORDER        guide (default): rules, then will_save; framework: will_save, then rules
      --sandbox PRESET          pure, standard (default), compat or trusted
      --allow GRANT             read=PATH, write=PATH or env=NAME; repeatable
      --no-files                no files at all
      --limit-instructions N    end the script after so many Lua instructions
      --limit-memory BYTES      ... when it holds more memory
      --limit-time SECONDS      ... when it takes longer
      --quiet                   no word but errors on standard error
      -h, --help                this text
    """
}
