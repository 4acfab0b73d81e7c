import MoonbasePlatform
import Synchronization
import Testing

@testable import MoonbaseLua

/// Every allocation of a script fails once: there is no crash, and no Swift object leaks.
@Suite(.serialized) struct AllocationTests {
  static let alive = Atomic<Int>(0)

  final class Counted: Sendable {
    init() { AllocationTests.alive.add(1, ordering: .relaxed) }
    deinit { AllocationTests.alive.subtract(1, ordering: .relaxed) }
  }

  struct Refused: Error { let witness = Counted() }

  static let script = """
    local all = {}
    for i = 1, 25 do
      local thing = make()
      all[#all + 1] = thing
      all[thing.name .. i] = thing:again(i)
      local ok, e = pcall(refuse, thing)
      all[#all + 1] = tostring(e)
      all[#all + 1] = { i, coroutine.wrap(function() coroutine.yield(make().name) end)() }
      all[#all + 1] = ("x"):rep(i):gsub("x", "yy"), string.format("%5d %s", i, thing.name)
    end
    return #all, table.concat({ all[3], all[7] }, ",")
    """

  func run(failing after: Int?, times: Int, in preset: LuaPreset) throws -> Int {
    let state = try LuaState(preset: preset)
    let type = LuaHostType<Counted>("Thing")
    type.properties(["name"], get: { _, _, call in call.return("a thing with a name") })
    type.method("again") { [unowned type] _, call in
      call.return(try call.integer(0))
      try call.return(Counted(), as: type)
      call.return("another text that is not small")
    }
    try state.register(type)
    try state.setGlobal("make", to: state.function { [unowned type] call in try call.return(Counted(), as: type) })
    try state.setGlobal("refuse", to: state.function { _ in throw Refused() })
    let chunk = try state.load(Self.script, name: "t")
    let before = state.allocations
    state.failAllocation(after: after, times: times)
    do {
      _ = try chunk()
    } catch {
      #expect(
        error.kind == .memory || error.kind == .limit(.memory) || error.kind == .handler || error.kind == .runtime
          || error.kind == .host, "\(error)")
    }
    state.failAllocation(after: nil)
    #expect(try state.load("return 1", name: "t")().first?.integerValue == 1)
    return state.allocations - before
  }

  /// Whether all objects are released soon. The test library keeps weak references to thrown errors and reads them when
  /// another test ends, so an error may be released a moment later, on another thread. A leaked object is never
  /// released.
  func everyObjectGoes() -> Bool {
    for _ in 0..<2000 where Self.alive.load(ordering: .relaxed) != 0 { usleep(1000) }
    return Self.alive.load(ordering: .relaxed) == 0
  }

  @Test(arguments: LuaPreset.allCases)
  func noObjectLeaksWhereverAnAllocationFails(_ preset: LuaPreset) throws {
    let count = try run(failing: nil, times: 0, in: preset)
    #expect(count >= 500)
    try #require(everyObjectGoes())
    for after in 0..<count {
      _ = try run(failing: after, times: after % 3 == 0 ? 20 : 2, in: preset)
      try #require(everyObjectGoes(), "allocation \(after)")
    }
  }

  /// An ordered walk lists the keys first. The allocation may cause a collection, which removes keys from a weak table.
  /// The walk visits each remaining key once, and no stale memory.
  @Test func keysThatACollectionTakesAreNotWalked() throws {
    let counts = try (0..<6).map { try keysWalked(failing: $0) }
    #expect(counts.allSatisfy { $0 >= 10 && $0 <= 2010 })
    #expect(counts.contains { $0 < 2010 }, "no collection came in between")
  }

  private func keysWalked(failing after: Int) throws -> Int64 {
    let state = try LuaState(preset: .pure)
    let script = """
      local strong, weak, alive = {}, setmetatable({}, { __mode = "k" }), {}
      for i = 1, 2000 do
        local key = {}
        strong["text " .. i], weak[key], alive[i] = true, true, key
      end
      for i = 1, 10 do strong["more " .. i], weak["live " .. i] = true, true end
      return function(isWeak)
        if isWeak then alive = nil end
        local seen, count = {}, 0
        for key in pairs(isWeak and weak or strong) do
          if seen[key] then error(tostring(key) .. " is walked twice") end
          seen[key], count = true, count + 1
        end
        return count
      end
      """
    let walk = try #require(try state.load(script, name: "weak.lua").first().functionValue)
    #expect(try walk.first(false).integerValue == 2010)
    state.collectGarbage()
    state.failAllocation(after: after, times: 1)
    let count = try #require(try walk.first(true).integerValue)
    state.failAllocation(after: nil)
    return count
  }

  /// Blocks of every size are allocated, freed and resized in random order, while some allocations fail. Each block
  /// keeps its contents.
  @Test(arguments: [nil, 50])
  func blocksKeepWhatTheyHold(_ failing: Int?) throws {
    let state = try LuaState(limits: .none)
    let script = """
      local seed = 1
      local function random(n) seed = (seed * 1103515245 + 12345) % 2147483648 return (seed // 65536) % n + 1 end
      local texts, lists = {}, {}
      return function()
        local place = random(500)
        local size = random(4) == 1 and random(1200) or random(80)
        local letter = string.char(96 + random(26))
        local text = letter:rep(size)
        if texts[place] then
          local kept = texts[place]
          assert(kept.text == kept.letter:rep(kept.size), "a text changed")
        end
        texts[place] = { text = text, letter = letter, size = size }
        local list = lists[random(40)] or {}
        lists[random(40)] = random(60) > 1 and list or nil
        for i = 1, #list do assert(list[i] == i, "a list changed") end
        list[#list + 1] = #list + 1
        return true
      end
      """
    let step = try #require(try state.load(script, name: "blocks.lua").first().functionValue)
    for round in 0..<20_000 {
      if let failing, round % failing == 0 { state.failAllocation(after: round % 7, times: 1) }
      do {
        #expect(try step.first().booleanValue == true)
      } catch {
        #expect(failing != nil && error.kind == .memory, "\(error)")
      }
      if failing != nil { state.failAllocation(after: nil) }
    }
  }
}
