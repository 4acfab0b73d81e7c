import MoonbasePlatform

/// Lua's `io` over granted files.
///
/// Owned by the state or by an environment with its own grants. Scripts hold `LuaFile` objects of the type `FILE*`; the
/// library keeps only standard streams and files that owe bytes.
final class LuaFileLibrary {
  /// The granted files.
  let access: LuaFileAccess
  /// Refuses files of the program.
  let guardian: (any LuaFileGuard)?
  /// The host type of files.
  let type = LuaHostType<LuaFile>("FILE*")
  /// Standard input, with a buffer that the prompt shares.
  let standardInput = LuaFile(descriptor: STDIN_FILENO, isStandard: true)
  /// Writes to the state's output.
  let standardOutput: LuaFile
  /// Writes to the state's output as errors.
  let standardError: LuaFile
  /// The streams of `io.read` and `io.write`.
  var input: LuaFile
  /// Changed by `io.output`.
  var output: LuaFile
  /// The state outlives its library.
  unowned let state: LuaState
  /// Pipes and devices with unwritten bytes. They are retained until flushed, even without a script handle, because
  /// limits apply to waiting only within a run.
  private var owing: [LuaFile] = []
  /// Beyond this number all are flushed.
  private static let greatestOwing = 16

  /// Registers the type in the state.
  init(state: LuaState, access: LuaFileAccess, guardian: (any LuaFileGuard)?) throws(LuaError) {
    self.state = state
    self.access = access
    self.guardian = guardian
    func stream(_ descriptor: Int32, isError: Bool) -> LuaFile {
      let sink = LuaFile.Sink { [unowned state] bytes in
        state.write(bytes, error: isError)
      } flush: { [link = state.link] in
        link.state?.output.flush()
      } setBuffering: { [link = state.link] mode in
        guard link.state?.output.isStandard == true else { return }
        (isError ? StandardStream.error : .output).setBuffering(mode == .full ? .full : mode == .line ? .line : .none)
      }
      return LuaFile(descriptor: descriptor, isStandard: true, sink: sink)
    }
    standardOutput = stream(STDOUT_FILENO, isError: false)
    standardError = stream(STDERR_FILENO, isError: true)
    input = standardInput
    output = standardOutput
    type.usualWeight = LuaFile.size + 512
    addMethods()
    try state.register(type)
  }

  /// Creates the table `io`. Its functions use the library's streams.
  func io() throws(LuaError) -> LuaTable {
    let table = try state.table()
    try table.set("stdin", to: .object(LuaObject(standardInput, as: type)))
    try table.set("stdout", to: .object(LuaObject(standardOutput, as: type)))
    try table.set("stderr", to: .object(LuaObject(standardError, as: type)))
    try table.set("open", to: state.function(open))
    try table.set("close", to: state.function(closeFile))
    try table.set("lines", to: state.function(lines))
    try table.set("read", to: state.function { [self] in try read(try opened(input), call: &$0, from: 0) })
    try table.set("write", to: state.function { [self] in try write(try opened(output), call: &$0, from: 0) })
    try table.set("input", to: state.function { [self] in input = try stream(&$0, mode: "r", current: input) })
    try table.set("output", to: state.function { [self] in output = try stream(&$0, mode: "w", current: output) })
    try table.set(
      "type",
      to: state.function { call in
        guard let file: LuaFile = call.objectIfPresent(0) else { return call.returnNil() }
        call.return(file.isOpen ? "file" : "closed file")
      })
    return table
  }

  /// Adds a file that was written to, if unwritten bytes remain. Called after each write.
  func noteWritten(_ file: LuaFile) throws {
    guard file.isOwing, !owing.contains(where: { $0 === file }) else { return }
    owing.removeAll { !$0.isOwing }
    if owing.count == Self.greatestOwing { try flush() }
    owing.append(file)
  }

  /// Flushes the pipes and devices. Throws if the run must end meanwhile. Errors of single files are ignored.
  func flush() throws {
    while let file = owing.popLast() {
      do { try file.flush() } catch is LuaFile.Failure {}  // the receiver stopped reading
    }
  }

  /// The methods and operators of `FILE*`.
  private func addMethods() {
    type.method("read") { [unowned self] file, call in try read(try opened(file), call: &call, from: 0) }
    type.method("write") { [unowned self] file, call in try write(try opened(file), call: &call, from: 0) }
    type.method("lines") { [unowned self] file, call in
      try call.return(try iterator(try opened(file), formats: formats(&call, from: 0), closing: false, in: call.state))
    }
    type.method("close") { [unowned self] file, call in try close(try opened(file), call: &call) }
    type.method("flush") { [unowned self] file, call in
      try reporting(&call) { try opened(file).flush() }
      try call.return(.object(LuaObject(file, as: type)))
    }
    type.method("seek") { [unowned self] file, call in try seek(try opened(file), call: &call) }
    type.method("setvbuf") { [unowned self] file, call in
      guard let mode = LuaFile.Buffering(rawValue: try call.name(0)) else {
        throw call.argumentError(0, problem: "invalid option '\(try call.name(0))'")
      }
      try opened(file).setBuffering(mode)
      call.return(true)
    }
    type.operator(.text) { call in
      let file: LuaFile = try call.object(0)
      call.return(file.isOpen ? "file" : "file (closed)")
    }
    type.operator(.close) { call in
      if let file: LuaFile = call.objectIfPresent(0), file.isOpen, !file.isStandard { try? file.close() }
    }
  }
}
