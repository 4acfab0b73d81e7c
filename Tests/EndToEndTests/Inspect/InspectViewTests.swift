import MoonbasePlatform
import MoonbaseTestSupport
import Testing

/// The page's views, over a store opened for reading.
@Suite struct InspectViewTests {
  private static let shared = SharedPage()
  private let page: InspectBench

  init() throws { page = try Self.shared.page() }

  private func rows(_ query: [String: String]) throws -> JSONTree {
    let answer = try page.get("/api/rows", ["entity": "Person"].merging(query) { $1 })
    #expect(answer.status == 200, "\(answer)")
    return answer.json
  }

  private func names(_ query: [String: String]) throws -> [String] {
    try rows(["columns": "name"].merging(query) { $1 })["rows"].list.compactMap { $0["cells"][0].text }
  }

  @Test func entitiesAreListedAndCounted() throws {
    let store = try page.get("/api/store").json
    #expect(store["entities"].list.compactMap { $0["name"].text } == ["Department", "Person", "Boss"])
    #expect(store["entities"].named("Boss")["parent"].text == "Person" && store["extensions"][0].text == "people")
    #expect(try page.get("/api/count", ["entity": "Person"]).json["count"].int == 119)
    #expect(try page.get("/api/count", ["entity": "Boss"]).json["count"].int == 1)
    #expect(try page.get("/api/count", ["entity": "Person", "where": "age < 3"]).json["count"].int == 2)
  }

  @Test func rowsHaveAPredicateAnOrderPagesAndColumns() throws {
    #expect(try names(["where": "age BETWEEN {8, 9}"]) == ["Person 8", "Person 9"])
    #expect(try names(["where": "age < 4", "sort": "-age"]).last == "Person 1")
    #expect(try names(["sort": "age", "offset": "100", "limit": "2"]) == ["Person 101", "Person 102"])
    #expect(try names(["offset": "5000"]) == [])
    let paths = try rows(["columns": "_id,department.name,friends,greeting", "limit": "1"])
    #expect(paths["rows"][0]["cells"][0]["id"].text == "Person/1")
    #expect(paths["rows"][0]["cells"][1].text == "<script>alert(1)</script>")
    #expect(paths["rows"][0]["cells"][2]["count"].int == 70 && paths["rows"][0]["cells"][3].text == "Hello Person 1")
    let usual = try rows(["limit": "1"])["columns"].list.compactMap { $0["name"].text }
    #expect(usual.first == "name" && usual.contains("department") && usual.count <= 12)
    #expect(try rows(["where": "age == 10"])["rows"][0]["entity"].text == "Boss")
  }

  @Test func mistakesAreToldAsJSON() throws {
    let mistakes: [(String, [String: String], String)] = [
      ("/api/rows", ["entity": "Persn"], "did you mean Person?"), ("/api/rows", [:], "names no entity"),
      ("/api/rows", ["entity": "Person", "where": "age >"], "column"),
      ("/api/rows", ["entity": "Person", "where": "agee > 1"], "did you mean age?"),
      ("/api/rows", ["entity": "Person", "columns": "nam"], "did you mean name?"),
      ("/api/rows", ["entity": "Person", "sort": "nam"], "did you mean name?"),
      ("/api/rows", ["entity": "Person", "limit": "100000"], "from 1 to 500"),
      ("/api/rows", ["entity": "Person", "offset": "-1"], "offset is a number"),
      ("/api/object", ["id": "Person"], "Person/12"),
      ("/api/members", ["id": "Person/1", "property": "frends"], "friends"),
      ("/api/value", ["id": "Person/1", "property": "age"], "no bytes"), ("/api/history", ["before": "x"], "token"),
    ]
    for (path, query, message) in mistakes {
      let answer = try page.get(path, query)
      #expect((400...404).contains(answer.status) && answer.error.contains(message), "\(path) \(query): \(answer)")
      #expect(answer.headers["content-type"] == "application/json; charset=utf-8")
    }
    #expect(try page.get("/api/object", ["id": "Person/9999"]).status == 404)
  }

