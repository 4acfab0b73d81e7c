import MoonbaseLua
import MoonbaseModel

/// What is wrong with a result of a function of an extension, with the place of that function.
extension LuaFunction {
  func mistake(_ what: String) -> ScriptError {
    ScriptError(.invalidRequest, message: "\(place.map { "\($0): " } ?? "")\(what)")
  }

  /// Takes a result; one that is refused is told with the place of the function that gave it.
  func checking<Result>(_ take: () throws -> Result) throws -> Result {
    do {
      return try take()
    } catch let error as ScriptError {
      throw mistake("wrong result: \(error.message)")
    } catch let error as ModelError where error.code == .invalidValue {
      throw mistake("wrong result: \(error.message)")
    }
  }
}
