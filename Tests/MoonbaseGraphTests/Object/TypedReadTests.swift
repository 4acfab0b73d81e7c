import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseTestSupport
import Testing

/// Typed reads, from rows and from an object's own values.
@Suite struct TypedReadTests {
  private final class Item: ManagedObject {
    static let int = Attribute<Item, Int64>("int")
    static let small = Attribute<Item, Int16>("int")
    static let double = Attribute<Item, Double>("double")
    static let bool = Attribute<Item, Bool>("bool")
    static let date = Attribute<Item, Date>("date")
    static let text = Attribute<Item, String>("text")
    static let maybeText = Attribute<Item, String?>("text")
    static let data = Attribute<Item, Data>("data")
    static let maybeData = Attribute<Item, Data?>("data")
    static let size = Attribute<Item, Size>("text")
    static let value = Attribute<Item, Value>("int")
    static let wrong = Attribute<Item, Double>("text")
    static let unknown = Attribute<Item, Double>("unknown")
  }

  /// A type that is not read from cells directly.
  private enum Size: String, AttributeValue {
    case small, large, none

    static func read(_ value: Value) -> Size? {
      if case .string(let text) = value { Size(rawValue: text) } else { value.isNull ? Size.none : nil }
    }
    static var defaultWhenNull: Size { .small }
    var attributeValue: Value { .string(rawValue) }
  }

  /// Cached computed and transformed values are read by typed keys as by names, each time.
  @Test(arguments: StoreKind.allCases) func keptValuesAreReadAgain(_ kind: StoreKind) throws {
    final class Note: ManagedObject {
      static let tags = Attribute<Note, Value>("tags")
      static let maybeTags = Attribute<Note, Value?>("tags")
      static let count = Attribute<Note, Int?>("count")
      static let title = Attribute<Note, String>("title")
    }
    let bench = try StoreBench(
      kind,
      ManagedObjectModel {
        EntityDescription("Note", class: "Note") {
          AttributeDescription("text", type: .string)
          AttributeDescription("tags", type: .transformable)
          AttributeDescription("count", type: .integer64).transient()
          AttributeDescription("title", type: .string)
        }
      })
    bench.coordinator.register(Note.self, forClassName: "Note")
    let context = bench.context(extending: "Note") { entry in
      entry.derived = [
        // A value whose inputs are not recorded; it is kept until any change.
        DerivedAttribute("count") { note in
          guard let context = note.managedObjectContext else { return .null }
          return .int(Int64(try context.count(FetchRequest("Note"))))
        }
      ]
      entry.stored = [DerivedAttribute("title", ownInputs: ["text"]) { try $0.value(forKey: "text") }]
    }
    let note = try context.insert(Note.self, values: ["text": "a", "tags": ["x", "y"]])
    try context.save()
    for isRead in [false, true] {
      if isRead { try context.refresh(note, mergeChanges: false) }
      for _ in 1...3 {
        #expect(note[Note.tags] == ["x", "y"] && note[Note.maybeTags] == ["x", "y"] && note[Note.count] == 1)
        #expect(note[Note.title] == "a")
      }
    }
    #expect(!context.hasChanges && context.pendingErrors.isEmpty)
  }

  private func bench(_ kind: StoreKind) throws -> StoreBench {
    let model = ManagedObjectModel {
      EntityDescription("Item", class: "Item") {
        AttributeDescription("int", type: .integer64)
        AttributeDescription("double", type: .double)
        AttributeDescription("bool", type: .boolean)
        AttributeDescription("date", type: .date)
        AttributeDescription("text", type: .string)
        AttributeDescription("data", type: .binaryData)
      }
    }
    let bench = try StoreBench(kind, model)
    bench.coordinator.register(Item.self, forClassName: "Item")
    return bench
  }

  private static let texts = [
    "", "short", "fifteen bytes..", "longer than fifteen bytes", String(repeating: "é", count: 5000),
  ]

