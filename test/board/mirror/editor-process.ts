// A program without access to the ledger: reads task files, changes a key of its own, writes them back (by replacing the file or in
// place), and reads until its change was taken over. It records faults: a torn or missing file, a version that goes back, an edit that was
// not taken over.
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

export interface EditorOrders {
  dir: string
  editor: number
  how: 'rename' | 'in place'
  /** Files that only it and the mirror write. */
  own: number[]
  /** Files that it only reads, written by the mirror or replaced atomically by others. */
  read: number[]
  /** Files that only the mirror writes: their version never goes back. */
  steady: number[]
  /** Milliseconds. */
  time: number
}

export interface EditorReport {
  taken: number
  /** The latest value that was taken over, by file. */
  last: Record<number, number>
  /** Edits that were meant to be refused, by content. */
  forbidden: string[]
  torn: string[]
  missing: string[]
  /** How often a file was missing for a moment. */
  briefly: number
  wentBack: string[]
  /** Edits that were not taken over. */
  lost: string[]
  reads: number
}

const orders = JSON.parse(process.argv[2] as string) as EditorOrders
const { dir, editor, how, own, steady, time } = orders
const key = `editor${editor}`
const report: EditorReport = {
  taken: 0,
  last: {},
  forbidden: [],
  torn: [],
  missing: [],
  briefly: 0,
  wentBack: [],
  lost: [],
  reads: 0,
}
/** How long it waits for an edit to be taken over, in milliseconds; far more than needed. */
const patience = 8_000
const pathOf = (number: number) => join(dir, `task_${number}.json`)
const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))
const versions = new Map<number, number>()
let drawn = 0

type Json = Record<string, any>

/** Reads a file, again if it is missing for a moment while another program replaces it. */
function textOf(number: number): string | undefined {
  const until = Date.now() + 500
  for (let tries = 0; Date.now() < until; tries++) {
    try {
      const text = readFileSync(pathOf(number), 'utf8')
      if (tries > 0) report.briefly++
      return text
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    }
  }
  report.missing.push(`task ${number}`)
  return undefined
}

function read(number: number): Json | undefined {
  report.reads++
  const text = textOf(number)
  if (text === undefined) return undefined
  try {
    return JSON.parse(text) as Json
  } catch {
    report.torn.push(`task ${number}: ${text.slice(0, 40)}… (${text.length})`)
    return undefined
  }
}

function write(number: number, value: Json): void {
  const text = JSON.stringify(value, null, 2)
  if (how === 'in place') {
    writeFileSync(pathOf(number), text)
    return
  }
  const fresh = join(dir, `.editor-${editor}-${++drawn}`)
  writeFileSync(fresh, text)
  renameSync(fresh, pathOf(number))
}

function lookAround(): void {
  for (const number of [...orders.read, ...steady]) {
    const value = read(number)
    if (value === undefined || !steady.includes(number)) continue
    const before = versions.get(number) ?? 0
    if (value['version'] < before) report.wentBack.push(`task ${number}: ${before} to ${value['version']}`)
    versions.set(number, Math.max(before, value['version']))
  }
}

/** Reads until the mirror has written the edit; false if it never does. */
async function isTaken(number: number, version: number, fits: (value: Json) => boolean): Promise<boolean> {
  const until = Date.now() + patience
  while (Date.now() < until) {
    const value = read(number)
    if (value !== undefined && value['version'] >= version && fits(value)) return true
    lookAround()
    await pause(2)
  }
  return false
}

async function editOnce(number: number, count: number): Promise<void> {
  const value = read(number)
  if (value === undefined) return
  const next = (report.last[number] ?? 0) + 1
  if (count % 8 === 4) {
    const nonsense = `no state ${editor}/${number}/${count}`
    report.forbidden.push(nonsense)
    write(number, { ...value, status: nonsense })
    if (!(await isTaken(number, value['version'], (now) => now['status'] !== nonsense))) report.lost.push(nonsense)
    return
  }
  write(number, { ...value, [key]: next })
  const taken = await isTaken(number, value['version'] + 1, (now) => now[key] === next)
  if (taken) {
    report.taken++
    report.last[number] = next
  } else report.lost.push(`task ${number}: ${key} = ${next} (of version ${value['version']})`)
}

const until = Date.now() + time
for (let count = 1; Date.now() < until; count++) await editOnce(own[count % own.length] as number, count)
process.stdout.write(`${JSON.stringify({ report })}\n`)
process.stdin.destroy()
