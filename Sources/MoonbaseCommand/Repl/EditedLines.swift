import MoonbaseCEdit
import MoonbasePlatform
import MoonbaseScripting

/// Reads lines from a terminal with libedit. They can be edited, and there is a history. Tab completes names.
///
/// The library calls functions without a context, so there is only one instance, on the main thread.
///
/// `Repl` uses it if standard input and standard output are a terminal and libedit can be loaded.
/// Otherwise, it uses `PlainLines`. The library is loaded at run time, because not every system has
/// it.
final class EditedLines: PromptLines {
  /// The only instance, for the callbacks of the library.
  nonisolated(unsafe) private static var shared: EditedLines?  // only used on the main thread

  /// Always true, because the lines come from a terminal.
  let isInteractive = true
  /// The loaded functions of the library with their state.
  private var edit: MoonbaseEdit
  /// The stored inputs of earlier sessions.
  private var history: LineHistory
  /// Returns the candidates for the text before the cursor.
  private let completion: ([UInt8]) -> PromptCompletion
  /// The prompt as a C string for the library.
  private var prompt: UnsafeMutablePointer<CChar>?
  /// Whether Ctrl-C was pressed while the current line was edited.
  private var wasInterrupted = false
  /// A byte that was already read and belongs to the next character.
  private var byteAhead: UInt8?

  /// Whether the terminal can move the cursor.
  static var terminalCanEdit: Bool {
    !["", "dumb"].contains(ProcessInfo.processInfo.environment["TERM"] ?? "")
  }

  /// Returns nil if the library is missing or the terminal cannot move the cursor.
  ///
  /// - Parameter completion: Returns the candidates for the text before the cursor.
  static func open(_ completion: @escaping ([UInt8]) -> PromptCompletion) -> EditedLines? {
    guard terminalCanEdit else { return nil }
    // The text is UTF-8 in every locale.
    if setlocale(LC_CTYPE, "C.UTF-8") == nil { setlocale(LC_CTYPE, "en_US.UTF-8") }
    var edit = MoonbaseEdit()
    guard moonbase_edit_load(&edit) else { return nil }
    let lines = EditedLines(edit, completion)
    guard lines.begin() else { return nil }
    shared = lines
    return lines
  }

  /// Reads the stored history. If it cannot be stored, a message is printed.
  private init(_ edit: MoonbaseEdit, _ completion: @escaping ([UInt8]) -> PromptCompletion) {
    (self.edit, self.completion, history) = (edit, completion, LineHistory())
    if let problem = history.problem { Terminal.complain("moonbase: the history is not kept: \(problem)") }
  }

  /// Starts the library and binds keys. Returns false if the library cannot use the terminal.
  private func begin() -> Bool {
    guard
      moonbase_edit_begin(
        &edit, Int32(LineHistory.greatestCount), { _ in EditedLines.shared?.prompt },
        { _, place in EditedLines.shared?.readCharacter(into: place) ?? -1 })
    else { return false }
    moonbase_edit_add(&edit, "moonbase-complete", "Completes a name") { _, _ in
      EditedLines.shared?.complete() ?? UInt8(CC_ERROR)
    }
    for (key, command) in Self.bindings { moonbase_edit_bind(&edit, key, command) }
    _ = edit.source(edit.line, nil)
    for input in history.inputs { moonbase_edit_remember(&edit, String(decoding: input, as: UTF8.self)) }
    return true
  }

  /// The keys in addition to those of the library, with their commands.
  private static let bindings = [
    ("^I", "moonbase-complete"), ("^R", "em-inc-search-prev"), ("^W", "ed-delete-prev-word"),
    ("\\e[1;5C", "em-next-word"), ("\\e[1;5D", "ed-prev-word"), ("\\e[3~", "ed-delete-next-char"),
    ("\\e[H", "ed-move-to-beg"), ("\\e[F", "ed-move-to-end"), ("\\eOH", "ed-move-to-beg"), ("\\eOF", "ed-move-to-end"),
    ("\\e[1~", "ed-move-to-beg"), ("\\e[4~", "ed-move-to-end"),
  ]

  /// Adds an input to the stored history and to the history of the library.
  func remember(_ input: [UInt8]) {
    history.add(input)
    moonbase_edit_remember(&edit, String(decoding: input, as: UTF8.self))
  }

