import MoonbaseModel
import MoonbasePlatform

extension ModelReport {
  /// An attribute with its type, its rules and its version hash.
  struct Attribute: Encodable {
    /// The attribute of the model.
    let attribute: AttributeDescription

    /// Writes the name first, and then all settings, including default values.
    func encode(to encoder: any Encoder) throws {
      var report = encoder.container(keyedBy: ReportKey.self)
      try report.encode(attribute.name, forKey: "name")
      try report.encode(whatIsSaidBy: attribute)
      // Transient properties do not influence the version.
      if !attribute.isTransient { try report.encode(attribute.versionHash.hexadecimal, forKey: "versionHash") }
    }
  }

  /// A relationship with its destination, its counts and its version hash.
  struct Relationship: Encodable {
    /// The relationship of the model.
    let relationship: RelationshipDescription

    /// Writes the name first, and then all settings, including default values.
    func encode(to encoder: any Encoder) throws {
      var report = encoder.container(keyedBy: ReportKey.self)
      try report.encode(relationship.name, forKey: "name")
      try report.encode(relationship.destinationEntityName, forKey: "destination")
      try report.encode(relationship.isToMany, forKey: "toMany")
      // 0 means no limit.
      try report.encode(relationship.maxCount, forKey: "maxCount")
      try report.encode(whatIsSaidBy: relationship)
      if !relationship.isTransient { try report.encode(relationship.versionHash.hexadecimal, forKey: "versionHash") }
    }
  }
}
