import MoonbaseModel

extension ArchivedObject {
  /// Reads the aspects of a description that an archive stores under a key or as a flag.
  ///
  /// Missing keys leave the setting at the format's default, which may differ from the default of a
  /// new description.
  func read<Owner: Described>(into owner: inout Owner) {
    for aspect in Owner.aspects {
      guard let archived = aspect.archived else { continue }
      switch aspect.field {
      case .flag(let path, let usual, let unnamed):
        let flag = flag(archived) ?? unnamed
        if flag != usual { owner[keyPath: path] = flag }
      case .text(let path):
        if let text = string(archived.key) { owner[keyPath: path] = text }
      case .number(let path):
        if let number = integer(archived.key) { owner[keyPath: path] = number }
      case .limit(let path):
        if let number = integer(archived.key) { owner[keyPath: path] = number }
      case .stated: break
      }
    }
  }

  /// The flag under its key, or its bit of the storage flags; nil if the key is missing.
  private func flag<Owner>(_ archived: Aspect<Owner>.Archived) -> Bool? {
    if case .storageFlag(let bit) = archived { return (integer(archived.key) ?? 0) & bit != 0 }
    return self[archived.key]?.bool
  }
}

extension ArchivedModelWriter {
  /// Adds the aspects of a description that an archive stores under a key or as a flag.
  ///
  /// Defaults of the format are omitted. Settings under `SupplementKeys` are written only for a
  /// complete archive.
  mutating func add<Owner: Described>(_ owner: Owner, to fields: inout [String: PropertyList]) {
    for aspect in Owner.aspects {
      guard let archived = aspect.archived else { continue }
      if case .supplement = archived, !isComplete { continue }
      if case .storageFlag(let bit) = archived {
        let flags = fields[archived.key]?.integer ?? 0
        fields[archived.key] = .integer(aspect.value(of: owner) == .flag(true) ? flags | Int64(bit) : flags)
        continue
      }
      switch aspect.field {
      case .flag(let path, _, let unnamed):
        if owner[keyPath: path] != unnamed { fields[archived.key] = .bool(!unnamed) }
      case .text(let path):
        if case .keyOrNull = archived { fields[archived.key] = KeyedArchiveWriter.null }
        if let text = owner[keyPath: path] { fields[archived.key] = archive.string(text) }
      case .number(let path): fields[archived.key] = .integer(Int64(owner[keyPath: path]))
      case .limit(let path):
        if let number = owner[keyPath: path] { fields[archived.key] = .integer(Int64(number)) }
      case .stated: break
      }
    }
  }
}

extension Aspect.Archived {
  /// The archive's key.
  var key: String {
    switch self {
    case .key(let key), .keyOrNull(let key), .supplement(let key): key
    case .storageFlag: "NSFlagsKey"
    }
  }
}
