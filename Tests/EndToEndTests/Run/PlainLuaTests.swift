import MoonbasePlatform
import MoonbaseTestSupport
import Testing

/// The preset `trusted` runs plain Lua programs as Lua's own interpreter does: with the same output and exit status.
@Suite(.enabled(if: FileManager.default.fileExists(atPath: "/usr/bin/lua5.4"), "there is no lua5.4 to compare with"))
struct PlainLuaTests {
  struct Program: Sendable, CustomTestStringConvertible {
    let name: String
    let source: String
    var arguments: [String] = []
    var input = ""
    var testDescription: String { name }
  }

  static let programs: [Program] = [
    Program(
      name: "arguments", source: "print(#arg, arg[0], select('#', ...), ...)", arguments: ["a", "b c", "", "-x", "--"]),
    Program(name: "first line", source: "#!/usr/bin/env lua\nprint(debug.getinfo(1, 'l').currentline)"),
    Program(name: "byte order mark", source: "\u{FEFF}print('bom')"),
    Program(name: "byte order mark and first line", source: "\u{FEFF}#!lua\nprint('both')"),
    Program(
      name: "order of output",
      source: "print(1) io.write('2\\n') print(3) io.stdout:write(4, '\\n') io.stdout:flush() print(5)"),
    Program(name: "exit with a number", source: "io.write('x') os.exit(7)"),
    Program(name: "exit with true", source: "os.exit(true)"),
    Program(name: "exit with false", source: "pcall(os.exit, false)"),
    Program(
      name: "exit in a coroutine", source: "coroutine.wrap(function() print('in') os.exit(9, true) end)() print('out')"),
    Program(name: "an error", source: "print('before') error('x')"),
    Program(
      name: "an error with a table", source: "error(setmetatable({}, { __tostring = function() return 'text' end }))"),
    Program(name: "an error without text", source: "error({})"),
    Program(name: "wrong syntax", source: "print('never') x = = 1"),
    Program(
      name: "messages",
      source: """
        print(pcall(error, 'a', 2)) print(pcall(function() local a; a.b = 1 end)) print(pcall(function() return 1 // 0 end))
        print(pcall(string.rep)) print(pcall(('x').bad)) print(select(2, load('x =', '=name')))
        print(select(2, pcall(require, 'no.such'))) print(xpcall(error, function(m) return m .. '!' end, 'e'))
        """),
    Program(
      name: "standard input", source: "for l in io.lines() do print(#l, l) end print(io.read()) print(io.read('a'))",
      input: "one\ntwo\n\nlast"),
    Program(name: "numbers", source: "print(io.read('n', 'n', 'l', 'L'))", input: "12 0x1p4 rest\nnext\n"),
    Program(
      name: "files and processes",
      source: """
        local name = os.tmpname()
        local f <close> = assert(io.open(name, 'w'))
        f:write('a\\n', 1, '\\n', 2.5) f:close()
        for l in io.lines(name) do io.write('[', l, ']') end
        print(os.remove(name), io.open(name), os.execute('exit 3'))
        local p = io.popen('echo from a shell') print(p:read('a'), p:close())
        print(io.type(io.stdout), io.type(f), type(os.time()), os.getenv('NO_SUCH_VARIABLE'), os.date('!%Y', 0))
        """),
    Program(
      name: "libraries",
      source: """
        for _, n in ipairs { '_G', 'string', 'table', 'math', 'utf8', 'io', 'os', 'debug', 'coroutine', 'package' } do
          local names = {}
          for k, v in pairs(require(n)) do names[#names + 1] = type(k) .. tostring(k):gsub('0x.*', '') .. type(v) end
          table.sort(names)
          if n ~= '_G' then print(n, #names, table.concat(names, ' ')) end
          assert(package.loaded[n] == _G[n] or n == '_G')
        end
        print(_VERSION, math.pi, math.maxinteger, string.format('%q %5.2f %x', 'a\\n', 1.5, 255), #string.dump(print == nil and print or load 'x=1') > 0)
        """),
    Program(
      name: "bytecode",
      source: "local f = load(string.dump(function(a) return a * 2 end), 'x', 'b') print(f(21), load('\\27bad'))"),
    Program(
      name: "coroutines",
      source: """
        local co = coroutine.create(function(a) local x <close> = setmetatable({}, { __close = function() print('closed') end })
          print(coroutine.yield(a + 1)) error('in') end)
        print(coroutine.resume(co, 1)) print(coroutine.status(co)) print(coroutine.resume(co, 'back')) print(coroutine.resume(co))
        print(coroutine.close(co), coroutine.isyieldable(), select(2, coroutine.running()))
        print(type(select(2, pcall(coroutine.wrap(function() error({ 1 }) end)))))
        print(pcall(coroutine.wrap(function() return pcall(coroutine.yield, 5) end)))
        for v in coroutine.wrap(function() for i = 1, 3 do coroutine.yield(i) end end) do io.write(v, ' ') end print()
        print(select('#', coroutine.wrap(function() return table.unpack({}, 1, 200) end)()))
        """),
    Program(
      name: "finalizers",
      source: """
        setmetatable({}, { __gc = function() print('collected') end })
        collectgarbage()
        kept = setmetatable({}, { __gc = function() print('at the end') end })
        local x <close> = setmetatable({}, { __close = function() print('closed') end })
        print(collectgarbage('count') > 0, collectgarbage('isrunning'))
        """),
    Program(
      name: "hooks",
      source:
        "local n = 0 debug.sethook(function() n = n + 1 end, 'l') local a = 1\nlocal b = 2\ndebug.sethook() print(n)"),
    Program(
      name: "metamethods",
      source: """
        local mt = { __add = function() return 'add' end, __index = function(_, k) return k end, __call = function(_, ...) return ... end,
          __len = function() return 7 end, __eq = function() return true end, __lt = function() return true end, __name = 'Mine',
          __concat = function() return 'cat' end, __unm = function() return 'neg' end, __idiv = function() return 'idiv' end }
        local t, u = setmetatable({}, mt), setmetatable({}, mt)
        print(t + 1, t.x, t(1, 2), #t, t == u, t < u, t .. 'x', -t, t // 2, (tostring(t):gsub('0x%x+', 'P')))
        print(rawequal(t, u), rawlen(t), rawget(t, 'x'), getmetatable(t) == mt, next({}), type(next))
        """),
    Program(
      name: "warnings",
      source: "warn('@on') warn('seen') print(pcall(warn)) goto done do print('skipped') end ::done:: print(2^53 | 0)"),
    Program(
      name: "a module beside it", source: "print(require('beside').value, require('beside') == package.loaded.beside)"),
    Program(
      name: "deep recursion",
      source:
        "local function f(n) return n == 0 and 0 or 1 + f(n - 1) end print(f(150000)) print(pcall(function() local function g() return 1 + g() end g() end) == false)"
    ),
    Program(
      name: "a large program",
      source: "local t = {}\n" + (0..<8000).map { "t[\($0)] = { \($0), 'text \($0)' }" }.joined(separator: "\n")
        + "\nprint(#t, t[7999][2])"),
    Program(
      name: "bytes that are no text", source: "print(#'\u{FF}', ('\\xff\\xfe'):byte(1, -1)) io.write('\\xff\\0\\n')"),
  ]

