// Reads a plan: its value, and the line and column of each part of it for error messages. The YAML parser reads JSON too: it reports
// positions and duplicate keys.
import { isUtf8 } from 'node:buffer'
import { readdir, readFile, realpath } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import {
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  type Pair,
  parseDocument,
  type Scalar,
  visit,
  type YAMLParseError,
} from 'yaml'
import { didYouMean } from '../core/did-you-mean.ts'
import { ErrandError, nearestName } from '../core/errors.ts'
import { isExact } from '../core/json-text.ts'
import { sentenceOf } from '../core/parse.ts'
import { startOf } from '../core/storable-text.ts'
import { messageOf } from '../core/stored-error.ts'
import { mergeKey, withMergedKeys } from './merge-keys.ts'

export type PlanPath = ReadonlyArray<string | number>

/** How many mappings and lists may stand inside each other, the plan itself included. */
const maxLevels = 64
const tooDeep = `The plan is nested too deep: at most ${maxLevels} mappings and lists may stand inside each other`

/** How many aliases a plan may have: each is resolved by a search through the anchors, and one anchor may expand others. */
const maxAliases = 1_000

export interface PlanSource {
  value: unknown
  /** An INVALID_PLAN error about a part of the plan, with its place. `at: 'key'` points at the key instead of its value. */
  error(path: PlanPath, message: string, options?: { at?: 'key'; details?: Record<string, unknown> }): ErrandError
}

/**
 * Reads a plan file. `path` is its real path.
 * @throws ErrandError NOT_FOUND when it cannot be read, INVALID_PLAN { file, line, column } when it is neither YAML nor JSON.
 */
export async function readPlanSource(file: string, cwd: string): Promise<PlanSource & { path: string }> {
  let bytes: Buffer
  let path: string
  try {
    path = await realpath(resolve(cwd, file))
    bytes = await readFile(path)
  } catch (error) {
    throw new ErrandError(
      'NOT_FOUND',
      `Cannot read the plan ${file}: ${await whyUnreadable(file, cwd, error)}`,
      { file },
      error,
    )
  }
  return { ...parsePlanSource(decode(bytes, file), file), path }
}

async function whyUnreadable(file: string, cwd: string, error: unknown): Promise<string> {
  if ((error as NodeJS.ErrnoException).code !== 'ENOENT') return `${messageOf(error)}.`
  const folder = resolve(cwd, dirname(file))
  const names = await readdir(folder).catch(() => [])
  const nearest = nearestName(basename(file), names)
  return `there is no such file.${didYouMean(nearest && join(dirname(file), nearest))}`
}

function decode(bytes: Buffer, file: string): string {
  const text = bytes.toString('utf8')
  if (isUtf8(bytes) && !text.includes('\0')) return text
  const bad = text.search(/[\ufffd\0]/)
  throw invalidPlan(
    file,
    { line: text.slice(0, bad).split('\n').length, col: bad - text.lastIndexOf('\n', bad) },
    'The file is not UTF-8 text. Save it as UTF-8',
    {},
  )
}

/**
 * A plan that is given as a value. Its errors name the path of the part.
 * @throws ErrandError INVALID_PLAN for one that is nested too deep.
 */
export function planValueSource(value: unknown): PlanSource {
  const error: PlanSource['error'] = (path, message, { details = {} } = {}) =>
    new ErrandError('INVALID_PLAN', [...(path.length === 0 ? [] : [path.join('.')]), sentenceOf(message)].join(': '), {
      path: path.join('.'),
      ...details,
    })
  const deep = firstBelow(value, maxLevels)
  if (deep !== undefined) throw error(deep.slice(0, 4), tooDeep)
  return { value, error }
}

/** Parses the text of a plan. */
export function parsePlanSource(text: string, file: string): PlanSource {
  try {
    return parseSource(text, file)
  } catch (error) {
    // Functions that walk the nodes are recursive.
    if (error instanceof RangeError && isOverflow(error.message)) throw invalidPlan(file, undefined, tooDeep, {})
    throw error
  }
}

