public import MoonbaseModel
import MoonbasePlatform

public import enum MoonbaseModel.Expression

/// Reads Xcode's mapping models: `xcmapping.xml`, a store in Core Data's XML format.
///
/// The file is a store of Xcode's mapping editor (`XDDEV…` entities). Value expressions are keyed
/// archives or texts. Unknown fields become warnings, and obstacles if they have a value.
struct MappingModelReader {
  /// The name of the file, for messages.
  private let file: String
  /// The objects of the store, by ID.
  private let objects: [String: XMLStoreObject]
  /// The warnings for the mapping model.
  private var warnings: [String] = []
  /// The fields that cannot be executed.
  private var obstacles: [String] = []

  /// Reads the XML of a mapping model.
  static func read(_ data: Data, file: String) throws(ModelError) -> MappingModel {
    let (objects, warnings) = try XMLStoreObject.read(data, file: file)
    var reader = MappingModelReader(file: file, objects: objects, warnings: warnings)
    return try reader.mappingModel()
  }

  /// A reader of a store's objects.
  private init(file: String, objects: [String: XMLStoreObject], warnings: [String]) {
    self.file = file
    self.objects = objects
    self.warnings = warnings
  }

  /// Reads only objects that the mapping model refers to, because files keep orphans of earlier edits.
  ///
  /// Throws `.malformedFile` for a file without a mapping model, or with two.
  private mutating func mappingModel() throws(ModelError) -> MappingModel {
    let roots = objects.values.filter { $0.type == "XDDEVMAPPINGMODEL" }.sorted { $0.line < $1.line }
    guard let root = roots.first else {
      throw ModelError(.malformedFile, message: "the file holds no mapping model", at: SourceLocation(file: file))
    }
    if roots.count > 1 { throw malformed("the file holds a second mapping model: remove one", in: roots[1]) }
    report(root, "sourcemodelpath", "sourcemodeldata", "destinationmodelpath", "destinationmodeldata", "entitymappings")
    var numbered: [(number: Int, mapping: EntityMapping)] = []
    for object in try related(root, along: "entitymappings", type: "XDDEVENTITYMAPPING") {
      guard let number = object.integer("mappingnumber") ?? 0 else {
        throw malformed("mappingnumber is an integer, not \(object.string("mappingnumber") ?? "")", in: object)
      }
      if let mapping = try entityMapping(object) { numbered.append((number, mapping)) }
    }
    var model = MappingModel(entityMappings: numbered.sorted { $0.number < $1.number }.map(\.mapping))
    (model.warnings, model.obstacles) = (warnings, obstacles)
    return model
  }

  /// Reads an entity mapping; nil if it is without effect, as some left over from earlier edits.
  ///
  /// An entity mapping names a source, a destination or both. Its property mappings are sorted by
  /// name.
  private mutating func entityMapping(_ object: XMLStoreObject) throws(ModelError) -> EntityMapping? {
    let (source, destination) = (object.text("sourcename"), object.text("destinationname"))
    guard source != nil || destination != nil else {
      warn("an entity mapping without source and destination is left out: it maps nothing", in: object)
      return nil
    }
    var mapping = EntityMapping(
      try kind(of: object, source: source, destination: destination), from: source, to: destination)
    if let name = object.text("name") { mapping.name = name }
    mapping.migrationPolicyClassName = object.text("migrationpolicyclassname")
    report(
      object, "name", "sourcename", "destinationname", "mappingtypename", "mappingnumber", "migrationpolicyclassname",
      "autogenerateexpression", "mappingmodel", "attributemappings", "relationshipmappings")
    if let policy = mapping.migrationPolicyClassName {
      warn("\(mapping.name) has the migration policy \(policy), which is run where it is given", in: object)
    }
    for object in try related(object, along: "attributemappings", type: "XDDEVATTRIBUTEMAPPING") {
      mapping.attributeMappings.append(try propertyMapping(object))
    }
    for object in try related(object, along: "relationshipmappings", type: "XDDEVRELATIONSHIPMAPPING") {
      mapping.relationshipMappings.append(try propertyMapping(object))
    }
    mapping.attributeMappings.sort { $0.name < $1.name }
    mapping.relationshipMappings.sort { $0.name < $1.name }
    return mapping
  }

  /// Xcode writes `Undefined` and determines the kind when compiling.
  ///
  /// Throws `.malformedFile` for a name that Core Data does not know.
  private func kind(of object: XMLStoreObject, source: String?, destination: String?) throws(ModelError)
    -> EntityMapping.Kind
  {
    switch object.text("mappingtypename")?.lowercased() {
    case "custom": .custom
    case "add": .add
    case "remove": .remove
    case "copy": .copy
    case "transform": .transform
    case nil, "undefined":
      source == nil
        ? .add
        : destination == nil ? .remove : object.text("migrationpolicyclassname") == nil ? .transform : .custom
    case let other?: throw malformed("there is no kind of mapping \(other)", in: object)
    }
  }

