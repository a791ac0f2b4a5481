// An engine that hangs: its process is stopped in the middle of a run, for longer than its lease. Another takes over in time,
// there is one outcome, and the one that hung finds out when it wakes: its run is over, and it goes on with others.
import { execFileSync, spawn } from 'node:child_process'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import Database from 'better-sqlite3'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { ExecutorTask, Run } from '../../src/api/executor.ts'
import { createEngine } from '../../src/create-engine.ts'
import type { Engine } from '../../src/engine-api.ts'
import type { Task } from '../../src/entities/task.ts'
import { SimulatedClock } from '../../src/testing/simulated-clock.ts'
import { createPlace, type Line, type Place } from './child.ts'
import { violations } from './invariants.ts'

const leaseMs = 1_000
/** How often an engine looks around for those that are lost. */
const lookEveryMs = 200

/** An engine that can be stopped, by the process that it is in. */
function startProcess(place: Place, itsLeaseMs: number) {
  const script = join(import.meta.dirname, 'hung-process.ts')
  const child = spawn(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', script, place.ledger, String(itsLeaseMs)],
    {
      stdio: ['pipe', 'pipe', 'inherit'],
      env: { ...process.env, NODE_COMPILE_CACHE: join(tmpdir(), 'errand-crash-compile-cache') },
    },
  )
  const exited = new Promise<number | null>((resolve) => child.once('exit', (code) => resolve(code)))
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await exited
  })
  const lines: Line[] = []
  const listeners = new Set<() => void>()
  createInterface({ input: child.stdout }).on('line', (text) => {
    lines.push(JSON.parse(text) as Line)
    for (const listen of listeners) listen()
  })
  return {
    exited,
    say: (word: string) => child.stdin.write(`${word}\n`),
    wake: () => child.kill('SIGCONT'),
    /**
     * Stops it, and not in the middle of a commit: whoever hangs there holds the file's write lock, and nobody can write until
     * it wakes or dies. So the lock is held here meanwhile.
     */
    stop() {
      const database = new Database(place.ledger, { timeout: 5_000 })
      database.exec('begin immediate')
      child.kill('SIGSTOP')
      while (
        !execFileSync('ps', ['-o', 'stat=', '-p', String(child.pid)])
          .toString()
          .startsWith('T')
      );
      database.exec('rollback')
      database.close()
    },
    /** The first line that has this word. */
    told: (word: string): Promise<Line> =>
      new Promise((resolve, reject) => {
        const look = () => {
          const found = lines.find((line) => word in line)
          if (found === undefined) return
          listeners.delete(look)
          resolve(found)
        }
        listeners.add(look)
        look()
        void exited.then((code) => reject(new Error(`it ended (${code}) and never told of ${word}`)))
      }),
  }
}

/** The engine that takes over: the same work, with its own results. */
async function openSecond(place: Place, options: object = {}) {
  const reported: unknown[] = []
  const again = (what: (run: Run) => Promise<unknown>) => async (_task: ExecutorTask, run: Run) => {
    const [call, other] = await Promise.all([run.call('work', () => 'second'), what(run)])
    return [call, other]
  }
  const engine = await createEngine({
    ledger: place.ledger,
    leaseMs,
    onInterrupt: 'rerun',
    onError: (error, context) => reported.push({ error, context }),
    executors: {
      call: again(async () => null),
      ask: again((run) => run.ask('Well?')),
      wait: again(async (run) => run.wait(await run.spawn({ name: 'by hand', key: 'by hand' }))),
      pass: (_task: ExecutorTask, run: Run) => run.sleep((_task.input as { ms: number }).ms),
    },
    ...options,
  })
  onTestFinished(async () => {
    await engine.close()
    expect(reported).toEqual([])
  })
  return engine
}

type Second = Awaited<ReturnType<typeof openSecond>>

/** Time, as the ledger knows it: a task that sleeps so long. */
async function pass(engine: Second, ms: number): Promise<void> {
  await engine.result(await engine.create({ executor: 'pass', input: { ms } }))
}

const create = async (engine: Second, executor: string) =>
  (await engine.create({ executor } as never)) as unknown as Task

/** Creates a task that the first engine runs (the second does not work yet), and stops that one in the middle. */
async function stopped(place: Place, executor: string, itsLeaseMs = leaseMs) {
  const first = startProcess(place, itsLeaseMs)
  const instance = (await first.told('ready'))['ready'] as string
  const second = await openSecond(place, { work: false })
  const task = await create(second, executor)
  await first.told('inside')
  // Beside its call it waits, where it does, for something that is in the ledger by now.
  if (executor === 'ask' || executor === 'wait') await waitEntry(place, task, executor)
  await second.work()
  first.stop()
  return { first, second, task, instance, since: Date.now() }
}

/** Resolves when what a run waits for is in the ledger: no event tells of it while the run is not quiet. */
async function waitEntry(place: Place, task: Task, kind: string): Promise<void> {
  const database = new Database(place.ledger, { readonly: true })
  const query = database.prepare('select 1 from call where task_id = ? and kind = ?')
  while (query.get(task.id, kind) === undefined) await turns()
  database.close()
}

async function lostAt(engine: Pick<Engine, 'events'>, task: Task): Promise<number> {
  for await (const event of engine.events({ taskId: task.id })) if (event.data['lost'] !== undefined) return event.at
  throw new Error('the feed has ended')
}

