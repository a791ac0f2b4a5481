// fs:search: the lines in which a text occurs. A plain text and no pattern: a pattern of a model's could keep the process busy
// for ever.
import { z } from 'zod'
import { defineAbility } from '../../bus/ability.ts'
import { ErrandError } from '../../errors.ts'
import type { Entry, FilesRoot } from './files-root.ts'
import { linesOf } from './read.ts'

const mostMatches = 100
const mostFiles = 2_000
const longestLine = 300
/** Installed packages: large, and seldom what is meant. They can still be listed and read. */
const skippedFolder = 'node_modules'

export function fsSearch(root: FilesRoot) {
  return defineAbility({
    id: 'fs:search',
    access: 'read',
    description: `Finds the lines of text files in which a text occurs, in a folder and all below it. At most ${mostMatches} lines.`,
    input: z.strictObject({
      text: z.string().min(1).max(1_000).describe('What to look for: a plain text, no pattern.'),
      path: z.string().default('.').describe('The folder or file to look in. Default: the top folder.'),
      ignoreCase: z.boolean().default(true).describe('Default true.'),
    }),
    output: z.strictObject({
      matches: z.array(z.strictObject({ path: z.string(), line: z.int(), text: z.string() })),
      /** Files that were looked into. */
      files: z.int(),
      /** There may be more than was found. */
      truncated: z.boolean(),
    }),
    onInterrupt: 'rerun',
    async handle({ text, path, ignoreCase }, { signal }) {
      const fold = (line: string) => (ignoreCase ? line.toLowerCase() : line)
      const wanted = fold(text)
      const found: Array<{ path: string; line: number; text: string }> = []
      let files = 0
      for await (const file of filesBelow(root, path)) {
        signal.throwIfAborted()
        if (files === mostFiles || found.length > mostMatches)
          return { matches: found.slice(0, mostMatches), files, truncated: true }
        const content = await textOrNothing(root, file)
        if (content === undefined) continue
        files++
        for (const [index, line] of linesOf(content).entries()) {
          if (fold(line).includes(wanted)) found.push({ path: file, line: index + 1, text: line.slice(0, longestLine) })
        }
      }
      return { matches: found.slice(0, mostMatches), files, truncated: found.length > mostMatches }
    },
  })
}

async function* filesBelow(root: FilesRoot, path: string): AsyncGenerator<string> {
  let entries: Entry[]
  try {
    entries = await root.entries(path)
  } catch (error) {
    // What is no folder may be a file; whether it may be read is judged when it is.
    if (!ErrandError.isInstance(error) || error.code !== 'INVALID_INPUT') throw error
    yield path
    return
  }
  // A folder that is a link to one above it would be walked for ever: links to folders are listed, not searched.
  for (const entry of entries) if (entry.kind === 'file') yield entry.path
  for (const entry of entries) {
    if (entry.kind === 'folder' && !entry.isLink && !entry.path.endsWith(skippedFolder))
      yield* filesBelow(root, entry.path)
  }
}

/** Undefined for what is no text, too large, or gone. */
async function textOrNothing(root: FilesRoot, path: string): Promise<string | undefined> {
  try {
    return await root.text(path)
  } catch (error) {
    if (!ErrandError.isInstance(error)) throw error
    return undefined
  }
}
