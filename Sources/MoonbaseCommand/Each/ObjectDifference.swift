import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform

/// The old and the new values of an object, for display.
///
/// For example, `Person/12` followed by lines such as `age: 30 → 31`.
struct ObjectDifference {
  /// The most characters of a value.
  private static let greatestLength = 200
  /// The lines of the difference.
  let text: String

  /// The changes of an object since it was read or saved.
  init(_ object: ManagedObject) throws {
    let new = try object.changedValues()
    let old = try object.committedValues(
      forKeys: new.keys.filter { object.entity.property($0)?.relationship?.isToMany != true })
    var lines = [object.objectID.short]
    for (name, value) in new.sorted(by: { $0.key < $1.key }) {
      let former = old[name].map { "\(Self.shown($0)) → " } ?? ""
      lines.append("  \(name): \(former)\(Self.shown(value))")
    }
    text = lines.joined(separator: "\n")
  }

  /// A value as JSON, truncated.
  private static func shown(_ value: Value) -> String {
    var bytes: [UInt8] = []
    var losses = OutputLosses()
    bytes.append(json: value.withShortIDs, dates: .iso, column: "", losses: &losses)
    let text = String(decoding: bytes, as: UTF8.self)
    return text.count > greatestLength ? "\(text.prefix(greatestLength))…" : text
  }
}
