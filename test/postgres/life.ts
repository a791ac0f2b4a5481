// What the tests of the life of engines on a server share: an engine in a process of its own, and one that takes over what it leaves.
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import pg from 'pg'
import { onTestFinished } from 'vitest'
import { createEngine } from '../../src/engine/create-engine.ts'
import type { Engine } from '../../src/engine/engine-api.ts'
import type { Task } from '../../src/entities/task.ts'
import { programOf } from '../programs.ts'
import type { LifeProcessOptions } from './life-process.ts'

const program = programOf(import.meta.dirname, 'life-process.ts')

export type LifeLine = Readonly<Record<string, unknown>>

/** `within`: the command that starts it, for example in a network namespace. */
export function startLifeProcess(options: LifeProcessOptions, within: readonly string[] = []) {
  const command = [process.execPath, '--disable-warning=ExperimentalWarning', program, JSON.stringify(options)]
  const [first, ...args] = [...within, ...command] as [string, ...string[]]
  const child = spawn(first, args, { stdio: ['pipe', 'pipe', 'inherit'] })
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await exited
  })
  const lines: Array<LifeLine & { at: number }> = []
  const listeners = new Set<() => void>()
  createInterface({ input: child.stdout }).on('line', (text) => {
    lines.push({ ...(JSON.parse(text) as LifeLine), at: Date.now() })
    for (const listen of listeners) listen()
  })
  return {
    lines,
    signal: (name: NodeJS.Signals) => child.kill(name),
    /** Resolves to the first line that has this field. */
    lineWith: (field: string): Promise<LifeLine & { at: number }> =>
      new Promise((resolve, reject) => {
        const check = () => {
          const found = lines.find((line) => field in line)
          if (found === undefined) return
          listeners.delete(check)
          resolve(found)
        }
        listeners.add(check)
        check()
        void exited.then(() => reject(new Error(`it ended without "${field}": ${JSON.stringify(lines)}`)))
      }),
  }
}

export interface TakesOver {
  engine: Engine
  create(executor: string): Promise<Task>
  /** Resolves to the time at which the engine sees that a run of a task was taken over. */
  takenOver(task: Task): Promise<number>
}

/** An engine in this process with the same executors, which return `second` at once. It does not work before `work()` is called. */
export async function openSecond(url: string, leaseMs: number): Promise<TakesOver> {
  const again = async (): Promise<string> => 'second'
  const engine = (await createEngine({
    ledger: url,
    leaseMs,
    work: false,
    onInterrupt: 'rerun',
    onError: () => {},
    executors: { stay: again, busy: again },
  })) as unknown as Engine
  onTestFinished(() => engine.close())
  return {
    engine,
    create: async (executor) => (await engine.create({ executor } as never)) as unknown as Task,
    async takenOver(task) {
      for await (const event of engine.events({ taskId: task.id })) {
        if (event.data['lost'] !== undefined) return Date.now()
      }
      throw new Error('the feed has ended')
    },
  }
}

/** A client of the database of a ledger. */
export async function adminOf(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  onTestFinished(() => client.end())
  return client
}
