/// Access by typed keys of an object's own class, and requests for objects of the class.
///
/// Every `ManagedObject` conforms, and no other type should. Only a protocol allows `Self` as the class in a parameter:
/// a key of `Employee` does not compile with a `Person`. For the key of a parent class, use the parent's property, or
/// `(employee as Person)[Person.age]`.
public protocol TypedObject: AnyObject {}
