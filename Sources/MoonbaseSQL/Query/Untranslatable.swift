/// The reason why a store leaves a condition or an order to the context: SQL cannot express it with the same meaning.
/// No other error has this effect.
///
/// Not an error for the user: `QueryPlanner` turns it into a condition in memory, and `explain` shows the reason.
package struct Untranslatable: Error {
  /// The reason, as part of a sentence.
  package let reason: String

  /// `reason` completes a sentence such as "not in SQL: …".
  package init(_ reason: String) { self.reason = reason }
}
