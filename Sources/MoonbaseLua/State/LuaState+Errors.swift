import MoonbaseLuaShim
import MoonbasePlatform

/// A Swift error that passes through Lua.
///
/// C keeps it inside of the raised value. When the error returns to Swift, the original error is found again by
/// `mbl_crossed_error`.
final class LuaCrossedError {
  /// The error of the host; never a `LuaError` that wraps one.
  let error: any Error
  /// The traceback of an error that came from Lua before.
  let traceback: [LuaError.Frame]

  /// Unwraps a `LuaError`.
  init(_ error: any Error) {
    self.error = (error as? LuaError)?.underlying ?? error
    traceback = (error as? LuaError)?.traceback ?? []
  }

  /// The estimated bytes that it retains. A host error may hold more.
  var weight: Int64 { 1024 + 160 * Int64(traceback.count) }
}

/// The raised value belongs to one state.
extension LuaError {
  /// The error value as the script raised it; nil in any other state.
  public func value(in state: LuaState) -> LuaValue? {
    guard let value = raisedValue, state.owns(value) else { return nil }
    return value
  }
}

/// Errors between Lua and Swift, in both directions. From Lua to Swift: `popError` makes a `LuaError` of the value on
/// the stack. From Swift to Lua: `fail` passes an error to C.
extension LuaState {
  /// Throws `.stack` or `.memory` for a status without a raised value.
  func check(_ status: MBLStatus) throws(LuaError) {
    if status != .OK { throw LuaError(status == .stack ? .stack : .memory, message: "not enough memory") }
  }

  /// Pops the value raised by a failed call and creates the error. Also restores the traces for the next error. A run
  /// that must end gives its own error, whatever was raised.
  func popError(_ status: MBLStatus) -> LuaError {
    if status == .stack { return LuaError(.stack, message: "stack overflow in the host") }
    defer { pop() }
    defer { rethrown = nil }
    defer { forgetEndedRun() }
    let outer = traceback()
    if let ended = endedError(outer) { return ended }
    let box = mbl_crossed_error(raw, -1).map { Unmanaged<LuaCrossedError>.fromOpaque($0).takeUnretainedValue() }
    let crossed = box?.error
    var plain = MBLValue()
    mbl_get(mbl_thread(raw), -1, &plain)
    let text = Self.beginning(of: errorText(plain, crossed: crossed))
    // Making the text may itself have ended the run.
    if let ended = endedError(outer) { return ended }
    let inner = box?.traceback ?? rethrown.flatMap { text.hasSuffix($0.text) ? $0.traceback : nil } ?? []
    let frames = Self.joined(inner, outer)
    let (script, line, message) = Self.place(in: text, frames: frames)
    let kind = kind(of: status, crossed: crossed, message: message)
    let raisedCode = crossed == nil ? raisedTable(plain)?.code : nil
    return LuaError(
      kind, message: message, script: script, line: line, traceback: status == .syntax ? [] : frames,
      underlying: crossed, value: status == .memory ? nil : try? value(plain), raised: text, raisedCode: raisedCode)
  }

  /// The next run that must end records its own place.
  func forgetEndedRun() {
    if !endedFrames.isEmpty, !isRunning { endedFrames = [] }
  }

  /// False if the metatable cannot be read.
  private func hasNoMetatable(_ table: LuaTable) -> Bool {
    do { return try table.metatable == nil } catch { return false }
  }

  /// The message and the code of a plain table raised as an error: `error({ message = "is too late", code = 7 })`. A
  /// table with a metatable has its own text.
  private func raisedTable(_ plain: MBLValue) -> (message: String, code: Int?)? {
    guard plain.tag == .table, case .table(let table)? = try? value(plain), hasNoMetatable(table),
      let message = (try? table.get("message"))?.textValue
    else { return nil }
    return (message, (try? table.get("code"))?.integerValue.flatMap { Int(exactly: $0) })
  }

