internal import MoonbaseCSQLite

/// A statement that has ended.
public struct StatementReport: Sendable {
  /// The text, truncated if long, with values in place of parameters if requested.
  public let sql: String
  /// The text with question marks for parameters.
  public let template: String
  /// The number of rows.
  public let rowCount: Int
  /// The time from the first step to the end, including the time between rows.
  public let duration: Duration
}

/// The receiver of a connection's statements.
final class Tracing {
  /// The length at which texts are truncated.
  private static let greatestText = 10_000

  private let showsValues: Bool
  private let body: @Sendable (StatementReport) -> Void
  /// The number of rows of running statements.
  private var rowCounts: [OpaquePointer: Int] = [:]
  /// Whether the running statement is not reported.
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

  /// Nil if values are not requested, and if the text would exceed SQLite's limit.
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
  /// Calls `body` with each statement when it ends, except those of triggers. `body` must not use the connection.
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
