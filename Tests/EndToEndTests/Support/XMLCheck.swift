import MoonbasePlatform
import MoonbaseTestSupport
import Testing

/// Counts the elements of a text that must be XML.
///
/// Supports only what the pictures use: nested tags, no entities.
struct XMLCheck {
  let root: String
  private let counts: [String: Int]

  init(_ data: Data) throws {
    let text = String(decoding: data, as: UTF8.self)
    var open: [String] = []
    var counts: [String: Int] = [:]
    var first: String?
    for match in text.matches(of: #/<(/?)([a-z]+)[^<>]*?(/?)>/#) {
      let name = String(match.output.2)
      if !match.output.1.isEmpty {
        try #require(open.popLast() == name, "</\(name)> closes nothing")
      } else {
        first = first ?? name
        counts[name, default: 0] += 1
        if match.output.3.isEmpty { open.append(name) }
      }
    }
    try #require(open.isEmpty, "\(open) stay open")
    root = try #require(first)
    self.counts = counts
  }

  func count(_ name: String) -> Int { counts[name] ?? 0 }
}
