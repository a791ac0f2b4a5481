// fs:list: what stands in a folder.
import { z } from 'zod'
import { defineAbility } from '../../bus/ability.ts'
import type { Entry, FilesRoot } from './files-root.ts'

const mostEntries = 500
const deepest = 8

/** Folder by folder, each before what is in it. */
export function fsList(root: FilesRoot) {
  return defineAbility({
    id: 'fs:list',
    access: 'read',
    description:
      'Lists files and folders. Paths begin at the folder that may be read. Hidden files (names with a leading dot) are left out.',
    input: z.strictObject({
      path: z.string().default('.').describe('The folder. Default: the top one.'),
      depth: z.int().min(1).max(deepest).default(1).describe('How many levels of folders to list. Default 1.'),
    }),
    output: z.strictObject({
      entries: z.array(
        z.strictObject({ path: z.string(), kind: z.enum(['file', 'folder']), bytes: z.number().optional() }),
      ),
      /** There is more than was listed. */
      truncated: z.boolean(),
    }),
    onInterrupt: 'rerun',
    async handle({ path, depth }, { signal }) {
      const entries: Entry[] = []
      const list = async (folder: string, levels: number): Promise<void> => {
        for (const entry of await root.entries(folder)) {
          signal.throwIfAborted()
          if (entries.length > mostEntries) return
          const { isLink = false, ...shown } = entry
          entries.push(shown)
          if (entry.kind === 'folder' && levels > 1 && !isLink) await list(entry.path, levels - 1)
        }
      }
      await list(path, depth)
      return { entries: entries.slice(0, mostEntries), truncated: entries.length > mostEntries }
    },
  })
}
