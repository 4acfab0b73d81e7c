import MoonbasePlatform
import MoonbaseTestSupport
import Testing

/// The page's Lua prompt, and the command itself.
@Suite struct InspectScriptTests {
  private func run(_ page: InspectBench, _ code: String) throws -> JSONTree {
    let body = try JSONSerialization.data(withJSONObject: ["code": code])
    let answer = try page.post("/api/lua", String(decoding: body, as: UTF8.self))
    #expect(answer.status == 200, "\(answer)")
    return answer.json
  }

  @Test func inputsAreRunInTheSandboxAndWithTheLimits() throws {
    let page = try InspectBench(
      Workbench.withPage(), "s.sqlite", "--extension", "x.lua", "--limit-instructions", "3000000", "--no-files")
    #expect(try run(page, "1 + 1")["values"][0]["text"].text == "2")
    let objects = try run(page, "context:fetch('Person'):where('age < 3'):sort('age')")["values"][0]
    #expect(objects["total"].int == 2 && objects["rows"][0]["id"].text == "Person/1", "\(objects)")
    let groups = try run(
      page, "context:fetch('Person'):group_by('department'):dictionaries { 'department', n = '@count' }")
    #expect(groups["values"][0]["columns"][0]["name"].text == "department", "\(groups)")
    #expect(try run(page, "print('<b>x</b>') y = 2")["output"].text == "<b>x</b>\n")
    #expect(try run(page, "for i =")["incomplete"].bool == true)
    #expect(try run(page, "x = = 1")["error"].text?.contains("unexpected symbol") == true)
    #expect(try run(page, "while true do end")["error"].text?.contains("instructions") == true)
    #expect(try run(page, "os.execute('true')")["error"].text?.isEmpty == false)
    #expect(try run(page, "io.open('s.sqlite')")["values"][0]["text"].text == "nil")
    #expect(try run(page, "io.read()")["values"][0]["text"].text == "nil")
    #expect(try run(page, "os.exit(3)")["error"].text?.contains("os.exit") == true)
    #expect(try run(page, "y")["values"][0]["text"].text == "2")
    let printed = try run(page, "for i = 1, 5000 do print(('x'):rep(200)) end")["output"].text ?? ""
    #expect(printed.utf8.count < 300_000 && printed.hasSuffix("bytes more, which are not shown"))
  }

  /// The page can stop an endless getter of a derived value, and an endless script.
  @Test func whatRunsIsStopped() throws {
    let page = try InspectBench(Workbench.withPage(), "s.sqlite", "--extension", "x.lua", "--write")
    _ = try run(page, "context:find('Person', { name = 'Person 9' }).secret = 'endless'")
    let isOver = Lock(false)
    // A stop sent before a run begins has no effect, so the test sends several.
    Thread.detachNewThread {
      while !isOver.withLock({ $0 }) {
        _ = try? page.post("/api/stop")
        usleep(20_000)
      }
    }
    defer { isOver.withLock { $0 = true } }
    let object = try page.get("/api/object", ["id": "Person/9"])
    let script = try page.post("/api/lua", #"{"code": "while true do end"}"#)
    for answer in [object, script] { #expect(answer.text.contains("interrupted"), "\(answer)") }
    #expect(try page.get("/api/count", ["entity": "Person"]).json["count"].int == 119)
  }

  #if os(Linux)
    /// Two endless scripts, of which the second waits for the first: Ctrl-C ends both.
    @Test func scriptsThatWaitAreEndedToo() throws {
      let page = try InspectBench(Workbench.withPage(), "s.sqlite", "--extension", "x.lua")
      let body = #"{"code": "while true do end"}"#
      let request =
        "POST /api/lua HTTP/1.1\r\nHost: 127.0.0.1:\(page.port)\r\nCookie: \(page.cookie)\r\nOrigin: \(page.origin)\r\n"
        + "Content-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
      let sockets = try (1...2).map { _ in try ClientSocket(port: page.port) }
      for socket in sockets { try socket.send(Array(request.utf8)) }
      usleep(200_000)
      let process = try page.process
      process.interrupt()
      #expect(try process.end() == 0)
      withExtendedLifetime(sockets) {}
    }
  #endif

  @Test func aStoreThatIsOnlyReadKeepsNoChanges() throws {
    let page = try InspectBench(Workbench.withPage(), "s.sqlite", "--extension", "x.lua")
    let before = try page.bench.bytes(of: "s.sqlite")
    let changed = try run(page, "context:find('Person', { name = 'Person 1' }).age = 9")
    #expect(
      changed["notices"][0].text?.contains("--write") == true && changed["page"]["unsaved"].int == 0, "\(changed)")
    _ = try run(page, "p = context:find('Person', { name = 'Person 1' }) p.age = 9 context:save()")
    #expect(try run(page, "context:find('Person', { name = 'Person 1' }).age")["values"][0]["text"].text == "1")
    let files = try run(page, "return io.open('x.txt', 'w')")["values"].list.count
    #expect(try files > 0 && !page.bench.names().contains("x.txt"))
    let opened = try run(
      page,
      """
      c = moonbase.open { store = 's.sqlite', extensions = { 'x.lua' } }.context
      c:find('Person', { name = 'Person 1' }).age = 9 print(c:save()) c:rollback()
      """)
    #expect(opened["output"].text?.hasPrefix("nil\t") == true, "\(opened)")
    #expect(try page.bench.bytes(of: "s.sqlite") == before)
  }

  @Test func scriptsShareTheChangesOfThePage() throws {
    let page = try InspectBench(Workbench.withPage(), "s.sqlite", "--extension", "x.lua", "--write")
    let code = "for p in context:fetch('Person'):where('age < 4'):each() do p.age = p.age + 100 end"
    #expect(try run(page, code)["page"]["unsaved"].int == 3)
    #expect(try page.get("/api/count", ["entity": "Person", "where": "age BETWEEN {101, 103}"]).json["count"].int == 6)
    #expect(try page.post("/api/undo").json["done"].text == "\(code.prefix(80))")
    #expect(try page.get("/api/state").json["page"]["unsaved"].int == 0)
  }

  /// Lists contain the sizes of large values and read no property that needs the object.
  @Test func largeValuesStayWhereTheyAre() throws {
    let bench = try Workbench.withPage()
    let code = """
      local c = moonbase.context
      c:find('Person', { name = 'Person 1' }).photo = ('x'):rep(3000000) assert(c:save())
      """
    let made = try bench.moonbase("run", "--store", "s.sqlite", "--extension", "x.lua", "-e", code)
    #expect(made.status == 0, "\(made)")
    let page = try InspectBench(bench, "s.sqlite", "--extension", "x.lua")
    let query = ["entity": "Person", "columns": "name,photo,greeting,_id", "where": "age < 3"]
    let rows = try page.get("/api/rows", query).json["rows"]
    #expect(rows[0]["cells"][0].text == "Person 1" && rows[0]["cells"][1]["bytes"].int == 3_000_000)
    #expect(rows[0]["cells"][2]["unread"].bool == true && rows[0]["cells"][3]["id"].text == "Person/1")
    #expect(rows[1]["cells"][2].text == "Hello Person 2", "\(rows)")
    let object = try page.get("/api/object", ["id": "Person/1"]).json["properties"]
    #expect(
      object.named("photo")["value"]["bytes"].int == 3_000_000
        && object.named("greeting")["value"].text == "Hello Person 1")
    #expect(try page.get("/api/value", ["id": "Person/1", "property": "photo"]).body.count == 3_000_000)
  }

