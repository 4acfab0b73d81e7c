package import MoonbasePlatform

extension PropertyList {
  /// Reads a binary property list.
  ///
  /// The bytes may be hostile: offsets, counts, nesting and the number of values are checked, and nothing is trusted before.
  /// Throws `ModelError` with `.malformedFile`.
  public init(binary data: Data) throws(ModelError) {
    self = try BinaryPropertyListReader.read([UInt8](data))
  }

  /// The binary form; keys are written in order of their names, so equal values give equal bytes.
  public var binaryData: Data {
    var writer = BinaryPropertyListWriter()
    return writer.write(self)
  }

  /// Whether bytes begin as a binary property list does.
  package static func isBinary(_ data: Data) -> Bool { data.starts(with: "bplist0".utf8) }
}