describe('An engine that hangs for longer than its lease', () => {
  it.each([
    ['call', null],
    ['ask', 'answered'],
    ['wait', ['by hand is done']],
  ] as const)(
    'in the middle of run.%s loses its run in time, to one outcome, and goes on with others when it wakes',
    async (executor, other) => {
      const place = createPlace()
      const { first, second, task, instance, since } = await stopped(place, executor)
      const tookMs = (await lostAt(second, task)) - since
      console.log(`in the middle of run.${executor}: taken over after ${tookMs} ms, with a lease of ${leaseMs} ms`)
      expect(tookMs).toBeLessThan(leaseMs + lookEveryMs + 1_500)

      if (executor === 'ask') {
        for await (const item of second.stream(task))
          if (item.type === 'state' && item.status === 'input_required') break
        await second.answer(task, 'answered')
      }
      if (executor === 'wait') {
        const [child] = await second.children(task)
        await second.complete(await second.claim(child?.id as string, { owner: 'ada' }), 'by hand is done')
      }
      expect(await second.result(task)).toEqual(['second', other])

      first.wake()
      first.say('go')
      const saw = await first.told('saw')
      const late = await first.told('late')
      console.log(`woken, it saw ${JSON.stringify(saw['saw'])}, and later ${JSON.stringify(late['late'])}`)
      expect(saw['aborted']).toBe(true)
      expect(new Set(Object.values({ ...(saw['saw'] as object), ...(late['late'] as object) }))).toEqual(
        new Set(['RUN_ENDED']),
      )

      // It is known to be alive again: its next run outlasts leases and looks, and stays its own.
      const stays = await create(second, 'stay')
      await first.told('staying')
      await pass(second, 2 * leaseMs + lookEveryMs)
      expect(await second.runs(stays)).toMatchObject([{ status: 'live', instanceId: instance }])
      first.say('enough')
      expect(await second.result(stays)).toBe('stayed')
      expect(await second.runs(stays)).toHaveLength(1)

      first.say('leave')
      expect((await first.told('closed'))['reported']).toEqual([])
      expect(await first.exited).toBe(0)
      await second.close()
      expect(violations(place).filter((each) => !each.includes('never executed'))).toEqual([])
      expect(await outcomesIn(place, task)).toEqual({
        completed: 1,
        result: ['second', other],
        calls: [
          ['failed', null],
          ['completed', 'second'],
        ],
        late: 0,
      })
    },
  )

  it('S0-109 is left alone for as long as its lease says: without leases that end, nothing is taken over', async () => {
    const { first, second, task, instance } = await stopped(createPlace(), 'call', 60_000)
    await pass(second, 2 * leaseMs + lookEveryMs)
    expect(await second.runs(task)).toMatchObject([{ status: 'live', instanceId: instance }])
    first.wake()
    first.say('go')
    expect((await first.told('saw'))['saw']).toEqual({ call: 'ok' })
  })
})

/** What the ledger says in the end, read by an engine that does nothing else. */
async function outcomesIn(place: Place, task: Task) {
  const reader = await createEngine({ ledger: place.ledger, work: false })
  let completed = 0
  for await (const event of reader.events({ follow: false, taskId: task.id })) {
    if (event.type === 'task.completed') completed++
  }
  const calls = (await reader.calls(task)).map(({ status, result }) => [status, result])
  const { result } = (await reader.get(task)) as Task
  const late = (await reader.messages(task)).filter((message) => message.content === 'late').length
  await reader.close()
  return { completed, result, calls, late }
}

describe('A machine that slept for an hour', () => {
  it.each([
    ['and whose timers fired one after the other when it woke', (clock: SimulatedClock) => clock.advance(3_600_000)],
    ['and whose clock was another when it woke', (clock: SimulatedClock) => clock.jumpTo(clock.now() + 3_600_000)],
  ])('S0-109 %s takes no run from engines that are awake again', async (_how, sleep) => {
    const place = createPlace()
    const clock = new SimulatedClock()
    const end = Promise.withResolvers<void>()
    const started: Array<() => void> = []
    const engines = await Promise.all(
      ['a', 'b', 'c'].map((name) =>
        createEngine({
          ledger: place.ledger,
          clock,
          executors: {
            [name]: async () => {
              started.shift()?.()
              await end.promise
              return name
            },
          },
        }),
      ),
    )
    onTestFinished(async () => {
      end.resolve()
      await Promise.all(engines.map((engine) => engine.close()))
    })
    const tasks: Task[] = []
    for (const [index, name] of ['a', 'b', 'c'].entries()) {
      const began = new Promise<void>((resolve) => started.push(resolve))
      tasks.push((await (engines[index] as Engine).create({ executor: name } as never)) as unknown as Task)
      await began
      // Their looks and their signs of life do not fall together.
      clock.advance(70)
      await turns()
    }
    sleep(clock)
    for (let ctx = 0; ctx < 300; ctx++) {
      await turns()
      clock.advance(50)
    }
    await turns()
    const [engine] = engines as [Engine]
    for (const task of tasks) {
      expect(await engine.runs(task)).toMatchObject([{ number: 1, status: 'live' }])
    }
    end.resolve()
    for (const task of tasks) expect(await engine.result(task)).toBe(task.executor)
  })
})

/** Lets what is under way come to its next stand. */
async function turns(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate)
}
