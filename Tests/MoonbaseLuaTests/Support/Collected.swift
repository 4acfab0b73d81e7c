import MoonbaseLua

/// Collects a script's output.
final class Collected {
  var output = ""
  var errors = ""

  var sink: LuaOutput {
    LuaOutput { bytes, isError in
      let text = String(decoding: bytes, as: UTF8.self)
      if isError { self.errors += text } else { self.output += text }
    }
  }
}
