import MoonbasePlatform
import MoonbaseSQL
import MoonbaseSQLite

/// The function `ConstantList.function`, in SQLite.
extension ConstantList {
  /// Registers the function that unpacks the elements of a list. Schemas of files cannot call it (`directOnly`).
  static func register(on connection: Connection) throws {
    try connection.register(function: function, arguments: 1, traits: [.deterministic, .directOnly]) { call in
      switch call.storage(0) {
      case .null: call.setNull()
      case .text: unpack(call)
      default: call.set(call.integer(0))
      }
    }
  }

  /// The first letter is the type: `d` for a floating-point number, `t` for a text, otherwise bytes. Two hexadecimal
  /// digits follow for each byte. An integer is not packed.
  private static func unpack(_ call: borrowing FunctionCall) {
    let (kind, bytes) = call.withText(0) { text in
      (
        text.first,
        text.count > 1 ? stride(from: 1, to: text.count - 1, by: 2).map { value(text[$0], text[$0 + 1]) } : []
      )
    }
    switch kind {
    case UInt8(ascii: "d"):
      call.set(Double(bitPattern: bytes.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }))
    case UInt8(ascii: "t"): call.set(String(decoding: bytes, as: UTF8.self))
    default: call.set(Data(bytes))
    }
  }

  /// The byte of two hexadecimal digits.
  private static func value(_ high: UInt8, _ low: UInt8) -> UInt8 { nibble(high) << 4 | nibble(low) }

  /// Both letter cases are accepted.
  private static func nibble(_ digit: UInt8) -> UInt8 { digit < 0x3a ? digit & 15 : digit & 15 + 9 }
}
