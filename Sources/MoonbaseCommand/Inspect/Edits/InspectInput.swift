import MoonbaseBatch
import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseScripting

/// The body of a request that makes a change.
///
/// Each route uses some of the members and ignores the rest. A request without a member that its
/// route needs is refused with status 400.
struct InspectInput: Decodable {
  /// The name of an object, such as `Person/12`.
  var id: String?
  /// The names of several objects.
  var ids: [String]?
  /// The name of an entity.
  var entity: String?
  /// The name of a property.
  var property: String?
  /// The new value as a text.
  var text: String?
  /// Whether the value is to be removed.
  var clear: Bool?
  /// The bytes of a binary value, as Base64.
  var base64: String?
  /// Objects to add to a to-many relationship, and objects to remove from it.
  var add: [String]?
  /// The objects to remove.
  var remove: [String]?
  /// Lua code for the prompt.
  var code: String?
  /// The side of a conflict to keep.
  var keep: String?

  /// The sides of a conflict: the changes in the page, or the saved changes of the other process.
  enum Side: String {
    case own, stored
  }

  /// Decodes the body of a request. An empty body has no members.
  ///
  /// - Throws: An `InspectRefusal` with status 400 for invalid JSON.
  static func read(_ body: Data) throws -> InspectInput {
    do { return try JSONDecoder().decode(InspectInput.self, from: body.isEmpty ? Data("{}".utf8) : body) } catch {
      throw InspectRefusal(400, "the body of the request is no object of JSON, or a member of it has another type")
    }
  }

  /// The value for an attribute. Throws an error with the property's name if the text is not a valid value.
  ///
  /// - Parameters:
  ///   - property: The attribute that gets the value.
  ///   - object: The object, for error messages.
  ///   - session: The session, whose extensions may parse the text.
  func value(for property: ResolvedProperty, of object: ManagedObject, in session: InspectSession) throws -> Value {
    if let base64 {
      guard let data = Data(base64Encoded: base64) else { throw misfit("is no Base64", property, object) }
      return .data(data)
    }
    if clear == true { return .null }
    guard let text else {
      throw InspectRefusal(400, "the request has no value: text or base64 names it, and clear takes it away")
    }
    guard let attribute = property.attribute else {
      return text.isEmpty ? .null : .objectID(try session.object(text).objectID)
    }
    return try value(text, attribute, property, object, session)
  }

  /// Parses a text as the type of an attribute. Spaces around numbers, dates and UUIDs are ignored,
  /// but spaces in a string are kept.
  ///
  /// - Throws: `.validation` with the reason, for example that the text is not a number.
  private func value(
    _ text: String, _ attribute: AttributeDescription, _ property: ResolvedProperty, _ object: ManagedObject,
    _ session: InspectSession
  ) throws -> Value {
    switch attribute.type {
    case .integer16, .integer32, .integer64:
      guard let number = Int64(trimmed(text)) else { throw misfit("is no whole number", property, object) }
      return .int(number)
    case .double, .float:
      guard let number = try FieldConversion.number(trimmed(text)) else {
        throw misfit("is no number", property, object)
      }
      return .double(number)
    case .boolean:
      guard let flag = ["true": true, "false": false, "yes": true, "no": false, "1": true, "0": false][trimmed(text)]
      else { throw misfit("is neither true nor false", property, object) }
      return .bool(flag)
    case .binaryData:
      guard let data = Data(base64Encoded: trimmed(text)) else { throw misfit("is no Base64", property, object) }
      return .data(data)
    case .date, .decimal, .uuid, .uri: return .string(trimmed(text))
    case .string: return .string(text)
    case .transformable, .undefined, .composite, .objectID: return try ofClass(text, property, object, session)
    }
  }

  /// The value that the class of the attribute reads from a text. Without a class, the text is JSON.
  ///
  /// - Throws: The error of the class, or `.validation` for invalid JSON.
  private func ofClass(
    _ text: String, _ property: ResolvedProperty, _ object: ManagedObject, _ session: InspectSession
  ) throws -> Value {
    if let parse = try session.context.valueClass(of: property, in: object.entity)?.parse { return try parse(text) }
    if let name = property.attribute?.valueClassName, let value = try session.prompt.domain.value(text, ofClass: name) {
      return value
    }
    guard let value = JSONText.value(text) else { throw misfit("is no JSON", property, object) }
    return value
  }

  /// The text without spaces and line ends around it.
  private func trimmed(_ text: String) -> String { text.trimmingCharacters(in: .whitespacesAndNewlines) }

  /// An error about a text, for the field of the property.
  private func misfit(_ reason: String, _ property: ResolvedProperty, _ object: ManagedObject) -> GraphError {
    var error = GraphError(
      .validation, message: "\(object.entity.name).\(property.name): the text \(reason)", entity: object.entity.name,
      property: property.name, objectID: object.objectID)
    error.reason = reason
    return error
  }
}
