import MoonbasePlatform

/// Handles the signals of a prompt. The signal handlers only record a signal, and the code that reads the next
/// character processes it.
enum PromptSignals {
  /// Set by SIGINT.
  nonisolated(unsafe) private static var interruptions: sig_atomic_t = 0  // written by handlers, and by the main thread
  /// Set by SIGWINCH and SIGCONT.
  nonisolated(unsafe) private static var redraws: sig_atomic_t = 0  // written by handlers, and by the main thread
  /// The signal that must end the process, or 0.
  nonisolated(unsafe) private static var ending: sig_atomic_t = 0  // written by handlers, and by the main thread

  /// After this call, SIGINT does not end the process. It discards a line, or interrupts Lua.
  static func begin() { install(SIGINT) { _ in PromptSignals.interruptions = 1 } }

  /// Whether SIGINT has arrived since the last call.
  static func consumeInterruption() -> Bool {
    defer { interruptions = 0 }
    return interruptions != 0
  }

  /// Whether the size of the terminal has changed, or the process has continued after a stop, since the last call.
  static func consumeRedraw() -> Bool {
    defer { redraws = 0 }
    return redraws != 0
  }

  /// The signal that must end the process.
  ///
  /// It is processed between two characters, after the terminal is restored.
  static var end: Int32? { ending == 0 ? nil : Int32(ending) }

  /// Handles the signals that are relevant while a line is edited.
  ///
  /// The previous handlers are restored afterwards.
  ///
  /// - Parameter body: Edits a line.
  static func whileEditing<Result>(_ body: () throws -> Result) rethrows -> Result {
    let former =
      [SIGWINCH, SIGCONT].map { number in (number, install(number) { _ in PromptSignals.redraws = 1 }) }
      + [SIGTERM, SIGHUP].map { number in (number, install(number) { PromptSignals.ending = sig_atomic_t($0) }) }
    defer {
      for (number, action) in former {
        if var action { sigaction(number, &action, nil) }
      }
    }
    return try body()
  }

  /// Installs a handler that interrupts a read, unless the signal is ignored. Returns the previous handler.
  ///
  /// - Parameters:
  ///   - number: The signal.
  ///   - handler: The function, which may only set a flag.
  /// - Returns: The previous action, or nil if the signal is ignored.
  @discardableResult
  private static func install(_ number: Int32, _ handler: @escaping @convention(c) (Int32) -> Void) -> sigaction? {
    var former = sigaction()
    sigaction(number, nil, &former)
    guard !Interruption.ignores(former.handlerOfSignal) else { return nil }
    var action = sigaction()
    action.handlerOfSignal = handler
    sigaction(number, &action, nil)
    return former
  }
}

extension sigaction {
  /// The handler, whose field has another name on each system.
  fileprivate var handlerOfSignal: (@convention(c) (Int32) -> Void)? {
    get {
      #if canImport(Darwin)
        __sigaction_u.__sa_handler
      #else
        __sigaction_handler.sa_handler
      #endif
    }
    set {
      #if canImport(Darwin)
        __sigaction_u.__sa_handler = newValue
      #else
        __sigaction_handler.sa_handler = newValue
      #endif
    }
  }
}
