internal import MoonbaseCSQLite

/// A statement that ran.
public struct StatementReport: Sendable {
  /// The text, with the values in the places of their parameters where they are wanted; a long one is cut off.
  public let sql: String
  /// The text with question marks for its values.
  public let template: String
  /// How many rows it gave.
  public let rowCount: Int
  /// How long it ran, from its first step to its end: what was done between two rows counts too.
  public let duration: Duration
}

/// Who is told of the statements of a connection.
final class Tracing {
  /// Longer texts are cut off.
  private static let greatestText = 10_000

  private let showsValues: Bool
  private let body: @Sendable (StatementReport) -> Void
  /// Of the statements that run, how many rows came.
  private var rowCounts: [OpaquePointer: Int] = [:]
  /// Whether what runs is not told.
  var isSilent = false

  init(showingValues: Bool, _ body: @escaping @Sendable (StatementReport) -> Void) {
    (showsValues, self.body) = (showingValues, body)
  }

  fileprivate func noteRow(_ statement: OpaquePointer) { rowCounts[statement, default: 0] += 1 }

  fileprivate func noteEnd(_ statement: OpaquePointer, nanoseconds: Int64) {
    let rowCount = rowCounts.removeValue(forKey: statement) ?? 0
    if isSilent { return }
    let template = Self.text(sqlite3_sql(statement))
    body(
      StatementReport(
        sql: expandedText(statement) ?? template, template: template, rowCount: rowCount,
        duration: .nanoseconds(nanoseconds)))
  }

  /// Nil where values are not wanted, and where the text would be longer than SQLite's limit for texts.
  private func expandedText(_ statement: OpaquePointer) -> String? {
    guard showsValues, let expanded = sqlite3_expanded_sql(statement) else { return nil }
    defer { sqlite3_free(expanded) }
    return Self.text(UnsafePointer(expanded))
  }

  private static func text(_ start: UnsafePointer<CChar>?) -> String {
    guard let start else { return "" }
    let text = UnsafeRawBufferPointer(start: start, count: length(start))
    let shown = text.prefix(greatestText)
    return String(decoding: shown, as: UTF8.self) + (shown.count < text.count ? "…" : "")
  }

  private static func length(_ text: UnsafePointer<CChar>) -> Int {
    var length = 0
    while length <= greatestText, text[length] != 0 { length += 1 }
    return length
  }
}

extension Connection {
  /// Tells `body` of each statement when it ends, triggers not counted. It must not use the connection.
  public func trace(showingValues: Bool, _ body: @escaping @Sendable (StatementReport) -> Void) {
    let tracing = Tracing(showingValues: showingValues, body)
    self.tracing = tracing
    sqlite3_trace_v2(
      handle, UInt32(SQLITE_TRACE_ROW | SQLITE_TRACE_PROFILE),
      { kind, context, statement, detail in
        guard let context, let statement else { return 0 }
        let tracing = Unmanaged<Tracing>.fromOpaque(context).takeUnretainedValue()
        if Int32(bitPattern: kind) == SQLITE_TRACE_ROW {
          tracing.noteRow(OpaquePointer(statement))
        } else if let nanoseconds = detail?.load(as: Int64.self) {
          tracing.noteEnd(OpaquePointer(statement), nanoseconds: nanoseconds)
        }
        return 0
      }, Unmanaged.passUnretained(tracing).toOpaque())
  }
}
