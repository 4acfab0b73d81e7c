import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform

/// Writes the differences as a script that makes the first store equal to the second store. Objects with the same
/// entity and the same keys count as the same object.
///
/// Lines are printed in three groups: insertions at once, relationships and changed values,
/// deletions. So each line finds the objects that it names.
final class DifferenceScript: DifferenceWriter {
  /// The number of differences so far.
  private(set) var count = 0
  /// The model of the first store, for the kinds of properties.
  private let model: ResolvedModel
  /// The lines that follow the lines for inserted objects. They set relationships, so they need these objects.
  private var later: [String] = []
  /// The lines that delete objects, printed last.
  private var deletions: [String] = []

  /// The path of the store, for the head of the script.
  private let store: String

  /// A script for a store.
  init(of store: String, _ model: ResolvedModel) { (self.store, self.model) = (store, model) }

  /// Starts a difference. Before the first one, the code that all lines use is written.
  private func begin() {
    count += 1
    guard count == 1 else { return }
    Terminal.print(
      """
      -- Made by moonbase diff --script: makes one store equal to another. It sets what is stored, derived attributes too.
      -- Run it with --no-project, and with --without-extension NAME for each extension that the store remembers.
      local context, made = moonbase.context, {}
      local function at(name)
        local entity, key = name:match("^(.+)/(%d+)$")
        return made[name] or assert(context:object("x-coredata://\(store)/" .. entity .. "/p" .. key), name .. " is not there")
      end
      """)
  }

  /// Whether a property is a relationship.
  private func isRelationship(_ name: String, of entity: String) -> Bool {
    model.entity(entity)?.property(name)?.relationship != nil
  }

  /// Writes the insertion of an object.
  func inserted(_ object: DifferentObject, _ values: [(name: String, value: Value)]) throws {
    begin()
    let given = values.filter { !$0.value.isNull }
    for (name, value) in given { try checkLiteral(value, of: object, name) }
    let attributes = try given.filter { !isRelationship($0.name, of: object.entity) }.map {
      "[\(Self.quoted($0.name))] = \(try Self.literal($0.value, of: object, $0.name))"
    }
    let label = Self.quoted(object.label)
    Terminal.print(
      "made[\(label)] = context:insert(\(Self.quoted(object.entity)), { \(attributes.joined(separator: ", ")) })")
    for (name, value) in given where isRelationship(name, of: object.entity) {
      later.append("at(\(label))[\(Self.quoted(name))] = \(Self.destinations(value))")
    }
  }

  /// Notes the deletion of an object.
  func deleted(_ object: DifferentObject) throws {
    begin()
    deletions.append("context:delete(at(\(Self.quoted(object.label))))")
  }

  /// Notes the assignment of a value.
  func changed(_ object: DifferentObject, _ name: String, from old: Value, to new: Value) throws {
    begin()
    try checkLiteral(new, of: object, name)
    let value =
      isRelationship(name, of: object.entity) ? Self.destinations(new) : try Self.literal(new, of: object, name)
    later.append("at(\(Self.quoted(object.label)))[\(Self.quoted(name))] = \(value)")
  }

  /// Writes the noted lines, and the save.
  func finish() throws {
    guard count > 0 else { return }
    for line in later + deletions { Terminal.print(line) }
    Terminal.print("assert(context:save())")
  }

  /// An assignment needs the value that a transformer makes of the bytes, and not the bytes.
  ///
  /// Throws `.unsupportedForm` for a transformable value in its stored form.
  private func checkLiteral(_ value: Value, of object: DifferentObject, _ name: String) throws {
    guard case .data = value, model.entity(object.entity)?.property(name)?.attributeType == .transformable else {
      return
    }
    throw GraphError(
      .unsupportedForm,
      message:
        "\(object.label): \(name) holds the bytes of a transformer, which a script cannot set: compare without --script, or copy the store",
      entity: object.entity, property: name)
  }

  // MARK: Lua

  /// The Lua expression for the destinations of a relationship.
  private static func destinations(_ value: Value) -> String {
    switch value {
    case .string(let label): "at(\(quoted(label)))"
    case .list(let list): "{ \(list.map(destinations).joined(separator: ", ")) }"
    default: "nil"
    }
  }

  /// The Lua expression for a value. Throws for a value that no expression makes.
  private static func literal(_ value: Value, of object: DifferentObject, _ name: String) throws -> String {
    switch value {
    case .null: return "nil"
    case .bool(let flag): return "\(flag)"
    case .int(let number): return number == .min ? "math.mininteger" : "\(number)"
    case .double(let number) where number.isNaN: return "0/0"
    case .double(let number) where number.isInfinite: return number < 0 ? "-math.huge" : "math.huge"
    case .double(let number): return "\(number)"
    case .date(let date): return "moonbase.date.reference(\(date.timeIntervalSinceReferenceDate))"
    case .uri: return "moonbase.uri(\(quoted(value.description)))"
    case .decimal: return "moonbase.decimal(\(quoted(value.description)))"
    case .uuid: return "moonbase.uuid(\(quoted(value.description)))"
    case .string: return quoted(value.description)
    case .data(let data): return quoted(bytes: data)
    case .list(let list): return "{ \(try list.map { try element($0, of: object, name) }.joined(separator: ", ")) }"
    case .map(let map):
      let entries = try map.sorted { $0.key < $1.key }.map {
        "[\(quoted($0.key))] = \(try element($0.value, of: object, name))"
      }
      return "{ \(entries.joined(separator: ", ")) }"
    default:
      throw GraphError(
        .unsupportedForm,
        message:
          "\(object.label): \(name) holds \(value.typePhrase), which --script cannot write in Lua: compare without it",
        entity: object.entity, property: name)
    }
  }

  /// A value within a list or a map. `nil` would remove the element there.
  private static func element(_ value: Value, of object: DifferentObject, _ name: String) throws -> String {
    value.isNull ? "moonbase.null" : try literal(value, of: object, name)
  }

  /// The text as a Lua string.
  private static func quoted(_ text: String) -> String { text.luaText }

  /// The bytes as a Lua string, with escapes.
  private static func quoted(bytes: Data) -> String {
    var result: [UInt8] = [UInt8(ascii: "\"")]
    for byte in bytes {
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"): result += [UInt8(ascii: "\\"), byte]
      case 0x20..<0x7F: result.append(byte)
      default: result += Array("\\x\(byte < 16 ? "0" : "")\(String(byte, radix: 16))".utf8)
      }
    }
    return String(decoding: result + [UInt8(ascii: "\"")], as: UTF8.self)
  }
}
