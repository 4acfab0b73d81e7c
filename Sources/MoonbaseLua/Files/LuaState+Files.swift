import MoonbasePlatform

/// Files for scripts.
extension LuaState {
  /// Provides Lua's `io` and the functions of `os` for files and the environment, over granted files. `guardian`
  /// refuses files even if they are granted.
  ///
  /// Call it once, before environments are made. The standard streams are always available: output goes to `output`.
  /// There are no processes and no temporary files. In preset `trusted` Lua's own libraries are unchanged.
  public func openFiles(_ access: LuaFileAccess, guardian: (any LuaFileGuard)? = nil) throws(LuaError) {
    guard preset != .trusted else { return }
    modules.guardian = guardian
    let library = try LuaFileLibrary(state: self, access: access, guardian: guardian)
    flushesOpenFiles = library.flush
    takesLineAhead = library.standardInput.consumeLineAhead
    try setGlobal("io", to: .table(try library.io().frozen()))
    try setGlobal("os", to: .table(try library.os(like: try global("os")).frozen()))
  }

  /// Provides `io` and the functions of `os` for files and variables to a single environment, over its own grants.
  /// Environments with equal grants share a library.
  package func openFiles(
    _ access: LuaFileAccess, guardian: (any LuaFileGuard)?, in environment: LuaEnvironment
  ) throws(LuaError) {
    let library: LuaFileLibrary
    if let known = grantedFiles.first(where: { $0.access == access }) {
      library = known
    } else {
      library = try LuaFileLibrary(state: self, access: access, guardian: guardian)
      grantedFiles.append(library)
      let former = flushesOpenFiles
      flushesOpenFiles = {
        try former?()
        try library.flush()
      }
    }
    try environment.table.set("io", to: .table(try library.io().frozen()))
    try environment.table.set("os", to: .table(try library.os(like: environment.table.get("os")).frozen()))
  }

  /// Consumes a line of standard input that a script read ahead and did not use, including its end; everything read
  /// ahead if no line ends in it. Used by the prompt, which reads the same input.
  package func consumeLineAhead() -> [UInt8] { takesLineAhead?() ?? [] }

  /// Flushes the output and the files of scripts, including pipes and devices. May wait for receivers, so call it
  /// within a run, whose limits end the wait. Throws the error of a run that must end.
  public func flushFiles() throws {
    output.flush()
    if StandardStream.hasGivenUp { throw HostWork.ending() }
    try flushesOpenFiles?()
  }
}

/// Results for files that cannot be used.
extension LuaCall {
  /// Returns `nil, message, number`, as Lua's libraries do for a file that cannot be used.
  mutating func fail(_ path: String?, number: Int32) {
    returnNil()
    `return`("\(path.map { "\(Self.shown(path: $0)): " } ?? "")\(String(cString: strerror(number)))")
    `return`(Int64(number))
  }

  /// A path for a message, truncated if it is too long for a path.
  static func shown(path: String) -> String {
    path.utf8.count < PATH_MAX ? path : String(decoding: path.utf8.prefix(200), as: UTF8.self) + "…"
  }

  /// Returns `nil, message, number` for a path reserved for the program.
  mutating func refuseGuarded(_ path: String) {
    returnNil()
    `return`(Self.guarded(path))
    `return`(Int64(EBUSY))
  }

  /// The message for such a path.
  static func guarded(_ path: String) -> String { "\(path): the program has it open itself (a store that is in use?)" }

  /// Returns `nil, message, number` for a path that is not granted. A missing folder is reported as missing, if its
  /// file would be granted.
  mutating func refuse(_ path: String, writing: Bool, access: LuaFileAccess) {
    if path.utf8.count >= PATH_MAX { return fail(path, number: ENAMETOOLONG) }
    if access.missingFolder(of: path, writing: writing) != nil { return fail(path, number: ENOENT) }
    returnNil()
    let advice =
      access.isOfExtension
      ? "the program grants files to extensions" : "--allow \(writing ? "write" : "read")=\(path) grants it"
    `return`("\(path): not granted for \(writing ? "writing" : "reading") (\(advice))")
    `return`(Int64(EACCES))
  }
}
