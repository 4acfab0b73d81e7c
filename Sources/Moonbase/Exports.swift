// `import Moonbase` gives an app all names that it needs. The names of the graph and of the protocol of stores below it
// are listed individually: pages, snapshots, cells, cursors and sessions are for authors of stores, in the product
// `MoonbaseStoreKit`.

@_exported public import MoonbaseModel
@_exported public import MoonbaseModelFormats
@_exported public import MoonbaseSQLiteStore
@_exported public import MoonbaseSQLiteTools
@_exported public import MoonbaseLuaModel
@_exported public import MoonbaseScripting
@_exported public import MoonbaseTypedPredicates
@_exported public import MoonbaseFetchedResults
@_exported public import MoonbaseHistory
@_exported public import MoonbaseBatchRequests

@_exported public import struct MoonbaseGraph.Attribute
@_exported public import protocol MoonbaseGraph.AttributeValue
@_exported public import class MoonbaseGraph.BackgroundContext
@_exported public import class MoonbaseGraph.ChangeObservation
@_exported public import struct MoonbaseGraph.ChangedObjectIDs
@_exported public import struct MoonbaseGraph.ClosureExtensions
@_exported public import struct MoonbaseGraph.ContextChange
@_exported public import struct MoonbaseGraph.ContextSave
@_exported public import struct MoonbaseGraph.DerivedAttribute
@_exported public import struct MoonbaseGraph.EntityExtension
@_exported public import protocol MoonbaseGraph.ExtensionProvider
@_exported public import class MoonbaseGraph.ExtensionRegistry
@_exported public import struct MoonbaseGraph.FetchBatches
@_exported public import enum MoonbaseGraph.FetchResult
@_exported public import class MoonbaseGraph.FetchedObjects
@_exported public import protocol MoonbaseGraph.GraphMeter
@_exported public import struct MoonbaseGraph.GraphOperation
@_exported public import struct MoonbaseGraph.LazyFetchResults
@_exported public import struct MoonbaseGraph.LifecycleHooks
@_exported public import class MoonbaseGraph.ManagedObject
@_exported public import class MoonbaseGraph.ManagedObjectContext
@_exported public import struct MoonbaseGraph.MergeConflict
@_exported public import class MoonbaseGraph.MergeObservation
@_exported public import struct MoonbaseGraph.MergePolicy
@_exported public import struct MoonbaseGraph.MutableObjectSet
@_exported public import struct MoonbaseGraph.MutableOrderedObjectSet
@_exported public import struct MoonbaseGraph.ObjectChange
@_exported public import class MoonbaseGraph.Observation
@_exported public import struct MoonbaseGraph.ObservedChange
@_exported public import class MoonbaseGraph.PersistentStoreCoordinator
@_exported public import struct MoonbaseGraph.PropertyKeyPath
@_exported public import class MoonbaseGraph.SaveObservation
@_exported public import struct MoonbaseGraph.SnapshotEventType
@_exported public import struct MoonbaseGraph.ToMany
@_exported public import struct MoonbaseGraph.ToOne
@_exported public import struct MoonbaseGraph.TypedFetchRequest
@_exported public import struct MoonbaseGraph.TypedFetchedObjects
@_exported public import protocol MoonbaseGraph.TypedObject
@_exported public import class MoonbaseGraph.UndoManager
@_exported public import struct MoonbaseGraph.ValidationContext
@_exported public import struct MoonbaseGraph.ValueClass
@_exported public import struct MoonbaseGraph.ValueTransformer

@_exported public import enum MoonbaseStore.BatchResultType
@_exported public import class MoonbaseStore.BatchUpdateFunction
@_exported public import struct MoonbaseStore.GraphError
@_exported public import class MoonbaseStore.InMemoryStore
@_exported public import struct MoonbaseStore.MissingFeature
@_exported public import struct MoonbaseStore.PersistentHistoryChange
@_exported public import struct MoonbaseStore.PersistentHistoryToken
@_exported public import struct MoonbaseStore.PersistentHistoryTransaction
@_exported public import protocol MoonbaseStore.PersistentStore
@_exported public import struct MoonbaseStore.PersistentStoreRemoteChange
@_exported public import class MoonbaseStore.RemoteChangeObservation
@_exported public import struct MoonbaseStore.SaveConflict
@_exported public import struct MoonbaseStore.SavedObjectIDs
