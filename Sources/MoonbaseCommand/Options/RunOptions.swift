/// The command line of `moonbase run`, read by hand: the argument parser would double the start.
struct RunOptions: Equatable {
  /// One piece of Lua; all of a command line share one environment.
  enum Source: Equatable {
    /// `-e CODE`
    case code(String)
    /// A script's path.
    case file(String)
    /// `-`: the script comes from standard input.
    case standardInput
  }

  var sources: [Source] = []
  /// What the script finds in `arg` from 1 on.
  var arguments: [String] = []

  /// The store that scripts find in `moonbase.context`, how all stores are opened, and what scripts may do.
  var settings = CommandSettings()
  /// Whether extensions are reloaded while scripts run, and scripts run again after a change.
  var watches = false
  var help = false
}
