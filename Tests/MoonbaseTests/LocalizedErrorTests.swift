import Moonbase
import MoonbaseLua
import MoonbasePlatform
import Testing

/// What `localizedDescription` gives, which most Swift programs print.
@Suite struct LocalizedErrorTests {
  @Test func allErrorsSayWhatIsWrong() throws {
    let errors: [(any Error, String)] = [
      (ModelError(.cannotOpenFile, "there is no Persn"), "there is no Persn"),
      (GraphError(.invalidRequest, "nothing to fetch"), "nothing to fetch"),
      (ScriptError(.invalidRequest, "no such method"), "no such method"),
      (LuaError(.runtime, "a nil value"), "a nil value"),
    ]
    for (error, message) in errors {
      #expect(error.localizedDescription == "\(error)")
      #expect(error.localizedDescription.contains(message))
    }
  }
}
