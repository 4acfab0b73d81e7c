import Testing

@testable import MoonbaseLua

@Suite struct ArgumentBufferTests {
  /// A text that a host function returned was now and then zeros: what lay in the buffer's memory before said that its bytes were
  /// borrowed.
  @Test func aTextIsNotTakenForBorrowedBytesByWhatLayThereBefore() {
    let buffer = LuaArgumentBuffer(capacity: 1)
    let words = UnsafeMutableRawPointer(buffer.values)
    // The last word of a value, behind its tag, says of a result that its bytes are borrowed.
    words.storeBytes(of: 1, toByteOffset: 20, as: UInt32.self)
    "s".utf8.withContiguousStorageIfAvailable { buffer.setBytes(0, to: UnsafeRawBufferPointer($0)) }
    buffer.seal(1)
    #expect(words.load(fromByteOffset: 20, as: UInt32.self) == 0)
    withExtendedLifetime(buffer) {}
  }
}
