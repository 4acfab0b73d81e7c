import MoonbaseModel
import MoonbasePlatform

/// Detection of temporary IDs, which change at the save and must not be stored.
///
/// Text and bytes are searched for the mark that all temporary IDs of a process share.
extension Value {
  /// Whether the value contains a temporary ID, as an ID or within text or bytes.
  var holdsTemporaryID: Bool {
    switch self {
    case .string(var text): text.withUTF8 { Self.isMarked(UnsafeRawBufferPointer($0)) }
    case .uri(let url): Value.string(url.absoluteString).holdsTemporaryID
    case .data(let data): data.withUnsafeBytes { Self.isMarked($0) }
    case .objectID(let id): id.isTemporaryID
    case .list(let values): values.contains(where: \.holdsTemporaryID)
    case .map(let values): values.contains { Value.string($0).holdsTemporaryID || $1.holdsTemporaryID }
    default: false
    }
  }

  /// Whether bytes contain the mark.
  private static func isMarked(_ bytes: UnsafeRawBufferPointer) -> Bool {
    bytes.count >= temporaryMark.count && bytes.firstRange(of: temporaryMark) != nil
  }

  /// The common part of the texts of a process's temporary IDs: `/t` and the first half of a UUID.
  private static let temporaryMark: [UInt8] = {
    let text = ManagedObjectID(temporaryFor: Symbol("")).uriRepresentation
    return Array(text.dropFirst("x-coredata://".count + 1).prefix("/t00000000-0000-0000-".count).utf8)
  }()
}
