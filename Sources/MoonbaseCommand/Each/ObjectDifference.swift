import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform

/// The old and the new values of an object, for display.
struct ObjectDifference {
  private static let greatestLength = 200
  let text: String

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

  private static func shown(_ value: Value) -> String {
    var bytes: [UInt8] = []
    var losses = OutputLosses()
    bytes.append(json: value.withShortIDs, dates: .iso, column: "", losses: &losses)
    let text = String(decoding: bytes, as: UTF8.self)
    return text.count > greatestLength ? "\(text.prefix(greatestLength))…" : text
  }
}
