import MoonbasePlatform

extension LuaState {
  /// Gives scripts Lua's `io`, and the parts of `os` that touch files and the environment, over what is granted. What `guardian`
  /// refuses is refused even where it is granted.
  ///
  /// Call it once, before environments are made. The standard streams are there in any case: output goes to `output`. There are no
  /// processes and no temporary files. In preset `trusted` Lua's own libraries stay as they are.
  public func openFiles(_ access: LuaFileAccess, guardian: (any LuaFileGuard)? = nil) throws(LuaError) {
    guard preset != .trusted else { return }
    modules.guardian = guardian
    let library = try LuaFileLibrary(state: self, access: access, guardian: guardian)
    flushesOpenFiles = library.flush
    takesLineAhead = library.standardInput.takeLineAhead
    try setGlobal("io", to: .table(try library.io().frozen()))
    try setGlobal("os", to: .table(try library.os(like: try global("os")).frozen()))
  }

  /// Gives one environment `io`, and the parts of `os` that touch files and variables, over what is granted to it.
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

  /// Takes a line of what a script read of standard input and did not use, with its end; all of that where no line
  /// ends in it.
  package func takeLineAhead() -> [UInt8] { takesLineAhead?() ?? [] }

  /// Hands on what scripts wrote and what still lies in buffers of the output, of pipes and of devices. It waits for whoever takes it,
  /// so call it within a run, whose limits end the waiting.
  public func flushFiles() throws {
    output.flush()
    if StandardStream.hasGivenUp { throw HostWork.ending() }
    try flushesOpenFiles?()
  }
}

extension LuaCall {
  /// Returns `nil, message, number`, as Lua's libraries do where a file cannot be used.
  mutating func fail(_ path: String?, number: Int32) {
    returnNil()
    `return`("\(path.map { "\(Self.shown(path: $0)): " } ?? "")\(String(cString: strerror(number)))")
    `return`(Int64(number))
  }

  /// A path as a message shows it: of what is too long for one, the beginning.
  static func shown(path: String) -> String {
    path.utf8.count < PATH_MAX ? path : String(decoding: path.utf8.prefix(200), as: UTF8.self) + "…"
  }

  /// Returns `nil, message, number` for a path that the program keeps to itself.
  mutating func refuseGuarded(_ path: String) {
    returnNil()
    `return`(Self.guarded(path))
    `return`(Int64(EBUSY))
  }

  static func guarded(_ path: String) -> String { "\(path): the program has it open itself (a store that is in use?)" }

  /// Returns `nil, message, number` for a path that is not granted.
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
