import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseScripting

/// The routes of the page, for its files, its data and its changes.
///
/// It has three kinds of routes: the files of the page, views, which read with GET, and changes,
/// which need POST and `--write`. The methods run on the threads of the connections, and use the
/// desk to reach the session.
struct InspectRoutes: Sendable {
  /// Refuses requests that do not come from the page.
  let gate: InspectGate
  /// Runs the bodies of the routes.
  let desk: InspectDesk

  /// A route that reads. It gets the parameters of the query.
  private typealias View = @Sendable (InspectSession, [String: String]) throws -> InspectJSON
  /// A route that changes objects. It gets the body of the request.
  private typealias Change = @Sendable (InspectEdits, InspectInput) throws -> InspectJSON

  /// The views by path.
  private static let views: [String: View] = [
    "/api/store": { session, _ in InspectModel(session: session).json() },
    "/api/state": { _, _ in .object([]) },
    "/api/entity": { session, query in InspectModel(session: session).json(try session.entity(query["name"])) },
    "/api/count": { session, query in try InspectQuery(query, in: session).count(in: session) },
    "/api/rows": { session, query in
      let request = try InspectQuery(query, in: session)
      return try InspectRows(session, request.entity, columns: query["columns"]).json(request)
    },
    "/api/explain": { session, query in try InspectQuery(query, in: session).explanation(in: session) },
    "/api/object": { session, query in try InspectObject(session.object(query["id"]), session).json() },
    "/api/members": { session, query in
      try InspectObject(session.object(query["id"]), session).members(query["property"] ?? "", query)
    },
    "/api/changes": { session, _ in try InspectEdits(session: session).changes() },
    "/api/history": { session, query in try InspectHistory(session: session).json(query) },
  ]

  /// The changes by path.
  private static let changes: [String: Change] = [
    "/api/set": { edits, input in try edits.set(input) },
    "/api/link": { edits, input in try edits.link(input) },
    "/api/insert": { edits, input in try edits.insert(input) },
    "/api/delete": { edits, input in try edits.delete(input) },
    "/api/undo": { edits, _ in try edits.undo() },
    "/api/redo": { edits, _ in try edits.redo() },
    "/api/save": { edits, _ in try edits.save() },
    "/api/resolve": { edits, input in try edits.resolve(input) },
    "/api/discard": { edits, _ in try edits.discard() },
  ]

  /// The routes of the prompt. They are allowed for a read-only store too.
  private static let scripts: Set = ["/api/lua", "/api/stop"]

  /// The response to a request that is not allowed, before its body is read. Nil for all other requests.
  ///
  /// - Parameter request: The request without its body.
  func refusal(of request: HTTPRequest) -> HTTPResponse? {
    gate.refusal(of: request, isChange: isPost(request) || !["GET", "HEAD"].contains(request.method))
  }

  /// Whether a path takes POST only.
  private func isPost(_ request: HTTPRequest) -> Bool {
    Self.changes[request.path] != nil || Self.scripts.contains(request.path)
  }

  /// Returns the response to an allowed request.
  ///
  /// - Parameter request: The complete request.
  /// - Returns: The response, with status 405 for a wrong method and 404 for an unknown path.
  func answer(_ request: HTTPRequest) -> HTTPResponse {
    let isPost = isPost(request)
    let methods = isPost ? ["POST"] : ["GET", "HEAD"]
    guard methods.contains(request.method) else {
      var response = HTTPResponse.failure(405, "\(request.path) takes \(methods[0])")
      response.headers.append(("Allow", methods.joined(separator: ", ")))
      return response
    }
    return isPost ? post(request) : get(request)
  }

  /// Answers a view or a file of the page. Changes that a getter of an extension makes are
  /// discarded.
  private func get(_ request: HTTPRequest) -> HTTPResponse {
    if let view = Self.views[request.path] {
      return desk.answer { session in
        defer { _ = session.discardChanges() }
        return try session.perform {
          session.followOthers()
          return try view(session, request.query)
        }
      }
    }
    switch request.path {
    case "/api/value": return value(request.query)
    case "/api/diagram": return document { InspectModel(session: $0).diagram() }
    case "/api/doctor": return doctor()
    default:
      return PageFile.named(request.path == "/" ? "index.html" : String(request.path.dropFirst()))?.response
        ?? .failure(404, "there is no \(request.path.prefix(200))")
    }
  }

  /// Answers a change or a call of the prompt. The type of the body must be JSON, because a form of
  /// another page cannot send it.
  private func post(_ request: HTTPRequest) -> HTTPResponse {
    guard request.headers["content-type"]?.lowercased().hasPrefix("application/json") == true else {
      return .failure(415, "the body has to be application/json")
    }
    if request.path == "/api/stop" {
      desk.output.interrupt()
      return .json(["stopped": true])
    }
    let change = Self.changes[request.path]
    if change != nil, desk.settings.stores.readOnly {
      return .failure(403, "the store is only read: start moonbase inspect with --write to change it")
    }
    return desk.answer { session in
      let input = try InspectInput.read(request.body)
      guard let change else { return try InspectScript(session: session).run(input) }
      return try session.perform { try change(InspectEdits(session: session), input) }
    }
  }

  // MARK: Documents

  /// Answers with a document that is not JSON. Errors become JSON responses.
  private func document(_ body: (InspectSession) throws -> HTTPResponse) -> HTTPResponse {
    do {
      return try desk.perform { session in
        do { return try session.perform { try body(session) } } catch {
          return InspectFailure(error, in: session).response
        }
      }
    } catch {
      return .failure(503, InspectFailure.message(of: error))
    }
  }

  /// Answers with the bytes of a value, for images and downloads.
  private func value(_ query: [String: String]) -> HTTPResponse {
    document { session in
      let value = try InspectValue(query, in: session)
      var response = value.response(name: query["property"] ?? "")
      response.reservation = try desk.valuesOnTheirWay.reserve(value.data.count)
      return response
    }
  }

  /// Answers with the findings of the doctor. They are searched outside the session's thread, so
  /// that the page stays usable.
  private func doctor() -> HTTPResponse {
    do {
      let model = try desk.perform { $0.model }
      return .json(try InspectDoctor(settings: desk.settings, model: model, output: desk.output).json())
    } catch {
      return .failure(500, InspectFailure.message(of: error))
    }
  }
}
