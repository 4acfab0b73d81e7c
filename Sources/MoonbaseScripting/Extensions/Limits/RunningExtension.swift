import MoonbaseLua
import MoonbasePlatform

/// An extension in a Lua state: measures the calls of its functions and enforces the extension's limits. Nil if nothing
/// is measured or limited; functions are then called directly.
///
/// A value that closures capture. Without profile and limits there is no instance, and closures cost nothing extra
/// (`RunningExtension?`).
struct RunningExtension {
  /// Records the costs; nil records nothing.
  private let profile: ExtensionProfile?
  /// The limits; nil for an extension without limits.
  private let standing: ExtensionStanding?
  /// The file, as in the profile.
  private let source: String
  /// The Lua state of the functions.
  private unowned let state: LuaState

  /// Returns nil if there is neither a profile nor a standing. Makes the state count instructions.
  init?(_ source: String, profile: ExtensionProfile?, standing: ExtensionStanding?, in state: LuaState) {
    guard profile != nil || standing != nil else { return nil }
    state.countsInstructions = true
    (self.profile, self.standing, self.source, self.state) = (profile, standing, source, state)
  }

  /// The extension with limits whose function runs on this thread, for callbacks that it registers.
  ///
  /// A callback registered within an extension's function runs later, outside of that function; it captures this value
  /// and stays limited. Nil if no limited extension is running.
  static func current(in state: LuaState) -> RunningExtension? {
    guard let standing = LuaState.currentOwner as? ExtensionStanding else { return nil }
    return RunningExtension(standing.source, profile: nil, standing: standing, in: state)
  }

  /// Calls a function, measured and limited. Nested calls are counted for both functions. Throws `.extensionLimit`,
  /// `.extensionDisabled` and the errors of `body`.
  func run<Result>(_ function: String, _ body: () throws -> Result) throws -> Result {
    guard let profile else { return try limited(function, body) }
    return try state.runNested { try counted(function, by: profile) { try limited(function, body) } }
  }

  /// Calls a function, limited but not recorded in the profile. Throws `.extensionLimit` when `body` exceeds the
  /// allowance.
  func limited<Result>(_ function: String, _ body: () throws -> Result) throws -> Result {
    guard let standing else { return try body() }
    try standing.requireEnabled(for: function)
    do {
      return try state.run(within: standing.allowance, of: standing, body)
    } catch let exceeded as LuaAllowanceExceeded {
      throw standing.error(of: exceeded, in: function)
    }
  }

  /// Adds the cost of a call to the profile, also when the call throws. Instructions are the decrease of the state's
  /// counter.
  private func counted<Result>(
    _ function: String, by profile: ExtensionProfile, _ body: () throws -> Result
  ) throws -> Result {
    var cost = ExtensionProfile.Cost()
    let begin = ContinuousClock.now
    let before = state.countedInstructions
    defer {
      cost.calls = 1
      cost.duration = ContinuousClock.now - begin
      cost.instructions = max(0, before - state.countedInstructions)
      profile.add(cost, to: .init(source: source, function: function))
    }
    do {
      return try body()
    } catch {
      cost.errors = 1
      throw error
    }
  }
}

extension RunningExtension? {
  /// A closure that calls a function, measured and limited if needed. Returns `body` itself without profile and limits.
  func measured<Argument, Result>(
    _ function: String, _ body: @escaping (Argument) throws -> Result
  ) -> (Argument) throws -> Result {
    guard let self else { return body }
    return { argument in try self.run(function) { try body(argument) } }
  }

  /// Returns `body` itself without profile and limits. This variant takes two arguments.
  func measured<First, Second, Result>(
    _ function: String, _ body: @escaping (First, Second) throws -> Result
  ) -> (First, Second) throws -> Result {
    guard let self else { return body }
    return { first, second in try self.run(function) { try body(first, second) } }
  }

  /// Calls a function, limited if needed.
  func within<Result>(_ function: String, _ body: () throws -> Result) throws -> Result {
    guard let self else { return try body() }
    return try self.limited(function, body)
  }

  /// A closure whose calls are limited but not recorded in the profile.
  func limited<Argument, Result>(
    _ function: String, _ body: @escaping (Argument) throws -> Result
  ) -> (Argument) throws -> Result {
    guard let self else { return body }
    return { argument in try self.limited(function) { try body(argument) } }
  }
}
