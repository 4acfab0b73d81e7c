/// Transformers and value classes that Core Data itself provides.
package enum AppleNames {
  package static func isTransformer(_ name: String) -> Bool {
    [
      "NSKeyedUnarchiveFromData", "NSUnarchiveFromData", "NSSecureUnarchiveFromData",
      "NSSecureUnarchiveFromDataTransformer",
    ].contains(name)
  }

  package static func isValueClass(_ name: String) -> Bool {
    [
      "NSNumber", "NSString", "NSDate", "NSData", "NSDecimalNumber", "NSUUID", "NSURL", "NSArray", "NSDictionary",
      "NSObject", "NSManagedObjectID",
    ].contains(name)
  }
}
