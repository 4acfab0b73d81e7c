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
}
