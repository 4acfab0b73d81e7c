import MoonbaseLua
import MoonbaseModel

/// Errors about wrong results of an extension's functions, with the function's place.
extension LuaFunction {
  /// An `.invalidRequest` error with the place of the function in front: `colors.lua:12: …`.
  func mistake(_ what: String) -> ScriptError {
    ScriptError(.invalidRequest, message: "\(place.map { "\($0): " } ?? "")\(what)")
  }

  /// Converts a result. The error of a refused result names the place of the function.
  ///
  /// `what` names the result in the message. Errors of another kind, such as limits, are rethrown unchanged.
  func checking<Result>(
    _ what: @autoclosure () -> String = "wrong result", _ take: () throws -> Result
  ) throws -> Result {
    do {
      return try take()
    } catch let error as ScriptError {
      throw mistake("\(what()): \(error.message)")
    } catch let error as ModelError where error.code == .invalidValue {
      throw mistake("\(what()): \(error.message)")
    }
  }

  /// The error of a class's `is` function that returns no boolean.
  func noAnswer(ofClass name: String, given result: String) -> ScriptError {
    mistake("is of class \(name) returned \(result): return true or false")
  }
}
