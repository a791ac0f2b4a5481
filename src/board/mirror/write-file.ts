// Writes a file completely or not at all, and never over content that nothing has read. The new text is written under a name of its
// own, which then replaces the file's name atomically, so readers find the old text or the new one.
//
// Concurrent edits: a program that writes into the old file (in place, or through an open handle) is noticed, because the old file
// keeps a second name for a while and is read again. A program that replaces the file is noticed if it does so before the last read;
// within the few microseconds between that read and the rename its file would be lost unread, because Node has no call that
// exchanges two files. So where programs may be replacing files, the order is reversed: the existing file is moved aside first, then
// the new text takes the name if it is still free. This loses nothing, but for those microseconds the file does not exist.
import { type FileState, type FolderFiles, inodeIn } from './folder-files.ts'

/** Names for new and old files: below the folder itself, so that renames stay within the file system. */
export interface Staging {
  readonly files: FolderFiles
  /** Unique names. */
  newName(number: number): string
  oldName(number: number): string
}

/** The staging of one writer, identified by `id`, which makes its names unique. */
export function createStaging(files: FolderFiles, id: string, beginning: string): Staging {
  let drawn = 0
  const draw = (number: number): string => `${beginning}${number}-${id}-${++drawn}`
  return { files, newName: (number) => `${draw(number)}.new`, oldName: (number) => `${draw(number)}.old` }
}

export type Written =
  /** `old`: the second name of the replaced file; undefined if there was none, or the file system has no hard links. */
  | { kind: 'written'; old: string | undefined }
  /** `old`: a file that was moved aside and could not be moved back, because its name is taken again. */
  | { kind: 'changed'; old?: string }

/** How an existing file is replaced: atomically, or moved aside first, which is safe against programs that replace it as well. */
export type WriteMode = 'replace' | 'move aside'

/**
 * Replaces a file with the content `known`, or creates one (null). 'changed': the file has another content, and stays. A file that is
 * moved aside is not read before; the caller reads the old file.
 */
export function writeFile(
  staging: Staging,
  name: string,
  number: number,
  text: string,
  known: string | null,
  mode: WriteMode = 'replace',
): Written {
  const { files } = staging
  const fresh = staging.newName(number)
  files.create(fresh, text)
  const written =
    known === null
      ? putInPlace(staging, fresh, name)
      : mode === 'move aside'
        ? exchange(staging, fresh, name, number)
        : replace(staging, fresh, name, number, known)
  files.remove(fresh)
  return written
}

function exchange(staging: Staging, fresh: string, name: string, number: number): Written {
  const old = staging.oldName(number)
  if (!staging.files.rename(name, old)) return { kind: 'changed' }
  return { kind: putInPlace(staging, fresh, name).kind, old }
}

function putInPlace({ files }: Staging, fresh: string, name: string): Written {
  const linked = files.link(fresh, name)
  if (linked === 'done') return { kind: 'written', old: undefined }
  if (linked !== 'unknown' || files.mark(name) !== undefined) return { kind: 'changed' }
  return files.rename(fresh, name) ? { kind: 'written', old: undefined } : { kind: 'changed' }
}

function replace(staging: Staging, fresh: string, name: string, number: number, known: string): Written {
  const { files } = staging
  const old = staging.oldName(number)
  const linked = files.link(name, old)
  if (linked === 'missing' || linked === 'taken') return { kind: 'changed' }
  const second = linked === 'done' ? old : undefined
  const state = files.read(second ?? name, true)
  const moved = hasText(state, known) && isSameFile(state, files.mark(name)) && files.rename(fresh, name)
  if (moved) return { kind: 'written', old: second }
  if (second !== undefined) files.remove(second)
  return { kind: 'changed' }
}

/** Moves a file with the content `known` aside. 'changed': the file has another content, and stays. */
export function takeAway(staging: Staging, name: string, number: number, known: string): Written {
  const { files } = staging
  const old = staging.oldName(number)
  // Moved aside before it is read: then it can no longer be replaced.
  if (!files.rename(name, old)) return { kind: 'changed' }
  if (hasText(files.read(old, true), known)) return { kind: 'written', old }
  return putBack(files, old, name) ? { kind: 'changed' } : { kind: 'changed', old }
}

function putBack(files: FolderFiles, old: string, name: string): boolean {
  const linked = files.link(old, name)
  if (linked === 'unknown' && files.mark(name) === undefined) return files.rename(old, name)
  if (linked === 'done') files.remove(old)
  return linked === 'done'
}

function hasText(state: FileState, text: string): boolean {
  return state.kind === 'text' && state.text === text
}

function isSameFile(state: FileState, mark: string | undefined): boolean {
  return state.kind === 'text' && inodeIn(mark) === inodeIn(state.mark)
}
