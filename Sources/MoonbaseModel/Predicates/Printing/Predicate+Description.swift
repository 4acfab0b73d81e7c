extension Predicate: CustomStringConvertible {
  /// The predicate in the format language; parsing it gives the same predicate.
  ///
  /// An empty AND prints as `TRUEPREDICATE`, an empty OR as `FALSEPREDICATE`, and either with one part as that part.
  public var description: String {
    var printer = PredicatePrinter()
    printer.print(self)
    return printer.text
  }

  /// The text of `description`, under Core Data's name.
  public var predicateFormat: String { description }
}

extension Expression: CustomStringConvertible {
  /// The expression in the format language.
  public var description: String {
    var printer = PredicatePrinter()
    printer.print(self)
    return printer.text
  }
}

extension Predicate.Comparison.Options {
  /// The options in brackets, such as `[cd]`; empty without options.
  var suffix: String {
    guard !isEmpty else { return "" }
    let letters: [(Self, String)] = [
      (.caseInsensitive, "c"), (.diacriticInsensitive, "d"), (.normalized, "n"), (.localeSensitive, "l"),
    ]
    return "[" + letters.filter { contains($0.0) }.map(\.1).joined() + "]"
  }
}
