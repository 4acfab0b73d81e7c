import MoonbasePlatform

/// Reads Xcode's mapping models: `xcmapping.xml`, which is a store in Core Data's XML form.
struct MappingModelReader {
  private let file: String
  private let objects: [String: XMLStoreObject]
  private var warnings: [String] = []

  static func read(_ data: Data, file: String) throws(ModelError) -> MappingModel {
    let objects = try XMLStoreObject.read(data, file: file)
    var reader = MappingModelReader(file: file, objects: objects)
    return try reader.mappingModel()
  }

  private init(file: String, objects: [XMLStoreObject]) {
    self.file = file
    self.objects = Dictionary(objects.map { ($0.id, $0) }) { first, _ in first }
  }

  /// Only what the mapping model itself refers to counts: files keep orphans of earlier edits.
  private mutating func mappingModel() throws(ModelError) -> MappingModel {
    guard let root = objects.values.first(where: { $0.type == "XDDEVMAPPINGMODEL" }) else {
      throw ModelError(.malformedFile, "the file holds no mapping model", at: SourceLocation(file: file))
    }
    var numbered: [(number: Int, mapping: EntityMapping)] = []
    for object in try related(root, "entitymappings") {
      numbered.append((object.integer("mappingnumber") ?? 0, try entityMapping(object)))
    }
    var model = MappingModel(entityMappings: numbered.sorted { $0.number < $1.number }.map(\.mapping))
    model.warnings = warnings
    return model
  }

  private mutating func entityMapping(_ object: XMLStoreObject) throws(ModelError) -> EntityMapping {
    let (source, destination) = (object.string("sourcename"), object.string("destinationname"))
    guard source != nil || destination != nil else {
      throw malformed("an entity mapping names neither source nor destination", object)
    }
    var mapping = EntityMapping(try kind(of: object, source, destination), from: source, to: destination)
    mapping.migrationPolicyClassName = object.string("migrationpolicyclassname")
    if let policy = mapping.migrationPolicyClassName {
      warnings.append(
        "\(file):\(object.line): \(mapping.name) has the migration policy \(policy), which is not run here")
    }
    for object in try related(object, "attributemappings") {
      mapping.attributeMappings.append(try propertyMapping(object))
    }
    for object in try related(object, "relationshipmappings") {
      mapping.relationshipMappings.append(try propertyMapping(object))
    }
    mapping.attributeMappings.sort { $0.name < $1.name }
    mapping.relationshipMappings.sort { $0.name < $1.name }
    return mapping
  }

  /// Xcode writes `Undefined` and decides when it compiles.
  private func kind(of object: XMLStoreObject, _ source: String?, _ destination: String?) throws(ModelError)
    -> EntityMapping.Kind
  {
    switch object.string("mappingtypename")?.lowercased() {
    case "custom": .custom
    case "add": .add
    case "remove": .remove
    case "copy": .copy
    case "transform": .transform
    case nil, "undefined":
      source == nil
        ? .add
        : destination == nil ? .remove : object.string("migrationpolicyclassname") == nil ? .transform : .custom
    case let other?: throw malformed("there is no kind of mapping \(other)", object)
    }
  }

  private func propertyMapping(_ object: XMLStoreObject) throws(ModelError) -> PropertyMapping {
    guard let name = object.string("name") else { throw malformed("a property mapping has no name", object) }
    if let data = object.data("valueexpressiondata") {
      do {
        let root = try KeyedArchive(try PropertyList(binary: data)).root()
        let expression = try ArchivedPredicateReader().expression(root)
        if case .keyPath(.variable("source"), let path) = expression, path.count == 1 {
          return PropertyMapping(name, from: .property(path[0]))
        }
        return PropertyMapping(name, from: .expression(expression))
      } catch {
        throw malformed("the value expression of \(name): \(error.message)", object)
      }
    }
    return PropertyMapping(name, from: .automatic)
  }

  // MARK: Objects

  private func related(_ object: XMLStoreObject, _ relationship: String) throws(ModelError) -> [XMLStoreObject] {
    var result: [XMLStoreObject] = []
    for id in object.relationships[relationship] ?? [] {
      guard let other = objects[id] else { throw malformed("\(relationship) names \(id), which is not there", object) }
      result.append(other)
    }
    return result
  }

  private func malformed(_ message: String, _ object: XMLStoreObject) -> ModelError {
    ModelError(.malformedFile, message, at: SourceLocation(file: file, line: object.line))
  }
}

extension MappingModel {
  /// Whether the source is a mapping model of Xcode: an `.xcmappingmodel` or the XML file in it.
  public static func recognizes(_ source: ModelSource) -> Bool {
    source.entries?.contains("xcmapping.xml") ?? source.beginsWithElement("database")
  }

  /// Reads Xcode's mapping model, an `.xcmappingmodel` or the XML file in it. Throws `ModelError`.
  public init(_ source: ModelSource) throws(ModelError) {
    let file = source.entries == nil ? source : try source.entry("xcmapping.xml")
    self = try MappingModelReader.read(try file.data(), file: file.name)
  }
}
