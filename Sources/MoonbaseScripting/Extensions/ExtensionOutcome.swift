/// The outcome of an attempt to reload extensions, or to adopt a reload in a context.
public enum ExtensionOutcome: Sendable, CustomStringConvertible {
  /// The files were read. Contexts take them over at their next edges.
  case reloaded(ExtensionReload)
  /// The files could not be read, or do not fit the model. The former generation goes on. The error is a `ScriptError`
  /// with file and line for a mistake in a file.
  case failed(any Error)
  /// A context could not take over what was read, and keeps what it has until something else is read.
  case refused(ExtensionRefusal)

  /// The outcome as a line for a person; an error may have several.
  public var description: String {
    switch self {
    case .reloaded(let reload): "\(reload)"
    case .failed(let error): "the extensions stay as they are: \(error)"
    case .refused(let refusal): "\(refusal)"
    }
  }
}

/// Says which context goes on with former extensions, and why.
public struct ExtensionRefusal: Sendable, CustomStringConvertible {
  /// The generation of extensions that the context could not take over.
  public var generation: Int
  /// The name of the context, where it has one.
  public var context: String?
  /// The cause: an error of `on_reload`, or of the files within the context.
  public var error: any Error

  /// The refusal as a line for a person.
  public var description: String {
    let subject = context.map { "the context \($0)" } ?? "a context"
    return "\(subject) keeps its former extensions: \(error)"
  }
}