function parseSource(text: string, file: string): PlanSource {
  const lines = new LineCounter()
  const document = parseDocument(text.replace(/^\ufeff/, ''), {
    lineCounter: lines,
    prettyErrors: false,
    // The parser compares each key with all before it, which takes quadratic time; `visit` below uses a set.
    uniqueKeys: false,
  })
  const refuse = (offset: number | undefined, message: string, details: Record<string, unknown> = {}) =>
    invalidPlan(file, offset === undefined ? undefined : lines.linePos(offset), message, details)

  const first = document.errors[0]
  if (first !== undefined) throw refuse(first.pos[0], betterMessage(first) ?? first.message)
  // In the order of the document, so an alias has the anchors before it. `alias.resolve` would search the whole document for each.
  const anchors = new Set<string>()
  const scalars = new WrittenScalars()
  let aliases = 0
  let merges = false
  visit(document, {
    Seq(_key, { anchor }) {
      if (anchor !== undefined) anchors.add(anchor)
    },
    Map(_key, { items, anchor }) {
      if (anchor !== undefined) anchors.add(anchor)
      const given = new Set<unknown>()
      for (const { key } of items) {
        if (isAlias(key)) throw refuse(key.range?.[0], 'An alias cannot be a key. Write the name itself')
        if (!isScalar(key)) continue
        if (given.has(key.value)) throw refuse(key.range?.[0], duplicateKey(key))
        given.add(key.value)
        if (key.value === mergeKey) merges = true
      }
    },
    Scalar(place, scalar) {
      const { value, source, range, anchor } = scalar
      if (anchor !== undefined) anchors.add(anchor)
      if (source === undefined || (typeof value !== 'number' && typeof value !== 'boolean')) return
      const written = { value, text: source, offset: range?.[0] }
      if (place === 'key') exactly(written, refuse)
      else scalar.value = scalars.symbolFor(written)
    },
    Alias(_key, { source, range }) {
      if (!anchors.has(source)) throw refuse(range?.[0], `The alias *${source} has no anchor before it`)
      aliases += 1
      if (aliases > maxAliases)
        throw refuse(range?.[0], `The plan has more than ${maxAliases} aliases. Write some of the values out`)
    },
  })
  let value: unknown
  try {
    value = document.toJS({ maxAliasCount: maxAliases })
  } catch (error) {
    if (error instanceof RangeError) throw error
    throw refuse(0, messageOf(error))
  }
  const deep = firstBelow(value, maxLevels)
  if (deep !== undefined) throw refuse(offsetOf(document.contents, deep), tooDeep)
  const error: PlanSource['error'] = (path, message, options) =>
    refuse(offsetOf(document.contents, path, options?.at), message, options?.details)
  if (merges) value = withMergedKeys(value, (path, message) => error(path, message, { at: 'key' }))
  return { value: scalars.settle(value, refuse), error }
}

/** A better message for some errors of the parser. */
function betterMessage({ code, message }: YAMLParseError): string | undefined {
  if (isOverflow(message)) return tooDeep
  return code === 'MULTIPLE_DOCS' ? 'A plan is one document, and a second one begins here' : undefined
}

function duplicateKey(key: Scalar): string {
  return `The name ${key.source ?? String(key.value)} is given twice: each may stand once in its mapping`
}

function isOverflow(message: string): boolean {
  return /call stack/.test(message)
}

function invalidPlan(
  file: string,
  position: { line: number; col: number } | undefined,
  message: string,
  details: Record<string, unknown>,
): ErrandError {
  const sentence = sentenceOf(message)
  if (position === undefined) return new ErrandError('INVALID_PLAN', `${file}: ${sentence}`, { file, ...details })
  const { line, col: column } = position
  return new ErrandError('INVALID_PLAN', `${file}:${line}:${column}: ${sentence}`, { file, line, column, ...details })
}

/**
 * Path of the first mapping or list inside `levels` others; undefined for none. `seen` holds with how many levels left each value was
 * visited: an alias is one value at several places, and is visited again only further down.
 */
