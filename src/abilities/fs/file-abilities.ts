// The abilities with which an agent looks at local files: fs:list, fs:read, fs:search. They only read, only text, and only in
// one folder. An engine has them when it is given them.
import { z } from 'zod'
import { defineAbility } from '../../bus/ability.ts'
import { ErrandError } from '../../core/errors.ts'
import { type Entry, FilesRoot } from './files-root.ts'

/**
 * Read-only abilities over one folder, for `createEngine({ abilities })`. What lies outside of it (links that lead out
 * included) and whatever is hidden (a name with a leading dot, or inside such a folder) cannot be reached; files of more than
 * 4 MiB, files with hard links and files that are no UTF-8 text are not read.
 *
 * @example
 * const engine = await createEngine({ model, abilities: fileAbilities('docs') })
 * @param folder relative to the working directory of the process, or absolute.
 * @throws ErrandError NOT_FOUND { folder } when there is no such folder.
 */
export function fileAbilities(folder: string) {
  const root = new FilesRoot(folder)
  return [fsList(root), fsRead(root), fsSearch(root)]
}

// ── fs:list ──

const maxEntries = 500
const deepest = 8

/** Folder by folder, each before what is in it. */
function fsList(root: FilesRoot) {
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
/** What a model is given at once, whatever the lines are like. */
const maxCharacters = 50_000

function fsRead(root: FilesRoot) {
  return defineAbility({
    id: 'fs:read',
    access: 'read',
    description: `Reads a text file: at most ${defaultLines} lines at once unless more are asked for, from \`fromLine\` on.`,
    input: z.strictObject({
      path: z.string().min(1).describe('The file, from the folder that may be read on, like "notes/plan.md".'),
      fromLine: z.int().min(1).default(1).describe('The first line to give. Default 1.'),
      lines: z.int().min(1).max(maxLines).default(defaultLines).describe(`How many lines. Default ${defaultLines}.`),
    }),
    output: z.strictObject({
      text: z.string(),
      /** The first and the last line that are in `text`, counted from 1; both 0 when there is none. */
      fromLine: z.int(),
      toLine: z.int(),
      /** Lines of the whole file. */
      totalLines: z.int(),
      /** Characters that are missing from the end of the last line given; 0 but for very long lines. */
      cutCharacters: z.int(),
    }),
    onInterrupt: 'rerun',
    async handle({ path, fromLine, lines }) {
      const all = linesOf(await root.text(path))
      const given = fitting(all.slice(fromLine - 1, fromLine - 1 + lines))
      const text = given.join('\n')
      const last = given.length
      return {
        text: text.slice(0, maxCharacters),
        fromLine: last === 0 ? 0 : fromLine,
        toLine: last === 0 ? 0 : fromLine - 1 + last,
        totalLines: all.length,
        cutCharacters: Math.max(0, text.length - maxCharacters),
      }
    },
  })
}

function linesOf(text: string): string[] {
  const lines = text.split(/\r?\n/)
  if (lines.at(-1) === '') lines.pop()
  return lines
}

/** As many whole lines as may be given at once, but always the first. */
function fitting(lines: readonly string[]): string[] {
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
/** Installed packages: large, and seldom what is meant. They can still be listed and read. */
const skippedFolder = 'node_modules'

/** A plain text and no pattern: a pattern of a model's could keep the process busy for ever. */
function fsSearch(root: FilesRoot) {
  return defineAbility({
    id: 'fs:search',
    access: 'read',
    description: `Finds the lines of text files in which a text occurs, in a folder and all below it. At most ${maxMatches} lines.`,
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
        if (files === maxFiles || found.length > maxMatches)
          return { matches: found.slice(0, maxMatches), files, truncated: true }
        const content = await textOrNothing(root, file)
        if (content === undefined) continue
        files++
        for (const [index, line] of linesOf(content).entries()) {
          if (fold(line).includes(wanted))
            found.push({ path: file, line: index + 1, text: line.slice(0, maxLineLength) })
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
