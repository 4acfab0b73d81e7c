import FlyingFox
import FlyingSocks
import Foundation
import Moonbase

/// The shelf over HTTP, on the loopback interface only.
///
///     GET  /books?status=reading   the books, as JSON
///     POST /books                  saves a book
///     POST /import                 saves a list of books in the background
struct Service {
  let server: HTTPServer

  init(_ shelf: Shelf, port: UInt16, say: @escaping @Sendable (String) -> Void) async throws {
    server = HTTPServer(address: try .inet(ip4: "127.0.0.1", port: port), logger: .disabled)
    await server.appendRoute("GET /books") { request in
      try await Self.answer {
        let status = request.query["status"]
        let known = status.flatMap(Book.Status.init)
        guard status == nil || known != nil else {
          return Self.error(.badRequest, ["there is no status \(status ?? "")"])
        }
        return try Self.json(await shelf.books(known))
      }
    }
    await server.appendRoute("POST /books") { request in
      let body = try await request.bodyData
      return try await Self.answer {
        let record = try JSONDecoder().decode(BookRecord.self, from: body)
        return try Self.json(await shelf.add(record), .created)
      }
    }
    await server.appendRoute("POST /import") { request in
      let body = try await request.bodyData
      return try await Self.answer {
        let records = try JSONDecoder().decode([BookRecord].self, from: body)
        Task {
          do { say("imported \(try await shelf.add(all: records)) books") } catch { say("import failed: \(error)") }
        }
        return try Self.json(["accepted": records.count], .accepted)
      }
    }
  }

  /// The answer, or what is wrong with the request in sentences for a person.
  private static func answer(_ body: () async throws -> HTTPResponse) async throws -> HTTPResponse {
    do {
      return try await body()
    } catch let error as GraphError {
      return self.error(.unprocessableContent, error.userMessages.map { "\($0)" })
    } catch is DecodingError {
      return error(.badRequest, ["the body is no JSON of a book"])
    }
  }

  private static func error(_ status: HTTPStatusCode, _ messages: [String]) -> HTTPResponse {
    (try? json(["errors": messages], status)) ?? HTTPResponse(statusCode: status)
  }

  private static func json(_ value: some Encodable, _ status: HTTPStatusCode = .ok) throws -> HTTPResponse {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    return HTTPResponse(
      statusCode: status, headers: [.contentType: "application/json"], body: try encoder.encode(value) + Data("\n".utf8)
    )
  }
}
