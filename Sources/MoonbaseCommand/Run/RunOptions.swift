import MoonbaseGraph
import MoonbaseLua
import MoonbaseScripting

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

  /// The store that scripts find in `moonbase.context`, and how all stores are opened.
  var store = StoreSettings()
  var strict = false
  var saveOrder = ManagedObjectContext.SaveOrder.guide
  var sandbox = LuaPreset.standard
  var grants: [Grant] = []
  var noFiles = false
  var instructionLimit: Int64?
  var memoryLimit: UInt64?
  var sourceLimit: Int?
  var timeLimit: Double?
  var quiet = false
  var help = false
}

extension RunOptions {
  /// What `--allow` gives beyond the sandbox.
  enum Grant: Equatable {
    case read(String)
    case write(String)
    case environment(String)

    init(_ text: String) throws(UsageError) {
      let parts = text.split(separator: "=", maxSplits: 1).map(String.init)
      switch (parts.first, parts.last) {
      case ("read", let path?) where parts.count == 2: self = .read(path)
      case ("write", let path?) where parts.count == 2: self = .write(path)
      case ("env", let name?) where parts.count == 2: self = .environment(name)
      default: throw UsageError("--allow takes read=PATH, write=PATH or env=NAME, not '\(text)'")
      }
    }
  }
}
