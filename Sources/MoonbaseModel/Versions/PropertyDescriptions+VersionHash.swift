public import MoonbasePlatform

extension AttributeDescription {
  /// Core Data's hash of the attribute: name, optionality, transience, hash modifier, type and storage options.
  ///
  /// Default values, validation, user info, class and transformer names do not contribute.
  public var versionHash: Data {
    var bytes = propertyBase(name, isOptional: isOptional, isTransient: isTransient, modifier: versionHashModifier)
    bytes.append(littleEndian: Int32(type.rawValue))
    if allowsExternalBinaryDataStorage { bytes.append(1) }
    if preservesValueInHistoryOnDeletion { bytes.append(1) }
    // Apple's algorithm for these two is unknown. They are hashed so that changes of the model are visible.
    if let derivationExpression { bytes += Data(derivationExpression.utf8) }
    for element in elements.sorted(by: { $0.name.literallyPrecedes($1.name) }) { bytes += element.versionHash }
    return SHA2.sha256(bytes)
  }

  /// Whether the hash is known to equal Apple's.
  var hasProvenVersionHash: Bool { derivationExpression == nil && type != .composite }
}

extension RelationshipDescription {
  /// Core Data's hash of the relationship: name, optionality, transience, hash modifier, destination, inverse, counts,
  /// order.
  ///
  /// The delete rule and user info do not contribute.
  public var versionHash: Data {
    var bytes = propertyBase(name, isOptional: isOptional, isTransient: isTransient, modifier: versionHashModifier)
    bytes += Data(destinationEntityName.utf8)
    bytes += Data((inverseName ?? "").utf8)
    bytes.append(littleEndian: Int32(clamping: maxCount))
    bytes.append(littleEndian: Int32(clamping: minCount))
    if isOrdered { bytes += Data([1, 0]) }
    return SHA2.sha256(bytes)
  }
}

/// The hash of the settings that attributes and relationships share: name, flags and hash modifier.
/// The flags are a 16-bit number: 1 for optional, 2 for transient.
private func propertyBase(_ name: String, isOptional optional: Bool, isTransient transient: Bool, modifier: String?)
  -> Data
{
  var bytes = Data(name.utf8)
  bytes.append(littleEndian: UInt16((optional ? 1 : 0) | (transient ? 2 : 0)))
  bytes += Data((modifier ?? "").utf8)
  return SHA2.sha256(bytes)
}

extension Data {
  /// Appends the bytes of a number, the least significant first.
  fileprivate mutating func append(littleEndian number: some FixedWidthInteger) {
    Swift.withUnsafeBytes(of: number.littleEndian) { append(contentsOf: $0) }
  }
}
