/// The version of all that is built here: `moonbase --version` and `moonbase.version` tell it.
package enum MoonbaseVersion {
  package static let text = "0.1.0"
}
