import MoonbasePlatform
import MoonbaseTestSupport
import Testing

/// Changes through the page with `--write`.
@Suite struct InspectEditTests {
  private let page: InspectBench

  init() throws { page = try InspectBench(Workbench.withPage(), "s.sqlite", "--write", "--extension", "x.lua") }

  private func set(_ id: String, _ property: String, _ text: String?) throws -> HTTPAnswer {
    let value = text.map { "\"text\": \"\($0)\"" } ?? "\"clear\": true"
    return try page.post("/api/set", #"{"id": "\#(id)", "property": "\#(property)", \#(value)}"#)
  }

  private func value(_ id: String, _ property: String) throws -> String? {
    try page.get("/api/object", ["id": id]).json["properties"].named(property)["value"].text
  }

  private func stored(_ columns: String, _ predicate: String) throws -> String {
    try page.bench.moonbase(
      "fetch", "Person", "s.sqlite", "--without-extension", "people", "--where", predicate, "--columns", columns,
      "--format", "csv"
    ).output
  }

  @Test func aChangeIsSeenAtOnceAndInTheFileWhenItIsSaved() throws {
    let changed = try set("Person/1", "age", "42")
    #expect(changed.status == 200 && changed.json["properties"].named("age")["changed"].bool == true, "\(changed)")
    #expect(changed.json["page"]["unsaved"].int == 1 && changed.json["page"]["undo"].text == "change of age")
    #expect(try page.get("/api/rows", ["entity": "Person", "where": "age == 42"]).json["rows"].list.count == 2)
    #expect(try stored("age", "name == 'Person 1'") == "age\n1\n")
    let saved = try page.post("/api/save")
    #expect(saved.json["saved"].int == 1 && saved.json["page"]["unsaved"].int == 0, "\(saved)")
    #expect(try stored("age", "name == 'Person 1'") == "age\n42\n")
  }

  @Test func whatIsNoValueIsToldAtItsField() throws {
    for (property, text) in [
      ("age", "x"), ("age", "99999"), ("born", "yesterday"), ("active", "maybe"), ("color", "mauvve"),
    ] {
      let answer = try set("Person/1", property, text)
      #expect(answer.status == 422 && answer.json["problems"][0]["property"].text == property, "\(property): \(answer)")
      #expect(answer.json["problems"][0]["id"].text == "Person/1" && answer.json["page"]["unsaved"].int == 0)
    }
    #expect(try set("Person/1", "greeting", "x").status == 422 || set("Person/1", "greeting", "x").status == 400)
    #expect(try set("Person/1", "nothing", "x").status == 400)
  }

  @Test func rulesAreToldAtTheFieldAndStopASave() throws {
    let age = try set("Person/1", "age", "151")
    #expect(age.status == 200 && age.json["problems"][0]["property"].text == "age", "\(age)")
    let notes = try set("Person/2", "notes", "bad")
    #expect(notes.json["problems"][0]["message"].text == "must not be <bad>", "\(notes)")
    #expect(try set("Person/3", "name", nil).json["problems"][0]["property"].text == "name")
    let save = try page.post("/api/save")
    #expect(save.status == 422 && Set(save.json["problems"].list.compactMap { $0["id"].text }).count == 3, "\(save)")
    #expect(try page.get("/api/changes").json["changes"].list.allSatisfy { !$0["problems"].list.isEmpty })
    #expect(try page.post("/api/discard").json["discarded"].int == 3)
    #expect(try value("Person/1", "age") == "1" && page.get("/api/state").json["page"]["undo"].isNull)
  }

  /// Another process changes `Person 1` and its friend.
  private func saveElsewhere(_ change: String) throws {
    let run = try page.bench.moonbase(
      "run", "--store", "s.sqlite", "--without-extension", "people", "-e",
      "local c = moonbase.context local p = c:find('Person', { name = 'Person 1' }) \(change) assert(c:save())")
    try #require(run.status == 0, "\(run)")
  }

  private func wait(_ isDone: () throws -> Bool) throws {
    for _ in 0..<500 where try !isDone() { usleep(20_000) }
    #expect(try isDone())
  }

  @Test func whatAnotherProcessSavedIsShown() throws {
    #expect(try value("Person/1", "age") == "1")
    try saveElsewhere("p.age = 77")
    try wait { try value("Person/1", "age") == "77" }
    #expect(try page.get("/api/rows", ["entity": "Person", "where": "age == 77"]).json["rows"].list.count == 2)
    _ = try set("Person/1", "secret", "kept")
    try saveElsewhere("p.age = 78 c:find('Person', { name = 'Person 2' }).age = 79")
    try wait { try value("Person/2", "age") == "79" }
    #expect(try value("Person/1", "secret") == "kept" && value("Person/1", "age") == "77")
  }

  @Test(arguments: ["own", "stored"]) func aConflictEndsByTheSideThatIsKept(side: String) throws {
    _ = try set("Person/1", "age", "42")
    _ = try set("Person/1", "secret", "mine")
    try saveElsewhere("p.age = 77 p.notes = 'theirs'")
    let save = try page.post("/api/save")
    #expect(save.status == 422 && save.json["problems"][0]["conflict"].bool == true, "\(save)")
    let id = try #require(save.json["problems"][0]["id"].text)
    #expect(try page.post("/api/resolve", #"{"ids": ["\#(id)"]}"#).status == 400)
    #expect(try page.post("/api/resolve", #"{"ids": ["\#(id)"], "keep": "\#(side)"}"#).json["resolved"].int == 1)
    #expect(try value("Person/1", "notes") == "theirs")
    #expect(try page.post("/api/undo").json["done"].isNull && page.get("/api/state").json["page"]["redo"].isNull)
    #expect(try page.post("/api/save").json["saved"].int == (side == "own" ? 1 : 0))
    #expect(
      try stored("age,secret,notes", "name == 'Person 1'")
        == "age,secret,notes\n" + (side == "own" ? "42,mine,theirs\n" : "77,,theirs\n"))
  }

