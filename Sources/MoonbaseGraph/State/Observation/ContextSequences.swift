/// The sequences of a context's saves.
struct SaveSequences {
  let willSave = NotificationListeners<ChangedObjectIDs>()
  let didSave = NotificationListeners<SavedObjectIDs>()
}
