/// The outcome of an attempt to reload extensions, or to adopt a reload in a context.
public enum ExtensionOutcome: Sendable, CustomStringConvertible {
  /// The files were read. Contexts adopt them at the next boundaries of their work.
  case reloaded(ExtensionReload)
  /// The files could not be read or do not fit the model. The former generation stays in place. For a mistake in a file
  /// the error is a `ScriptError` with file and line.
  case failed(any Error)
  /// A context could not adopt a reload, and keeps its generation until the next reload.
  case refused(ExtensionRefusal)

  /// The outcome as a line for a person. An error may have several lines.
  public var description: String {
    switch self {
    case .reloaded(let reload): "\(reload)"
    case .failed(let error): "the extensions stay as they are: \(error)"
    case .refused(let refusal): "\(refusal)"
    }
  }
}

/// A context that keeps its former extensions, with the reason.
public struct ExtensionRefusal: Sendable, CustomStringConvertible {
  /// The generation of extensions that the context could not adopt.
  public var generation: Int
  /// The name of the context; nil if it has none.
  public var context: String?
  /// The cause: an error of `on_reload`, or of the files within the context.
  public var error: any Error

  /// The refusal as a line for a person.
  public var description: String {
    let subject = context.map { "the context \($0)" } ?? "a context"
    return "\(subject) keeps its former extensions: \(error)"
  }
}