  /// The traceback of an error that passed through a host function: its earlier frames, followed by the surrounding
  /// frames.
  private static func joined(_ inner: [LuaError.Frame], _ outer: [LuaError.Frame]) -> [LuaError.Frame] {
    guard !inner.isEmpty else { return outer }
    // The inner traceback may contain outer frames already.
    let most = min(inner.count, outer.count)
    let shared = (0...most).last { inner.suffix($0).elementsEqual(outer.prefix($0)) } ?? 0
    // A script may pass the same error through host functions repeatedly.
    return Array((inner + outer.dropFirst(shared)).prefix(64))
  }

  /// The error of a run that must end; nil for other runs. The reason is kept outside of Lua, where scripts cannot
  /// change it.
  func endedError(_ frames: [LuaError.Frame]) -> LuaError? {
    let kind: LuaError.Kind
    let message: String
    switch mbl_abort(raw) {
    case .none: return nil
    case .instructions: (kind, message) = (.limit(.instructions), "the script used up its instructions")
    case .deadline: (kind, message) = (.limit(.deadline), "the script ran out of time")
    case .memory: (kind, message) = (.limit(.memory), "the script used more memory than it may")
    case .output: (kind, message) = (.limit(.output), "the script wrote more than it may")
    case .coroutines: (kind, message) = (.limit(.coroutines), "the script keeps too many coroutines")
    case .callDepth: (kind, message) = (.limit(.callDepth), "the script calls too deep")
    case .interrupted: (kind, message) = (.interrupted, "interrupted")
    case .exit: (kind, message) = (.exit(Int(mbl_exit_status(raw))), "the script called os.exit")
    }
    // Ending a run ends nested calls too; the innermost call recorded the script's place.
    if endedFrames.isEmpty { endedFrames = frames }
    let place = endedFrames.first { $0.line != nil }
    return LuaError(
      kind, message: message, script: place?.source, line: place?.line, traceback: endedFrames)
  }

  /// Errors of Lua are distinguished by status and message, errors of the host by their type.
  private func kind(of status: MBLStatus, crossed: (any Error)?, message: String) -> LuaError.Kind {
    switch status {
    case .syntax:
      return message.contains("attempt to load a binary chunk") || message.contains("truncated precompiled chunk")
        ? .binary : .syntax
    case .memory: return .memory
    case .handler: return .handler
    default: break
    }
    guard let crossed else {
      return message.hasPrefix("stack overflow") || message.hasPrefix("C stack overflow") ? .stack : .runtime
    }
    return (crossed as? LuaError)?.kind ?? .host
  }

  /// Values other than strings are converted by `__tostring`, which may itself fail.
  private func errorText(_ plain: MBLValue, crossed: (any Error)?) -> String {
    if let crossed = crossed as? LuaError { return crossed.description }
    if let crossed { return String(describing: crossed) }
    if plain.tag == .string { return string(plain).description }
    if let message = raisedTable(plain)?.message { return message }
    let status = mbl_to_text(raw, -1)
    defer { pop() }
    var text = MBLValue()
    if status == .OK { mbl_get(mbl_thread(raw), -1, &text) }
    guard text.tag == .string else { return "(error object is a \(Self.name(of: plain.tag)) value)" }
    return string(text).description
  }

  /// The most bytes kept of an error's text, because a script may raise any length. The raised value itself is not
  /// truncated.
  private static let longestMessage = 16 << 10

  /// Cuts at a character and names the number of bytes.
  private static func beginning(of text: String) -> String {
    let count = text.utf8.count
    guard count > longestMessage else { return text }
    // A copy, because a substring would retain the whole text.
    return String(String.UnicodeScalarView(text.unicodeScalars.prefix(longestMessage))) + "… (\(count) bytes in all)"
  }

  /// Lua's name of a type that has no text.
  private static func name(of tag: MBLTag) -> String {
    switch tag {
    case .nil: "nil"
    case .boolean: "boolean"
    case .table: "table"
    case .function: "function"
    case .thread: "thread"
    default: "userdata"
    }
  }

