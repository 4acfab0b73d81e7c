import Moonbase
import MoonbasePlatform
import Testing

/// Extensions in Swift beside scripts, in one container.
@Suite struct SwiftExtensionTests {
  private static func model() -> ManagedObjectModel {
    var person = EntityDescription("Person")
    var code = AttributeDescription("code", type: .transformable)
    code.valueTransformerName = "Reversal"
    code.valueClassName = "Word"
    person.attributes = [
      AttributeDescription("name", type: .string), AttributeDescription("age", type: .integer16), code,
    ]
    return ManagedObjectModel(entities: [person])
  }

  private static let swift: [ExtensionSource] = [
    .entity("Person") {
      var person = EntityExtension()
      person.normalize["name"] = { name, _ in .string("\(name)!") }
      person.validate["age"] = { age, _ in age == 13 ? .init("is unlucky") : nil }
      person.derived = [
        DerivedAttribute("shout", ownInputs: ["name"]) { person in
          .string("\(try person.value(forKey: "name"))".uppercased())
        }
      ]
      return person
    },
    .transformer {
      ValueTransformer(
        "Reversal", valueClassName: "Word",
        transformedValue: { value in .data(Data("\(value)".utf8.reversed())) },
        reverseTransformedValue: { bytes in
          guard case .data(let data) = bytes else { return .null }
          return .string(String(decoding: data.reversed(), as: UTF8.self))
        })
    },
    .valueClass { ValueClass("Word") { if case .string = $0 { true } else { false } } },
  ]

  private static let script = ExtensionSource.text(
    """
    return { entities = { Person = {
      normalize = { name = function(name) return name .. "?" end },
      validate = { age = function(age) return age < 150, "is not credible" end },
      derived = { whisper = { inputs = { "shout" }, get = function(shout) return shout and shout:lower() end } },
    } } }
    """, name: "x.lua")

  @Test(arguments: [false, true]) func swiftAndScriptsWorkTogether(isInFile: Bool) throws {
    let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).sqlite")
    defer { for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: file.path + suffix) } }
    let container = try PersistentContainer(
      model: Self.model(), store: isInFile ? .sqlite(file) : .inMemory, extensions: [Self.script] + Self.swift)
    let context = try ManagedObjectContext(container.coordinator, extensions: container.extensions)
    let person = try context.insert("Person", values: ["name": "ada", "age": 13, "code": "abc"])
    let refused = #expect(throws: GraphError.self) { try context.save() }
    #expect(refused?.message.contains("is unlucky") == true)
    try person.setValue(200, forKey: "age")
    #expect(throws: GraphError.self) { try context.save() }
    try person.setValue(36, forKey: "age")
    try context.save()
    // Swift's rules run before those of scripts.
    #expect(person["shout"].description.hasPrefix("ADA") && person["name"].description.hasPrefix("ada!?"))
    #expect(person["whisper"].description == person["shout"].description.lowercased())
    #expect(throws: GraphError.self) { try person.setValue(5, forKey: "code") }
    let other = try ManagedObjectContext(container.coordinator, extensions: container.extensions)
    #expect(try other.fetch(FetchRequest("Person")).map { $0["code"] } == ["abc"])
  }

  @Test func backgroundContextsHaveThemToo() async throws {
    let container = try PersistentContainer(model: Self.model(), store: .inMemory, extensions: Self.swift)
    let shout = try await container.newBackgroundContext().perform { context in
      try context.insert("Person", values: ["name": "ada"]).value(forKey: "shout")
    }
    #expect(shout == "ADA")
  }

  @Test func mistakesInSwiftAreFoundWhenTheContainerIsMade() throws {
    func message(_ sources: [ExtensionSource]) -> String {
      do {
        _ = try PersistentContainer(model: Self.model(), store: .inMemory, extensions: Self.swift + sources)
        return "fine"
      } catch {
        return "\(error)"
      }
    }
    #expect(message([.entity("Persn") { EntityExtension() }]).contains("did you mean Person?"))
    #expect(
      message([
        .entity("Person") {
          var person = EntityExtension()
          person.validate["nme"] = { _, _ in nil }
          return person
        }
      ]).contains("Person has no property nme; did you mean name?"))
    let second = "return { transformers = { Reversal = { transform = function(v) return v end } } }"
    #expect(
      message([.text(second, name: "b.lua")]).contains("transformer Reversal is already provided by Swift code"))
  }
}
