import MoonbasePlatform

/// Sources from files.
extension LuaSource {
  /// Reads a file. Throws if it has more bytes than the limit. Throws `.module` for a file that cannot be read.
  init(path: String, name: String, limit: Int?) throws(LuaError) {
    do {
      self.init(bytes: try BoundedFile.read(path, limit: limit ?? Self.greatestSize), name: name)
    } catch {
      throw Self.refusal(of: name, failure: error)
    }
  }

  /// Reads standard input. Throws if it has more bytes than the limit. Blocks until the input ends.
  init(standardInputAs name: String, limit: Int?) throws(LuaError) {
    do {
      self.init(bytes: try BoundedFile.read(STDIN_FILENO, limit: limit ?? Self.greatestSize), name: name)
    } catch {
      throw Self.refusal(of: name, failure: error)
    }
  }

  /// The error for a failed reading.
  private static func refusal(of name: String, failure: BoundedFile.Failure) -> LuaError {
    guard case .tooLarge(let limit) = failure else {
      return LuaError(.module, message: "cannot open \(name): \(failure.reason)")
    }
    return LuaError(.limit(.source), message: "\(name): the source has more than \(limit) bytes")
  }
}
