import MoonbaseLua
import MoonbasePlatform
import Testing

/// Functions that stores call for each row, and bytes passed without copying.
@Suite struct RowCallTests {
  private func function(_ code: String, _ state: LuaState) throws -> LuaFunction {
    try #require(try state.load("return function(...) \(code) end", name: "f.lua").first().functionValue)
  }

  /// The result of a call as text; nil where the call has no answer.
  private func answer(_ call: RowCall, _ cells: [PlainCell]) -> String? {
    let result = cells.withUnsafeBufferPointer { cells in
      cells.baseAddress.flatMap { call.run($0, count: cells.count) }
    }
    guard let result else { return nil }
    switch result.kind {
    case .none: return "none"
    case .boolean: return "\(result.integer == 1)"
    case .integer: return "\(result.integer)"
    case .number: return "\(result.number)"
    case .bytes: return "'\(String(decoding: result.bytes, as: UTF8.self))'"
    }
  }

  @Test func everyKindOfPlainValuePasses() throws {
    let state = try LuaState()
    let call = try #require(try function("return ...", state).rowCall)
    state.run {
      #expect(answer(call, [PlainCell()]) == "none")
      #expect(answer(call, [PlainCell(boolean: true)]) == "true")
      #expect(answer(call, [PlainCell(integer: .min)]) == "\(Int64.min)")
      #expect(answer(call, [PlainCell(number: 0.5)]) == "0.5")
      for text in ["", "a", String(repeating: "long é", count: 1000), "b"] {
        var text = text
        let given = text.withUTF8 { answer(call, [PlainCell(bytes: UnsafeRawBufferPointer($0))]) }
        #expect(given == "'\(text)'")
      }
      // Only the first result counts.
      #expect(answer(call, [PlainCell(integer: 1), PlainCell(integer: 2)]) == "1")
    }
  }

  @Test(arguments: ["error('x')", "return {}", "return print", "", "return setmetatable({}, { __index = error }).x"])
  func whatIsNoPlainValueIsNotKnown(_ code: String) throws {
    let state = try LuaState()
    let function = try function(code, state)
    let call = try #require(function.rowCall)
    try state.run {
      for _ in 0..<1000 { #expect(answer(call, [PlainCell(integer: 1)]) == nil) }
      // The rejected result leaves the stack; a full call can read the value instead.
      let results = try self.function("return 1", state).call([])
      #expect(results.first?.integerValue == 1)
    }
    // A row call works only within a run.
    #expect(answer(call, [PlainCell(integer: 1)]) == nil)
  }

  @Test func aCallOutlivesItsFunctionAndKnowsNothingOnceItsStateIsClosed() throws {
    var state: LuaState? = try LuaState()
    var call: RowCall?
    do { call = try function("return 5", try #require(state)).rowCall }
    try state?.run {
      _ = try state?.load("collectgarbage() return 1", name: "gc").first()
      let call = try #require(call)
      #expect(answer(call, [PlainCell()]) == "5")
    }
    state = nil
    let closed = try #require(call)
    #expect(answer(closed, [PlainCell()]) == nil)
  }

  @Test func borrowedAndCopiedBytesStandBesideEachOther() throws {
    let state = try LuaState()
    let call = LuaFastCall(try function("local a, b, c = ... return a .. b .. c", state), parameters: 3)
    var borrowed = "borrowed "
    let text = try state.run {
      try borrowed.withUTF8 { bytes in
        try call.run {
          $0.set(0, string: "copied ")
          $0.set(1, borrowedBytes: UnsafeRawBufferPointer(bytes))
          $0.set(2, string: "twice")
        } reading: {
          $0.text
        }
      }
    }
    #expect(text == "copied borrowed twice")
    // Outside of a run, and with borrowed arguments only.
    let own = LuaFastCall(try function("return #(...)", state), parameters: 1)
    let count = try borrowed.withUTF8 { bytes in
      try own.run {
        $0.set(0, borrowedBytes: UnsafeRawBufferPointer(bytes))
      } reading: {
        $0.integer
      }
    }
    #expect(count == 9)
  }

  @Test func whatIsTooLargeForTheMemoryOfAStateIsNotKnown() throws {
    let state = try LuaState(limits: LuaLimits(memory: 2 << 20))
    let call = try #require(try function("return #(...)", state).rowCall)
    let large = UnsafeMutableRawBufferPointer.allocate(byteCount: 8 << 20, alignment: 1)
    defer { large.deallocate() }
    large.initializeMemory(as: UInt8.self, repeating: 65)
    state.run { #expect(answer(call, [PlainCell(bytes: UnsafeRawBufferPointer(large))]) == nil) }
  }
}