  @Test func anObjectHasValuesBesideWhatIsStored() throws {
    let object = try page.get("/api/object", ["id": "Person/1"]).json
    #expect(object["label"].text == "Person 1" && object["uri"].text?.hasSuffix("/Person/p1") == true)
    let properties = object["properties"]
    #expect(
      properties.named("age")["value"].text == "1"
        && properties.named("born")["value"].text == "2001-01-01T00:00:01.000Z")
    let color = properties.named("color")
    #expect(color["value"]["text"].text == "#ff8000" && color["value"]["object"].text == "Color")
    #expect(color["stored"]["length"].int == 32 && color["stored"]["type"].text == "blob")
    #expect(properties.named("extra")["value"]["tree"]["list"][1].int == 2)
    #expect(properties.named("greeting")["value"].text == "Hello Person 1")
    #expect(
      properties.named("greeting")["derived"].text == "name" && properties.named("greeting")["editable"].bool == false)
    #expect(properties.named("department")["value"]["id"].text == "Department/1")
    #expect(properties.named("department")["value"]["label"].text == "<script>alert(1)</script>")
    #expect(properties.named("friends")["value"]["count"].int == 70)
    #expect(properties.named("photo")["value"]["image"].text == "png")
  }

  @Test func relationshipsAreWalkedPageByPage() throws {
    let first = try page.get(
      "/api/members", ["id": "Person/1", "property": "friends", "limit": "50", "columns": "name"]
    ).json
    let second = try page.get(
      "/api/members", ["id": "Person/1", "property": "friends", "offset": "50", "columns": "name"]
    ).json
    #expect(first["total"].int == 70 && first["rows"].list.count == 50 && second["rows"].list.count == 20)
    let ids = (first["rows"].list + second["rows"].list).compactMap { $0["id"].text }
    #expect(Set(ids).count == 70 && !ids.contains("Person/1"))
    let one = try page.get("/api/members", ["id": "Person/1", "property": "department", "columns": "name"]).json
    #expect(one["entity"].text == "Department" && one["rows"][0]["id"].text == "Department/1")
  }

  /// Pictures are recognized by their first bytes. All other values, SVG included, are downloads.
  @Test func valuesRunNothing() throws {
    let picture = try page.get("/api/value", ["id": "Person/1", "property": "photo"])
    #expect(
      picture.headers["content-type"] == "image/png"
        && picture.headers["content-disposition"]?.hasPrefix("inline") == true)
    #expect(picture.body.count == 108 && picture.body.first == 0x89)
    for name in ["photo", "name"] {
      let other = try page.get("/api/value", ["id": "Person/2", "property": name])
      #expect(other.headers["content-type"] == "application/octet-stream")
      #expect(other.headers["content-disposition"] == "attachment; filename=\"\(name).bin\"")
    }
    let markup = try page.get("/api/rows", ["entity": "Person", "where": "age == 3", "columns": "name"])
    #expect(markup.json["rows"][0]["cells"][0].text == "<img src=x onerror=alert(1)>")
    #expect(markup.headers["content-type"] == "application/json; charset=utf-8")
  }

  @Test func sqlAndPlanOfAViewAreTold() throws {
    let text =
      try page.get("/api/explain", ["entity": "Person", "where": "age > 3", "sort": "name"]).json["text"].text ?? ""
    #expect(text.contains("FROM ZPERSON") && text.contains("ORDER BY") && text.contains("SCAN"), "\(text)")
    let object = try page.get("/api/explain", ["id": "Person/1"]).json["text"].text ?? ""
    #expect(object.contains("Z_PK"), "\(object)")
    for name in ["friends", "department"] {
      let members = try page.get("/api/explain", ["id": "Person/1", "property": name])
      #expect(members.status == 200 && members.text.contains("the store: SELECT"), "\(members)")
    }
  }

  @Test func theDiagramIsADocumentOfItsOwn() throws {
    let answer = try page.get("/api/diagram")
    #expect(answer.headers["content-type"] == "image/svg+xml")
    #expect(answer.text.hasPrefix("<svg") && answer.text.contains("Department") && !answer.text.contains("<script"))
  }

  @Test func theHistoryIsATimeline() throws {
    let history = try page.get("/api/history").json
    let transactions = history["transactions"].list
    #expect(history["kept"].bool == true && transactions.count == 3 && history["before"].isNull)
    #expect(try page.get("/api/history", ["before": "x:-9223372036854775808"]).status < 500)
    #expect(transactions[0]["changes"].list.contains { $0["kind"].text == "delete" })
    #expect(transactions[1]["author"].text == "<b>me</b>" && transactions[1]["changes"][0]["new"]["age"].text == "55")
    #expect(transactions[2]["total"].int == 121 && transactions[2]["changes"].list.count == 100)
  }

  /// A history is read some thousand changes at a time.
  @Test func aTransactionOfManyChangesIsOneEntry() throws {
    let bench = try Workbench()
    try bench.write("return { entities = { P = { attributes = { n = 'integer64' } } } }", to: "m.lua")
    let made = try bench.moonbase(
      "run", "--store", "h.sqlite", "--model", "m.lua", "--keep-history", "-e",
      "local c = moonbase.context for i = 1, 5000 do c:insert('P', { n = i }) end assert(c:save())")
    try #require(made.status == 0, "\(made)")
    let page = try InspectBench(bench, "h.sqlite")
    let transactions = try page.get("/api/history").json["transactions"].list
    #expect(transactions.count == 1 && transactions[0]["total"].int == 5000, "\(transactions.count)")
    #expect(transactions[0]["changes"].list.count == 100)
  }

  @Test func doctorIsAsked() throws {
    let answer = try page.get("/api/doctor").json
    #expect(answer["findings"].list.isEmpty && answer["whole"].bool == true, "\(answer)")
  }
}
