import MoonbaseModel
import MoonbasePlatform

/// A bounded number of background contexts for use by tasks.
///
/// Threads and the Lua states of extensions are reused. Each task gets a new context.
///
/// Owned by a container. A context is renewed after each use, so that no object or change passes from one task to the
/// next. Thread-safe.
package final class BackgroundContextPool: Sendable {
  /// Limits the contexts in use.
  private let turns: TurnQueue
  /// The renewed contexts.
  private let idle = Lock<[BackgroundContext]>([])
  /// Makes a context on a new thread.
  private let make: @Sendable () throws -> BackgroundContext

  /// Makes a pool with at most `limit` contexts, which `make` makes when they are needed.
  package init(limit: Int, _ make: @escaping @Sendable () throws -> BackgroundContext) {
    turns = TurnQueue(limit: limit, name: "a context of the container's pool")
    self.make = make
  }

  /// Runs `body` with a context of its own. If all contexts are in use, calls wait in their order. Throws
  /// `CancellationError` while waiting, the error of a closed pool, errors of `make`, and those of `body`.
  package nonisolated(nonsending) func withContext<Output>(
    _ body: sending nonisolated(nonsending) (ManagedObjectContext) async throws -> sending Output
  ) async throws -> sending Output {
    let turn = try await turns.acquire()
    defer { turn.end() }
    let background = try idle.withLock({ $0.popLast() }) ?? make()
    nonisolated(unsafe) let body = body  // sound: passed only to the context below
    nonisolated(unsafe) let output = try await HeldTurn.$current.withValue(turn) {  // sound: `body` sends it
      do {
        let output = try await background.performOnce(body)
        await self.giveBack(background)
        return output
      } catch {
        await self.giveBack(background)
        throw error
      }
    }
    return output
  }

  /// A context whose renewal fails is released together with its thread and its Lua state. A closed pool keeps no
  /// context.
  private nonisolated(nonsending) func giveBack(_ background: BackgroundContext) async {
    guard (try? await background.renew()) != nil else { return }
    idle.withLock { if !turns.isClosed { $0.append(background) } }
  }

  /// Refuses all waiting and later calls with an error, and releases the idle contexts. Running tasks continue.
  package func close(_ error: GraphError) {
    turns.close(error)
    idle.withLock { $0 = [] }
  }
}
