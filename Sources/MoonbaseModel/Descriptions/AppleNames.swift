/// The value transformers and value classes that Core Data provides.
///
/// Models name these by text. The names are recognised, although neither Foundation's classes nor
/// its transformers are used here.
package enum AppleNames {
  /// The name of the default transformer.
  package static let defaultTransformer = "NSSecureUnarchiveFromData"

  /// Whether a name means the default transformer, which reads and writes keyed archives. Foundation's names for it and
  /// the names of the constants that hold them are recognised.
  package static func isDefaultTransformer(_ name: String) -> Bool {
    ["NSSecureUnarchiveFromData", "NSKeyedUnarchiveFromData", "NSUnarchiveFromData"].contains(stem(name))
  }

  /// Whether a name means a transformer with boolean results, which a store cannot keep as bytes.
  package static func makesTruthValues(_ name: String) -> Bool {
    ["NSNegateBoolean", "NSIsNil", "NSIsNotNil"].contains(stem(name))
  }

  /// Whether a name means a transformer of Foundation.
  package static func isTransformer(_ name: String) -> Bool { isDefaultTransformer(name) || makesTruthValues(name) }

  /// The name without the suffixes of Foundation's constants: TransformerName and Transformer.
  private static func stem(_ name: String) -> String {
    for suffix in ["TransformerName", "Transformer"] where name.hasSuffix(suffix) {
      return String(name.dropLast(suffix.count))
    }
    return name
  }

  /// Whether a name means a class of values that Foundation provides.
  package static func isValueClass(_ name: String) -> Bool {
    isCheckedValueClass(name) || name == "NSObject"
  }

  /// Whether a value is of this class or a subclass; nil for a class that is not checked.
  ///
  /// For example, a value of `NSString` must be a text. `null` is of every class.
  package static func contains(_ value: Value, className name: String) -> Bool? {
    switch name {
    case "NSString", "NSMutableString": if case .string = value { true } else { false }
    case "NSDate": if case .date = value { true } else { false }
    case "NSData", "NSMutableData": if case .data = value { true } else { false }
    case "NSUUID": if case .uuid = value { true } else { false }
    case "NSURL": if case .uri = value { true } else { false }
    case "NSDecimalNumber": if case .decimal = value { true } else { false }
    case "NSManagedObjectID": if case .objectID = value { true } else { false }
    case "NSArray", "NSMutableArray", "NSSet", "NSMutableSet", "NSOrderedSet", "NSMutableOrderedSet":
      if case .list = value { true } else { false }
    case "NSDictionary", "NSMutableDictionary": if case .map = value { true } else { false }
    case "NSNumber":
      switch value {
      case .bool, .int, .double, .decimal: true
      default: false
      }
    default: nil
    }
  }

  /// Whether values of a class can be checked.
  private static func isCheckedValueClass(_ name: String) -> Bool { contains(.null, className: name) != nil }
}
