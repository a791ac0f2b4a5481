// The abilities fs:list, fs:read and fs:search: read-only access to text files in one folder. An engine has them only if it is given
// them.

import { z } from 'zod'
import { defineAbility } from '../../bus/ability.ts'
import { ErrandError } from '../../core/errors.ts'
import { startOf } from '../../core/storable-text.ts'
import { type Entry, FilesRoot } from './files-root.ts'

/**
 * Read-only abilities over one folder, for `createEngine({ abilities })`. Paths outside of it (also through links) and hidden files and
 * folders (names with a leading dot) cannot be reached. Files above 4 MiB, files with hard links and files that are not UTF-8 text
 * are not read.
 *
 * @example
 * const engine = await createEngine({ model, abilities: fileAbilities('docs') })
 * @param folder relative to the working directory of the process, or absolute.
 * @throws ErrandError NOT_FOUND { folder } if the folder does not exist.
 */
export function fileAbilities(folder: string) {
  const root = new FilesRoot(folder)
  return [fsList(root), fsRead(root), fsSearch(root)]
}

// ── fs:list ──

const maxEntries = 500
const maxDepth = 8

/** Each folder is listed before its contents. */
function fsList(root: FilesRoot) {
  return defineAbility({
    id: 'fs:list',
    access: 'read',
    description:
      'Lists files and folders. Paths are relative to the readable folder. Hidden files (names with a leading dot) are omitted.',
    input: z.strictObject({
      path: z.string().default('.').describe('The folder to list. Default: the top folder.'),
      depth: z.int().min(1).max(maxDepth).default(1).describe('Number of folder levels to list. Default 1.'),
    }),
    output: z.strictObject({
      entries: z.array(
        z.strictObject({ path: z.string(), kind: z.enum(['file', 'folder']), bytes: z.number().optional() }),
      ),
      /** True if there are more entries. */
      truncated: z.boolean(),
    }),
    onInterrupt: 'rerun',
    async handle({ path, depth }, { signal }) {
      const entries: Entry[] = []
      const list = async (folder: string, levels: number): Promise<void> => {
        for (const entry of await root.entries(folder)) {
          signal.throwIfAborted()
          if (entries.length > maxEntries) return
          const { isLink = false, ...shown } = entry
          entries.push(shown)
          if (entry.kind === 'folder' && levels > 1 && !isLink) await list(entry.path, levels - 1)
        }
      }
      await list(path, depth)
      return { entries: entries.slice(0, maxEntries), truncated: entries.length > maxEntries }
    },
  })
}

// ── fs:read ──

const defaultLines = 500
const maxLines = 2_000
/** Maximum number of characters returned by one call. */
const maxCharacters = 50_000

function fsRead(root: FilesRoot) {
  return defineAbility({
    id: 'fs:read',
    access: 'read',
    description: `Reads a text file: at most ${defaultLines} lines at once unless more are asked for, from \`fromLine\` on.`,
    input: z.strictObject({
      path: z.string().min(1).describe('Path of the file, relative to the readable folder, like "notes/plan.md".'),
      fromLine: z.int().min(1).default(1).describe('First line to return. Default 1.'),
      lines: z
        .int()
        .min(1)
        .max(maxLines)
        .default(defaultLines)
        .describe(`Maximum number of lines. Default ${defaultLines}.`),
    }),
    output: z.strictObject({
      text: z.string(),
      /** The first and the last line in `text`, counted from 1; both 0 if there is none. */
      fromLine: z.int(),
      toLine: z.int(),
      /** Number of lines of the whole file. */
      totalLines: z.int(),
      /** Number of characters cut from the end of the last returned line; above 0 only for very long lines. */
      cutCharacters: z.int(),
    }),
    onInterrupt: 'rerun',
    async handle({ path, fromLine, lines }) {
      const all = linesOf(await root.text(path))
      const given = fittingLines(all.slice(fromLine - 1, fromLine - 1 + lines))
      const whole = given.join('\n')
      const text = startOf(whole, maxCharacters)
      const last = given.length
      return {
        text,
        fromLine: last === 0 ? 0 : fromLine,
        toLine: last === 0 ? 0 : fromLine - 1 + last,
        totalLines: all.length,
        cutCharacters: whole.length - text.length,
      }
    },
  })
}

