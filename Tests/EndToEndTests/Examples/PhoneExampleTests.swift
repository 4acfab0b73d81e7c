import MoonbasePlatform
import MoonbaseTestSupport
import Testing

@Suite struct PhoneExampleTests {
  static let script = Workbench.checkout.appendingPathComponent("lua/examples/phone/to_ndjson.lua").path

  @Test func everyObjectIsALineOfTheFileOfItsEntity() throws {
    let bench = try Workbench.withPeople()
    let before = try bench.contents()
    let run = try bench.moonbase("run", "--store", "s.sqlite", "--read-only", Self.script)
    #expect(run.status == 0 && run.complaints == "", "\(run)")
    #expect(
      run.output.split(separator: "\n").map { $0.split(separator: " ").joined(separator: " ") }.sorted() == [
        "Boss 1", "Department 1", "Person 2",
      ])
    let people = String(decoding: try bench.bytes(of: "Person.ndjson"), as: UTF8.self).split(separator: "\n")
    let line = try #require(people.first)
    let ann = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
    #expect(ann["name"] as? String == "Ann, \"A\"" && ann["salary"] as? String == "12345678901234567.89")
    #expect(ann["key"] as? String == "AQI=" && ann["born"] as? String == "2001-01-01T00:00:01.500Z")
    #expect((ann["department"] as? String)?.hasSuffix("/Department/p1") == true)
    #expect((ann["friends"] as? [String])?.count == 1 && people.count == 2)
    for name in ["Person.ndjson", "Boss.ndjson", "Department.ndjson"] {
      try FileManager.default.removeItem(at: bench.file(name))
    }
    #expect(try bench.contents() == before)
    #expect(try bench.moonbase("run", Self.script).status == 2)
  }

  /// Uses stores that Core Data wrote, if they are beside the checkout.
  @Test func storesOfAppsAreWritten() throws {
    for name in ["Bookmarks_V5", "CoreDataPlus-SampleModel2_V1", "LoopKit-Model.v1"] {
      let bench = try Workbench()
      guard try bench.takeRealStore(name) else { continue }
      let run = try bench.moonbase("run", "--store", "s.sqlite", "--read-only", Self.script)
      #expect(run.status == 0 && run.complaints == "" && run.output != "", "\(name): \(run)")
      let all = try bench.moonbase("export", "--all", "out", "--store", "s.sqlite")
      #expect(all.status == 0, "\(name): \(all)")
      for line in run.output.split(separator: "\n") {
        let words = line.split(separator: " ")
        let exported = String(decoding: try bench.bytes(of: "out/\(words[0]).ndjson"), as: UTF8.self)
        #expect(exported.split(separator: "\n").count == Int(words[1]))
      }
    }
  }

  /// The recipe of the cookbook, on a store that Core Data wrote.
  @Test func aStoreOfAnAppIsChangedAndGivenBack() throws {
    let bench = try Workbench()
    guard try bench.takeRealStore("Bookmarks_V5") else { return }
    func run(_ arguments: String..., status: Int32 = 0) throws -> String {
      let outcome = try bench.moonbase(arguments)
      #expect(outcome.status == status, "\(arguments): \(outcome)")
      return outcome.output
    }
    _ = try run("backup", "s.sqlite", "work.sqlite")
    #expect(try run("model", "show", "work.sqlite").contains("BookmarkEntity = {"))
    #expect(try run("fetch", "BookmarkEntity", "work.sqlite", "--where", "isFolder = NO", "--count") != "0\n")
    _ = try run(
      "each", "BookmarkEntity", "work.sqlite", "--where", "title = '32'", "--do", "object.title = 'thirty-two'",
      "--author", "desk")
    #expect(try bench.moonbase("doctor", "work.sqlite").status == 0)
    let difference = try run("diff", "s.sqlite", "work.sqlite", "--format", "csv", status: 1)
    #expect(difference.split(separator: "\n").count == 2 && difference.contains("title,32,thirty-two"), "\(difference)")
    _ = try run("backup", "work.sqlite", "back.sqlite")
    #expect(try run("diff", "work.sqlite", "back.sqlite", "--format", "csv").split(separator: "\n").count <= 1)
  }
}
