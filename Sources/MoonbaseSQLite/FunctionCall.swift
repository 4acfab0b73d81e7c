internal import MoonbaseCSQLite
public import MoonbasePlatform

/// A call of a Swift function by SQLite, with its arguments and its result. Valid during the call only.
///
/// ```swift
/// try connection.register(function: "double", arguments: 1, traits: .deterministic) { call in
///   call.set(2 * call.integer(0))
/// }
/// ```
///
/// Arguments count from 0. A body sets the result once; without a result it is NULL.
public struct FunctionCall: ~Copyable {
  /// SQLite's context of the call.
  private let context: OpaquePointer
  /// SQLite's values.
  private let arguments: UnsafeBufferPointer<OpaquePointer?>

  /// Made by `FunctionBox` for each call.
  init(context: OpaquePointer, arguments: UnsafeBufferPointer<OpaquePointer?>) {
    self.context = context
    self.arguments = arguments
  }

  /// An argument as SQLite's value.
  @inline(__always)
  func value(_ index: Int) -> OpaquePointer? { arguments[index] }

  /// The storage class of an argument.
  public func storage(_ index: Int) -> StorageClass {
    StorageClass(rawValue: sqlite3_value_type(arguments[index])) ?? .null
  }

  /// Whether an argument is NULL.
  public func isNull(_ index: Int) -> Bool { storage(index) == .null }

  /// An argument as an integer.
  public func integer(_ index: Int) -> Int64 { sqlite3_value_int64(arguments[index]) }

  /// An argument as a floating-point number.
  public func double(_ index: Int) -> Double { sqlite3_value_double(arguments[index]) }

  /// An argument as text; empty for NULL.
  public func text(_ index: Int) -> String {
    guard let start = sqlite3_value_text(arguments[index]) else { return "" }
    let count = Int(sqlite3_value_bytes(arguments[index]))
    return String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
  }

  /// Calls `body` with an argument's UTF-8 text in SQLite's memory, which is valid in `body` only.
  public func withText<Result>(_ index: Int, _ body: (UnsafeBufferPointer<UInt8>) throws -> Result) rethrows -> Result {
    let start = sqlite3_value_text(arguments[index])
    return try body(UnsafeBufferPointer(start: start, count: Int(sqlite3_value_bytes(arguments[index]))))
  }

  /// An argument's UTF-8 text in SQLite's memory, valid during the call.
  public func keptText(_ index: Int) -> UnsafeRawBufferPointer {
    let start = sqlite3_value_text(arguments[index])
    return UnsafeRawBufferPointer(start: start, count: Int(sqlite3_value_bytes(arguments[index])))
  }

  /// An argument's bytes in SQLite's memory, valid during the call.
  public func keptBytes(_ index: Int) -> UnsafeRawBufferPointer {
    let start = sqlite3_value_blob(arguments[index])
    return UnsafeRawBufferPointer(start: start, count: Int(sqlite3_value_bytes(arguments[index])))
  }

  /// An argument's bytes, copied.
  public func data(_ index: Int) -> Data {
    let start = sqlite3_value_blob(arguments[index])
    return Data(UnsafeRawBufferPointer(start: start, count: Int(sqlite3_value_bytes(arguments[index]))))
  }

  /// An object made from an argument that is constant within the statement: made once and cached until the statement
  /// ends. For other arguments it is made at each call.
  public func prepared<Prepared: AnyObject>(_ index: Int, _ make: () throws -> Prepared) rethrows -> Prepared {
    if let known = sqlite3_get_auxdata(context, Int32(index)) {
      return Unmanaged<Prepared>.fromOpaque(known).takeUnretainedValue()
    }
    let new = try make()
    sqlite3_set_auxdata(context, Int32(index), Unmanaged.passRetained(new).toOpaque()) { data in
      if let data { Unmanaged<AnyObject>.fromOpaque(data).release() }
    }
    return new
  }

  /// Returns NULL, the default result.
  public func setNull() { sqlite3_result_null(context) }

  /// Returns an integer.
  public func set(_ value: Int64) { sqlite3_result_int64(context, value) }

  /// Returns a floating-point number.
  public func set(_ value: Double) { sqlite3_result_double(context, value) }

  /// Returns text.
  public func set(_ value: String) {
    var copy = value
    copy.withUTF8 { bytes in
      bytes.withMemoryRebound(to: CChar.self) { text in
        guard let start = text.baseAddress else { return sqlite3_result_text(context, "", 0, nil) }
        sqlite3_result_text64(context, start, UInt64(text.count), transient, UInt8(SQLITE_UTF8))
      }
    }
  }

  /// Returns bytes.
  public func set(_ value: Data) {
    value.withUnsafeBytes { bytes in
      guard let start = bytes.baseAddress else { return sqlite3_result_zeroblob(context, 0) }
      sqlite3_result_blob64(context, start, UInt64(bytes.count), transient)
    }
  }

  /// Returns UTF-8 text, which is copied.
  public func set(text bytes: UnsafeRawBufferPointer) {
    guard let start = bytes.baseAddress, bytes.count > 0 else { return sqlite3_result_text(context, "", 0, nil) }
    sqlite3_result_text64(
      context, start.assumingMemoryBound(to: CChar.self), UInt64(bytes.count), transient, UInt8(SQLITE_UTF8))
  }

  /// Returns bytes, which are copied.
  public func set(bytes: UnsafeRawBufferPointer) {
    guard let start = bytes.baseAddress, bytes.count > 0 else { return sqlite3_result_zeroblob(context, 0) }
    sqlite3_result_blob64(context, start, UInt64(bytes.count), transient)
  }
}