  @Test(arguments: StoreKind.allCases) func valuesOfRowsAndOwnValuesAreTheSame(_ kind: StoreKind) throws {
    let bench = try bench(kind)
    let (writer, reader) = (bench.context(), bench.context())
    let date = Date(timeIntervalSinceReferenceDate: 1234.5)
    for text in Self.texts {
      let data = Data(text.utf8)
      let new = try #require(
        try writer.insert(
          "Item",
          values: [
            "int": 7, "double": 1.5, "bool": true, "date": .date(date), "text": .string(text), "data": .data(data),
          ])
          as? Item)
      func check(_ item: Item) {
        #expect(item[Item.int] == 7 && item[Item.small] == 7 && item[Item.value] == 7)
        #expect(item[Item.double] == 1.5 && item[Item.bool] && item[Item.date] == date)
        #expect(item[Item.text] == text && item[Item.maybeText] == text)
        #expect(item[Item.data] == data && item[Item.maybeData] == data)
        #expect(item.withText(Item.text) { String(decoding: $0, as: UTF8.self) } == text)
        #expect(item.withText(Item.maybeText) { $0.count } == text.utf8.count)
        #expect(item.withBytes(Item.data) { Data($0) } == data)
        #expect(item.withBytes(Item.maybeData) { $0.count } == data.count)
      }
      check(new)
      try writer.save()
      check(new)
      let fault = try #require(try reader.object(with: new.objectID) as? Item)
      check(fault)
      #expect(!fault.isFault)
      // An object's own value hides the row's in that slot only.
      fault[Item.int] = 8
      #expect(fault[Item.int] == 8 && fault[Item.double] == 1.5 && fault[Item.text] == text)
      try reader.rollback()
      #expect(fault[Item.int] == 7)
      #expect(reader.drainAccessorErrors().isEmpty && writer.drainAccessorErrors().isEmpty)
    }
  }

  @Test(arguments: StoreKind.allCases) func whatIsMissingOrOfAnotherKindIsToldApart(_ kind: StoreKind) throws {
    let bench = try bench(kind)
    let (writer, reader) = (bench.context(), bench.context())
    let id = try writer.insert("Item", values: ["int": 70_000, "text": "large"]).objectID
    let none = try writer.insert("Item")
    try writer.save()
    _ = id
    let large = try #require(try reader.fetch(FetchRequest("Item", where: "int = 70000")).first as? Item)
    let empty = try #require(try reader.object(with: none.objectID) as? Item)
    #expect(large[Item.size] == .large && empty[Item.size] == Size.none)
    #expect(
      empty[Item.int] == 0 && empty[Item.text] == "" && empty[Item.maybeText] == nil && empty[Item.value] == .null)
    #expect(empty[Item.data] == Data() && empty[Item.maybeData] == nil)
    #expect(empty.withText(Item.text) { $0.count } == nil && empty.withBytes(Item.maybeData) { $0.count } == nil)
    #expect(reader.drainAccessorErrors().isEmpty)
    for read in [{ Double(large[Item.small]) }, { large[Item.wrong] }, { large[Item.unknown] }] {
      #expect(read() == 0)
      #expect(reader.drainAccessorErrors().count == 1)
    }
  }

  @Test(arguments: StoreKind.allCases) func aRowThatIsGoneIsOneErrorForEachRead(_ kind: StoreKind) throws {
    let bench = try bench(kind)
    let (writer, reader) = (bench.context(), bench.context())
    let item = try writer.insert("Item", values: ["int": 7, "text": "x"])
    try writer.save()
    let fault = try #require(try reader.object(with: item.objectID) as? Item)
    try writer.delete(item)
    try writer.save()
    #expect(fault[Item.int] == 0)
    #expect(reader.drainAccessorErrors().count == 1)
    #expect(fault.withText(Item.text) { $0.count } == nil)
    #expect(reader.drainAccessorErrors().count == 1)
  }

  /// Changes that `body` makes to the object do not invalidate the bytes being read.
  @Test(arguments: StoreKind.allCases) func bytesStayWhileTheyAreLookedAt(_ kind: StoreKind) throws {
    let bench = try bench(kind)
    let (writer, reader) = (bench.context(), bench.context())
    let text = "longer than fifteen bytes"
    let item = try writer.insert("Item", values: ["text": .string(text)])
    try writer.save()
    let fault = try #require(try reader.object(with: item.objectID) as? Item)
    let seen = try fault.withText(Item.text) { bytes in
      try reader.refresh(fault, mergeChanges: false)
      try reader.reset()
      return String(decoding: bytes, as: UTF8.self)
    }
    #expect(seen == text)
  }
}
