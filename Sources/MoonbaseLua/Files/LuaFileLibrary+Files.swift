import MoonbasePlatform

/// The functions that open, close and position files.
extension LuaFileLibrary {
  // MARK: Opening

  /// `io.open(path [, mode])` Returns a file, or `nil, message, number`.
  func open(_ call: inout LuaCall) throws {
    let path = try call.name(0)
    let mode = call.isNil(1) ? "r" : try call.name(1)
    guard mode.utf8.count <= 3, Self.modes[mode.replacing("b", with: "")] != nil, !mode.hasPrefix("b") else {
      throw call.argumentError(1, problem: "invalid mode")
    }
    guard let file = try openFile(path, mode: mode, call: &call) else { return }
    try call.return(.object(LuaObject(file, as: type)))
  }

  /// The flags of the system, and whether the mode needs a grant for writing.
  private static let modes: [String: (flags: Int32, writes: Bool)] = [
    "r": (O_RDONLY, false), "r+": (O_RDWR, true), "w": (O_WRONLY | O_CREAT | O_TRUNC, true),
    "w+": (O_RDWR | O_CREAT | O_TRUNC, true), "a": (O_WRONLY | O_CREAT | O_APPEND, true),
    "a+": (O_RDWR | O_CREAT | O_APPEND, true),
  ]

  /// Opens a file. On failure returns the reason to the script, and nil here. Grants are checked before the system is
  /// asked.
  private func openFile(_ path: String, mode: String, call: inout LuaCall) throws -> LuaFile? {
    let (flags, writes) = Self.modes[mode.replacing("b", with: "")] ?? (O_RDONLY, false)
    guard let resolved = access.path(path, writing: writes) else {
      // A script that may not read a file must not learn whether it exists.
      call.refuse(path, writing: writes, access: access)
      return nil
    }
    if isGuarded(resolved, writing: writes) {
      call.refuseGuarded(path)
      return nil
    }
    do throws(LuaFile.Refusal) {
      return try newFile(resolved, flags: flags)
    } catch {
      call.fail(path, number: error.number)
      return nil
    }
  }

  /// Opens a file. If no descriptor is free, files that scripts released without closing are collected first. Throws
  /// `LuaFile.Refusal`.
  func newFile(_ resolved: String, flags: Int32) throws(LuaFile.Refusal) -> LuaFile {
    do throws(LuaFile.Refusal) {
      return try LuaFile(path: resolved, flags: flags, guardian: guardian)
    } catch {
      guard error.number == EMFILE || error.number == ENFILE else { throw error }
      state.collectGarbage()
      return try LuaFile(path: resolved, flags: flags, guardian: guardian)
    }
  }

  /// Whether the program uses the file itself.
  func isGuarded(_ resolved: String, writing: Bool) -> Bool {
    guardian?.refuses(path: resolved, writing: writing) ?? false
  }

  /// `io.input([file])` and `io.output([file])` Without an argument, the current stream.
  func stream(_ call: inout LuaCall, mode: String, current: LuaFile) throws -> LuaFile {
    var chosen = current
    if let file: LuaFile = call.objectIfPresent(0) {
      chosen = file
    } else if !call.isNil(0) {
      let path = try call.name(0)
      guard let file = try openFile(path, mode: mode, call: &call) else {
        throw LuaError(.runtime, message: "cannot open file '\(path)'")
      }
      chosen = file
    }
    try call.return(.object(LuaObject(chosen, as: type)))
    return chosen
  }

  /// Raises an error for a closed file.
  func opened(_ file: LuaFile) throws -> LuaFile {
    guard file.isOpen else { throw LuaError(.runtime, message: "attempt to use a closed file") }
    return file
  }

  /// `io.close([file])` Without an argument, the output stream.
  func closeFile(_ call: inout LuaCall) throws {
    try close(try opened(call.isNil(0) ? output : try call.object(0, name: "FILE*")), call: &call)
  }

  /// Standard streams are not closed.
  func close(_ file: LuaFile, call: inout LuaCall) throws {
    guard !file.isStandard else {
      call.returnNil()
      return call.return("standard streams stay open")
    }
    if try reporting(&call, file.close) { call.return(true) }
  }

  /// `file:seek([whence [, offset]])` Returns the position from the start of the file, or `nil, message, number`.
  func seek(_ file: LuaFile, call: inout LuaCall) throws {
    let name = call.isNil(0) ? "cur" : try call.name(0)
    let offset = call.isNil(1) ? 0 : try call.integer(1)
    guard let whence = ["set": SEEK_SET, "cur": SEEK_CUR, "end": SEEK_END][name] else {
      throw call.argumentError(0, problem: "invalid option '\(name)'")
    }
    var place: Int64 = 0
    if try reporting(&call, { place = try file.seek(offset, from: Int32(whence)) }) { call.return(place) }
  }

  /// Runs `body`. A refusal of the system becomes `nil, message, number` for the script, and false here. An exceeded
  /// output limit ends the run.
  @discardableResult
  func reporting(_ call: inout LuaCall, _ body: () throws -> Void) throws -> Bool {
    do {
      try body()
      return true
    } catch LuaFile.Failure.system(let number) {
      call.fail(nil, number: number)
      return false
    } catch LuaFile.Failure.tooLarge {
      throw LuaError(.runtime, message: "more than \(LuaFile.greatest >> 20) MiB in one read")
    } catch LuaFile.Failure.limit {
      throw LuaError(.limit(.output), message: "the output limit was exceeded")
    }
  }
}
