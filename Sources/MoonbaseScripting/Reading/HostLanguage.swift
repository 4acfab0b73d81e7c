import MoonbasePlatform

/// The language of the person before the program.
enum HostLanguage {
  /// As `de-AT`: what `LC_ALL`, `LC_MESSAGES` or `LANG` of the environment says, else the system; nil where the
  /// environment asks for none (`C`).
  static var preferred: String? {
    let environment = ProcessInfo.processInfo.environment
    guard let named = ["LC_ALL", "LC_MESSAGES", "LANG"].compactMap({ environment[$0] }).first(where: { !$0.isEmpty })
    else { return Locale.preferredLanguages.first }
    let language = named.prefix { $0 != "." && $0 != "@" }
    return language == "C" || language == "POSIX" ? nil : String(language).replacing("_", with: "-")
  }
}
