/// Sources for code frames.
extension LuaState {
  /// Shows the lines around an error's place, with a caret under the subject of the message; nil if the source is
  /// unknown.
  ///
  /// ```
  ///   11 | local p = find(name)
  /// > 12 | return p.x
  ///      |        ^
  /// ```
  public func codeFrame(of error: LuaError, context: Int = 2) -> String? {
    guard let script = error.script, let line = error.line, let source = source(named: script, line) else { return nil }
    // The message is searched for a quoted word. Lua's own messages are short, so a prefix suffices.
    let message = String(decoding: error.message.utf8.prefix(1024), as: UTF8.self)
    return source.frame(line: line, message: message, context: context)
  }

  /// Later parts hide earlier ones with the same lines.
  private func source(named name: String, _ line: Int) -> LuaSource? {
    if let part = partialSources.last(where: { $0.name == name && $0.firstLine <= line }), part.line(line) != nil {
      return part
    }
    if let source = sources[name] { return source }
    // Lua truncates long names on the left.
    guard name.hasPrefix("...") else { return nil }
    let tail = name.dropFirst(3)
    return sources.values.first { $0.name.hasSuffix(tail) }
  }

  /// Keeps the source for code frames, under its shortened name in messages. At most 256 sources are kept.
  func remember(_ source: LuaSource) {
    guard source.firstLine == 1, !source.isExpression else { return rememberPart(source) }
    if sources.count >= 256 { sources.removeAll() }
    sources[source.name] = source
  }

  /// Keeps the latest parts of sources. At most 256 parts.
  private func rememberPart(_ source: LuaSource) {
    if partialSources.count >= 256 { partialSources.removeFirst(128) }
    partialSources.append(source)
  }
}
