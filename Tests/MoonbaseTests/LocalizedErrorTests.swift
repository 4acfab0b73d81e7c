import Moonbase
import MoonbaseLua
import MoonbasePlatform
import Testing

/// The texts of `localizedDescription`, which most Swift programs print.
@Suite struct LocalizedErrorTests {
  @Test func allErrorsSayWhatIsWrong() throws {
    let errors: [(any Error, String)] = [
      (ModelError(.cannotOpenFile, message: "there is no Persn"), "there is no Persn"),
      (GraphError(.invalidRequest, message: "nothing to fetch"), "nothing to fetch"),
      (ScriptError(.invalidRequest, message: "no such method"), "no such method"),
      (LuaError(.runtime, message: "a nil value"), "a nil value"),
    ]
    for (error, message) in errors {
      #expect(error.localizedDescription == "\(error)")
      #expect(error.localizedDescription.contains(message))
    }
  }
}