  @Test func anObjectThatAnotherProcessDeletedIsGivenUp() throws {
    _ = try set("Person/1", "age", "42")
    try saveElsewhere("c:delete(p)")
    let save = try page.post("/api/save")
    #expect(save.status == 422 && save.json["problems"][0]["conflict"].bool == true, "\(save)")
    #expect(try page.post("/api/resolve", #"{"ids": ["Person/1"], "keep": "own"}"#).status == 400)
    #expect(try page.post("/api/resolve", #"{"ids": ["Person/1"], "keep": "stored"}"#).status == 200)
    #expect(
      try page.post("/api/save").json["saved"].int == 0 && page.get("/api/object", ["id": "Person/1"]).status == 404)
  }

  /// Dates finer than milliseconds, and single-precision numbers.
  @Test func numbersAreShownAsTheyAre() throws {
    try saveElsewhere("p.born = require('moonbase.date').reference(0.123456)")
    try wait { try value("Person/1", "born")?.hasSuffix("00:00:00.123456Z") == true }
    #expect(try set("Person/2", "born", "2020-01-02T03:04:05.678901Z").status == 200)
    #expect(try value("Person/2", "born") == "2020-01-02T03:04:05.678901Z")
  }

  @Test func changesAreUndoneAndDoneAgain() throws {
    _ = try set("Person/1", "name", "First")
    _ = try set("Person/1", "name", "Second")
    #expect(try page.post("/api/undo").json["done"].text == "change of name")
    #expect(try value("Person/1", "name") == "First")
    #expect(try page.post("/api/redo").json["page"]["redo"].isNull)
    #expect(try value("Person/1", "name") == "Second" && value("Person/1", "greeting") == "Hello Second")
    _ = try page.post("/api/undo")
    let last = try page.post("/api/undo")
    #expect(last.json["page"]["unsaved"].int == 0 && last.json["page"]["undo"].isNull, "\(last)")
    #expect(try page.post("/api/undo").json["done"].isNull)
  }

  @Test func objectsComeAndGo() throws {
    let new = try page.post("/api/insert", #"{"entity": "Person"}"#)
    let id = try #require(new.json["id"].text)
    #expect(new.json["state"].text == "new" && new.json["problems"][0]["property"].text == "name", "\(new)")
    #expect(try set(id, "name", "New one").json["problems"].list.isEmpty)
    #expect(
      try set(id, "department", "Department/1").json["properties"].named("department")["value"]["id"].text
        == "Department/1")
    #expect(try page.post("/api/link", #"{"id": "\#(id)", "property": "friends", "add": ["Person/2"]}"#).status == 200)
    #expect(try page.post("/api/delete", #"{"ids": ["Person/50", "Person/51"]}"#).json["deleted"].int == 2)
    #expect(
      try page.get("/api/rows", ["entity": "Person", "where": "name == 'New one'"]).json["rows"][0]["state"].text
        == "new")
    #expect(try page.get("/api/object", ["id": "Person/50"]).json["state"].text == "deleted")
    let saved = try page.post("/api/save")
    #expect(saved.status == 200, "\(saved)")
    #expect(try stored("name,friends.name,department.name", "name == 'New one'").contains("Person 2"))
    #expect(try page.get("/api/count", ["entity": "Person"]).json["count"].int == 118)
  }

  /// A refused deletion and an unknown member leave no partial changes.
  @Test func whatFailsIsTakenBack() throws {
    let link = try page.post(
      "/api/link", #"{"id": "Person/1", "property": "friends", "add": ["Person/100", "Person/9999"]}"#)
    #expect(link.status == 404 && link.json["page"]["unsaved"].int == 0, "\(link)")
    #expect(try page.post("/api/insert", #"{"entity": "Nothing"}"#).status == 400)
    #expect(try page.post("/api/delete", #"{"ids": ["Department/1"]}"#).status == 200)
    let save = try page.post("/api/save")
    #expect(save.status == 422 && !save.error.isEmpty, "\(save)")
    #expect(try page.post("/api/undo").json["page"]["unsaved"].int == 0)
  }

  @Test func picturesAreSetAsBytes() throws {
    let answer = try page.post("/api/set", #"{"id": "Person/9", "property": "photo", "base64": "/9j/AAEC"}"#)
    #expect(answer.json["properties"].named("photo")["value"]["image"].text == "jpeg", "\(answer)")
    #expect(
      try page.get("/api/value", ["id": "Person/9", "property": "photo"]).body == Data([0xFF, 0xD8, 0xFF, 0, 1, 2]))
    #expect(try set("Person/9", "extra", "[1, 2]").json["properties"].named("extra")["value"]["tree"][1].int == 2)
    #expect(
      try set("Person/9", "color", "#00ff00").json["properties"].named("color")["value"]["text"].text == "#00ff00")
    #expect(try page.post("/api/save").status == 200)
  }

  /// A save of the same object by another program is a conflict.
  @Test func aConflictIsTold() throws {
    _ = try set("Person/4", "age", "7")
    let other = try page.bench.moonbase(
      "run", "--store", "s.sqlite", "--extension", "x.lua", "-e",
      "local c = moonbase.context c:find('Person', { name = 'Person 4' }).age = 8 assert(c:save())")
    #expect(other.status == 0, "\(other)")
    let save = try page.post("/api/save")
    #expect(save.status == 422 && save.error.contains("Person"), "\(save)")
    #expect(try page.post("/api/discard").status == 200)
    #expect(try value("Person/4", "age") == "8")
  }

  /// A change refused half way leaves the undo and redo steps unchanged.
  @Test func aRefusedChangeLeavesUndoAndRedoAsTheyWere() throws {
    _ = try set("Person/1", "name", "First")
    _ = try page.post("/api/undo")
    let refused = try page.post(
      "/api/link", #"{"id": "Person/1", "property": "friends", "add": ["Person/2", "Department/1"]}"#)
    #expect(refused.status >= 400 && refused.json["page"]["undo"].isNull, "\(refused)")
    #expect(refused.json["page"]["redo"].text == "change of name" && refused.json["page"]["unsaved"].int == 0)
    #expect(try page.post("/api/redo").json["done"].text == "change of name")
    #expect(try value("Person/1", "name") == "First")
    #expect(try page.post("/api/set", #"{"id": "Person/1", "property": "name", "value": "x"}"#).status == 400)
    #expect(try value("Person/1", "name") == "First")
  }

  /// A field has the whole tree as JSON, even if less is displayed.
  @Test func aTreeIsEditedAsItIs() throws {
    func text() throws -> String? {
      try page.get("/api/object", ["id": "Person/1"]).json["properties"].named("extra")["value"]["json"].text
    }
    func post(_ path: String, _ members: [String: String]) throws -> HTTPAnswer {
      try page.post(path, String(decoding: JSONSerialization.data(withJSONObject: members), as: UTF8.self))
    }
    #expect(try text() == #"{"list": [1, 2]}"#)
    let values = #"{ a = 1.5, b = 1.0, n = moonbase.null, long = ("x"):rep(300), i = 9007199254740993 }"#
    _ = try post("/api/lua", ["code": "context:find('Person', { name = 'Person 1' }).extra = \(values)"])
    let given = try #require(try text())
    #expect(given.hasPrefix(#"{"a": 1.5, "b": 1.0, "i": 9007199254740993, "long": "xxx"#) && given.utf8.count > 300)
    #expect(try post("/api/set", ["id": "Person/1", "property": "extra", "text": given]).status == 200)
    #expect(try text() == given)
  }

  @Test func twoBrowsersShareTheChanges() throws {
    let opened = try page.ask("GET", "/?token=\(page.token)", headers: ["Cookie": ""])
    let cookie = String(try #require(opened.headers["set-cookie"]).prefix { $0 != ";" })
    _ = try set("Person/1", "age", "43")
    let other = try page.ask("GET", "/api/object?id=Person/1", headers: ["Cookie": cookie])
    #expect(other.json["properties"].named("age")["value"].text == "43" && other.json["page"]["unsaved"].int == 1)
    #expect(try page.ask("POST", "/api/undo", body: "{}", headers: ["Cookie": cookie]).status == 200)
    #expect(try value("Person/1", "age") == "1")
  }

  #if os(Linux)
    /// On a terminal Ctrl-C asks whether to save.
    @Test func theEndAsksOnATerminal() throws {
      let bench = try Workbench.withPage()
      let terminal = try PseudoTerminal(
        ["inspect", "s.sqlite", "--write", "--extension", "x.lua"], in: bench, columns: 200)
      try terminal.wait(for: "Ctrl-C ends it")
      let page = try InspectBench(bench, shown: terminal.screen)
      #expect(try page.post("/api/set", #"{"id": "Person/1", "property": "age", "text": "44"}"#).status == 200)
      try terminal.press("\u{3}", until: "1 changed object is not saved. Save?")
      try terminal.press("c\n", until: "the page is still open")
      // After a failed save the page still has all changes.
      #expect(try page.post("/api/set", #"{"id": "Person/2", "property": "age", "text": "300"}"#).status == 200)
      try terminal.press("\u{3}", until: "2 changed objects are not saved. Save?")
      try terminal.press("y\n", until: "nothing was saved")
      #expect(try page.post("/api/undo").json["page"]["unsaved"].int == 1)
      try terminal.press("\u{3}", until: "1 changed object is not saved. Save?")
      try terminal.press("y\n", until: "saved 1 object")
      #expect(terminal.end() == 0)
      let saved = try bench.moonbase(
        "fetch", "Person", "s.sqlite", "--without-extension", "people", "--where", "age == 44", "--count")
      #expect(saved.output == "2\n", "\(saved)")
    }

    @Test func theEndTellsOfChangesThatAreNotSaved() throws {
      _ = try set("Person/1", "age", "43")
      let process = try page.process
      process.interrupt()
      #expect(try process.end() == 1)
      #expect(process.outcome().complaints.contains("1 changed object is not saved"))
      #expect(try stored("age", "name == 'Person 1'") == "age\n1\n")
    }
  #endif
}
