import MoonbasePlatform

/// The functions that read and write.
extension LuaFileLibrary {
  // MARK: Reading and writing

  /// Writes the arguments from an index on, and returns the file. An error of the system becomes `nil, message,
  /// number`.
  func write(_ file: LuaFile, call: inout LuaCall, from first: Int) throws {
    for index in first..<max(first, call.count) {
      try HostWork.charge()
      do {
        if var numeral = try Self.numeral(call, at: index) {
          try numeral.withUTF8 { try file.write(UnsafeRawBufferPointer($0)) }
        } else {
          try call.withBytes(index) { bytes in
            try HostWork.charge(bytes.count >> 10)
            try file.write(bytes)
          }
        }
      } catch LuaFile.Failure.system(let number) {
        return call.fail(nil, number: number)
      } catch LuaFile.Failure.limit {
        throw LuaError(.limit(.output), message: "the output limit was exceeded")
      }
    }
    try noteWritten(file)
    try call.return(.object(LuaObject(file, as: type)))
  }

  /// The text of a number in Lua's format; nil for other arguments.
  private static func numeral(_ call: borrowing LuaCall, at index: Int) throws -> String? {
    guard call.typeName(index) == "number" else { return nil }
    guard case .number(let number) = try call.value(index) else { return String(try call.integer(index)) }
    let text = String(format: "%.14g", number)
    return text.contains { !"-0123456789".contains($0) } ? text : text + ".0"
  }

  /// Reads the formats among the arguments. Without any, a line.
  func formats(_ call: inout LuaCall, from first: Int) throws -> [LuaReadFormat] {
    guard call.count > first else { return [.line(keepingEnd: false)] }
    return try (first..<call.count).map { index in
      if call.typeName(index) == "number" { return .bytes(max(0, Int(try call.integer(index)))) }
      let name = try call.name(index)
      switch name.hasPrefix("*") ? name.dropFirst().first : name.first {
      case "l": return .line(keepingEnd: false)
      case "L": return .line(keepingEnd: true)
      case "n": return .number
      case "a": return .all
      default: throw call.argumentError(index, problem: "invalid format")
      }
    }
  }

  /// Reads by the formats among the arguments.
  func read(_ file: LuaFile, call: inout LuaCall, from first: Int) throws {
    try read(file, formats: formats(&call, from: first), call: &call)
  }

  /// Returns a result for each format. Returns nil for the first format without a result, and stops.
  private func read(_ file: LuaFile, formats: [LuaReadFormat], call: inout LuaCall) throws {
    // A prompt must be visible before the script waits for the answer.
    if file.isStandard { try standardOutput.flush() }
    for format in formats {
      guard try give(file, format: format, call: &call) else { return call.returnNil() }
    }
  }

  /// Adds one result to the call. Returns false at the end of the file.
  private func give(_ file: LuaFile, format: LuaReadFormat, call: inout LuaCall) throws -> Bool {
    do {
      if case .number = format { return try giveNumber(file, call: &call) }
      var found = false
      // `return` copies the bytes.
      found = try file.read(format) { bytes in call.return(bytes: bytes) }
      return found
    } catch LuaFile.Failure.system(let number) {
      throw LuaError(.runtime, message: String(cString: strerror(number)))
    } catch LuaFile.Failure.tooLarge {
      throw LuaError(.runtime, message: "more than \(LuaFile.greatest >> 20) MiB in one read")
    }
  }

  /// An integer if it fits, otherwise a number. Returns false for an invalid numeral.
  private func giveNumber(_ file: LuaFile, call: inout LuaCall) throws -> Bool {
    var text = ""
    guard try file.read(.number, { text = String(decoding: $0, as: UTF8.self) }) else { return false }
    if let integer = Int64(text) {
      call.return(integer)
    } else if let number = Double(text) {
      call.return(number)
    } else {
      return false
    }
    return true
  }

  /// `io.lines([path, ...])` Raises an error for a file that cannot be opened, as Lua does.
  func lines(_ call: inout LuaCall) throws {
    guard !call.isNil(0) else {
      return try call.return(
        try iterator(try opened(input), formats: formats(&call, from: 1), closing: false, in: call.state))
    }
    let path = try call.name(0)
    guard path.utf8.count < PATH_MAX else {
      throw LuaError(.runtime, message: "\(LuaCall.shown(path: path)): \(String(cString: strerror(ENAMETOOLONG)))")
    }
    guard let resolved = access.path(path, writing: false) else {
      throw LuaError(.runtime, message: "\(path): not granted for reading (--allow read=\(path) grants it)")
    }
    if isGuarded(resolved, writing: false) { throw LuaError(.runtime, message: LuaCall.guarded(path)) }
    let file: LuaFile
    do throws(LuaFile.Refusal) {
      file = try newFile(resolved, flags: O_RDONLY)
    } catch {
      throw LuaError(.runtime, message: "\(path): \(String(cString: strerror(error.number)))")
    }
    try call.return(try iterator(file, formats: formats(&call, from: 1), closing: true, in: call.state))
  }

  /// With `closing` the file is closed at its end. The iterator raises an error for a closed file.
  func iterator(
    _ file: LuaFile, formats: [LuaReadFormat], closing: Bool, in state: LuaState
  ) throws -> LuaValue {
    // A file that only this closure holds is weighed together with it.
    try state.function(weight: closing ? type.usualWeight : 256) { [unowned self] call in
      guard file.isOpen else { throw LuaError(.runtime, message: "file is already closed") }
      if formats.count == 1 {
        if try give(file, format: formats[0], call: &call) { return }
        call.returnNil()
        if closing { try file.close() }
      } else {
        try read(file, formats: formats, call: &call)
      }
    }
  }
}
