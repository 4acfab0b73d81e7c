import MoonbaseLua
import MoonbaseScripting
import Testing

/// Inputs of a prompt: complete, incomplete and wrong ones.
@Suite struct PromptInputTests {
  @Test(arguments: [
    ("x = {", true), ("x = { 1 }", false), ("f(function()", true), ("if x then", true), ("if x then y() end", false),
    ("repeat x()", true), ("repeat x() until y", false), ("x = [[", true), ("x = [==[ ]] ", true), ("-- {", false),
    ("--[[ {", true), ("--[=[ { ]=]", false), ("x = '{'", false), ("x = 'a\\", true), ("x = 'a\\z", true),
    ("x = 'a", false),
    ("a[b[1]]", false), ("ended = theend", false), ("a[ [[x]] ]", false), ("if a then b() elseif c then", true),
    ("if a then b() elseif c then d() end", false), ("x = \"a\\\"{\"", false),
  ])
  func nestingIsCounted(_ line: String, _ isOpen: Bool) {
    var nesting = InputNesting()
    nesting.process(line.utf8)
    #expect(nesting.isOpen == isOpen, "\(line)")
  }

  @Test func linesEndWhatEarlierOnesOpened() {
    var nesting = InputNesting()
    for line in ["f {", "  [[ long ", "text ]] ,", "  'a\\", "b' -- }"] {
      nesting.process(line.utf8)
      #expect(nesting.isOpen, "\(line)")
    }
    nesting.process("}".utf8)
    #expect(!nesting.isOpen)
  }

  @Test func anExpressionGivesItsValuesAndAStatementNone() throws {
    let bench = try PromptBench()
    #expect(try bench.enter("1 + 1, 'a'") == "2 a")
    #expect(try bench.enter("x = 3") == "")
    #expect(try bench.enter("= x") == "3")
    #expect(try bench.enter("_ + 1") == "4")
    #expect(try bench.enter("#{1, 2}") == "2")
    #expect(try bench.enter("") == "")
    #expect(try bench.enter("-- nothing") == "")
    #expect(try bench.enter("os.exit(7)") == "exit 7")
  }

  @Test(arguments: [
    "1 +", "f(", "function f()", "x =", "moonbase.context:fetch(", "if x then", "x = [[a", "for i = 1, 2 do",
    "x = {\n  1,",
    "return function()", "local x =", "x = 'a\\",
  ])
  func whatIsBegunIsIncomplete(_ input: String) throws {
    #expect(try PromptBench().enter(input) == "incomplete")
  }

  @Test(arguments: [
    ("x = = 1", "input:1: unexpected symbol near '='"), ("end", "input:1: '<eof>' expected near 'end'"),
    ("foo bar", "input:1: syntax error near 'bar'"), ("#x y", "input:1: <eof> expected near 'y'"),
    ("x = 'a", "input:1: unfinished string near <eof>"),
  ])
  func mistakesAreToldAtOnce(_ input: String, _ message: String) throws {
    let answer = try PromptBench().enter(input)
    let first = answer.split(separator: "\n").first.map(String.init)
    #expect(first == message || first == message.replacing("'<eof>'", with: "<eof>"), "\(answer)")
    #expect(answer.contains("> 1 | \(input)\n    | "), "\(answer)")
  }

  @Test func bytesThatAreNoTextAreRefused() throws {
    let bench = try PromptBench()
    for bytes: [UInt8] in [[0xFF, 0xFE], [0x1B, 0x4C, 0x75, 0x61], [0, 1, 2]] {
      guard case .refused = bench.prompt.read(bytes, firstLine: 1) else {
        Issue.record("\(bytes)")
        continue
      }
    }
  }

  @Test func errorsKnowTheLinesOfEarlierInputs() throws {
    let bench = try PromptBench()
    #expect(try bench.enter("function f(a) return a.b.c end") == "")
    #expect(try bench.enter("y = 1") == "")
    #expect(
      try bench.enter("y = f({})") == """
        input:1: attempt to index a nil value (field 'b')
        > 1 | function f(a) return a.b.c end
            |                        ^
        stack traceback:
          input:1: in function 'f'
          input:3: in main chunk
        """)
    #expect(
      try bench.enter("nosuch.x").hasPrefix("input:4: attempt to index a nil value (global 'nosuch')\n> 4 | nosuch.x"))
  }

  @Test func variablesStayThoseOfBlocksDoNot() throws {
    let bench = try PromptBench()
    #expect(try bench.enter("local a, b = 1, 2 local c = a + b") == "")
    #expect(try bench.enter("a, b, c") == "1 2 3")
    #expect(try bench.enter("local function f() return 4 end") == "")
    #expect(try bench.enter("f()") == "4")
    #expect(
      try bench.enter("do local d = 5 end for i = 1, 2 do local e = i end local t = { f = function() local g = 1 end }")
        == "")
    #expect(try bench.enter("d, e, g, i") == "nil nil nil nil")
    #expect(try bench.enter("local h <const> = 1 local j if a == 1 then local k = 1 end") == "")
    #expect(try bench.enter("h, j, k") == "nil nil nil")
    #expect(try bench.enter("local x == 1").hasPrefix("input:9: "))
  }

  @Test func aLimitEndsTheInputAndNoOther() throws {
    let bench = try PromptBench(limits: LuaLimits(instructions: 100_000))
    #expect(try bench.enter("while true do end").hasPrefix("input:1: the script used up its instructions"))
    #expect(try bench.enter("1") == "1")
    #expect(try bench.enter("repeat local x = 1 until false").contains("instructions"))
    #expect(try bench.enter("2") == "2")
  }

  @Test func valuesThatFillTheMemoryCanBeLetGo() throws {
    let bench = try PromptBench(limits: LuaLimits(memory: 8 << 20))
    func fill(_ name: String) throws -> String {
      try bench.enter("\(name) = {} for i = 1, 100 do \(name)[i] = i .. ('x'):rep(1 << 18) end")
    }
    let full = try fill("t")
    #expect(full.contains("more memory") && full.contains("t = nil"), "\(full)")
    #expect(try bench.enter("1 + 1") == "2")
    #expect(try bench.enter("t = nil collectgarbage()") == "")
    #expect(try bench.enter("1 + 2") == "3")
    // The allowance for each further input is limited in total.
    for index in 0..<20 { #expect(try fill("v\(index)").contains("more memory")) }
    #expect(bench.prompt.domain.state.memoryUsed < 24 << 20)
  }
}
