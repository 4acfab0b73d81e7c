import Testing

@testable import MoonbaseLua

@Suite struct ArgumentBufferTests {
  /// A text returned by a host function was sometimes zeros, since stale memory of the buffer marked its bytes as
  /// borrowed.
  @Test func aTextIsNotTakenForBorrowedBytesByWhatLayThereBefore() {
    let buffer = LuaArgumentBuffer(capacity: 1)
    let words = UnsafeMutableRawPointer(buffer.values)
    // The last word of a value, after its tag, marks the bytes of a result as borrowed.
    words.storeBytes(of: 1, toByteOffset: 20, as: UInt32.self)
    "s".utf8.withContiguousStorageIfAvailable { buffer.setBytes(0, to: UnsafeRawBufferPointer($0)) }
    buffer.seal(1)
    #expect(words.load(fromByteOffset: 20, as: UInt32.self) == 0)
    withExtendedLifetime(buffer) {}
  }
}