  /// Reads a line.
  ///
  /// - Parameter prompt: The text before the line.
  func next(_ prompt: String) -> PromptLine {
    StandardStream.flush()
    free(self.prompt)
    self.prompt = strdup(prompt)
    wasInterrupted = false
    _ = PromptSignals.consumeInterruption()
    // The library shows the prompt before it prepares the terminal. A Ctrl-D between the two would be lost.
    moonbase_edit_prepare(&edit, true)
    var count: Int32 = 0
    let text = PromptSignals.whileEditing { edit.gets(edit.line, &count) }
    guard let text, count > 0 else {
      StandardStream.output.write(wasInterrupted ? "^C\n" : "\n")
      return wasInterrupted ? .interrupted : .end
    }
    let bytes = UnsafeRawBufferPointer(start: text, count: Int(count))
    return .line(Array(bytes.last == UInt8(ascii: "\n") ? bytes.dropLast() : bytes[...]))
  }

  // MARK: Called by the library

  /// Reads a character, as `el_rfunc_t` requires. Returns 1 for a character, 0 at the end of the input, and -1 if the
  /// line has ended.
  ///
  /// - Parameter place: The place for the character.
  private func readCharacter(into place: UnsafeMutablePointer<wchar_t>?) -> Int32 {
    var bytes: [UInt8] = []
    while true {
      if PromptSignals.consumeInterruption() {
        wasInterrupted = true
        return -1
      }
      if let signal = PromptSignals.end { leave(by: signal) }
      if PromptSignals.consumeRedraw() { redraw() }
      var byte = byteAhead ?? 0
      let count = byteAhead == nil ? read(STDIN_FILENO, &byte, 1) : 1
      if count < 0, errno == EINTR { continue }
      guard count == 1 else { return Int32(count) }
      byteAhead = nil
      if bytes.isEmpty || byte & 0xC0 == 0x80 { bytes.append(byte) } else { byteAhead = byte }
      guard byteAhead != nil || bytes.count == Self.length(ofCharacterThatBegins: bytes[0]) else { continue }
      let scalar = String(decoding: bytes, as: UTF8.self).unicodeScalars.first ?? "\u{FFFD}"
      place?.pointee = wchar_t(scalar.value)
      return 1
    }
  }

  /// The number of bytes in a UTF-8 character. A byte that cannot be a first byte counts as a character.
  private static func length(ofCharacterThatBegins byte: UInt8) -> Int {
    switch byte {
    case 0xC2...0xDF: 2
    case 0xE0...0xEF: 3
    case 0xF0...0xF4: 4
    default: 1
    }
  }

  /// Writes the line again, after the size of the terminal has changed or the process has
  /// continued.
  private func redraw() {
    moonbase_edit_prepare(&edit, true)
    edit.resize(edit.line)
    // The library assumes that the cursor is at the start of an empty line.
    StandardStream.output.write("\r\u{1B}[J")
    StandardStream.flush()
    moonbase_edit_refresh(&edit)
  }

  /// Restores the settings of the terminal before the process ends.
  ///
  /// - Parameter number: The signal that ends the process.
  private func leave(by number: Int32) {
    moonbase_edit_prepare(&edit, false)
    signal(number, SIG_DFL)
    raise(number)
  }

  /// Completes the text before the cursor, or lists the candidates. Returns the code that the
  /// library expects from a key's function.
  private func complete() -> UInt8 {
    guard let info = edit.content(edit.line)?.pointee, let start = info.buffer, let cursor = info.cursor else {
      return UInt8(CC_ERROR)
    }
    let line = Array(UnsafeRawBufferPointer(start: start, count: cursor - start))
    // A Tab at the start of a line is indentation, for example in pasted code.
    guard line.contains(where: { $0 != UInt8(ascii: " ") }) else { return insert("  ", over: 0) }
    let found = LineCompletion(completion(line), of: line)
    if let text = found.common { return insert(text, over: found.length) }
    guard found.candidates.count > 1 else { return UInt8(CC_ERROR) }
    StandardStream.output.write("\n\(found.list(width: TerminalWidth.columns))")
    StandardStream.flush()
    return UInt8(CC_REDISPLAY)
  }

  /// Replaces the characters before the cursor by a text.
  ///
  /// - Parameters:
  ///   - text: The new text.
  ///   - count: The number of characters to remove.
  private func insert(_ text: String, over count: Int) -> UInt8 {
    if count > 0 { edit.remove(edit.line, Int32(count)) }
    return edit.insert(edit.line, text) == 0 ? UInt8(CC_REFRESH) : UInt8(CC_ERROR)
  }
}
