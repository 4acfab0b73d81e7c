import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform

/// The bytes of a value as a document that runs no code. The first bytes decide whether it is an image, otherwise it is
/// a download.
///
/// The browser never interprets the bytes as HTML or a script, whatever the store contains.
struct InspectValue {
  /// The maximum size of a value that is sent.
  private static let greatestSize = 512 << 20

  /// The bytes of the value.
  let data: Data

  /// Reads the value, after a check of its size in the file.
  ///
  /// - Parameters:
  ///   - query: The parameters `id` and `property`.
  ///   - session: The session.
  /// - Throws: `.unknownName`, and an `InspectRefusal` for a value that is too large or has no
  ///   bytes.
  init(_ query: [String: String], in session: InspectSession) throws {
    let object = try session.object(query["id"])
    guard let name = query["property"], let property = object.entity.property(name), property.attribute != nil else {
      throw GraphError.unknownProperty(query["property"] ?? "", of: object.entity, id: object.objectID)
    }
    let facts = (try? StoredFacts(session).facts(of: [object.objectID]) { _ in [property] }) ?? [:]
    if let fact = facts[object.objectID]?[name], fact.length > Self.greatestSize {
      throw InspectRefusal(
        413, "the value has \(fact.length) bytes, and the page sends \(Self.greatestSize >> 20) MiB at most")
    }
    switch try object.value(forKey: name) {
    case .data(let data): self.data = data
    case .string(let text): data = Data(text.utf8)
    default: throw InspectRefusal(400, "\(object.entity.name).\(name) has no bytes to send")
    }
    // The object must not keep the bytes in memory, unless it has changes.
    if !object.hasChanges { try session.context.turnIntoFaults([object]) }
  }

  /// The response, which the browser shows as an image or offers as a download.
  ///
  /// The name of a download consists of the ASCII letters and digits of the property's name.
  func response(name: String) -> HTTPResponse {
    let form = ImageForm(Array(data.prefix(16)))
    let kind = form == nil ? "attachment" : "inline"
    let file = name.filter { $0.isASCII && ($0.isLetter || $0.isNumber) }.prefix(60)
    return HTTPResponse(
      status: 200, type: form.map { "image/\($0.rawValue)" } ?? "application/octet-stream",
      headers: [
        ("Content-Disposition", "\(kind); filename=\"\(file.isEmpty ? "value" : file).\(form?.rawValue ?? "bin")\"")
      ],
      body: data)
  }
}
