// What is expensive to make and may never be needed (a schema, a compiled statement) is made when it is first used, so that a program pays
// for loading what it uses only.

/** A function that returns what `make` made at its first call. */
export function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}
