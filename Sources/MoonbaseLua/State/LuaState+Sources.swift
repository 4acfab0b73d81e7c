extension LuaState {
  /// Shows the lines around the place of an error, with a caret under what it is about; nil if the source is not known.
  ///
  /// ```
  ///   11 | local p = find(name)
  /// > 12 | return p.x
  ///      |        ^
  /// ```
  public func codeFrame(of error: LuaError, context: Int = 2) -> String? {
    guard let script = error.script, let line = error.line, let source = source(named: script, line) else { return nil }
    // It is looked through for a word in quotes, and Lua's own messages are short.
    let message = String(decoding: error.message.utf8.prefix(1024), as: UTF8.self)
    return source.frame(line: line, message: message, context: context)
  }

  private func source(named name: String, _ line: Int) -> LuaSource? {
    if let part = partialSources.last(where: { $0.name == name && $0.firstLine <= line }), part.line(line) != nil {
      return part
    }
    if let source = sources[name] { return source }
    // Lua shortens long names from the left.
    guard name.hasPrefix("...") else { return nil }
    let tail = name.dropFirst(3)
    return sources.values.first { $0.name.hasSuffix(tail) }
  }

  /// Keeps the source for code frames, under the short name that Lua's messages use.
  func remember(_ source: LuaSource) {
    guard source.firstLine == 1, !source.isExpression else { return rememberPart(source) }
    if sources.count >= 256 { sources.removeAll() }
    sources[source.name] = source
  }

  /// Of the parts of a source the last ones are kept.
  private func rememberPart(_ source: LuaSource) {
    if partialSources.count >= 256 { partialSources.removeFirst(128) }
    partialSources.append(source)
  }
}
