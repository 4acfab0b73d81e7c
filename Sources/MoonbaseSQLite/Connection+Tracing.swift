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
///
/// Owned by the connection and called by SQLite on the connection's thread.
final class Tracing {
  /// The length at which texts are truncated.
  private static let greatestText = 10_000

  /// Whether texts have values in place of parameters, which may be confidential.
  private let showsValues: Bool
  /// The host's closure.
  private let body: @Sendable (StatementReport) -> Void
  /// The number of rows of running statements.
  private var rowCounts: [OpaquePointer: Int] = [:]
  /// Whether the running statement is not reported.
  var isSilent = false

  /// Reports nothing before `sqlite3_trace_v2` is called.
  init(showingValues: Bool, _ body: @escaping @Sendable (StatementReport) -> Void) {
    (showsValues, self.body) = (showingValues, body)
  }

  /// Counts a row of a running statement.
  fileprivate func noteRow(_ statement: OpaquePointer) { rowCounts[statement, default: 0] += 1 }

  /// Reports an ended statement with its time.
  fileprivate func noteEnd(_ statement: OpaquePointer, nanoseconds: Int64) {
    let rowCount = rowCounts.removeValue(forKey: statement) ?? 0
    if isSilent { return }
    let template = Self.text(sqlite3_sql(statement))
    body(
      StatementReport(
        sql: expandedText(statement) ?? template, template: template, rowCount: rowCount,
        duration: .nanoseconds(nanoseconds)))
  }

  /// Nil if values are not requested, and if the text would exceed SQLite's limit. SQLite allocates the text; it is
  /// freed here.
  private func expandedText(_ statement: OpaquePointer) -> String? {
    guard showsValues, let expanded = sqlite3_expanded_sql(statement) else { return nil }
    defer { sqlite3_free(expanded) }
    return Self.text(UnsafePointer(expanded))
  }

  /// A text of C, truncated and decoded.
  private static func text(_ start: UnsafePointer<CChar>?) -> String {
    guard let start else { return "" }
    let text = UnsafeRawBufferPointer(start: start, count: length(start))
    let shown = text.prefix(greatestText)
    return String(decoding: shown, as: UTF8.self) + (shown.count < text.count ? "…" : "")
  }

  /// The length of a text, counted up to the limit only.
  private static func length(_ text: UnsafePointer<CChar>) -> Int {
    var length = 0
    while length <= greatestText, text[length] != 0 { length += 1 }
    return length
  }
}

extension Connection {
  /// Calls `body` with each statement when it ends, except those of triggers. `body` must not use the connection.
  /// `showingValues` replaces the parameters by their values. A later call replaces the receiver.
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
