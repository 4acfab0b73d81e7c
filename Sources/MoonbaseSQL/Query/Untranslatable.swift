/// The reason why a store leaves a condition or an order to the context: SQL cannot express it with the same meaning.
/// No other error has this effect.
package struct Untranslatable: Error {
  /// The reason, as part of a sentence.
  package let reason: String

  package init(_ reason: String) { self.reason = reason }
}
