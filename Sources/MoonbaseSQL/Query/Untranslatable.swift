/// Why a store leaves a condition or an order to the context: SQL cannot say it, or not with the same meaning. The only error that
/// means so.
package struct Untranslatable: Error {
  /// The reason, as part of a sentence.
  package let reason: String

  package init(_ reason: String) { self.reason = reason }
}
