import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseTestSupport
import Testing

/// Transformable attributes without a named transformer, or with one of Core Data's own.
///
/// Source: Core Data Programming Guide, Non-Standard Persistent Attributes; `NSSecureUnarchiveFromDataTransformer`.
@Suite struct DefaultTransformerTests {
  private static func model(_ transformer: String? = nil, class name: String? = nil) -> ManagedObjectModel {
    ManagedObjectModel {
      EntityDescription("Note") {
        AttributeDescription("text", type: .string)
        AttributeDescription("tags", type: .transformable).with {
          $0.valueTransformerName = transformer
          $0.valueClassName = name
        }
      }
    }
  }

  /// The stored bytes of the tags.
  private func bytes(of note: ManagedObject) throws -> Data {
    let slot = try #require(note.entity.slot("tags"))
    let context = try #require(note.managedObjectContext)
    let row = try context.coordinator.persistentStores[0].snapshot(of: note.objectID)
    guard case .data(let data)? = row?.values[slot] else { throw CancellationError() }
    return data
  }

  @Test(arguments: StoreKind.allCases) func itKeepsAnyPropertyListInAKeyedArchive(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind, Self.model())
    let value: Value = [
      "names": ["a", "b"], "count": 3, "at": .date(Date(timeIntervalSinceReferenceDate: 1)), "no": .null,
    ]
    let context = bench.context()
    let note = try context.insert("Note", values: ["tags": value])
    #expect(note["tags"] == value)
    try context.save()
    #expect(try PropertyList(binary: bytes(of: note))["$archiver"] == "NSKeyedArchiver")
    #expect(try bench.saved("Note", "text").count == 1)
    let stranger = bench.stranger()
    let read = try #require(try stranger.fetch(FetchRequest("Note")).first)
    #expect(try read.value(forKey: "tags") == value && !read.hasChanges)
  }

  /// Such a date could be written, and its bytes could not be read.
  @Test(arguments: [Double.infinity, -.infinity]) func anInfiniteDateWithinAValueIsRefused(_ time: Double) throws {
    let context = try StoreBench(.memory, Self.model()).context()
    let note = try context.insert("Note", values: ["tags": ["a"]])
    let value: Value = ["at": [.date(Date(timeIntervalSinceReferenceDate: time))]]
    let error = #expect(throws: GraphError.self) {
      try note.setValue(value, forKey: "tags")
      try context.save()
    }
    #expect(error?.code == .invalidValue && error?.message.contains("infinite date") == true, "\(error as Any)")
    #expect(error?.entity == "Note" && error?.property == "tags")
    #expect(note["tags"] == ["a"])
  }

  @Test(
    arguments: [
      "NSSecureUnarchiveFromData", "NSSecureUnarchiveFromDataTransformer", "NSSecureUnarchiveFromDataTransformerName",
      "NSKeyedUnarchiveFromData", "NSKeyedUnarchiveFromDataTransformerName", "NSUnarchiveFromData",
      "NSUnarchiveFromDataTransformerName",
    ])
  func applesNamesMeanIt(_ name: String) throws {
    let bench = try StoreBench(.memory, Self.model(name))
    let context = bench.context()
    let note = try context.insert("Note", values: ["tags": ["a"]])
    try context.save()
    #expect(try ValueArchive.value(of: bytes(of: note)) == ["a"])
  }

  @Test func oneOfADomainTakesItsPlace() throws {
    let bench = try StoreBench(.memory, Self.model())
    let domain = ExtensionRegistry()
    domain.transformers["NSSecureUnarchiveFromData"] = ValueTransformer(
      "NSSecureUnarchiveFromData", transformedValue: { _ in .data(Data("mine".utf8)) },
      reverseTransformedValue: { _ in "mine" })
    let context = ManagedObjectContext(bench.coordinator, extensionRegistry: domain)
    let note = try context.insert("Note", values: ["tags": ["a"]])
    try context.save()
    #expect(try bytes(of: note) == Data("mine".utf8))
  }

  @Test(arguments: StoreKind.allCases) func anObjectOfAnAppIsAMapThatNamesItsClass(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind, Self.model())
    let archive: PropertyList = [
      "$version": 100_000, "$archiver": "NSKeyedArchiver", "$top": ["root": .uid(1)],
      "$objects": ["$null", ["UIRed": .real(0.5), "$class": .uid(2)], ["$classname": "UIColor"]],
    ]
    let domain = ExtensionRegistry()
    domain.transformers["NSSecureUnarchiveFromData"] = ValueTransformer(
      "raw", transformedValue: { $0 }, reverseTransformedValue: { $0 })
    let phone = ManagedObjectContext(bench.coordinator, extensionRegistry: domain)
    try phone.insert("Note", values: ["tags": .data(archive.binaryData), "text": "old"])
    try phone.save()
    let context = bench.stranger()
    let note = try #require(try context.fetch(FetchRequest("Note")).first)
    #expect(try note.value(forKey: "tags") == ["$class": "UIColor", "UIRed": 0.5])
    // Assigning the value that was read is no change; the bytes survive a save of another attribute.
    try note.setValue(["$class": "UIColor", "UIRed": 0.5], forKey: "tags")
    #expect(!context.hasChanges)
    try note.setValue("new", forKey: "text")
    try context.save()
    #expect(try bytes(of: note) == archive.binaryData)
    // A map cannot become another archived class.
    #expect {
      try note.setValue(["$class": "UIColor", "UIRed": 1.0], forKey: "tags")
    } throws: {
      let error = $0 as? GraphError
      return error?.code == .invalidValue && error?.property == "tags"
        && error?.message.contains("Note.tags: a map with the key $class stands for an archived object") == true
    }
    #expect(!context.hasChanges)
    try note.setValue(.null, forKey: "tags")
    try context.save()
    #expect(try note.value(forKey: "tags") == .null)
  }

  @Test(arguments: StoreKind.allCases) func aValueThatNoArchiveHoldsIsRefusedAtTheAssignment(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind, Self.model())
    let context = bench.context()
    let note = try context.insert("Note", values: ["tags": ["a"]])
    try context.save()
    #expect {
      try note.setValue([.objectID(note.objectID)], forKey: "tags")
    } throws: {
      let error = $0 as? GraphError
      return error?.code == .invalidValue && error?.entity == "Note" && error?.property == "tags"
        && error?.message.contains("name a transformer of your own") == true
    }
    #expect(try note.value(forKey: "tags") == ["a"] && !context.hasChanges)
  }

  @Test func bytesThatAreNoArchiveAreAnErrorThatNamesTheAttribute() throws {
    let bench = try StoreBench(.memory, Self.model())
    let domain = ExtensionRegistry()
    domain.transformers["NSSecureUnarchiveFromData"] = ValueTransformer(
      "raw", transformedValue: { $0 }, reverseTransformedValue: { $0 })
    let other = ManagedObjectContext(bench.coordinator, extensionRegistry: domain)
    try other.insert("Note", values: ["tags": .data(Data([1, 2, 3]))])
    try other.save()
    let context = bench.stranger()
    let note = try #require(try context.fetch(FetchRequest("Note")).first)
    #expect {
      try note.value(forKey: "tags")
    } throws: {
      let error = $0 as? GraphError
      return error?.code == .malformedFile && error?.property == "tags" && error?.objectID == note.objectID
        && error?.message.hasPrefix("Note.tags: its bytes are no keyed archive") == true
    }
    // An unreadable value can be replaced.
    try note.setValue(["new"], forKey: "tags")
    #expect(try note.value(forKey: "tags") == ["new"])
  }

  @Test(arguments: StoreKind.allCases) func predicatesSeeItsValues(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind, Self.model())
    let context = bench.context()
    try context.insert("Note", values: ["text": "1", "tags": ["red", "blue"]])
    try context.insert("Note", values: ["text": "2", "tags": ["green"]])
    try context.insert("Note", values: ["text": "3"])
    try context.save()
    for context in [context, bench.stranger()] {
      func found(_ text: String) throws -> [Value] {
        try context.fetch(FetchRequest("Note", where: text)).map { try $0.value(forKey: "text") }
      }
      #expect(try found("'red' IN tags") == ["1"])
      #expect(try found("tags CONTAINS 'green'") == ["2"])
      #expect(try found("tags = NULL") == ["3"])
    }
  }

  @Test func derivedAttributesReadAndAreStoredWithIt() throws {
    let bench = try StoreBench(.memory, Self.model())
    let context = bench.context(extending: "Note") {
      $0.stored = [
        DerivedAttribute("tags", ownInputs: ["text"]) { note in
          guard case .string(let text) = try note.value(forKey: "text") else { return .null }
          return .list(text.split(separator: " ").map { .string(String($0)) })
        }
      ]
    }
    let note = try context.insert("Note", values: ["text": "a b"])
    try context.save()
    #expect(try ValueArchive.value(of: bytes(of: note)) == ["a", "b"])
  }

  @Test func aSetIsArchivedWhereTheModelSaysSo() throws {
    let bench = try StoreBench(.memory, Self.model(class: "NSSet"))
    let context = bench.context()
    let note = try context.insert("Note", values: ["tags": ["a", "b"]])
    try context.save()
    let read = try NSKeyedUnarchiver.unarchivedObject(ofClasses: [NSSet.self, NSString.self], from: bytes(of: note))
    #expect(read as? Set<String> == ["a", "b"])
  }

  private static let classes: [(String, Value, Value)] = [
    ("NSString", "x", ["x"]), ("NSArray", ["x"], "x"), ("NSDictionary", [:], []),
  ]

  @Test(arguments: classes) func foundationsClassesAreCheckedAtTheAssignment(
    _ name: String, _ value: Value, _ other: Value
  ) throws {
    let bench = try StoreBench(.memory, Self.model(class: name))
    let context = bench.context()
    let note = try context.insert("Note", values: ["tags": value])
    #expect {
      try note.setValue(other, forKey: "tags")
    } throws: {
      ($0 as? GraphError)?.message.contains("Note.tags: its values are of class \(name), not") == true
    }
    #expect(try note.value(forKey: "tags") == value)
  }

  @Test func itIsDecodedOnceAndEncodedOnce() throws {
    let bench = try StoreBench(.memory, Self.model())
    let context = bench.context()
    context.detectsInPlaceMutation = true
    let note = try context.insert("Note", values: ["tags": ["b": 1, "a": 2]])
    try context.save()
    try context.refresh(note, mergeChanges: false)
    _ = try note.value(forKey: "tags")
    try note.setValue("x", forKey: "text")
    try context.save()
    #expect(!context.hasChanges)
  }
}
