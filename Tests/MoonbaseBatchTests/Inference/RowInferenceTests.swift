import Moonbase
import MoonbaseModel
import MoonbasePlatform
import MoonbaseTestSupport
import Testing

@testable import MoonbaseBatch

/// The types inferred for columns, which preserve every value.
@Suite struct RowInferenceTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func input(_ text: String, _ format: ImportInput.Format) throws -> ImportInput {
    let url = folder.file("\(UUID().uuidString).\(format.rawValue)")
    try Data(text.utf8).write(to: url)
    return try ImportInput(url.path, format: format, rejectPath: nil)
  }

  private func inferred(_ text: String, _ format: ImportInput.Format = .csv) throws -> InferredModel {
    try #require(try RowInference(input(text, format)).model(entity: "Row"))
  }

  private func attributes(_ text: String, _ format: ImportInput.Format = .csv) throws -> [AttributeDescription] {
    try inferred(text, format).model.entities[0].attributes
  }

  @Test(
    arguments: [
      ("integer64", "0|-1|9223372036854775807|-9223372036854775808"), ("string", "1|9223372036854775808"),
      ("string", "007|1"), ("string", "+49|1"), ("string", "-0|1"), ("string", " 1|2"),
      ("string", "12345678901234567890"),
      ("decimal", "1.10|2.25|0.00"), ("string", "1.9|1.10"), ("decimal", "1.125|2.500"), ("double", "1.5|2.0|-0.25"),
      ("decimal", "1|1.5|-2"), ("string", "1|1.0|1.5"), ("decimal", "0.1234567890123456789|1.5"),
      ("string", "-0.00|1.00"),
      ("double", "1.0e5|2.5E-3|7"), ("double", "1e-05|2e+10|7"), ("string", "1e5|2"), ("string", "12E5|13E7"),
      ("string", "1e999|1"), ("double", "1.5|inf|-inf"), ("string", "1.5|nan"),
      ("string", ".5|1"), ("string", "5.|1"), ("string", "1,5"), ("string", "0x10|1"), ("boolean", "true|false|true"),
      ("string", "true|false|TRUE"), ("boolean", "YES|NO"), ("string", "NO|SE"), ("string", "NO|NO"),
      ("string", "yes|No"), ("string", "true|true"), ("string", "true|yes"), ("integer64", "0|1"), ("string", "t|f"),
      ("date", "2001-02-03|1999-12-31"), ("string", "2001-02-03|2001-02-30"), ("string", "2001-02-03|2001-02-03T04:05"),
      ("date", "2001-02-03T04:05:06|2001-02-03 04:05"), ("date", "2001-02-03T04:05:06.123Z|2001-02-03T04:05+01:00"),
      ("string", "2001-02-03T04:05:06Z|2001-02-03T04:05:06"), ("string", "2001-02-03T04:05:06.123456Z"),
      ("date", "2001-02-03T04:05:06.123000Z"), ("string", "2001-12-31T23:59:60Z"), ("string", "2001-02|x"),
      ("uuid", "00000000-0000-0000-0000-00000000000a|00000000-0000-0000-0000-000000000001"),
      ("string", "00000000-0000-0000-0000-00000000000a|00000000-0000-0000-0000-00000000000B"),
      ("uri", "https://x.org/a?b=c#d|ftp://y"), ("string", "https://x.org/a b"), ("string", "https://x.org|x"),
      ("string", "a|1"), ("string", "{}"),
    ] as [(String, String)]) func columnsOfCSVAreWhatBringsTheirTextsBack(_ type: String, _ values: String) throws
  {
    let text = "v\n" + values.split(separator: "|").map { "\"\($0)\"\n" }.joined()
    let attribute = try attributes(text)[0]
    #expect(attribute.type.modelName == type)
    #expect(!attribute.isOptional)
    #expect(try attributes("w," + text.replacing("\n", with: "\n,").dropLast(1) + ",")[1].isOptional)
  }

  /// A column with one distinct truth value may be a code; with many rows that is unlikely.
  @Test func oneTruthValueInManyRowsIsATruthValue() throws {
    #expect(try attributes("v\n" + String(repeating: "no\n", count: 20))[0].type == .string)
    #expect(try attributes("v\n" + String(repeating: "no\n", count: 21))[0].type == .boolean)
  }

  /// The comment names the values that decided the type.
  @Test(arguments: [
    ("-0|1|2", "text; decided by -0; as -0, 1, 2"), ("0|-0|1", "text; decided by -0; as -0, 0, 1"),
    ("1|2|1.0", "text; decided by 1.0; as 1, 1.0, 2"), ("1.5|1.50|2", "text; decided by 1.50; as 1.5, 1.50, 2"),
    ("1|12345678901234567890123", "text; decided by 12345678901234567890123; as 1, 12345678901234567890123"),
    ("01234|1|2", "text; decided by 01234; as 01234, 1, 2"), ("abc|1|b", "text; as 1, abc, b"),
    ("soon|2001-02-03", "text; decided by soon; as 2001-02-03, soon"),
    ("\"\"|1", "text; decided by \"\"; as \"\", 1"), ("1|  |2", "text; decided by \"  \"; as \"  \", 1, 2"),
    ("1|abc|3|n/a", "text; decided by abc, n/a; as 1, 3, abc"), ("7|007", "text; decided by 007; as 007, 7"),
    ("2001-02-03|soon", "text; decided by soon; as 2001-02-03, soon"), ("a|b", "text; as a, b"),
    ("1|1.5", "numbers, all digits of which a decimal keeps; decided by 1.5; as 1, 1.5"),
    ("NO|NO", "text, for it has not both truth values in one spelling; always NO"),
  ])
  func theValuesThatDecidedAreNamed(_ values: String, _ comment: String) throws {
    let source = try inferred("v\n" + values.replacing("|", with: "\n") + "\n").luaSource()
    #expect(source.contains("-- \(comment)\n"), "\(source)")
  }

  @Test func theOrderOfTheFileStays() throws {
    #expect(try attributes("z,a,m\n1,2,3\n").map(\.name) == ["z", "a", "m"])
    let source = try inferred("z,a,m\n1,2,3\n").luaSource()
    let places = try ["z", "a", "m"].map { name in
      try #require(source.range(of: "        \(name) = ")).lowerBound
    }
    #expect(places == places.sorted())
  }

  @Test(arguments: [
    ("integer64", "1, -5"), ("double", "1.5, 2"), ("double", "1.0, 3, 2.25"), ("decimal", "12345678901234567890, 1"),
    ("boolean", "true, false"), ("string", #""5", "7""#), ("string", #"5, "5""#), ("string", #"true, "true""#),
    ("date", #""2001-02-03""#), ("transformable", #"[1], {"a": 2}"#), ("transformable", #"[1], "a""#),
  ]) func valuesOfJSONStayOfTheirKind(_ type: String, _ values: String) throws {
    let objects = values.replacing("{\"a\": 2}", with: "{}").split(separator: ", ").map { "{\"v\": \($0)}\n" }.joined()
    #expect(try attributes(objects, .ndjson)[0].type.modelName == type)
    #expect(
      try attributes("[\(objects.split(separator: "\n").joined(separator: ","))]", .json)[0].type.modelName == type)
    #expect(try attributes(objects + "{\"w\": 1}\n", .ndjson).allSatisfy(\.isOptional))
  }

  @Test func namesOfColumnsBecomeNamesOfPropertiesAndAreKept() throws {
    let columns = [
      "name", "Name", "First Name", "FIRST_NAME", "class", "2020", "a.b", "_id", "Größe", "名前", "id", "URL", "!", "?",
      "nAME", "user_id",
    ]
    let found = try attributes(columns.joined(separator: ",") + "\n")
    #expect(
      found.map(\.name) == [
        "name", "name2", "firstName", "firstName2", "classValue", "column2020", "aB", "id2", "größe", "名前", "id", "url",
        "column", "column2", "nAME3", "user_id",
      ])
    #expect(Set(found.map { $0.name.lowercased() }).count == columns.count)
    for (column, attribute) in zip(columns, found) {
      #expect(attribute.userInfo["column"] == (attribute.name == column ? nil : .string(column)))
    }
  }

  @Test func keysAndEnumerationsAreGuessed() throws {
    var text = "kind,other,code\n"
    for row in 0..<50 { text += "\(row % 3),\(["a", "b", "c"][row % 3]),c\(row)\n" }
    let entity = try inferred(text).model.entities[0]
    #expect(entity.uniquenessConstraints == [["code"]])
    #expect(entity.attributes[1].validation.allowedValues == ["a", "b", "c"])
    #expect(entity.attributes[0].validation.allowedValues == nil)
    #expect(try inferred("id,v\n1,a\n2,b\n").model.entities[0].uniquenessConstraints == [["id"]])
    #expect(try inferred("id,v\n1,a\n1,b\n").model.entities[0].uniquenessConstraints == [])
    #expect(try inferred("id,v\n1,a\n,b\n").model.entities[0].uniquenessConstraints == [])
    #expect(try inferred("v,w\n1,a\n2,b\n").model.entities[0].uniquenessConstraints == [])
  }

  @Test func whetherValuesCameTwiceIsKnownAsFarAsThereIsRoom() {
    var values = DistinctValues(DistinctBudget())
    func add(_ value: Int) {
      var text = "\(value)"
      text.withUTF8 { values.add(UnsafeRawBufferPointer($0), integer: nil) }
    }
    for value in 0..<300_000 { add(value) }
    #expect(values.areUnique == true && values.few == nil)
    add(77)
    #expect(values.areUnique == false)
    let budget = DistinctBudget()
    var columns = (0..<40).map { _ in DistinctValues(budget) }
    for column in columns.indices {
      for value in 0..<100_000 {
        withUnsafeBytes(of: value) { columns[column].add($0, integer: column == 39 ? Int64(value) : nil) }
      }
    }
    #expect(columns[0].areUnique == true && columns[38].areUnique == nil && columns[39].areUnique == true)
  }

  // MARK: Whole tables

  /// Random tables: the Lua file equals the model, every row is imported, and every value survives.
  @Test(arguments: 0..<UInt64(Repetition.inferenceSeeds.count))
  func everyValueOfARandomTableComesOutAgain(_ seed: UInt64) throws {
    var random = SplitMix(seed)
    let kinds = (0..<8).map { _ in random.next(Self.makers.count) }
    var rows: [[String?]] = []
    for _ in 0..<(5 + random.next(60)) {
      rows.append(
        kinds.map { kind in
          // Now and then a column contains a value of another kind.
          let maker = random.next(400) == 0 ? random.next(Self.makers.count) : kind
          return random.next(30) == 0 && kind % 2 == 0 ? nil : Self.makers[maker](&random)
        })
    }
    let header = kinds.indices.map { "Column \($0)" }
    let text = ([header] + rows).map { row in
      row.map { $0.map { "\"\($0.replacing("\"", with: "\"\""))\"" } ?? "" }.joined(separator: ",") + "\n"
    }.joined()
    let inferred = try inferred(text)
    let file = folder.file("\(seed).lua")
    try Data(inferred.luaSource().utf8).write(to: file)
    #expect(try ManagedObjectModel(contentsOf: file) == inferred.model)
    let container = try PersistentContainer(model: inferred.model, store: .inMemory)
    let context = try ManagedObjectContext(container.coordinator, extensions: container.extensions)
    let entity = try #require(context.model.entity("Row"))
    let importer = try Importer(
      entity, from: input(text, .csv), in: context, options: ImportOptions(), bookmark: nil, replacesRejects: true)
    try importer.run()
    #expect(importer.report.inserted == rows.count && importer.report.rejected == 0)
    let objects = try context.fetch(FetchRequest("Row"))
    let found = objects.map { object in
      inferred.model.entities[0].attributes.map { Self.plain(object[$0.name]) }
    }
    let wanted = rows.map { row in
      zip(row, inferred.model.entities[0].attributes).map { text, attribute in
        text.map { Self.plain($0, attribute.type) } ?? "-"
      }
    }
    #expect(found.map { $0.joined(separator: "|") }.sorted() == wanted.map { $0.joined(separator: "|") }.sorted())
  }

  private static let makers: [@Sendable (inout SplitMix) -> String] = [
    { "\($0.next(1000) - 500)" }, { "\($0.next(1000)).\($0.next(90) + 10)" }, { "\(Double($0.next(10_000)) / 7)" },
    { $0.next(2) == 0 ? "yes" : "no" }, { $0.next(2) == 0 ? "true" : "FALSE" }, { "0\($0.next(100))" },
    { "2001-02-\(10 + $0.next(18))" }, { "2001-02-03T04:05:0\($0.next(10)).\(100 + $0.next(900))+02:00" },
    { "text \($0.next(7)), \"quoted\"\nlines ü" }, { "https://x.org/\($0.next(1000))" },
    { "\($0.next(100))e\($0.next(20))" },
    { _ in "" }, { "0000000\($0.next(10))-0000-0000-0000-00000000000a" },
    { "\($0.next(50))" + ["", ".5", ".25"][$0.next(3)] },
    { "1\($0.next(Int.max / 2))\($0.next(Int.max / 2))" }, { "v1.\($0.next(3))" },
  ]

  /// A canonical text of a value, independent of the tested code.
  private static func plain(_ value: Value) -> String {
    switch value {
    case .null: "-"
    case .string(let text): "s\(text)"
    case .int(let number): "\(number)"
    case .double(let number): "\(Decimal(string: "\(number)") ?? 0)"
    case .decimal(let number): "\(number)"
    case .bool(let truth): truth ? "true" : "false"
    case .date(let date): "\((date.timeIntervalSince1970 * 1000).rounded())"
    case .uuid(let uuid): uuid.uuidString
    case .uri(let uri): uri.absoluteString
    default: "?"
    }
  }

  private static func plain(_ text: String, _ type: AttributeType) -> String {
    switch type {
    case .string: return "s\(text)"
    case .double, .decimal: return "\(Decimal(string: text) ?? 0)"
    case .boolean: return ["yes", "true"].contains(text.lowercased()) ? "true" : "false"
    case .uuid: return text.uppercased()
    case .date:
      let formatter = ISO8601DateFormatter()
      formatter.formatOptions = text.count == 10 ? [.withFullDate] : [.withInternetDateTime, .withFractionalSeconds]
      return formatter.date(from: text).map { "\(($0.timeIntervalSince1970 * 1000).rounded())" } ?? "?"
    default: return text
    }
  }
}
