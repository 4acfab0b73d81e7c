import MoonbaseLua
import MoonbaseModel

/// What is wrong with a result of a function of an extension, with the place of that function.
extension LuaFunction {
  func mistake(_ what: String) -> ScriptError {
    ScriptError(.invalidRequest, message: "\(place.map { "\($0): " } ?? "")\(what)")
  }

  /// Takes a result. The error of a refused result names the place of its function.
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

  /// The error of a class's `is` whose result says neither yes nor no.
  func noAnswer(ofClass name: String, given result: String) -> ScriptError {
    mistake("is of class \(name) returned \(result): return true or false")
  }
}
