import ArgumentParser
import Moonbase
import MoonbaseGraph
import MoonbaseLua
import MoonbaseScripting

/// The limits for extensions, models and mappings that are written in Lua.
///
/// Even a command without scripts can run Lua code, because a store may be opened with extensions.
/// The limits apply to the whole command.
struct LimitOptionGroup: ParsableArguments {
  @Option(name: CommandOption.limitInstructions.parserName, help: CommandOption.limitInstructions.parserHelp)
  var limitInstructions: String?

  @Option(name: CommandOption.limitSource.parserName, help: CommandOption.limitSource.parserHelp)
  var limitSource: String?

  @Option(name: CommandOption.limitMemory.parserName, help: CommandOption.limitMemory.parserHelp)
  var limitMemory: String?

  @Option(name: CommandOption.limitTime.parserName, help: CommandOption.limitTime.parserHelp)
  var limitTime: String?

  /// Checks the values.
  func validate() throws { try understood { _ = try settings() } }

  /// The settings with these limits.
  ///
  /// - Parameter former: The settings that these limits replace or extend.
  func settings(_ former: ScriptSettings = ScriptSettings()) throws(UsageError) -> ScriptSettings {
    var settings = former
    let options: [(CommandOption, String?)] = [
      (.limitInstructions, limitInstructions), (.limitSource, limitSource), (.limitMemory, limitMemory),
      (.limitTime, limitTime),
    ]
    for (option, value) in options {
      if let value { try option.apply(value, &settings) }
    }
    return settings
  }

  /// Runs a command as one run to which the limits apply. `body` gets the state for extensions, or nil if there are no
  /// limits.
  ///
  /// - Parameter body: The work of the command.
  /// - Throws: `.limitExceeded` if a limit is exceeded, and the errors of `body`.
  func run<Result>(_ body: (ScriptDomain?) throws -> Result) throws -> Result {
    let settings = try settings()
    guard settings.isLimited || settings.sourceLimit != nil else { return try body(nil) }
    let domain = try settings.requiredDomain()
    defer { domain.close() }
    settings.boundSQLite()
    return try domain.state.run { try body(domain) }
  }
}

extension PersistentContainer {
  /// A context whose extensions run in the given state, or in their own state.
  ///
  /// - Parameter domain: The state of a limited run, or nil.
  func context(in domain: ScriptDomain?) throws -> ManagedObjectContext {
    if let domain { return try domain.context(of: opened) }
    return try ManagedObjectContext(coordinator, extensions: extensions)
  }
}
