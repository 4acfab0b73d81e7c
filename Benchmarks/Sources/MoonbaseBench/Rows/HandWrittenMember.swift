import Foundation
import Moonbase

/// The class of the entity Member as an app would write it by hand. The plugin generates `Member`.
final class HandWrittenMember: ManagedObject {
  private static let firstNameKey = Attribute<HandWrittenMember, String?>("firstName")
  private static let lastNameKey = Attribute<HandWrittenMember, String?>("lastName")
  private static let ageKey = Attribute<HandWrittenMember, Int64>("age")
  private static let bornKey = Attribute<HandWrittenMember, Date?>("born")
  private static let heightKey = Attribute<HandWrittenMember, Double>("height")

  /// A model with the same attributes for each of the two classes.
  static var model: ManagedObjectModel {
    ManagedObjectModel {
      for name in ["Member", "HandWrittenMember"] {
        EntityDescription(name, class: name) {
          AttributeDescription("firstName", type: .string)
          AttributeDescription("lastName", type: .string)
          AttributeDescription("age", type: .integer64)
          AttributeDescription("born", type: .date)
          AttributeDescription("height", type: .double)
        }
      }
    }
  }

  var firstName: String? {
    get { self[Self.firstNameKey] }
    set { self[Self.firstNameKey] = newValue }
  }

  var lastName: String? {
    get { self[Self.lastNameKey] }
    set { self[Self.lastNameKey] = newValue }
  }

  var age: Int64 {
    get { self[Self.ageKey] }
    set { self[Self.ageKey] = newValue }
  }

  var born: Date? {
    get { self[Self.bornKey] }
    set { self[Self.bornKey] = newValue }
  }

  var height: Double {
    get { self[Self.heightKey] }
    set { self[Self.heightKey] = newValue }
  }
}

/// The five attributes, so that both classes do the same work.
protocol MemberAttributes: ManagedObject {
  var firstName: String? { get set }
  var lastName: String? { get set }
  var age: Int64 { get set }
  var born: Date? { get set }
  var height: Double { get set }
}

extension MemberAttributes {
  func fill(_ row: Int) {
    firstName = "First\(row % 1000)"
    lastName = "Last\(row)"
    age = Int64(row % 100)
    born = Date(timeIntervalSinceReferenceDate: Double(row) * 60)
    height = 1.5 + Double(row % 50) / 100
  }

  /// Reads each attribute.
  var sum: Int64 {
    Int64(firstName?.utf8.count ?? 0) &+ Int64(lastName?.utf8.count ?? 0) &+ age
      &+ Int64(born?.timeIntervalSinceReferenceDate ?? 0) &+ Int64(height * 100)
  }
}

extension Member: MemberAttributes {}
extension HandWrittenMember: MemberAttributes {}
