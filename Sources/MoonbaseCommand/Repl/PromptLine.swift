/// A line that a prompt reads.
enum PromptLine {
  /// Without its end.
  case line([UInt8])
  /// Ctrl-C, which gives up the input.
  case interrupted
  /// Ctrl-D, or the end of the file.
  case end
}

/// Where a prompt has its lines from.
protocol PromptLines: AnyObject {
  /// Whether a person answers.
  var isInteractive: Bool { get }

  func next(_ prompt: String) throws -> PromptLine

  /// Notes a whole input for the history.
  func remember(_ input: [UInt8])
}
