import MoonbaseModel
import MoonbasePlatform

/// Reads the `contents` file of an `.xcdatamodel` from Xcode 4 on.
///
/// Mistakes are collected and thrown together. Unknown elements and attributes become warnings;
/// settings that are known and have no counterpart become omissions. A value reads one file.
struct XcodeModelReader {
  /// The name of the file, for messages.
  let file: String
  /// The warnings so far, each with its location.
  var warnings: [String] = []
  /// The settings that no description can hold.
  private(set) var omissions: [String] = []
  /// The mistakes so far.
  private let mistakes = Mistakes()
  /// Composite types that the model declares and attributes refer to.
  private var composites: [String: [AttributeDescription]] = [:]

  /// Reads the XML of a model. Throws `.malformedFile` for other XML, and `.invalidModel` with all
  /// mistakes.
  static func read(_ data: Data, file: String) throws(ModelError) -> ManagedObjectModel {
    let root = try MarkupReader.read(data, file: file)
    guard root.name == "model" else {
      throw ModelError(
        .malformedFile, message: "the file is no data model: it begins with <\(root.name)> instead of <model>",
        at: SourceLocation(file: file, line: root.line))
    }
    var reader = XcodeModelReader(file: file)
    return try reader.model(root)
  }

  /// A reader for a file.
  private init(file: String) { self.file = file }

  /// Reads the root element. Composites are read first, because attributes refer to them by name.
  private mutating func model(_ root: MarkupElement) throws(ModelError) -> ManagedObjectModel {
    var model = ManagedObjectModel()
    model.allowsUnknownClasses = true
    let context = ReadingContext(file: file, subject: "the model")
    var fields = MarkupFields(root, context: context)
    model.versionIdentifiers = fields.value("userDefinedModelVersionIdentifier").map { [$0] } ?? []
    fields.ignore(
      "type", "documentVersion", "lastSavedToolsVersion", "systemVersion", "minimumToolsVersion", "sourceLanguage",
      "name", "macOSVersion", "iOSVersion", "tvOSVersion", "watchOSVersion",
      "visionOSVersion")
    omit("usedWithCloudKit", "usedWithSwiftData", from: &fields, unless: false)
    warnings += fields.warnings
    for child in root.children where child.name == "compositeAttribute" || child.name == "composite" {
      do { try readComposite(child) } catch { mistakes.add(error) }
    }
    for child in root.children {
      do { try read(child, into: &model, in: context) } catch { mistakes.add(error) }
    }
    try mistakes.finish()
    (model.warnings, model.omissions) = (warnings, omissions)
    return model
  }

  /// Reads a child of the root element. Throws `.invalidModel` for names that occur twice.
  private mutating func read(
    _ child: MarkupElement, into model: inout ManagedObjectModel, in context: ReadingContext
  ) throws(ModelError) {
    switch child.name {
    case "entity": model.entities.append(try entity(child))
    case "fetchRequest":
      let context = ReadingContext(file: file, subject: "fetch request \(child["name"] ?? "")")
      var fields = MarkupFields(child, context: context)
      let name = try fields.required("name")
      guard model.fetchRequestTemplates[name] == nil else { throw fields.error("it is declared twice: rename one") }
      model.fetchRequestTemplates[name] = try fetchRequest(&fields, from: child)
      model.locations[.fetchRequest(name)] = context.location(child.line)
    case "configuration": try readConfiguration(child, into: &model)
    case "elements", "compositeAttribute", "composite": break
    default: report(child, in: context)
    }
  }

  /// Reads a `configuration` element with its `memberEntity` elements.
  private mutating func readConfiguration(_ element: MarkupElement, into model: inout ManagedObjectModel)
    throws(ModelError)
  {
    var fields = MarkupFields(
      element, context: ReadingContext(file: file, subject: "configuration \(element["name"] ?? "")"))
    let name = try fields.required("name")
    guard model.configurations[name] == nil else { throw fields.error("it is declared twice: rename one") }
    omit("usedWithCloudKit", from: &fields, unless: false)
    warnings += fields.warnings
    var members: [String] = []
    for child in element.children {
      guard child.name == "memberEntity" else {
        report(child, in: fields.context)
        continue
      }
      var member = MarkupFields(child, context: fields.context)
      members.append(try member.required("name"))
      finish(member, element: child)
    }
    model.configurations[name] = members
    model.locations[.configuration(name)] = fields.context.location(element.line)
  }

  /// Reads a named composite type, whose elements are copied to each attribute of it.
  private mutating func readComposite(_ element: MarkupElement) throws(ModelError) {
    let context = ReadingContext(file: file, subject: "composite \(element["name"] ?? "")")
    var fields = MarkupFields(element, context: context)
    let name = try fields.required("name")
    guard composites[name] == nil else { throw fields.error("it is declared twice: rename one") }
    omissions.append(fields.warning("its name: each attribute of it has its elements instead"))
    omit("elementID", "versionHashModifier", from: &fields)
    warnings += fields.warnings
    var elements: [AttributeDescription] = []
    for child in element.children {
      if child.name == "attribute" {
        elements.append(try attribute(child, in: context))
      } else {
        report(child, in: context)
      }
    }
    composites[name] = elements
  }

