// Starts the processes of the crash tests, reads their lines, and kills them when the test ends.
import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { onTestFinished } from 'vitest'
import { createEngine } from '../../src/engine/create-engine.ts'
import type { Task } from '../../src/entities/task.ts'
import type { Ledger } from '../../src/ledger/ledger.ts'
import { programOf } from '../programs.ts'
import type { ProcessOptions } from './engine-process.ts'
import { crashExecutors, type Effect } from './executors.ts'
import type { CrashPoints, KillPoint } from './killing-ledger.ts'

const script = programOf(import.meta.dirname, 'engine-process.ts')

export interface Place {
  folder: string
  ledger: string
  effects: string
}

/** A folder with the path of a new ledger and an empty file of effects, deleted after the test. */
export function createPlace(): Place {
  const folder = mkdtempSync(join(tmpdir(), 'errand-crash-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const effects = join(folder, 'effects')
  writeFileSync(effects, '')
  return { folder, effects, ledger: join(folder, 'ledger.db') }
}

export function effectsOf({ effects }: Place): Effect[] {
  return readFileSync(effects, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Effect)
}

export type Line = Record<string, unknown>

/** An engine in a process of its own. `within`: the command that starts it, for example in a network namespace. */
export function startEngine(
  place: Place,
  options: Omit<ProcessOptions, 'ledger' | 'effects'> = {},
  within: readonly string[] = [],
) {
  const given: ProcessOptions = { ledger: place.ledger, effects: place.effects, ...options }
  return startProgram(script, given, within)
}

/** A program that gets its options as JSON and reports lines of JSON. */
export function startProgram(file: string, given: object, within: readonly string[] = []) {
  const node = [process.execPath, '--disable-warning=ExperimentalWarning', file, JSON.stringify(given)]
  const [program, ...args] = [...within, ...node] as [string, ...string[]]
  const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'pipe'] })
  let stderr = ''
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk.toString()
  })
  child.stdin.on('error', () => {})
  const exited = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((resolve) =>
    child.once('exit', (code, signal) => resolve({ code, signal })),
  )
  const lines: Line[] = []
  const listeners = new Set<() => void>()
  createInterface({ input: child.stdout }).on('line', (text) => {
    lines.push(JSON.parse(text) as Line)
    for (const listen of listeners) listen()
  })
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await exited
  })
  const kill = async () => {
    child.kill('SIGKILL')
    return exited
  }
  return {
    pid: child.pid as number,
    lines,
    exited,
    kill,
    signal: (name: NodeJS.Signals) => child.kill(name),
    send: (text: string) => child.stdin.write(`${text}\n`),
    /** Resolves to the first line, past or future, that matches; rejects when the process ends before. */
    lineWhere: (matches: (line: Line) => boolean): Promise<Line> =>
      new Promise((resolve, reject) => {
        let next = 0
        const check = () => {
          for (; next < lines.length; next++) {
            if (!matches(lines[next] as Line)) continue
            listeners.delete(check)
            resolve(lines[next] as Line)
            return
          }
        }
        listeners.add(check)
        check()
        void exited.then(({ code, signal }) =>
          reject(
            new Error(`The engine ended (${code ?? signal}) without that line: ${stderr} ${JSON.stringify(lines)}`),
          ),
        )
      }),
  }
}

/** An engine in this process, with the same executors. */
export async function openEngine(place: Place, options: Record<string, unknown> = {}) {
  const engine = await createEngine({
    ledger: place.ledger,
    executors: crashExecutors({ effects: place.effects }),
    ...(options as { ledger?: Ledger }),
  })
  onTestFinished(() => engine.close())
  return engine
}

export type CrashEngine = Awaited<ReturnType<typeof openEngine>>

/** Creates one task, or finds it by its key, typed loosely: its executors are those of another process too. */
export async function createOne(engine: CrashEngine, task: object): Promise<Task> {
  return (await engine.create(task as never)) as unknown as Task
}

/** Runs jobs two at a time: there are two cores. */
export async function twoAtATime<T>(jobs: readonly T[], work: (job: T) => Promise<void>): Promise<void> {
  const left = [...jobs]
  const worker = async () => {
    for (let job = left.shift(); job !== undefined; job = left.shift()) await work(job)
  }
  await Promise.all([worker(), worker()])
}

/** A process is killed at one of so many points: an odd number, because `before` and `after` alternate in most lists. */
const killsOneOf = 7

/**
 * Calls `goOn` with the files that a process leaves when it dies at each point. Starting a process for every point takes a second each, so one
 * process copies its files at most points, and others are killed. Returns the numbers of kills and copies; a process may end before it reaches
 * the last points. `begin` creates the place in which a process starts.
 */
export async function afterDeaths<P extends KillPoint>(
  points: readonly P[],
  play: (place: Place, points: CrashPoints) => Promise<{ signal: NodeJS.Signals | null; complaints?: string }>,
  goOn: (place: Place, point: P) => Promise<void>,
  begin = createPlace,
): Promise<{ kills: number; images: number }> {
  const isKilled = (at: number): boolean => at % killsOneOf === 0
  const images = points.filter((_, at) => !isKilled(at)).map((point) => ({ point, place: createPlace() }))
  const copied = await play(begin(), {
    images: images.map(({ point: { step, when }, place: { folder } }) => ({ step, when, folder })),
  })
  if (copied.signal !== null) throw new Error(`The process that copies its files ended with ${copied.signal}.`)
  if (copied.complaints) throw new Error(`The process that copies its files reported: ${copied.complaints}`)
  const taken = images.filter(({ place }) => existsSync(place.ledger))
  await twoAtATime(taken, ({ point, place }) => goOn(place, point))
  let kills = 0
  await twoAtATime(
    points.filter((_, at) => isKilled(at)),
    async (point) => {
      const { step, when } = point
      const place = begin()
      if ((await play(place, { death: { step, when } })).signal === 'SIGKILL') kills++
      await goOn(place, point)
    },
  )
  return { kills, images: taken.length }
}

/** A generator of numbers in [0, 1) from a seed (mulberry32). */
export function randomOf(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

/** A new seed each time, unless ERRAND_SEED names one. It is printed, so that a failure can be reproduced. */
export function drawSeed(what: string): number {
  const seed =
    process.env['ERRAND_SEED'] === undefined ? Date.now() % 1_000_000_000 : Number(process.env['ERRAND_SEED'])
  console.log(`${what}: ERRAND_SEED=${seed}`)
  return seed
}