  /// Reads a property mapping: an archived expression, the text of one, or Xcode's two fields for
  /// relationships. Without any, the source is `automatic`.
  private mutating func propertyMapping(_ object: XMLStoreObject) throws(ModelError) -> PropertyMapping {
    guard let name = object.string("name") else { throw malformed("a property mapping has no name", in: object) }
    report(
      object, "name", "valueexpression", "valueexpressiondata", "autogenerateexpression", "entitymapping",
      "sourcekeypath", "sourcemappingname")
    if let field = object.data("valueexpressiondata") {
      guard let data = field else { throw malformed("the value expression of \(name) is no base 64", in: object) }
      do {
        let root = try KeyedArchive(try PropertyList(binary: data)).root()
        return mapping(name, expression: try ArchivedPredicateReader().expression(root))
      } catch {
        throw malformed("the value expression of \(name): \(error.message)", in: object)
      }
    }
    if let text = object.text("valueexpression") {
      do { return mapping(name, expression: try Expression(format: text)) } catch {
        throw malformed("the value expression of \(name): \(error.message)", in: object)
      }
    }
    return destinations(of: name, in: object).map { PropertyMapping(name, from: .expression($0)) }
      ?? PropertyMapping(name, from: .automatic)
  }

  /// The expression for Xcode's fields Key Path and Mapping Name: the objects that the named mapping made from the
  /// objects at the end of the path. The default path is the relationship's name.
  private func destinations(of name: String, in object: XMLStoreObject) -> Expression? {
    let (path, mapping) = (object.text("sourcekeypath"), object.text("sourcemappingname"))
    guard path != nil || mapping != nil else { return nil }
    var keys = (path ?? name).split(separator: ".").map(String.init)
    if keys.first == "$source" { keys.removeFirst() }
    let function = mapping == nil ? EntityMapping.destinationsOfRelationship : EntityMapping.destinationsOfMapping
    return .function(
      function,
      [
        .variable("manager"), .constant(.string(mapping ?? name)),
        keys.isEmpty ? .variable("source") : .keyPath(.variable("source"), keys),
      ])
  }

  /// A property mapping of an expression. A key of `$source` becomes a plain property.
  private func mapping(_ name: String, expression: Expression) -> PropertyMapping {
    if case .keyPath(.variable("source"), let path) = expression, path.count == 1 {
      return PropertyMapping(name, from: .property(path[0]))
    }
    return PropertyMapping(name, from: .expression(expression))
  }

  // MARK: Objects

  /// The objects at the end of a relationship. Throws `.malformedFile` for a missing object and for
  /// one of another type.
  private func related(
    _ object: XMLStoreObject, along relationship: String, type: String
  ) throws(ModelError) -> [XMLStoreObject] {
    var result: [XMLStoreObject] = []
    for id in object.relationships[relationship] ?? [] {
      guard let other = objects[id] else {
        throw malformed("\(relationship) names \(id), which is not there", in: object)
      }
      guard other.type == type else {
        throw malformed("\(relationship) names \(id), which is \(other.type) and not \(type)", in: object)
      }
      result.append(other)
    }
    return result
  }

  /// Reports the attributes and relationships of an object that are not known.
  ///
  /// A field with a text that is not empty is also an obstacle.
  private mutating func report(_ object: XMLStoreObject, _ known: String...) {
    for name in object.names where !known.contains(name) {
      warn("\(name) of \(object.type) is not understood", in: object)
      guard let text = object.text(name) else { continue }
      obstacles.append("\(file):\(object.line): \(name) of \(object.type) is \(text)")
    }
  }

  /// Adds a warning with the object's line.
  private mutating func warn(_ message: String, in object: XMLStoreObject) {
    warnings.append("\(file):\(object.line): \(message)")
  }

  /// An error with the object's line.
  private func malformed(_ message: String, in object: XMLStoreObject) -> ModelError {
    ModelError(.malformedFile, message: message, at: SourceLocation(file: file, line: object.line))
  }
}

extension MappingModel {
  /// Whether the source is an Xcode mapping model: an `.xcmappingmodel` or the XML file in it.
  public static func recognizes(_ source: ModelSource) -> Bool {
    source.entries?.contains("xcmapping.xml") ?? source.beginsWithElement("database")
  }

  /// Reads an Xcode mapping model: an `.xcmappingmodel` or the XML file in it. Throws `ModelError`.
  public init(_ source: ModelSource) throws(ModelError) {
    let file = source.entries == nil ? source : try source.entry("xcmapping.xml")
    self = try MappingModelReader.read(try file.data(), file: file.name)
  }
}
