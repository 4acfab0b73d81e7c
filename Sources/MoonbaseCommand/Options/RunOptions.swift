/// The command line of `moonbase run`. It has its own parser, because the argument parser would double the start time.
///
/// All options for stores and scripts are in `CommandOption`. The few other options are in
/// `RunOptions` itself.
struct RunOptions: Equatable {
  /// A piece of Lua code. All code on a command line shares one environment.
  enum Source: Equatable {
    /// Code from `-e CODE`.
    case code(String)
    /// The path of a script.
    case file(String)
    /// A script from standard input, given as `-`.
    case standardInput
  }

  /// The pieces of code in the order of the command line.
  var sources: [Source] = []
  /// The values in `arg`, starting at index 1.
  var arguments: [String] = []

  /// The store for `moonbase.context`, the settings for opening stores, and the permissions of scripts.
  var settings = CommandSettings()
  /// Whether extensions are reloaded while scripts run, and scripts run again after a change.
  var watches = false
  /// Whether the help is requested.
  var help = false
}
