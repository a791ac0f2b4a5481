// A selection of task trees by the keys of their roots, as in `work({ only })`.
import type { Task } from './task.ts'

/** The trees whose root has one of these keys, or a key that begins with one of these prefixes. */
export interface Trees {
  rootKeys: readonly string[]
  rootKeyPrefixes: readonly string[]
}

export function isRootOf(
  { rootKeys, rootKeyPrefixes }: Trees,
  { parentId, key }: Pick<Task, 'parentId' | 'key'>,
): boolean {
  if (parentId !== null || key === null) return false
  return rootKeys.includes(key) || rootKeyPrefixes.some((prefix) => key.startsWith(prefix))
}
