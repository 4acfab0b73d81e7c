import MoonbasePlatform

/// The language of the user. Messages of rules are translated into it unless the program names a language.
enum HostLanguage {
  /// The language, as `de-AT`, from `LC_ALL`, `LC_MESSAGES` or `LANG` in the environment, else from the system; nil if
  /// the environment requests none (`C`).
  static var preferred: String? {
    let environment = ProcessInfo.processInfo.environment
    guard let named = ["LC_ALL", "LC_MESSAGES", "LANG"].compactMap({ environment[$0] }).first(where: { !$0.isEmpty })
    else { return Locale.preferredLanguages.first }
    let language = named.prefix { $0 != "." && $0 != "@" }
    return language == "C" || language == "POSIX" ? nil : String(language).replacing("_", with: "-")
  }
}