  @Test(arguments: programs) func aProgramRunsAsUnderTheInterpreter(_ program: Program) throws {
    let bench = try Workbench()
    try bench.write(program.source, to: "program.lua")
    try bench.write("return { value = ... }", to: "beside.lua")
    let expected = try bench.run(
      URL(fileURLWithPath: "/usr/bin/lua5.4"), ["program.lua"] + program.arguments, input: program.input)
    let run = try bench.moonbase(
      ["run", "--sandbox", "trusted", "program.lua"] + program.arguments, input: program.input)
    #expect(run.output == expected.output)
    #expect(run.status == expected.status)
    #expect(run.complaints.isEmpty == expected.complaints.isEmpty, "\(run.complaints)\n\(expected.complaints)")
  }

  @Test func programsInAnyEncodingAndBytecodeRun() throws {
    let bench = try Workbench()
    try Data("print(#'".utf8 + [0xE9] + "', (...))".utf8).write(to: bench.folder.appendingPathComponent("latin.lua"))
    try bench.write(
      "local f = io.open('code.luac', 'wb') f:write(string.dump(load 'print(6 * 7)')) f:close()", to: "dump.lua")
    #expect(try bench.moonbase("run", "--sandbox", "trusted", "latin.lua", "x").output == "1\tx\n")
    #expect(try bench.moonbase("run", "--sandbox", "trusted", "dump.lua").status == 0)
    #expect(try bench.moonbase("run", "--sandbox", "trusted", "code.luac").output == "42\n")
    #expect(try bench.moonbase("run", "code.luac").complaints.contains("code.luac is bytecode"))
    #expect(try bench.moonbase("run", "latin.lua").complaints.contains("latin.lua is no UTF-8 text"))
    let command = Workbench.command.path
    func run(_ file: String, _ options: String = "") throws -> Workbench.Outcome {
      try bench.program("sh", "-c", "exec \"$0\" run \(options) - x < \(file)", command)
    }
    #expect(try run("latin.lua", "--sandbox trusted").output == "1\tx\n")
    #expect(try run("code.luac", "--sandbox trusted").output == "42\n")
    #expect(try run("code.luac").complaints.contains("stdin is bytecode"))
    #expect(try run("latin.lua").complaints.contains("stdin is no UTF-8 text"))
  }

  @Test func messagesAreThoseOfTheInterpreter() throws {
    let bench = try Workbench()
    for source in ["error('msg', 0)", "error('msg')", "error({})", "error()", "error(true)", "error(12)"] {
      try bench.write(source, to: "program.lua")
      let expected = try bench.run(URL(fileURLWithPath: "/usr/bin/lua5.4"), ["program.lua"], input: "").complaints
      let run = try bench.moonbase("run", "--sandbox", "trusted", "program.lua").complaints
      let first = { (text: String) in text.split(separator: "\n").first.map { String($0.drop { $0 != ":" }) } }
      #expect(first(run) == first(expected), "\(source)")
    }
  }
}
