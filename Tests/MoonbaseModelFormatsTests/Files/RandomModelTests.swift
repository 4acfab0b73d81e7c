import MoonbaseModel
import MoonbaseModelFormats
import MoonbasePlatform
import MoonbaseTestSupport
import Testing

/// Random models from fixed seeds.
@Suite struct RandomModelTests {
  @Test(arguments: 1...UInt64(Repetition.modelSeeds.count))
  func aRandomModelSurvivesEveryForm(seed: UInt64) throws {
    var maker = RandomModel(seed: seed)
    let model = maker.model()
    let resolved = try model.resolved()

    let xcode = try ManagedObjectModel.read(ModelSource(Data(model.xcodeContents().utf8), name: "contents"))
    #expect(xcode == model)
    #expect(xcode.warnings == [])
    let tree = try ManagedObjectModel(tree: model.tree(), file: "m.lua")
    #expect(tree == model)
    let cached = try ManagedObjectModel(archive: resolved.archive())
    #expect(cached.inOrderOfNames == model.inOrderOfNames)

    #expect(ModelDifference(from: model, to: tree).isEmpty)
    #expect(try xcode.resolved().versionHashes == resolved.versionHashes)
    #expect(try cached.resolved().versionHashes == resolved.versionHashes)
    #expect(MappingInference(from: resolved, to: resolved).mapping.entityMappings.allSatisfy { $0.kind == .copy })
  }
}

/// Makes valid models with every feature of Xcode's form.
private struct RandomModel {
  private var state: UInt64

  init(seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 }

  private mutating func below(_ bound: Int) -> Int {
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return Int(state >> 33) % bound
  }

  private mutating func chance(_ percent: Int) -> Bool { below(100) < percent }

  private mutating func text() -> String {
    let pieces = ["a", "ß", "\"", "<&>", "'", "\\", "\n", "😀", " ", "0", "]]>", "--", "é", "%@", "$x"]
    return (0...below(4)).map { _ in pieces[below(pieces.count)] }.joined()
  }

  mutating func model() -> ManagedObjectModel {
    let count = 1 + below(6)
    var entities = (0..<count).map { EntityDescription("Entity\($0)") }
    for index in entities.indices {
      if index > 0, chance(40) { entities[index].superentityName = "Entity\(below(index))" }
      decorate(&entities[index])
      entities[index].attributes = (0..<below(5)).map { attribute("attribute\(index)_\($0)") }
    }
    for number in 0..<below(5) { relate(&entities, number) }
    for index in entities.indices { constrain(&entities[index]) }
    var model = ManagedObjectModel(entities: entities)
    if chance(60) { model.versionIdentifiers = [text()] }
    if chance(30) { model.configurations = ["All": entities.map(\.name).sorted()] }
    return model
  }

  private mutating func decorate(_ entity: inout EntityDescription) {
    entity.isAbstract = chance(20)
    if chance(40) { entity.managedObjectClassName = "Class\(below(9))" }
    if chance(20) { entity.codeGenerationType = "class" }
    if chance(20) { entity.coreSpotlightDisplayNameExpression = text() }
    if chance(20) { entity.renamingIdentifier = "Old\(below(99))" }
    if chance(20) { entity.versionHashModifier = text() }
    if chance(30) { entity.userInfo = [text(): .string(text()), "key": .string(text())] }
  }

  private mutating func attribute(_ name: String) -> AttributeDescription {
    let types = AttributeType.allCases.filter { ![.undefined, .objectID, .composite].contains($0) }
    var attribute = AttributeDescription(name, type: types[below(types.count)])
    attribute.isOptional = chance(60)
    attribute.isTransient = chance(15)
    attribute.preservesValueInHistoryOnDeletion = chance(15)
    attribute.isIndexedBySpotlight = chance(10)
    attribute.allowsExternalBinaryDataStorage = attribute.type == .binaryData && chance(50)
    attribute.usesScalarValueType = chance(15)
    attribute.allowsCloudEncryption = chance(15)
    if chance(15) { attribute.renamingIdentifier = "old_\(name)" }
    if chance(15) { attribute.versionHashModifier = text() }
    if chance(20) { attribute.userInfo = ["key": .string(text())] }
    if attribute.type == .transformable { attribute.valueTransformerName = "Transformer\(below(3))" }
    if chance(50) { attribute.defaultValue = value(of: attribute.type) }
    if attribute.type == .string, chance(30) {
      attribute.validation.minimumLength = below(3)
      attribute.validation.regularExpression = "[^<>\"&]*"
    } else if attribute.type == .integer32 || attribute.type == .date, chance(40) {
      attribute.validation.minimum = value(of: attribute.type)
    }
    return attribute
  }

  private mutating func value(of type: AttributeType) -> Value {
    switch type {
    case .integer16: .int(Int64(below(65_536) - 32_768))
    case .integer32: .int(Int64(below(1 << 31)) - (1 << 30))
    case .integer64: .int(Int64(below(1 << 31)) << 31)
    case .double: .double(Double(below(1 << 31)) / 7)
    case .float: .double(Double(Float(below(1 << 20)) / 3))
    case .decimal: .decimal(Decimal(below(1 << 31)) / 1000)
    case .string: .string(text())
    case .boolean: .bool(chance(50))
    case .date: .date(Date(timeIntervalSinceReferenceDate: Double(below(1 << 31)) / (chance(50) ? 1 : 3)))
    case .uri: URL(string: "https://a.b/\(below(99))?x=1&y=2").map(Value.uri) ?? .null
    case .uuid: UUID(uuidString: "00000000-0000-4000-8000-\(100_000_000_000 + below(1000))").map(Value.uuid) ?? .null
    default: .null
    }
  }

  /// A relationship and its inverse between any two entities.
  private mutating func relate(_ entities: inout [EntityDescription], _ number: Int) {
    let (from, to) = (below(entities.count), below(entities.count))
    var (there, back) = (
      RelationshipDescription.toMany("there\(number)", destination: entities[to].name, inverse: "back\(number)"),
      RelationshipDescription.toMany("back\(number)", destination: entities[from].name, inverse: "there\(number)")
    )
    if chance(50) { there.maxCount = 1 } else { there.isOrdered = chance(40) }
    if chance(50) { back.maxCount = 1 } else { back.maxCount = 2 + below(9) }
    there.deleteRule = DeleteRule.allCases[below(4)]
    there.isOptional = chance(70)
    if chance(20) { back.versionHashModifier = text() }
    if chance(20) { back.userInfo = ["key": .string(text())] }
    entities[from].relationships.append(there)
    entities[to].relationships.append(back)
  }

  private mutating func constrain(_ entity: inout EntityDescription) {
    let names = entity.attributes.map(\.name)
    guard let first = names.first else { return }
    if chance(30) { entity.uniquenessConstraints = [names] }
    if chance(30) { entity.indexes = [FetchIndexDescription("by \(text())", on: first, "-\(names[names.count - 1])")] }
  }
}
