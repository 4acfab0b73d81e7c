/// The result of reading a line at a prompt.
enum PromptLine {
  /// A line without its line end.
  case line([UInt8])
  /// Ctrl-C, which discards the input.
  case interrupted
  /// Ctrl-D, or the end of the file.
  case end
}

/// The source of a prompt's lines.
///
/// `EditedLines` reads from a terminal with editing, and `PlainLines` reads from everything else.
protocol PromptLines: AnyObject {
  /// Whether a user types the lines.
  var isInteractive: Bool { get }

  /// Waits for the next line.
  ///
  /// - Parameter prompt: The text before the line.
  func next(_ prompt: String) throws -> PromptLine

  /// Adds a complete input to the history.
  func remember(_ input: [UInt8])
}
