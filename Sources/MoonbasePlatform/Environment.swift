/// Single environment variables, because Foundation builds a dictionary of all of them, which takes a noticeable part
/// of a short run.
package enum Environment {
  /// The value of a variable; nil if it is not set.
  package static func value(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }
}
