internal import MoonbaseCSQLite
package import MoonbasePlatform

/// The object that SQLite holds for a registered function.
///
/// SQLite retains the box until the function is redefined or the connection closes. The box does not retain the
/// connection.
private final class FunctionBox {
  /// Sound: a connection's functions end with it.
  private unowned(unsafe) let connection: Connection
  /// Begun before the first call and ended by another function or the end of the step.
  private let scope: (any CallScope)?
  /// The identity of the scope, for a comparison per call.
  private let scopeID: ObjectIdentifier?
  /// Whether the function may be called within the scope of other functions.
  private let fitsAnyScope: Bool
  /// Tried first; nil for functions without a quick form.
  private let quick: QuickFunction?
  /// The quick form, as a reference without reference counting.
  private let uncountedQuick: Unmanaged<QuickFunction>?
  /// Reports its result through the call. Its error is rethrown by the step.
  private let body: (borrowing FunctionCall) throws -> Void

  /// Stores what a call needs.
  init(
    _ connection: Connection, scope: (any CallScope)?, fitsAnyScope: Bool, quick: QuickFunction?,
    _ body: @escaping (borrowing FunctionCall) throws -> Void
  ) {
    self.connection = connection
    (self.scope, scopeID, self.fitsAnyScope) = (scope, scope.map(ObjectIdentifier.init), fitsAnyScope)
    (self.quick, uncountedQuick, self.body) = (quick, quick.map(Unmanaged.passUnretained), body)
  }

  /// Runs a call of SQLite: changes the scope if necessary, tries the quick form, then the body.
  @inline(__always)
  func run(in context: OpaquePointer, arguments: UnsafeBufferPointer<OpaquePointer?>) {
    if !fitsAnyScope, connection.callScopeID != scopeID { connection.change(to: scope) }
    let call = FunctionCall(context: context, arguments: arguments)
    if let quick = uncountedQuick, quick._withUnsafeGuaranteedRef({ $0.perform(call) }) { return }
    do {
      try body(call)
    } catch {
      connection.functionError = error
      sqlite3_result_error(context, "a function failed", -1)
    }
  }
}

extension Connection {
  /// The properties of a function that SQLite relies on.
  public struct FunctionTraits: OptionSet, Sendable {
    /// SQLite's bits.
    public let rawValue: Int32
    /// Traits from SQLite's bits.
    public init(rawValue: Int32) { self.rawValue = rawValue }
    /// The result depends only on the arguments.
    public static let deterministic = Self(rawValue: SQLITE_DETERMINISTIC)
    /// Views, triggers and indexes of the file must not call the function.
    public static let directOnly = Self(rawValue: SQLITE_DIRECTONLY)
    /// The function is harmless, so triggers, views and indexes of untrusted files may call it.
    public static let innocuous = Self(rawValue: SQLITE_INNOCUOUS)
  }

  /// Registers a Swift function for use in SQL.
  ///
  /// An error thrown by `body` ends the statement and is rethrown unchanged by the step that ran it; the connection
  /// stays usable. Redefining a function while a statement steps fails with `.busy`; use another name. `arguments` is
  /// the exact number of arguments, or -1 for any number.
  public func register(
    function name: String, arguments: Int32, traits: FunctionTraits,
    _ body: @escaping (borrowing FunctionCall) throws -> Void
  ) throws {
    try register(function: name, arguments: arguments, traits: traits, within: nil, body)
  }

  /// Registers a Swift function whose calls share a scope. The scope of other functions ends before the call of a
  /// function without a scope, unless that is deterministic. If the quick form fails, `body` is called.
  ///
  /// A scope is, for example, a run of a Lua state, begun once for all rows of a statement instead of once per row.
  package func register(
    function name: String, arguments: Int32, traits: FunctionTraits, within scope: (any CallScope)?,
    quick: QuickFunction? = nil, _ body: @escaping (borrowing FunctionCall) throws -> Void
  ) throws {
    let fitsAnyScope = scope == nil && traits.contains(.deterministic)
    let box = Unmanaged.passRetained(FunctionBox(self, scope: scope, fitsAnyScope: fitsAnyScope, quick: quick, body))
    let code = sqlite3_create_function_v2(
      handle, name, arguments, SQLITE_UTF8 | traits.rawValue, box.toOpaque(),
      { context, count, values in
        guard let context, let data = sqlite3_user_data(context) else { return }
        // SQLite retains the box as long as a statement may call it.
        Unmanaged<FunctionBox>.fromOpaque(data)._withUnsafeGuaranteedRef {
          $0.run(in: context, arguments: UnsafeBufferPointer(start: values, count: Int(count)))
        }
      }, nil, nil,
      { data in
        if let data { Unmanaged<FunctionBox>.fromOpaque(data).release() }
      })
    if code != SQLITE_OK { throw error(code, sql: nil) }
  }

  /// Unregisters a function and releases it. Has no effect while a statement steps.
  public func unregister(function name: String, arguments: Int32) {
    _ = sqlite3_create_function_v2(handle, name, arguments, SQLITE_UTF8, nil, nil, nil, nil, nil)
  }

  /// Ends the current scope and begins another one; nil only ends.
  func change(to scope: (any CallScope)?) {
    callScope?.end()
    (callScope, callScopeID) = (scope, scope.map(ObjectIdentifier.init))
    scope?.begin()
  }
}