  /// Splits "script:12: message". Without a place in the text, the innermost script frame provides it. For example
  /// `a.lua:3: wrong` gives `a.lua`, 3 and `wrong`.
  static func place(in text: String, frames: [LuaError.Frame]) -> (script: String?, line: Int?, message: String) {
    let parts = text.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
    if parts.count == 3, let line = Int(parts[1]), !parts[0].isEmpty, parts[2].hasPrefix(" ") {
      return (String(parts[0]), line, String(parts[2].dropFirst()))
    }
    let frame = frames.first { $0.line != nil }
    return (frame?.source, frame?.line, text)
  }

  /// The active calls, innermost first, for an error about to be raised. Empty outside of scripts.
  package func callsUnderWay() -> [LuaError.Frame] {
    mbl_trace_here(raw)
    defer { mbl_trace_clear(raw) }
    return traceback()
  }

  /// The frames that C recorded with the last error.
  func traceback() -> [LuaError.Frame] {
    (0..<mbl_trace_count(raw)).map { index in
      let entry = mbl_trace_entry(raw, index)
      return LuaError.Frame(
        source: String(cString: entry.source), line: entry.line > 0 ? Int(entry.line) : nil,
        name: entry.name.map { String(cString: $0) }, kind: String(cString: entry.kind),
        definition: entry.defined > 0 ? Int(entry.defined) : nil)
    }
  }

  /// Passes a Swift error to C, which raises it after all Swift frames have returned. An error that came from the same
  /// state is raised again with its value. Any other error becomes the value of `errorMapper`, a text, or userdata that
  /// contains the error.
  func fail(_ error: any Error) {
    if let error = error as? LuaError {
      if !error.traceback.isEmpty, !error.message.isEmpty { rethrown = (error.message, error.traceback) }
      if case .string(let string)? = error.value(in: self), error.underlying == nil {
        // Lua raised the error as text before it passed through the host, so the same text is raised again.
        return failValue(.string(string), error: error)
      }
      if let value = error.value(in: self) { return failValue(value, error: error) }
      if error.underlying == nil, error.kind == .runtime || error.kind == .conversion {
        if let errorMapper, let placed = placedWhereRaised(error), let value = errorMapper(placed, self) {
          return failValue(value, error: placed)
        }
        var text = error.description
        return text.withUTF8 { bytes in
          bytes.withMemoryRebound(to: CChar.self) { mbl_fail_text(raw, $0.baseAddress, $0.count) }
        }
      }
    }
    let origin = (error as? LuaError)?.underlying ?? error
    if let value = errorMapper?(origin, self) { return failValue(value, error: error) }
    let crossed = LuaCrossedError(error)
    mbl_fail(raw, Unmanaged.passRetained(crossed).toOpaque(), crossed.weight)
  }

  /// Adds the line of the calling script to a host error, for example about an argument. Nil for an error that Lua
  /// raised already.
  private func placedWhereRaised(_ error: LuaError) -> LuaError? {
    guard error.raisedText == nil, error.script == nil else { return nil }
    let place = blamedPlace
    let (script, line, message) = Self.place(in: place + error.message, frames: [])
    return place.isEmpty ? error : LuaError(error.kind, message: message, script: script, line: line)
  }

  /// The line of the calling script, ignoring shipped modules: "script.lua:12: ". Empty outside of scripts.
  package var blamedPlace: String {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: 128) { buffer in
      guard let base = buffer.baseAddress else { return "" }
      mbl_blame(mbl_thread(raw), base, 128)
      return String(cString: base)
    }
  }

  /// Raises a value that keeps the Swift error. If memory is exhausted, the error is raised alone.
  private func failValue(_ value: LuaValue, error: any Error) {
    var reference: Int32 = 0
    let crossed = LuaCrossedError(error)
    let box = Unmanaged.passRetained(crossed).toOpaque()
    let buffer = acquireBuffer(1)
    defer { giveBack(buffer) }
    do {
      try buffer.set(0, to: value, for: self)
      buffer.seal(1)
      try check(mbl_push(raw, buffer.values))
      defer { pop() }
      try check(mbl_reference(raw, -1, &reference))
      mbl_fail_value(raw, reference, box, crossed.weight)
    } catch {
      mbl_fail(raw, box, crossed.weight)
    }
  }
}