  /// The second half of an entity's rows is read from the end, in the same order.
  @Test func lastPagesAreThoseOfTheOrder() throws {
    let page = try InspectBench(Workbench.withPage(), "s.sqlite", "--extension", "x.lua", "--write")
    let code = """
      local rows = {}
      for i = 1, 12000 do rows[i] = { name = 'Row ' .. i, age = i % 100 } end
      context:batch_insert('Person', rows)
      """
    #expect(try run(page, code)["error"].isNull)
    func names(_ offset: Int, _ more: [String: String] = [:]) throws -> [String] {
      let query = ["entity": "Person", "columns": "name", "offset": "\(offset)", "limit": "3"]
      return try page.get("/api/rows", query.merging(more) { $1 }).json["rows"].list.compactMap { $0["cells"][0].text }
    }
    #expect(try names(12_117) == ["Row 11999", "Row 12000"] && names(9_000) == ["Row 8882", "Row 8883", "Row 8884"])
    #expect(try names(12_119) == [] && names(99_999) == [] && names(5_500)[0] == "Row 5382")
    // With unsaved changes the context takes part.
    _ = try run(page, "context:delete(context:find('Person', { name = 'Row 11999' }))")
    #expect(try names(12_116) == ["Row 11998", "Row 12000"])
  }

  // MARK: The command

  @Test func whatCannotBeOpenedIsTold() throws {
    let bench = try Workbench()
    let missing = try bench.moonbase("inspect", "none.sqlite")
    #expect(missing.status == 1 && missing.complaints.contains("none.sqlite: there is no such store"), "\(missing)")
    #expect(try bench.names() == [])
    try bench.write("no store", to: "text.sqlite")
    #expect(try bench.moonbase("inspect", "text.sqlite").status == 1)
    #expect(try bench.moonbase("inspect").status == 2)
    for arguments in [["--write", "--read-only"], ["--author", "me"], ["--port", "70000"]] {
      #expect(try bench.moonbase(["inspect", "s.sqlite"] + arguments).status == 2, "\(arguments)")
    }
  }

  #if os(Linux)
    @Test func aPortThatIsTakenIsToldAndTheEndIsQuiet() throws {
      let page = try InspectBench(Workbench.withPage(), "s.sqlite", "--extension", "x.lua", "--quiet")
      let second = try page.bench.moonbase("inspect", "s.sqlite", "--extension", "x.lua", "--port", "\(page.port)")
      #expect(second.status == 1 && second.complaints.contains("port \(page.port) of 127.0.0.1"), "\(second)")
      let without = try page.bench.moonbase("inspect", "s.sqlite", "--write")
      #expect(without.status != 0 && without.complaints.contains("people"), "\(without)")
      let process = try page.process
      process.interrupt()
      #expect(try process.end() == 0)
      #expect(process.outcome().complaints == "")
    }
  #endif
}
