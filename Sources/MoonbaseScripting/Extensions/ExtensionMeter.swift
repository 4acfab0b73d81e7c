import MoonbaseLua
import MoonbasePlatform

/// Measures the calls of one extension's functions. Where nothing is measured there is none, and functions are called
/// as they are.
struct ExtensionMeter {
  let profile: ExtensionProfile
  let source: String
  /// The state in which the functions run.
  unowned let state: LuaState

  func run<Result>(_ function: String, _ body: () throws -> Result) throws -> Result {
    let state = state
    return try state.runNested {
      var cost = ExtensionProfile.Cost()
      let begin = ContinuousClock.now
      let before = state.countedInstructions
      defer {
        cost.calls = 1
        cost.seconds = (ContinuousClock.now - begin) / .seconds(1)
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
}

extension ExtensionMeter? {
  /// A closure that calls a function, and is measured where there is a meter.
  func measured<Argument, Result>(
    _ function: String, _ body: @escaping (Argument) throws -> Result
  ) -> (Argument) throws -> Result {
    guard let self else { return body }
    return { argument in try self.run(function) { try body(argument) } }
  }

  func measured<First, Second, Result>(
    _ function: String, _ body: @escaping (First, Second) throws -> Result
  ) -> (First, Second) throws -> Result {
    guard let self else { return body }
    return { first, second in try self.run(function) { try body(first, second) } }
  }
}