  /// The elements of a named composite; nil if the model has none with the name.
  func compositeElements(_ name: String) -> [AttributeDescription]? { composites[name] }

  // MARK: Entities

  /// Reads an `entity` element.
  private mutating func entity(_ element: MarkupElement) throws(ModelError) -> EntityDescription {
    let context = ReadingContext(file: file, subject: "").entity(element["name"] ?? "")
    var fields = MarkupFields(element, context: context)
    var entity = EntityDescription(try fields.required("name"))
    entity.location = context.location(element.line)
    try fields.read(into: &entity)
    entity.usesCurrentProductModule = entity.managedObjectClassName?.hasPrefix(".") ?? false
    entity.managedObjectClassName = className(entity.managedObjectClassName)
    omit("syncable", from: &fields, unless: true)
    warnings += fields.warnings
    for child in element.children where child.name != "compoundIndexes" {
      do { try read(child, into: &entity, in: context) } catch { mistakes.add(error) }
    }
    // The form of indexes before fetch indexes; newer models contain both.
    for child in element.children(named: "compoundIndexes") {
      for (names, _) in try lists(child, list: "compoundIndex", item: "index", in: context) {
        entity.addCompoundIndex(names)
      }
    }
    return entity
  }

  /// The class name without the leading dot of the app's own module; nil for `NSManagedObject`, the default.
  private func className(_ text: String?) -> String? {
    guard let text, !["", ".", "NSManagedObject"].contains(text) else { return nil }
    return text.hasPrefix(".") ? String(text.dropFirst()) : text
  }

  /// Reads a child of an entity: a property, an index, constraints or user info.
  private mutating func read(_ child: MarkupElement, into entity: inout EntityDescription, in context: ReadingContext)
    throws(ModelError)
  {
    switch child.name {
    case "attribute": entity.attributes.append(try attribute(child, in: context))
    case "relationship": entity.relationships.append(try relationship(child, in: context))
    case "fetchedProperty": entity.fetchedProperties.append(try fetchedProperty(child, in: context))
    case "fetchIndex": entity.indexes.append(try fetchIndex(child, in: context))
    case "userInfo": entity.userInfo = try userInfo(child, in: context)
    case "uniquenessConstraints":
      for (names, line) in try lists(child, list: "uniquenessConstraint", item: "constraint", in: context) {
        entity.uniquenessConstraints.append(names)
        entity.constraintLocations[names] = context.location(line)
      }
    default: report(child, in: context)
    }
  }

  /// The values of `<list><item value=""/>...</list>...`, used for constraints and compound indexes.
  ///
  /// - Parameters:
  ///   - element: The element with the lists.
  ///   - list: The name of a list's element.
  ///   - item: The name of an item's element.
  private mutating func lists(
    _ element: MarkupElement, list: String, item: String, in owner: ReadingContext
  ) throws(ModelError) -> [(values: [String], line: Int)] {
    let context = owner.part(element.name)
    finish(MarkupFields(element, context: context), element: element, list)
    var result: [(values: [String], line: Int)] = []
    for child in element.children(named: list) {
      finish(MarkupFields(child, context: context), element: child, item)
      var values: [String] = []
      for part in child.children(named: item) {
        var fields = MarkupFields(part, context: context)
        values.append(try fields.required("value"))
        finish(fields, element: part)
      }
      result.append((values, child.line))
    }
    return result
  }

  // MARK: Parts

  /// Reads a `userInfo` element, whose entries are strings. Throws `.invalidModel` for a key that
  /// occurs twice.
  mutating func userInfo(_ element: MarkupElement, in context: ReadingContext) throws(ModelError) -> [String: Value] {
    var result: [String: Value] = [:]
    for child in element.children {
      guard child.name == "entry" else {
        report(child, in: context)
        continue
      }
      var fields = MarkupFields(child, context: context)
      let key = try fields.required("key")
      if result[key] != nil { throw fields.error("the key \(key) of its user info is there twice: rename one") }
      result[key] = .string(fields.value("value") ?? "")
      finish(fields, element: child)
    }
    return result
  }

  /// Reports unread attributes and unknown child elements.
  ///
  /// `known` are the names of child elements that were read.
  mutating func finish(_ fields: MarkupFields, element: MarkupElement, _ known: String...) {
    warnings += fields.warnings
    for child in element.children where !known.contains(child.name) { report(child, in: fields.context) }
  }

  /// Records settings that no description can hold. Flags with the usual value are not recorded.
  ///
  /// - Parameters:
  ///   - names: The XML attributes.
  ///   - usual: The value of flags that means nothing special; nil to record each value.
  mutating func omit(_ names: String..., from fields: inout MarkupFields, unless usual: Bool? = nil) {
    for name in names {
      guard let text = fields.value(name) else { continue }
      if let usual, MarkupText(shown: text).flag == usual { continue }
      omissions.append(fields.warning("\(name)=\"\(text)\""))
    }
  }

  /// Adds a warning about an unknown element.
  mutating func report(_ element: MarkupElement, in context: ReadingContext) {
    warnings.append("\(context.location(element.line)): \(context.subject): <\(element.name)> is not understood")
  }
}