function linesOf(text: string): string[] {
  const lines = text.split(/\r?\n/)
  if (lines.at(-1) === '') lines.pop()
  return lines
}

/** As many whole lines as fit, but at least the first. */
function fittingLines(lines: readonly string[]): string[] {
  let characters = 0
  const end = lines.findIndex((line, index) => {
    characters += line.length + 1
    return characters > maxCharacters && index > 0
  })
  return end === -1 ? [...lines] : lines.slice(0, end)
}

// ── fs:search ──

const maxMatches = 100
const maxFiles = 2_000
const maxLineLength = 300
/** Installed packages are large and rarely the target of a search. They can still be listed and read. */
const skippedFolder = 'node_modules'

/** Searches plain text: a regular expression from a model could block the process indefinitely. */
function fsSearch(root: FilesRoot) {
  return defineAbility({
    id: 'fs:search',
    access: 'read',
    description: `Finds the lines of text files in which a text occurs, in a folder and all below it. At most ${maxMatches} lines.`,
    input: z.strictObject({
      text: z.string().min(1).max(1_000).describe('Text to search for. Not a pattern.'),
      path: z.string().default('.').describe('The folder or file to search. Default: the top folder.'),
      ignoreCase: z.boolean().default(true).describe('Default true.'),
    }),
    output: z.strictObject({
      matches: z.array(z.strictObject({ path: z.string(), line: z.int(), text: z.string() })),
      /** Number of files searched. */
      files: z.int(),
      /** True if there may be more matches. */
      truncated: z.boolean(),
    }),
    onInterrupt: 'rerun',
    async handle({ text, path, ignoreCase }, { signal }) {
      const fold = (line: string) => (ignoreCase ? line.toLowerCase() : line)
      const needle = fold(text)
      const found: Array<{ path: string; line: number; text: string }> = []
      let files = 0
      for await (const file of filesBelow(root, path)) {
        signal.throwIfAborted()
        if (files === maxFiles || found.length > maxMatches)
          return { matches: found.slice(0, maxMatches), files, truncated: true }
        const content = await textIfReadable(root, file)
        if (content === undefined) continue
        files++
        for (const [index, line] of linesOf(content).entries()) {
          if (fold(line).includes(needle))
            found.push({ path: file, line: index + 1, text: startOf(line, maxLineLength) })
        }
      }
      return { matches: found.slice(0, maxMatches), files, truncated: found.length > maxMatches }
    },
  })
}

async function* filesBelow(root: FilesRoot, path: string): AsyncGenerator<string> {
  let entries: Entry[]
  try {
    entries = await root.entries(path)
  } catch (error) {
    // INVALID_INPUT means that the path is not a folder. It may be a file, which is validated when it is read.
    if (!ErrandError.isInstance(error) || error.code !== 'INVALID_INPUT') throw error
    yield path
    return
  }
  // Links to folders are listed but not searched: one that leads to a parent folder would be walked endlessly.
  for (const entry of entries) if (entry.kind === 'file') yield entry.path
  for (const entry of entries) {
    if (entry.kind === 'folder' && !entry.isLink && !entry.path.endsWith(skippedFolder))
      yield* filesBelow(root, entry.path)
  }
}

/** Undefined for a file that is not text, too large or deleted. */
async function textIfReadable(root: FilesRoot, path: string): Promise<string | undefined> {
  try {
    return await root.text(path)
  } catch (error) {
    if (!ErrandError.isInstance(error)) throw error
    return undefined
  }
}
