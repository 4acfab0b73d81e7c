import Moonbase
import MoonbasePlatform
import Testing

/// Transformable attributes of a container without scripts, refused when the container is made or usable without a
/// transformer.
@Suite struct TransformableAttributeTests {
  private static func model(transformer: String? = nil, class name: String? = nil, isTransient: Bool = false)
    -> ManagedObjectModel
  {
    var color = AttributeDescription("color", type: .transformable)
    color.valueTransformerName = transformer
    color.valueClassName = name
    color.isTransient = isTransient
    var person = EntityDescription("Person")
    person.attributes = [color]
    return ManagedObjectModel(entities: [person])
  }

  private static let oneWay = ExtensionSource.transformer {
    ValueTransformer("Hash", transformedValue: { .data(Data("\($0)".utf8)) })
  }

  private func refusal(_ model: ManagedObjectModel, _ extensions: [ExtensionSource] = []) -> String {
    do {
      _ = try PersistentContainer(model: model, store: .inMemory, extensions: extensions)
      return "accepted"
    } catch {
      return "\(error)"
    }
  }

  @Test func noTransformerIsNeeded() throws {
    let container = try PersistentContainer(model: Self.model(), store: .inMemory)
    let context = try ManagedObjectContext(container.coordinator, extensions: container.extensions)
    try context.insert("Person", values: ["color": ["red": 1, "name": "ruby"]])
    try context.save()
    let other = try ManagedObjectContext(container.coordinator, extensions: container.extensions)
    #expect(try other.fetch(FetchRequest("Person")).map { $0["color"] } == [["red": 1, "name": "ruby"]])
  }

  @Test func aTransformerWithoutReverseIsRefusedForPersistentAttributes() {
    #expect(refusal(Self.model(transformer: "Hash"), [Self.oneWay]).contains("transformer Hash has no reverse"))
    #expect(refusal(Self.model(transformer: "Hash", isTransient: true), [Self.oneWay]) == "accepted")
  }

  @Test func misspeltNamesOfClassesAndTransformersAreErrors() {
    let color = ExtensionSource.valueClass { ValueClass("Color") { _ in true } }
    #expect(refusal(Self.model(class: "Color"), [color]) == "accepted")
    #expect(refusal(Self.model(class: "Colour"), [color]).contains("no extension provides class Colour"))
    #expect(refusal(Self.model(class: "NSDictionary")) == "accepted")
    #expect(
      refusal(Self.model(transformer: "Hsah"), [Self.oneWay]).contains("no extension provides transformer Hsah"))
    #expect(refusal(Self.model(transformer: "NSNegateBoolean")).contains("makes a truth value and no bytes"))
  }
}
