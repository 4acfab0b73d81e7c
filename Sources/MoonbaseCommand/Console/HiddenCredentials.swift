/// Texts for messages without the passwords of addresses.
///
/// Addresses of stores hide their passwords themselves. This also hides the passwords of texts that are no valid
/// address and occur in a message: of several hosts, with an unescaped `/`, or in place of a path.
enum HiddenCredentials {
  /// The text with `***` in place of each password.
  ///
  /// Hides too much of an unusual text rather than too little: the rest of a line after `password=`, up to `&`.
  ///
  /// - Parameter text: A text of any number of lines.
  static func hidden(_ text: String) -> String {
    let isAddress = text.contains("postgres"), isKeywordList = text.contains("host=") || text.contains("dbname=")
    guard isAddress || isKeywordList else { return text }
    var text = text
    if isAddress {
      text.replace(#/(postgres(?:ql)?:/*[^\s:@/]*:)(?!\d+(?:[/?,'"\s:]|$)(?![^?\s]*@))\S*@/#) { "\($0.1)***@" }
      text.replace(#/(postgres(?:ql)?:/*[^\s:@/]*:)(?!\d+(?:[/?,'"\s:]|$)|\*\*\*@)[^\n@]*@/#) { "\($0.1)***@" }
      text.replace(#/([?&][^=&\s]*(?:pass|%)[^=&\s]*?(?:=|%3D))[^&\n]*/#.ignoresCase()) { "\($0.1)***" }
    }
    if isKeywordList {
      text.replace(#/(\b(?:ssl)?password\s*=\s*)(?:'[^'\n]*'|\S+)/#) { "\($0.1)***" }
    }
    return text
  }
}
