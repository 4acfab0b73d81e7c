/// The version of the package, shown by `moonbase --version` and in `moonbase.version`.
package enum MoonbaseVersion {
  /// The version.
  package static let text = "0.1.0"
}
