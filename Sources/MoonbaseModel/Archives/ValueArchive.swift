package import MoonbasePlatform

/// Converts values to and from keyed archives, the form in which Core Data's default transformer stores transformable
/// attributes.
///
/// Reading accepts any archive of `NSKeyedArchiver` and instantiates no class: an object of a class without a
/// counterpart in `Value` becomes a map that names its class. Writing produces archives that
/// `NSSecureUnarchiveFromData` reads.
package enum ValueArchive {
  /// The key under which such a map names the class of its archived object.
  package static let classKey = "$class"

  /// The memory charged for a value during writing, in addition to its bytes.
  private static let valueWeight = 160

  /// The value of an archive, which may be hostile. Throws `.malformedFile`.
  package static func value(of data: Data) throws(ModelError) -> Value {
    guard PropertyList.isBinary(data) else { throw noArchive(data) }
    return try ArchivedValueReader.read(PropertyList(binary: data))
  }

  /// The archive of a value; equal values give equal bytes. `className` is the class written for a list. Throws
  /// `.invalidValue` for a value that no archive can hold.
  package static func data(of value: Value, listClass className: String = "NSArray") throws(ModelError) -> Data {
    let checked = try value.checkedNesting()
    var memory = HostMemory()
    try check(checked, &memory)
    var writer = KeyedArchiveWriter()
    let root =
      if case .list(let list) = checked { writer.list(list, className: className) } else { writer.value(checked) }
    guard let root else { throw unarchivable(checked) }
    return writer.archive(root: root).binaryData
  }

  /// Throws for values that archives cannot hold, and charges the memory for writing the rest.
  private static func check(_ value: Value, _ memory: inout HostMemory) throws(ModelError) {
    try ModelError.charge()
    try memory.holdForModel(valueWeight)
    switch value {
    case .objectID, .object: throw unarchivable(value)
    case .date(let date) where !date.timeIntervalSinceReferenceDate.isFinite:
      throw ModelError(.invalidValue, message: "an infinite date is no point in time: assign another date")
    case .string(let text): try memory.holdForModel(text.utf8.count)
    case .data(let data): try memory.holdForModel(data.count)
    case .list(let list): for element in list { try check(element, &memory) }
    case .map(let map):
      if case .string(let name)? = map[classKey] { throw ofClass(name) }
      for (_, element) in map { try check(element, &memory) }
    default: return
    }
  }

  // MARK: Errors

  /// The error that a value cannot be archived, with the kinds of values that can.
  private static func unarchivable(_ value: Value) -> ModelError {
    ModelError(
      .invalidValue,
      message: "the default transformer keeps texts, numbers, dates, bytes, UUIDs, URIs, lists and maps, and "
        + "\(value.typePhrase) is none of these: name a transformer of your own in the model")
  }

  /// The error that a map stands for an archived object of a class.
  private static func ofClass(_ name: String) -> ModelError {
    ModelError(
      .invalidValue,
      message:
        "a map with the key \(classKey) stands for an archived object, of class \(TextLimits.beginning(of: name)), "
        + "which can be read here and not be written: assign a map without that key")
  }

  /// The error about bytes that are no keyed archive. Archives of `NSArchiver` get their own
  /// advice.
  private static func noArchive(_ data: Data) -> ModelError {
    let message =
      data.starts(with: "\u{04}\u{0b}streamtyped".utf8)
      ? "its bytes were written by NSArchiver, a form that is not read here: let the app that wrote them save them anew with NSKeyedArchiver"
      : "its bytes are no keyed archive, which the default transformer reads: name the transformer that made them in the model"
    return ModelError(.malformedFile, message: message)
  }
}
