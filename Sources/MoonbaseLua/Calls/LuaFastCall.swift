import MoonbaseLuaShim
import MoonbasePlatform

/// Calls a Lua function many times, usually for a single result each, without allocations for numbers and booleans.
///
/// ```swift
/// let call = LuaFastCall(function, parameters: 2)
/// for row in rows {
///   total += try call.run {
///     $0.set(0, integer: row.price)
///     $0.set(1, integer: row.quantity)
///   } reading: { $0.integer ?? 0 }
/// }
/// ```
///
/// Calls may nest: the function, and the closure that sets its arguments, may make the same call again.
///
/// A call belongs to its state and is used on the thread of the state. It keeps the function alive, but not the state:
/// after the state's end, calls throw `.closed`.
public final class LuaFastCall {
  /// The function.
  private let reference: LuaReference
  /// The place of the function in Lua's registry.
  private let index: Int32
  /// The arguments.
  let buffer: LuaArgumentBuffer
  /// The number of arguments.
  @usableFromInline let count: Int
  /// The values of the buffer, which never move because the number of arguments is constant. Callers write into them
  /// directly, in the layout of `MBLValue`: number, length, tag.
  @usableFromInline let words: UnsafeMutableRawPointer
  /// `words` with the type of C.
  private let values: UnsafeMutablePointer<MBLValue>
  /// Whether the buffer has values besides scalars and borrowed bytes.
  @usableFromInline let holdsMore: UnsafeMutablePointer<Bool>
  /// The state in C; nil after its end.
  private let home: UnsafeMutablePointer<OpaquePointer?>
  /// Whether arguments are being set. A nested call uses its own buffer meanwhile.
  @usableFromInline @exclusivity(unchecked) var isPlacing = false

  /// Prepares calls with `parameters` arguments.
  public convenience init(_ function: LuaFunction, parameters: Int) {
    self.init(function.reference, parameters: parameters)
  }

  /// A call of the same function with its own buffer.
  @usableFromInline
  convenience init(besides other: LuaFastCall) { self.init(other.reference, parameters: other.count) }

  /// The layout of `MBLValue` is asserted, because inlined code depends on it.
  private init(_ reference: LuaReference, parameters: Int) {
    self.reference = reference
    index = reference.index
    count = parameters
    buffer = LuaArgumentBuffer(capacity: parameters)
    values = buffer.values
    words = UnsafeMutableRawPointer(buffer.values)
    assert(MemoryLayout<MBLValue>.stride == 24 && MemoryLayout<MBLValue>.offset(of: \.tag) == 16)
    assert(MBLTag.nil.rawValue == 0 && MBLTag.integer.rawValue == 2 && MBLTag.number.rawValue == 3)
    assert(MBLTag.string.rawValue == 4 && MBL_BORROWED == 1 && MemoryLayout<MBLValue>.offset(of: \.extra) == 20)
    holdsMore = buffer.holdsMore
    home = reference.link.home
  }

  // Inlinable, together with arguments and results: docs/development.md, "What the compiler is told".

  /// Calls the function with the arguments that `place` sets. `read` reads the result, which is valid during the call.
  /// Throws `LuaError` for an error of the function, and the errors of both closures. `read` must not keep the result.
  @inlinable
  public func run<Result>(
    _ place: (borrowing LuaArguments) throws -> Void = { _ in }, reading read: (borrowing LuaResult) throws -> Result
  ) throws -> Result {
    if isPlacing { return try runBesides(place, read) }
    try fill(place)
    let result = try begin()
    defer { if result.top >= 0 { end(result) } }
    return try read(result)
  }

  /// Makes a nested call with its own buffer, from the closure that sets this call's arguments. A rare case, so the
  /// buffer is not cached.
  @usableFromInline
  func runBesides<Result>(
    _ place: (borrowing LuaArguments) throws -> Void, _ read: (borrowing LuaResult) throws -> Result
  ) throws -> Result {
    let other = LuaFastCall(besides: self)
    return try withExtendedLifetime(other) { try other.run(place, reading: read) }
  }

  /// Sets all arguments to nil and lets `place` set them. If `place` throws, the arguments are discarded.
  @inlinable
  func fill(_ place: (borrowing LuaArguments) throws -> Void) throws {
    if holdsMore.pointee { abandon() }
    for index in 0..<count { words.storeBytes(of: 0, toByteOffset: index * 24 + 16, as: UInt32.self) }
    isPlacing = true
    do {
      try place(LuaArguments(self))
    } catch {
      abandon()
      throw error
    }
    isPlacing = false
  }

  /// Discards the arguments that were set so far.
  @usableFromInline
  func abandon() {
    buffer.clear()
    isPlacing = false
  }

  /// Calls the function. Within a run with plain arguments this is a single call of C.
  @usableFromInline
  func begin() throws(LuaError) -> LuaResult {
    guard let raw = home.pointee, !holdsMore.pointee else { return try beginSlowly() }
    let plain = mbl_fast_call(raw, index, values, Int32(truncatingIfNeeded: count))
    if plain.status == 0 { return LuaResult(plain, of: .passUnretained(self)) }
    return try beginAfter(plain)
  }

  /// Handles an error, or a state without a run.
  @inline(never)  // so that the quick call needs no room on the stack for it
  private func beginAfter(_ plain: MBLFastResult) throws(LuaError) -> LuaResult {
    if plain.status == MBLStatus.idle.rawValue { return try beginSlowly() }
    throw failure(
      MBLStatus(rawValue: Int32(plain.status)) ?? .runtime, result: LuaResult(plain, of: .passUnretained(self)))
  }

  /// Makes a call with arguments other than scalars and borrowed bytes, or a call that is its own run.
  @inline(never)  // so that the quick call needs no room on the stack for it
  private func beginSlowly() throws(LuaError) -> LuaResult {
    let state = try reference.state
    let raw = state.raw
    // Within a run its caller retains the state. Otherwise this call may hold the only reference.
    let holder = mbl_is_running(raw) ? nil : Unmanaged.passRetained(state)
    if holder != nil { mbl_begin(raw) }
    let top = mbl_top(raw)
    buffer.seal(count)
    var plain = MBLValue()
    let status = mbl_call_one(raw, index, values, Int32(truncatingIfNeeded: count), &plain)
    buffer.clear()
    let result = LuaResult(plain, of: .passUnretained(self), top: top, holder: holder)
    guard status == .OK else { throw failure(status, result: result) }
    return result
  }

  /// The error of the state; also restores the stack.
  private func failure(_ status: MBLStatus, result: borrowing LuaResult) -> LuaError {
    defer { end(result) }
    guard let state = reference.link.state else { return LuaError(.closed, message: "the Lua state is closed") }
    return state.popError(status)
  }

  /// Removes the result from the stack, and ends the run if this call began it.
  @usableFromInline
  func end(_ result: borrowing LuaResult) {
    if let raw = home.pointee {
      mbl_set_top(raw, result.top)
      if result.holder != nil { mbl_end(raw) }
    }
    result.holder?.release()
  }

  /// The state, valid while a result is read.
  var state: LuaState { get throws(LuaError) { try reference.state } }

  /// Calls the function with the arguments that `place` sets. Returns its result as a value that may be kept. Slower
  /// than `run`, because strings are copied and tables get a reference.
  public func value(_ place: (borrowing LuaArguments) throws -> Void = { _ in }) throws(LuaError) -> LuaValue {
    do {
      return try run(place) { (result: borrowing LuaResult) in try result.value }
    } catch {
      throw LuaError(wrapping: error)
    }
  }
}
