/// A place in a file that a person wrote.
public struct SourceLocation: Sendable, Hashable, CustomStringConvertible {
  /// The file, as it was named by whoever asked to read it.
  public var file: String
  /// The line, from 1; nil where the form has no lines.
  public var line: Int?

  /// Makes a location.
  public init(file: String, line: Int? = nil) {
    self.file = file
    self.line = line
  }

  /// `file:line`, or the file alone.
  public var description: String { line.map { "\(file):\($0)" } ?? file }
}
