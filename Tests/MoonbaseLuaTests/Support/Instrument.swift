import MoonbasePlatform

/// The sanitizer that the tests were built with, if any.
enum Instrument {
  static let isThreadSanitizer = has("__tsan_init")
  /// A sanitizer keeps freed memory, so the process grows by more than Lua's memory.
  static let isAny = isThreadSanitizer || has("__asan_init")

  private static func has(_ symbol: String) -> Bool { dlsym(dlopen(nil, RTLD_NOW), symbol) != nil }
}
