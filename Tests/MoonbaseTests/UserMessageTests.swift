import Moonbase
import MoonbasePlatform
import MoonbaseTestSupport
import Testing

/// Messages for a program's user in place of an error.
@Suite struct UserMessageTests {
  private static let model = ManagedObjectModel(entities: [
    {
      var person = EntityDescription("Person")
      person.attributes = [
        AttributeDescription("firstName", type: .string).required(),
        AttributeDescription("postal_code", type: .string),
        AttributeDescription("age", type: .integer16).between(0, 150),
      ]
      person.uniquenessConstraints = [["postal_code"]]
      return person
    }()
  ])

  private static let text = """
    return { entities = { Person = {
      validate = { postal_code = function(code) return #code == 5, "has {value} and not five digits" end },
      validate_for_insert = function(p) return p.firstName ~= "Nobody", "Nobody may not be here" end,
      will_save = function(p) if p.firstName == "broken" then error("no") end end,
    } },
      messages = { de = { ["has {value} and not five digits"] = "hat {value} statt fünf Ziffern" } } }
    """

  private func context(language: String? = "en") throws -> ManagedObjectContext {
    var description = ContainerDescription(model: .value(Self.model), extensions: [.text(Self.text, name: "p.lua")])
    description.language = language
    let container = try PersistentContainer(description)
    return try ManagedObjectContext(container.coordinator, extensions: container.extensions)
  }

  private func messages(
    _ context: ManagedObjectContext, label: (String, String) -> String? = { _, _ in nil }
  ) -> [UserMessage] {
    do {
      try context.save()
      return []
    } catch {
      return UserMessage.messages(for: error, label: label)
    }
  }

  @Test func eachRefusedValueHasASentence() throws {
    let context = try context()
    try context.insert("Person", values: ["age": 200, "postal_code": "1"])
    let told = messages(context)
    #expect(Set(told.map(\.property)) == ["firstName", "age", "postal_code"])
    func text(_ property: String) -> String { told.first { $0.property == property }?.text ?? "" }
    #expect(text("firstName").hasPrefix("First name "), "\(told)")
    #expect(text("postal_code") == "Postal code has 1 and not five digits.", "\(told)")
    #expect(text("age").hasPrefix("Age "), "\(told)")
    for message in told { #expect(!message.text.contains("Person") && !message.text.contains(".lua")) }
    let labelled = messages(context) { entity, property in property == "age" ? "Alter" : nil }
    #expect(labelled.contains { $0.text.hasPrefix("Alter ") })
    // Two objects with equal mistakes give one sentence.
    try context.insert("Person", values: ["age": 200, "postal_code": "1"])
    #expect(messages(context).count == told.count)
  }

  @Test func messagesOfRulesAreInTheLanguageOfTheContainer() throws {
    let context = try context(language: "de")
    try context.insert("Person", values: ["firstName": "a", "postal_code": "1"])
    #expect(messages(context).map(\.text) == ["Postal code hat 1 statt fünf Ziffern."])
  }

  @Test func aRuleOverAnObjectAndOtherKindsOfErrors() throws {
    let first = try context()
    try first.insert("Person", values: ["firstName": "Nobody"])
    #expect(messages(first).map(\.text) == ["Nobody may not be here."])
    let second = try context()
    try second.insert("Person", values: ["firstName": "broken"])
    #expect(messages(second).map(\.text) == ["An extension of this program does not work."])
    let third = try context()
    try third.insert("Person", values: ["firstName": "a", "postal_code": "12345"])
    try third.save()
    try third.insert("Person", values: ["firstName": "b", "postal_code": "12345"])
    #expect(messages(third).map(\.text) == ["There is another entry with the same value."])
    #expect(throws: GraphError.self) { try third.fetch(FetchRequest("Nobody")) }
    do { _ = try third.fetch(FetchRequest("Nobody")) } catch {
      #expect(UserMessage.messages(for: error).map(\.text) == ["This program has made a mistake."])
    }
    do {
      _ = try PersistentContainer(model: Self.model, store: .inMemory, extensions: [.text("return return", name: "x")])
    } catch let error as ScriptError {
      #expect(error.userMessage == "An extension of this program does not work.")
    }
    #expect(UserMessage.messages(for: CancellationError()).count == 1)
  }

  @Test(arguments: [
    ("firstName", "first name"), ("first_name", "first name"), ("age", "age"), ("URLText", "URLText"),
    ("homeURL", "home URL"),
    ("line2Text", "line2 text"), ("", ""), ("_x_", "x"),
  ])
  func namesOfPropertiesBecomeWords(_ name: String, _ words: String) {
    #expect(UserMessage.label(of: name) == words)
  }
}