function firstBelow(value: unknown, levels: number, seen = new Map<object, number>()): string[] | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  if (levels === 0) return []
  if ((seen.get(value) ?? Number.POSITIVE_INFINITY) <= levels) return undefined
  seen.set(value, levels)
  for (const [key, inner] of Object.entries(value)) {
    const path = firstBelow(inner, levels - 1, seen)
    if (path !== undefined) return [key, ...path]
  }
  return undefined
}

/** Offset of the part at a path; for a path that does not exist, of the part that should hold it. */
function offsetOf(root: Node | null, path: PlanPath, at?: 'key'): number | undefined {
  let node: unknown = root
  let offset = root?.range?.[0]
  for (const [depth, step] of path.entries()) {
    const pair: Pair | undefined = isMap(node) ? node.items.find((item) => keyOf(item) === String(step)) : undefined
    const inner: unknown = pair !== undefined ? pair.value : isSeq(node) ? node.items[Number(step)] : undefined
    const keyOffset = isNode(pair?.key) ? pair.key.range?.[0] : undefined
    if (inner === undefined && keyOffset === undefined) return offset
    const valueOffset = isNode(inner) ? inner.range?.[0] : undefined
    offset = at === 'key' && depth === path.length - 1 ? (keyOffset ?? valueOffset) : (valueOffset ?? keyOffset)
    if (inner === undefined || inner === null || isAlias(inner)) return offset
    node = inner
  }
  return offset
}

function keyOf(pair: Pair): string {
  return isScalar(pair.key) ? String(pair.key.value) : String(pair.key)
}

// The variables of a plan are texts as they are written: `3.10` stays `3.10` in `env`, and is a number everywhere else. A mapping of variables may
// stand elsewhere and come to its place by an alias or a merge key, so numbers and booleans are symbols until all mappings are in their places.

interface Written {
  value: number | boolean
  text: string
  offset: number | undefined
}

type Mapping = Record<string, unknown>
type Refuse = (offset: number | undefined, message: string) => Error

class WrittenScalars {
  readonly #written = new Map<unknown, Written>()

  /** Stands for the value until `settle`. */
  symbolFor(written: Written): symbol {
    const symbol = Symbol(written.text)
    this.#written.set(symbol, written)
    return symbol
  }

  /**
   * The plan with texts in its variables, and values everywhere else.
   * @throws what `refuse` returns, for a number that cannot be stored exactly
   */
  settle(plan: unknown, refuse: Refuse): unknown {
    this.#settleVariables(plan, new Set())
    return this.#settleValues(plan, refuse, new Set())
  }

  /** @param seen what an alias puts at several places is settled once */
  #settleVariables(task: unknown, seen: Set<unknown>): void {
    if (!isMapping(task) || seen.has(task)) return
    seen.add(task)
    const { env, tasks } = task
    if (isMapping(env)) {
      task['env'] = Object.fromEntries(
        Object.entries(env).map(([name, value]) => [name, this.#written.get(value)?.text ?? value]),
      )
    }
    if (isMapping(tasks)) for (const each of Object.values(tasks)) this.#settleVariables(each, seen)
  }

  #settleValues(value: unknown, refuse: Refuse, seen: Set<unknown>): unknown {
    const written = this.#written.get(value)
    if (written !== undefined) return exactly(written, refuse)
    if (typeof value !== 'object' || value === null || seen.has(value)) return value
    seen.add(value)
    for (const [key, inner] of Object.entries(value)) (value as Mapping)[key] = this.#settleValues(inner, refuse, seen)
    return value
  }
}

/** @throws what `refuse` returns, for a number that cannot be stored exactly */
function exactly({ value, text, offset }: Written, refuse: Refuse): number | boolean {
  if (typeof value === 'boolean' || !Number.isFinite(value) || isExact(value, text)) return value
  throw refuse(offset, `The number ${startOf(text, 40)} cannot be stored exactly. Write it as text, in quotes`)
}

function isMapping(value: unknown): value is Mapping {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
