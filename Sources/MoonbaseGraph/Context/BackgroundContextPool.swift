import MoonbaseModel
import MoonbasePlatform

/// A bounded number of background contexts that tasks use one after the other. Threads, and the Lua states of
/// extensions, are used again. Each task gets a new context.
package final class BackgroundContextPool: Sendable {
  private let turns: TurnQueue
  private let idle = Lock<[BackgroundContext]>([])
  private let make: @Sendable () throws -> BackgroundContext

  package init(limit: Int, _ make: @escaping @Sendable () throws -> BackgroundContext) {
    turns = TurnQueue(limit: limit, name: "a context of the container's pool")
    self.make = make
  }

  /// Runs `body` with a context of its own. Waits where as many as the limit allows are in use, in the order of the
  /// calls.
  package nonisolated(nonsending) func withContext<Output>(
    _ body: sending nonisolated(nonsending) (ManagedObjectContext) async throws -> sending Output
  ) async throws -> sending Output {
    let turn = try await turns.take()
    defer { turn.end() }
    let background = try idle.withLock({ $0.popLast() }) ?? make()
    nonisolated(unsafe) let body = body  // sound: only the context below gets it
    nonisolated(unsafe) let output = try await HeldTurn.$current.withValue(turn) {  // sound: `body` gives it away
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

  /// A context that cannot be made anew is given up with its thread and its Lua state.
  private nonisolated(nonsending) func giveBack(_ background: BackgroundContext) async {
    guard (try? await background.renew()) != nil else { return }
    idle.withLock { if !turns.isClosed { $0.append(background) } }
  }

  /// Refuses waiting and later calls with an error, and releases the contexts that are not in use.
  package func close(_ error: GraphError) {
    turns.close(error)
    idle.withLock { $0 = [] }
  }
}
