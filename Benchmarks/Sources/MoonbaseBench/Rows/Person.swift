import Foundation
import Moonbase

/// The entity of the store rows, as an app would declare it.
final class Person: ManagedObject {
  static let firstNameKey = Attribute<Person, String>("firstName")
  static let lastNameKey = Attribute<Person, String>("lastName")
  static let ageKey = Attribute<Person, Int64>("age")
  static let bornKey = Attribute<Person, Date>("born")
  static let heightKey = Attribute<Person, Double>("height")
  static let colorKey = Attribute<Person, Data>("color")

  override class var overriddenLifecycleMethods: LifecycleHooks { [] }

  static var model: ManagedObjectModel {
    ManagedObjectModel {
      EntityDescription("Person", class: "Person") {
        AttributeDescription("firstName", type: .string)
        AttributeDescription("lastName", type: .string)
        AttributeDescription("age", type: .integer64)
        AttributeDescription("born", type: .date)
        AttributeDescription("height", type: .double)
        AttributeDescription("color", type: .binaryData)
      }
    }
  }

  /// A context over a store in the workplace.
  static func context(_ url: URL) throws -> ManagedObjectContext {
    let container = try PersistentContainer(model: model, store: .sqlite(url), classes: ["Person": Person.self])
    return try ManagedObjectContext(container.coordinator)
  }

  /// Sets the values of `insert_row` of the C side.
  func fill(_ row: Int) {
    self[Self.firstNameKey] = "First\(row % 1000)"
    self[Self.lastNameKey] = "Last\(row)"
    self[Self.ageKey] = Int64(row % 100)
    self[Self.bornKey] = Date(timeIntervalSinceReferenceDate: Double(row) * 60)
    self[Self.heightKey] = 1.5 + Double(row % 50) / 100
    self[Self.colorKey] = withUnsafeBytes(of: (Double(row % 256) / 255, 0.5, 0.25, 1.0)) { Data($0) }
  }
}
