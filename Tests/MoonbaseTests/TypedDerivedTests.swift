import Moonbase
import MoonbasePlatform
import MoonbaseTestSupport
import Testing

/// Values computed by scripts, read by typed keys in Swift.
@Suite struct TypedDerivedTests {
  private final class Person: ManagedObject {
    static let name = Attribute<Person, String>("name")
    static let label = Attribute<Person, String>("label")
    static let length = Attribute<Person, Int?>("length")
    static let color = DecodedAttribute<Person, Color>("color")
    static let tags = DecodedAttribute<Person, [String]>("tags")
    static let point = DecodedAttribute<Person, Point>("color")
  }

  private struct Color: Codable, Equatable { var r, g, b: Double }
  private struct Point: Codable { var x: Double }

  private static let model = ManagedObjectModel(entities: [
    {
      var person = EntityDescription("Person")
      person.managedObjectClassName = "Person"
      person.attributes = [
        AttributeDescription("name", type: .string), AttributeDescription("tags", type: .transformable),
      ]
      return person
    }()
  ])

  private static func file(_ version: Int) -> String {
    """
    local Color = {} Color.__index = Color
    function Color.to_tree(c) return { r = c.r, g = c.g, b = c.b } end
    return {
      name = "p", classes = { Color = Color },
      entities = { Person = { derived = {
        \(version > 1 ? "another = { type = 'string', inputs = { 'name' }, get = function(n) return n end }," : "")
        label = { type = "string", inputs = { "name" }, get = function(n) return n .. "\(version)" end },
        length = { type = "integer64", inputs = { "name" }, get = function(n) return n and #n end },
        color = { inputs = { "name" },
          get = function(n) return n and setmetatable({ r = #n, g = 0, b = 0.5, hidden = print }, Color) end },
      } } } }
    """
  }

  @Test(arguments: [false, true]) func derivedValuesHaveTypes(_ isInFile: Bool) throws {
    let folder = try TemporaryFolder()
    try Data(Self.file(1).utf8).write(to: folder.file("p.lua"))
    let container = try PersistentContainer(
      model: Self.model, store: isInFile ? .sqlite(folder.file("p.sqlite")) : .inMemory,
      extensions: [.file(folder.file("p.lua"))], classes: ["Person": Person.self])
    let context = try ManagedObjectContext(container.coordinator, extensions: container.extensions)
    let person = try #require(try context.insert("Person") as? Person)
    #expect(
      try person.decoded(Person.color) == nil && person.decoded(Person.tags) == nil && person[Person.length] == nil)
    person[Person.name] = "abc"
    try person.setValue(Value.list(["x", "y"]), forKey: "tags")
    #expect(person[Person.label] == "abc1" && person[Person.length] == 3)
    #expect(try person.decoded(Person.color) == Color(r: 3, g: 0, b: 0.5))
    #expect(try person.decoded(Person.tags) == ["x", "y"])
    #expect(throws: (any Error).self) { try person.decoded(Person.point) }
    try context.save()
    // A version in which the attributes have other slots.
    try Data(Self.file(2).utf8).write(to: folder.file("p.lua"))
    try container.reloadExtensions()
    try context.processPendingChanges()
    #expect(person[Person.label] == "abc2" && person[Person.length] == 3)
    #expect(try person.decoded(Person.color)?.r == 3)
    // A version without the attributes: an error of the program, and no trap.
    try Data("return {}".utf8).write(to: folder.file("p.lua"))
    try container.reloadExtensions()
    try context.processPendingChanges()
    #expect(person[Person.label] == "")
    #expect(throws: GraphError.self) { try person.decoded(Person.color) }
    #expect(!context.drainAccessorErrors().isEmpty)
  }
}
