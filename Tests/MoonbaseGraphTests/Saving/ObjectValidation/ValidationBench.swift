import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseTestSupport

/// A meeting as in Apple's guide: methods of the class validate its values and the object as a whole.
///
/// Source: Core Data Programming Guide, Object Validation.
class Meeting: ManagedObject {
  /// The validations since the last look.
  var checked: [String] = []

  override func validateValue(_ value: inout Value, forKey key: String) throws {
    checked.append(key)
    switch (key, value) {
    case ("title", .string(let title)): value = .string(title.filter { $0 != " " })
    case ("seats", 13): throw GraphError(.validation, message: "13 is unlucky")
    default: break
    }
  }

  override func validateForInsert() throws {
    checked.append("insert")
    try super.validateForInsert()
    try validateOrder()
  }

  override func validateForUpdate() throws {
    checked.append("update")
    try super.validateForUpdate()
    try validateOrder()
  }

  override func validateForDelete() throws {
    checked.append("delete")
    try super.validateForDelete()
    if self["title"] == "forever" { throw GraphError(.validation, message: "cannot be deleted") }
  }

  private func validateOrder() throws {
    guard case .int(let start) = self["start"], case .int(let end) = self["end"], start > end else { return }
    throw GraphError(.validation, message: "ends before it starts")
  }
}

/// Stores of meetings that are validated in one of two ways.
struct ValidationBench {
  /// How the rules are written.
  enum Way: CaseIterable, Sendable {
    case subclass, closures
  }

  let stores: StoreBench
  let way: Way

  static func model() -> ManagedObjectModel {
    var model = ManagedObjectModel {
      EntityDescription("Meeting") {
        AttributeDescription("title", type: .string).required()
        AttributeDescription("seats", type: .integer16).between(1, 100)
        AttributeDescription("code", type: .string).matching("[A-Z]+[0-9]*").length(2...4)
        AttributeDescription("day", type: .date)
          .between(.date(Date(timeIntervalSinceReferenceDate: 0)), .date(Date(timeIntervalSinceReferenceDate: 1e9)))
        AttributeDescription("start", type: .integer16)
        AttributeDescription("end", type: .integer16)
        RelationshipDescription.toMany("guests", destination: "Guest", inverse: "meeting").onDelete(.deny)
      }
      EntityDescription("Guest") {
        RelationshipDescription.toOne("meeting", destination: "Meeting", inverse: "guests").required()
      }
    }
    var workshop = EntityDescription("Workshop")
    workshop.superentityName = "Meeting"
    workshop.attributes = [AttributeDescription("topic", type: .string).required()]
    model.entities.append(workshop)
    return model
  }

  init(_ kind: StoreKind, _ way: Way) throws {
    var model = Self.model()
    if way == .subclass {
      for index in [0, 2] { model.entities[index].managedObjectClassName = "Meeting" }
    }
    stores = try StoreBench(kind, model)
    if way == .subclass { stores.coordinator.register(Meeting.self, forClassName: "Meeting") }
    self.way = way
  }

  func context() -> ManagedObjectContext {
    way == .subclass ? stores.context() : stores.context(extending: "Meeting", Self.extend)
  }

  private static func extend(_ entry: inout EntityExtension) {
    entry.normalize["title"] = { title, _ in .string((title.string ?? "").filter { $0 != " " }) }
    entry.validate["seats"] = { seats, _ in seats == 13 ? .init("13 is unlucky") : nil }
    entry.validateForInsert = order
    entry.validateForUpdate = order
    entry.validateForDelete = { $0["title"] == "forever" ? .init("cannot be deleted") : nil }
  }

  private static func order(_ meeting: ManagedObject) -> EntityExtension.ValidationIssue? {
    guard let start = meeting["start"].int, let end = meeting["end"].int, start > end else { return nil }
    return .init("ends before it starts")
  }
}
