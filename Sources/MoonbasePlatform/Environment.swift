/// Variables of the environment, one at a time: Foundation makes a dictionary of all, which takes a part of a short
/// run.
package enum Environment {
  /// The value of a variable; nil where it is not set.
  package static func value(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }
}
